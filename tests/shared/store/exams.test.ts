import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { ClaimRecord, FieldBinding } from "../../../src/shared/job/run-result.ts";
import {
  mayAwaitExam,
  recordControl,
  requestExam,
  selectExam,
  selectExamOf,
  takeBackLate,
  updateOwnCounts,
  upsertExam,
  wakeExamined,
} from "../../../src/shared/store/hosts/exams.ts";
import type { ExamKey, FinishedExam } from "../../../src/shared/store/hosts/exams.ts";
import { findOrCreateBatch, openBatch } from "../../../src/shared/store/jobs/batches.ts";
import { insertJobs } from "../../../src/shared/store/jobs/insert-jobs.ts";
import { queueAdHoc } from "../../../src/shared/store/jobs/queue-ad-hoc.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import { hasWork } from "../../../src/shared/store/jobs/waiting.ts";
import type { Settlement } from "../../../src/shared/job/settlement.ts";
import { CONTROL_LIMIT, controlStep } from "../../../src/worker/verify/judge/controls.ts";
import {
  answered,
  askJob,
  claimNext,
  EMPTY_RECORD,
  MADE_WITH,
  openBatchOf,
} from "../../conformance/jobs.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const EXAM: FinishedExam = {
  ...{ model: "judge:8b", isKnown: true, state: "passed", calls: 12, jobId: randomUUID() },
  ...{ wrongAsked: 60, wrongConfirmed: 1, rightAsked: 60, rightConfirmed: 55, yesFrom: null },
  parts: [{ kind: "figure", language: "en", is_wrong: true, asked: 6, confirmed: 1 }],
};
const STORED = {
  ...{ state: "passed", wrongAsked: 60, wrongConfirmed: 1, rightAsked: 60, rightConfirmed: 55 },
  yesFrom: null,
  own: null,
} as const;

const CLAIM: ClaimRecord = {
  draft: 0,
  text: "The fare is a dozen euro.",
  cites: [1],
  quote: null,
  grade: "supported",
  reason: "confirmed",
  fate: "kept",
  stands: true,
  arithmetic: null,
  span: { number: 1, path: "fares.md", startChar: 4, endChar: 24, lineStart: 2, lineEnd: 2 },
  otherSpans: [],
  carrier: "The fare is 12 euro.",
  checks: [
    { rule: "judge", verdict: "pass", detail: "judge:8b: its lines say it; 3 lines were shown" },
  ],
};
const VERBATIM: ClaimRecord = {
  ...CLAIM,
  text: "The fare is 12 euro.",
  reason: "verbatim",
  checks: [{ rule: "verbatim", verdict: "pass", detail: "a whole sentence" }],
};
const confirmedBy = (model: string): ClaimRecord => ({
  ...CLAIM,
  checks: [{ rule: "judge", verdict: "pass", detail: `${model}: its lines say it` }],
});

