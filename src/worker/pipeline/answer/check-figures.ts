import type { FigureRecord } from "../../../shared/run-result.ts";
import type { Figure } from "./figure.ts";
import { findDates } from "./find-dates.ts";
import { findNumbers } from "./find-numbers.ts";
import { indexFigures, indexQuestion } from "./index-figures.ts";
import type { CitableBlock } from "../number-evidence.ts";
import { withoutSpans } from "./resolve-citations.ts";

/** The number of a list item or of a heading. */
const LIST_MARK = /^[ \t>*+#_-]{0,12}\d{1,3}[.)][*_]{0,2}(?=[ \t])/gm;

/**
 * The numbers and dates of an answer, each held against question and evidence: flagged is what stands in neither, which
 * includes every sum and count of the model's own. "1,200" is 1200, "3 May 2024" is 2024-05-03, "6 pm" is 18:00 and a
 * 2 stands where "two" does; units, signs of percent and ordinals do not count. Marks of lists are none.
 *
 * @param text without citations and links, blanked
 * @param citedAt numbers of the pieces that are cited at an offset of the text
 */
export function checkFigures(
  text: string,
  question: string,
  evidence: readonly CitableBlock[],
  citedAt: (offset: number) => readonly number[],
): FigureRecord[] {
  const figures = figuresIn(text);
  if (figures.length === 0) return [];
  const asked = indexQuestion(question);
  const read = indexFigures(evidence);
  return figures.map((figure) => {
    const standsIn = whereOf(read.holds(figure), asked.holds(figure));
    return {
      kind: figure.kind,
      text: text.slice(figure.start, figure.end),
      standsIn,
      flagged: standsIn === "neither",
      span: read.spanOf(figure, citedAt(figure.start)),
    };
  });
}

function figuresIn(text: string): Figure[] {
  const prose = text.replace(LIST_MARK, (mark) => " ".repeat(mark.length));
  const dates = findDates(prose);
  return [...dates, ...findNumbers(withoutSpans(prose, dates))].sort(
    (one, other) => one.start - other.start,
  );
}

export function whereOf(evidence: boolean, question: boolean): FigureRecord["standsIn"] {
  if (evidence) return question ? "both" : "evidence";
  return question ? "question" : "neither";
}
