import { labelsOf, placesIn } from "../../evidence/number.ts";
import type { CitableBlock, PlaceInFile } from "../../evidence/number.ts";
import { withoutNoteMarks } from "../../text/clean-text.ts";
import { foldWords } from "../../text/fold-words.ts";
import type { TextSpan } from "../../text/spans.ts";
import { saidWithLabel } from "../../text/units/cut-units.ts";
import { joinLines } from "../../text/units/line-breaks.ts";
import { once, onceEach } from "../../../shared/once.ts";
import { cutSegments } from "./segments.ts";
import { findCodes } from "../../text/figures/codes.ts";
import { findCues } from "./find-cues.ts";
import type { Cue } from "./find-cues.ts";
import { readFigures } from "../../text/figures/read-figures.ts";
import type { ClaimFigure } from "../../text/figures/read-figures.ts";
import { foldWord } from "../../../shared/text/normalise-text.ts";
import { areRelated, readTerms } from "./terms.ts";
import type { Term } from "./terms.ts";
import { unitsOf } from "./units.ts";
import type { Unit } from "./units.ts";
import { groupBy } from "../../../shared/group-by.ts";

/** A unit with everything that the rules look up in it; the functions compute their value at the first call. */
export type ReadUnit = Unit & {
  readonly at: number;
  readonly terms: readonly Term[];
  /** The places of each stem among the terms. */
  readonly stems: ReadonlyMap<string, readonly number[]>;
  readonly figures: () => readonly ClaimFigure[];
  /** Figures of its headings, the nearest first, and last those of path and title. */
  readonly labelFigures: () => readonly (readonly ClaimFigure[])[];
  readonly cues: () => readonly Cue[];
  readonly segments: () => readonly TextSpan[];
  /** Cells behind their names, and the first of a row, folded. */
  readonly namedCells: () => ReadonlySet<string>;
};

/** A piece of evidence as the rules read it. */
export type ReadPiece = {
  readonly block: CitableBlock;
  readonly units: readonly ReadUnit[];
  /** The places of the units that hold each stem, in order. */
  readonly holders: ReadonlyMap<string, readonly number[]>;
  /** The units by their folded sentence. */
  readonly sentences: ReadonlyMap<string, ReadUnit>;
  /** The units by their folded sentence behind their label. The label names the frame, so `frame` is null here. */
  readonly labelled: ReadonlyMap<string, ReadUnit>;
  /** Stems of path, title and headings, which belong to every unit. */
  readonly labels: ReadonlySet<string>;
  /** All words of the piece and its labels, folded. */
  readonly words: ReadonlySet<string>;
  readonly folded: () => string;
  readonly codes: () => ReadonlySet<string>;
  /** The places of the units that hold each key of a figure; -1 for path and title. */
  readonly offers: () => ReadonlyMap<string, readonly number[]>;
  /** Figures of path and title. */
  readonly labelFigures: () => readonly ClaimFigure[];
  /** The stems of the piece that are forms of the same word. */
  readonly relatedTo: (stem: string) => readonly string[];
  readonly placeOf: PlaceInFile;
};

const read = new WeakMap<CitableBlock, ReadPiece>();

/** Reads a piece, and remembers the result while the piece is in use: all answers of a run use the same pieces. */
export function readPiece(block: CitableBlock): ReadPiece {
  const known = read.get(block);
  if (known !== undefined) return known;
  const piece = indexPiece(block);
  read.set(block, piece);
  return piece;
}

function indexPiece(block: CitableBlock): ReadPiece {
  const [path = "", ...headed] = labelsOf(block);
  const labelText = [path.replaceAll("_", " "), ...headed].join(" | ").slice(0, 1_000);
  const cut = unitsOf(block);
  const language = cut[0]?.language ?? null;
  const labelFigures = once(() => readFigures(labelText, language));
  const units = cut.map((unit, at) => readUnit(unit, at, labelFigures));
  const holders = new Map<string, number[]>();
  const sentences = new Map<string, ReadUnit>();
  const labelled = new Map<string, ReadUnit>();
  units.forEach((unit) => {
    for (const stem of unit.stems.keys()) addOnce(holders, stem, unit.at);
    const bare = withoutNoteMarks(unit.block.text, unit);
    const isMarked = bare.start > unit.start || bare.end < unit.end;
    for (const { start, end } of isMarked ? [unit, bare] : [unit]) {
      const folded = foldSentence(joinLines(unit.block.text.slice(start, end)));
      if (folded !== "" && !sentences.has(folded)) sentences.set(folded, unit);
    }
    if (unit.label !== null && unit.kind !== "pair")
      labelled.set(foldSentence(saidWithLabel(unit)), { ...unit, frame: null });
  });
  const headings = units.filter(({ kind }) => kind === "heading");
  const labelTerms = [
    ...readTerms(labelText, language),
    ...headings.flatMap(({ terms }) => terms.slice(0, MOST_LABEL_TERMS)),
  ];
  const labels = new Set(labelTerms.filter(({ isContent }) => isContent).map(({ stem }) => stem));
  return {
    block,
    units,
    holders,
    sentences,
    labelled,
    labels,
    words: new Set([...units.flatMap(({ terms }) => terms), ...labelTerms].map(({ word }) => word)),
    folded: once(() => foldSpaces(`${block.text} ${labelText}`)),
    codes: once(() => new Set(findCodes(`${block.text}\n${labelText}`).map(({ text }) => text))),
    offers: once(() => offersOf(units, labelFigures())),
    labelFigures,
    relatedTo: relatedStems([...holders.keys(), ...labels]),
    placeOf: placesIn(block),
  };
}

