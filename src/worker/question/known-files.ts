import { normaliseText } from "../../shared/text/normalise-text.ts";
import { endOfName, isAddress, shapeOf } from "./name-shape.ts";
import type { Claim, Endings } from "./name-shape.ts";
import { append } from "../../shared/group-by.ts";

/**
 * Finds files that may be read, by their names alone: hidden or denied files are unknown here. Each result is the path of a
 * file that proves it.
 */
export type KnownFiles = {
  /** A file with exactly this name, or whose path ends with it. */
  exactly(name: string): string | undefined;
  /** A file whose name differs at most by case, form of Unicode, and one letter. */
  closeTo(name: string): string | undefined;
  /** Files whose name is this one with an extension, ignoring case: README.md for README. */
  withEnding(name: string): readonly string[];
  /** A file below this folder, which is in the work root or at most two levels deeper. */
  below(folder: string): string | undefined;
  /** Names, and ends of paths, that hold spaces and end with this word. */
  afterBlank(lastWord: string): readonly SpacedName[];
};

/** A name as words, with case and form of Unicode folded. */
export type SpacedName = { readonly words: readonly string[]; readonly path: string };

type Named = { readonly folded: string; readonly path: string };

const FOLDER_LEVELS = 3;

/** Folds form of Unicode, case, and ß to ss, so that spellings of a name compare as equal. */
export const foldName = (name: string): string =>
  normaliseText(name, "NFC").toLowerCase().replaceAll("ß", "ss");

const baseOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/**
 * Makes an index over a list of files, in one pass.
 *
 * @param paths from the work root, with `/`
 */
export function knownFilesOf(paths: readonly string[]): KnownFiles {
  const byName = new Map<string, string[]>();
  const byStem = new Map<string, string[]>();
  const byLength = new Map<number, Named[]>();
  const folders = new Map<string, string>();
  const spaced = new Map<string, SpacedName[]>();
  for (const path of paths) {
    const base = baseOf(path);
    const folded = foldName(base);
    append(byName, base, path);
    append(byStem, folded.slice(0, Math.max(0, folded.lastIndexOf("."))), path);
    append(byLength, folded.length, { folded, path });
    for (const folder of path.split("/", FOLDER_LEVELS + 1).slice(0, -1)) {
      if (!folders.has(folder)) folders.set(folder, path);
    }
    if (/\s/.test(path)) for (const name of endsOf(path)) append(spaced, name.words.at(-1), name);
  }
  return {
    exactly: (name) => byName.get(baseOf(name))?.find((path) => endsWithPath(path, name)),
    closeTo: (name) => findClosest(foldName(baseOf(name)), byLength),
    withEnding: (name) => byStem.get(foldName(name)) ?? [],
    below: (folder) => folders.get(folder),
    afterBlank: (lastWord) => spaced.get(foldName(lastWord)) ?? [],
  };
}

const endsWithPath = (path: string, end: string): boolean =>
  path === end || path.endsWith(`/${end.replace(/^(?:\.\/)+/, "")}`);

/** The ends of a path that hold a space: "a/b c/d.md" and "b c/d.md", but not "d.md". */
function endsOf(path: string): SpacedName[] {
  const parts = foldName(path).split("/");
  return parts.flatMap((_, index) => {
    const words = parts.slice(index).join("/").trim().split(/\s+/);
    return words.length > 1 ? [{ words, path }] : [];
  });
}

function findClosest(
  folded: string,
  byLength: ReadonlyMap<number, readonly Named[]>,
): string | undefined {
  for (const length of [folded.length, folded.length - 1, folded.length + 1]) {
    const file = byLength.get(length)?.find((known) => isOneEditAway(known.folded, folded));
    if (file !== undefined) return file.path;
  }
  return undefined;
}

