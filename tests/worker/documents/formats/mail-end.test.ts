import { describe, expect, test } from "@jest/globals";
import { readEml, readMbox } from "../../../../src/worker/documents/formats/mail.ts";
import { writeMailbox } from "../../../support/format-writers.ts";
import { readWith } from "./read-format.ts";

const HEAD = "From: Ada <ada@example.org>\r\nSubject: Rooms\r\n";
const WORDS = "Die Küche hat 12 m², der Saal 80.\r\nDer Keller bleibt zu.\r\n";

const mail = (headers: readonly string[], body: string): Buffer =>
  Buffer.from(`${HEAD}${headers.map((header) => `${header}\r\n`).join("")}\r\n${body}`);

const isTruncated = async (bytes: Buffer | string): Promise<boolean> => {
  const { metadata, text } = await readWith(readEml, Buffer.from(bytes));
  const says = text.includes("\n(The mail is truncated: ");
  expect(metadata?.["truncated"] === true).toBe(says);
  return says;
};

const BASE64 = ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64"];
const QUOTED = [BASE64[0] ?? "", "Content-Transfer-Encoding: Quoted-Printable"];

describe("a mail of one part in base64", () => {
  const encoded = Buffer.from(`${WORDS}${WORDS}!`).toString("base64");
  const lines = (text: string): string => `${(text.match(/.{1,76}/g) ?? []).join("\r\n")}\r\n`;

  test("that ends within four characters was cut, wherever that is", async () => {
    expect(encoded).toMatch(/==$/);
    expect(await isTruncated(mail(BASE64, lines(encoded)))).toBe(false);
    for (let length = encoded.length - 1; length > encoded.length - 90; length -= 1) {
      const bytes = mail(BASE64, lines(encoded.slice(0, length)));
      expect({ length, told: await isTruncated(bytes) }).toEqual({
        length,
        told: length % 4 !== 0,
      });
    }
  });

  test("says nothing where a list has put words behind it, and is whole where it is filled up", async () => {
    const cut = lines(encoded.slice(0, -1));
    expect(await isTruncated(mail(BASE64, `${cut}-- \r\nA list of Ada's.\r\n`))).toBe(false);
    const counted = [...BASE64, "Content-Length: 9999"];
    expect(await isTruncated(mail(counted, lines(encoded)))).toBe(false);
    expect(await isTruncated(mail(counted, lines(encoded.slice(0, -4))))).toBe(true);
  });
});

describe("a mail of one part in quoted-printable", () => {
  test.each([
    ["Die K=C3=BCche hat 12 m=C2=B2.\r\n", false],
    ["Die K=C3=BCche hat 12 m=C2=B2", false],
    ["Die K=C3=BCche hat 12 m=C2=B", true],
    ["Die K=C3=BCche hat 12 m=C2=", true],
    ["Die K=C3=BCche hat 12 m=C2=B\r\n", true],
    // What Perl writes behind a text without a line end.
    ["Die K=C3=BCche hat 12 m=C2=B2=\r\n", false],
  ])("that ends as %j is cut: %j", async (body, told) => {
    expect(await isTruncated(mail(QUOTED, body))).toBe(told);
  });
});

describe("a mail of one part in plain text", () => {
  const PLAIN = ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit"];
  const bytes = Buffer.byteLength(WORDS);

  test.each([
    ["no count", [], 20, false],
    ["as many bytes", [`Content-Length: ${bytes}`], bytes, false],
    ["fewer bytes", [`Content-Length: ${bytes}`], 20, true],
    ["fewer lines", ["Lines: 9"], bytes, true],
    ["as many lines", ["Lines: 2"], bytes, false],
    ["fewer bytes, and as many lines", [`Content-Length: ${bytes + 99}`, "Lines: 2"], bytes, false],
    ["a count that is none", ["Content-Length: many", "Lines: -3"], 20, false],
  ])("with %s than its header counts", async (_, headers, kept, told) => {
    const body = Buffer.from(WORDS).subarray(0, kept).toString("latin1");
    const whole = Buffer.from(mail([...PLAIN, ...headers], "").toString("latin1") + body, "latin1");
    expect(await isTruncated(whole)).toBe(told);
    // Counted with two bytes a line end, and stored with one.
    const stored = Buffer.from(whole.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
    expect(await isTruncated(stored)).toBe(told);
  });

  test("is counted as it stands in a mailbox, marks before From included", async () => {
    const text = "From here on it rains.\nFrom there on, too.\n";
    const counted = mail([...PLAIN, `Content-Length: ${text.length + 2}`, "Lines: 2"], text);
    const cut = mail([...BASE64], "V29ydHMgdGhhdCBlbmQgaGVy");
    const unfinished = cut.subarray(0, -1);
    const read = await readWith(readMbox, writeMailbox([counted, unfinished, cut]));
    expect(read.metadata).toMatchObject({ messages: 3, truncated_messages: 1 });
    expect(read.text.match(/\(The mail is truncated: .*\)/g)).toEqual([
      "(The mail is truncated: its text breaks off in the middle of a character. What came after is not there.)",
    ]);
  });
});
