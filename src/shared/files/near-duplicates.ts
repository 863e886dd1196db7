import { normaliseText } from "../text/normalise-text.ts";

/** The sketch of a text for comparisons: for each of 128 hash functions the least value over its shingles. */
export type Sketch = Uint32Array;

const { imul } = Math;

const HASHES = 128;
/** Bands of four values: all but one in 10,000,000 pairs of texts with 80 % of shingles in common share a band. */
const BAND_ROWS = 4;
const WORDS = 5;
/** Shorter texts are not compared. */
const FEWEST_WORDS = 20;
/** A letter of a script without blanks is a word of its own. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}\p{M}]){1,100}/gu;

/** Odd factors and offsets of the hash functions, the same in every process. */
const FACTORS = Uint32Array.from({ length: HASHES }, (_, at) => (mix(2 * at + 1) | 1) >>> 0);
const OFFSETS = Uint32Array.from({ length: HASHES }, (_, at) => mix(2 * at + 2));

/** The finaliser of MurmurHash3 (Appleby, public domain). */
function mix(value: number): number {
  let mixed = value;
  mixed = imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** FNV-1a over UTF-16 units. */
function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) hash = imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** MinHash over shingles of five words (Broder 1997), ignoring case and the form of accents; null for a short text. */
export function sketchText(text: string): Sketch | null {
  const words = (normaliseText(text).toLowerCase().match(WORD) ?? []).map(hashWord);
  if (words.length < FEWEST_WORDS) return null;
  const shingles = new Int32Array(words.length - WORDS + 1);
  for (let start = 0; start < shingles.length; start += 1) {
    let shingle = 0;
    for (let at = start; at < start + WORDS; at += 1)
      shingle = imul(shingle ^ (words[at] ?? 0), 0x9e3779b1) + 1;
    shingles[start] = shingle;
  }
  return Uint32Array.from({ length: HASHES }, (_, at) => leastValue(shingles, at));
}

/** One hash function per call keeps its constants and the least value in registers. */
function leastValue(shingles: Int32Array, at: number): number {
  const factor = FACTORS[at] ?? 1;
  const offset = OFFSETS[at] ?? 0;
  let least = 0xffffffff;
  for (let next = 0; next < shingles.length; next += 1) {
    const value = mix(imul(shingles[next] ?? 0, factor) + offset);
    if (value < least) least = value;
  }
  return least;
}

/** A sketch as hex, the least significant byte of each value first. */
export const sketchToHex = (sketch: Sketch): string => {
  const bytes = Buffer.alloc(4 * HASHES);
  for (const [at, value] of sketch.entries()) bytes.writeUInt32LE(value, 4 * at);
  return bytes.toString("hex");
};

export const sketchFromHex = (hex: string): Sketch => {
  const bytes = Buffer.from(hex, "hex");
  return Uint32Array.from({ length: HASHES }, (_, at) => bytes.readUInt32LE(4 * at));
};

/** The share of shingles that two texts have in common, 0 to 1, within 0.04 in two of three cases. */
export const similarity = (one: Sketch, other: Sketch): number =>
  one.reduce((same, value, at) => same + (value === other[at] ? 1 : 0), 0) / HASHES;

/** A document for grouping. */
export type Sketched = {
  readonly path: string;
  readonly sha256: string;
  readonly sketch: Sketch | null;
  /** Sorts before documents without it, so that the other members of its group become its copies. */
  readonly isFirst?: boolean;
};

/** The default share of shingles that copies have in common. */
export const LEAST_SIMILARITY = 0.8;

/** The first document of a group, by path, and its copies. */
export type DuplicateGroup = {
  readonly path: string;
  readonly sha256: string;
  readonly copies: readonly {
    readonly path: string;
    /** exact: the same bytes. near: nearly the same words. */
    readonly kind: "exact" | "near";
    readonly similarity: number;
  }[];
};

/** Groups per band that a document is compared with. More groups share a phrase, not a text. */
const MOST_COMPARED = 20;

/**
 * Groups documents with the same bytes, or with nearly the same words. Each is compared only with the first documents of groups,
 * so that no chain of small changes joins two different texts. Nearly linear.
 * @param least similarity, 0 to 1
 */
export function groupDuplicates(documents: readonly Sketched[], least: number): DuplicateGroup[] {
  const sorted = [...documents].sort(byPath);
  const groups: { first: Sketched; copies: DuplicateGroup["copies"][number][] }[] = [];
  const byHash = new Map<string, number>();
  const byBand = new Map<string, number[]>();
  for (const document of sorted) {
    const exact = byHash.get(document.sha256);
    const near = exact === undefined ? nearest(document.sketch) : undefined;
    const found = exact ?? near?.group;
    const group = found === undefined ? undefined : groups[found];
    if (group === undefined) {
      groups.push({ first: document, copies: [] });
      byHash.set(document.sha256, groups.length - 1);
      for (const band of bandsOf(document.sketch))
        byBand.set(band, [...(byBand.get(band) ?? []).slice(0, MOST_COMPARED), groups.length - 1]);
      continue;
    }
    const isSame = group.first.sha256 === document.sha256;
    group.copies.push({
      path: document.path,
      kind: isSame ? "exact" : "near",
      similarity: isSame ? 1 : (near?.similarity ?? similarityTo(group.first, document)),
    });
    if (!byHash.has(document.sha256) && found !== undefined) byHash.set(document.sha256, found);
  }
  return groups.flatMap(({ first: { path, sha256 }, copies }) =>
    copies.length === 0 ? [] : [{ path, sha256, copies }],
  );

  function nearest(sketch: Sketch | null): { group: number; similarity: number } | undefined {
    if (sketch === null) return undefined;
    const candidates = new Set(bandsOf(sketch).flatMap((band) => byBand.get(band) ?? []));
    let best: { group: number; similarity: number } | undefined;
    for (const group of candidates) {
      const other = groups[group]?.first.sketch;
      const alike = other === null || other === undefined ? 0 : similarity(sketch, other);
      if (alike >= least && alike > (best?.similarity ?? 0)) best = { group, similarity: alike };
    }
    return best;
  }
}

function byPath(one: Sketched, other: Sketched): number {
  const isBefore = one.isFirst === true;
  if (isBefore !== (other.isFirst === true)) return isBefore ? -1 : 1;
  return one.path < other.path ? -1 : 1;
}

const similarityTo = (one: Sketched, other: Sketched): number =>
  one.sketch === null || other.sketch === null ? 0 : similarity(one.sketch, other.sketch);

function bandsOf(sketch: Sketch | null): string[] {
  if (sketch === null) return [];
  return Array.from(
    { length: HASHES / BAND_ROWS },
    (_, band) => `${band}:${sketch.subarray(BAND_ROWS * band, BAND_ROWS * (band + 1)).join(",")}`,
  );
}
