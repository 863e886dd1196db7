import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { writeMail } from "../support/format-writers.ts";
import { indexDesk } from "../support/index-desk.ts";
import { answered, failed, workByHand } from "./work-by-hand.ts";
import { openDesk, pretendWorker, rowsOf } from "./desk.ts";
import type { Desk } from "./desk.ts";

let desk: Desk;
const pathOf = (name: string) => `allowed/corpus/${name}`;

const WORDS = Array.from({ length: 120 }, (_, at) => `word${(at * 37) % 101} of${at}`).join(" ");
const OTHER = Array.from({ length: 120 }, (_, at) => `other${(at * 31) % 97} as${at}`).join(" ");

/** a.md, its bytes again, nearly its words, and two files that are like no other. */
const TEXTS: Readonly<Record<string, string>> = {
  "a.md": WORDS,
  "b-same.md": WORDS,
  "c-near.md": WORDS.replace("of60", "of sixty"),
  "d.md": OTHER,
  "short.md": "Three words alone.",
};

beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
  for (const [name, text] of Object.entries(TEXTS)) await desk.write(pathOf(name), text);
  await indexDesk(desk);
});
afterAll(() => desk.dispose());

const rowsOfBatch = (batch: string) =>
  rowsOf(
    desk.database,
    `select r.custom_id, r.state, r.error_code, o.custom_id as copy_of
       from nightdesk.results r left join nightdesk.results o on o.job_id = r.duplicate_of
      where r.batch = $1 order by r.custom_id`,
    [batch],
  );

const WORKED = { state: "queued", error_code: null, copy_of: null };
const copyOf = (customId: string) => ({
  state: "cancelled",
  error_code: "DUPLICATE",
  copy_of: customId,
});

const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

const enqueue = async (name: string, lines: readonly object[], ...flags: readonly string[]) => {
  const file = await desk.write(
    `${name}.jsonl`,
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  return desk.run("enqueue", file, "--batch-name", name, "--dedupe", "--json", ...flags);
};

/** What a worker would have read: hand-made runs rest on another file. */
const readAsIndexed = () =>
  desk.database.query(
    `update nightdesk_data.evidence e set path = d.path, sha256 = d.sha256, extractor = d.extractor
       from nightdesk_data.runs r join nightdesk_data.jobs j using (job_id)
       join nightdesk_data.documents d on d.path = j.input->>'path'
      where e.run_id = r.run_id and e.kind = 'file'`,
  );

test("one of each group of copies is queued, and the others are rows that point to it", async () => {
  const { code, stdout, stderr } = await desk.run(
    ...["summarize", "corpus/*.md", "--dedupe", "--batch-name", "first", "--json"],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("2 jobs of them") });
  expect(json(stdout)).toMatchObject({ ok: true, batch: "first", duplicates: 2 });
  expect(await rowsOfBatch("first")).toEqual([
    { custom_id: pathOf("a.md"), ...WORKED },
    { custom_id: pathOf("b-same.md"), ...copyOf(pathOf("a.md")) },
    { custom_id: pathOf("c-near.md"), ...copyOf(pathOf("a.md")) },
    { custom_id: pathOf("d.md"), ...WORKED },
    { custom_id: pathOf("short.md"), ...WORKED },
  ]);
});

test("a batch counts its copies, is complete without them, and says what they are copies of", async () => {
  await workByHand(desk.database, 3, ({ customId }) => answered(`Of ${customId}.`));
  const shown = await desk.run("batch", "show", "first");
  expect(shown.stdout).toMatch(/5 jobs: 3 succeeded, 2 cancelled/);
  expect(shown.stdout).toContain("Copies, whose results are those of other jobs:");
  expect(shown.stdout).toMatch(/The same bytes as\s+allowed\/corpus\/a\.md/);
  expect(shown.stdout).not.toContain("What did not succeed");
  expect((await desk.run("batch", "wait", "first")).code).toBe(0);

  const { stdout } = await desk.run("batch", "export", "first");
  const lines = stdout.trim().split("\n").map(json);
  const idOf = (name: string) => lines.find((line) => line["custom_id"] === pathOf(name));
  expect(idOf("c-near.md")).toMatchObject({
    state: "cancelled",
    error_code: "DUPLICATE",
    error_message: expect.stringMatching(/^9\d % alike as allowed\/corpus\/a\.md/),
    answer: null,
    duplicate_of: idOf("a.md")?.["job_id"],
  });
  expect(idOf("a.md")).not.toHaveProperty("duplicate_of");

  await desk.run("batch", "report", "first");
  const report = await readFile(join(desk.workroot, "reports/first.md"), "utf8");
  expect(report).toContain("Copies, worked once");
  expect(report).not.toContain("What failed, and what to do");
});

