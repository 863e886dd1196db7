import { readFile, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { JobInput } from "../../../src/shared/job/job.ts";
import type { ClaimRecord } from "../../../src/shared/job/run-result.ts";
import { selectDecidedStatements } from "../../../src/shared/store/jobs/draft-reviews.ts";
import { waitForReview } from "../../support/waiting-review.ts";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterAll(() => desk.dispose());

const me = userInfo().username;

const waiting = (input?: JobInput, claims: readonly ClaimRecord[] = []): Promise<string> =>
  waitForReview(desk.database, { ...(input === undefined ? {} : { input }), claims });

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
    stderr: "No answer and no value waits for somebody to look at it.\n",
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

test("a batch tells it apart from a call whose effect is unknown", async () => {
  const jobId = await waiting();
  const [batch] = await rowsOf(
    desk.database,
    "select batch_id from nightdesk_data.jobs where job_id = $1",
    [jobId],
  );
  const id = String(batch?.["batch_id"]);
  const { stdout } = await desk.run("batch", "show", id);
  expect(stdout).toContain(`1 answer waits for somebody to look at it.
  nightdesk reviews list --batch ${id}`);
  expect(stdout).not.toContain("had its effect");
  const { stdout: json } = await desk.run("batch", "show", id, "--json");
  expect(JSON.parse(json)).toMatchObject({
    waiting_for_people: { requests: 0, answers: 1, uncertain: 0 },
  });
  await desk.run("reviews", "accept", jobId);
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
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await desk.run("reviews", "export", file)).toMatchObject({ code: 1 });
});

const claim = (text: string, carrier: string | null = "It takes 24 minutes."): ClaimRecord => ({
  ...{ draft: 0, text, cites: [1], quote: null, stands: true, arithmetic: null, carrier },
  ...{ grade: "unconfirmed", reason: "not_asked", fate: "marked", otherSpans: [], checks: [] },
  span: { number: 1, path: "a.md", startChar: 0, endChar: 20, lineStart: 1, lineEnd: 1 },
});

test("what people decide is kept as statements, right and wrong, beside the words that carry them", async () => {
  const jobs = {
    accepted: await waiting(undefined, [
      claim("One needs 24."),
      claim("It is far."),
      claim("x", null),
    ]),
    rejected: await waiting(undefined, [claim("One needs 42.")]),
    corrected: await waiting(undefined, [claim("One needs 12.")]),
    unclear: await waiting(undefined, [claim("One needs 7."), claim("One needs 9.")]),
    waiting: await waiting(undefined, [claim("One needs 1.")]),
  };
  await desk.run("reviews", "accept", jobs.accepted);
  await desk.run("reviews", "reject", jobs.rejected, "--reason", "It takes 24.");
  await desk.run("reviews", "correct", jobs.corrected, "--text", "24 minutes.");
  await desk.run("reviews", "reject", jobs.unclear, "--reason", "One of them is wrong.");
  const beside = { path: "a.md", text: "It takes 24 minutes." };
  expect(await selectDecidedStatements(desk.database, 10)).toEqual([
    { ...beside, statement: "One needs 12.", isWrong: true },
    { ...beside, statement: "One needs 42.", isWrong: true },
    { ...beside, statement: "One needs 24.", isWrong: false },
    { ...beside, statement: "It is far.", isWrong: false },
  ]);
  expect(await selectDecidedStatements(desk.database, 1)).toHaveLength(1);
});
