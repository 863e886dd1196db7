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
import { stopEmbedded } from "../src/shared/store/embedded/embedded-process.ts";
import { isHeldOut } from "../tests/corpora/read-corpora.ts";
import { makeStrangerCorpus } from "../tests/corpora/stranger/make-corpus.ts";
import {
  answerOf,
  isFault,
  jobsOf,
  judgeEvening,
  VERDICTS,
  type Evening,
  type Validated,
  type Result,
} from "../tests/corpora/stranger/judge-evening.ts";
import {
  readStrangerExtractions,
  readStrangerQuestions,
  readStrangerSummaries,
} from "../tests/corpora/stranger/read-stranger.ts";
import { findPids } from "./process-usage.ts";

const BIN = resolve(import.meta.dirname, "..", "bin", "nightdesk.js");
const BATCH = "evening";

const { values: flags } = parseArgs({
  options: {
    "held-out": { type: "boolean", default: false },
    items: { type: "boolean", default: false },
  },
});

const isChosen = (item: { readonly id: string }): boolean => isHeldOut(item) === flags["held-out"];
const evening: Evening = {
  questions: readStrangerQuestions().filter(isChosen),
  summaries: readStrangerSummaries().filter(isChosen),
  extractions: readStrangerExtractions().filter(isChosen),
};

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
  writeFileSync(join(home, "evening.jsonl"), jobsOf(evening));
  console.log((await nightdesk("index")).trim());
  await nightdesk("enqueue", join(home, "evening.jsonl"), "--batch-name", BATCH, "--wait");
  const lines = (await nightdesk("batch", "export", BATCH)).trim().split("\n");
  const results = lines.map((line) => JSON.parse(line) as Result);
  return new Map(results.map((result) => [result.custom_id, result]));
}

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

function report(all: readonly Validated[]): void {
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

const counts = (all: readonly Validated[]): number[] =>
  VERDICTS.map((verdict) => all.filter((one) => one.verdict === verdict).length);

function describe({ id, asked, verdict, faults, result }: Validated): string {
  const said =
    result.state === "succeeded"
      ? `${faults.join("; ")}\n  ${answerOf(result).slice(0, 400)}`
      : `${result.error_code ?? result.state}: ${result.error_message ?? ""}`;
  return `\n${verdict}: ${id} ${asked}\n  ${said}`;
}

try {
  report(judgeEvening(evening, await runEvening()));
} finally {
  await stopAll();
  rmSync(home, { recursive: true, force: true });
}
