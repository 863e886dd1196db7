import { wordFile } from "../../../shared/text/word-lists.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { AskedStatement } from "../../evidence/types.ts";
import type { PureWork } from "../../offload/offload.ts";
import { countCodePoints } from "../../text/clean-text.ts";
import { findNumbers, parseNumber } from "../../text/figures/numbers.ts";
import { holdsDenial } from "../../text/units/frames.ts";
import type { FieldValue } from "../bindings/quoted-fields.ts";
import { unitsOf } from "../claims/units.ts";
import type { Unit } from "../claims/units.ts";
import { shuffled } from "./exam-pairs.ts";
import { besideFields, isJudgeable } from "./judged-fields.ts";
import { linesFor } from "./judged-lines.ts";

/** A statement over the user's own documents, for the judge. */
export type OwnPair = {
  readonly isWrong: boolean;
  /** The source of `isWrong`: a machine that changed or copied a sentence, or a person who decided on an answer. */
  readonly by: "machine" | "person";
  readonly statement: AskedStatement;
};

/** A passage of a document. */
type OwnPassage = { readonly path: string; readonly text: string };
/** A statement of an answer that a person accepted or not, with the passage that it came from. */
export type DecidedStatement = OwnPassage & {
  readonly statement: string;
  readonly isWrong: boolean;
};

/** A value of an extraction that a person accepted or not, with the passage that holds its quote. */
export type DecidedField = OwnPassage & {
  readonly field: FieldValue;
  readonly quote: string;
  readonly isWrong: boolean;
};

type Drawn = {
  readonly decided: readonly DecidedStatement[];
  readonly fields: readonly DecidedField[];
  readonly passages: readonly OwnPassage[];
  /** Limit of pairs. */
  readonly most: number;
  readonly seed: string;
};

export const OWN_PAIRS: PureWork<Drawn, readonly OwnPair[]> = {
  home: import.meta.url,
  run: ownPairs,
};

/**
 * Draws statements and fields that people decided on, in turn, and then sentences of passages, one document after the other:
 * half of them unchanged, half with one change.
 */
export function ownPairs({ decided, fields, passages, most, seed }: Drawn): readonly OwnPair[] {
  const statements = decided.map(({ isWrong, statement, ...passage }): OwnPair => {
    return { isWrong, by: "person", statement: withLines(statement, blockOf(passage)) };
  });
  const values = fields.filter(({ field }) => isJudgeable(field)).flatMap(pairOfField);
  const turns = Array.from({ length: most }, (_, at) => [statements[at], values[at]]);
  const byPeople = turns
    .flat()
    .filter((pair) => pair !== undefined)
    .slice(0, most);
  return [...byPeople, ...byMachine(passages, most - byPeople.length, seed)];
}

/** Makes the pair of a field, with the same lines as when the document is read. */
function pairOfField({ field, quote, isWrong, ...passage }: DecidedField): OwnPair[] {
  const block = blockOf(passage);
  const at = Math.max(0, passage.text.indexOf(quote));
  const startChar = countCodePoints(passage.text.slice(0, at));
  const span = { ...block, startChar, endChar: startChar + countCodePoints(quote) };
  const asked = besideFields({ fields: [{ field, span }], evidence: [block] });
  return asked.map((statement) => ({ isWrong, by: "person", statement }));
}

function byMachine(passages: readonly OwnPassage[], most: number, seed: string): OwnPair[] {
  const half = Math.floor(most / 2);
  const counts = { wrong: 0, right: 0 };
  return sentencesInTurn(passages, seed).flatMap(({ unit, units }): OwnPair[] => {
    const isFirst = counts.wrong <= counts.right && counts.wrong < half;
    const changed = isFirst ? changeOnce(unit, units, seed) : null;
    const key = changed === null ? "right" : "wrong";
    if (counts[key] >= half) return [];
    counts[key] += 1;
    const statement = withLines(changed ?? unit.text, unit.block);
    return [{ isWrong: changed !== null, by: "machine", statement }];
  });
}

type Sentence = {
  readonly unit: Unit;
  /** All units of its passage. */
  readonly units: readonly Unit[];
};

const FEWEST_CHARS = 12;
const MOST_CHARS = 400;

/** Whole statements: one of each passage, then a second of each, and so on. */
function sentencesInTurn(passages: readonly OwnPassage[], seed: string): Sentence[] {
  const ranked = passages.flatMap((passage) => {
    const units = unitsOf(blockOf(passage)).filter(({ kind }) => kind !== "pair");
    const stated = units.filter(
      ({ kind, frame, text }) =>
        kind !== "heading" &&
        frame === null &&
        text.length >= FEWEST_CHARS &&
        text.length <= MOST_CHARS,
    );
    return shuffled(stated, `${seed} ${passage.path}`, ({ start, end }) => `${start} ${end}`).map(
      (unit, rank) => ({ unit, units, rank }),
    );
  });
  return ranked.sort((one, other) => one.rank - other.rank);
}