/** Whether two words are equal, or differ by one letter that is inserted, removed, replaced, or swapped with its neighbour. */
export function isOneEditAway(one: string, other: string): boolean {
  if (one.length > other.length) return isOneEditAway(other, one);
  if (other.length - one.length > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  if (one.length < other.length) return one.slice(start) === other.slice(start + 1);
  if (one.slice(start + 1) === other.slice(start + 1)) return true;
  const isSwapped = one[start] === other[start + 1] && one[start + 1] === other[start];
  return isSwapped && one.slice(start + 2) === other.slice(start + 2);
}

/**
 * A possible file name in a text, as the text spells it. `start` and `end` are its range, with quotes. `isQuoted` means quotes
 * or a wiki link, which count as a request to read it, as a reading verb does.
 */
export type FileMention = {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly claim: Claim;
  readonly isQuoted: boolean;
};

/** Wiki links and pairs of quotes. No character class contains its own opening mark, so that the search never backtracks far. */
const QUOTED = new RegExp(
  [
    String.raw`\[\[([^[\]\n]{1,255})\]\]`,
    ...['"([^"\\n]{1,255})"', "`([^`\\n]{1,255})`", "[“„”]([^“„”\\n]{1,255})[“”]"],
    ...[
      "«([^«»\\n]{1,255})»",
      "»([^«»\\n]{1,255})«",
      "‹([^‹›\\n]{1,255})›",
      "›([^‹›\\n]{1,255})‹",
      "「([^「」\\n]{1,255})」",
    ],
    String.raw`<([^<>\n]{1,255})>`,
    String.raw`(?<![\p{L}\p{N}])['‘‚]([^'‘’‚\s][^'‘’‚\n]{0,254})['‘’](?![\p{L}\p{N}])`,
  ].join("|"),
  "gu",
);

/** Finds the names in quotes or wiki links, also with spaces, in order. Quotes without a name are skipped. */
export function findQuotedNames(question: string, endings: Endings): FileMention[] {
  return [...question.matchAll(QUOTED)].flatMap((match) => {
    const found = nameIn(match, endings);
    if (found === null) return [];
    const end = match.index + match[0].length;
    return [{ ...found, start: match.index, end, isQuoted: true }];
  });
}

type QuotedName = Pick<FileMention, "name" | "claim">;

function nameIn(match: RegExpExecArray, endings: Endings): QuotedName | null {
  const groups: (string | undefined)[] = match.slice(1);
  const content = groups.find((group) => group !== undefined) ?? "";
  const isLink = match[0].startsWith("[[") && !isIndex(match.input, match.index);
  if (!isLink) return nameInQuotes(content.trim(), endings);
  const name = nameInLink(content, endings);
  return name === null ? null : { name, claim: "always" };
}

/** `x[[i]]` is code. */
const isIndex = (text: string, at: number): boolean =>
  /[\p{L}\p{N}_)\]]$/u.test(text.slice(Math.max(0, at - 2), at));

/** The whole quoted text, if it is one name. A quoted sentence is no name, though it may contain one. */
function nameInQuotes(content: string, endings: Endings): QuotedName | null {
  const words = content.split(/\s+/);
  if (words.length === 1) return oneWordIn(content, endings);
  if (isAddress(content) || IMPERATIVES.has(words[0]?.toLowerCase() ?? "")) return null;
  const end = endOfName(content, endings);
  if (end === null) return unlistedIn(content, words, endings);
  const isAnchorOrMark = /^(?:[#:]|[^\p{L}\p{N}]*$)/u.test(content.slice(end));
  return isAnchorOrMark ? { name: content.slice(0, end), claim: "always" } : null;
}

/** First words of a quoted sentence that file names seldom begin with. */
const IMPERATIVES: ReadonlySet<string> = new Set([
  ..."read open show print cat load file quote summarize summarise".split(" "),
  ..."lies öffne zeige lis ouvre lee abre leia".split(" "),
]);

function oneWordIn(content: string, endings: Endings): QuotedName | null {
  const shape = shapeOf(content, endings);
  return shape === null
    ? null
    : { name: content.slice(shape.start, shape.end), claim: shape.claim };
}

const MOST_WORDS_UNLISTED = 5;

/** A name of few words, the last of which has an extension that no table lists. */
function unlistedIn(
  content: string,
  words: readonly string[],
  endings: Endings,
): QuotedName | null {
  const last = words.at(-1) ?? "";
  const shape = words.length > MOST_WORDS_UNLISTED ? null : shapeOf(last, endings);
  if (shape?.start !== 0 || !last.includes(".") || /[.,:!?]\s/.test(content)) return null;
  return shape.claim === "if_asked"
    ? { name: content.slice(0, content.length - last.length + shape.end), claim: shape.claim }
    : null;
}

/** `[[note#heading|shown]]`: a note without an extension is a markdown file. */
function nameInLink(link: string, endings: Endings): string | null {
  const target = link.split("|", 1)[0]?.replace(/\\$/, "").trim() ?? "";
  const end = endOfName(target, endings);
  if (end !== null) return isAddress(target) ? null : target.slice(0, end);
  const note = target.split("#", 1)[0]?.trim() ?? "";
  const isNote =
    /\p{L}|\p{N}{4}/u.test(note) && !/\.\p{L}[\p{L}\p{N}]{0,7}$/u.test(note) && !/[*?]/.test(note);
  const hasEdges = /^\s|\s$/.test(link);
  return endings.hasMarkdown && isNote && !hasEdges && !isAddress(note) ? `${note}.md` : null;
}
