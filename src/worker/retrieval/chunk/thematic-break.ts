import type { LineShape } from "./line-shape.ts";

/** `***`, `- - -`, `___`: three or more of one mark and nothing but blanks between. */
export function isThematicBreak(text: string, { indent, first, end }: LineShape): boolean {
  const mark = text.charAt(first);
  if (indent > 3 || (mark !== "*" && mark !== "-" && mark !== "_")) return false;
  let marks = 0;
  for (let at = first; at < end; at += 1) {
    const character = text.charAt(at);
    if (character === mark) marks += 1;
    else if (character !== " " && character !== "\t") return false;
  }
  return marks >= 3;
}
