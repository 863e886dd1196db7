import type { RefusalCode } from "../../../shared/failure.ts";
import type { ExtractedText, FileMetadata, Unreadable } from "../extraction.ts";
import { openPlaces } from "../places.ts";
import type { PlaceOfText } from "../places.ts";

/** Limits for one file. */
export type TextLimits = {
  /** UTF-16 units of its text. */
  readonly chars: number;
  readonly pages: number;
  /** Rows, elements, parts of a mail, files in an archive. */
  readonly entries: number;
  /** Total size of the files of an archive, unpacked. */
  readonly unpackedBytes: number;
  /** Encoding of the source, for a text that is no Unicode and names none. */
  readonly encoding?: string | undefined;
};

/** A reader throws it to say why a file gives no text. */
export class NoText extends Error {
  override readonly name = "NoText";
  readonly code: RefusalCode;
  readonly scan: Pick<Unreadable, "pictured" | "pages">;
  /**
   * @param why a clause that follows the path of the file, with the remedy
   * @param scan of a file whose words are in pictures
   */
  constructor(code: RefusalCode, why: string, scan: NoText["scan"] = {}) {
    super(why);
    this.code = code;
    this.scan = scan;
  }
}

export const tooMany = (what: string, most: number, key: string): NoText =>
  new NoText(
    "FILE_TOO_LARGE",
    `has more than ${most.toLocaleString("en-US")} ${what}: split it, or raise documents.reader.${key}.`,
  );

/** @returns a function that counts one entry, and throws NoText if there are too many */
export function countEntries(what: string, { entries }: TextLimits): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count > entries) throw tooMany(what, entries, "max_entries");
  };
}

export type TextBuilder = {
  readonly length: number;
  add(text: string): void;
  /** Sets the place in the file of the text that is added next. */
  place(locator: PlaceOfText["locator"]): void;
  finish(metadata?: FileMetadata): ExtractedText;
};

/** Control characters except tab, line feed and form feed: no reader needs them, and Postgres refuses NUL. */
const UNWANTED = /[\0-\x08\x0b\x0e-\x1f\x7f]/g;

export const cleanPiece = (text: string): string =>
  text.replaceAll(/\r\n?/g, "\n").replaceAll(UNWANTED, "").toWellFormed().normalize("NFC");

/** Where one struck-out run of words ends and the next one begins at once: both become one. */
const STRUCK_ON = /(?<=[^\s~])~~( ?)~~(?=[^\s~])/g;

/** Collects the text of a file and its places. Throws NoText if it exceeds the limit. */
export function openTextBuilder({ chars }: Pick<TextLimits, "chars">): TextBuilder {
  const pieces: string[] = [];
  const places = openPlaces();
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(text) {
      const piece = cleanPiece(text).replaceAll(STRUCK_ON, "$1");
      length += piece.length;
      if (length > chars) throw tooMany("characters of text", chars, "max_chars");
      pieces.push(piece);
    },
    place(locator) {
      places.add({ start: length, locator });
    },
    finish: (metadata) => ({
      kind: "text",
      text: pieces.join(""),
      places: places.pack(),
      ...(metadata === undefined ? {} : { metadata }),
    }),
  };
}
