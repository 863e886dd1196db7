// The stranger's evening of tests/corpora/stranger: makes the folder, indexes it and asks it through the command line of
// the build in dist/, with the embedded database and the extractive model, and says what was right and what was refused.
// The third that is chosen by hash is run with --held-out alone, and is for the end of a round of work.
// node --import ./bench/register.js bench/stranger.ts [--held-out] [--items]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { stopEmbedded } from "../src/shared/db/embedded-process.ts";
import { isHeldOut } from "../tests/corpora/read-corpora.ts";
import { makeStrangerCorpus } from "../tests/corpora/stranger/make-corpus.ts";
import {
  holds,
  readStrangerExtractions,
  readStrangerQuestions,
  readStrangerSummaries,
  type StrangerExtraction,
  type StrangerQuestion,
  type StrangerSummary,
} from "../tests/corpora/stranger/read-stranger.ts";
import { findPids } from "./process-usage.ts";

const BIN = resolve(import.meta.dirname, "..", "bin", "nightdesk.js");
const BATCH = "evening";

/** What a line of `batch export` says of a job. */
type Result = {
  readonly custom_id: string;
  readonly state: string;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly answer: string | null;
  readonly scope: string | null;
  readonly citations: readonly { readonly path: string }[];
};

const VERDICTS = ["right", "wrong", "refused rightly", "refused wrongly", "failed"] as const;
type Verdict = (typeof VERDICTS)[number];

type Judged = {
  readonly id: string;
  readonly kind: "questions" | "summaries" | "extractions";
  readonly lang: string;
  readonly asked: string;
  readonly verdict: Verdict;
  /** What was missed, or must not be there. */
  readonly faults: readonly string[];
  readonly result: Result;
};

const { values: flags } = parseArgs({
  options: {
    "held-out": { type: "boolean", default: false },
    items: { type: "boolean", default: false },
  },
});

const isChosen = (item: { readonly id: string }): boolean => isHeldOut(item) === flags["held-out"];
const questions = readStrangerQuestions().filter(isChosen);
const summaries = readStrangerSummaries().filter(isChosen);
const extractions = readStrangerExtractions().filter(isChosen);

const home = mkdtempSync(join(tmpdir(), "nightdesk-stranger-"));

async function runEvening(): Promise<ReadonlyMap<string, Result>> {
  mkdirSync(join(home, "documents"));
  makeStrangerCorpus(join(home, "documents"));
  const config = {
    workroot: "documents",
    security: {
      allowed_roots: ["."],
      allowed_exts: [".md", ".txt", ".json", ".eml", ".csv", ".log"],
    },
    index: { sources: [{ name: "stranger", root: "." }] },
    model: { provider: "extractive" },
  };
  writeFileSync(join(home, "nightdesk.yaml"), stringify(config));
  writeFileSync(join(home, "evening.jsonl"), jobs());
  console.log((await nightdesk("index")).trim());
  await nightdesk("enqueue", join(home, "evening.jsonl"), "--batch-name", BATCH, "--wait");
  const lines = (await nightdesk("batch", "export", BATCH)).trim().split("\n");
  const results = lines.map((line) => JSON.parse(line) as Result);
  return new Map(results.map((result) => [result.custom_id, result]));
}

const jobs = (): string =>
  [
    ...questions.map(({ id, question }) => ({ custom_id: id, kind: "ask", question })),
    ...summaries.map(({ id, path }) => ({ custom_id: id, kind: "summarize", path })),
    ...extractions.map(({ id, path, preset }) => ({
      custom_id: id,
      kind: "extract",
      path,
      preset,
    })),
  ]
    .map((job) => `${JSON.stringify(job)}\n`)
    .join("");

/** What it writes to stdout. Some jobs of a batch may be refused (exit 3). */
async function nightdesk(...words: readonly string[]): Promise<string> {
  const config = join(home, "nightdesk.yaml");
  const child = spawn(process.execPath, [BIN, ...words, "--config", config], {
    cwd: home,
    // Nothing of the machine that it runs on: no database, no configuration.
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit") as Promise<[number | null]>,
  ]);
  if (status === 0 || status === 3) return stdout;
  throw new Error(`nightdesk ${words.join(" ")} ended with ${String(status)}: ${stderr}`);
}

/** A worker that goes on for a moment would start the database again. */
async function stopAll(): Promise<void> {
  for (const pid of findPids("worker", [home])) process.kill(pid, "SIGTERM");
  while (findPids("worker", [home]).length > 0) await sleep(50);
  await stopEmbedded(join(home, "documents", ".nightdesk"));
}

