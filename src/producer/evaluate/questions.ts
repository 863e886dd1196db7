import { z } from "zod";
import { Failure } from "../../shared/failure.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { parseObject } from "../../shared/enqueue/parse-line.ts";
import { openInput, readLines } from "../../shared/enqueue/read-lines.ts";
import type { Line } from "../../shared/enqueue/read-lines.ts";
import { issueText, ruleWords } from "../../shared/config/issue-words.ts";

const MOST_QUESTION_CHARS = 20_000;
const text = z.string("is no text").trim().min(1, "is empty");
const TEXT_OR_LIST = "is neither a text nor a list";
/** A fact, or its possible spellings. */
const fact = z.union([text.transform((said) => [said]), z.array(text).min(1)], TEXT_OR_LIST);

const questionSchema = z
  .strictObject({
    id: text.max(512, "is longer than 512 characters").optional(),
    question: text.max(MOST_QUESTION_CHARS, `is longer than ${MOST_QUESTION_CHARS} characters`),
    language: text.optional(),
    kind: text.optional(),
    expected: z
      .union([text.transform((said) => [[said]]), z.array(fact).min(1)], TEXT_OR_LIST)
      .optional(),
    files: z.array(text).min(1).optional(),
    unanswerable: z.union([z.boolean(), text]).optional(),
    /** The passage that `--make` used; it has no influence on the score. */
    passage: text.optional(),
  })
  .refine(
    ({ expected, files, unanswerable = false }) =>
      unanswerable !== false || expected !== undefined || files !== undefined,
    "says neither `expected`, nor `files`, nor `unanswerable`",
  );

/** A question, and the conditions for a right answer. */
export type Question = {
  readonly id: string;
  readonly question: string;
  /** Empty if the file does not give it. */
  readonly language: string;
  readonly kind: string;
  /** Facts, each with its spellings: a right answer holds one spelling of each fact. */
  readonly expected: readonly (readonly string[])[];
  /** Files that hold the answer. */
  readonly files: readonly string[];
  /** It should be refused; an answer with the expected facts, such as the correction of a false premise, is right too. */
  readonly isUnanswerable: boolean;
};

export type QuestionFile = { readonly name: string; readonly questions: readonly Question[] };

const MOST_QUESTIONS = 20_000;
const MOST_PROBLEMS = 5;

/**
 * Reads a file of questions, one JSON object per line; a question without an id is named by its line.
 * @throws Failure INPUT_INVALID with the first invalid lines, and why
 */
export async function readQuestions(file: string): Promise<QuestionFile> {
  const input = await openInput(file, process.stdin, "question");
  const questions = new Map<string, Question>();
  const problems: string[] = [];
  try {
    for await (const lines of readLines(input.chunks)) {
      for (const line of lines) {
        const read = parseQuestion(line);
        if (typeof read === "string") problems.push(`line ${line.number} ${read}`);
        else if (questions.has(read.id)) {
          problems.push(
            `line ${line.number} has the id ${JSON.stringify(read.id)} of a line before`,
          );
        } else questions.set(read.id, read);
      }
      if (questions.size > MOST_QUESTIONS) break;
    }
  } finally {
    await input.close();
  }
  refuseBad(file, questions.size, problems);
  return { name: input.name, questions: [...questions.values()] };
}

function refuseBad(file: string, count: number, problems: readonly string[]): void {
  const refuse = (why: string): never => {
    throw new Failure(
      "INPUT_INVALID",
      `${file}: ${why} Expected one question a line, such as ` +
        '{"question": "When is pay day?", "expected": ["the 28th"]} or {"question": "…", "unanswerable": true}.',
    );
  };
  if (count > MOST_QUESTIONS) refuse(`it holds more than ${MOST_QUESTIONS} questions.`);
  if (problems.length > 0) {
    const shown = problems.slice(0, MOST_PROBLEMS).join("; ");
    refuse(`${countOf(problems.length, "line")} can't be taken: ${shown}.`);
  }
  if (count === 0) refuse("it holds no question.");
}

function parseQuestion(line: Line): Question | string {
  if ("problem" in line) return line.problem;
  const value = parseObject(line.text);
  if (typeof value === "string") return value;
  const parsed = questionSchema.safeParse(value, { error: ruleWords });
  if (!parsed.success) return parsed.error.issues.map(issueText).join("; ");
  const { id, question, language = "", kind = "", expected, files, unanswerable } = parsed.data;
  return {
    id: id ?? `line ${line.number}`,
    question,
    language,
    kind,
    expected: expected ?? [],
    files: files ?? [],
    isUnanswerable: unanswerable !== undefined && unanswerable !== false,
  };
}
