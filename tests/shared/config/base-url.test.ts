import { describe, expect, test } from "@jest/globals";
import { normalBaseUrl, parseBaseUrl } from "../../../src/shared/config/base-url.ts";

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
});

describe("a host behind a gateway", () => {
  test.each([
    ["https://gw.example/openai", "https://gw.example/openai"],
    ["https://GW.example:443/Team-7/llm.v2/", "https://gw.example/Team-7/llm.v2"],
    [" http://[::1]:8080/a_b/~c ", "http://[::1]:8080/a_b/~c"],
    ["http://gw/v1beta", "http://gw/v1beta"],
    ["http://gw/v1/team", "http://gw/v1/team"],
    ["http://gw/", "http://gw"],
    ["http://gw", "http://gw"],
  ])("%s becomes %s", (text, url) => {
    expect(parseBaseUrl(text, "path")).toEqual({ kind: "valid", url });
    expect(normalBaseUrl(text)).toBe(url);
  });

  test.each([
    ["http://gw/v1", "ends with /v1"],
    ["http://gw/openai/V1/", "ends with /v1"],
    ["http://gw//", "its path is not made of"],
    ["http://gw/a//b", "its path is not made of"],
    ["http://gw/.", "its path is not made of"],
    ["http://gw/a/../b", "its path is not made of"],
    ["http://gw/a/..", "its path is not made of"],
    ["http://gw/a%2e%2e/b", "its path is not made of"],
    ["http://gw/a\\b", "its path is not made of"],
    ["http://gw/a;b", "its path is not made of"],
    ["http://gw/ü", "its path is not made of"],
    [`http://gw/${"a".repeat(200)}`, "its path is not made of"],
    ["http://gw/a b", "a blank"],
    ["http://gw/a?b", "has a query"],
    ["http://gw/a#b", "has a fragment"],
    ["http://gw/@b", "user name or password"],
    ["http:///a", "host or port"],
    ["http://gw:0/a", "not in 1…65535"],
    ["http://0.0.0.0/a", "unspecified"],
    ["http://a,b/c", "host is not valid"],
  ])("%j is refused for its fault", (text, reason) => {
    const parsed = parseBaseUrl(text, "path");
    expect(parsed.kind === "invalid" && parsed.reason).toContain(reason);
  });
});
