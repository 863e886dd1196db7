import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { hashJson } from "../../src/shared/schema/json-value.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { checkModelHost } from "../../src/worker/doctor/check-model-host.ts";
import { openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology, TopologyName } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { runBin, startBin } from "../support/run-bin.ts";
import { writeTinyCausalModel } from "../support/tiny-causal-model.ts";
import { childrenStartedWith } from "../support/child-processes.ts";

// The model says what it was written to say to each kind of prompt; all else is real.
const CALL =
  '{"type":"tool_call","name":"read_text_file","args":{"path":"allowed/corpus/ferry.md"}}';
const REPLIES = [
  { to: "numbered", says: ["The ferry leaves the quay at 09:15 [1]."] },
  { to: "choose", says: [CALL] },
  { to: "summarise", says: ["The ferry leaves at 09:15 and carries bicycles."] },
  { to: "greet", says: ["Good evening."] },
];
const FERRY = "# Ferry\n\nThe ferry leaves the quay at 09:15 and carries bicycles.\n";
const ROUNDS = 6;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startDesk(name: TopologyName): Promise<Topology> {
  const topology = await startTopology(name, {
    model: {
      provider: "transformers",
      name: "tiny",
      num_ctx: 4_096,
      transformers: { dtype: "fp32" },
    },
    log: { level: "warn" },
  });
  closing.push(() => topology.dispose());
  writeTinyCausalModel(join(topology.workroot, "models", "tiny"), {
    replies: REPLIES,
    windowTokens: 4_096,
  });
  writeFileSync(join(topology.workroot, "allowed", "corpus", "ferry.md"), FERRY);
  return topology;
}

const job = (customId: string, input: NewJob["input"]): NewJob => ({
  customId,
  input,
  inputSha256: hashJson({ customId }),
  priority: 0,
});

describeOn("postgres", "a language model by transformers", (name) => {
  test("answers, summarises and chats, though its process is killed", async () => {
    const desk = await startDesk(name);
    const db = await desk.connect();
    closing.push(() => db.end());
    const path = "allowed/corpus/ferry.md";
    const jobs = Array.from({ length: ROUNDS }, (_, at) => [
      job(`ask-${at}`, { kind: "ask", question: `When does the ferry of ${path} leave (${at})?` }),
      job(`sum-${at}`, { kind: "summarize", path }),
      job(`chat-${at}`, { kind: "chat", prompt: `Greet ${at}` }),
    ]).flat();
    const { batchId } = await openBatchOf(db, jobs);
    const worker = startBin(["worker", "--drain"], { cwd: desk.workroot });
    await eventually(
      "a process has the model",
      async () => childrenStartedWith("transformers/child", worker.pid).length > 0,
      60_000,
    );
    for (const pid of childrenStartedWith("transformers/child", worker.pid))
      process.kill(pid, "SIGKILL");
    const { code, stderr } = await worker.ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { rows } = await db.query(
      `select custom_id, state, error_code, error_message from nightdesk_data.jobs
        where batch_id = $1 and state <> 'succeeded'`,
      [batchId],
    );
    expect(rows).toEqual([]);
    const { rows: calls } = await db.query(
      "select distinct model, length(model_digest) as digits from nightdesk.model_calls",
    );
    expect(calls).toEqual([{ model: "tiny", digits: 64 }]);
    const { rows: hosts } = await db.query("select provider, in_use::int from nightdesk.hosts");
    expect(hosts).toEqual([{ provider: "transformers", in_use: 0 }]);
    const { rows: said } = await db.query(
      "select distinct kind, answer from nightdesk.results where batch_id = $1 order by kind",
      [batchId],
    );
    expect(said).toMatchObject([
      { kind: "ask", answer: expect.stringMatching(/09:15 \[1\]/) },
      { kind: "chat", answer: "Good evening." },
      { kind: "summarize", answer: expect.stringMatching(/carries bicycles/) },
    ]);
  }, 180_000);
});

test("Doctor loads it, and says what is missing", async () => {
  const desk = await startDesk("embedded");
  const { config } = desk.context;
  const checks = await checkModelHost({ ...config, model: { ...config.model, big: "none" } });
  expect(checks.map(({ code }) => code)).toEqual([
    "DOCTOR_OLLAMA_OK",
    "DOCTOR_MODEL_OK",
    "DOCTOR_MODEL_MISSING",
  ]);
  expect(checks[2]?.message).toContain("nightdesk models fetch none");
  const { stdout } = await runBin(["doctor", "--json"], { cwd: desk.workroot });
  expect(stdout).toContain("Model tiny is installed (fp32, digest ");
});
