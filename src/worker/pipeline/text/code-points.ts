/** Number of Unicode code points. */
export const countCodePoints = (text: string): number =>
  text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);

/** The first `count` code points. */
export function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let units = 0;
  for (let taken = 0; taken < count && units < text.length; taken += 1) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, units);
}
