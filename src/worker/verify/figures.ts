import type { EvidenceSpan, FigureRecord } from "../../shared/job/run-result.ts";
import { labelsOf, placesIn } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { findDates } from "../text/figures/dates.ts";
import { findNumberWords } from "../text/figures/number-words.ts";
import { findNumbers } from "../text/figures/numbers.ts";
import type { Figure } from "../text/figures/numbers.ts";
import { withoutSpans } from "../text/clean-text.ts";

/** The number of a list item or of a heading. */
const LIST_MARK = /^[ \t>*+#_-]{0,12}\d{1,3}[.)][*_]{0,2}(?=[ \t])/gm;

/**
 * Looks up the numbers and dates of an answer in question and evidence. One that is in neither is flagged, so also each sum and
 * count that the model made. "1,200" is 1200, "3 May 2024" is 2024-05-03, "6 pm" is 18:00, and "two" is 2; units, percent signs
 * and ordinals do not matter. Numbers of lists are skipped.
 *
 * @param text with citations and links replaced by spaces
 * @param citedAt returns the numbers of the pieces that are cited at an offset of the text
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

/** An index of the figures of texts. */
type FigureIndex = {
  holds(figure: Figure): boolean;
  /** Its first place, in a piece with one of the preferred numbers if possible. */
  spanOf(figure: Figure, preferred: readonly number[]): EvidenceSpan | null;
};

/** The keys of a text's figures, each with its first figure. */
const offersOf = (text: string): Map<string, Figure> => {
  const offers = new Map<string, Figure>();
  for (const figure of [...findDates(text), ...findNumbers(text), ...findNumberWords(text)]) {
    for (const offer of figure.offers) if (!offers.has(offer)) offers.set(offer, figure);
  }
  return offers;
};

/** Indexes the figures of the question. */
function indexQuestion(question: string): Pick<FigureIndex, "holds"> {
  const offers = offersOf(question);
  return { holds: ({ asks }) => asks.some((asked) => asked.every((one) => offers.has(one))) };
}

/** Indexes the figures of the pieces, and of their paths, titles and headings. */
function indexFigures(evidence: readonly CitableBlock[]): FigureIndex {
  const beside = offersOf([...new Set(evidence.flatMap(labelsOf))].join("\n"));
  const pieces = evidence.map((block) => ({
    number: block.number,
    offers: offersOf(block.text),
    placeOf: placesIn(block),
  }));
  const isOffered = (one: string): boolean =>
    beside.has(one) || pieces.some(({ offers }) => offers.has(one));
  return {
    holds: ({ asks }) => asks.some((asked) => asked.every(isOffered)),
    spanOf({ asks }, preferred) {
      const wanted = asks.find((asked) => asked.every(isOffered))?.[0] ?? "";
      const holders = pieces.filter(({ offers }) => offers.has(wanted));
      const holder = holders.find(({ number }) => preferred.includes(number)) ?? holders[0];
      const found = holder?.offers.get(wanted);
      return holder === undefined || found === undefined
        ? null
        : holder.placeOf(found.start, found.end);
    },
  };
}
