import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { JobInput } from "../../../src/shared/job.ts";
import { requestReview } from "../../../src/shared/store/jobs/draft-reviews.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import { askJob, claimNext, EMPTY_RECORD, MADE_WITH, openBatchOf } from "../../conformance/jobs.ts";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterAll(() => desk.dispose());

const me = userInfo().username;

/** A job whose answer somebody is asked about. @returns its id */
async function waiting(input: JobInput = { kind: "ask", question: "How long?" }): Promise<string> {
  const { jobIds } = await openBatchOf(desk.database, [askJob(randomUUID(), { input })]);
  const job = await claimNext(desk.database, jobIds[0] ?? "");
  const run = { ...MADE_WITH, runId: job.runId, runMs: 1 };
  await desk.database.transaction(async (db) => {
    await requestReview(db, job, {
      draftSha256: "a".repeat(64),
      draft: "24 minutes [1].",
      why: "It did not pass.",
    });
    const parked = {
      kind: "parked",
      code: "ANSWER_REVIEW_PENDING",
      message: "Somebody is asked.",
      delayMs: 0,
      host: null,
      waitingFor: "review",
    } as const;
    await settleRun(db, run, parked, EMPTY_RECORD);
  });
  return job.jobId;
}

const stateOf = async (jobId: string): Promise<Readonly<Record<string, unknown>>> =>
  (
    await rowsOf(
      desk.database,
      `select j.state as job, v.state, v.correction, v.facts, v.reason, v.decided_by
         from nightdesk_data.jobs j join nightdesk_data.draft_reviews v using (job_id) where j.job_id = $1`,
      [jobId],
    )
  )[0] ?? {};

test("nothing waits at first", async () => {
  expect(await desk.run("reviews", "list")).toEqual({
    code: 0,
    stdout: "",
    stderr: "No answer waits for somebody to look at it.\n",
  });
});

test("an answer that waits is listed and shown with its question and why", async () => {
  const jobId = await waiting();
  const { stdout, stderr } = await desk.run("reviews", "list");
  expect(stdout).toContain("How long?");
  expect(stderr).toContain("1 answer waits. To decide: nightdesk reviews show JOB");
  const shown = await desk.run("reviews", "show", jobId.slice(0, 8));
  for (const words of ["How long?", "24 minutes [1].", "It did not pass."])
    expect(shown.stdout).toContain(words);
  expect((await desk.run("reviews", "accept", jobId)).stderr).toContain("The answer is accepted");
  expect(await stateOf(jobId)).toMatchObject({ job: "queued", state: "accepted", decided_by: me });
});

test("who comes second changes nothing, and is told who was first", async () => {
  const jobId = await waiting();
  await desk.run("reviews", "reject", jobId, "--reason", "Not ours.");
  const second = await desk.run("reviews", "accept", jobId);
  expect(second).toMatchObject({ code: 1 });
  expect(second.stderr).toContain(`Nothing was changed. It was rejected by ${me} before.`);
  expect(await stateOf(jobId)).toMatchObject({ state: "rejected", reason: "Not ours." });
});

test("a rejection needs a reason, a correction words, and one of an extraction its fields", async () => {
  const jobId = await waiting();
  expect(await desk.run("reviews", "reject", jobId)).toMatchObject({ code: 2 });
  expect(await desk.run("reviews", "correct", jobId, "--text", " ")).toMatchObject({ code: 2 });
  expect(await desk.run("reviews", "correct", jobId, "--file", "none.txt")).toMatchObject({
    code: 1,
  });
  const fields = await waiting({ kind: "extract", path: "a.md", preset: "people" });
  const prose = await desk.run("reviews", "correct", fields, "--text", "nobody");
  expect(prose.stderr).toContain("as a JSON object");
  expect(await desk.run("reviews", "show", "ffffffff")).toMatchObject({ code: 1 });
  expect(await stateOf(jobId)).toMatchObject({ job: "parked", state: "waiting" });
});

test("what people said a right answer holds becomes questions for eval", async () => {
  const jobId = await waiting();
  const said = ["--text", "It takes 42 minutes.", "--fact", "42 minutes"];
  expect(await desk.run("reviews", "correct", jobId, ...said)).toMatchObject({ code: 0 });
  const file = join(desk.workroot, "decided.jsonl");
  const written = await desk.run("reviews", "export", file);
  expect(written.stderr).toContain("1 question written to");
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
    id: jobId,
    question: "How long?",
    expected: [["42 minutes"]],
  });
  expect(await desk.run("reviews", "export", file)).toMatchObject({ code: 1 });
});
