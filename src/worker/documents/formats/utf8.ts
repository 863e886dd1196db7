import { isUtf8 } from "node:buffer";
import { decodeBytes } from "../encoding.ts";
import { NO_PLACES } from "../places.ts";
import type { Extractor } from "../extraction.ts";

/** Byte order mark of UTF-8, which some programs write. */
const MARK = Buffer.from("\uFEFF");

/** Version of the extractor for files in another encoding. */
const DECODED = "decoded 2";

/** Reads plain text: UTF-8 unchanged, so that offsets fit the file; any other encoding decoded. */
export const UTF8: Extractor = {
  version: "utf-8",
  others: [DECODED],
  async extract(bytes, _read, encodingOfSource) {
    // UTF-16 without a blank, and ISO-2022-JP, are valid UTF-8 as well.
    const other = decodeBytes(bytes, encodingOfSource);
    if (other?.encoding === "utf-8") {
      const text = bytes.subarray(0, MARK.length).equals(MARK) ? `\uFEFF${other.text}` : other.text;
      return { kind: "text", text, places: NO_PLACES };
    }
    if (other !== undefined) {
      const { text, encoding } = other;
      return { kind: "text", text, places: NO_PLACES, metadata: { encoding }, extractor: DECODED };
    }
    const decoded = decodeText(bytes);
    if (decoded.kind === "text") return { ...decoded, places: NO_PLACES };
    const why = `${decoded.why}: save it as UTF-8 text.`;
    return { kind: "unreadable", code: "FILE_READ_ERROR", why, lasts: "always" };
  },
};

/**
 * Decodes bytes strictly as UTF-8, or says what is wrong with them. A byte order mark stays the first character, and
 * line ends stay unchanged, so that offsets into the text are offsets into the file.
 */
export function decodeText(
  bytes: Buffer,
):
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly why: string } {
  if (bytes.length >= 2 && [0xfeff, 0xfffe].includes(bytes.readUInt16BE(0))) {
    return { kind: "binary", why: "starts with the byte order mark of UTF-16 or UTF-32" };
  }
  const nul = bytes.indexOf(0);
  if (nul !== -1) return { kind: "binary", why: `holds a NUL at byte ${nul}, so it is not text` };
  const text = bytes.toString("utf8");
  if (isUtf8(bytes)) return { kind: "text", text };
  return { kind: "binary", why: `is not UTF-8 at byte ${findBadByte(bytes, text)}` };
}

/** Offset of the first invalid byte: where the text has a U+FFFD that the file does not hold itself. */
function findBadByte(bytes: Buffer, text: string): number {
  const mark = Buffer.from("\uFFFD");
  let offset = 0;
  let from = 0;
  for (;;) {
    const index = text.indexOf("\uFFFD", from);
    offset += Buffer.byteLength(text.slice(from, index));
    if (!bytes.subarray(offset, offset + mark.length).equals(mark)) return offset;
    offset += mark.length;
    from = index + 1;
  }
}
