import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleMessage } from "../doubles/ollama/double-model.ts";
import { describeOn } from "../support/describe-on.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";

const LONG_MS = 240_000;
const FERRY = "allowed/corpus/ferry.md";
const TEXT =
  "# Ferry\n\nThe ferry to Harwick leaves at 09:15.\n\nThe crossing takes 42 minutes.\n\nA ticket costs 12 EUR.\n";
const BARGE = "allowed/corpus/canal/barge.md";
const DENIAL = "The barge does not leave on Mondays.";

/** A question, what the model answers, what its auditor quotes, and the points that it gives. */
type Case = {
  readonly path: string;
  readonly question: string;
  readonly answer: string;
  readonly quote: string;
  readonly score: number;
};

/** By mode, with how the job ends. */
const MODES = {
  standard: {
    path: FERRY,
    question: "When does the ferry to Harwick leave",
    answer: "The ferry to Harwick leaves at 09:15 [1].",
    quote: "The ferry to Harwick leaves at 09:15.",
    score: 4,
    ends: { state: "succeeded", grade: "verified", verification: "passed", error_code: null },
  },
  strict: {
    path: FERRY,
    question: "How long does the crossing take",
    answer: "The crossing takes 42 minutes [1].",
    quote: "The crossing takes 42 minutes.",
    score: 2,
    ends: { state: "refused", verification: "failed", error_code: "ANSWER_UNSUPPORTED" },
  },
  // Carried in part, because Harwick stands in another sentence: it is checked whatever the share is.
  sampled: {
    path: FERRY,
    question: "What does a ticket cost",
    answer: "A ticket to Harwick costs 12 EUR [1].",
    quote: "A ticket costs 12 EUR.",
    score: 3,
    ends: { state: "succeeded", grade: "verified", verification: "passed", error_code: null },
  },
  off: {
    path: FERRY,
    question: "From when on does the ferry to Harwick run",
    answer: "The ferry to Harwick leaves at 09:15 [1].",
    quote: "The ferry to Harwick leaves at 09:15.",
    score: 1,
    ends: { state: "succeeded", grade: "supported", error_code: null },
  },
} as const;
type Mode = keyof typeof MODES;

const DENIED: Case = {
  path: BARGE,
  question: "When does the barge not leave",
  answer: `${DENIAL.replace(/\.$/, "")} [1].`,
  quote: DENIAL,
  score: 4,
};
const CASES: readonly Case[] = [...Object.values(MODES), DENIED];
const questionOf = ({ question, path }: Case): string => `${question}, according to ${path}?`;

function respond(messages: readonly DoubleMessage[]): string {
  const system = messages[0]?.content ?? "";
  const words = messages.map(({ content }) => content).join("\n");
  const asked = CASES.find(({ question }) => words.includes(question));
  if (system.startsWith("You prepare the audit of an answer")) return "Nothing is to be asked.";
  if (system.startsWith("You score an answer by what checks"))
    return JSON.stringify({ corrections: [], score: asked?.score });
  if (system.startsWith("You look into a question with tools")) return "END";
  if (system.startsWith("You are an auditor who trusts nobody"))
    return JSON.stringify({ quote: asked?.quote, cites: [1], answer: "yes" });
  if (system.startsWith("You answer a question from numbered pieces")) return asked?.answer ?? "";
  return `{"type":"tool_call","name":"read_text_file","args":{"path":"${asked?.path ?? ""}"}}`;
}

describeOn("postgres", "verification by the command line", (name) => {
  let topology: Topology;
  let double: OllamaDouble;
  let db: Database;

  beforeAll(async () => {
    double = await startOllamaDouble({
      models: [{ name: "writer", contextLength: 8_192, respond }],
    });
    topology = await startTopology(name, {
      model: { provider: "ollama", name: "writer", base_url: double.url, num_ctx: 8_192 },
      ask: { answer_form: "text" },
      verify: { priority: -30 },
      log: { level: "error" },
    });
    await mkdir(join(topology.workroot, dirname(BARGE)), { recursive: true });
    await writeFile(join(topology.workroot, FERRY), TEXT);
    await writeFile(join(topology.workroot, BARGE), `# Barge\n\n${DENIAL}\n`);
    db = await topology.connect();
  }, LONG_MS);
  afterAll(async () => {
    await db.end();
    await topology.dispose();
    await double.close();
  });

  const run = (...words: readonly string[]): Promise<Ended> =>
    runCommand(words, { cwd: topology.workroot });
  async function drain(): Promise<void> {
    expect(await runBin(["worker", "--drain"], { cwd: topology.workroot })).toMatchObject({
      code: 0,
    });
  }
  const rowsOf = async (sql: string, ...values: readonly unknown[]): Promise<unknown[]> =>
    (await db.query(sql, values)).rows;
  const enqueue = async (batch: string, jobs: readonly object[], ...flags: readonly string[]) => {
    const lines = jobs.map((job) => `${JSON.stringify(job)}\n`).join("");
    await writeFile(join(topology.workroot, "jobs.jsonl"), lines);
    const queued = await run("enqueue", "jobs.jsonl", "--batch-name", batch, ...flags);
    expect(queued).toMatchObject({ code: 0 });
  };

  test(
    "--negative on holds a plain denial to all files that it is about, and off none",
    async () => {
      const ids: unknown[] = [];
      for (const negative of ["on", "off"]) {
        const flags = ["--verify", "standard", "--negative", negative, "--json"];
        const asked = await run("ask", questionOf(DENIED), ...flags);
        expect(asked).toMatchObject({ code: 0 });
        ids.push(jsonLine(asked)["job_id"]);
      }
      await drain();
      const [on, off] = ids;
      const told =
        "select state, answer like '%1 of 1 files%' as tells from nightdesk.results where job_id = $1";
      expect(await rowsOf(told, on)).toEqual([{ state: "succeeded", tells: true }]);
      expect(await rowsOf(told, off)).toEqual([{ state: "succeeded", tells: false }]);
      const covered = "select members, read from nightdesk.coverage where job_id = $1";
      expect(await rowsOf(covered, on)).toEqual([{ members: 1, read: 1 }]);
      expect(await rowsOf(covered, off)).toEqual([]);
    },
    LONG_MS,
  );

  test("--negative takes on, auto and off alone, and says so", async () => {
    const ended = await run("ask", questionOf(DENIED), "--negative", "always");
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/auto.*on.*off/);
  });

  test(
    "verify.priority is added to that of the batch whose answers are checked, and each job is verified as its own line asks",
    async () => {
      const jobs = (Object.keys(MODES) as Mode[]).map((mode) => ({
        ...{ custom_id: mode, kind: "ask", question: questionOf(MODES[mode]) },
        options: { verify: mode },
      }));
      await enqueue("night", jobs, "--priority", "10");
      await drain();
      const rows = await rowsOf(
        "select custom_id, state, grade, verification, error_code from nightdesk.results where batch = 'night'",
      );
      expect(rows).toHaveLength(jobs.length);
      for (const row of rows as { readonly custom_id: Mode }[])
        expect(row).toMatchObject(MODES[row.custom_id].ends);
      const checks = await rowsOf(
        `select distinct c.priority as batch, j.priority as own from nightdesk_data.batches c
           join nightdesk_data.jobs j on j.batch_id = c.batch_id
           join nightdesk_data.batches b on b.batch_id = c.parent_id where b.name = 'night'`,
      );
      expect(checks).toEqual([{ batch: 10, own: -30 }]);
    },
    LONG_MS,
  );
});
