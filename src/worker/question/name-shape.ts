import { fileTables, isWebLabel } from "./file-tables.ts";

/**
 * When a token that looks like a name counts as one. always: everywhere. if_asked: behind a reading verb or in quotes, else
 * where such a file, or one with a name one edit away, is known. if_known: only where exactly that file is known. in_folder: as
 * if_asked, and only where the folder of its first part is known.
 */
export type Claim = "always" | "if_asked" | "if_known" | "in_folder";

type NameShape = { readonly start: number; readonly end: number; readonly claim: Claim };

/** The extensions that mark a name, compiled for search. */
export type Endings = {
  /** The allowed extensions of the configuration, which may hold any character. */
  readonly allowed: RegExp;
  readonly hasMarkdown: boolean;
};

const MAX_NAME_CHARS = 4096;

/**
 * What may follow a name: nothing, punctuation, an anchor (`#`, `:12`), a possessive, emphasis, the tail of a compound
 * ("rail.md-Datei"), or a character of a script that writes particles without a space.
 */
const AFTER = [
  String.raw`$|[\s#:'’?!()[\]{}*,;|]|\.+(?:$|[^\p{L}\p{N}._])|_+(?:$|[^\p{L}\p{N}_])|[/\\]$`,
  String.raw`-(?:\p{Lu}\p{Ll}|files?(?!\p{L}))|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]`,
].join("|");
const LISTED = new RegExp(String.raw`\.([A-Za-z0-9]{1,16})(?=${AFTER})`, "gu");
const NOTHING = "(?!)";

