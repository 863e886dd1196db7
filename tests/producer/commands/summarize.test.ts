import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findNamedFile } from "../../../src/producer/selection/find-in-roots.ts";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { answered, refused, workByHand } from "../work-by-hand.ts";

let desk: Desk;
const at = (...parts: readonly string[]) => join(desk.workroot, ...parts);
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
  await mkdir(at("allowed/corpus/notes/.hidden"), { recursive: true });
  await mkdir(at("elsewhere"));
  for (const name of [
    "allowed/corpus/a.md",
    "allowed/corpus/notes/b.md",
    "allowed/corpus/notes/c.gz",
    "allowed/corpus/notes/.d.md",
    "allowed/corpus/nightdesk.yaml",
    "allowed/corpus/notes/.hidden/e.md",
    "allowed/corpus/[x].md",
    "elsewhere/f.md",
  ]) {
    await desk.write(name, "text");
  }
  await symlink(at("elsewhere"), at("allowed/corpus/link"));
});
afterAll(() => desk.dispose());

const pathsOf = async (batch: string) =>
  (
    await rowsOf(
      desk.database,
      "select custom_id, input->>'path' as path from nightdesk.results where batch = $1 order by 1",
      [batch],
    )
  ).map(({ path }) => path);

describe("a glob", () => {
  test("matches files below the allowed roots: none hidden, not our configuration, none behind a link to a folder, none of another kind", async () => {
    const { code } = await desk.run("summarize", "**/*", "--batch-name", "all");
    expect(code).toBe(0);
    expect(await pathsOf("all")).toEqual([
      "allowed/corpus/[x].md",
      "allowed/corpus/a.md",
      "allowed/corpus/notes/b.md",
    ]);
  });

  test("with --dry-run is told by its files, and nothing is queued", async () => {
    const { stdout, code } = await desk.run(
      ...[
        "summarize",
        "corpus/notes/*",
        "missing.md",
        "--dry-run",
        "--batch-name",
        "dry",
        "--json",
      ],
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      ...{ ok: true, state: "dry_run", files: 2, bytes: 4 },
      paths: ["allowed/corpus/notes/b.md", "missing.md"],
      empty_or_missing: ["missing.md"],
      ...{ skipped_files: 1, skipped_by_extension: { ".gz": 1 } },
    });
    const text = await desk.run("summarize", "corpus/notes/*", "--dry-run");
    expect(text.stdout).toBe("allowed/corpus/notes/b.md\n");
    expect(text.stderr).toContain("1 file of 4 bytes would be queued; 1 skipped: 1 .gz");
    expect(await pathsOf("dry")).toEqual([]);
    const wrong = await desk.run("summarize", "corpus/notes/*", "--dry-run", "--windows", "noon");
    expect(wrong.stderr).toContain("is no window");
  });

  test("counts from the work root or from the allowed root", async () => {
    await desk.run("summarize", "allowed/corpus/notes/*.md", "--batch-name", "from the work root");
    await desk.run("summarize", "corpus/notes/*.md", "--batch-name", "from the root");
    expect(await pathsOf("from the work root")).toEqual(["allowed/corpus/notes/b.md"]);
    expect(await pathsOf("from the root")).toEqual(["allowed/corpus/notes/b.md"]);
  });

  test("that matches nothing is refused, and nothing is queued", async () => {
    const { code, stderr } = await desk.run("summarize", "**/*.rst", "--batch-name", "none");
    expect(stderr).toContain('INPUT_INVALID: "**/*.rst" matches no file below allowed/');
    expect(code).toBe(1);
    expect(await pathsOf("none")).toEqual([]);
  });
});

describe("a folder", () => {
  test("is all of its files, and what is left out is counted in words and in JSON", async () => {
    const { code, stdout, stderr } = await desk.run("summarize", "corpus/notes", "--json");
    expect(code).toBe(0);
    const { batch, ...queued } = JSON.parse(stdout) as { batch: string };
    expect(queued).toMatchObject({ skipped_files: 1, skipped_by_extension: { ".gz": 1 } });
    expect(stderr).toContain("1 skipped: 1 .gz (security.allowed_exts).\n");
    expect(await pathsOf(batch)).toEqual(["allowed/corpus/notes/b.md"]);
  });

  test("is taken by extract, too", async () => {
    const words = ["extract", "corpus/notes/", "--preset", "actions", "--batch-name", "taken out"];
    const { code, stderr } = await desk.run(...words);
    expect(code).toBe(0);
    expect(stderr).toContain("1 skipped: 1 .gz (security.allowed_exts).");
    expect(await pathsOf("taken out")).toEqual(["allowed/corpus/notes/b.md"]);
  });
});

