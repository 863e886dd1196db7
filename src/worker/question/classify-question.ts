import { matchTrigger } from "../../shared/text/match-trigger.ts";
import { normaliseText } from "../../shared/text/normalise-text.ts";
import { findQuotedNames, foldName, isOneEditAway } from "./known-files.ts";
import type { FileMention, KnownFiles, SpacedName } from "./known-files.ts";
import { compileEndings, isBareFile, shapeOf } from "./name-shape.ts";
import type { Endings } from "./name-shape.ts";
import { findReadingWords } from "./reading-words.ts";

/**
 * file: the question names files, and they must be read before it is answered. whole_file: they must also be read completely.
 * passages: files that were read, or passages of the index, are enough.
 */
export type Classification = {
  readonly need: "file" | "whole_file" | "passages";
  readonly namedFiles: readonly string[];
  /** Why the whole file is needed: the option or a trigger. */
  readonly wholeBecause: string | null;
};

export type Classified = Classification & {
  /** Paths of files whose existence decided which files the question names. */
  readonly knownFiles: readonly string[];
};

type ClassifySettings = {
  /** The files of the job's input, which count as named. */
  readonly about?: readonly string[];
  /** With the leading dot, lower case. */
  readonly allowedExts: readonly string[];
  /** Words and phrases that request a summary, which needs the whole file. */
  readonly summaryTriggers: readonly string[];
  /** Words and phrases that request depth, which needs the whole file too. */
  readonly fullTriggers: readonly string[];
  /** The `full` option of the job. */
  readonly extent: "full" | "as_needed";
};

/**
 * Decides which evidence a question needs before it may be answered. Triggers match whole words only.
 *
 * @param knownFiles returns the files that may be read; it is called only for a question that may name one
 */
export async function classifyQuestion(
  question: string,
  settings: ClassifySettings,
  knownFiles: () => Promise<KnownFiles>,
): Promise<Classified> {
  const { about = [], allowedExts, summaryTriggers, fullTriggers, extent } = settings;
  const { names, rest, ...found } = await findNamedFiles(question, allowedExts, knownFiles);
  const namedFiles = [...new Set([...about, ...names])];
  if (namedFiles.length === 0) {
    return { need: "passages", namedFiles: [], wholeBecause: null, knownFiles: found.knownFiles };
  }
  const wholeBecause =
    extent === "full" ? "option full" : matchTrigger(rest, [...summaryTriggers, ...fullTriggers]);
  return {
    need: wholeBecause === null ? "file" : "whole_file",
    namedFiles,
    wholeBecause,
    knownFiles: found.knownFiles,
  };
}

type NamedFiles = {
  /** As the question spells them, each once, in order. */
  readonly names: readonly string[];
  /** The question with spaces instead of the names, so that "summary.md" requests no summary. */
  readonly rest: string;
  /** Paths of files whose existence decided the result; a repetition needs only these instead of the whole listing. */
  readonly knownFiles: readonly string[];
};

/**
 * Finds the files that a question names. A token that looks like a file's name always counts where a reading verb stands before
 * it, where it is quoted or a wiki link (`[[note]]` is note.md), where it begins like a path, or where it has a file's
 * extension; otherwise only where such a file, or one with a name one edit away, is known. A name may hold spaces where it is
 * quoted, or where that file is known. Linear in the question.
 *
 * @param allowedExts with the leading dot, lower case
 * @param knownFiles is called at most once, and only for a question that may name a file
 */
export async function findNamedFiles(
  question: string,
  allowedExts: readonly string[],
  knownFiles: () => Promise<KnownFiles>,
): Promise<NamedFiles> {
  const endings = compileEndings(allowedExts);
  const quoted = findQuotedNames(question, endings);
  const unquoted = blankOut(question, quoted);
  const bare = findBareNames(unquoted, endings);
  const mentions = [...quoted, ...bare].sort((one, other) => one.start - other.start);
  if (mentions.length === 0) return { names: [], rest: question, knownFiles: [] };
  const asksFor = markAsked(question, mentions);
  const isSettled = mentions.every((mention) => !mayDependOnFiles(mention, unquoted));
  const search = openNameSearch(isSettled ? null : await knownFiles());
  const found = mentions.flatMap((mention) => {
    const name = asksFor(mention)
      ? search.nameIfAsked(mention, unquoted)
      : search.nameIfNotAsked(mention, unquoted);
    return name === null ? [] : [name];
  });
  const named = withoutCovered(found);
  return { names: spelledOnce(named), rest: blankOut(question, named), knownFiles: search.used() };
}

