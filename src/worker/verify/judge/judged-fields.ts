import type { EvidenceSpan, FieldBinding } from "../../../shared/job/run-result.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { AskedStatement, JudgeLine } from "../../evidence/types.ts";
import type { PureWork } from "../../offload/offload.ts";
import { findDates } from "../../text/figures/dates.ts";
import { findNumbers } from "../../text/figures/numbers.ts";
import { overlaps } from "../bindings/bind-fields.ts";
import { figureTypeOf, isChosen, isInList } from "../bindings/quoted-fields.ts";
import type { FieldValue } from "../bindings/quoted-fields.ts";
import { readPiece } from "../claims/pieces.ts";
import type { ReadUnit } from "../claims/pieces.ts";
import { once } from "../../../shared/once.ts";
import { withoutSpans } from "../../text/clean-text.ts";
import { lineOf, MOST_LINES, nearestOf } from "./judged-lines.ts";

/** A value with where the words stand that it is bound to. */
export type BoundField = { readonly field: FieldValue; readonly span: EvidenceSpan };

/** Whether a judge is asked of a value: those of a list are told apart by their rows, and what a model chose stands nowhere. */
export const isAsked = (field: FieldValue): boolean => !isChosen(field) && !isInList(field);

/** Of one document: a model that makes up keys is not asked of all of them. */
const MOST_FIELDS = 40;

/** The values that a judge is asked of. */
export const openFields = (
  values: readonly FieldValue[],
  bindings: readonly FieldBinding[],
): readonly BoundField[] =>
  values
    .flatMap((field, at): BoundField[] => {
      const span = bindings[at]?.span ?? null;
      return span !== null && isAsked(field) ? [{ field, span }] : [];
    })
    .slice(0, MOST_FIELDS);

type Judged = {
  readonly fields: readonly BoundField[];
  readonly evidence: readonly CitableBlock[];
};

/** Each field as a statement with its line, and with all other lines of that type of value. Documents of any length are cut for it. */
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
    const own = lines.filter((one) => overlaps(one.span, span));
    const others = (type === null ? linesBeside(own, lines) : holding[type]()).map(
      ({ line }) => line,
    );
    const shown = new Set([
      ...own.map(({ line }) => line),
      ...nearestOf(text, others, MOST_LINES - own.length),
    ]);
    return { text, lines: lines.flatMap(({ line }) => (shown.has(line) ? [line] : [])) };
  });
}

/** A figure that is no part of a date. */
const holdsNumber = (text: string): boolean =>
  findNumbers(withoutSpans(text, findDates(text))).length > 0;

/** Those of a name that no type tells apart. */
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
  const name = unescaped(pointer.split("/").at(-1) ?? "");
  const description = about.slice(name.length).trim();
  return headOfField({ pointer, value }) + (description === "" ? "" : ` (${description})`);
}

/** What every statement of a field begins with; of a value that was left out, with its name alone. */
export const headOfField = ({ pointer, value }: Pick<FieldBinding, "pointer" | "value">): string =>
  `${unescaped(pointer.slice(1).replaceAll("/", "."))} = ${value === null ? "" : String(value)}`;

const unescaped = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");