/** @param allowedExts with the leading dot, lower case */
export function compileEndings(allowedExts: readonly string[]): Endings {
  const sources = allowedExts.map((ext) =>
    ext
      .replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
      // The flag "i" can't be used: with it, \p{Lu} would match small letters too.
      .replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`),
  );
  const any = sources.length === 0 ? NOTHING : sources.join("|");
  return {
    allowed: new RegExp(`(?:${any})(?=${AFTER})`, "u"),
    hasMarkdown: allowedExts.includes(".md"),
  };
}

type Ending = { readonly start: number; readonly end: number; readonly text: string };

/** Finds the first allowed or listed extension in a text at which a name may end. */
function findEnding(text: string, { allowed }: Endings): Ending | null {
  const configured = allowed.exec(text);
  const until = configured?.index ?? text.length;
  for (const { 0: ending, 1: letters = "", index } of text.matchAll(LISTED)) {
    if (index >= until) break;
    if (fileTables().endings.has(letters.toLowerCase())) {
      return { start: index, end: index + ending.length, text: ending };
    }
  }
  if (configured === null) return null;
  const [ending] = configured;
  return { start: configured.index, end: configured.index + ending.length, text: ending };
}

/**
 * Finds the name in a token without spaces, by its spelling alone and without the marks around it; in a markdown link it is the
 * target. Null for a token that is no name: a version, a sum, a date, an abbreviation, an address, "*.md".
 */
export function shapeOf(token: string, endings: Endings): NameShape | null {
  if (!/[./\\]/.test(token)) return bareShape(token);
  const link = token.lastIndexOf("](");
  const from = link === -1 ? 0 : link + 2;
  const text = token.slice(from, from + MAX_NAME_CHARS);
  if (isAddress(text)) return null;
  const shape = listedShape(text, endings) ?? coreShape(text);
  return shape === null ? null : { ...shape, start: from + shape.start, end: from + shape.end };
}

/** Decides most words of a question: without a dot or a slash only the few bare names are files. */
function bareShape(token: string): NameShape | null {
  if (token.length > LONGEST_BARE_TOKEN) return null;
  const { start, end } = coreOf(token);
  return isBareFile(token.slice(start, end)) ? { start, end, claim: "if_asked" } : null;
}

const LONGEST_BARE_TOKEN = 80;

/** The end of the name, which may hold spaces, at the beginning of a text; null where it begins with none. */
export function endOfName(text: string, endings: Endings): number | null {
  const found = findEnding(text, endings);
  if (found === null) return null;
  return isFileName(text.slice(0, found.end), found.text) ? found.end : null;
}

function listedShape(text: string, endings: Endings): NameShape | null {
  const ending = findEnding(text, endings);
  if (ending === null) return null;
  const { end } = ending;
  const start = startOfName(text.slice(0, end), text.charAt(end) === "_" ? "emphasis" : "name");
  const name = text.slice(start, end);
  if (!isFileName(name, ending.text)) return null;
  return { start, end, claim: claimOfListed(name, ending.text) };
}

/** The start behind an unclosed bracket, emphasis, a quote, the `@` of a mention, or a label as in "file:". */
function startOfName(name: string, underscore: "emphasis" | "name"): number {
  const open = afterUnmatchedBracket(name);
  const lead = /^(?:['‘’*:!¿¡@]|~~|\p{L}{2,20}:)*/u.exec(name.slice(open))?.[0].length ?? 0;
  const marks = underscore === "name" ? 0 : (/^_*/.exec(name.slice(open + lead))?.[0].length ?? 0);
  return open + lead + marks;
}

function afterUnmatchedBracket(name: string): number {
  const opened: number[] = [];
  let after = 0;
  for (let index = 0; index < name.length; index += 1) {
    const char = name.charAt(index);
    if ("([{".includes(char)) opened.push(index);
    else if (")]}".includes(char) && opened.pop() === undefined) after = index + 1;
  }
  return Math.max(after, (opened.at(-1) ?? -1) + 1);
}

const baseOf = (name: string): string =>
  name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);

function isFileName(name: string, ending: string): boolean {
  return /[\p{L}\p{N}]/u.test(baseOf(name).slice(0, -ending.length)) && !/[*?\n]/.test(name);
}

/**
 * "D.C." and "a.m." end like sources of C and Objective-C, "late.Go" is the border of two sentences, "Quill.js" is more likely
 * a product than a file, and the configuration may allow an extension that addresses have too.
 */
function claimOfListed(name: string, ending: string): Claim {
  const base = baseOf(name);
  const stem = base.slice(0, -ending.length);
  const isLetter = ending.length === 2 && !/[\p{L}\p{N}]{2}$/u.test(stem);
  if (fileTables().products.has(base.toLowerCase()) || isLetter) return "if_known";
  if (isLeading(name)) return "always";
  const isProduct = base === name && isProductOfScripts(stem, ending);
  const isDoubtful = /^\.[A-Z][a-z]+$/.test(ending) || isWebLabel(ending.slice(1));
  return isProduct || isDoubtful ? "if_asked" : "always";
}

const isProductOfScripts = (stem: string, ending: string): boolean =>
  ending.toLowerCase() === ".js" &&
  /^[A-Z][A-Za-z0-9]*$/.test(stem) &&
  !fileTables().scripts.has(stem.toLowerCase());

/** A path that begins at the home folder or this folder, leads up, or begins with a drive or a share. */
const isLeading = (path: string): boolean =>
  /^(?:~|\.{1,2})[/\\]|[/\\]\.\.[/\\]|^[A-Za-z]:\\|^\\\\[\p{L}\p{N}]/u.test(path);

/** The shape of a token without a listed extension, after punctuation is removed. */
function coreShape(text: string): NameShape | null {
  const { start, end } = coreOf(text);
  const core = text.slice(start, end);
  if (!/[\p{L}\p{N}]/u.test(core) || /[*?^$%&{}[\]()]/.test(core)) return null;
  const claim = claimOfCore(core);
  // "@john.doe" and "#project.x" are a person and a topic.
  if (claim === null || /^[@#]/.test(text)) return null;
  return { start, end, claim };
}

const LEADING_MARKS = "'‘’(*[{¿¡!:@_";
const TRAILING_MARKS = ".,:!?*'’)]}_";

function coreOf(text: string): { readonly start: number; readonly end: number } {
  let start = 0;
  let end = text.length;
  while (start < end && LEADING_MARKS.includes(text.charAt(start))) start += 1;
  while (end > start && TRAILING_MARKS.includes(text.charAt(end - 1))) end -= 1;
  const core = text.slice(start, end);
  // "file:LICENSE", and French "l'README".
  start += /^(?:\p{L}{2,20}:(?=[^/\\\d])|(?:[ldcjmnst]|qu)['’](?=.))/iu.exec(core)?.[0].length ?? 0;
  return { start, end: start + endOfCore(text.slice(start, end)) };
}

/** The end before a possessive, an anchor, the tail of a compound, or a particle of a script without spaces. */
function endOfCore(core: string): number {
  const tail =
    /['’]s$|#|:\d|-(?:\p{Lu}\p{Ll}|files?$)|(?<=[A-Za-z0-9])[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u;
  const at = core.search(tail);
  return at <= 0 ? core.length : at;
}

function claimOfCore(core: string): Claim | null {
  if (isLeading(core)) return "always";
  if (core.startsWith("/")) return claimOfAbsolute(core);
  const parts = core.split(/[/\\]/);
  const [only = "", ...more] = parts;
  return more.length === 0 ? claimOfBare(only) : claimOfPath(parts);
}

function claimOfAbsolute(path: string): Claim | null {
  const parts = path.split("/").filter((part) => part !== "");
  if (!parts.every((part) => /^[\p{L}\p{N}._~-]/u.test(part))) return null;
  const [first = ""] = parts;
  return parts.length > 1 || fileTables().system_folders.has(first.toLowerCase())
    ? "always"
    : "if_asked";
}

function claimOfBare(name: string): Claim | null {
  if (fileTables().products.has(name.toLowerCase())) return "if_known";
  if (name.startsWith(".")) return claimOfDotFile(name);
  if (isBareFile(name) || hasUnlistedEnding(name)) return "if_asked";
  return null;
}

/** LICENSE, LICENSE-MIT, README, Makefile: files without an extension. */
export const isBareFile = (name: string): boolean =>
  fileTables().bare.has(name.toLowerCase()) ||
  fileTables().in_capitals.has(name.replace(/-[A-Z0-9]{2,12}$/, ""));

/** ".env" is a file; ".md" means an extension, and ".com" a domain. */
function claimOfDotFile(name: string): Claim | null {
  const [first = "", ...more] = name.slice(1).split(".");
  if (!/^\p{L}/u.test(first)) return null;
  if (fileTables().behind_a_dot.has(first.toLowerCase())) return "always";
  const isEnding = fileTables().endings.has(first.toLowerCase()) || isWebLabel(first);
  return more.length === 0 && isEnding ? null : "if_asked";
}

function claimOfPath(parts: readonly string[]): Claim | null {
  const [first = ""] = parts;
  const last = parts.at(-1) ?? "";
  if (
    fileTables().products.has(first.toLowerCase()) ||
    fileTables().products.has(last.toLowerCase())
  )
    return null;
  if (!/\p{L}/u.test(first)) return null;
  const hidden = parts.find((part) => part.startsWith("."));
  if (hidden !== undefined) return claimOfDotFile(hidden);
  return isBareFile(last) || hasUnlistedEnding(last) ? "if_asked" : "in_folder";
}

/** An extension that no table lists, behind a word: small letters, up to four capitals, or a date as in "log.2024-05". */
function hasUnlistedEnding(name: string): boolean {
  const dot = name.lastIndexOf(".");
  const stem = name.slice(0, dot === -1 ? 0 : dot);
  const ending = name.slice(dot + 1);
  const isWord = /\p{L}[\p{L}\p{N}_-]|[\p{N}_-]\p{L}/u.test(stem) && !/^v?\d[\d.]*$/i.test(stem);
  return (
    isWord &&
    /^(?:[a-z][a-z0-9]{0,7}|[A-Z][A-Z0-9]{1,3}|(?:19|20)\d{2}(?:-?\d{2}){0,2})$/.test(ending) &&
    !/[=+@§€£¥"°]/.test(name) &&
    !isAbbreviation(name) &&
    !isWebLabel(ending) &&
    !fileTables().company_forms.has(ending.toLowerCase())
  );
}

/** "Dr.med" by its table; "e.g", "z.B", "U.S", "EE.UU", "Ph.D" because no part has more than two letters. */
function isAbbreviation(name: string): boolean {
  const parts = name.split(".");
  return (
    fileTables().abbreviations.has(parts[0]?.toLowerCase() ?? "") ||
    parts.every((part) => /^\p{L}{0,2}$/u.test(part))
  );
}

const EMAIL = /^[^@/\\]+@[^@/\\]+$/;
const FIRST_PART =
  /^['‘(*[{]{0,8}([\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,6})(?::\d{1,5})?\//u;

/** A web or mail address is no file, whatever its ending. */
export function isAddress(text: string): boolean {
  if (/:\/\/|^localhost[:/]/i.test(text) || /^['‘(*[{]{0,8}www\./i.test(text) || EMAIL.test(text))
    return true;
  const host = FIRST_PART.exec(text)?.[1];
  if (host === undefined) return false;
  const label = host.slice(host.lastIndexOf(".") + 1);
  return /^\d+$/.test(label) ? /^\d+(?:\.\d+){3}$/.test(host) : isWebLabel(label);
}
