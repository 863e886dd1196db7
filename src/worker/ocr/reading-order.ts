import { frameLines } from "../documents/formats/pdf-layout.ts";
import type { Glyph } from "../documents/formats/pdf-glyphs.ts";
import { heightOf } from "./left-ink.ts";
import type { ReadLine } from "../../shared/pages/page-record.ts";
import type { EngineWord } from "./tesseract.ts";

/** Each word gets its own private-use character from here on, to find it again in the lines of the layout reader. */
const FIRST_MARK = 0xf0000;
const LAST_MARK = 0x10fffd;
const MARK = /[\u{f0000}-\u{10fffd}]/u;

/** Points to which the height of a page's words is scaled: the layout reader measures in points. */
const WORD_POINTS = 8.5;
/** The size of a font, in heights of its words. */
const SIZE = 1.25;

/** Words in the order in which a person reads them: columns one after the other, the cells of a table in their row. */
export function inReadingOrder<Word extends EngineWord>(
  words: readonly Word[],
): (Omit<ReadLine, "words"> & { readonly words: readonly Word[] })[] {
  const height = heightOf(words);
  const points = WORD_POINTS / height;
  const marked = words.slice(0, LAST_MARK - FIRST_MARK);
  const glyphs = marked.map(({ text, box, base, lineHeight }, at): Glyph => ({
    text: `${text.replaceAll(/[\p{Co}\s|]/gu, "")}${String.fromCodePoint(FIRST_MARK + at)}`,
    x: box[0] * points,
    end: box[2] * points,
    y: -(base * points),
    // The line's height, within bounds: the one beside a title is too large, and that of a dash is too small.
    size:
      Math.max(height * SIZE * SMALLEST, Math.min(lineHeight, box[3] - box[1] + height)) * points,
    opens: true,
  }));
  let isApart = false;
  return frameLines({ glyphs, rules: [] }).flatMap((line) => {
    if (line === "") {
      isApart = true;
      return [];
    }
    const cells = line.split(" | ").map((cell) => wordsOf(cell, marked));
    const starts = cells
      .slice(0, -1)
      .reduce<number[]>((all, cell) => [...all, (all.at(-1) ?? 0) + cell.length], []);
    const opened = isApart;
    isApart = false;
    return [
      {
        words: cells.flat(),
        ...(starts.length === 0 ? {} : { cells: starts }),
        ...(opened ? { opens: true as const } : {}),
      },
    ];
  });
}

const SMALLEST = 0.7;

const wordsOf = <Word>(cell: string, words: readonly Word[]): Word[] =>
  Array.from(cell).flatMap((letter) =>
    MARK.test(letter) ? (words[(letter.codePointAt(0) ?? 0) - FIRST_MARK] ?? []) : [],
  );
