import { expect, test } from "@jest/globals";
import { entryReader, readListing } from "../../../src/worker/sync/read-listing.ts";
import { listedFile, strongTag } from "../../../src/worker/sync/remote.ts";

async function read(...pieces: readonly string[]): Promise<readonly unknown[]> {
  const chunks = (async function* () {
    for (const piece of pieces) yield Buffer.from(piece);
  })();
  const found: unknown[] = [];
  const reader = entryReader(new Set(["file"]), new Set(["name"]));
  for await (const entries of readListing("cloud", chunks, reader)) found.push(...entries);
  return found;
}

test("a listing is read in whatever pieces it comes", async () => {
  const text = "<files><file><name>ä</name></file><file><name>b</name></file></files>";
  const bytes = Buffer.from(text);
  const expected = [{ texts: new Map([["name", "ä"]]) }, { texts: new Map([["name", "b"]]) }];
  expect(await read(text)).toMatchObject(expected);
  expect(await read(...Array.from(bytes.toString("latin1")))).toHaveLength(2);
});

test.each([
  [
    "holds a text that no listing has",
    `<files><file><name>${"a".repeat(100_000)}</name></file></files>`,
  ],
  ["nests more than 50 elements", `${"<x>".repeat(51)}${"</x>".repeat(51)}`],
  ["the listing", "<files><file>"],
])("a listing that %s is given up", async (reason, text) => {
  await expect(read(text)).rejects.toMatchObject({
    ...{ code: "SOURCE_INVALID", message: expect.stringContaining(reason) },
  });
});

test("a name that is too long for a row is listed by its hash, and not fetched", () => {
  const facts = { version: "1", bytes: 2 };
  expect(listedFile("a".repeat(1_900), facts).refused).toBeNull();
  const [one, other] = ["b", "c"].map((end) => listedFile("ä".repeat(950) + end, facts));
  expect(one?.refused).toContain("longer than 1900 bytes");
  expect(one?.id).not.toBe(other?.id);
  expect(Buffer.byteLength(one?.id ?? "")).toBeLessThanOrEqual(1_900);
});

test("only an ETag that is strong says that two contents are the same", () => {
  expect(strongTag('"a1"')).toBe('"a1"');
  for (const tag of [undefined, 'W/"a1"', "a1", '""', '"a"b"', `"${"a".repeat(501)}"`])
    expect(strongTag(tag)).toBeNull();
});
