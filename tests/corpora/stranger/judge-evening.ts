import { holds } from "./read-stranger.ts";
import type { StrangerExtraction, StrangerQuestion, StrangerSummary } from "./read-stranger.ts";

/** What is asked in an evening. */
export type Evening = {
  readonly questions: readonly StrangerQuestion[];
  readonly summaries: readonly StrangerSummary[];
  readonly extractions: readonly StrangerExtraction[];
};

/** What a line of `batch export` says of a job. */
export type Result = {
  readonly custom_id: string;
  readonly state: string;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly answer: string | null;
  readonly scope: string | null;
  readonly citations: readonly { readonly path: string }[];
};

export const VERDICTS = ["right", "wrong", "refused rightly", "refused wrongly", "failed"] as const;
export type Verdict = (typeof VERDICTS)[number];

export type Validated = {
  readonly id: string;
  readonly kind: "questions" | "summaries" | "extractions";
  readonly lang: string;
  readonly asked: string;
  readonly verdict: Verdict;
  /** What was missed, or must not be there. */
  readonly faults: readonly string[];
  readonly result: Result;
};

/** The lines of a batch file, named by the items. */
export const jobsOf = ({ questions, summaries, extractions }: Evening): string =>
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

/** Whether each reply is right, by what was written down before. */
export function judgeEvening(
  { questions, summaries, extractions }: Evening,
  results: ReadonlyMap<string, Result>,
): Validated[] {
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

function judgeQuestion(item: StrangerQuestion, result: Result): Validated {
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

function judgeSummary(item: StrangerSummary, result: Result): Validated {
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

function judgeExtraction(item: StrangerExtraction, result: Result): Validated {
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
  kind: Validated["kind"],
  { id, lang, path }: StrangerSummary | StrangerExtraction,
  result: Result,
  faults: readonly string[],
): Validated => ({
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
export const answerOf = ({ answer, scope }: Result): string =>
  (answer ?? "").replace(scope ?? "", "").trim();

export const isFault = ({ verdict }: Validated): boolean =>
  verdict !== "right" && verdict !== "refused rightly";
