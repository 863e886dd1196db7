import { endOfName, isAddress } from "./locate-name.ts";
import type { Extensions } from "./locate-name.ts";
import { isReadingWord } from "./reading-words.ts";

/** A file that a text names, as it spells it; `start` and `end` are where the mention stands, quotes included. */
export type FileMention = { readonly name: string; readonly start: number; readonly end: number };

/** Wiki links and pairs of quotes. No class takes its own opening mark in, so that a search never starts over. */
const QUOTED = new RegExp(
  [
    String.raw`\[\[([^[\]\n]{1,255})\]\]`,
    ...['"([^"\\n]{1,255})"', "`([^`\\n]{1,255})`", "[“„”]([^“„”\\n]{1,255})[“”]"],
    ...["«([^«»\\n]{1,255})»", "‹([^‹›\\n]{1,255})›", "「([^「」\\n]{1,255})」"],
    String.raw`<([^<>\n]{1,255})>`,
    String.raw`(?<![\p{L}\p{N}])['‘‚]([^'‘’‚\s][^'‘’‚\n]{0,254})['‘’](?![\p{L}\p{N}])`,
  ].join("|"),
  "gu",
);

/** The names that stand in quotes or wiki links, blanks and all, in order. Other quotes are left alone. */
export function findQuotedNames(question: string, extensions: Extensions): FileMention[] {
  return [...question.matchAll(QUOTED)].flatMap((match) => {
    const name = nameIn(match, extensions);
    return name === null ? [] : [{ name, start: match.index, end: match.index + match[0].length }];
  });
}

function nameIn(match: RegExpExecArray, extensions: Extensions): string | null {
  const groups: (string | undefined)[] = match.slice(1);
  const content = groups.find((group) => group !== undefined) ?? "";
  const isLink = match[0].startsWith("[[") && !isIndex(match.input, match.index);
  return isLink ? nameInLink(content, extensions) : nameInQuotes(content, extensions);
}

/** `x[[i]]` is code. */
const isIndex = (text: string, at: number): boolean =>
  /[\p{L}\p{N}_)\]]$/u.test(text.slice(Math.max(0, at - 2), at));

/** All of what is quoted, if it is one name; a quoted sentence is none, though one may stand at its end. */
function nameInQuotes(quoted: string, extensions: Extensions): string | null {
  const content = quoted.trim();
  const end = endOfName(content, extensions);
  if (end === null || isAddress(content)) return null;
  const [firstWord = "", ...more] = content.slice(0, end).split(/\s+/);
  if (more.length > 0 && isReadingWord(firstWord)) return null;
  const isAnchorOrMark = /^(?:[#:]|[^\p{L}\p{N}]*$)/u.test(content.slice(end));
  return isAnchorOrMark ? content.slice(0, end) : null;
}

/** `[[note#heading|shown]]`: a note without an extension is a markdown file. */
function nameInLink(link: string, extensions: Extensions): string | null {
  const target = link.split("|", 1)[0]?.replace(/\\$/, "").trim() ?? "";
  const end = endOfName(target, extensions);
  if (end !== null) return isAddress(target) ? null : target.slice(0, end);
  const note = target.split("#", 1)[0]?.trim() ?? "";
  const isNote =
    /\p{L}|\p{N}{4}/u.test(note) && !/\.\p{L}[\p{L}\p{N}]{0,7}$/u.test(note) && !/[*?]/.test(note);
  const hasEdges = /^\s|\s$/.test(link);
  return extensions.hasMarkdown && isNote && !hasEdges && !isAddress(note) ? `${note}.md` : null;
}
