import type { TextSpan } from "../../text/spans.ts";

/** Marks and words that separate clauses, but not inside a number. */
const BREAK =
  /[;|•!?。、;]|,(?=\s|$)|\.(?=\s)|\s[–—-]\s|(?<![\p{L}])(?:and|but|or|while|whereas|because|although|und|aber|oder|sondern|während|weil|obwohl|et|mais|ou|tandis|car|parce|y|pero|o|mientras|aunque|porque|sino)(?![\p{L}])/giu;

/** Brackets are not cut: "the fee (€480, until 28 February) is not paid"; except brackets with two amounts. */
const BRACKET =
  /\((?![^()\n]{0,200}([€$£%])[^()\n]{0,200}\1)[^()\n]{0,200}\)|（[^（）\n]{0,200}）/gu;

const CELL = /\|/g;

/** Cuts a sentence into clauses, or a row into cells, in order. Linear. */
export function cutSegments(text: string, kind: "cells" | "clauses" = "clauses"): TextSpan[] {
  const clauses: TextSpan[] = [];
  const brackets = kind === "cells" ? [] : [...text.matchAll(BRACKET)];
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(kind === "cells" ? CELL : BREAK)) {
    while ((brackets[0]?.index ?? 0) + (brackets[0]?.[0].length ?? text.length) <= index)
      brackets.shift();
    if ((brackets[0]?.index ?? index) < index) continue;
    if (index > start) clauses.push({ start, end: index });
    start = /\p{L}/u.test(mark) ? index : index + mark.length;
  }
  if (start < text.length) clauses.push({ start, end: text.length });
  return clauses;
}

/** The index of the clause at an offset; -1 for none. */
export const segmentAt = (clauses: readonly TextSpan[], offset: number): number =>
  clauses.findIndex(({ start, end }) => start <= offset && offset < end);
