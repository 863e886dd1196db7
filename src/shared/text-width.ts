/** Marks, joiners and the vowels and finals of decomposed Korean, which stand in the columns of the character before. */
const MARKS = /[\p{Mn}\p{Me}\u1160-\u11ff\u200b-\u200d\ud7b0-\ud7ff\ufe00-\ufe0f]/gu;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}/gu;

/** Columns that a terminal gives to a text: marks none, East Asian characters and emoji two. */
export function widthOf(text: string): number {
  const visible = text.replace(MARKS, "");
  return Array.from(visible).length + (visible.match(WIDE)?.length ?? 0);
}

/** The text, or as much of its start as leaves a column for `…`. */
export const cutToColumns = (text: string, columns: number): string =>
  widthOf(text) <= columns ? text : `${text.slice(0, endOfStart(text, columns - 1))}…`;

/** The text, or its start and its end with `…` between them: names differ at both. */
export function cutInMiddle(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const tailColumns = Math.floor((columns - 1) / 2);
  const head = text.slice(0, endOfStart(text, columns - 1 - tailColumns));
  return `${head}…${text.slice(startOfEnd(text, tailColumns))}`;
}

/** Where the longest start of a text ends that takes no more than so many columns. */
function endOfStart(text: string, columns: number): number {
  let width = 0;
  let end = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    end += character.length;
  }
  return end;
}

/** Where the longest end of a text starts that takes no more than so many columns. A mark stays with its character. */
function startOfEnd(text: string, columns: number): number {
  let width = 0;
  let at = text.length;
  let start = at;
  for (const character of Array.from(text).reverse()) {
    const own = widthOf(character);
    width += own;
    if (width > columns) break;
    at -= character.length;
    if (own > 0) start = at;
  }
  return start;
}
