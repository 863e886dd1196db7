import { readFileSync } from "node:fs";

/** A meeting of QMSum: what was said, and the questions with the answers that people wrote. */
export type Meeting = {
  readonly turns: readonly string[];
  readonly general: readonly { readonly answer: string }[];
  readonly specific: readonly {
    readonly question: string;
    readonly answer: string;
    /** Indices of the turns that people took the answer from. */
    readonly turns: ReadonlySet<number>;
  }[];
};

type Line = {
  readonly meeting_transcripts: readonly { readonly speaker: string; readonly content: string }[];
  readonly general_query_list: readonly { readonly answer: string }[];
  readonly specific_query_list: readonly {
    readonly query: string;
    readonly answer: string;
    readonly relevant_text_span: readonly (readonly [string, string])[];
  }[];
};

export const readMeetings = (file: string): Meeting[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => meetingOf(JSON.parse(line) as Line));

const meetingOf = (line: Line): Meeting => ({
  turns: line.meeting_transcripts.map(({ speaker, content }) => `${speaker}: ${spoken(content)}`),
  general: line.general_query_list,
  specific: line.specific_query_list.map(({ query, answer, relevant_text_span }) => ({
    question: query,
    answer,
    turns: new Set(relevant_text_span.flatMap(([from, to]) => range(Number(from), Number(to)))),
  })),
});

/** Without the marks of noises, and without the blanks that the tokeniser put before stops. */
const spoken = (content: string): string =>
  content
    .replace(/\{[a-z]+\}/g, " ")
    .replace(/\s+(?=[.,?!;:']|n't)/g, "")
    .replace(/\s+/g, " ")
    .trim();

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, offset) => from + offset);
