import { foldWord } from "../../../shared/normalise-text.ts";
import type { TextSpan } from "../../text/spans.ts";
import { findFigure, hardFigures } from "./figure-rules.ts";
import { overlapsAny } from "./figures.ts";
import type { ClaimFigure } from "./figures.ts";
import type { Finding, Pair, ReadClaim } from "./pair.ts";
import { segmentAt } from "./segments.ts";
import { stemIn } from "./terms.ts";

/** "pump 3", "Teams A and B", "gates 4–6": a word, and what tells one of a kind from the others. */
type Numbered = TextSpan & { readonly kind: string; readonly marks: ReadonlySet<string> };

const MARK = String.raw`(?:\d{1,3}(?:\.\d{1,2})?|[A-Z])(?![\p{L}\p{N}%°€$£]|[.,:]\d)`;
const JOINT = String.raw`(?:,? (?:and|or|und|oder|et|ou|y|o|to|bis|à|a) |, ?| ?[–&/-] ?)`;
const NUMBERED = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?<noun>\p{L}{3,24})[ \u00A0](?<marks>${MARK}(?:${JOINT}${MARK}){0,8})`,
  "gu",
);
const RANGE = /(\d{1,3})(?: ?[–-] ?| (?:to|bis|à|a) )(\d{1,3})/g;
/** Of a wider range only the ends are told. */
const WIDEST_RANGE = 100;

/**
 * "Pump 3 was repaired", where the sentence says that of pump 2: one thing of a kind has what is said of another. What is said
 * belongs to the thing in its clause, or else to the one before it; things that nothing parts share it. A claim about several
 * of a kind may say of each what is said of one.
 */
export function compareNumbered(pair: Pair): Finding | null {
  const { claim, unit, met } = pair;
  if (unit.kind === "row") return null;
  const named = numberedIn(claim, claim.figures);
  if (named.length === 0) return null;
  const held = numberedIn(unit, unit.figures());
  for (const kind of new Set(named.map((one) => one.kind))) {
    const own = named.filter((one) => one.kind === kind);
    // One of them is without a number, or with one that can't be read.
    if (claim.terms.filter(({ stem }) => stem === kind).length > own.length) continue;
    const marks = new Set(own.flatMap((one) => [...one.marks]));
    const things = held.filter((one) => one.kind === kind);
    const all = new Set(things.flatMap((one) => [...one.marks]));
    if (![...marks].every((mark) => all.has(mark)) || all.size === marks.size) continue;
    const isOfOthers = (at: number): boolean => {
      const owners = ownersOf(at, things, unit);
      return owners !== null && ![...marks].some((mark) => owners.has(mark));
    };
    const word = met.find(
      ({ term, places, isMinor }) =>
        places.length > 0 &&
        !isMinor &&
        term.stem !== kind &&
        places.every((place) => isOfOthers(unit.terms[place]?.start ?? -1)),
    );
    const figure = hardFigures(pair).find((one) => {
      const found = findFigure(one, pair);
      if (found.where !== "unit" || found.as === null || overlapsAny(found.as, things))
        return false;
      return isOfOthers(found.as.start);
    });
    const other = word?.term.word ?? figure?.text.trim();
    if (other !== undefined)
      return { grade: "partly", reason: "rival", detail: `${other} is said of another ${kind}` };
  }
  return null;
}

/** Without amounts: "costs 95 euros". */
function numberedIn(
  { text, language }: Pick<ReadClaim, "text" | "language">,
  figures: readonly ClaimFigure[],
): Numbered[] {
  const amounts = figures.filter(({ measure }) => measure !== null);
  return [...text.matchAll(NUMBERED)]
    .map(({ 0: whole, index, groups }) => ({
      kind: stemIn(foldWord(groups?.["noun"] ?? ""), language),
      marks: marksIn(groups?.["marks"] ?? ""),
      start: index,
      end: index + whole.length,
    }))
    .filter((one) => !overlapsAny(one, amounts));
}

function marksIn(text: string): ReadonlySet<string> {
  const marks = new Set(text.match(/\d+(?:\.\d+)?|[A-Z]/g));
  for (const [, first, last] of text.matchAll(RANGE)) {
    const [low, high] = [Number(first), Number(last)];
    if (high - low > WIDEST_RANGE) continue;
    for (let mark = low; mark <= high; mark += 1) marks.add(String(mark));
  }
  return marks;
}

/** The marks of the things that a word of a unit is said of; null where that can't be told. */
function ownersOf(
  at: number,
  things: readonly Numbered[],
  unit: Pair["unit"],
): ReadonlySet<string> | null {
  const segments = unit.segments();
  const own = segmentAt(segments, at);
  const inClause = things.filter(({ start }) => segmentAt(segments, start) === own);
  const near = inClause.length > 0 ? inClause : things.filter(({ start }) => start < at);
  const owner = near.findLast(({ start }) => start <= at) ?? near[0];
  if (owner === undefined) return null;
  return new Set(sharing(owner, things, unit).flatMap(({ marks }) => [...marks]));
}

/** A thing and those beside it that no word parts from it: "pump 2 and pump 3 were repaired". */
function sharing(
  owner: Numbered,
  things: readonly Numbered[],
  { terms }: Pair["unit"],
): readonly Numbered[] {
  const isApart = (one: Numbered, next: Numbered): boolean =>
    terms.some(({ isContent, start, end }) => isContent && start >= one.end && end <= next.start);
  const at = things.indexOf(owner);
  let [first, last] = [at, at];
  while (first > 0 && !isApart(things[first - 1] ?? owner, things[first] ?? owner)) first -= 1;
  while (last + 1 < things.length && !isApart(things[last] ?? owner, things[last + 1] ?? owner))
    last += 1;
  return things.slice(first, last + 1);
}
