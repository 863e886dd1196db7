import { isUtf8 } from "node:buffer";
import { createRequire } from "node:module";
import type Chardet from "chardet";

/** Names are those of the Encoding Standard. */
export type DecodedText = { readonly text: string; readonly encoding: string };

/**
 * Decodes bytes as text: by the byte order mark, as UTF-16 by its pairs, strictly as UTF-8, as ISO-2022-JP by its escapes, else
 * as the encoding of one or two bytes a letter that fits best. Undefined if none fits, or for damaged UTF-8. The text begins
 * after the byte order mark.
 * @param prior a label that is tried before the bytes are compared with languages; it is dropped if the bytes contradict it
 */
export function decodeBytes(bytes: Buffer, prior?: string): DecodedText | undefined {
  const unicode = unicodeOf(bytes);
  if (unicode !== undefined) return tryDecode(unicode, bytes);
  if (bytes.includes(0)) return undefined;
  if (isUtf8(bytes)) {
    const text = isIso2022(bytes) ? tryDecode("iso-2022-jp", bytes) : undefined;
    return text ?? tryDecode("utf-8", bytes);
  }
  if (holdsControls(bytes) || isDamagedUtf8(sampleOf(bytes))) return undefined;
  const labelled = prior === undefined ? undefined : tryLetters(prior, bytes);
  return labelled ?? decodeByLetters(bytes);
}

/** Node's own decoder, also while `withMailDecoder` replaces the global one. */
const Decoder = globalThis.TextDecoder;

/**
 * Decodes bytes by a label, as pages and mails write it, and returns the standard name of the encoding as well.
 * @throws RangeError for an unknown label, TypeError for bytes that are not of the encoding
 */
export function decodeAs(label: string, bytes: Buffer): DecodedText {
  const decoder = new Decoder(label, { fatal: true });
  const { encoding } = decoder;
  // Node 20 decodes windows-1252 as Latin-1, which has no letters from 80 to 9f.
  const text = encoding === "windows-1252" ? decodeWindows1252(bytes) : decoder.decode(bytes);
  return { text, encoding };
}

/** Undefined for an unknown label, and for bytes that are not of the encoding. */
export function tryDecode(label: string, bytes: Buffer): DecodedText | undefined {
  try {
    return decodeAs(label, bytes);
  } catch {
    return undefined;
  }
}

/** The characters of Windows-1252 from 80 to 9f; a code that it does not define stands for itself. */
const FROM_80 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

const decodeWindows1252 = (bytes: Buffer): string =>
  bytes
    .toString("latin1")
    .replaceAll(/[\x80-\x9f]/g, (character) => FROM_80.charAt(character.charCodeAt(0) - 0x80));

function unicodeOf(bytes: Buffer): string | undefined {
  if (bytes.length >= 2) {
    const mark = bytes.readUInt16BE(0);
    // FF FE 00 00 is the byte order mark of UTF-32.
    if (mark === 0xfffe && !isZero(bytes, 2)) return "utf-16le";
    if (mark === 0xfeff) return "utf-16be";
  }
  return utf16Of(bytes);
}

const isZero = (bytes: Buffer, at: number): boolean =>
  bytes.length >= at + 2 && bytes.readUInt16BE(at) === 0;

/** How many bytes at the start are tested for UTF-16. */
const HEAD_BYTES = 4_096;
const FEWEST_BYTES = 8;
/** Share of control bytes; with more it is no text of one byte a letter. */
const MOST_CONTROLS = 0.02;
/** Share of control bytes; valid UTF-8 without a zero and with fewer than this stays UTF-8. */
const MOST_ESCAPES = 0.25;

/**
 * Detects UTF-16 by its many control bytes: zeros in Latin text, fours in Cyrillic, any in Chinese. The right order of bytes
 * is the one whose letters fall into fewer blocks of 256 characters.
 */
function utf16Of(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, HEAD_BYTES);
  if (head.length < FEWEST_BYTES || bytes.length % 2 === 1) return undefined;
  const controls = head.filter((byte) => isControl(byte)).length / head.length;
  if (controls <= MOST_CONTROLS) return undefined;
  if (controls <= MOST_ESCAPES && !head.includes(0) && isUtf8(bytes)) return undefined;
  const [best, second] = (["utf-16le", "utf-16be"] as const)
    .flatMap((encoding) => {
      const { text } = tryDecode(encoding, head) ?? {};
      return text === undefined || NO_TEXT.test(text) || !HAS_GAPS.test(text)
        ? []
        : [{ encoding, blocks: blocksOf(text) }];
    })
    .sort((one, other) => one.blocks - other.blocks);
  return best?.blocks === second?.blocks ? undefined : best?.encoding;
}

/** Control characters and characters that Unicode never assigns. */
const NO_TEXT = /[\0-\x08\x0e-\x1f\x7f-\x9f\ufffe\uffff]/;

/** Every language has one of these between words or sentences; the head of a picture has none. */
const HAS_GAPS = /[ \n\r\u3000-\u3002]/;

const blocksOf = (text: string): number =>
  new Set(Array.from({ length: text.length }, (_, at) => text.charCodeAt(at) >> 8)).size;

const isControl = (byte: number): boolean =>
  (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13) || byte === 0x7f;

