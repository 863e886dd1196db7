import { describe, expect, test } from "@jest/globals";
import { secretsIn, textFor, withholdSecrets } from "../../../src/worker/text/secrets.ts";

// In two parts each: whoever looks for keys in this repository finds none.
const AWS = "AKIA" + "IOSFODNN7EXAMPLE";
const GCP = "AIza" + "SyA-1234567890abcdefghijklmnopqrstu";
const GITHUB = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345";
const FINE_GRAINED = "github_pat_" + "0123456789abcdefghijAB_0123456789";
const JWT = [
  "eyJhbGciOiJIUzI1NiJ9",
  "eyJzdWIiOiIxMjM0NTY3ODkwIn0",
  "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
].join(".");
const LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
const mark = (word: string) => `-----${word} RSA PRIVATE KEY-----`;
const PEM = [mark("BEGIN"), ...Array.from({ length: 12 }, () => LINE), "ab3=", mark("END")].join(
  "\n",
);

describe("keys and tokens", () => {
  test.each([
    ["aws_key", AWS],
    ["gcp_key", GCP],
    ["github_token", GITHUB],
    ["github_token", FINE_GRAINED],
    ["jwt", JWT],
    ["private_key", PEM],
    ["private_key", PEM.replaceAll("\n", "\r\n")],
    ["private_key", PEM.replaceAll("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK")],
    ["private_key", JSON.stringify({ private_key: PEM }).slice(16, -2)],
  ])("of kind %s are found and withheld, and what stands beside them is not", (kind, secret) => {
    const text = `The key is ${secret}\n\nIt is changed in May.`;
    expect(secretsIn(text)).toEqual([kind]);
    expect(withholdSecrets(text)).toBe(`The key is [withheld: ${kind}]\n\nIt is changed in May.`);
  });

  test("that are none stay", () => {
    const text =
      "AKIA is a prefix, xAKIAIOSFODNN7EXAMPLEx a word, eyJ.eyJ. no token; -----BEGIN PUBLIC KEY----- is public.\n" +
      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef  a.md\n".repeat(9);
    expect(secretsIn(text)).toEqual([]);
    expect(withholdSecrets(text)).toBe(text);
  });

  test("of which a passage shows a part are withheld", () => {
    const lines = PEM.split("\n");
    for (const part of [lines.slice(0, 8), lines.slice(4, 12), lines.slice(6)]) {
      expect(withholdSecrets(`Before.\n${part.join("\n")}\n\nBehind it.`)).not.toContain(LINE);
    }
    expect(withholdSecrets(`${lines.slice(0, 8).join("\n")}\n\nBehind it.`)).toContain(
      "Behind it.",
    );
  });

  test("are sent to a host on this machine, and to one elsewhere where nothing forbids it", () => {
    const sent = (host: string, secrets: "off" | "warn" | "withhold_remote") =>
      textFor(host, secrets)(AWS);
    expect(sent("http://127.0.0.1:11434", "withhold_remote")).toBe(AWS);
    expect(sent("http://localhost:11434", "withhold_remote")).toBe(AWS);
    expect(sent("http://models.example:11434", "warn")).toBe(AWS);
    expect(sent("http://models.example:11434", "withhold_remote")).toBe("[withheld: aws_key]");
  });

  test.each([
    ["beginnings of private keys", `${mark("BEGIN")}\n`],
    ["beginnings of tokens", "eyJ-eyJ."],
    ["lines of keys", `${LINE}\n`],
    ["prefixes", "AKIA ghp_ AIza "],
  ])("of 2 MB of %s are looked for in less than a second", (_, shape) => {
    const text = shape.repeat(2_000_000 / shape.length);
    const start = performance.now();
    secretsIn(text);
    withholdSecrets(text);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
