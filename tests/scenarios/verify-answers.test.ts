import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { JobInput } from "../../src/shared/job/job.ts";
import { cancelBatch } from "../../src/shared/store/jobs/close-batches.ts";
import { eventually } from "../conformance/signal.ts";
import { describeOn } from "../support/describe-on.ts";
import { partOf } from "../support/prompt-parts.ts";
import type { Part } from "../support/prompt-parts.ts";
import { openReplayDesk } from "../support/replay-desk.ts";
import type { ReplayDesk } from "../support/replay-desk.ts";

const FERRY = "allowed/corpus/ferry.md";
const TEXT =
  "# Ferry\n\nThe ferry to Harwick leaves at 09:15.\n\nThe crossing takes 42 minutes.\n\nA ticket costs 12 EUR.\n";

describeOn("postgres", "answers that are verified", (name) => {
  let desk: ReplayDesk;
  /** What the model says in each part; the last goes on. */
  let says: Record<Part, string[]>;
  /** Which part was asked for, in order. */
  let asked: Part[];
  let prompts: string[];

  beforeAll(async () => {
    const models = [
      {
        name: "drafter",
        contextLength: 4_096,
        respond(messages: Parameters<typeof partOf>[0]) {
          const part = partOf(messages);
          asked.push(part);
          prompts.push(messages.map(({ content }) => content).join("\n"));
          const replies = says[part];
          return (replies.length > 1 ? replies.shift() : replies[0]) ?? "";
        },
      },
    ];
    desk = await openReplayDesk(name, models, { keys: { verify: { rounds: 2 } } });
    await desk.write(FERRY, TEXT);
  });
  afterAll(() => desk.dispose());

  const verdict = (answer: string, quote: string | null, cites: readonly number[] = [1]): string =>
    JSON.stringify({ quote, cites, answer });
  const scored = (score: number, corrections: readonly object[] = []): string =>
    JSON.stringify({ corrections, score });
  const asks = (...questions: readonly string[]): string =>
    JSON.stringify({
      checks: questions.map((question) => ({ claim: 1, question, expects: "yes" })),
    });

  beforeEach(() => {
    asked = [];
    prompts = [];
    says = {
      first: [`{"type":"tool_call","name":"read_text_file","args":{"path":"${FERRY}"}}`],
      answer: ["The crossing takes 42 minutes [1]."],
      decompose: [asks("Does ferry.md say that the crossing takes 42 minutes?")],
      loop: ["END"],
      verdict: [verdict("yes", "The crossing takes 42 minutes.")],
      audit: [scored(4)],
    };
  });

  const ask = (verify: "standard" | "strict" | "sampled" = "standard"): JobInput => ({
    kind: "ask",
    question: `How long does the crossing take, according to ${FERRY}?`,
    options: { verify },
  });

  const rowsOf = async (
    sql: string,
    ...values: readonly string[]
  ): Promise<readonly Record<string, unknown>[]> =>
    (await desk.db.query(sql, values)).rows as Record<string, unknown>[];

  const resultOf = async (jobId: string): Promise<Record<string, unknown>> => {
    const [row = {}] = await rowsOf(
      "select state, grade, verification, error_code, error_message, answer from nightdesk.results where job_id = $1",
      jobId,
    );
    return row;
  };

  /** Those that somebody had to look at: rules add what they can tell. */
  const checksOf = (jobId: string): Promise<readonly Record<string, unknown>[]> =>
    rowsOf(
      "select round, question, how, state, reason, evidence from nightdesk.checks where job_id = $1 and how = 'model' order by round, ordinal",
      jobId,
    );

  /** The claims of the last run, by draft. */
  const draftsOf = (jobId: string): Promise<readonly Record<string, unknown>[]> =>
    rowsOf(
      "select draft, stands from nightdesk_data.claims join nightdesk_data.jobs using (run_id) where job_id = $1 order by draft",
      jobId,
    );

  test("An answer that passes its checks is verified, and each stage is asked once", async () => {
    const jobId = await desk.work(ask());
    expect(await resultOf(jobId)).toMatchObject({
      state: "succeeded",
      grade: "verified",
      verification: "passed",
    });
    expect(asked).toEqual(["first", "answer", "decompose", "loop", "verdict", "audit"]);
    expect(await checksOf(jobId)).toMatchObject([
      {
        round: 0,
        how: "model",
        state: "yes",
        evidence: [{ path: FERRY, line_start: 5, quote: "The crossing takes 42 minutes." }],
      },
    ]);
    const runs = await rowsOf(
      "select state, verification from nightdesk.runs where job_id = $1 order by started_at",
      jobId,
    );
    expect(runs).toEqual([
      { state: "drafted", verification: "pending" },
      { state: "succeeded", verification: "passed" },
    ]);
    const { code, stdout } = await desk.replay(jobId);
    expect({ code, stdout }).toMatchObject({ code: 0 });
  });

  test("Of sampled answers those that are carried in part are checked, whatever the share", async () => {
    says.answer = ["The crossing to Harwick takes 42 minutes [1]."];
    const jobId = await desk.work(ask("sampled"));
    expect(asked).toContain("audit");
    expect(await resultOf(jobId)).toMatchObject({ state: "succeeded", verification: "passed" });
  });

  test("What verification costs is told by stage beside the drafts, by hour and by batch", async () => {
    await desk.work(ask());
    const [row] = await rowsOf(
      `select sum((stages->'draft'->>'calls')::int)::int as drafts, sum((stages->'audit'->>'calls')::int)::int as audits,
              min((stages->'decompose'->>'tokens')::int) > 0 as tokens, sum(calls)::int as calls
         from nightdesk.throughput where kind = 'ask'`,
    );
    const [batches] = await rowsOf(
      `select sum(calls) filter (where stage = 'draft')::int as drafts, sum(calls) filter (where stage = 'audit')::int as audits,
              sum(calls) filter (where kind = 'ask')::int as calls from nightdesk.stage_costs`,
    );
    expect(row).toEqual({ ...batches, tokens: true });
    const checks = await rowsOf(
      "select bool_and(stages ? 'check') as found from nightdesk.throughput where kind = 'check'",
    );
    expect(checks).toEqual([{ found: true }]);
  });

  test("A check that opens what its statement rests on makes a move of its own kind", async () => {
    const other = "allowed/corpus/piers.md";
    await desk.write(other, "# Piers\n\nThe pier of Harwick is closed.\n");
    says.loop = [`{"type":"tool_call","name":"read_text_file","args":{"path":"${other}"}}`, "END"];
    const jobId = await desk.work(ask());
    const moves = await rowsOf(
      `select m.tool, m.type from nightdesk.moves m join nightdesk.checks c on c.check_job_id = m.job_id
        where c.job_id = $1 order by m.step`,
      jobId,
    );
    expect(moves).toEqual([
      { tool: "read_text_file", type: "verify" },
      { tool: "read_text_file", type: "open" },
    ]);
  });

  test("What an auditor wants changed without a place or a change is no correction", async () => {
    says.audit = [
      scored(2, [
        { claim: 1, where: " ", change: "Be better." },
        { claim: 1, where: `${FERRY}:5`, change: "" },
        { claim: 1, where: `${FERRY}:5`, change: "Say it in minutes." },
      ]),
    ];
    const jobId = await desk.work(ask());
    const [audit] = await rowsOf(
      "select corrections from nightdesk.audits where job_id = $1 order by round",
      jobId,
    );
    expect(audit?.["corrections"]).toEqual([
      { claim: 1, where: `${FERRY}:5`, change: "Say it in minutes." },
    ]);
  });

  test("Checks are no part of what people count", async () => {
    const jobId = await desk.work(ask());
    const counted = await rowsOf(
      `select p.total::int, p.succeeded::int, (select count(*)::int from nightdesk.results where kind = 'check') as shown,
              (select count(*)::int from nightdesk.batch_progress where batch like 'checks%') as batches
         from nightdesk.results r join nightdesk.batch_progress p using (batch_id) where r.job_id = $1`,
      jobId,
    );
    expect(counted).toEqual([{ total: 1, succeeded: 1, shown: 0, batches: 0 }]);
  });

  test("A check that says no keeps an auditor who praises everything from passing the answer", async () => {
    says.answer = ["The crossing takes 24 minutes [1].", "The crossing takes 24 minutes [1]."];
    says.verdict = [verdict("no", "The crossing takes 42 minutes.")];
    const jobId = await desk.work(ask());
    const result = await resultOf(jobId);
    expect(result).toMatchObject({ state: "succeeded", verification: "failed" });
    expect(result["grade"]).not.toBe("verified");
    const [audit] = await rowsOf(
      "select score, given, caps from nightdesk.audits where job_id = $1 order by round",
      jobId,
    );
    expect(audit).toMatchObject({ score: 2, given: 4, caps: ["contradicted_check"] });
  });

  test("What an auditor corrects is revised, checked again and verified", async () => {
    says.answer = ["A ticket costs 12 EUR [1].", "The crossing takes 42 minutes [1]."];
    says.audit = [
      scored(2, [{ claim: 1, where: `${FERRY}:5`, change: "Say how long the crossing takes." }]),
      scored(4),
    ];
    says.verdict = [
      verdict("yes", "A ticket costs 12 EUR."),
      verdict("yes", "The crossing takes 42 minutes."),
    ];
    const jobId = await desk.work(ask());
    const result = await resultOf(jobId);
    expect(result).toMatchObject({ state: "succeeded", grade: "verified" });
    expect(String(result["answer"])).toContain("42 minutes");
    expect(asked.filter((part) => part === "answer")).toHaveLength(2);
    expect(asked.filter((part) => part === "audit")).toHaveLength(2);
    expect((await checksOf(jobId)).map(({ round }) => round)).toEqual([0, 1]);
    expect(await draftsOf(jobId)).toEqual([
      { draft: 0, stands: false },
      { draft: 1, stands: true },
    ]);
    expect((await desk.replay(jobId)).code).toBe(0);
  });

  test("A revision that returns to an earlier draft ends the revisions", async () => {
    const [one, other] = ["A ticket costs 12 EUR [1].", "The crossing takes 42 minutes [1]."];
    says.answer = [one, other, one];
    says.audit = [scored(2)];
    says.verdict = [
      verdict("yes", "A ticket costs 12 EUR."),
      verdict("yes", "The crossing takes 42 minutes."),
    ];
    const jobId = await desk.work(ask());
    const { state, verification, answer } = await resultOf(jobId);
    expect({ state, verification }).toEqual({ state: "succeeded", verification: "failed" });
    expect(String(answer)).toContain("42 minutes");
    expect((await checksOf(jobId)).map(({ round }) => round)).toEqual([0, 1]);
    expect(await draftsOf(jobId)).toEqual([
      { draft: 0, stands: false },
      { draft: 1, stands: true },
    ]);
    expect((await desk.replay(jobId)).code).toBe(0);
  });

  test("A revision that cites a file which a check found is repeated from the record", async () => {
    const fares = "allowed/corpus/fares.md";
    await desk.write(fares, "# Fares\n\nSince May a ticket costs 14 EUR.\n");
    says.answer = ["A ticket costs 12 EUR [1].", "Since May a ticket costs 14 EUR [2]."];
    says.decompose = [asks("Does a ticket cost 12 EUR?"), asks("Does a ticket cost 14 EUR?")];
    says.loop = [`{"type":"tool_call","name":"read_text_file","args":{"path":"${fares}"}}`, "END"];
    const words = "Since May a ticket costs 14 EUR.";
    says.verdict = [verdict("no", words, [1, 2]), verdict("yes", words, [1, 2])];
    says.audit = [scored(2), scored(4)];
    const jobId = await desk.work({
      kind: "ask",
      question: `What does a ticket cost, according to ${FERRY}?`,
      options: { verify: "standard" },
    });
    expect(await resultOf(jobId)).toMatchObject({ state: "succeeded", grade: "verified" });
    const files = await rowsOf(
      "select path from nightdesk.evidence where job_id = $1 and kind = 'file' and admitted order by path",
      jobId,
    );
    expect(new Set(files.map(({ path }) => path))).toEqual(new Set([fares, FERRY]));
    const { code, stdout } = await desk.replay(jobId);
    expect({ code, stdout }).toMatchObject({ code: 0 });
    await desk.write(fares, "# Fares\n\nSince June a ticket costs 15 EUR.\n");
    const changed = await desk.replay(jobId);
    expect(changed.code).toBe(4);
    expect(changed.stdout + changed.stderr).toContain(fares);
    await desk.remove(fares);
  });

  test("What nobody can say is unresolved, with what it takes, and keeps its claims", async () => {
    says.verdict = [verdict("unknown", null, [])];
    const jobId = await desk.work(ask());
    expect(await resultOf(jobId)).toMatchObject({
      state: "refused",
      grade: "unresolved",
      error_code: "UNRESOLVED",
      answer: null,
    });
    const constraints = await rowsOf(
      "select what, reason, resolved_at from nightdesk.constraints where job_id = $1",
      jobId,
    );
    expect(constraints).toEqual([
      {
        what: "Does ferry.md say that the crossing takes 42 minutes?",
        reason: "source_missing",
        resolved_at: null,
      },
    ]);
    const claims = await rowsOf("select claim from nightdesk.claims where job_id = $1", jobId);
    expect(claims.length).toBeGreaterThan(0);
  });

  test("A verdict whose quote stands nowhere is unknown", async () => {
    says.verdict = [verdict("yes", "The crossing takes forty-two minutes by day.")];
    const jobId = await desk.work(ask());
    expect(await checksOf(jobId)).toMatchObject([{ state: "unknown", reason: "auditor_failed" }]);
  });

  test("What is no JSON of an auditor is asked for once more, and shown to it", async () => {
    const good = { verdict: says.verdict[0] ?? "", audit: says.audit[0] ?? "" };
    says.verdict = [good.verdict.replace("}", ",}"), good.verdict];
    says.audit = [good.audit.replaceAll('"', "'"), good.audit];
    const jobId = await desk.work(ask());
    expect(await resultOf(jobId)).toMatchObject({ state: "succeeded", grade: "verified" });
    expect(asked.filter((part) => part === "verdict" || part === "audit")).toEqual([
      ...["verdict", "verdict", "audit", "audit"],
    ]);
    expect(prompts.filter((prompt) => prompt.includes("It is no JSON object"))).toHaveLength(2);
  });

  test("An auditor that only talks has not found that a source is missing", async () => {
    says.loop = ["I will go on."];
    says.verdict = [verdict("unknown", null)];
    const jobId = await desk.work(ask());
    expect(await checksOf(jobId)).toMatchObject([{ state: "unknown", reason: "auditor_failed" }]);
  });

  test("An auditor that can't be read leaves the grade of the rules", async () => {
    says.audit = ["There are 3 problems."];
    const jobId = await desk.work(ask());
    expect(await resultOf(jobId)).toMatchObject({
      state: "succeeded",
      grade: "supported",
      verification: "unverified",
    });
    expect(await resultOf(await desk.work(ask("strict")))).toMatchObject({
      state: "refused",
      error_code: "ANSWER_UNSUPPORTED",
    });
  });

  test("An auditor that rejects a right answer does not refuse it", async () => {
    says.audit = [scored(1)];
    const jobId = await desk.work(ask());
    expect(await resultOf(jobId)).toMatchObject({
      state: "succeeded",
      grade: "supported",
      verification: "failed",
    });
  });

  test("An auditor that asks nothing readable has the statements themselves looked at", async () => {
    says.decompose = ["I would check the duration."];
    const jobId = await desk.work(ask());
    expect(await checksOf(jobId)).toMatchObject([
      { question: 'Do the files say this: "The crossing takes 42 minutes."?' },
    ]);
  });

  test("The auditor sees the question, the statement and the files, and nothing else of the run", async () => {
    await desk.work(ask());
    const loop = prompts.filter((_, at) => asked[at] === "loop");
    expect(loop).toHaveLength(1);
    expect(loop[0]).toContain("Does ferry.md say that the crossing takes 42 minutes?");
    expect(loop[0]).not.toContain("[1].");
  });

  test("A summary and an extraction are verified like an answer", async () => {
    says.answer = ["The crossing takes 42 minutes."];
    const summary = await desk.work({
      kind: "summarize",
      path: FERRY,
      options: { verify: "standard" },
    });
    expect(await resultOf(summary)).toMatchObject({ state: "succeeded", grade: "verified" });
    says.answer = [
      JSON.stringify({ minutes: { value: 42, quote: "The crossing takes 42 minutes." } }),
    ];
    const extraction = await desk.work({
      kind: "extract",
      path: FERRY,
      schema: {
        type: "object",
        properties: { minutes: { type: "integer" } },
        required: ["minutes"],
      },
      options: { verify: "standard" },
    });
    expect(await resultOf(extraction)).toMatchObject({ state: "succeeded", grade: "verified" });
    expect((await desk.replay(extraction)).code).toBe(0);
    const [check] = await rowsOf(
      "select claim from nightdesk.checks where job_id = $1",
      extraction,
    );
    expect(check).toEqual({ claim: "/minutes is 42" });
  });

  test("Fields that a check contradicts are asked for again", async () => {
    const takes = (value: string, quote: string, vessel: string | null): string =>
      JSON.stringify({ takes: { value, quote }, vessel: { value: vessel, quote: vessel } });
    // What the revision makes up is left out of it, for nobody asks once more.
    says.answer = [
      takes("09:15", "The ferry to Harwick leaves at 09:15.", null),
      takes("42 minutes", "The crossing takes 42 minutes.", "Aurora"),
    ];
    says.verdict = [
      verdict("no", "The crossing takes 42 minutes."),
      verdict("yes", "The crossing takes 42 minutes."),
    ];
    const jobId = await desk.work({
      kind: "extract",
      path: FERRY,
      schema: {
        type: "object",
        properties: { takes: { type: "string" }, vessel: { type: ["string", "null"] } },
        required: ["takes"],
      },
      options: { verify: "standard" },
    });
    expect(await resultOf(jobId)).toMatchObject({ state: "succeeded", grade: "verified" });
    const [row] = await rowsOf("select output from nightdesk.results where job_id = $1", jobId);
    expect(row).toEqual({ output: { takes: "42 minutes", vessel: null } });
  });

  test("A batch that is cancelled takes its checks along", async () => {
    says.loop = [JSON.stringify({ type: "tool_call", name: "list_files", args: {} })];
    const jobId = await desk.queue(ask());
    await eventually("the job waits for its checks", async () => {
      const [row] = await rowsOf(
        "select exists (select from nightdesk.checks where job_id = $1 and check_job_id is not null) as waits",
        jobId,
      );
      return row?.["waits"] === true;
    });
    const [batch] = await rowsOf("select batch_id from nightdesk.results where job_id = $1", jobId);
    await cancelBatch(desk.db, String(batch?.["batch_id"]));
    await desk.ended(jobId);
    await eventually("its checks have ended", async () => {
      const [row] = await rowsOf(
        `select bool_and(j.finished_at is not null) as ended from nightdesk_data.checks c
           join nightdesk_data.jobs j on j.job_id = c.check_job_id where c.job_id = $1`,
        jobId,
      );
      return row?.["ended"] === true;
    });
    expect(await resultOf(jobId)).toMatchObject({ state: "cancelled" });
  });

  test("A denial that more files speak against than anybody is given to read is not covered", async () => {
    const folder = "allowed/corpus/ferries";
    await desk.write(`${folder}/f0.md`, "# Ferry 0\n\nFerry 0 leaves on Mondays.\n");
    for (let at = 1; at < 12; at += 1) {
      await desk.write(
        `${folder}/f${at}.md`,
        `# Ferry ${at}\n\nFerry ${at} leaves on Sundays at ${at}:15.\n`,
      );
    }
    says.first = [`{"type":"tool_call","name":"read_text_file","args":{"path":"${folder}/f0.md"}}`];
    says.answer = ["No ferry leaves on Sundays [1]."];
    says.verdict = [verdict("yes", "Ferry 1 leaves on Sundays at 1:15.", [2])];
    const jobId = await desk.work({
      kind: "ask",
      question: `According to ${folder}/f0.md, does no ferry leave on Sundays?`,
      options: { verify: "standard" },
    });
    expect(await resultOf(jobId)).not.toMatchObject({ grade: "verified" });
    const [audit] = await rowsOf(
      "select caps from nightdesk.audits where job_id = $1 order by round",
      jobId,
    );
    expect(audit?.["caps"]).toContain("no_coverage");
    const [covered] = await rowsOf(
      "select members, read from nightdesk.coverage where job_id = $1 order by round",
      jobId,
    );
    expect(covered).toEqual({ members: 12, read: 8 });
  });
});