type Named = Pick<FileMention, "name" | "start" | "end">;

/** A name with spaces covers earlier words that look like names themselves: "letters/To the council.txt". */
function withoutCovered(found: readonly Named[]): Named[] {
  const kept: Named[] = [];
  let from = Number.POSITIVE_INFINITY;
  for (const named of found.toReversed()) {
    if (named.start >= from) continue;
    from = named.start;
    kept.push(named);
  }
  return kept.toReversed();
}

function spelledOnce(mentions: readonly Named[]): string[] {
  const spellings = new Map<string, string>();
  for (const { name } of mentions) {
    const composed = normaliseText(name, "NFC");
    if (!spellings.has(composed)) spellings.set(composed, name);
  }
  return [...spellings.values()];
}

/** The characters of a name without quotes; any other character ends it. */
const TOKEN = /[^\s,;|<>="`“”„«»‹›「」『』…—，。、；：？！（）]+/gu;
function findBareNames(question: string, endings: Endings): FileMention[] {
  const mentions: FileMention[] = [];
  for (const { 0: token, index } of question.matchAll(TOKEN)) {
    const shape = shapeOf(token, endings);
    if (shape === null) continue;
    const name = token.slice(shape.start, shape.end);
    const [start, end] = [index + shape.start, index + shape.end];
    if (name.startsWith("/") && isOfWeb(question, start, end)) continue;
    mentions.push({ name, start, end, claim: shape.claim, isQuoted: false });
  }
  return mentions;
}

const WEB_WORD_BEFORE =
  /(?<![\p{L}\p{N}])(?:get|post|put|patch|delete|head|options|endpoints?|routes?|urls?|apis?)[:"'`]?\s{1,4}["'`]?$/iu;
const WEB_WORD_BEHIND = /^["'`]?\s{1,4}(?:endpoints?|routes?|urls?|apis?)(?![\p{L}\p{N}])/iu;

const BESIDE_CHARS = 24;

/** Beside these words, a token that begins with a slash is a web address or a route, not a file. */
const isOfWeb = (question: string, start: number, end: number): boolean =>
  WEB_WORD_BEFORE.test(question.slice(Math.max(0, start - BESIDE_CHARS), start)) ||
  WEB_WORD_BEHIND.test(question.slice(end, end + BESIDE_CHARS));

/** Decides for each mention whether the question asks to read it. Finds the reading words only where they matter. */
function markAsked(
  question: string,
  mentions: readonly FileMention[],
): (mention: FileMention) => boolean {
  const matters = mentions.some(({ claim, isQuoted }) => !isQuoted && claim !== "always");
  const reader = matters ? findReadingWords(question) : null;
  return (mention) => mention.isQuoted || reader?.asksFor(mention) === true;
}

const ELIDED = /^(?:[ldcjmnst]|qu)['’](?=.)/i;

/** Whether known files may change the name. A path that leads up, home or to the root is refused by its spelling alone. */
const mayDependOnFiles = ({ name, start, claim, isQuoted }: FileMention, text: string): boolean =>
  claim !== "always" ||
  isBareFile(name) ||
  (!isQuoted && !/^(?:[~/\\]|\.\.)/.test(name) && wordsBefore(text, start, 1) !== null) ||
  (!isQuoted && ELIDED.test(name));

/** Limits of slow comparisons, because a hostile question may hold thousands of words that look like names. */
const MOST_CLOSE_LOOKS = 16;
const MOST_SPACED_LOOKS = 20_000;

type Search = {
  /** The name of a mention that the question asks to read, or null. */
  nameIfAsked(mention: FileMention, text: string): Named | null;
  nameIfNotAsked(mention: FileMention, text: string): Named | null;
  used(): readonly string[];
};

function openNameSearch(files: KnownFiles | null): Search {
  const used = new Set<string>();
  const close = new Map<string, boolean>();
  let spacedLooks = 0;
  const markUsed = (path: string | undefined): boolean => {
    if (path !== undefined) used.add(path);
    return path !== undefined;
  };
  const isKnown = (name: string): boolean => markUsed(files?.exactly(name));
  const isClose = (name: string): boolean => {
    if (name.length <= 3) return false;
    if (!close.has(name) && close.size < MOST_CLOSE_LOOKS) {
      close.set(name, markUsed(files?.closeTo(name)));
    }
    return close.get(name) === true;
  };
  const hasFolder = (name: string): boolean =>
    markUsed(files?.below(name.split(/[/\\]/, 1)[0] ?? ""));

  /** The name to read: with the spaces of a known file, without "l'", and README.md for README. */
  function spell(mention: FileMention, text: string): Named {
    const { name, start } = mention;
    if (isBareFile(name)) return { ...mention, name: withEnding(name) };
    if (mention.isQuoted || files === null) return mention;
    const candidates = files.afterBlank(name);
    spacedLooks += candidates.length;
    const spaced = spacedLooks > MOST_SPACED_LOOKS ? null : findSpaced(mention, text, candidates);
    if (spaced !== null && markUsed(spaced.path)) {
      const whole = text.slice(spaced.start, mention.end).replace(/\s+/g, " ");
      return { ...mention, name: whole, start: spaced.start };
    }
    const elided = ELIDED.exec(name)?.[0].length ?? 0;
    if (elided === 0 || isKnown(name)) return mention;
    return { ...mention, name: name.slice(elided), start: start + elided };
  }

  function withEnding(name: string): string {
    const paths = isKnown(name) ? [] : (files?.withEnding(name) ?? []);
    const names = new Set(paths.map((path) => path.slice(path.lastIndexOf("/") + 1)));
    const [only, ...others] = names;
    if (only === undefined || others.length > 0) return name;
    markUsed(paths[0]);
    return only;
  }

  return {
    nameIfAsked(mention, text) {
      const { name, claim } = mention;
      if (claim === "if_known" && !isKnown(name)) return null;
      if (claim === "in_folder" && !hasFolder(name)) return null;
      return spell(mention, text);
    },
    nameIfNotAsked(mention, text) {
      const { name, claim } = mention;
      if (claim === "always" || isKnown(name)) return spell(mention, text);
      if (claim === "if_known" || (claim === "in_folder" && !hasFolder(name))) return null;
      const whole = spell(mention, text);
      return whole.name !== name || isClose(name) ? whole : null;
    },
    used: () => [...used],
  };
}

/** The longest known name with spaces that ends with the mention, at most one edit apart, and where it begins in the text. */
function findSpaced(
  { name, start }: FileMention,
  text: string,
  candidates: readonly SpacedName[],
): { readonly start: number; readonly path: string } | null {
  const last = foldName(name);
  let found: { readonly start: number; readonly path: string; readonly words: number } | null =
    null;
  for (const { words, path } of candidates) {
    if (found !== null && found.words >= words.length) continue;
    const before = wordsBefore(text, start, words.length - 1);
    if (before === null) continue;
    const spelling = [foldName(before.text), last].join(" ").replace(/\s+/g, " ");
    if (isOneEditAway(spelling, words.join(" "))) {
      found = { start: before.start, path, words: words.length };
    }
  }
  return found;
}

const MOST_WORD_CHARS = 255;

/** The `count` words directly before a place, without the marks that open the first; null where there are fewer. */
function wordsBefore(
  text: string,
  place: number,
  count: number,
): { readonly start: number; readonly text: string } | null {
  let start = place;
  const least = Math.max(0, place - MOST_WORD_CHARS);
  for (let left = count; left > 0; left -= 1) {
    let end = start;
    while (end > least && /\s/.test(text.charAt(end - 1))) end -= 1;
    if (end === start) return null;
    start = end;
    while (start > least && !/\s/.test(text.charAt(start - 1))) start -= 1;
    if (start === end) return null;
  }
  const marks = /^['‘"“„«(*[{¿¡]+/u.exec(text.slice(start, place))?.[0].length ?? 0;
  return { start: start + marks, text: text.slice(start + marks, place).trim() };
}

/** Replaces spans, which are in order, by spaces, so that positions stay the same. */
function blankOut(text: string, spans: readonly Pick<Named, "start" | "end">[]): string {
  let kept = "";
  let position = 0;
  for (const { start, end } of spans) {
    if (end <= position) continue;
    const from = Math.max(start, position);
    kept += text.slice(position, from) + " ".repeat(end - from);
    position = end;
  }
  return kept + text.slice(position);
}
