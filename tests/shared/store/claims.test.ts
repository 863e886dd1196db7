import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ClaimRecord } from "../../../src/shared/job/run-result.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import { exportJson, successJson } from "../../../src/producer/print/result.ts";
import { answerSection } from "../../../src/shared/views/answer-sections.ts";
import { leftOutLines } from "../../../src/shared/views/claims.ts";
import { selectResult } from "../../../src/shared/views/results.ts";
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

const CARRIED: ClaimRecord = {
  draft: 1,
  text: "The fare is 12 euro.",
  cites: [1],
  quote: null,
  grade: "supported",
  reason: "verbatim",
  fate: "kept",
  stands: true,
  arithmetic: null,
  span: { number: 1, path: "fares.md", startChar: 4, endChar: 24, lineStart: 2, lineEnd: 2 },
  otherSpans: [],
  carrier: "The fare is 12 euro.",
  checks: [{ rule: "figures", verdict: "pass", detail: "12 euro" }],
};
const DOUBTED: ClaimRecord = {
  ...CARRIED,
  grade: "unconfirmed",
  reason: "polarity",
  fate: "marked",
};
const DROPPED: ClaimRecord = {
  ...CARRIED,
  text: "It is 20 euro.",
  grade: "unsupported",
  reason: "figure",
  fate: "dropped",
  stands: false,
  span: null,
  carrier: null,
  checks: [{ rule: "figures", verdict: "fail", detail: "20 euro" }],
};

async function settled(
  claims: readonly ClaimRecord[],
  settlement: Parameters<typeof settleRun>[2] = { kind: "succeeded", outcome: answered("yes") },
): Promise<string> {
  const { db } = database;
  const { jobIds } = await openBatchOf(db, [askJob("a")]);
  const { runId } = await claimNext(db, jobIds[0] ?? "");
  await settleRun(db, { runId, runMs: 1, ...MADE_WITH }, settlement, {
    ...EMPTY_RECORD,
    claims,
  });
  return runId;
}

const select = async (sql: string, runId: string) => (await database.db.query(sql, [runId])).rows;

describeOnPostgres("the claims of a run", () => {
  test("have the page or row of their place, and the places of the other pieces that they cite", async () => {
    const span = {
      number: 1,
      path: "fares.pdf",
      startChar: 4,
      endChar: 24,
      lineStart: 4,
      lineEnd: 4,
    };
    const other = { ...span, number: 2, path: "fares.csv", lineStart: 9, lineEnd: 9 };
    const runId = await settled([
      {
        ...CARRIED,
        span: { ...span, locator: { page: 2 } },
        otherSpans: [
          { ...other, locator: { row: 9 } },
          { ...other, number: 3, path: "fares.md" },
        ],
      },
      CARRIED,
    ]);
    const rows =
      "select locator, other_places from nightdesk.claims where run_id = $1 order by ordinal";
    const place = { start_char: 4, end_char: 24, line_start: 9, line_end: 9 };
    expect(await select(rows, runId)).toEqual([
      {
        locator: { page: 2 },
        other_places: [
          { ...place, number: 2, path: "fares.csv", locator: { row: 9 } },
          { ...place, number: 3, path: "fares.md", locator: null },
        ],
      },
      { locator: null, other_places: [] },
    ]);
    const [run] = await selectRunDetails(database.db, runId);
    expect(run?.claims[0]).toMatchObject({ locator: { page: 2 }, other_places: { length: 2 } });
  });

  test("are graded by the worst that stands, and those left out are counted", async () => {
    const repaired = { ...DROPPED, draft: 0, fate: "repaired" } as const;
    const runId = await settled([repaired, CARRIED, DOUBTED, DROPPED]);
    const grade = "select grade, claims_dropped from nightdesk_data.runs where run_id = $1";
    expect(await select(grade, runId)).toEqual([{ grade: "unconfirmed", claims_dropped: 1 }]);
    const rows = await select(
      `select draft, ordinal, stands, claim, grade, fate, cites, path, line_start, quote
         from nightdesk.claims where run_id = $1 order by draft, ordinal`,
      runId,
    );
    expect(rows).toMatchObject([
      { draft: 0, ordinal: 0, stands: false, fate: "repaired" },
      { draft: 1, ordinal: 0, stands: true, grade: "supported", cites: [1], path: "fares.md" },
      { draft: 1, ordinal: 1, stands: true, grade: "unconfirmed", quote: "The fare is 12 euro." },
      { draft: 1, ordinal: 2, stands: false, fate: "dropped", path: null, quote: null },
    ]);
    const [run] = await selectRunDetails(database.db, runId);
    expect(run).toMatchObject({ grade: "unconfirmed", claims_dropped: 1 });
    const result = await selectResult(database.db, run?.job_id ?? "");
    const leftOut = { text: "It is 20 euro.", reason: "figure" };
    expect(result?.claims_left_out).toEqual([leftOut]);
    const why = "a figure, date or unit of it is not there";
    expect(result && [successJson(result), exportJson(result)]).toMatchObject([
      { claims_dropped: 1, claims_left_out: [{ ...leftOut, why }] },
      { claims_dropped: 1, claims_left_out: [{ ...leftOut, why }] },
    ]);
    expect(leftOutLines(result?.claims_left_out ?? [])).toEqual([
      `left out: It is 20 euro. (${why})`,
    ]);
    expect(result && answerSection(result, "full").blocks).toContainEqual({
      kind: "list",
      label: "Left out of the answer",
      items: [{ text: `It is 20 euro. (${why})` }],
    });
    expect(run?.claims.map(({ checks }) => checks[0]?.verdict)).toEqual([
      "fail",
      "pass",
      "pass",
      "fail",
    ]);
  });

  test("grade no run that gave no answer", async () => {
    const runId = await settled([DROPPED], {
      kind: "refused",
      code: "ANSWER_UNSUPPORTED",
      message: "None of its statements is carried.",
    });
    const grade = "select grade, claims_dropped from nightdesk_data.runs where run_id = $1";
    expect(await select(grade, runId)).toEqual([{ grade: null, claims_dropped: 0 }]);
  });

  test.each<[string, Partial<ClaimRecord>]>([
    ["supported without a place", { span: null }],
    ["supported for a reason that speaks against it", { reason: "figure" }],
    ["supported and left out", { fate: "dropped", stands: false }],
    ["unsupported and kept", { grade: "unsupported", reason: "figure" }],
    ["unconfirmed and not marked", { grade: "unconfirmed", reason: "polarity" }],
    ["left out and standing", { ...DROPPED, stands: true }],
    ["without words", { text: "" }],
  ])("are never %s", async (_, other) => {
    await expect(settled([{ ...CARRIED, ...other }])).rejects.toThrow(/violates|SQLSTATE/);
  });
});
