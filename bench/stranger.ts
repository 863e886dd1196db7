// The stranger's evening of tests/corpora/stranger: makes the folder, indexes it and asks it through the command line of
// the build in dist/, with the embedded database and the extractive model, and says what was right and what was refused.
// The third that is chosen by hash is run with --held-out alone, and is for the end of a round of work.
// node --import ./bench/register.js bench/stranger.ts [--held-out] [--items]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
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
import { runDesk, stopDesk } from "./run-desk.ts";

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
  const place = { home, config: join(home, "nightdesk.yaml") };
  console.log((await runDesk(["index"], place)).trim());
  await runDesk(["enqueue", join(home, "evening.jsonl"), "--batch-name", BATCH, "--wait"], place);
  const lines = (await runDesk(["batch", "export", BATCH], place)).trim().split("\n");
  const results = lines.map((line) => JSON.parse(line) as Result);
  return new Map(results.map((result) => [result.custom_id, result]));
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
  await stopDesk(home, [join(home, "documents", ".nightdesk")]);
  rmSync(home, { recursive: true, force: true });
}
