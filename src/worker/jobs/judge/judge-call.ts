import type { Refusal } from "../../../shared/failure.ts";
import { callForText } from "../../answer/call-model.ts";
import type { CallParts } from "../../answer/call-model.ts";
import { renderPrompt, UNTRUSTED_EVIDENCE } from "../../answer/prompt.ts";
import type { PromptTemplate } from "../../answer/prompt.ts";
import { schemaOverride } from "../../answer/repair-loop.ts";
import { fenceBoundary, fenceEvidence, quoteName } from "../../evidence/fence.ts";
import type { AskedStatement, Auditor, JudgeLine } from "../../evidence/types.ts";
import { firstCodePoints } from "../../text/clean-text.ts";
import { objectSchema } from "../../text/model-json.ts";
import { DIFFERENCES, readVerdicts, SAYS, UNCLEAR } from "../../verify/judge/verdicts.ts";
import type { ShownLines, Verdict } from "../../verify/judge/verdicts.ts";
import { append } from "../../../shared/group-by.ts";

/** More statements per call are not cheaper each, and the model confuses them more often. */
export const MOST_STATEMENTS = 10;
const MOST_LINE_CHARS = 700;
const MOST_SOURCE_CHARS = 300;
const MOST_STATEMENT_CHARS = 2_000;
const TOKENS_A_VERDICT = 32;
const TOKENS_AROUND = 40;

export const JUDGE_PROMPT: PromptTemplate<"statements"> = {
  version: "grade/2",
  slots: ["statements"],
  system: `You compare statements with lines of documents. Who wrote the statements is unknown, and nobody says that they are right.
For each statement you say whether its lines, under the file and headings that they stand below, say all of it.

You reply with one JSON object and nothing before or after it, with one key for each statement:
{"s1": {"line": 3, "differs": "nothing", "says": "yes"}, "s2": {"line": 5, "differs": "name", "says": "no"}}

Rules:
- "line" is the number of the line that decides, one of those that stand beside the statement.
- "differs" names what is not the same in the statement and its lines: ${DIFFERENCES.join(", ")}.
- "says" is "yes" only if the lines say everything that the statement says, in these or in other words; "no" if they say something else,
  or do not say it; "unclear" if nobody can tell.
- What you know from elsewhere counts for nothing.
- "total = 5" says that 5 is the value of "total": "no" if its lines give that as the value of something else.
- A question, an example, an open task, a plan, or what somebody merely claims is no fact: a statement that makes a fact of it is a "no".

${UNTRUSTED_EVIDENCE}`,
  user: `{{evidence}}

Statements, each with the numbers of its lines:
{{statements}}

Reply with the JSON object alone.`,
};

type JudgeCall = Auditor & {
  readonly statements: readonly AskedStatement[];
  readonly fenceKey: Buffer;
};

/**
 * Asks about at most ten statements in one call and returns their verdicts in order. If a reply holds no verdicts, it asks once
 * more in two halves. It returns a refusal of the host: the caller decides what that means.
 */
export async function askJudge(
  call: JudgeCall,
  parts: CallParts,
): Promise<readonly Verdict[] | Refusal> {
  const verdicts = await askOnce(call, parts);
  if (verdicts !== null) return verdicts;
  const { statements } = call;
  const half = Math.ceil(statements.length / 2);
  if (statements.length < 2) return [UNCLEAR];
  const given: Verdict[] = [];
  for (const some of [statements.slice(0, half), statements.slice(half)]) {
    const again = (await askOnce({ ...call, statements: some }, parts)) ?? some.map(() => UNCLEAR);
    if ("kind" in again) return again;
    given.push(...again);
  }
  return given;
}

async function askOnce(
  { model, choice, statements, fenceKey }: JudgeCall,
  parts: CallParts,
): Promise<readonly Verdict[] | Refusal | null> {
  const { text, shown } = numberLines(statements);
  const boundary = fenceBoundary(JUDGE_PROMPT.version, [text], fenceKey);
  const block = { number: 1, path: "lines", title: null, headingPath: null, text };
  const asked = statements.map(({ text: words }, at) => {
    const numbers = shown[at]?.join(", ") ?? "";
    return `s${String(at + 1)} (lines ${numbers}): ${quoteName(firstCodePoints(words, MOST_STATEMENT_CHARS))}`;
  });
  const prompt = renderPrompt(JUDGE_PROMPT, {
    values: { statements: asked.join("\n") },
    boundary,
    evidence: { text: fenceEvidence([block], boundary), shown: [] },
  });
  const reply = await callForText(
    {
      pass: "grade",
      model,
      choice: { ...choice, maxTokens: TOKENS_A_VERDICT * statements.length + TOKENS_AROUND },
      prompt,
      task: { purpose: "chat" },
      overrides: { temperature: 0, ...schemaOverride(model, formatOf(shown)) },
    },
    parts,
  );
  if (reply.kind === "refused") return reply;
  return readVerdicts(reply.text, shown);
}

/** Fixed keys, so that a reply can't leave out or repeat a statement. No free text: it is slow under a schema. */
const formatOf = (shown: ShownLines): Readonly<Record<string, unknown>> =>
  objectSchema(
    Object.fromEntries(
      shown.map((_, at) => [
        `s${String(at + 1)}`,
        objectSchema({
          line: { type: "integer" },
          differs: { type: "string", enum: DIFFERENCES },
          says: { type: "string", enum: SAYS },
        }),
      ]),
    ),
  );

/** Numbers each distinct line once per call, below its source; `shown` holds the numbers for each statement. */
function numberLines(statements: readonly AskedStatement[]): {
  readonly text: string;
  readonly shown: ShownLines;
} {
  const bySource = new Map<string, string[]>();
  const numbers = new Map<string, number>();
  const shown = statements.map(({ lines }) =>
    lines.map(({ source, text }) => {
      const words = onOneLine(text, MOST_LINE_CHARS);
      const key = JSON.stringify([source, words]);
      const known = numbers.get(key);
      if (known !== undefined) return known;
      const number = numbers.size + 1;
      numbers.set(key, number);
      append(bySource, source, `${String(number)}: ${words}`);
      return number;
    }),
  );
  const text = Array.from(bySource, ([source, lines]) =>
    [`# ${onOneLine(source, MOST_SOURCE_CHARS)}`, ...lines].join("\n"),
  ).join("\n");
  return { text, shown };
}

/** Text of a document on one line can't start a line that looks like one of ours. */
const onOneLine = (text: string, mostChars: number): string =>
  firstCodePoints(text.replace(/\s+/g, " ").trim(), mostChars);

/** A line with its source, for a checker that gets both as one text. */
export const sourcedLine = ({ source, text }: JudgeLine): string =>
  `${onOneLine(source, MOST_SOURCE_CHARS)}: ${onOneLine(text, MOST_LINE_CHARS)}`;

export const statementLine = (text: string): string => onOneLine(text, MOST_STATEMENT_CHARS);
