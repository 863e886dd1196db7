import { createHash } from "node:crypto";
import { mkdir, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { runBin } from "../../support/run-bin.ts";
import type { Ended } from "../../support/run-bin.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
  await mkdir(join(desk.workroot, "allowed/corpus/notes"), { recursive: true });
  for (const name of ["a.md", "notes/b.md", "notes/two\nlines.md", "[x].md", "*.md"]) {
    await desk.write(`allowed/corpus/${name}`, "text");
  }
});
afterAll(() => desk.dispose());

const nightdesk = (words: readonly string[], stdin = "", cwd = desk.workroot): Promise<Ended> =>
  runBin(words, { cwd, stdin });

const pathsOf = async (batch: string) =>
  (
    await rowsOf(
      desk.database,
      "select input->>'path' as path from nightdesk.results where batch = $1 order by created_at, path",
      [batch],
    )
  ).map(({ path }) => path);

test("a list on stdin is a file a line, as it is written, from the current folder or the work root", async () => {
  const list = ["a.md", "*.md", "notes", "", "allowed/corpus/[x].md", "nowhere.md", "a.md"];
  const { code, stderr } = await nightdesk(
    ["summarize", "--files-from", "-", "--batch-name", "lines"],
    list.join("\r\n"),
    join(desk.workroot, "allowed/corpus"),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("6 files") });
  expect(await pathsOf("lines")).toEqual(
    [
      ...["allowed/corpus/*.md", "allowed/corpus/[x].md", "allowed/corpus/a.md"],
      ...["allowed/corpus/notes/b.md", "allowed/corpus/notes/two\nlines.md", "nowhere.md"],
    ].sort(),
  );
});

test("paths that end in NUL may hold a line feed, and come with those of the arguments", async () => {
  const { code } = await nightdesk(
    [
      ...["extract", "corpus/a.md", "--files-from", "-", "--null"],
      ...["--preset", "people", "--batch-name", "nul"],
    ],
    "allowed/corpus/notes/two\nlines.md\0allowed/corpus/notes/b.md\0",
  );
  expect(code).toBe(0);
  expect(await pathsOf("nul")).toEqual([
    "allowed/corpus/a.md",
    "allowed/corpus/notes/b.md",
    "allowed/corpus/notes/two\nlines.md",
  ]);
});

test("a list in a file makes a batch also of one path, and an empty one makes none", async () => {
  await desk.write("list.txt", "allowed/corpus/a.md\n");
  const one = await desk.run("summarize", "--files-from", join(desk.workroot, "list.txt"));
  expect(one.stderr).toContain("1 file in batch");
  await desk.write("empty.txt", "\n");
  const none = await desk.run(
    ...["summarize", "--files-from", join(desk.workroot, "empty.txt"), "--json"],
  );
  expect({ code: none.code, ...(JSON.parse(none.stdout) as object) }).toEqual({
    ...{ code: 0, ok: true, batch_id: null, batch: null, state: "unchanged" },
  });
});

test.each([
  ["no file at all", ["summarize"], "", "give a list of paths with --files-from"],
  ["a list that is not there", ["summarize", "--files-from", "no.txt"], "", "does not exist"],
  ["NUL without --null", ["summarize", "--files-from", "-"], "a\0b\0", "Give --null as well"],
  ["--null alone", ["summarize", "a.md", "--null"], "", "--null says how --files-from ends"],
  ["a text that nobody keeps", ["summarize", "-"], "Words.", "kept as a document first"],
  ["a place without a text", ["summarize", "a.md", "--save-as", "b.md"], "", "give - as the path"],
  [
    "a place outside",
    ["summarize", "-", "--save-as", "b.md"],
    "Words.",
    "is below no allowed root",
  ],
  [
    "a place that climbs",
    ["summarize", "-", "--save-as", "allowed/../../b.md"],
    "Words.",
    "is below no allowed root",
  ],
  [
    "an ending that is not read",
    ["summarize", "-", "--save-as", "allowed/corpus/b.gz"],
    "Words.",
    "(security.allowed_exts)",
  ],
  [
    "a file that is there",
    ["summarize", "-", "--save-as", "allowed/corpus/a.md"],
    "Words.",
    "is there already",
  ],
  ["no words", ["summarize", "-", "--save-as", "allowed/corpus/c.md"], " \n", "is empty"],
  [
    "a dry run",
    ["summarize", "-", "--save-as", "allowed/corpus/c.md", "--dry-run"],
    "Words.",
    "leave --dry-run away",
  ],
])("refuses in words %s", async (_, words, stdin, message) => {
  const { code, stderr } = await nightdesk(words, stdin);
  expect([1, 2]).toContain(code);
  expect(stderr).toContain(message);
  await expect(stat(join(desk.workroot, "allowed/corpus/c.md"))).rejects.toThrow("ENOENT");
});

test("a text on stdin is a document before it is worked", async () => {
  const text = "The ferry leaves at six.\n";
  const { code, stderr } = await nightdesk(
    ["summarize", "-", "--save-as", "allowed/corpus/notes/ferry.md"],
    text,
  );
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining("Kept as allowed/corpus/notes/ferry.md."),
  });
  const kept = await readFile(join(desk.workroot, "allowed/corpus/notes/ferry.md"));
  expect(createHash("sha256").update(kept).digest()).toEqual(
    createHash("sha256").update(text).digest(),
  );
  const [job] = await rowsOf(
    desk.database,
    "select kind, input->>'path' as path from nightdesk.results order by created_at desc limit 1",
  );
  expect(job).toEqual({ kind: "summarize", path: "allowed/corpus/notes/ferry.md" });
});

test("a text is not kept behind a link", async () => {
  await symlink(join(desk.workroot, "allowed/corpus/notes"), join(desk.workroot, "allowed/link"));
  const { code, stderr } = await nightdesk(
    ["summarize", "-", "--save-as", "allowed/link/d.md"],
    "Words.",
  );
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining("PATH_DENIED") });
});
