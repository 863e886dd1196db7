import { frameLines } from "../documents/formats/pdf-layout.ts";
import type { Glyph } from "../documents/formats/pdf-glyphs.ts";
import { heightOf } from "./left-ink.ts";
import type { ReadLine } from "../../shared/pages/page-record.ts";
import type { EngineWord } from "./tesseract.ts";

/** Each word is given a letter of its own, which no page holds, from here on: by it the line is found that it came to. */
const FIRST_MARK = 0xf0000;
const LAST_MARK = 0x10fffd;
const MARK = /[\u{f0000}-\u{10fffd}]/u;

/** Points that the words of a page are high: what the reader of layout measures in. */
const WORD_POINTS = 8.5;
/** A font's size, in heights of its words. */
const SIZE = 1.25;

/**
 * Words in the order in which a person reads them: columns one after the other, the cells of a table in their row.
 */
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
    // Of one that is much larger the height is that of a title, and of one much lower that of a dash.
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