test("what is queued again has its copies already, and a new copy points to the job that was worked", async () => {
  const again = await desk.run(
    ...["summarize", "corpus/*.md", "--dedupe", "--batch-name", "first"],
  );
  expect(again.stderr).toContain("Nothing new");
  // It comes before a.md by its path, and is a copy all the same: that one has its result.
  await desk.write(pathOf("0-new.md"), WORDS);
  await indexDesk(desk);
  await desk.run("summarize", "corpus/*.md", "--dedupe", "--batch-name", "first");
  expect((await rowsOfBatch("first"))[0]).toEqual({
    custom_id: pathOf("0-new.md"),
    ...copyOf(pathOf("a.md")),
  });
});

test("copies are neither retried nor repeated, unless their code is named", async () => {
  expect((await desk.run("batch", "retry", "first", "--cancelled")).stderr).toContain(
    "has no cancelled job.",
  );
  const all = await desk.run(
    ...["batch", "rerun", "first", "--where", "kind=summarize", "--dry-run"],
  );
  expect(all.stdout).toContain("3 jobs of batch");
  const copies = await desk.run(
    ...["batch", "rerun", "first", "--where", "error_code=DUPLICATE", "--batch-name", "copies"],
  );
  expect(copies.stderr).toContain("Queued 3 jobs");
  expect((await rowsOfBatch("copies")).map(({ state }) => state)).toEqual(Array(3).fill("queued"));
  await workByHand(desk.database, 3, () => failed);
});

test("a file is compared with those of which the same is asked, and with itself", async () => {
  const summarize = (custom_id: string, name: string, options = {}) => ({
    ...{ custom_id, kind: "summarize", path: pathOf(name), options },
  });
  const { code, stdout } = await enqueue("lines", [
    summarize("near", "c-near.md"),
    summarize("first", "a.md"),
    summarize("again", "a.md"),
    summarize("bullets", "b-same.md", { bullets: true }),
    { custom_id: "people", kind: "extract", path: pathOf("b-same.md"), preset: "people" },
    { custom_id: "asked", kind: "ask", question: "What is of60?" },
    summarize("gone", "gone.md"),
  ]);
  expect({ code, ...json(stdout) }).toMatchObject({ code: 0, added: 7, duplicates: 2 });
  const copies = (await rowsOfBatch("lines")).filter(({ copy_of: of }) => of !== null);
  expect(copies).toEqual([
    { custom_id: "again", ...copyOf("first") },
    { custom_id: "near", ...copyOf("first") },
  ]);
});

test("a load that was cut off is compared when it is whole", async () => {
  const line = (name: string) => ({
    ...{ custom_id: name, kind: "summarize", path: pathOf(name), options: { length: "short" } },
  });
  await enqueue("cut", [line("b-same.md")]);
  await desk.database.query(
    "update nightdesk_data.batches set state = 'loading' where name = 'cut'",
  );
  await enqueue("cut", [line("b-same.md"), line("a.md")]);
  expect(await rowsOfBatch("cut")).toEqual([
    { custom_id: "a.md", ...WORKED },
    { custom_id: "b-same.md", ...copyOf("a.md") },
  ]);
});

test("a file that the index does not know as it is now is worked, and told of", async () => {
  await desk.write(pathOf("b-same.md"), `${WORDS} And more.`);
  const { stderr } = await desk.run(
    ...["summarize", "corpus/*.md", "--dedupe", "--length", "long", "--batch-name", "changed"],
  );
  expect(stderr).toMatch(/does not know what they say now: 1 file\. To have them compared/);
  const worked = (await rowsOfBatch("changed")).filter(({ state }) => state === "queued");
  expect(worked.map(({ custom_id: id }) => id)).toContain(pathOf("b-same.md"));
  await desk.write(pathOf("b-same.md"), WORDS);
  await indexDesk(desk);
});

test("with --changed a copy is as changed as the file that it is a copy of", async () => {
  const changed = async () => {
    const words = ["summarize", "corpus/*.md", "--dedupe", "--changed", "--dry-run", "--json"];
    return json((await desk.run(...words, "--bullets")).stdout);
  };
  const before = await changed();
  expect(before["paths"]).toEqual(["0-new.md", "d.md", "short.md"].map(pathOf));
  expect(before["copies"]).toMatchObject([
    { path: pathOf("a.md"), of: pathOf("0-new.md"), kind: "exact" },
    { path: pathOf("b-same.md"), of: pathOf("0-new.md") },
    { path: pathOf("c-near.md"), of: pathOf("0-new.md"), kind: "near" },
  ]);
  await desk.run("summarize", pathOf("0-new.md"), "--bullets");
  await workByHand(desk.database, 1, ({ customId }) => answered(customId));
  await readAsIndexed();
  const after = await changed();
  expect(after["paths"]).toEqual(["d.md", "short.md"].map(pathOf));
  expect(after).not.toHaveProperty("copies");
});

