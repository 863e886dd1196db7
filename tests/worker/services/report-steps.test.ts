import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startTrace } from "../../../src/worker/run-trace.ts";
import type { RunTrace } from "../../../src/worker/run-trace.ts";
import { settleOutcome } from "../../../src/shared/job/settlement.ts";
import type { Queryable } from "../../../src/shared/store/connection/database.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import { reportSteps } from "../../../src/worker/services/report-steps.ts";
import {
  answered,
  askJob,
  claimNext,
  EMPTY_RECORD,
  MADE_WITH,
  openBatchOf,
} from "../../conformance/jobs.ts";
import { signal } from "../../conformance/signal.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

let opened: TestDatabase;
beforeAll(async () => {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error("there is always one in this process");
  opened = await engine.open();
});
afterAll(() => opened.close());

const SECRET = "Tickets cost 4 EUR";

/** Runs a job whose steps are these; between them it waits for what is told. */
async function runSteps(
  steps: (trace: RunTrace, told: () => Promise<void>) => Promise<void>,
  db: Queryable = opened.db,
) {
  const { jobIds } = await openBatchOf(opened.db, [askJob("a")]);
  const job = await claimNext(opened.db, jobIds[0] ?? "");
  let next = signal();
  const told = async (): Promise<void> => {
    next = signal();
    await next.promise;
  };
  const run = reportSteps(
    async (_, trace) => {
      await steps(trace, told);
      return answered("yes");
    },
    db,
    () => {
      next.resolve();
    },
  );
  await run(job, startTrace(), new AbortController().signal);
  return job;
}

const progress = async () =>
  (await opened.db.query("select progress from nightdesk_data.job_progress")).rows.map(
    (row) => (row as { progress: { step: string; steps: string[] } }).progress,
  );

test("steps of a run are told in words while it goes on, and no word of what a model wrote", async () => {
  const seen: unknown[] = [];
  const job = await runSteps(async (trace, told) => {
    await trace.step("classify", () => undefined);
    await trace.step("retrieve", () => {
      trace.detail("retrieve", { passages: 8, files: 1, snapshot: SECRET });
    });
    await trace.step("tool_call", () => {
      trace.detail("tool_call", { verdict: "PATH_DENIED", path: SECRET });
      trace.detail("tool_call", { verdict: "allowed", path: "corpus/lease.pdf" });
    });
    await trace.step("gate", () => undefined);
    await trace.step("second_pass", async () => {
      trace.detail("second_pass", { said: SECRET, path: SECRET, verdict: "allowed" });
      await told();
      seen.push(...(await progress()));
    });
    await trace.step("check", told);
    seen.push(...(await progress()));
  });
  const steps = [
    ...["classifies the question", "searches", "found 8 passages of 1 file"],
    ...["reads corpus/lease.pdf", "writes"],
  ];
  expect(seen).toEqual([
    { step: "writes", steps },
    { step: "checks", steps: [...steps, "checks"] },
  ]);
  const run = { runId: job.runId, runMs: 5, ...MADE_WITH };
  await settleRun(opened.db, run, settleOutcome(answered("yes")), EMPTY_RECORD);
  expect(await progress()).toEqual([]);
});

test("steps without end are told four times a second at most, the newest forty, of bounded length", async () => {
  let statements = 0;
  const counting: Queryable = {
    query: (...asked) => {
      statements += 1;
      return opened.db.query(...asked);
    },
  };
  const startedAt = performance.now();
  await runSteps(async (trace, told) => {
    for (let at = 0; at < 5_000; at += 1) {
      await trace.step("tool_call", () => {
        trace.detail("tool_call", {
          verdict: "allowed",
          path: `${at} ${'\ud83d\ude00"\\'.repeat(500)}`,
        });
      });
    }
    await told();
    const [row] = await progress();
    expect(row?.steps).toHaveLength(40);
    expect(row?.step).toMatch(/^reads 4999 /);
    await trace.step("check", told);
  }, counting);
  expect(statements).toBeLessThanOrEqual((performance.now() - startedAt) / 250);
});

test("a run that ends before anybody could look writes nothing, and one whose reports fail goes on", async () => {
  let statements = 0;
  const failing: Queryable = {
    query: () => {
      statements += 1;
      return Promise.reject(new Error("the disk is full"));
    },
  };
  await runSteps(async (trace) => {
    await trace.step("second_pass", () => undefined);
  }, failing);
  expect(statements).toBe(0);
  const reported = signal();
  const slow: Queryable = {
    query: (...asked) => {
      reported.resolve();
      return failing.query(...asked);
    },
  };
  await runSteps(async (trace) => {
    await trace.step("second_pass", () => reported.promise);
  }, slow);
  expect(statements).toBe(1);
});
