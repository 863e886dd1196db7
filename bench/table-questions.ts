// Questions over tables in six layouts (tests/corpora/tables): cells, rows counted, columns added up, and what the tables do not
// say. What the extractive model says is held against the rules for answers, and counted as it is then given. An answer is
// alone where no other row is named beside it.
// node --import ./bench/register.js bench/table-questions.ts [--kept] [--show]
import { parseArgs } from "node:util";
import { DECLINED } from "../src/worker/models/model.ts";
import { textFor } from "../src/worker/models/extractive/text-for.ts";
import { checkAnswer } from "../src/worker/verify/check-answer.ts";
import { evidenceOf, readTableQuestions } from "../tests/corpora/tables/read-tables.ts";
import type { TablePart, TableQuestion } from "../tests/corpora/tables/read-tables.ts";

const { values: flags } = parseArgs({
  options: { kept: { type: "boolean", default: false }, show: { type: "boolean", default: false } },
});
const part: TablePart = flags.kept ? "kept" : "development";
const FOOTER = "Scope: tables";
const VERDICTS = ["alone", "right", "wrong", "refused"] as const;
type Verdict = (typeof VERDICTS)[number];

/** The answer as it is given; null where there is none. */
async function answerTo(item: TableQuestion): Promise<string | null> {
  const evidence = await evidenceOf(part, item);
  const { question } = item;
  const reply = textFor({ purpose: "answer", question, evidence, sentences: 3 });
  const checked = checkAnswer(
    { text: reply, toolCalls: [], doneReason: "stop" },
    {
      ...{ footer: FOOTER, question, evidence, citations: "required", requireInSnapshot: true },
      ...{ headingMatch: "exact", normalizeHeading: true, unsupported: "drop" },
    },
  );
  if (flags.show && reply !== DECLINED && checked.kind !== "passed")
    console.log(`${item.id} not passed: ${reply}`);
  return checked.kind === "passed" ? checked.body : null;
}

/** Without what parts digits. */
const figureIn = (text: string): string => text.replace(/(?<=\d)[.,'\u00A0\u202F ](?=\d)/g, "");

function verdictOf({ kind, expected, rivals }: TableQuestion, answer: string | null): Verdict {
  if (answer === null) return "refused";
  if (kind === "count" && answer.includes("\n")) return "wrong";
  const fold = kind === "sum" ? figureIn : (text: string) => text;
  if (expected.length === 0 || !expected.every((one) => fold(answer).includes(fold(one))))
    return "wrong";
  return rivals.some((rival) => answer.includes(rival)) ? "right" : "alone";
}

const tally = new Map<string, Record<Verdict, number>>();
for (const item of readTableQuestions(part)) {
  const answer = await answerTo(item);
  const verdict = verdictOf(item, answer);
  const counts = tally.get(item.kind) ?? { alone: 0, right: 0, wrong: 0, refused: 0 };
  counts[verdict] += 1;
  tally.set(item.kind, counts);
  if (flags.show && verdict !== (item.kind === "none" ? "refused" : "alone"))
    console.log(`${item.id} ${item.kind} ${verdict}: ${item.question}\n    ${answer ?? "-"}`);
}

console.log(`${part}   ${VERDICTS.map((verdict) => verdict.padEnd(9)).join("")}`);
for (const [kind, counts] of tally)
  console.log(`${kind.padEnd(14)}${VERDICTS.map((one) => String(counts[one]).padEnd(9)).join("")}`);
process.exit(0);
