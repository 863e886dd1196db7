const MARKS = /[\p{Mn}\p{Me}\u200b-\u200d\ufe00-\ufe0f]/gu;
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;

/** Columns that a terminal gives to a text: marks none, East Asian characters and emoji two. */
export function widthOf(text: string): number {
  const visible = text.replace(MARKS, "");
  return Array.from(visible).length + (visible.match(WIDE)?.length ?? 0);
}

/** The text, or as much of its start as leaves a column for `…`. */
export function cutToColumns(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let width = 0;
  let end = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width >= columns) break;
    end += character.length;
  }
  return `${text.slice(0, end)}…`;
}
