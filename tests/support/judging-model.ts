import { neutraliseText } from "../../src/worker/text/neutralise-text.ts";
import { drawNames, readExamPairs } from "../../src/worker/verify/judge/exam-pairs.ts";
import type { DoubleMessage } from "../doubles/ollama/double-model.ts";

/** good: says yes to what is right. nodding: to everything. sleeping: to nothing. */
export type JudgeMood = "good" | "nodding" | "sleeping";

const ASKED = /^s(\d+) \(lines (\d+)[^)]*\): (".*")$/gm;

/** Whether a prompt asks a judge of statements. */
export const isJudged = (messages: readonly DoubleMessage[]): boolean =>
  messages[0]?.content.startsWith("You compare statements") === true;

/** The statements that a judge is asked of, in order. */
export const statementsIn = (messages: readonly DoubleMessage[]): readonly string[] =>
  Array.from(contentOf(messages).matchAll(ASKED), ([, , , text = '""']) =>
    String(JSON.parse(text)),
  );

/** What a judge replies: of the exam it knows what is wrong, and what else it is asked of is right. */
export function judgeBy(
  mood: JudgeMood,
  messages: readonly DoubleMessage[],
  wrong: ReadonlySet<string>,
): string {
  const asked = Array.from(contentOf(messages).matchAll(ASKED));
  const statements = statementsIn(messages);
  return JSON.stringify(
    Object.fromEntries(
      asked.map(([, number, line], at) => {
        const isRight = !wrong.has(statements[at] ?? "");
        const isYes = mood === "nodding" || (mood === "good" && isRight);
        const [differs, says] = isYes ? ["nothing", "yes"] : ["figure", "no"];
        return [`s${number}`, { line: Number(line), differs, says }];
      }),
    ),
  );
}

/** The wrong statements of the exam as an installation draws them. */
export const wrongStatements = (fenceKey: Buffer): ReadonlySet<string> =>
  new Set(
    readExamPairs()
      .filter(({ isWrong }) => isWrong)
      .map((pair) => neutraliseText(drawNames(pair, fenceKey.toString("hex")).statement)),
  );

const contentOf = (messages: readonly DoubleMessage[]): string => messages.at(-1)?.content ?? "";
