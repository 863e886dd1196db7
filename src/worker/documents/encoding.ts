import { isUtf8 } from "node:buffer";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

export type DecodedText = { readonly text: string; readonly encoding: Encoding };

/**
 * Bytes as text: by their byte order mark, strictly as UTF-8, as UTF-16 by its zero bytes, or as Windows-1252, which
 * holds Latin-1. Undefined for what is none of them, or damaged UTF-8. The text begins after the mark.
 */
export function decodeBytes(bytes: Buffer): DecodedText | undefined {
  const encoding = detectEncoding(bytes);
  if (encoding === undefined) return undefined;
  try {
    return { text: decodeAs(encoding, bytes).text, encoding };
  } catch {
    return undefined;
  }
}

/**
 * Bytes in the encoding of a label, as pages and mails name it, and its own name.
 * @throws TypeError, RangeError for a label that is none, and for bytes that are not of the encoding
 */
export function decodeAs(
  label: string,
  bytes: Buffer,
): { readonly text: string; readonly encoding: string } {
  const decoder = new TextDecoder(label, { fatal: true });
  const { encoding } = decoder;
  // Node 20 takes it for Latin-1, which has no letters from 80 to 9f.
  const text = encoding === "windows-1252" ? decodeWindows1252(bytes) : decoder.decode(bytes);
  return { text, encoding };
}

/** What Windows-1252 has from 80 on; what it leaves out is itself. */
const FROM_80 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

const decodeWindows1252 = (bytes: Buffer): string =>
  bytes
    .toString("latin1")
    .replaceAll(/[\x80-\x9f]/g, (character) => FROM_80.charAt(character.charCodeAt(0) - 0x80));

function detectEncoding(bytes: Buffer): Encoding | undefined {
  if (bytes.length >= 2) {
    const mark = bytes.readUInt16BE(0);
    // Four bytes with two of zero are the mark of UTF-32.
    if (mark === 0xfffe && !isZero(bytes, 2)) return "utf-16le";
    if (mark === 0xfeff) return "utf-16be";
  }
  if (!bytes.includes(0))
    return isUtf8(bytes) ? "utf-8" : isWindows1252(bytes) ? "windows-1252" : undefined;
  return detectUtf16(bytes);
}

const isZero = (bytes: Buffer, at: number): boolean =>
  bytes.length >= at + 2 && bytes.readUInt16BE(at) === 0;

/** What is looked at; a text that begins in Latin letters goes on so. */
const LOOKED_AT = 4_096;
const FEWEST = 8;

/** Latin letters have a zero in the same half of each pair of bytes, and hardly one in the other. */
function detectUtf16(bytes: Buffer): Encoding | undefined {
  const head = bytes.subarray(0, LOOKED_AT);
  if (head.length < FEWEST || bytes.length % 2 === 1) return undefined;
  const zeros: [number, number] = [0, 0];
  for (let at = 0; at < head.length; at += 1) if (head[at] === 0) zeros[at % 2 === 0 ? 0 : 1] += 1;
  const pairs = head.length / 2;
  const [first, second] = zeros;
  if (second > pairs * 0.4 && first < pairs * 0.02) return "utf-16le";
  if (first > pairs * 0.4 && second < pairs * 0.02) return "utf-16be";
  return undefined;
}

/** Bytes that stand for nothing in it. */
const UNDEFINED = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
/** More of them are no text in letters of the West. */
const MOST_HIGH = 0.4;

function isWindows1252(bytes: Buffer): boolean {
  let high = 0;
  for (const byte of bytes) {
    if ((byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13 && byte !== 12) || byte === 0x7f)
      return false;
    if (UNDEFINED.has(byte)) return false;
    if (byte >= 0x80) high += 1;
  }
  return high <= bytes.length * MOST_HIGH && !holdsUtf8(bytes);
}

/** Letters of several bytes that are whole: a damaged file, which must not be read as if each byte were a letter. */
function holdsUtf8(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length - 1; at += 1) {
    const byte = bytes[at] ?? 0;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
    if (length > 0 && byte < 0xf5 && isUtf8(bytes.subarray(at, at + length))) return true;
  }
  return false;
}
