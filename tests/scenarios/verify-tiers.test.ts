import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { JobInput } from "../../src/shared/job/job.ts";
import { decideReview } from "../../src/shared/store/jobs/draft-reviews.ts";
import type { ReviewDecision } from "../../src/shared/store/jobs/draft-reviews.ts";
import { eventually } from "../conformance/signal.ts";
import type { DoubleMessage, DoubleModel } from "../doubles/ollama/double-model.ts";
import { describeOn } from "../support/describe-on.ts";
import { openReplayDesk } from "../support/replay-desk.ts";
import type { ReplayDesk } from "../support/replay-desk.ts";

const FERRY = "allowed/corpus/ferry.md";
const TEXT = "# Ferry\n\nThe ferry to Harwick leaves at 09:15.\n\nThe crossing takes 42 minutes.\n";
const WRONG = "The ferry to Harwick leaves at 09:15 [1].";
const RIGHT = "The crossing takes 42 minutes [1].";

/** Which model said what to whom, in order. */
let asked: string[];
/** What the models answer; those that are not named answer rightly. */
let answers: Readonly<Record<string, string>>;

/** The auditor passes what says how long it takes. */
function replyOf(name: string, messages: readonly DoubleMessage[]): string {
  const system = messages[0]?.content ?? "";
  const words = messages.map(({ content }) => content).join("\n");
  if (system.startsWith("You prepare the audit")) return '{"checks": []}';
  if (system.startsWith("You score an answer")) {
    asked.push("audit");
    return JSON.stringify({ corrections: [], score: words.includes("takes 42") ? 4 : 1 });
  }
  if (system.startsWith("You are an auditor")) {
    const quote = words.includes('"The crossing takes 42 minutes.')
      ? "The crossing takes 42 minutes."
      : "The ferry to Harwick leaves at 09:15.";
    return JSON.stringify({ quote, cites: [1], answer: "yes" });
  }
  if (system.startsWith("You look into a question with tools")) return "END";
  if (system.startsWith("You answer a question")) {
    asked.push(name);
    return answers[name] ?? RIGHT;
  }
  return `{"type":"tool_call","name":"read_text_file","args":{"path":"${FERRY}"}}`;
}

const model = (name: string): DoubleModel => ({
  name,
  contextLength: 4_096,
  respond: (messages) => replyOf(name, messages),
});

const QUESTION: JobInput = {
  kind: "ask",
  question: `How long does the crossing take, according to ${FERRY}?`,
};

