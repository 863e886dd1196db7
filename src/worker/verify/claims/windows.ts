import type { EvidenceSpan } from "../../../shared/job/run-result.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import { saidWithLabel } from "../../text/units/cut-units.ts";
import { onceEach } from "../../../shared/once.ts";
import { findCues } from "./find-cues.ts";
import { pairOf, readClaim } from "./pair.ts";
import type { Pair, ReadClaim } from "./pair.ts";
import { cellsIn, foldSentence, MOST_VERBATIM_CHARS, readPiece } from "./pieces.ts";
import type { ReadPiece, ReadUnit } from "./pieces.ts";
import { readTerms } from "./terms.ts";

/** A unit of a piece that may support a claim. */
export type Window = { readonly unit: ReadUnit; readonly piece: ReadPiece };

/** The opening of an answer to a yes-or-no question, before a statement. */
const VERDICT =
  /^(?:yes|no|never|certainly not|by no means|on no account|ja|nein|auf (?:gar )?keinen fall|keinesfalls|oui|non|en aucun cas|sí|de ninguna manera|en ningún caso|はい|いいえ)(?:[,:;.!–—-][ \u00A0]?|[ \u00A0][–—-][ \u00A0]|[、。])(?=\S)/iu;

export const withoutYes = (text: string): string => text.replace(VERDICT, "");

/** Finds the unit that says a claim word for word; null where none does. */
export function findVerbatim(text: string, pieces: readonly ReadPiece[]): Window | null {
  const folded = text.length > MOST_VERBATIM_CHARS ? "" : foldSentence(text);
  for (const piece of pieces) {
    const unit = piece.sentences.get(folded);
    if (unit !== undefined && !hasOtherCues(text, sliceOf(unit), unit)) return { unit, piece };
    const labelled = piece.labelled.get(folded);
    if (labelled !== undefined && !hasOtherCues(text, saidWithLabel(labelled), labelled))
      return { unit: labelled, piece };
  }
  return findCells(text, pieces);
}

/**
 * Finds a row that holds all named cells of a claim, also with other cells between them: "Invoice: 4472; Amount: 80.00", or
 * "4472 — Amount: 80.00" with the first cell of the row before the dash.
 */
function findCells(text: string, pieces: readonly ReadPiece[]): Window | null {
  const [first, rest] = text.split(FIRST_CELL, 2);
  const cells = rest === undefined ? cellsIn(text) : [foldSentence(first ?? ""), ...cellsIn(rest)];
  if (cells.length < 2) return null;
  for (const piece of pieces) {
    const unit = piece.units.find((one) => cells.every((cell) => one.namedCells().has(cell)));
    if (unit !== undefined) return { unit, piece };
  }
  return null;
}

/** As extractive answers show a row. */
const FIRST_CELL = " — ";

/** "Die Pumpe wurde ersetzt" and "würde" are equal when folded, but their cues differ. */
const hasOtherCues = (text: string, said: string, { language }: ReadUnit): boolean =>
  cuesIn(text, language) !== cuesIn(said, language);

const sliceOf = ({ block, start, end }: ReadUnit): string => block.text.slice(start, end);

const cuesIn = (text: string, language: ReadUnit["language"]): string =>
  findCues(text, readTerms(text, language), language)
    .map(({ name, word }) => `${name} ${word}`)
    .join();

/** A shorter quote could be in many sentences. */
const SHORTEST_QUOTE = 12;

/** The units that hold a quote or are part of it; null for a quote that is too short to search. */
export function findQuoted(quote: string, pieces: readonly ReadPiece[]): Window[] | null {
  const folded = foldSentence(quote.slice(0, MOST_VERBATIM_CHARS));
  if (folded.length < SHORTEST_QUOTE) return null;
  return pieces.flatMap((piece) =>
    [...piece.sentences].flatMap(([sentence, unit]) => {
      const holds = ` ${sentence} `.includes(` ${folded} `);
      const isPart = sentence.length >= SHORTEST_QUOTE && ` ${folded} `.includes(` ${sentence} `);
      return holds || isPart ? [{ unit, piece }] : [];
    }),
  );
}

