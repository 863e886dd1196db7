import { describe, expect, test } from "@jest/globals";
import { LIST_FILES } from "../../../src/worker/tools/list-files.ts";
import { SEARCH_TEXT } from "../../../src/worker/tools/search-text.ts";
import { toolReach } from "../../support/tool-reach.ts";

const FILES = {
  "notes/backup.log":
    "00:01 backup started\n00:02 backup failed: disk full\n00:03 retry\n00:04 backup failed: disk full\n00:05 done\n",
  "notes/ferry.md": "# Ferry\n\nThe FERRY leaves at nine.\n",
  "other/ferry.md": "A ferry elsewhere.\n",
};
const search = async (args: Parameters<typeof SEARCH_TEXT.run>[0]) => {
  const given = await SEARCH_TEXT.run(args, toolReach({ files: FILES }));
  if (given.kind === "refused") throw new Error(given.message);
  return given;
};

describe("lines that hold the words", () => {
  test("are counted in all files, and shown with the lines beside them", async () => {
    const found = await search({ text: "backup failed" });
    expect(found.text).toBe("2 lines in 1 file; looked at 3 files.");
    expect(found.facts).toMatchObject({ matches: 2, files: 1, looked_at: 3, of_files: 3 });
    expect(found.evidence).toMatchObject([
      { passage: { path: "notes/backup.log", lineStart: 1, lineEnd: 3 } },
      { passage: { path: "notes/backup.log", lineStart: 3, lineEnd: 5 } },
    ]);
  });

  test("in either case, below a folder alone", async () => {
    const found = await search({ text: "ferry", path_prefix: "notes/" });
    expect(found.facts).toMatchObject({ matches: 2, of_files: 2 });
  });

  test("in either form of Unicode, and so do names of files", async () => {
    const reach = toolReach({ files: { "U\u0308bersicht.md": "Die Fa\u0308hre.\n" } });
    const found = await SEARCH_TEXT.run({ text: "f\u00e4hre" }, reach);
    expect(found).toMatchObject({ facts: { matches: 1 } });
    const listed = await LIST_FILES.run({ name_contains: "\u00fcber" }, reach);
    expect(listed).toMatchObject({ facts: { files: 1 } });
  });

  test("more than are shown are counted all the same", async () => {
    const found = await search({ text: "0", limit: 1 });
    expect(found.text).toContain("5 lines in 1 file, of which 1 are shown");
    expect(found.evidence).toHaveLength(1);
  });

  test("by a pattern", async () => {
    const found = await search({ text: "^00:0[24] .*full$", is_pattern: true });
    expect(found.facts).toMatchObject({ matches: 2 });
  });

  test("a pattern that never ends elsewhere ends here, and one that can't be run is refused", async () => {
    const files = { "a.txt": `${"a".repeat(20_000)}!\n` };
    const startedAt = performance.now();
    await SEARCH_TEXT.run({ text: "^(a+)+$", is_pattern: true }, toolReach({ files }));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    const refused = await SEARCH_TEXT.run({ text: "(?=a)", is_pattern: true }, toolReach());
    expect(refused).toMatchObject({ kind: "refused", code: "INVALID_ARGS" });
  });

  test("a text that is a pattern is taken as words unless it is said otherwise", async () => {
    expect((await search({ text: ".*" })).facts).toMatchObject({ matches: 0 });
  });
});