describeOn("postgres", "answers by one model after the other", (name) => {
  let desk: ReplayDesk;
  beforeAll(async () => {
    desk = await openReplayDesk(name, [model("small"), model("large")], {
      keys: {
        verify: { mode: "standard", rounds: 0, tiers: { ask: ["small", "large", "human"] } },
      },
    });
    await desk.write(FERRY, TEXT);
  });
  afterAll(() => desk.dispose());
  beforeEach(() => {
    asked = [];
    answers = {};
  });

  const rowOf = async (sql: string, jobId: string): Promise<Record<string, unknown>> =>
    ((await desk.db.query(sql, [jobId])).rows[0] ?? {}) as Record<string, unknown>;
  const resultOf = (jobId: string) =>
    rowOf(
      "select state, grade, verification, error_code, error_message, answer, model, waiting_for from nightdesk.results where job_id = $1",
      jobId,
    );
  const statesOf = async (jobId: string): Promise<unknown[]> =>
    (
      await desk.db.query(
        "select state from nightdesk.runs where job_id = $1 order by started_at",
        [jobId],
      )
    ).rows.map((row) => (row as { readonly state: unknown }).state);

  test("The first model answers, and nobody else is asked where that is verified", async () => {
    const jobId = await desk.work(QUESTION);
    expect(await resultOf(jobId)).toMatchObject({ grade: "verified", model: "small" });
    expect(asked).toEqual(["small", "audit"]);
  });

  test("What a small model can't give is given by the next, in the same job", async () => {
    answers = { small: WRONG };
    const jobId = await desk.work(QUESTION);
    expect(await resultOf(jobId)).toMatchObject({
      state: "succeeded",
      grade: "verified",
      model: "large",
    });
    expect(asked).toEqual(["small", "audit", "large", "audit"]);
    expect(await statesOf(jobId)).toEqual(["drafted", "escalated", "drafted", "succeeded"]);
  });

  async function waitingJob(): Promise<string> {
    answers = { small: WRONG, large: WRONG };
    const jobId = await desk.queue(QUESTION);
    await eventually("somebody is asked", async () => {
      const { waiting_for: waits } = await resultOf(jobId);
      return waits === "review";
    });
    return jobId;
  }

  const decision = (given: Partial<ReviewDecision>): ReviewDecision => ({
    state: "accepted",
    correction: null,
    facts: [],
    reason: null,
    decidedBy: "ada",
    ...given,
  });

  test("What no model can give waits for a person, who accepts it", async () => {
    const jobId = await waitingJob();
    expect(await resultOf(jobId)).toMatchObject({
      state: "parked",
      error_code: "ANSWER_REVIEW_PENDING",
    });
    const review = await rowOf(
      "select state, draft from nightdesk.reviews where job_id = $1",
      jobId,
    );
    expect(review).toMatchObject({ state: "waiting" });
    expect(String(review["draft"])).toContain("09:15");
    const counted = await rowOf(
      `select (select sum(calls)::int from nightdesk.throughput where kind = 'ask') as by_hour,
              (select sum(calls)::int from nightdesk.stage_costs where kind = 'ask') as by_batch where $1 <> ''`,
      jobId,
    );
    // Runs that made way for another model, or wait for a person, have asked as well.
    expect(counted["by_hour"]).toBe(counted["by_batch"]);
    expect(await decideReview(desk.db, jobId, decision({}))).toEqual({ kind: "decided" });
    await desk.ended(jobId);
    expect(await resultOf(jobId)).toMatchObject({ state: "succeeded", grade: "verified" });
    expect(await decideReview(desk.db, jobId, decision({ state: "accepted" }))).toEqual({
      kind: "late",
      state: "accepted",
      by: "ada",
    });
  });

  test("Or puts other words in its place, which are the answer then", async () => {
    const jobId = await waitingJob();
    const correction = "The crossing takes 42 minutes.";
    await decideReview(
      desk.db,
      jobId,
      decision({ state: "corrected", correction, facts: ["42 minutes"] }),
    );
    await desk.ended(jobId);
    const { answer, state, grade } = await resultOf(jobId);
    expect({ state, grade }).toEqual({ state: "succeeded", grade: "verified" });
    expect(String(answer)).toMatch(
      /^The crossing takes 42 minutes\.\n\n\(Corrected by ada\.\)\nScope: /,
    );
  });

  test("Or rejects it, and the job says why", async () => {
    const jobId = await waitingJob();
    await decideReview(desk.db, jobId, decision({ state: "rejected", reason: "Not about us." }));
    await desk.ended(jobId);
    expect(await resultOf(jobId)).toMatchObject({
      state: "refused",
      error_code: "REVIEW_REJECTED",
      error_message: "ada rejected the answer: Not about us.",
    });
  });

  test("Two who decide at once: the first wins", async () => {
    const jobId = await waitingJob();
    const decided = await Promise.all([
      decideReview(desk.db, jobId, decision({ decidedBy: "ada" })),
      decideReview(desk.db, jobId, decision({ state: "rejected", reason: "no", decidedBy: "bo" })),
    ]);
    expect(decided.map(({ kind }) => kind).sort()).toEqual(["decided", "late"]);
    await desk.ended(jobId);
  });
});

describeOn("postgres", "checks without a budget", (name) => {
  let desk: ReplayDesk;
  beforeAll(async () => {
    desk = await openReplayDesk(name, [model("small")], {
      keys: { verify: { mode: "standard", rounds: 0, budget: { tokens: null, calls: 1 } } },
    });
    await desk.write(FERRY, TEXT);
  });
  afterAll(() => desk.dispose());
  beforeEach(() => {
    asked = [];
    answers = {};
  });

  test("Checks that have no budget left end, and the answer says so instead of waiting for ever", async () => {
    const jobId = await desk.work(QUESTION);
    const { rows } = await desk.db.query(
      `select r.state, r.error_code, c.reason from nightdesk.results r join nightdesk.constraints c using (job_id) where r.job_id = $1`,
      [jobId],
    );
    expect(rows).toEqual([{ state: "refused", error_code: "UNRESOLVED", reason: "out_of_budget" }]);
  });
});
