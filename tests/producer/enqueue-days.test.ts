import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDesk, pretendWorker, rowsOf } from "./desk.ts";
import type { Desk } from "./desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
  for (const day of ["2026-02-28", "2026-03-01", "2026-03-31", "2026-04-01"]) {
    await desk.write(`allowed/corpus/${day}.md`, "Words.");
  }
});
afterAll(() => desk.dispose());

const summarize = (day: string) => ({
  ...{ custom_id: day, kind: "summarize", path: `allowed/corpus/${day}.md` },
});

const enqueue = async (name: string, lines: readonly object[]) => {
  const file = await desk.write(
    `${name}.jsonl`,
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  return desk.run(
    ...["enqueue", file, "--batch-name", name, "--json"],
    ...["--since", "2026-03-01", "--until", "2026-03-31"],
  );
};

const days = (since: string, until: string) => ["--since", since, "--until", until];

const optionsOf = async (batch: string) =>
  rowsOf(
    desk.database,
    "select custom_id, input->'options' as options from nightdesk.results where batch = $1 order by 1",
    [batch],
  );

const DAYS = { since: "2026-03-01", until: "2026-03-31" };
const LINES = [
  ...["2026-02-28", "2026-03-01", "2026-03-31", "2026-04-01"].map(summarize),
  { custom_id: "asked", kind: "ask", question: "Who?" },
  { custom_id: "own", kind: "ask", question: "Who?", options: { since: "2025-01-01", full: true } },
  { custom_id: "seen", kind: "investigate", task: "Who?", tools: "optional" },
  { custom_id: "chat", kind: "chat", prompt: "Say hello." },
];

test("days hold for all lines of a file, each kind in its way", async () => {
  const { code, stdout, stderr } = await enqueue("all", LINES);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining("Not of these days: 2 lines on files."),
  });
  expect(JSON.parse(stdout)).toMatchObject({ added: 6, skipped: 0, rejected: 0 });
  expect(await optionsOf("all")).toEqual([
    { custom_id: "2026-03-01", options: null },
    { custom_id: "2026-03-31", options: null },
    { custom_id: "asked", options: DAYS },
    { custom_id: "chat", options: null },
    { custom_id: "own", options: { ...DAYS, since: "2025-01-01", full: true } },
    { custom_id: "seen", options: DAYS },
  ]);
});

test("the same lines again are there already", async () => {
  expect(JSON.parse((await enqueue("all", LINES)).stdout)).toMatchObject({ added: 0, skipped: 6 });
});

test("files of other days alone are no failure, and make no batch", async () => {
  const { code, stdout } = await enqueue("none", [summarize("2026-02-28")]);
  expect({ code, ...(JSON.parse(stdout) as object) }).toEqual({
    ...{ code: 0, ok: true, batch_id: null, batch: null, state: "unchanged" },
  });
  expect(await rowsOf(desk.database, "select name from nightdesk_data.batches")).toEqual([
    { name: "all" },
  ]);
});

test("an attachment that is not in the index has the time of its mail", async () => {
  const mail = "allowed/corpus/offer.eml";
  await desk.write(mail, "Subject: Offer\n\nWords.");
  const before = new Date("2026-02-15T12:00:00Z");
  await utimes(join(desk.workroot, mail), before, before);
  const path = `${mail}/attachments/1/plan.txt`;
  const { stdout } = await enqueue("mail", [{ custom_id: "plan", kind: "summarize", path }]);
  expect(JSON.parse(stdout)).toMatchObject({ batch_id: null });
});

test("an investigation keeps its days", async () => {
  const { code, stderr } = await desk.run(
    ...["investigate", "Who?", "--tools", "optional", "--since", "2026-03-01", "--json"],
  );
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const [row] = await rowsOf(
    desk.database,
    "select input->'options' as options from nightdesk.results where kind = 'investigate' order by created_at desc limit 1",
  );
  expect(row).toEqual({ options: { since: "2026-03-01" } });
});

test.each([["summarize"], ["extract", "--preset", "actions"]])(
  "%s --dry-run shows the files of these days, and of how many nothing says a date",
  async (...command) => {
    await desk.write("allowed/corpus/undated.md", "Words.");
    await desk.database.query(
      `insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device,
              settled, metadata_state, chunk_settings)
       values ('corpus', 'allowed/corpus/undated.md', $1, 6, 6, 1700000000000000000, 1, 1, 1, true, 'absent', 'x')
       on conflict do nothing`,
      ["a".repeat(64)],
    );
    const { code, stdout, stderr } = await desk.run(
      ...command,
      ...["allowed/corpus/*.md", "--dry-run", "--json", ...days("2026-03-01", "2026-03-31")],
    );
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({
      code: 0,
      paths: ["allowed/corpus/2026-03-01.md", "allowed/corpus/2026-03-31.md"],
      of_other_days: 3,
    });
    expect(stderr).toContain("2 of 5 files of these days.");
    expect(stderr).toContain("Dated by their last change, because they say no date: 1 file.");
    expect(stderr).toContain("the index does not know what they say: 4 files.");
    // Its last change, in November 2023, is its day.
    const all = await desk.run(
      ...command,
      ...["allowed/corpus/*.md", "--dry-run", ...days("2023-11-01", "2023-11-30")],
    );
    expect(all.stdout).toBe("allowed/corpus/undated.md\n");
  },
);