/** DOS ends a text with one. */
const CTRL_Z = 0x1a;
const holdsControls = (bytes: Buffer): boolean =>
  bytes.some((byte, at) => isControl(byte) && (byte !== CTRL_Z || at < bytes.length - 1));

/** Whether the bytes hold an escape into Japanese letters, such letters, and the escape out of them. */
const isIso2022 = (bytes: Buffer): boolean =>
  bytes.includes("\x1b$") && /\x1b\$[@B][!-~]{2,}\s*\x1b\([BJ]/.test(bytes.toString("latin1"));

/** If more of the bytes above 127 form whole letters of UTF-8, the file is damaged UTF-8 and must not be read byte by byte. */
const MOST_UTF8 = 0.7;

function isDamagedUtf8(bytes: Buffer): boolean {
  let high = 0;
  let whole = 0;
  let broken = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    const end = Math.min(at + length, bytes.length);
    const isLetter = length > 1 && byte < 0xf5 && isUtf8(bytes.subarray(at, end));
    const isCut = end < at + length || (!isLetter && end === bytes.length);
    high += isLetter ? length : 1;
    if (isLetter) whole += length;
    if (isCut) broken += 1;
    if (isLetter || isCut) at = end - 1;
  }
  return whole > (high - broken) * MOST_UTF8;
}

/** Shorter texts are not compared with languages: a single Western word may look like Japanese. */
const FEWEST_COMPARED = 20;
/** How many bytes are compared with languages. */
const MOST_COMPARED = 65_536;

/** Loaded for the first file that is no Unicode, because few files need it. */
const require = createRequire(import.meta.url);
let chardet: typeof Chardet | undefined;

function decodeByLetters(bytes: Buffer): DecodedText | undefined {
  if (bytes.length >= FEWEST_COMPARED) {
    for (const label of guessesOf(sampleOf(bytes))) {
      const decoded = asWindows(label, bytes);
      if (decoded !== undefined) return decoded;
    }
  }
  const high = bytes.filter((byte) => byte >= 0x80).length;
  return high > bytes.length * MOST_HIGH ? undefined : tryLetters("windows-1252", bytes);
}

/** Share of bytes above 127; with more it is no Western text. */
const MOST_HIGH = 0.4;

/**
 * Labels of encodings, the likeliest first. Among equals the one whose letters fall into fewer blocks comes first. If the
 * likeliest one has one byte a letter and puts signs within words, encodings that put fewer there come first.
 */
function guessesOf(sample: Buffer): readonly string[] {
  chardet ??= require("chardet") as typeof Chardet;
  const guesses = chardet.analyse(sample).flatMap(({ name, confidence }) => {
    const text = /^(?:utf|iso.2022|ascii)/i.test(name) ? undefined : asWindows(name, sample)?.text;
    if (text === undefined) return [];
    return [{ name, confidence, blocks: blocksOf(text), signs: signsWithin(text) }];
  });
  guesses.sort((one, other) => other.confidence - one.confidence || one.blocks - other.blocks);
  const [first] = guesses;
  const isOneByte = (name: string): boolean => /^(?:iso|windows|koi8)/i.test(name);
  if (first !== undefined && isOneByte(first.name) && first.signs > 0) {
    guesses.sort(
      (one, other) =>
        Number(isOneByte(other.name)) - Number(isOneByte(one.name)) || one.signs - other.signs,
    );
  }
  return guesses.map(({ name }) => name);
}

/** Whole lines, from the line with the first non-ASCII byte on. */
function sampleOf(bytes: Buffer): Buffer {
  if (bytes.length <= MOST_COMPARED) return bytes;
  const first = bytes.findIndex((byte) => byte >= 0x80);
  const start = bytes.lastIndexOf("\n", first) + 1;
  const sample = bytes.subarray(start, start + MOST_COMPARED);
  const end = sample.lastIndexOf("\n");
  return end === -1 ? sample : sample.subarray(0, end);
}

/** The Windows encoding with the letters of an ISO encoding, some of them at other codes. */
const WINDOWS: Readonly<Record<string, string>> = {
  "ISO-8859-1": "windows-1252",
  "ISO-8859-2": "windows-1250",
  "ISO-8859-7": "windows-1253",
  "ISO-8859-8": "windows-1255",
  "ISO-8859-9": "windows-1254",
};

/** Prefers the Windows encoding, which is much more frequent, unless it puts more signs within words than the ISO one. */
function asWindows(label: string, bytes: Buffer): DecodedText | undefined {
  const own = tryLetters(label, bytes);
  const windows = label in WINDOWS ? tryLetters(WINDOWS[label] ?? label, bytes) : undefined;
  if (windows === undefined || own === undefined) return own ?? windows;
  return signsWithin(own.text) < signsWithin(windows.text) ? own : windows;
}

/** Counts signs within words. Powers, degrees and the point of Catalan may stand there and do not count. */
const signsWithin = (text: string): number =>
  text.match(/(?<=\p{L})(?:[¡-¨¬¯±´-¶¸¼-¿]|[«»ª°²³¹º®\u02c7-\u02dd](?=\p{L}))/gu)?.length ?? 0;

/** Undefined if the text has control characters from 80 to 9f: its encoding is another one. */
function tryLetters(label: string, bytes: Buffer): DecodedText | undefined {
  const decoded = tryDecode(label, bytes);
  return decoded === undefined || /[\x80-\x9f]/.test(decoded.text) ? undefined : decoded;
}
