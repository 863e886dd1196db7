import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { firstCodePoints } from "../../../src/worker/text/clean-text.ts";
import { codeOf, makeWorkroot, messageOf, type Workroot } from "./make-workroot.ts";

let root: Workroot;
beforeEach(() => {
  root = makeWorkroot();
});
afterEach(() => {
  root.remove();
});

describe("the reading", () => {
  test("counts code points, keeps the byte order mark and line ends, and hashes the bytes", async () => {
    const text = "\uFEFFa\r\n\u00e9\u{1F600}\u{1F468}\u200D\u{1F469}z";
    root.write("allowed/note.md", text);
    expect(await root.read("note.md")).toEqual({
      kind: "read",
      path: "allowed/note.md",
      sha256: createHash("sha256").update(text).digest("hex"),
      extractor: "utf-8",
      textSha256: createHash("sha256").update(text).digest("hex"),
      locator: null,
      bytes: Buffer.byteLength(text),
      charsFull: Array.from(text).length,
      charsReturned: Array.from(text).length,
      truncated: false,
      text,
    });
  });

  test.each([
    ["beyond the basic plane", "\u{1F600}"],
    ["of two bytes", "\u00e9"],
    ["of one byte", "x"],
  ])("cuts at a whole character for characters %s", async (_, character) => {
    root.write("allowed/note.md", character.repeat(500));
    const sandbox = await root.open();
    expect(await sandbox.readTextFile({ path: "note.md", maxChars: 300 })).toMatchObject({
      charsFull: 500,
      charsReturned: 300,
      truncated: true,
      text: character.repeat(300),
    });
    const whole = await sandbox.readTextFile({ path: "note.md", maxChars: 500 });
    expect(whole).toMatchObject({ charsReturned: 500, truncated: false });
  });

  test("reads an empty file as an empty text", async () => {
    root.write("allowed/empty.md", "");
    expect(await root.read("empty.md")).toMatchObject({ kind: "read", charsFull: 0, text: "" });
  });

  test("refuses a report of Nightdesk, which is no evidence", async () => {
    root.write("allowed/night.md", "<!-- nightdesk report of batch 1 -->\n\n# night\n");
    expect(await root.read("night.md")).toMatchObject({
      kind: "refused",
      code: "EVIDENCE_NOT_ACQUIRED",
      message: expect.stringContaining('"allowed/night.md" is a report or an export of Nightdesk'),
    });
  });

  test("takes the whole text when there are fewer characters than asked for", () => {
    expect(firstCodePoints("a\u{1F600}", 5)).toBe("a\u{1F600}");
  });
});

describe("bytes that are no UTF-8 text", () => {
  test.each<[string, Buffer, string]>([
    ["a cut sequence", Buffer.from("\u00e9\u00e9").subarray(0, 3), "not UTF-8 at byte 2"],
    [
      "a bad byte after a real replacement character",
      Buffer.concat([Buffer.from("\uFFFDx\uFFFD"), Buffer.from([0xff])]),
      "not UTF-8 at byte 7",
    ],
    ["the half of a character of UTF-16", Buffer.from("\uFEFFhello\ud83d", "utf16le"), "UTF-16"],
    ["a few bytes with zeros", Buffer.from("hi", "utf16le"), "NUL at byte 1"],
    ["a PNG", Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), "not UTF-8 at byte 0"],
  ])("refuses %s and says where", async (_, bytes, why) => {
    root.write("allowed/note.md", bytes);
    const refusal = await root.read("note.md");
    expect(codeOf(refusal)).toBe("FILE_READ_ERROR");
    expect(messageOf(refusal)).toContain(why);
  });
});

describe("bytes of another encoding", () => {
  const text = "Der Zähler läuft – 12 € am Tag.";
  test.each<[string, Buffer]>([
    ["Windows-1252", Buffer.from(text.replace("–", "\x96").replace("€", "\x80"), "latin1")],
    ["UTF-16 LE with a mark", Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["UTF-16 BE with a mark", Buffer.from(`\uFEFF${text}`, "utf16le").swap16()],
    ["UTF-16 LE without one", Buffer.from(text, "utf16le")],
    ["UTF-16 BE without one", Buffer.from(text, "utf16le").swap16()],
  ])("%s becomes text, with both hashes", async (_, bytes) => {
    root.write("allowed/note.md", bytes);
    expect(await root.read("note.md")).toMatchObject({
      kind: "read",
      text,
      extractor: "decoded 2",
      sha256: createHash("sha256").update(bytes).digest("hex"),
      textSha256: createHash("sha256").update(text).digest("hex"),
    });
  });
});

describe("the index's door", () => {
  test("gives any bytes, and the identity that stat gives", async () => {
    const bytes = Buffer.from([0xff, 0, 1]);
    const path = root.write("allowed/a/note.md", bytes);
    const sandbox = await root.open();
    const [first] = sandbox.roots;
    if (first === undefined) throw new Error("the sandbox has no root");
    const { size, mtimeNs, ctimeNs, ino, dev } = statSync(path, { bigint: true });
    expect(await sandbox.readFileBelow(first, "a/note.md")).toEqual({
      kind: "bytes",
      path: "allowed/a/note.md",
      bytes,
      stat: { size, mtimeNs, ctimeNs, ino, dev },
    });
    expect(codeOf(await sandbox.readFileBelow(first, "a/note.py"))).toBe("PATH_DENIED");
    expect(codeOf(await sandbox.readFileBelow(first, ".a/note.md"))).toBe("PATH_DENIED");
    expect(codeOf(await sandbox.readFileBelow(first, "a/absent.md"))).toBe("FILE_NOT_FOUND");
  });
});
