import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { NO_FILTER, selectResultPage } from "../../../src/shared/views/result-list.ts";
import type { ResultFilter, ScanLimit } from "../../../src/shared/views/result-list.ts";
import { insertFinishedBatch } from "../../support/finished-batch.ts";
import type { FinishedJob } from "../../support/finished-batch.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const ANSWERS: readonly string[] = ["Überfahrt um 9", "The FERRY leaves", "100 % of it", "100 pct"];
const JOBS: readonly FinishedJob[] = Array.from({ length: 40 }, (_, at) => ({
  customId: `job-${at}`,
  input: {
    kind: at % 10 === 9 ? "summarize" : "ask",
    question: "?",
    path: `notes/${at % 2}/a.md`,
    examples: [{ text: "A sextant.", label: "nautical" }],
  },
  ...(at % 5 === 4
    ? { state: "refused" as const, code: "FILE_EMPTY", message: "It is empty." }
    : { answer: ANSWERS[at % 4] ?? "" }),
}));

describeOnPostgres("a page of results", () => {
  let database: TestDatabase;
  let batch: string;
  beforeAll(async () => {
    database = await openPostgres();
    await insertFinishedBatch(database.db, { name: "evening", jobs: JOBS });
    await database.db.query(
      `update nightdesk_data.runs r set grade = 'unconfirmed'
         from nightdesk_data.jobs j where j.run_id = r.run_id and j.custom_id in ('job-0', 'job-38')`,
    );
    const { rows } = await database.db.query("select batch_id from nightdesk_data.batches");
    batch = (rows[0] as { batch_id: string }).batch_id;
  });
  afterAll(() => database.close());

  /** All pages, one after the other. */
  async function all(filter: Partial<ResultFilter>, limit: number, scan?: ScanLimit) {
    const pages: { readonly ids: readonly string[]; readonly scanned: number | null }[] = [];
    let after: string | null = "0";
    while (after !== null) {
      const at = { after, limit, ...(scan === undefined ? {} : { scan }) };
      const page = await selectResultPage(database.db, batch, { ...NO_FILTER, ...filter }, at);
      pages.push({ ids: page.results.map(({ custom_id: id }) => id), scanned: page.scanned });
      after = page.next;
    }
    return pages;
  }
  const idsOf = (pages: readonly { readonly ids: readonly string[] }[]) =>
    pages.flatMap(({ ids }) => ids);
  const where = (fits: (job: FinishedJob, at: number) => boolean): readonly string[] =>
    JOBS.filter(fits).map(({ customId }) => customId);

  const FILTERS: readonly (readonly [string, Partial<ResultFilter>, readonly string[]])[] = [
    ["none", {}, where(() => true)],
    ["a state", { state: "refused" }, where(({ state }) => state === "refused")],
    ["a kind", { kind: "summarize" }, where(({ input }) => input.kind === "summarize")],
    ["a grade", { grade: "unconfirmed" }, ["job-0", "job-38"]],
    ["a folder", { folder: "notes/1/" }, where((_, at) => at % 2 === 1)],
    ["a text in any case", { text: "ferry LEAVES" }, where(({ answer }) => answer === ANSWERS[1])],
    ["letters beyond ASCII", { text: "üBERFAHRT" }, where(({ answer }) => answer === ANSWERS[0])],
    ["what looks like a pattern", { text: "100 %" }, where(({ answer }) => answer === ANSWERS[2])],
    ["other letters in their place", { text: "öberfahrt" }, []],
    ["an id", { text: "JOB-17" }, ["job-17"]],
    ["words of examples, which are those of all", { text: "sextant" }, []],
    [
      "a state and a text",
      { state: "succeeded", text: "pct" },
      where(({ answer }) => answer === ANSWERS[3]),
    ],
  ];

  test.each(FILTERS)(
    "is told apart by %s, each result once and in order",
    async (_, filter, ids) => {
      expect(idsOf(await all(filter, 50))).toEqual(ids);
      expect(idsOf(await all(filter, 3))).toEqual(ids);
      expect(idsOf(await all(filter, 3, { rows: 7, ms: 0 }))).toEqual(ids);
    },
  );

  test("says how many jobs it looked at where it stopped before it was full, and goes on from there", async () => {
    const pages = await all({ grade: "unconfirmed" }, 3, { rows: 15, ms: 0 });
    expect(pages).toEqual([
      { ids: ["job-0"], scanned: 15 },
      { ids: [], scanned: 15 },
      { ids: ["job-38"], scanned: null },
    ]);
    // With time left it looks on.
    expect(await all({ grade: "unconfirmed" }, 3, { rows: 15, ms: 60_000 })).toEqual([
      { ids: ["job-0", "job-38"], scanned: null },
    ]);
  });
});