const CHANGES = [changeCell, changeFigure, changeDenial];

/** Changes one place of a statement so that it is wrong; null where no rule makes it certainly wrong. */
function changeOnce(unit: Unit, units: readonly Unit[], seed: string): string | null {
  const said = new Set(units.map(({ text }) => text));
  for (const change of shuffled(CHANGES, `${seed} ${unit.text}`, ({ name }) => name)) {
    const changed = change(unit, units);
    if (changed !== null && !said.has(changed)) return changed;
  }
  return null;
}

/** Replaces the last figure by another one of the passage, with a different value, and of the same length if possible. */
function changeFigure({ text }: Unit, units: readonly Unit[]): string | null {
  const own = new Set(
    findNumbers(text).flatMap(({ start, end }) => parseNumber(text.slice(start, end))),
  );
  const figure = figuresIn(text).at(-1);
  if (figure === undefined) return null;
  const others = units
    .flatMap((unit) => figuresIn(unit.text).map(({ spelled }) => spelled))
    .filter((other) => parseNumber(other).every((value) => !own.has(value)));
  const other = others.find(({ length }) => length === figure.spelled.length) ?? others[0];
  if (other === undefined) return null;
  return text.slice(0, figure.start) + other + text.slice(figure.end);
}

/** Text before and behind a number that is part of a date, a time or a code. */
const PART_BEFORE = /[\p{Script=Latin}\d.,:/-]$/u;
const PART_BEHIND = /^(?:[:/.-]\d|\.\s?\p{L}|\p{Script=Latin})/u;

const figuresIn = (text: string): { start: number; end: number; spelled: string }[] =>
  findNumbers(text)
    .filter(
      ({ start, end }) =>
        !PART_BEFORE.test(text.slice(0, start)) && !PART_BEHIND.test(text.slice(end)),
    )
    .map(({ start, end }) => ({ start, end, spelled: text.slice(start, end) }));

const BETWEEN_CELLS = " | ";

/** Replaces a cell by that of another row in the same column. */
function changeCell({ kind, text }: Unit, units: readonly Unit[]): string | null {
  if (kind !== "row") return null;
  const cells = text.split(BETWEEN_CELLS);
  for (const [at, cell] of [...cells.entries()].slice(1)) {
    const name = cell.slice(0, cell.indexOf(": ") + 1);
    const other = units
      .map((unit) => (unit.kind === "row" ? unit.text.split(BETWEEN_CELLS)[at] : undefined))
      .find((one) => one !== undefined && one !== cell && name !== "" && one.startsWith(name));
    if (other !== undefined) return cells.with(at, other).join(BETWEEN_CELLS);
  }
  return null;
}

const ASIDE = String.raw`[\p{Script=Latin}\p{N}'’-]`;
/** A verb at the end of its clause is not replaced, because its denial stands before it. */
const AT_END = "[.,;:!?)]";

/**
 * Replaces "is not" by "is", or "is" by "is not", where nothing else denies, and the word occurs once: then the meaning is
 * clear.
 */
function changeDenial({ text, language }: Unit): string | null {
  if (language === null) return null;
  for (const [plain, denied] of wordFile(language).negated) {
    const without = replaceOnly(text, denied, plain);
    if (without !== null && !holdsDenial(without, language)) return without;
    const negated = holdsDenial(text, language) ? null : replaceOnly(text, plain, denied);
    if (negated !== null) return negated;
  }
  return null;
}

/** Replaces a word that occurs exactly once; null otherwise. */
function replaceOnly(text: string, word: string, other: string): string | null {
  const found = [...text.matchAll(new RegExp(`(?<!${ASIDE})${word}(?!${ASIDE}|${AT_END})`, "gu"))];
  const [at] = found;
  if (at === undefined || found.length > 1) return null;
  return text.slice(0, at.index) + other + text.slice(at.index + word.length);
}

const withLines = (text: string, block: CitableBlock): AskedStatement => ({
  text,
  lines: linesFor(text, [block]),
});

/** The block of a passage alone, which no answer cites. */
const blockOf = ({ path, text }: OwnPassage): CitableBlock => ({
  ...{ number: 1, path, title: null, headingPath: null, text, chunkKey: null, sha256: "" },
  ...{ startChar: 0, endChar: text.length, lineStart: 1, lineEnd: 1, summaryLevel: null },
});