describe.each(ENGINES)("exams on $engine", ({ open }) => {
  let database: TestDatabase;
  let key: ExamKey;
  let model: string;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  // Each test has a judge of its own.
  beforeEach(() => {
    key = {
      identity: randomUUID().replaceAll("-", "").repeat(2),
      ...{ form: "list", prompt: "grade/1", exam: "exam/1" },
    };
    model = `judge:${randomUUID()}`;
  });

  const examine = (exam: Partial<FinishedExam> = {}, of: ExamKey = key): Promise<void> =>
    upsertExam(database.db, of, { ...EXAM, model, ...exam });
  const exam = (of: ExamKey = key) => selectExam(database.db, of);
  const rows = async (sql: string, ...values: readonly unknown[]): Promise<readonly unknown[]> =>
    (await database.db.query(sql, [...values])).rows;
  const control = (of: "nodding" | "sleeping", isConfirmed: boolean): Promise<number | null> => {
    const step = controlStep(isConfirmed, of === "nodding" ? "wrong" : "right");
    return recordControl(database.db, key, { of, step, limit: CONTROL_LIMIT });
  };
  async function controls(
    times: number,
    ...[of, isConfirmed]: Parameters<typeof control>
  ): Promise<readonly (number | null)[]> {
    const said: (number | null)[] = [];
    for (let at = 0; at < times; at += 1) said.push(await control(of, isConfirmed));
    return said;
  }
  const sums = async (): Promise<unknown> =>
    (
      await rows(
        `select nodding, sleeping, controls, dismissed_at is not null as dismissed
           from nightdesk_data.exams where identity = $1`,
        key.identity,
      )
    )[0];

  const confirmed = (): ClaimRecord => confirmedBy(model);
  async function answer(
    claims: readonly ClaimRecord[],
    bindings: readonly FieldBinding[] = [],
  ): Promise<string> {
    const { db } = database;
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const { runId } = await claimNext(db, jobIds[0] ?? "");
    await settleRun(
      db,
      { runId, runMs: 1, ...MADE_WITH },
      { kind: "succeeded", outcome: answered("yes") },
      { ...EMPTY_RECORD, claims, bindings },
    );
    return runId;
  }
  const claimsOf = (runId: string): Promise<readonly unknown[]> =>
    rows(
      "select grade, reason, fate from nightdesk_data.claims where run_id = $1 order by draft, ordinal",
      runId,
    );
  const gradeOf = async (runId: string): Promise<unknown> =>
    (
      await rows(
        "select grade, regraded_at is not null as regraded from nightdesk.runs where run_id = $1",
        runId,
      )
    )[0];
  const AS_IT_WAS = { grade: "supported", regraded: false };
  const TAKEN = { grade: "unconfirmed", reason: "unclear", fate: "marked" };

  test("hold what was asked of the user's own documents, until it is asked again", async () => {
    await examine();
    const counts = { wrong: { asked: 10, confirmed: 0 }, right: { asked: 10, confirmed: 9 } };
    await updateOwnCounts(database.db, key, { machine: counts, person: counts });
    await examine();
    expect(await exam()).toEqual({ ...STORED, own: { machine: counts, person: counts } });
  });

  test("are found by who was examined, what it is asked, in which form and exam", async () => {
    expect(await exam()).toBeUndefined();
    await examine();
    expect(await exam()).toEqual(STORED);
    for (const other of [
      { ...key, identity: "f".repeat(64) },
      { ...key, form: "yes_no" } as const,
      { ...key, prompt: "grade/0" },
      { ...key, exam: "exam/2" },
    ]) {
      expect(await exam(other)).toBeUndefined();
    }
  });

  test("stand in a view with their parts", async () => {
    await examine();
    expect(
      await rows(
        "select model, form, state, calls, parts, controls, dismissed_at, job_id from nightdesk.exams where identity = $1",
        key.identity,
      ),
    ).toEqual([
      {
        ...{ model, form: "list", state: "passed", calls: 12, parts: EXAM.parts, controls: 0 },
        ...{ dismissed_at: null, job_id: EXAM.jobId },
      },
    ]);
  });

  test("are replaced by later ones, whose controls begin anew", async () => {
    await examine();
    await controls(4, "nodding", true);
    await control("sleeping", false);
    expect(await exam()).toEqual({ ...STORED, state: "dismissed" });
    await examine({ state: "weak", wrongConfirmed: 9 });
    expect(await exam()).toEqual({ ...STORED, state: "weak", wrongConfirmed: 9 });
    expect(await sums()).toEqual({ nodding: 0, sleeping: 0, controls: 0, dismissed: false });
  });

  test("of weights that are known hold for good, and of a name for a week", async () => {
    const age = (days: number): Promise<unknown> =>
      database.db.query(
        "update nightdesk_data.exams set examined_at = clock_timestamp() - make_interval(days => $1) where identity = $2",
        [days, key.identity],
      );
    await examine({ isKnown: false });
    const named = () => selectExamOf(database.db, model, key.form);
    await age(6);
    expect([await exam(), await named()]).toEqual([STORED, STORED]);
    await age(8);
    expect([await exam(), await named()]).toEqual([undefined, undefined]);
    await examine({ isKnown: false });
    expect(await exam()).toBeDefined();
    await examine({ isKnown: true });
    await age(3_000);
    expect(await exam()).toBeDefined();
  });

  describe("that a run asks for", () => {
    const jobOf = async (origin: "file" | "schedule" | "ad_hoc"): Promise<string> => {
      const { batchId } = await findOrCreateBatch(database.db, `batch ${randomUUID()}`, origin);
      const ids = await insertJobs(database.db, batchId, [askJob("a")]);
      await openBatch(database.db, batchId);
      return ids.get("a") ?? "";
    };
    const request = (jobId: string, of = model) => requestExam(database.db, jobId, of);
    const asks = async (origin: Parameters<typeof jobOf>[0]): Promise<boolean> =>
      (await request(await jobOf(origin))) !== undefined;
    const queued = () => queueAdHoc(database.db, { kind: "examine", model });
    const settle = async (jobId: string, settlement: Settlement): Promise<void> => {
      const { runId } = await claimNext(database.db, jobId);
      await settleRun(database.db, { runId, runMs: 1, ...MADE_WITH }, settlement, EMPTY_RECORD);
    };
    const end = (jobId: string, kind: "failed" | "refused"): Promise<void> =>
      settle(jobId, { kind, code: "MODEL_UNSUPPORTED", message: "It reads no prompts." });
    const age = (jobId: string, hours: number): Promise<unknown> =>
      database.db.query(
        "update nightdesk_data.jobs set finished_at = clock_timestamp() - make_interval(hours => $2) where job_id = $1",
        [jobId, hours],
      );

    test("are those of nights, and not those of somebody who waits", async () => {
      expect(await asks("ad_hoc")).toBe(false);
      expect(await request(randomUUID())).toBeUndefined();
      expect(await asks("schedule")).toBe(true);
    });

    test("stand in a batch beside that of the night, in its windows, and are dispatched before all else", async () => {
      const jobId = await jobOf("file");
      await database.db.query(
        `update nightdesk_data.batches set windows = '{}', priority = 3
          where batch_id = (select batch_id from nightdesk_data.jobs where job_id = $1)`,
        [jobId],
      );
      const examId = await request(jobId);
      expect(
        await rows(
          `select b.origin, b.state, b.windows, b.priority, j.priority as own, j.input, b.parent_id = o.batch_id as is_beside
             from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id), nightdesk_data.jobs o
            where j.job_id = $1 and o.job_id = $2`,
          examId,
          jobId,
        ),
      ).toEqual([
        {
          ...{ origin: "verify", state: "open", windows: [], priority: 3, own: 100 },
          ...{ input: { kind: "examine", model }, is_beside: true },
        },
      ]);
    });

    test("are not asked for twice, and by another model they are", async () => {
      await queued();
      expect(await asks("file")).toBe(false);
      expect(await request(await jobOf("file"), `${model} too`)).toBeDefined();
    });

    test("are queued once where many runs ask for them at once", async () => {
      const jobs = await Promise.all([1, 2, 3, 4].map(() => jobOf("file")));
      const all = await Promise.all(jobs.map((jobId) => request(jobId)));
      expect(all.filter((one) => one !== undefined)).toHaveLength(1);
    });

    test.each(["failed", "refused"] as const)(
      "are not asked for again by each run of a night once one %s",
      async (state) => {
        const { jobId } = await queued();
        await end(jobId, state);
        expect(await asks("file")).toBe(false);
        await age(jobId, 25);
        expect(await asks("file")).toBe(true);
      },
    );

    test("are not asked for again within the hour by who answers on another host", async () => {
      const { jobId } = await queued();
      await settle(jobId, { kind: "succeeded", outcome: answered("It has passed.") });
      expect(await asks("file")).toBe(false);
      await age(jobId, 2);
      expect(await asks("file")).toBe(true);
    });

    describe("and that it waits for", () => {
      const PENDING: Settlement = {
        ...({ kind: "parked", code: "EXAM_PENDING", message: "It sits its exam." } as const),
        ...({ host: null, delayMs: 0, waitingFor: "exam" } as const),
      };
      const may = (jobId: string, seconds = 1_800): Promise<boolean> =>
        mayAwaitExam(database.db, { jobId, model, seconds });
      const stateOf = async (jobId: string): Promise<unknown> =>
        (
          await rows(
            "select state, waiting_for, due_at = 'infinity' as is_never_due, attempt from nightdesk_data.jobs where job_id = $1",
            jobId,
          )
        )[0];
      const waitedFor = (jobId: string, seconds: number): Promise<unknown> =>
        database.db.query(
          "update nightdesk_data.runs set finished_at = finished_at - make_interval(secs => $2) where job_id = $1",
          [jobId, seconds],
        );
      const WAITS = { state: "parked", waiting_for: "exam", is_never_due: true, attempt: 0 };
      const DUE = { state: "queued", waiting_for: null, is_never_due: false, attempt: 0 };

      test("is one that is there, of a night, unless nothing is to be waited for", async () => {
        const jobId = await jobOf("file");
        expect(await may(jobId)).toBe(false);
        await request(jobId);
        expect(await may(jobId)).toBe(true);
        expect(await may(await jobOf("ad_hoc"))).toBe(false);
        expect(await may(jobId, 0)).toBe(false);
      });

      test("is also one of whoever judges, that somebody asked for by no name", async () => {
        const jobId = await jobOf("file");
        const { jobId: examId } = await queueAdHoc(database.db, { kind: "examine" });
        expect(await request(jobId)).toBeUndefined();
        expect(await may(jobId)).toBe(true);
        await end(examId, "failed");
      });

      test.each(["failed", "refused"] as const)("wakes it when it has %s", async (state) => {
        const jobId = await jobOf("file");
        const examId = (await request(jobId)) ?? "";
        await settle(jobId, PENDING);
        expect(await stateOf(jobId)).toEqual(WAITS);
        await wakeExamined(database.db, 1_800);
        expect(await stateOf(jobId)).toEqual(WAITS);
        await end(examId, state);
        await wakeExamined(database.db, 1_800);
        expect(await stateOf(jobId)).toEqual(DUE);
        expect(await may(jobId)).toBe(false);
      });

      test("is not waited for beyond the time, however often the job begins again", async () => {
        const jobId = await jobOf("file");
        await request(jobId);
        await settle(jobId, PENDING);
        await waitedFor(jobId, 1_799);
        // Another exam has ended since.
        await end((await queueAdHoc(database.db, { kind: "examine", model: "x" })).jobId, "failed");
        await wakeExamined(database.db, 1_800);
        expect(await stateOf(jobId)).toEqual(DUE);
        expect(await may(jobId)).toBe(true);
        await settle(jobId, PENDING);
        await wakeExamined(database.db, 1_800);
        expect(await stateOf(jobId)).toEqual(WAITS);
        await waitedFor(jobId, 1);
        await wakeExamined(database.db, 1_800);
        expect(await stateOf(jobId)).toEqual(DUE);
        expect(await may(jobId)).toBe(false);
      });

      test("keeps a worker that is to leave when nothing is left to do", async () => {
        const { batchId } = await findOrCreateBatch(database.db, `batch ${randomUUID()}`, "file");
        const jobId = (await insertJobs(database.db, batchId, [askJob("a")])).get("a") ?? "";
        await openBatch(database.db, batchId);
        await request(jobId);
        await settle(jobId, PENDING);
        await database.db.query(
          "update nightdesk_data.batches set state = 'cancelled', finished_at = now() where batch_id <> $1 and state = 'open'",
          [batchId],
        );
        expect(await hasWork(database.db)).toBe(true);
      });
    });
  });

  describe("that go on in the controls of calls", () => {
    test("dismiss a judge that nods with the fourth", async () => {
      await examine();
      expect(await controls(3, "nodding", true)).toEqual([null, null, null]);
      expect(await exam()).toEqual(STORED);
      expect(await control("nodding", true)).toBe(0);
      expect(await exam()).toEqual({ ...STORED, state: "dismissed" });
    });

    test("dismiss a judge that sleeps with the fifth", async () => {
      await examine();
      expect(await controls(5, "sleeping", false)).toEqual([null, null, null, null, 0]);
      expect(await exam()).toEqual({ ...STORED, state: "dismissed" });
    });

    test("count what it got right against what it did not, but not below zero", async () => {
      await examine();
      await controls(50, "nodding", false);
      expect(await sums()).toEqual({ nodding: 0, sleeping: 0, controls: 50, dismissed: false });
      expect((await controls(4, "nodding", true)).at(-1)).toBe(0);
    });

    test("of one kind say nothing of the other", async () => {
      await examine();
      await controls(3, "nodding", true);
      await controls(4, "sleeping", false);
      expect(await exam()).toEqual(STORED);
    });

    test("of a judge that nobody examined are nothing", async () => {
      expect(await control("nodding", true)).toBeNull();
      expect(await exam()).toBeUndefined();
    });

    test("are summed also where they come at the same time", async () => {
      await examine();
      const said = await Promise.all([1, 2, 3, 4, 5, 6].map(() => control("nodding", true)));
      expect(said.filter((runs) => runs !== null)).toEqual([0]);
      expect(await sums()).toMatchObject({ controls: 4, dismissed: true });
    });
  });

  describe("take back what a judge confirmed since the sum last stood at zero", () => {
    test("its statements are unconfirmed, and their runs say so; others stay", async () => {
      await examine();
      const before = await answer([confirmed()]);
      await control("nodding", false);
      const runId = await answer([confirmed(), VERBATIM]);
      await controls(2, "nodding", true);
      const between = await answer([VERBATIM, confirmed()]);
      const verbatim = await answer([VERBATIM]);
      const others = await answer([confirmedBy("another"), confirmedBy(`${model}-mini`)]);
      const beside = await answer([confirmedBy(`another: its lines say it; ${model}`)]);
      expect(await controls(2, "nodding", true)).toEqual([null, 3]);
      const asItWas = { grade: "supported", reason: "verbatim", fate: "kept" };
      expect(await claimsOf(runId)).toEqual([TAKEN, asItWas]);
      expect(
        await rows(
          "select rule, verdict, detail from nightdesk_data.claim_checks where run_id = $1 order by claim",
          runId,
        ),
      ).toMatchObject([
        { rule: "judge", verdict: "unknown", detail: expect.stringContaining("taken back") },
        { rule: "verbatim", verdict: "pass" },
      ]);
      expect(await claimsOf(between)).toEqual([asItWas, TAKEN]);
      for (const run of [runId, between, beside]) {
        expect(await gradeOf(run)).toEqual({ grade: "unconfirmed", regraded: true });
      }
      for (const run of [before, verbatim, others]) expect(await gradeOf(run)).toEqual(AS_IT_WAS);
      expect(await claimsOf(before)).toMatchObject([{ reason: "confirmed" }]);
      expect(await claimsOf(others)).toMatchObject([
        { reason: "confirmed" },
        { reason: "confirmed" },
      ]);
    });

    test("so is what it confirmed of the fields of an extraction, where no line carries them alone", async () => {
      await examine();
      const looked: FieldBinding = {
        ...{
          pointer: "/total",
          value: 240,
          state: "bound",
          reason: "no_quote",
          grade: "supported",
        },
        judged: { says: "yes", detail: `${model}: its lines say it` },
        quote: "Total 240 EUR",
        span: { number: 1, path: "a.md", startChar: 0, endChar: 13, lineStart: 1, lineEnd: 1 },
      };
      const runId = await answer([], [looked, { ...looked, reason: null }]);
      const clear = await answer([], [{ ...looked, reason: null }]);
      await controls(4, "nodding", true);
      expect(
        await rows(
          "select grade, judge_says from nightdesk.field_bindings where run_id = $1 order by ordinal",
          runId,
        ),
      ).toEqual([
        { grade: "unconfirmed", judge_says: "unclear" },
        { grade: "supported", judge_says: "yes" },
      ]);
      expect(await gradeOf(runId)).toEqual({ grade: "unconfirmed", regraded: true });
      expect(await gradeOf(clear)).toEqual(AS_IT_WAS);
    });

    test("a run whose worst statement was another's keeps its grade", async () => {
      await examine();
      const unsupported: ClaimRecord = {
        ...CLAIM,
        grade: "unsupported",
        reason: "figure",
        fate: "flagged",
        checks: [],
      };
      const runId = await answer([confirmed(), unsupported]);
      await controls(4, "nodding", true);
      expect(await gradeOf(runId)).toEqual({ grade: "unsupported", regraded: true });
    });

    test("a statement of an earlier draft does not lower the grade", async () => {
      await examine();
      const runId = await answer([
        { ...confirmed(), stands: false },
        { ...VERBATIM, draft: 1 },
      ]);
      await controls(4, "nodding", true);
      expect(await gradeOf(runId)).toEqual({ grade: "supported", regraded: true });
      expect(await claimsOf(runId)).toMatchObject([TAKEN, { reason: "verbatim" }]);
    });

    test("an answer that checks had verified is theirs", async () => {
      await examine();
      const runId = await answer([confirmed()]);
      await database.db.query(
        "update nightdesk_data.runs set grade = 'verified', verification = 'passed' where run_id = $1",
        [runId],
      );
      await controls(4, "nodding", true);
      expect(await gradeOf(runId)).toEqual({ grade: "verified", regraded: true });
    });

    test("results show it", async () => {
      await examine();
      const runId = await answer([confirmed()]);
      await controls(4, "nodding", true);
      expect(
        await rows(
          "select r.grade from nightdesk.results r join nightdesk_data.jobs j using (job_id) where j.run_id = $1",
          runId,
        ),
      ).toEqual([{ grade: "unconfirmed" }]);
      expect(await rows("select grade from nightdesk.claims where run_id = $1", runId)).toEqual([
        { grade: "unconfirmed" },
      ]);
    });

    test("a second dismissal changes nothing, whichever its reason is", async () => {
      await examine();
      const runId = await answer([confirmed()]);
      await controls(4, "nodding", true);
      const [first] = await rows("select regraded_at from nightdesk.runs where run_id = $1", runId);
      expect(await controls(6, "nodding", true)).toEqual(Array(6).fill(null));
      expect(await controls(6, "sleeping", false)).toEqual(Array(6).fill(null));
      await controls(20, "nodding", false);
      expect(await controls(6, "nodding", true)).toEqual(Array(6).fill(null));
      expect(await rows("select regraded_at from nightdesk.runs where run_id = $1", runId)).toEqual(
        [first],
      );
    });

    test("also of runs that were asking it meanwhile", async () => {
      const late = async (): Promise<string> => {
        const runId = await answer([confirmed(), VERBATIM]);
        await database.db.transaction((db) => takeBackLate(db, runId));
        return runId;
      };
      await examine();
      expect(await gradeOf(await late())).toEqual(AS_IT_WAS);
      await controls(4, "nodding", true);
      const runId = await late();
      expect(await claimsOf(runId)).toMatchObject([TAKEN, { reason: "verbatim" }]);
      expect(await gradeOf(runId)).toEqual({ grade: "unconfirmed", regraded: true });
      // One that passes the exam of another prompt has its word again.
      await examine({}, { ...key, prompt: "grade/2" });
      expect(await gradeOf(await late())).toEqual(AS_IT_WAS);
    });
  });
});
