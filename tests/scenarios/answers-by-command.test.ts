import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findCitations } from "../../src/worker/verify/citations.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { isHeldOut, readAnswers } from "../corpora/read-corpora.ts";
import type { CorpusAnswer } from "../corpora/read-corpora.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleMessage } from "../doubles/ollama/double-model.ts";
import { describeOn } from "../support/describe-on.ts";
import { startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";

/** Kinds of the corpus by what they are about: at least 60 answers of each, good and bad. */
const ABOUT = {
  quotes: ["quote", "altered quote", "translated"],
  figures: ["figures", "figure"],
  marks: ["forged mark", "guess", "decline"],
} as const;
type About = keyof typeof ABOUT;

const aboutOf = ({ kind }: CorpusAnswer): About | undefined =>
  (Object.keys(ABOUT) as About[]).find((about) => ABOUT[about].some((one) => one === kind));

const ITEMS = readAnswers().filter((item) => aboutOf(item) !== undefined);

type Told = {
  readonly custom_id: string;
  readonly state: string;
  readonly answer: string | null;
  readonly error_code: string | null;
  readonly grade: string | null;
};

/** Each piece as a file of its own: of one file few pieces are shown. */
const documents = (): ReadonlyMap<string, string> =>
  new Map(
    ITEMS.flatMap(({ evidence, pieces }) =>
      pieces.map(({ path, heading, text }, at) => [
        `${evidence}/${at}-${path.replace(/\W+/g, "-")}.md`,
        `## ${heading}\n\n${text}\n\n${tokenOf(evidence)}\n`,
      ]),
    ),
  );

/** A word that stands under each piece of a set and in its questions: each piece is found, in whatever language one asks. */
const tokenOf = (set: string): string => `zz${SETS.indexOf(set)}zz`;
const SETS = [...new Set(ITEMS.map(({ evidence }) => evidence))];

/** The question with its item's name, by which the model knows what it is to say. */
const askedOf = ({ id, question, evidence }: CorpusAnswer): string =>
  `${question} (${id} ${tokenOf(evidence)})`;

/** What the item's author had the model say, with the numbers that its pieces have in this prompt. */
function respond(messages: readonly DoubleMessage[]): string {
  const prompt = messages.map(({ content }) => content).join("\n");
  if (prompt.includes("You choose what has to be read")) return "ENOUGH";
  const item = ITEMS.find((one) => prompt.includes(`Question: ${askedOf(one)}\n`));
  if (item === undefined) throw new Error(`no answer is known to: ${prompt.slice(-400)}`);
  const boundary = /<<<EVIDENCE ([0-9a-f]{32}) \[/.exec(prompt)?.[1] ?? "";
  const footer = prompt.split("\n").at(-1) ?? "";
  const shown = [...prompt.matchAll(/<<<EVIDENCE [0-9a-f]{32} \[(\d+)\][^\n]*\n(.*?)\n<<<END/gs)];
  const numberOf = (piece: number): string => {
    const text = item.pieces[piece - 1]?.text;
    if (text === undefined) return String(piece);
    const held = shown.find(([, , words = ""]) => words.includes(text.slice(0, 60)));
    if (held?.[1] === undefined) throw new Error(`${item.id}: piece ${piece} is not in the prompt`);
    return held[1];
  };
  return renumbered(item, numberOf)
    .replaceAll("{{boundary}}", boundary)
    .replaceAll("{{footer}}", footer);
}

/** The reply with the numbers of its citations exchanged, and their brackets as they are. */
function renumbered({ reply, pieces }: CorpusAnswer, numberOf: (piece: number) => string): string {
  let text = reply;
  for (const { start, end } of findCitations(reply, pieces.length).toReversed()) {
    const cited = reply.slice(start, end).replace(/\d+/g, (number) => numberOf(Number(number)));
    text = text.slice(0, start) + cited + text.slice(end);
  }
  return text;
}

describeOn("redis+postgres", "answers of a corpus", (name) => {
  let topology: Topology;
  let double: OllamaDouble;
  let worker: Running;
  let told: ReadonlyMap<string, Told>;

  beforeAll(async () => {
    double = await startOllamaDouble({ models: [{ name: "writer", respond }] });
    topology = await startTopology(name, {
      model: { provider: "ollama", name: "writer", base_url: double.url, num_ctx: 16_384 },
      ask: { answer_form: "text" },
      log: { level: "error" },
    });
    const corpus = join(topology.workroot, "allowed", "corpus");
    for (const [path, text] of documents()) {
      await mkdir(dirname(join(corpus, path)), { recursive: true });
      await writeFile(join(corpus, path), text);
    }
    const jobs = ITEMS.map((item) => ({
      custom_id: item.id,
      kind: "ask",
      question: askedOf(item),
      options: { path_prefix: `allowed/corpus/${item.evidence}/` },
    }));
    const file = join(topology.workroot, "answers.jsonl");
    await writeFile(file, jobs.map((job) => `${JSON.stringify(job)}\n`).join(""));
    worker = startBin(["worker"], { cwd: topology.workroot });
    expect((await nightdesk("index")).code).toBe(0);
    const queued = await nightdesk("enqueue", "answers.jsonl", "--batch-name", "answers");
    expect(queued.code).toBe(0);
    // Some of them are refused.
    expect((await nightdesk("batch", "wait", "answers")).code).toBe(3);
    const exported = await nightdesk("batch", "export", "answers");
    expect(exported.code).toBe(0);
    const lines = exported.stdout.split("\n").filter((line) => line !== "");
    told = new Map(
      lines.map((line) => JSON.parse(line) as Told).map((row) => [row.custom_id, row]),
    );
  }, 600_000);
  afterAll(async () => {
    worker.kill("SIGTERM");
    expect((await worker.ended).code).toBe(0);
    await topology.dispose();
    await double.close();
  });

  const nightdesk = (...words: readonly string[]): Promise<Ended> =>
    runCommand(words, { cwd: topology.workroot });

  const rowOf = ({ id }: CorpusAnswer): Told => {
    const row = told.get(id);
    if (row === undefined) throw new Error(`${id} has no result`);
    return row;
  };

  const isAccepted = (item: CorpusAnswer): boolean => rowOf(item).state === "succeeded";
  const codesOf = (items: readonly CorpusAnswer[]): readonly string[] =>
    items.map((item) => `${item.id} ${item.kind}: ${rowOf(item).error_code ?? rowOf(item).grade}`);

  describe.each<About>(["quotes", "figures", "marks"])(
    "answers through the command line: %s",
    (about) => {
      const items = ITEMS.filter((item) => aboutOf(item) === about);
      const good = items.filter(({ verdict, kind }) => verdict === "good" && kind !== "decline");
      const bad = items.filter(({ verdict }) => verdict === "bad");

      test("there are 60, and each has a result", () => {
        expect(items.length).toBeGreaterThanOrEqual(60);
        expect(items.filter((item) => rowOf(item).state === "failed")).toEqual([]);
      });

      test("at most 2 % of the good ones that are not kept for the end are refused", () => {
        const refused = good.filter((item) => !isHeldOut(item) && !isAccepted(item));
        const most = Math.max(1, Math.floor(good.length * 0.02));
        expect(codesOf(refused).slice(most)).toEqual([]);
      });

      test("no bad one succeeds with what is wrong in it unmarked", () => {
        const accepted = bad.filter((item) => {
          const { answer, grade } = rowOf(item);
          const mark = "mark" in item ? item.mark : undefined;
          const isGone = mark !== undefined && answer?.includes(mark) === false;
          return isAccepted(item) && !isGone && grade !== "unconfirmed";
        });
        expect(codesOf(accepted)).toEqual([]);
      });
    },
  );

  test("a model that declines is believed", () => {
    const declined = ITEMS.filter(({ kind }) => kind === "decline");
    const codes = new Set(declined.map((item) => rowOf(item).error_code));
    expect([...codes]).toEqual(["EVIDENCE_NOT_ACQUIRED"]);
  });
});
