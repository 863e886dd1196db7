import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startTopology, topologies } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleMessage } from "../doubles/ollama/double-model.ts";
import { runBin } from "../support/run-bin.ts";

const LONG_MS = 240_000;
const FERRY = "allowed/corpus/ferry.md";
const TEXT =
  "# Ferry\n\nThe ferry to Harwick leaves at 09:15.\n\nThe crossing takes 42 minutes.\n\nA ticket costs 12 EUR.\n";

/** A question, what the model answers, what its auditor quotes, the points that its judge gives, and how the job ends. */
const CASES = {
  standard: {
    question: "When does the ferry to Harwick leave",
    answer: "The ferry to Harwick leaves at 09:15 [1].",
    quote: "The ferry to Harwick leaves at 09:15.",
    score: 4,
    ends: { state: "succeeded", grade: "verified", verification: "passed", error_code: null },
  },
  strict: {
    question: "How long does the crossing take",
    answer: "The crossing takes 42 minutes [1].",
    quote: "The crossing takes 42 minutes.",
    score: 2,
    ends: { state: "refused", verification: "failed", error_code: "ANSWER_UNSUPPORTED" },
  },
  // Carried in part, because Harwick stands in another sentence: it is checked whatever the share is.
  sampled: {
    question: "What does a ticket cost",
    answer: "A ticket to Harwick costs 12 EUR [1].",
    quote: "A ticket costs 12 EUR.",
    score: 3,
    ends: { state: "succeeded", grade: "verified", verification: "passed", error_code: null },
  },
  off: {
    question: "From when on does the ferry to Harwick run",
    answer: "The ferry to Harwick leaves at 09:15 [1].",
    quote: "The ferry to Harwick leaves at 09:15.",
    score: 1,
    ends: { state: "succeeded", grade: "supported", error_code: null },
  },
} as const;
type Mode = keyof typeof CASES;
const MODES = Object.keys(CASES) as readonly Mode[];

function respond(messages: readonly DoubleMessage[]): string {
  const system = messages[0]?.content ?? "";
  const words = messages.map(({ content }) => content).join("\n");
  const asked = MODES.map((mode) => CASES[mode]).find(({ question }) => words.includes(question));
  if (system.startsWith("You prepare the audit of an answer")) return "Nothing is to be asked.";
  if (system.startsWith("You judge an answer by what checks"))
    return JSON.stringify({ corrections: [], score: asked?.score });
  if (system.startsWith("You look into a question with tools")) return "END";
  if (system.startsWith("You are an auditor who trusts nobody"))
    return JSON.stringify({ quote: asked?.quote, cites: [1], answer: "yes" });
  if (system.startsWith("You answer a question from numbered pieces")) return asked?.answer ?? "";
  return `{"type":"tool_call","name":"read_text_file","args":{"path":"${FERRY}"}}`;
}

describe.each(topologies)("modes of verification by the command line on %s", (name) => {
  let topology: Topology;
  let double: OllamaDouble;
  const nightdesk = (...words: readonly string[]) => runBin(words, { cwd: topology.workroot });

  beforeAll(async () => {
    double = await startOllamaDouble({
      models: [{ name: "writer", contextLength: 8_192, respond }],
    });
    topology = await startTopology(name, {
      model: { provider: "ollama", name: "writer", base_url: double.url, num_ctx: 8_192 },
      ask: { answer_form: "text" },
      log: { level: "error" },
    });
    await writeFile(join(topology.workroot, FERRY), TEXT);
  }, LONG_MS);
  afterAll(async () => {
    await topology.dispose();
    await double.close();
  });

  test(
    "each job of a batch is verified as its own line asks",
    async () => {
      const lines = MODES.map((mode) =>
        JSON.stringify({
          custom_id: mode,
          kind: "ask",
          question: `${CASES[mode].question}, according to ${FERRY}?`,
          options: { verify: mode },
        }),
      );
      await writeFile(join(topology.workroot, "jobs.jsonl"), `${lines.join("\n")}\n`);
      const queued = await nightdesk("enqueue", "jobs.jsonl", "--batch-name", "night");
      expect(queued).toMatchObject({ code: 0 });
      expect(await nightdesk("worker", "--drain")).toMatchObject({ code: 0 });
      const found = await nightdesk(
        ...["sql", "--json"],
        "select custom_id, state, grade, verification, error_code from results where batch = 'night'",
      );
      expect(found).toMatchObject({ code: 0 });
      const rows = found.stdout
        .split("\n")
        .filter((line) => line !== "")
        .flatMap((line) => JSON.parse(line) as { readonly custom_id: Mode });
      expect(rows).toHaveLength(MODES.length);
      for (const row of rows) expect(row).toMatchObject(CASES[row.custom_id].ends);
    },
    LONG_MS,
  );
});