/** The number of units that the rules compare with a claim. */
export const MOST_WINDOWS = 8;

/** Weighs a word: the more units hold it, the less it weighs. */
export function weigher(pieces: readonly ReadPiece[]): (stem: string) => number {
  const units = pieces.reduce((sum, piece) => sum + piece.units.length, 0);
  return onceEach((stem) => Math.log(1 + units / (1 + countHolders(stem, pieces))));
}

const countHolders = (stem: string, pieces: readonly ReadPiece[]): number =>
  pieces.reduce(
    (sum, piece) =>
      sum +
      piece.relatedTo(stem).reduce((of, other) => of + (piece.holders.get(other)?.length ?? 0), 0),
    0,
  );

/** The units to compare where no unit holds a word of the claim: its figures and names are still searched in the pieces. */
export const firstUnits = (pieces: readonly ReadPiece[]): Window[] =>
  pieces.flatMap((piece) => piece.units.slice(0, 1).map((unit) => ({ unit, piece })));

/** Finds the units that hold most of a claim, by its words and figures. */
export function findWindows(
  { content, figures }: ReadClaim,
  pieces: readonly ReadPiece[],
  weightOf: (stem: string) => number,
): Window[] {
  const scored = pieces.flatMap((piece) => {
    const sums = new Map<number, number>();
    const touch = (at: number, weight: number): void => {
      if (at >= 0) sums.set(at, (sums.get(at) ?? 0) + weight);
    };
    for (const { stem } of content) {
      const held = new Set(
        piece.relatedTo(stem).flatMap((other) => piece.holders.get(other) ?? []),
      );
      for (const at of held) touch(at, weightOf(stem));
    }
    for (const { asks } of figures) {
      const held = new Set(asks.slice(0, 4).flatMap((one) => piece.offers().get(one) ?? []));
      for (const at of held) touch(at, FIGURE_WEIGHT);
    }
    return [...sums].flatMap(([at, score]) => {
      const unit = piece.units[at];
      return unit === undefined ? [] : [{ unit, piece, score }];
    });
  });
  return scored
    .sort((one, other) => other.score - one.score || one.unit.at - other.unit.at)
    .slice(0, MOST_WINDOWS);
}

const FIGURE_WEIGHT = 2;

/** Pairs a claim with each unit, those that hold most of it first. */
export const pairsOf = (
  claim: ReadClaim,
  windows: readonly Window[],
  around: Pick<Pair, "cited" | "question">,
  weightOf: (stem: string) => number,
): Pair[] =>
  windows
    .map(({ unit, piece }) => pairOf(claim, { unit, piece, ...around, weightOf }))
    .sort((one, other) => other.share - one.share);

/**
 * The place in a piece that says most of a claim: the whole sentence, or the unit that holds most of its words and figures.
 * Null where that unit holds less than `LEAST_NEAR` of them.
 */
export function nearestPlace(claim: string, block: CitableBlock): EvidenceSpan | null {
  const text = withoutYes(claim);
  const piece = readPiece(block);
  const whole = findVerbatim(text, [piece]);
  if (whole !== null) return piece.placeOf(whole.unit.start, whole.unit.end);
  const read = readClaim(text, piece.units[0]?.language ?? null);
  const weightOf = weigher([piece]);
  const around = { cited: [piece], question: read };
  const [best] = pairsOf(read, findWindows(read, [piece], weightOf), around, weightOf);
  if (best === undefined || best.share < LEAST_NEAR) return null;
  return piece.placeOf(best.unit.start, best.unit.end);
}

/** Where two pieces support a claim together, each holds about half of its words. */
const LEAST_NEAR = 0.3;
