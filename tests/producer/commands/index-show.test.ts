import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  for (const [name, day, until, source] of DOCUMENTS) {
    await desk.write(`allowed/corpus/${name}`, "Words.");
    await desk.database.query(
      `insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled,
              metadata_state, chunk_settings, day, day_until, day_source, dates, family)
       values ('corpus', $1, repeat('a', 64), 6, 6, 1700000000000000000, 0, 0, 0, true, 'absent', 'x', $2, $3, $4, $5, 'price list')`,
      [
        `allowed/corpus/${name}`,
        ...[day, until, source],
        JSON.stringify(source === null ? [] : [{ source, date: day }]),
      ],
    );
  }
});
afterAll(() => desk.dispose());

const DOCUMENTS = [
  ["price list 2025.md", "2025-01-01", "2025-12-31", "file_name"],
  ["price list 2026.md", "2026-01-01", "2026-12-31", "file_name"],
  ["price list.md", null, null, null],
] as const;

test("a document is shown with its date, where that stands, and newer versions", async () => {
  const shown = await desk.run("index", "show", "allowed/corpus/price list 2025.md");
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toContain("2025-01-01 to 2025-12-31, by the name of the file");
  expect(shown.stdout).toMatch(/Newer versions +allowed\/corpus\/price list 2026\.md/);
  const json = await desk.run("index", "show", "allowed/corpus/price list.md", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: true,
    path: "allowed/corpus/price list.md",
    day: "2023-11-14",
    day_source: "file_time",
    dates: [],
  });
});

test("what is not indexed is an error that says what to do", async () => {
  await desk.write("allowed/corpus/other.md", "Words.");
  const { code, stderr } = await desk.run("index", "show", "allowed/corpus/other.md");
  expect(code).toBe(1);
  expect(stderr).toContain('NOT_FOUND: The index holds no document "allowed/corpus/other.md"');
});

test.each([
  [
    ["--since", "2026-01-01"],
    ["price list 2026.md", "unindexed March 2026.md"],
  ],
  [["--until", "2023-12-31"], ["price list.md"]],
])("files of days are taken: %j", async (flags, names) => {
  await desk.write("allowed/corpus/unindexed March 2026.md", "Words.");
  const name = flags.join(" ");
  const queued = await desk.run(
    "summarize",
    "corpus/*2*.md",
    "corpus/price*.md",
    "--batch-name",
    name,
    ...flags,
  );
  expect(queued).toMatchObject({ code: 0, stderr: expect.stringContaining("of these days") });
  expect(queued.stderr).toContain("Dated by name or last change, because the index does not know");
  const { rows } = await desk.database.query(
    "select input ->> 'path' as path from nightdesk.results where batch = $1 order by 1",
    [name],
  );
  expect(rows).toEqual(names.map((file) => ({ path: `allowed/corpus/${file}` })));
});

test("a day that there is not is refused before anything is queued", async () => {
  const { code, stderr } = await desk.run("summarize", "corpus/*.md", "--since", "2026-02-30");
  expect(code).toBe(2);
  expect(stderr).toContain("--since takes a day as YYYY-MM-DD");
});