test("without --dedupe a copy is unchanged while it has the result of the file that it is a copy of", async () => {
  const paths = ["a.md", "b-same.md", "c-near.md"].map(pathOf);
  const changed = async () => {
    const { stdout } = await desk.run(
      ...["summarize", ...paths, "--changed", "--dry-run", "--json", "--length", "sentence"],
    );
    return json(stdout)["paths"];
  };
  expect(await changed()).toEqual(paths);
  await desk.run(
    ...["summarize", ...paths, "--dedupe", "--length", "sentence", "--batch-name", "copied"],
  );
  expect(await changed()).toEqual(paths);
  await workByHand(desk.database, 1, ({ customId }) => answered(customId));
  await readAsIndexed();
  expect(await changed()).toEqual([]);

  // The copy to the byte has the result as long as its bytes are those; the near one was compared with the former words.
  await desk.write(pathOf("a.md"), OTHER);
  await indexDesk(desk);
  expect(await changed()).toEqual(["a.md", "c-near.md"].map(pathOf));
  await desk.write(pathOf("a.md"), WORDS);
  await desk.write(pathOf("b-same.md"), `${WORDS} And more.`);
  await indexDesk(desk);
  expect(await changed()).toEqual(["b-same.md", "c-near.md"].map(pathOf));
  await desk.write(pathOf("b-same.md"), WORDS);
  await indexDesk(desk);
});

test("a report compares a copy by the result that it has: no copy is broken, and none is fixed", async () => {
  const paths = ["a.md", "b-same.md", "c-near.md"].map(pathOf);
  const summarize = async (name: string, ...flags: readonly string[]) => {
    const words = ["summarize", ...paths, "--bullets", "--length", "long"];
    await desk.run(...words, "--batch-name", name, ...flags);
  };
  const compared = async (now: string, before: string): Promise<string> => {
    const words = ["batch", "report", now, "--compare", before, "--force", "--json"];
    const { stdout } = await desk.run(...words);
    return readFile(String(json(stdout)["markdown"]), "utf8");
  };
  const say = (words: string) => () => answered(words);
  await summarize("each");
  await workByHand(desk.database, 3, say("The same for all."));
  await summarize("once", "--dedupe");
  // Neither the job nor its copies have ended.
  expect(await compared("once", "each")).toContain("0 jobs came out the same, and nothing else");
  await workByHand(desk.database, 1, say("The same for all."));
  for (const report of [await compared("once", "each"), await compared("each", "once")]) {
    expect(report).toContain("3 jobs came out the same, and nothing else");
  }
  await summarize("failed", "--dedupe");
  await workByHand(desk.database, 1, () => failed);
  expect(await compared("failed", "each")).toMatch(
    /Succeeded before, and not now: 3[^]*b-same\.md`, now MODEL_NOT_FOUND/,
  );
});

test("a digest tells of the file that was worked, and not of its copies", async () => {
  await desk.run(
    ...["summarize", "corpus/*.md", "--dedupe", "--digest", "--length", "sentence"],
    ...["--batch-name", "told"],
  );
  const [row] = await rowsOf(
    desk.database,
    `select count(*) filter (where c.duplicate_of is not null)::int as copies, count(*)::int as children
       from nightdesk_data.job_dependencies d join nightdesk_data.jobs c on c.job_id = d.child_id
       join nightdesk_data.batches b using (batch_id) where b.name = 'told' and c.kind = 'summarize'`,
  );
  expect(row).toEqual({ copies: 0, children: 3 });
});

test("an attachment is a copy of a file, as long as its mail is as it was indexed", async () => {
  const mail = writeMail({
    from: "Ada <ada@example.org>",
    to: "Bo <bo@example.org>",
    date: "Tue, 3 Nov 2026 10:00:00 +0100",
    subject: "The words",
    text: "Attached.",
    attachments: [{ name: "words.md", type: "text/markdown", content: WORDS }],
  });
  await desk.write(pathOf("mail.eml"), mail);
  await indexDesk(desk);
  const attached = pathOf("mail.eml/attachments/1/words.md");
  const words = ["summarize", pathOf("a.md"), attached, "--dedupe", "--batch-name"];
  await desk.run(...words, "attached");
  expect(await rowsOfBatch("attached")).toEqual([
    { custom_id: pathOf("a.md"), ...WORKED },
    { custom_id: attached, ...copyOf(pathOf("a.md")) },
  ]);
  await desk.write(pathOf("mail.eml"), `${mail.toString()}more`);
  const { stderr } = await desk.run(...words, "later");
  expect(stderr).toContain("because the index does not know what they say now: 1 file");
  expect(await rowsOfBatch("later")).toEqual([
    { custom_id: pathOf("a.md"), ...WORKED },
    { custom_id: attached, ...WORKED },
  ]);
});
