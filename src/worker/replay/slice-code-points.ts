/** The code points from `start` up to `end` of a text that holds no lone surrogate. */
export function sliceCodePoints(text: string, start: number, end: number): string {
  const from = unitsOf(text, 0, start);
  return text.slice(from, unitsOf(text, from, end - start));
}

/** Where in UTF-16 units so many code points after `from` end. */
function unitsOf(text: string, from: number, codePoints: number): number {
  let unit = from;
  for (let taken = 0; taken < codePoints && unit < text.length; taken += 1) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}
