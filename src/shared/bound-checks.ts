import type { AnswerChecks } from "./run-result.ts";

/** Rows of each kind that a run keeps of an answer. The longest answers that people read have a few hundred. */
export const MOST_ROWS = 2_000;
/** UTF-16 units of the words that each row repeats. */
export const MOST_ROW_CHARS = 1_000;

/**
 * The checks of an answer as they are kept: of more than 2,000 quotes, figures or sentences those that are wrong first,
 * and the least supported sentences, in the order of the answer; of each, at most 1,000 characters. A long answer is
 * thus stored in moments, however many numbers it holds.
 */
export const boundChecks = ({ quotes, figures, sentences }: AnswerChecks): AnswerChecks => ({
  quotes: firstByWeight(quotes, ({ class: found }) =>
    found === "verbatim" || found === "normalised" ? 1 : 0,
  ).map((row) => ({ ...row, quote: cut(row.quote) })),
  figures: firstByWeight(figures, ({ flagged }) => (flagged ? 0 : 1)).map((row) => ({
    ...row,
    text: cut(row.text),
  })),
  sentences: firstByWeight(sentences, ({ score }) => score).map((row) => ({
    ...row,
    sentence: cut(row.sentence),
  })),
});

/** The rows of least weight, in their order. */
function firstByWeight<Row>(rows: readonly Row[], weightOf: (row: Row) => number): readonly Row[] {
  if (rows.length <= MOST_ROWS) return rows;
  return rows
    .map((row, index) => ({ row, index, weight: weightOf(row) }))
    .sort((one, other) => one.weight - other.weight || one.index - other.index)
    .slice(0, MOST_ROWS)
    .sort((one, other) => one.index - other.index)
    .map(({ row }) => row);
}

/** A pair of surrogates is not cut in two: Postgres stores no half of one. */
const cut = (text: string): string =>
  text.length <= MOST_ROW_CHARS ? text : `${text.slice(0, MOST_ROW_CHARS).toWellFormed()}…`;
