import type { EvidenceSpan, FieldBinding } from "../../../shared/job/run-result.ts";
import { unescapePointer } from "../../../shared/schema/json-value.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { AskedStatement, JudgeLine } from "../../evidence/types.ts";
import type { PureWork } from "../../offload/offload.ts";
import { findDates } from "../../text/figures/dates.ts";
import { findNumbers } from "../../text/figures/numbers.ts";
import { overlaps } from "../bindings/bind-fields.ts";
import { figureTypeOf, isChosen } from "../bindings/quoted-fields.ts";
import type { FieldValue } from "../bindings/quoted-fields.ts";
import { readPiece } from "../claims/pieces.ts";
import type { ReadUnit } from "../claims/pieces.ts";
import { once } from "../../../shared/once.ts";
import { withoutSpans } from "../../text/clean-text.ts";
import { lineOf, MOST_LINES, nearestOf } from "./judged-lines.ts";

/** A value with the place of the words that it is bound to. */
export type BoundField = { readonly field: FieldValue; readonly span: EvidenceSpan };

/** Whether a judge is asked about a value: not in a list, whose items differ by rows, and not if chosen, which no text states. */
export const isJudgeable = (field: FieldValue): boolean => !isChosen(field) && !field.isInList;

/** Limit for one document, because a model may invent many keys. */
const MOST_FIELDS = 40;

/** The values that a judge is asked about. */
export const fieldsToJudge = (
  values: readonly FieldValue[],
  bindings: readonly FieldBinding[],
): readonly BoundField[] =>
  values
    .flatMap((field, at): BoundField[] => {
      const span = bindings[at]?.span ?? null;
      return span !== null && isJudgeable(field) ? [{ field, span }] : [];
    })
    .slice(0, MOST_FIELDS);

type Judged = {
  readonly fields: readonly BoundField[];
  readonly evidence: readonly CitableBlock[];
};

/** Makes a statement of each field, with its line and other lines of the same type of value. In a thread, for long documents. */
export const BESIDE_FIELDS: PureWork<Judged, readonly AskedStatement[]> = {
  home: import.meta.url,
  run: besideFields,
};

type PlacedLine = {
  readonly unit: ReadUnit;
  readonly line: JudgeLine;
  readonly span: EvidenceSpan;
};

export function besideFields({ fields, evidence }: Judged): readonly AskedStatement[] {
  const lines = evidence.map(readPiece).flatMap(({ units, block, placeOf }) =>
    units
      .filter(({ kind }) => kind !== "pair")
      .map((unit): PlacedLine => ({
        ...{ unit, line: lineOf(unit, block) },
        span: placeOf(unit.start, unit.end),
      })),
  );
  const holding = {
    date: once(() => lines.filter(({ unit: { text } }) => findDates(text).length > 0)),
    number: once(() => lines.filter(({ unit: { text } }) => holdsNumber(text))),
  };
  return fields.map(({ field, span }) => {
    const type = figureTypeOf(field);
    const text = statementOfField(field);
    const bound = lines.filter((one) => overlaps(one.span, span));
    // An elided quote may begin and end a hundred lines apart.
    const own = nearestOf(text, linesIn(bound), MOST_LINES);
    const others = linesIn(type === null ? linesBeside(bound, lines) : holding[type]());
    const shown = new Set([...own, ...nearestOf(text, others, MOST_LINES - own.length)]);
    return { text, lines: lines.flatMap(({ line }) => (shown.has(line) ? [line] : [])) };
  });
}

const linesIn = (placed: readonly PlacedLine[]): JudgeLine[] => placed.map(({ line }) => line);

/** Whether a text holds a number that is no part of a date. */
const holdsNumber = (text: string): boolean =>
  findNumbers(withoutSpans(text, findDates(text))).length > 0;

/** The neighbouring lines, for a value that is neither number nor date. */
function linesBeside(
  own: readonly PlacedLine[],
  lines: readonly PlacedLine[],
): readonly PlacedLine[] {
  const first = own[0] === undefined ? 0 : lines.indexOf(own[0]);
  return lines.slice(Math.max(0, first - BESIDE), first + own.length + BESIDE);
}

const BESIDE = 2;

/** `billing.total = 149.32 (what is to be paid)` */
export function statementOfField({ pointer, value, about }: FieldValue): string {
  const name = unescapePointer(pointer.split("/").at(-1) ?? "");
  const description = about.slice(name.length).trim();
  return headOfField({ pointer, value }) + (description === "" ? "" : ` (${description})`);
}

/** The beginning of every statement of a field; without a value where that was left out. */
export const headOfField = ({ pointer, value }: Pick<FieldBinding, "pointer" | "value">): string =>
  `${unescapePointer(pointer.slice(1).replaceAll("/", "."))} = ${value === null ? "" : String(value)}`;
