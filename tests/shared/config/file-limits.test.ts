import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { makeScratch } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeEach(async () => {
  scratch = await makeScratch();
});
afterEach(() => scratch.remove());

test.each([
  ["a line of a megabyte", `log: { level: ${"x".repeat(1 << 20)} }`, "has more than 65536 bytes"],
  [
    "UTF-16",
    Buffer.from("log: {}", "utf16le").subarray(0, 13).fill(0xff, 0, 2),
    "is not UTF-8 text",
  ],
  ["a list", "- a\n- b\n", "nightdesk.yaml:1:1: the file holds a list; expected keys"],
  ["a word", "hello\n", "nightdesk.yaml:1:1: the file holds a single value; expected keys"],
])("a file that holds %s is refused", async (_name, content, expected) => {
  await scratch.write("nightdesk.yaml", content);
  expect(await scratch.loadError()).toContain(expected);
});

test("a file of exactly the allowed size is read", async () => {
  const head = "log: { level: warn }\n#";
  await scratch.write("nightdesk.yaml", head + "x".repeat(65_536 - head.length));
  expect((await scratch.load()).log.level).toBe("warn");
});
