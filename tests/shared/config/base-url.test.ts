import { describe, expect, test } from "@jest/globals";
import { parseBaseUrl } from "../../../src/shared/config/base-url.ts";
import { timeTaken } from "../../time-taken.ts";

describe("a host in good form", () => {
  test.each([
    ["http://127.0.0.1:11434", "http://127.0.0.1:11434"],
    ["http://127.0.0.1:11434/", "http://127.0.0.1:11434"],
    ["HTTP://LocalHost:11434", "http://localhost:11434"],
    ["https://Models.Example.COM", "https://models.example.com"],
    ["https://models.example.com.", "https://models.example.com."],
    ["http://host:80", "http://host"],
    ["https://host:443/", "https://host"],
    ["http://host:443", "http://host:443"],
    ["http://host:1", "http://host:1"],
    ["http://host:65535", "http://host:65535"],
    ["http://host:0080", "http://host"],
    ["http://my_ollama:11434", "http://my_ollama:11434"],
    ["http://[::1]:11434", "http://[::1]:11434"],
    ["http://[FE80:0:0:0:0:0:0:1]", "http://[fe80::1]"],
    ["http://[::ffff:127.0.0.1]:1", "http://[::ffff:7f00:1]:1"],
    ["http://127.1", "http://127.0.0.1"],
    [" http://host:11434", "http://host:11434"],
    ["http://host:11434/\r\n", "http://host:11434"],
    ["\t http://host \u00a0\n", "http://host"],
    ["http://0x7f000001", "http://127.0.0.1"],
    ["http://0.0.0.1", "http://0.0.0.1"],
    ["http://müller.example", "http://xn--mller-kva.example"],
  ])("%s becomes %s", (text, url) => {
    expect(parseBaseUrl(text)).toEqual({ kind: "valid", url });
  });
});

describe("a host that is refused", () => {
  test.each([
    ["", "does not begin with http"],
    ["localhost:11434", "does not begin with http"],
    ["//host:11434", "does not begin with http"],
    ["ftp://host", "does not begin with http"],
    ["file:///etc/passwd", "does not begin with http"],
    ["http:host", "does not begin with http"],
    ["http:///host", "has a path"],
    ["http:\\\\host", "does not begin with http"],
    ["http://", "host or port"],
    ["http:///", "host or port"],
    ["http://:11434", "host or port"],
    ["http://host/api", "has a path"],
    ["http://host//", "has a path"],
    ["http://host/.", "has a path"],
    ["http://host?", "has a query"],
    ["http://host/?a=b", "has a query"],
    ["http://host#", "has a fragment"],
    ["http://host/#top", "has a fragment"],
    ["http://@host", "user name or password"],
    ["http://:@host", "user name or password"],
    ["http://me@host", "user name or password"],
    ["http://me:secret@host", "user name or password"],
    ["http://host\\@other", "user name or password"],
    ["http://host\\other", "host is not valid"],
    ["http://0.0.0.0:11434", "unspecified"],
    ["http://0", "unspecified"],
    ["http://0:11434", "unspecified"],
    ["http://0.0", "unspecified"],
    ["http://00.0x0.0.0", "unspecified"],
    ["http://0.0.0.0.", "unspecified"],
    ["http://０", "unspecified"],
    ["http://[::]", "unspecified"],
    ["http://[0:0:0:0:0:0:0:0]:11434", "unspecified"],
    ["http://[::0.0.0.0]", "unspecified"],
    ["http://[::ffff:0.0.0.0]", "unspecified"],
    ["http://[::FFFF:0:0]", "unspecified"],
    ["http://[::ffff:0:0.0.0.0]", "unspecified"],
    ["http://[64:ff9b::0.0.0.0]", "unspecified"],
    ["http://host:0", "not in 1…65535"],
    ["http://host:000", "not in 1…65535"],
    ["http://host:65536", "not in 1…65535"],
    [`http://host:${"9".repeat(400)}`, "not in 1…65535"],
    ["http://host:", "host or port"],
    ["http://host:-1", "host or port"],
    ["http://host:1e3", "host or port"],
    ["http://host:１", "host or port"],
    ["http://host:80:80", "host or port"],
    ["http://host\u0000", "control character"],
    ["http:// host", "a blank"],
    ["http://ho st", "a blank"],
    ["http://ho\tst", "a blank"],
    ["http://ho\u0000st", "control character"],
    ["http://ho\u00a0st", "a blank"],
    ["http://ho\u200bst", "control character"],
    ["http://ho\u202est", "control character"],
    ["http://\ud800", "control character"],
    ["http://[fe80::1%eth0]", "host is not valid"],
    ["http://%30", "host is not valid"],
    ["http://[::1", "host or port"],
    ["http://::1", "host or port"],
    ["http://[1.2.3.4]", "host is not valid"],
    ["http://[::g]", "host or port"],
    ["http://1.2.3.4.5", "host is not valid"],
    ["http://256.0.0.1", "host is not valid"],
    ["http://.", "host is not valid"],
    ["http://a..b", "host is not valid"],
    ["http://a,b", "host is not valid"],
    ["http://a*b", "host is not valid"],
    [`http://${"a.".repeat(130)}b`, "host is not valid"],
  ])("%j, for its fault", (text, reason) => {
    const parsed = parseBaseUrl(text);
    expect(parsed.kind === "invalid" && parsed.reason).toContain(reason);
  });

  test("of a megabyte is refused at once", () => {
    const texts = ["a", ".", ":", "/", "[", "0"].map((part) => `http://${part.repeat(1e6)}`);
    for (const text of texts) expect(parseBaseUrl(text).kind).toBe("invalid");
    expect(timeTaken(() => texts.map(parseBaseUrl), 2_000)).toBeLessThan(2_000);
  });
});
