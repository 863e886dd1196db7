import type { EvidenceSpan } from "../../../shared/run-result.ts";
import type { Figure } from "./figure.ts";
import { findDates } from "./find-dates.ts";
import { findNumbers } from "./find-numbers.ts";
import type { CitableBlock } from "../number-evidence.ts";
import { findNumberWords } from "./number-words.ts";
import { placesIn } from "./place-in-evidence.ts";

/** Where the figures of a text stand. */
export type FigureIndex = {
  holds(figure: Figure): boolean;
  /** Where it stands first, in a piece with one of these numbers if there is one. */
  spanOf(figure: Figure, preferred: readonly number[]): EvidenceSpan | null;
};

/** What a text offers, with the figure that offers it. */
const offersOf = (text: string): Map<string, Figure> => {
  const offers = new Map<string, Figure>();
  for (const figure of [...findDates(text), ...findNumbers(text), ...findNumberWords(text)]) {
    for (const offer of figure.offers) if (!offers.has(offer)) offers.set(offer, figure);
  }
  return offers;
};

/** The figures of a text that is no evidence. */
export function indexQuestion(question: string): Pick<FigureIndex, "holds"> {
  const offers = offersOf(question);
  return { holds: ({ asks }) => asks.some((asked) => asked.every((one) => offers.has(one))) };
}

/** The figures of the pieces and of what stands beside them: their paths, titles and headings. */
export function indexFigures(evidence: readonly CitableBlock[]): FigureIndex {
  const labels = evidence.flatMap(({ path, title, headingPath }) => [path, title, headingPath]);
  const beside = offersOf([...new Set(labels)].filter((label) => label !== null).join("\n"));
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
