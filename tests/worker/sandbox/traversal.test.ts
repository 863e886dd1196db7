import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { codeOf, makeWorkroot, SECRET, type Workroot } from "./make-workroot.ts";
import { traversalStrings } from "./traversal-strings.ts";

let root: Workroot;
beforeAll(() => {
  root = makeWorkroot();
  root.write("allowed/corpus/note.md");
});
afterAll(() => {
  root.remove();
});

test("reads nothing for any climbing spelling", async () => {
  const strings = traversalStrings();
  expect(strings.length).toBeGreaterThan(10_000);
  const sandbox = await root.open();
  const codes = new Map<string, number>();
  for (const path of strings) {
    const outcome = await sandbox.readTextFile({ path, maxChars: 200 });
    codes.set(codeOf(outcome), (codes.get(codeOf(outcome)) ?? 0) + 1);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  }
  expect([...codes.keys()].sort()).toEqual(["FILE_NOT_FOUND", "PATH_DENIED"]);
});

test("reads nothing for any of them through the index's door", async () => {
  const sandbox = await root.open();
  const [first] = sandbox.roots;
  if (first === undefined) throw new Error("the sandbox has no root");
  for (const path of ["", "/", ".", "./corpus/note.md", "corpus//note.md", ...traversalStrings()]) {
    expect(codeOf(await sandbox.readFileBelow(first, path))).toMatch(
      /^(PATH_DENIED|FILE_NOT_FOUND)$/,
    );
  }
});