function judgeAll(results: ReadonlyMap<string, Result>): Judged[] {
  const resultOf = (id: string): Result => {
    const result = results.get(id);
    if (result === undefined) throw new Error(`the batch has no job ${id}`);
    return result;
  };
  return [
    ...questions.map((item) => judgeQuestion(item, resultOf(item.id))),
    ...summaries.map((item) => judgeSummary(item, resultOf(item.id))),
    ...extractions.map((item) => judgeExtraction(item, resultOf(item.id))),
  ];
}

function judgeQuestion(item: StrangerQuestion, result: Result): Judged {
  const answer = answerOf(result);
  const lost = item.facts.filter((fact) => !holds(answer, fact)).map((fact) => `lacks ${fact}`);
  const isCited = result.citations.some(({ path }) => item.files.includes(path));
  const faults = item.answerable
    ? [...lost, ...(isCited ? [] : ["cites none of its files"])]
    : ["has no answer in the folder"];
  return {
    id: item.id,
    kind: "questions",
    lang: item.lang,
    asked: item.question,
    verdict: verdictOf(result, faults, item.answerable ? "refused wrongly" : "refused rightly"),
    faults,
    result,
  };
}

function judgeSummary(item: StrangerSummary, result: Result): Judged {
  const answer = answerOf(result);
  const faults = [
    ...(item.must_hold.some((fact) => holds(answer, fact)) ? [] : ["holds none of its facts"]),
    ...item.must_not.filter((words) => holds(answer, words)).map((words) => `holds ${words}`),
  ];
  return judgedFile("summaries", item, result, faults);
}

type Extracted = {
  readonly people?: readonly { readonly name: string }[];
  readonly dates?: readonly { readonly date: string }[];
  readonly actions?: readonly { readonly action: string }[];
};

function judgeExtraction(item: StrangerExtraction, result: Result): Judged {
  const output = JSON.parse(answerOf(result) || "{}") as Extracted;
  const found = {
    people: (output.people ?? []).map(({ name }) => name),
    dates: (output.dates ?? []).map(({ date }) => date),
    actions: (output.actions ?? []).map(({ action }) => action),
  };
  const faults = (["people", "dates", "actions"] as const).flatMap((kind) => {
    const isFound = (words: string) => found[kind].some((value) => holds(value, words));
    const lost = (item.expected[kind] ?? []).filter((words) => !isFound(words));
    const wrong = (item.must_not[kind] ?? []).filter(isFound);
    return [
      ...lost.map((words) => `${kind} lack ${words}`),
      ...wrong.map((words) => `${kind} hold ${words}`),
    ];
  });
  return judgedFile("extractions", item, result, faults);
}

const judgedFile = (
  kind: Judged["kind"],
  { id, lang, path }: StrangerSummary | StrangerExtraction,
  result: Result,
  faults: readonly string[],
): Judged => ({
  id,
  kind,
  lang,
  asked: path,
  verdict: verdictOf(result, faults, "refused wrongly"),
  faults,
  result,
});

function verdictOf(result: Result, faults: readonly string[], ofRefusal: Verdict): Verdict {
  if (result.state === "refused") return ofRefusal;
  if (result.state !== "succeeded") return "failed";
  return faults.length === 0 ? "right" : "wrong";
}

/** Without the footer, whose digits are no facts. */
const answerOf = ({ answer, scope }: Result): string =>
  (answer ?? "").replace(scope ?? "", "").trim();

function report(all: readonly Judged[]): void {
  console.log(`${flags["held-out"] ? "held out" : "tuning"}: ${all.length} items\n`);
  const width = 16;
  const cells = (words: readonly (string | number)[]) =>
    words.map((word) => String(word).padEnd(width)).join("");
  console.log(cells(["", ...VERDICTS]));
  for (const kind of ["questions", "summaries", "extractions"] as const) {
    const ofKind = all.filter((one) => one.kind === kind);
    const langs = [...new Set(ofKind.map(({ lang }) => lang))];
    for (const lang of langs) {
      console.log(cells([`${kind} ${lang}`, ...counts(ofKind.filter((one) => one.lang === lang))]));
    }
    console.log(cells([kind, ...counts(ofKind)]));
  }
  if (flags.items) for (const one of all) if (isFault(one)) console.log(describe(one));
}

const counts = (all: readonly Judged[]): number[] =>
  VERDICTS.map((verdict) => all.filter((one) => one.verdict === verdict).length);

const isFault = ({ verdict }: Judged): boolean =>
  verdict !== "right" && verdict !== "refused rightly";

function describe({ id, asked, verdict, faults, result }: Judged): string {
  const said =
    result.state === "succeeded"
      ? `${faults.join("; ")}\n  ${answerOf(result).slice(0, 400)}`
      : `${result.error_code ?? result.state}: ${result.error_message ?? ""}`;
  return `\n${verdict}: ${id} ${asked}\n  ${said}`;
}

try {
  report(judgeAll(await runEvening()));
} finally {
  await stopAll();
  rmSync(home, { recursive: true, force: true });
}