const MOST_LABEL_TERMS = 24;

/** Folds a text for the comparison of codes: lower case, single spaces. */
export const foldSpaces = (text: string): string => text.toLowerCase().replace(/\s+/g, " ");

function addOnce<K>(lists: Map<K, number[]>, key: K, value: number): void {
  const held = lists.get(key);
  if (held === undefined) lists.set(key, [value]);
  else if (held.at(-1) !== value) held.push(value);
}

function offersOf(
  units: readonly ReadUnit[],
  labels: readonly ClaimFigure[],
): Map<string, number[]> {
  const offers = new Map<string, number[]>();
  for (const figure of labels) for (const offer of figure.offers) addOnce(offers, offer, -1);
  for (const unit of units) {
    for (const figure of unit.figures())
      for (const offer of figure.offers) addOnce(offers, offer, unit.at);
  }
  return offers;
}

function readUnit(unit: Unit, at: number, ofPiece: () => readonly ClaimFigure[]): ReadUnit {
  const terms = readTerms(unit.text, unit.language);
  const stems = new Map<string, number[]>();
  terms.forEach(({ stem }, place) => {
    addOnce(stems, stem, place);
  });
  const text = unit.block.isOutput === true ? unit.text.replace(COUNT_OF, " ") : unit.text;
  const figures = once(() => readFigures(text, unit.language));
  return {
    ...unit,
    at,
    terms,
    stems,
    figures,
    namedCells: once(() => new Set([...cellsIn(unit.text), ...unit.cells.map(foldSentence)])),
    labelFigures: once(() => [
      ...unit.headings.map((heading) => readFigures(heading, unit.language)).reverse(),
      ofPiece(),
    ]),
    // "May" is a month in "9 May", and permits nothing.
    cues: once(() =>
      findCues(unit.text, terms, unit.language).filter(
        ({ start, end }) => !figures().some((one) => one.start <= start && end <= one.end),
      ),
    ),
    segments: once(() => cutSegments(unit.text, unit.kind === "row" ? "cells" : "clauses")),
  };
}

/** `grep -c` prints `logs/monday.log:4`, which in prose would name a line of a file. */
const COUNT_OF = /(?<=[^\s:]):(?=\d{1,12}\s*$)/gm;

const BEGINNING = 4;

/** Finds related stems by their first letters, each once. */
function relatedStems(all: readonly string[]): (stem: string) => readonly string[] {
  const byBeginning = groupBy(new Set(all), (stem) => stem.slice(0, BEGINNING));
  return onceEach((stem) =>
    (byBeginning.get(stem.slice(0, BEGINNING)) ?? []).filter((other) => areRelated(stem, other)),
  );
}

const ITEM_MARK = /^\s*(?:[-*+•・>]|\d{1,3}[.)])\s+/;

/** Folds a sentence for a comparison word for word: without the mark of its item, stops at its end, and case. */
export function foldSentence(sentence: string): string {
  const words = foldWords(sentence.replace(ITEM_MARK, "")).map(({ text }) => foldWord(text));
  while (/^[.!?;:,。!?…]$/u.test(words.at(-1) ?? "")) words.pop();
  return words.join(" ");
}

/** A longer text is compared with no sentence. */
export const MOST_VERBATIM_CHARS = 4_000;

/** The named cells of a text, folded; none where any part has no name. */
export function cellsIn(text: string): readonly string[] {
  if (text.length > MOST_VERBATIM_CHARS) return [];
  const parts = text.split(/[;|]/);
  return parts.every((part) => part.includes(":")) ? parts.map(foldSentence) : [];
}