test("an ambiguous path is refused before anything is queued, with exit code 4", async () => {
  await desk.write("allowed/corpus/notes/a.md", "another");
  const before = await rowsOf(desk.database, "select job_id from nightdesk.results");
  const plain = await desk.run("summarize", "a.md");
  expect(plain).toMatchObject({ code: 4, stdout: "" });
  expect(plain.stderr).toMatch(
    /^nightdesk: AMBIGUOUS_PATH: "a.md" fits 2 .* "allowed\/corpus\/a.md", "allowed\/corpus\/notes\/a.md"/,
  );
  const json = await desk.run("extract", "a.md", "--preset", "actions", "--json");
  expect(json.code).toBe(4);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, error_code: "AMBIGUOUS_PATH" });
  expect(await rowsOf(desk.database, "select job_id from nightdesk.results")).toEqual(before);
  await rm(at("allowed/corpus/notes/a.md"));
});

describe("a path", () => {
  test("that names a file from the current folder becomes relative to the work root", async () => {
    expect(await findNamedFile("b.md", at("allowed/corpus/notes"), desk.workroot)).toBe(
      "allowed/corpus/notes/b.md",
    );
    expect(await findNamedFile("../a.md", at("allowed/corpus/notes"), desk.workroot)).toBe(
      "allowed/corpus/a.md",
    );
    expect(await findNamedFile("f.md", at("allowed/corpus/link"), desk.workroot)).toBe(
      "elsewhere/f.md",
    );
  });

  test("of anything else is none that the command line knows", async () => {
    const cwd = at("allowed/corpus/notes");
    for (const path of ["nowhere.md", "/etc/passwd", "../../../../etc/passwd", ".", "a\0b"]) {
      expect(await findNamedFile(path, cwd, desk.workroot)).toBeUndefined();
    }
    expect(await findNamedFile("f.md", at("elsewhere"), at("allowed"))).toBeUndefined();
  });

  test("with brackets that exists is no glob", async () => {
    const running = desk.run("summarize", "allowed/corpus/[x].md", "--json");
    const { stdout } = await running;
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      state: "queued",
      job_id: expect.any(String),
    });
  });
});

test("several files with --wait print every answer, and exit 3 when one was refused", async () => {
  await desk.database.query("delete from nightdesk_data.batches");
  const running = desk.run("summarize", "allowed/corpus/a.md", "nowhere.md", "--wait");
  await workByHand(desk.database, 2, ({ customId }) =>
    customId === "nowhere.md" ? refused : answered("Short."),
  );
  const { code, stdout } = await running;
  expect(stdout).toContain("== allowed/corpus/a.md\nShort.\nScope: full evidence");
  expect(stdout).toContain("== nowhere.md\nrefused: FILE_NOT_FOUND: No file nowhere.md");
  expect(code).toBe(3);
});

test("the same files under the same name are nothing new, and it says what would make them again", async () => {
  const words = ["summarize", "allowed/corpus/a.md", "nowhere.md", "--batch-name", "evening"];
  expect((await desk.run(...words)).stderr).toContain('2 files in batch "evening".');
  const again = await desk.run(...words, "--digest", "--json");
  expect(JSON.parse(again.stdout)).toMatchObject({
    ok: true,
    batch: "evening",
    state: "unchanged",
  });
  expect(again.stderr).toBe(
    'Nothing new: the batch "evening" holds 2 files already. To make them again: ' +
      'nightdesk batch rerun "evening" --stale, or another --batch-name.\n' +
      'For a digest of it: nightdesk digest "evening"\n',
  );
  const { stderr } = await desk.run(...words, "allowed/corpus/[x].md");
  expect(stderr).toContain('3 files in batch "evening", 2 were there already.');
});
