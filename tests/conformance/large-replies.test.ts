import { writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { MOST_ROW_CHARS, MOST_ROWS, startTrace } from "../../src/worker/run-trace.ts";
import { loadConfig } from "../../src/shared/config/load-config.ts";
import type { Database, Queryable } from "../../src/shared/store/connection/database.ts";
import { insertModelCall } from "../../src/shared/store/jobs/model-calls.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { replyLimits } from "../../src/worker/models/host-request.ts";
import { claimRecords } from "../../src/worker/verify/claims/answer-claims.ts";
import { checkAnswer } from "../../src/worker/verify/check-answer.ts";
import type { AnswerRules } from "../../src/worker/verify/check-answer.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { serveChat } from "../support/model-hosts.ts";
import {
  answered,
  askJob,
  claimNext,
  EMPTY_RECORD,
  MADE_WITH,
  openBatchOf,
  rowOf,
} from "./jobs.ts";
import { eventually } from "./signal.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const EVIDENCE = "Trains run every 20 minutes. Tickets cost 4 EUR.";
const RULES: AnswerRules = {
  footer: "Scope: test",
  question: "How often?",
  evidence: [
    {
      number: 1,
      path: "a.md",
      title: null,
      headingPath: null,
      text: EVIDENCE,
      sha256: "a".repeat(64),
      startChar: 0,
      endChar: EVIDENCE.length,
      lineStart: 1,
      lineEnd: 1,
      chunkKey: null,
    },
  ] as unknown as AnswerRules["evidence"],
  citations: "known",
  requireInSnapshot: false,
  headingMatch: "prefix",
  normalizeHeading: true,
  unsupported: "flag",
};

/** Each makes as many rows of its kind as a text of its length can. */
const SHAPES: readonly (readonly [string, string])[] = [
  ["numbers", "1 2 3 4 5 6 7 8 9 "],
  ["dates", "2024-01-02 "],
  ["links", "http://a.de/b "],
  ["sentences", "It is so. "],
  ["quotes", '"trains run every 20" and "it costs 5 EUR now". '],
  ["all of them", 'On 2024-01-02 "it cost 4 EUR here" see http://x.de/a [1]. '],
  ["words without end", "a".repeat(50)],
];

describe.each(databases)("large replies on %s", (name) => {
  let topology: Topology;
  let db: Database;
  const workers: RunningWorker[] = [];
  const servers: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    for (const server of servers.splice(0)) await server.close();
    await db.query("delete from nightdesk_data.batches");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  async function startOn(baseUrl: string): Promise<void> {
    const file = `${topology.configFile}.large.yaml`;
    const model = { provider: "ollama", base_url: baseUrl, name: "m" };
    await writeFile(file, stringify({ extends: topology.configFile, model }));
    const { packageRoot } = topology.context.invocation;
    const flags = { config: file, workroot: topology.workroot };
    const config = await loadConfig({ flags, env: {}, cwd: topology.workroot, packageRoot });
    const context = { ...topology.context, config };
    workers.push(await startWorker(context, 1, (database) => createRunJob(context, database)));
  }

  const newJob = async (): Promise<string> => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    return jobIds[0] ?? "";
  };
  const ends = (jobId: string, state: string) =>
    eventually(`the job is ${state}`, async () => (await rowOf(db, jobId))["state"] === state);

  test("a reply of 5 MB fails its job at once, and is not read to its end", async () => {
    const line = `${JSON.stringify({ message: { content: "word ".repeat(200) }, done: false })}\n`;
    let asked = 0;
    let wrote = 0;
    const server = await serveChat("/api/chat", (response) => {
      asked += 1;
      const more = (): void => {
        while (!response.destroyed && wrote < 5_000_000 && response.write(line)) {
          wrote += line.length;
        }
        if (wrote >= 5_000_000) response.end('{"message":{"content":""},"done":true}\n');
        else if (!response.destroyed) response.once("drain", more);
      };
      response.writeHead(200);
      more();
    });
    servers.push(server);
    await startOn(server.url);
    const { jobIds } = await openBatchOf(db, [
      { ...askJob("a"), input: { kind: "chat", prompt: "Hi", max_tokens: 100 } },
    ]);
    const jobId = jobIds[0] ?? "";
    await ends(jobId, "failed");
    expect(await rowOf(db, jobId)).toMatchObject({
      error_code: "MODEL_OUTPUT_INVALID",
      attempt: 1,
      parks: 0,
    });
    expect(asked).toBe(1);
    expect(wrote).toBeLessThan(5_000_000);
  });

  test.each(SHAPES)(
    "the greatest accepted reply of %s is stored in moments, by a statement of a few megabytes",
    async (_, piece) => {
      const { chars } = replyLimits(1_000_000);
      const text = piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);
      const checked = checkAnswer({ text, toolCalls: [], doneReason: "stop" }, RULES);
      const trace = startTrace();
      trace.checks(checked.checks);
      if (checked.kind !== "declined") {
        trace.claims(claimRecords(checked.statements, "flagged", true));
      }
      const job = await claimNext(db, await newJob());
      let sent = 0;
      const measured: Queryable = {
        query(statement, values = [], named) {
          sent = values.reduce<number>((sum, value) => sum + String(value).length, 0);
          return db.query(statement, values, named);
        },
      };
      const startedAt = performance.now();
      const record = {
        ...EMPTY_RECORD,
        checks: trace.record().checks,
        claims: trace.record().claims,
      };
      await settleRun(
        measured,
        { runId: job.runId, runMs: 1, ...MADE_WITH },
        { kind: "succeeded", outcome: answered(text) },
        record,
      );
      // A second is what a slow machine needs; more is for a busy one.
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      expect(sent).toBeLessThan(6 * 1024 * 1024);
      for (const table of ["quotes", "figures", "claims"]) {
        const { rows } = await db.query(
          `select count(*)::int as n from nightdesk_data.${table} where run_id = $1`,
          [job.runId],
        );
        expect((rows[0] as { n: number }).n).toBeLessThanOrEqual(MOST_ROWS);
      }
      expect(await rowOf(db, job.jobId)).toMatchObject({ state: "succeeded" });
    },
  );

  test("of too many rows the wrong ones are kept, in the order of the answer", async () => {
    const trace = startTrace();
    const span = null;
    const figures = Array.from({ length: 5_000 }, (_, index) => ({
      kind: "number" as const,
      text: String(index),
      standsIn: "neither" as const,
      flagged: index >= 4_500,
      span,
    }));
    const quotes = [{ quote: "😀".repeat(600), class: "not_found" as const, span }];
    trace.checks({ quotes, figures });
    const kept = trace.record().checks;
    expect(kept.figures).toHaveLength(MOST_ROWS);
    expect(kept.figures.filter(({ flagged }) => flagged)).toHaveLength(500);
    expect(kept.figures.map(({ text }) => Number(text))).toEqual(
      [...kept.figures].map(({ text }) => Number(text)).sort((one, other) => one - other),
    );
    expect(kept.quotes[0]?.quote).toBe(`${"😀".repeat(MOST_ROW_CHARS / 2)}…`);
  });

  test.each([
    ["too large for a statement", "x".repeat(40 * 1024 * 1024), "are the most"],
    ["with text that no database takes", "NUL \u0000 in the text", "SQLSTATE 22P05"],
  ])("a result %s fails its job for good, and the worker goes on", async (_, answer, why) => {
    let runs = 0;
    workers.push(
      await startWorker(topology.context, 1, () => async ({ customId }) => {
        runs += 1;
        return answered(customId === "bad" ? answer : "good");
      }),
    );
    const { jobIds } = await openBatchOf(db, [askJob("bad"), askJob("good")]);
    await ends(jobIds[0] ?? "", "failed");
    await ends(jobIds[1] ?? "", "succeeded");
    const row = await rowOf(db, jobIds[0] ?? "");
    expect(row).toMatchObject({ error_code: "RESULT_UNSTORABLE", attempt: 1 });
    expect(row["error_message"]).toContain(why);
    expect(runs).toBe(2);
  });

  test("a call that can't be stored is told as such, without its words", async () => {
    const job = await claimNext(db, await newJob());
    const prompt = {
      template: "t",
      sha256: "b".repeat(64),
      values: {},
      evidence: [],
      violations: [],
    };
    const reply = {
      text: "secret \u0000",
      toolCalls: [],
      doneReason: "stop" as const,
      promptTokens: 1,
      completionTokens: 1,
      loadMs: 0,
    };
    const call = {
      pass: "chat" as const,
      requestSha256: "c".repeat(64),
      model: "m",
      modelDigest: null,
    };
    const insert = insertModelCall(db, job, {
      ...call,
      prompt,
      reply,
      refusal: null,
      durationMs: 1,
    });
    await expect(insert).rejects.toMatchObject({
      code: "RESULT_UNSTORABLE",
      message: expect.not.stringContaining("secret"),
    });
  });
});
