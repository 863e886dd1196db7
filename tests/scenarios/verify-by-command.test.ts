import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleMessage } from "../doubles/ollama/double-model.ts";
import { runBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";

const LONG_MS = 240_000;
const FERRY = "allowed/corpus/ferry.md";
const DENIAL = "The ferry does not leave on Mondays.";

let topology: Topology;
let double: OllamaDouble;
let db: Database;

/** What the model says, by the words that its prompt begins with. */
const REPLIES: readonly (readonly [string, string])[] = [
  ["You prepare the audit of an answer", "Nothing is to be asked."],
  ["You judge an answer by what checks", JSON.stringify({ corrections: [], score: 4 })],
  [
    "You are an auditor who trusts nobody",
    JSON.stringify({ quote: DENIAL, cites: [1], answer: "yes" }),
  ],
  ["You look into a question with tools", "END"],
  ["You answer a question from numbered pieces", `${DENIAL.replace(/\.$/, "")} [1].`],
];

const respond = (messages: readonly DoubleMessage[]): string =>
  REPLIES.find(([begins]) => messages[0]?.content.startsWith(begins))?.[1] ??
  `{"type":"tool_call","name":"read_text_file","args":{"path":"${FERRY}"}}`;

beforeAll(async () => {
  double = await startOllamaDouble({
    models: [{ name: "writer", contextLength: 8_192, respond }],
  });
  topology = await startTopology("embedded", {
    model: { provider: "ollama", name: "writer", base_url: double.url, num_ctx: 8_192 },
    ask: { answer_form: "text" },
    verify: { priority: -30 },
    log: { level: "error" },
  });
  await writeFile(join(topology.workroot, FERRY), `# Ferry\n\n${DENIAL}\n`);
  db = await topology.connect();
}, LONG_MS);
afterAll(async () => {
  await db.end();
  await topology.dispose();
  await double.close();
});

const nightdesk = (...words: readonly string[]): Promise<Ended> =>
  runBin(words, { cwd: topology.workroot });

const QUESTION = `When does the ferry not leave, according to ${FERRY}?`;

type Asked = { readonly ok: boolean; readonly job_id: string; readonly answer: string };

async function ask(...flags: readonly string[]): Promise<Asked> {
  const ended = await nightdesk(
    "ask",
    QUESTION,
    "--verify",
    "standard",
    "--json",
    "--wait",
    ...flags,
  );
  expect(ended).toMatchObject({ code: 0 });
  return JSON.parse(ended.stdout) as Asked;
}

const coverageOf = async (jobId: string): Promise<readonly unknown[]> => {
  const ended = await nightdesk(
    ...["sql", "--json"],
    `select members, read from coverage where job_id = '${jobId}'`,
  );
  expect(ended).toMatchObject({ code: 0 });
  return ended.stdout
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => JSON.parse(line) as unknown);
};

test(
  "--negative on holds a plain denial to all files that it is about, and off none",
  async () => {
    const [on, off] = [await ask("--negative", "on"), await ask("--negative", "off")];
    expect(on.answer).toContain("(1 of 1 files below allowed/corpus/ was read.)");
    expect(off.answer).not.toContain("were read");
    expect(JSON.stringify(await coverageOf(on.job_id))).toContain('"members"');
    expect(JSON.stringify(await coverageOf(off.job_id))).not.toContain('"members"');
  },
  LONG_MS,
);

test(
  "--negative takes on, auto and off alone, and says so",
  async () => {
    const ended = await nightdesk("ask", QUESTION, "--negative", "always");
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/auto.*on.*off/);
  },
  LONG_MS,
);

test(
  "verify.priority is added to that of the batch whose answers are checked",
  async () => {
    const file = join(topology.workroot, "jobs.jsonl");
    const job = {
      custom_id: "a",
      kind: "ask",
      question: QUESTION,
      options: { verify: "standard" },
    };
    await writeFile(file, `${JSON.stringify(job)}\n`);
    const words = ["enqueue", "jobs.jsonl", "--batch-name", "night", "--priority", "10"];
    expect(await nightdesk(...words)).toMatchObject({ code: 0 });
    expect(await nightdesk("worker", "--drain")).toMatchObject({ code: 0 });
    const { rows } = await db.query(
      `select c.priority as batch, j.priority as own from nightdesk_data.batches c
         join nightdesk_data.jobs j on j.batch_id = c.batch_id
         join nightdesk_data.batches b on b.batch_id = c.parent_id where b.name = 'night'`,
    );
    expect(rows).toEqual([{ batch: 10, own: -30 }]);
  },
  LONG_MS,
);
