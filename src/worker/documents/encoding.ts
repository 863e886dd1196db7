import { isUtf8 } from "node:buffer";
import { createRequire } from "node:module";
import type Chardet from "chardet";

/** Names are those of the Encoding Standard. */
export type DecodedText = { readonly text: string; readonly encoding: string };

/**
 * Bytes as text: by their byte order mark, as UTF-16 by its pairs, strictly as UTF-8, as ISO-2022-JP by its escapes, and
 * else as the encoding of one byte or two whose letters they are most like. Undefined for what is none of them, or damaged
 * UTF-8. The text begins after the mark.
 * @param prior a label that is tried before bytes are compared with languages; nothing of it is believed that they contradict
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
  const told = prior === undefined ? undefined : tryLetters(prior, bytes);
  return told ?? decodeByLetters(bytes);
}

/** The one of Node, also while the parser of mails is given another in its place. */
const Decoder = globalThis.TextDecoder;

/**
 * Bytes in the encoding of a label, as pages and mails name it, and its own name.
 * @throws TypeError, RangeError for a label that is none, and for bytes that are not of the encoding
 */
export function decodeAs(label: string, bytes: Buffer): DecodedText {
  const decoder = new Decoder(label, { fatal: true });
  const { encoding } = decoder;
  // Node 20 takes it for Latin-1, which has no letters from 80 to 9f.
  const text = encoding === "windows-1252" ? decodeWindows1252(bytes) : decoder.decode(bytes);
  return { text, encoding };
}

/** Undefined for a label that is none, and for bytes that are not of the encoding. */
export function tryDecode(label: string, bytes: Buffer): DecodedText | undefined {
  try {
    return decodeAs(label, bytes);
  } catch {
    return undefined;
  }
}

/** What Windows-1252 has from 80 on; what it leaves out is itself. */
const FROM_80 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

const decodeWindows1252 = (bytes: Buffer): string =>
  bytes
    .toString("latin1")
    .replaceAll(/[\x80-\x9f]/g, (character) => FROM_80.charAt(character.charCodeAt(0) - 0x80));

function unicodeOf(bytes: Buffer): string | undefined {
  if (bytes.length >= 2) {
    const mark = bytes.readUInt16BE(0);
    // Four bytes with two of zero are the mark of UTF-32.
    if (mark === 0xfffe && !isZero(bytes, 2)) return "utf-16le";
    if (mark === 0xfeff) return "utf-16be";
  }
  return utf16Of(bytes);
}

const isZero = (bytes: Buffer, at: number): boolean =>
  bytes.length >= at + 2 && bytes.readUInt16BE(at) === 0;

/** Bytes that are looked at; a text goes on as it begins. */
const LOOKED_AT = 4_096;
const FEWEST = 8;
/** More of them are no text of one byte a letter. */
const MOST_CONTROLS = 0.02;
/** Of UTF-16 without a blank, whose bytes may be UTF-8 as well: every second one is a control. */
const MOST_ESCAPES = 0.25;

/**
 * UTF-16 has controls where other texts have letters: the zeros of Latin, the fours of Cyrillic, all of them in Chinese. The
 * right order of its bytes is the one whose letters stand in the fewest blocks of 256.
 */
function utf16Of(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, LOOKED_AT);
  if (head.length < FEWEST || bytes.length % 2 === 1) return undefined;
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

/** Controls, and what Unicode leaves out for good. */
const NO_TEXT = /[\0-\x08\x0e-\x1f\x7f-\x9f\ufffe\uffff]/;

/** Between words and sentences, in any language; the head of a picture has none. */
const HAS_GAPS = /[ \n\r\u3000-\u3002]/;

const blocksOf = (text: string): number =>
  new Set(Array.from({ length: text.length }, (_, at) => text.charCodeAt(at) >> 8)).size;

const isControl = (byte: number): boolean =>
  (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13) || byte === 0x7f;

/** DOS ends a text with one. */
const CTRL_Z = 0x1a;
const holdsControls = (bytes: Buffer): boolean =>
  bytes.some((byte, at) => isControl(byte) && (byte !== CTRL_Z || at < bytes.length - 1));

/** The escapes that lead into Japanese letters and out of them, with such letters between them. */
const isIso2022 = (bytes: Buffer): boolean =>
  bytes.includes("\x1b$") && /\x1b\$[@B][!-~]{2,}\s*\x1b\([BJ]/.test(bytes.toString("latin1"));

/** With more of its bytes above 127 in whole letters of UTF-8 it is a file of that, damaged, which must not be read as if each byte were a letter. */
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

/** Shorter ones are compared with no language: one word of the West is as like Japanese as anything. */
const FEWEST_COMPARED = 20;
/** Bytes that are compared. */
const MOST_COMPARED = 65_536;

/** Loaded by the first file that is no Unicode, which few are. */
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

/** More of the bytes above 127 are no text in letters of the West. */
const MOST_HIGH = 0.4;

/**
 * Labels, the likeliest first. Of equally likely ones the one whose letters stand in fewer blocks; an encoding of one byte that
 * puts signs within words comes behind those that put fewer there.
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

/** Whole lines from the first letter on that is no ASCII. */
function sampleOf(bytes: Buffer): Buffer {
  if (bytes.length <= MOST_COMPARED) return bytes;
  const first = bytes.findIndex((byte) => byte >= 0x80);
  const start = bytes.lastIndexOf("\n", first) + 1;
  const sample = bytes.subarray(start, start + MOST_COMPARED);
  const end = sample.lastIndexOf("\n");
  return end === -1 ? sample : sample.subarray(0, end);
}

/** What Windows has in the place of an ISO encoding: the same letters, some in other places. */
const WINDOWS: Readonly<Record<string, string>> = {
  "ISO-8859-1": "windows-1252",
  "ISO-8859-2": "windows-1250",
  "ISO-8859-7": "windows-1253",
  "ISO-8859-8": "windows-1255",
  "ISO-8859-9": "windows-1254",
};

/** Text of Windows is much more frequent; that of the ISO encoding shows by signs within words where it has letters. */
function asWindows(label: string, bytes: Buffer): DecodedText | undefined {
  const own = tryLetters(label, bytes);
  const windows = label in WINDOWS ? tryLetters(WINDOWS[label] ?? label, bytes) : undefined;
  if (windows === undefined || own === undefined) return own ?? windows;
  return signsWithin(own.text) < signsWithin(windows.text) ? own : windows;
}

/** Signs that stand where a word goes on. Powers, degrees and the point of Catalan are left out, which may. */
const signsWithin = (text: string): number =>
  text.match(/(?<=\p{L})(?:[¡-¨¬¯±´-¶¸¼-¿]|[«»ª°²³¹º®\u02c7-\u02dd](?=\p{L}))/gu)?.length ?? 0;

/** A text with controls from 80 to 9f is in another encoding. */
function tryLetters(label: string, bytes: Buffer): DecodedText | undefined {
  const decoded = tryDecode(label, bytes);
  return decoded === undefined || /[\x80-\x9f]/.test(decoded.text) ? undefined : decoded;
}
