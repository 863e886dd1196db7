// Questions without an answer and some with one (tests/corpora/unanswerable): over the examples and over a stranger's notes,
// asked through the command line of the build in dist/, with the embedded database and the extractive model. Half of them is
// kept, and run with --kept alone.
// node --import ./bench/register.js bench/unanswerable.ts [--kept] [--items]
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import type { Result } from "../tests/corpora/stranger/judge-evening.ts";
import { makeStrangerCorpus } from "../tests/corpora/stranger/make-corpus.ts";
import {
  DOCUMENTS,
  isKept,
  readUnanswerable,
} from "../tests/corpora/unanswerable/read-unanswerable.ts";
import type { AskedQuestion } from "../tests/corpora/unanswerable/read-unanswerable.ts";
import { runDesk, stopDesk } from "./run-desk.ts";

const ROOT = resolve(import.meta.dirname, "..");
const SETS = ["examples", "notes"] as const;
const VERDICTS = ["right", "wrong", "refused", "told"] as const;
type Verdict = (typeof VERDICTS)[number];

const { values: flags } = parseArgs({
  options: {
    kept: { type: "boolean", default: false },
    items: { type: "boolean", default: false },
  },
});
const questions = readUnanswerable().filter((one) => isKept(one) === flags.kept);
const home = mkdtempSync(join(tmpdir(), "nightdesk-unanswerable-"));

/** What a batch of the questions of a set ends with, by id. */
async function ask(set: (typeof SETS)[number]): Promise<ReadonlyMap<string, Result>> {
  const workroot = join(home, set);
  mkdirSync(workroot);
  if (set === "notes") makeStrangerCorpus(workroot);
  cpSync(set === "notes" ? DOCUMENTS : join(ROOT, "examples", "corpus"), workroot, {
    recursive: true,
  });
  const config = join(home, `${set}.yaml`);
  const settings = {
    workroot,
    security: {
      allowed_roots: ["."],
      allowed_exts: [".md", ".txt", ".json", ".eml", ".csv", ".log"],
    },
    index: { sources: [{ name: set, root: "." }] },
    model: { provider: "extractive" },
  };
  writeFileSync(config, stringify(settings));
  const jobs = questions
    .filter((one) => one.set === set)
    .map(({ id, question }) => JSON.stringify({ custom_id: id, kind: "ask", question }));
  writeFileSync(join(home, `${set}.jsonl`), `${jobs.join("\n")}\n`);
  const place = { home, config };
  await runDesk(["index"], place);
  await runDesk(["enqueue", join(home, `${set}.jsonl`), "--batch-name", set, "--wait"], place);
  const lines = (await runDesk(["batch", "export", set], place)).trim().split("\n");
  const results = lines.map((line) => JSON.parse(line) as Result);
  return new Map(results.map((result) => [result.custom_id, result]));
}

/** A refusal that says that no word of the question was found has told why. */
function verdictOf(asked: AskedQuestion, result: Result | undefined): Verdict {
  const answer = result?.state === "succeeded" ? (result.answer ?? "").toLowerCase() : null;
  if (answer === null) return /No word of/.test(result?.error_message ?? "") ? "told" : "refused";
  const isRight =
    "expected" in asked &&
    asked.expected.every((spellings) =>
      spellings.some((one) => answer.includes(one.toLowerCase())),
    );
  return isRight ? "right" : "wrong";
}

const tally = new Map<string, Record<Verdict, number>>();
try {
  for (const set of SETS) {
    const results = await ask(set);
    for (const asked of questions.filter((one) => one.set === set)) {
      const result = results.get(asked.id);
      const verdict = verdictOf(asked, result);
      const counts = tally.get(asked.kind) ?? { right: 0, wrong: 0, refused: 0, told: 0 };
      counts[verdict] += 1;
      tally.set(asked.kind, counts);
      if (flags.items)
        console.log(
          `${asked.id} ${verdict}: ${asked.question}\n    ${result?.answer ?? result?.error_message ?? "-"}`,
        );
    }
  }
} finally {
  await stopDesk(
    home,
    SETS.map((set) => join(home, set, ".nightdesk")),
  );
  rmSync(home, { recursive: true, force: true });
}
console.log(
  (flags.kept ? "kept" : "tuned on").padEnd(10) + VERDICTS.map((one) => one.padEnd(9)).join(""),
);
for (const [kind, counts] of tally)
  console.log(kind.padEnd(10) + VERDICTS.map((one) => String(counts[one]).padEnd(9)).join(""));
