import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { FieldBinding } from "../../../src/shared/job/run-result.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import { selectRunDetails } from "../../../src/shared/views/runs.ts";
import {
  answered,
  askJob,
  claimNext,
  EMPTY_RECORD,
  MADE_WITH,
  openBatchOf,
} from "../../conformance/jobs.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await openPostgres();
});
afterAll(() => database.close());

const BOUND: FieldBinding = {
  pointer: "/total",
  value: 240,
  state: "bound",
  reason: null,
  grade: "supported",
  judged: null,
  quote: "Total 240 EUR",
  span: { number: 1, path: "bill.md", startChar: 4, endChar: 17, lineStart: 2, lineEnd: 2 },
};
const UNBOUND: FieldBinding = {
  ...BOUND,
  pointer: "/customer",
  value: "Ada",
  state: "unbound",
  reason: "not_in_quote",
  grade: "unsupported",
  quote: null,
  span: null,
};
const NULL: FieldBinding = { ...UNBOUND, pointer: "/due", value: null, state: "null", grade: null };
const DENIED: FieldBinding = {
  ...BOUND,
  ...{ grade: "unconfirmed", reason: "judge" },
  judged: { says: "no", detail: "judge: its lines do not say it" },
};

async function settled(bindings: readonly FieldBinding[]): Promise<string> {
  const { db } = database;
  const { jobIds } = await openBatchOf(db, [askJob("a")]);
  const { runId } = await claimNext(db, jobIds[0] ?? "");
  const settlement = { kind: "succeeded", outcome: answered("{}") } as const;
  await settleRun(db, { runId, runMs: 1, ...MADE_WITH }, settlement, { ...EMPTY_RECORD, bindings });
  return runId;
}

const select = async (sql: string, runId: string) => (await database.db.query(sql, [runId])).rows;

describeOnPostgres("the values of an extraction", () => {
  test("are rows of a view, each with the words that carry it", async () => {
    const truth: FieldBinding = { ...BOUND, pointer: "/paid", value: false };
    const runId = await settled([BOUND, UNBOUND, NULL, truth]);
    const rows = await select(
      `select pointer, value, state, reason, quote, path, line_start
         from nightdesk.field_bindings where run_id = $1 order by ordinal`,
      runId,
    );
    expect(rows).toEqual([
      {
        ...{ pointer: "/total", value: 240, state: "bound", reason: null, quote: "Total 240 EUR" },
        ...{ path: "bill.md", line_start: 2 },
      },
      expect.objectContaining({ pointer: "/customer", value: "Ada", reason: "not_in_quote" }),
      expect.objectContaining({ pointer: "/due", value: null, state: "null", path: null }),
      expect.objectContaining({ pointer: "/paid", value: false }),
    ]);
    const graded = await settled([DENIED]);
    expect(
      await select("select * from nightdesk.field_bindings where run_id = $1", graded),
    ).toMatchObject([
      { grade: "unconfirmed", judge_says: "no", judge_detail: "judge: its lines do not say it" },
    ]);
    const [run] = await selectRunDetails(database.db, runId);
    expect(run?.field_bindings.map(({ value }) => value)).toEqual([240, "Ada", null, false]);
  });

  test("have the page that their words stand on, where the file has pages", async () => {
    const span = {
      number: 1,
      path: "bill.pdf",
      startChar: 4,
      endChar: 17,
      lineStart: 2,
      lineEnd: 2,
    };
    const runId = await settled([{ ...BOUND, span: { ...span, locator: { page: 3 } } }, BOUND]);
    const rows = await select(
      "select locator from nightdesk.field_bindings where run_id = $1 order by ordinal",
      runId,
    );
    expect(rows).toEqual([{ locator: { page: 3 } }, { locator: null }]);
    const [run] = await selectRunDetails(database.db, runId);
    expect(run?.field_bindings.map(({ locator }) => locator)).toEqual([{ page: 3 }, null]);
  });

  test.each<[string, readonly FieldBinding[], string | null]>([
    ["supported where each is bound", [BOUND, NULL], "supported"],
    ["unsupported where one is", [BOUND, UNBOUND, DENIED], "unsupported"],
    ["unconfirmed where one is in doubt", [BOUND, DENIED], "unconfirmed"],
    ["nothing where there is none", [NULL], null],
  ])("grade their run: %s", async (_, bindings, grade) => {
    const runId = await settled(bindings);
    expect(await select("select grade from nightdesk.runs where run_id = $1", runId)).toEqual([
      { grade },
    ]);
  });

  test.each<[string, Partial<FieldBinding>]>([
    ["bound without words", { quote: null, span: null }],
    ["bound without a place", { span: null }],
    ["bound with a reason against it", { reason: "not_in_quote" }],
    ["unbound with words", { state: "unbound", reason: "no_quote" }],
    ["unbound without a reason", { ...UNBOUND, reason: null }],
    ["null with a value", { ...NULL, value: 3 }],
    ["without a grade", { grade: null }],
    ["null with a grade", { ...NULL, grade: "supported" }],
  ])("are never %s", async (_, other) => {
    await expect(settled([{ ...BOUND, ...other }])).rejects.toThrow(/violates|SQLSTATE/);
  });
});
