import { findFigure, hardFigures } from "./figure-rules.ts";
import type { ClaimFigure } from "./figures.ts";
import type { Finding, Pair } from "./pair.ts";
import { segmentAt } from "./segments.ts";
import type { TextSpan } from "../../text/spans.ts";

const doubt = (detail: string): Finding => ({ grade: "partly", reason: "rival", detail });

/** Where each figure of the claim stands in the unit. */
const placedFigures = (pair: Pair): ClaimFigure[] =>
  hardFigures(pair).flatMap((figure) => {
    const found = findFigure(figure, pair);
    const own = found.where === "unit" ? found.as : null;
    return own !== null && pair.unit.figures().includes(own) ? [own] : [];
  });

/** "In 2024": a figure of a row does not stand in the column of another year, while the claim's has a column of its own. */
export function compareColumn(pair: Pair): Finding | null {
  const { unit, claim } = pair;
  if (unit.kind !== "row") return null;
  const cells = unit.segments();
  const asked = new Set(claim.figures.flatMap(({ asks }) => asks));
  const isNamed = (cell: TextSpan): boolean => {
    const end = headerEnd(cell, unit.text);
    return unit
      .figures()
      .some(
        (one) =>
          one.start >= cell.start && one.end <= end && one.offers.some((offer) => asked.has(offer)),
      );
  };
  const named = cells.filter(isNamed);
  if (named.length === 0) return null;
  for (const own of placedFigures(pair)) {
    const cell = cells[segmentAt(cells, own.start)];
    if (cell === undefined || own.end <= headerEnd(cell, unit.text)) continue;
    if (hasFigureInHeader(cell, pair) && !named.includes(cell))
      return doubt(`${own.text.trim()} stands in another column`);
  }
  return null;
}

function headerEnd({ start, end }: TextSpan, text: string): number {
  const length = text.slice(start, end).indexOf(": ");
  return length === -1 ? start : start + length;
}

const hasFigureInHeader = (cell: TextSpan, { unit }: Pair): boolean => {
  const end = headerEnd(cell, unit.text);
  return unit.figures().some((one) => one.start >= cell.start && one.end <= end);
};
