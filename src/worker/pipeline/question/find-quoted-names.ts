import { endOfName, isAddress, shapeOf } from "./name-shape.ts";
import type { Claim, Endings } from "./name-shape.ts";

/**
 * What a text may name as a file, as it spells it. `start` and `end` are where the mention stands, quotes included;
 * `isQuoted` says that quotes or a wiki link set it apart, which asks for it as a reading verb does.
 */
export type FileMention = {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly claim: Claim;
  readonly isQuoted: boolean;
};

/** Wiki links and pairs of quotes. No class takes its own opening mark in, so that a search never starts over. */
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

/** The names that stand in quotes or wiki links, blanks and all, in order. Other quotes are left alone. */
export function findQuotedNames(question: string, endings: Endings): FileMention[] {
  return [...question.matchAll(QUOTED)].flatMap((match) => {
    const found = nameIn(match, endings);
    if (found === null) return [];
    const end = match.index + match[0].length;
    return [{ ...found, start: match.index, end, isQuoted: true }];
  });
}

type Named = Pick<FileMention, "name" | "claim">;

function nameIn(match: RegExpExecArray, endings: Endings): Named | null {
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

/** All of what is quoted, if it is one name; a quoted sentence is none, though one may stand in it. */
function nameInQuotes(content: string, endings: Endings): Named | null {
  const words = content.split(/\s+/);
  if (words.length === 1) return oneWordIn(content, endings);
  if (isAddress(content) || IMPERATIVES.has(words[0]?.toLowerCase() ?? "")) return null;
  const end = endOfName(content, endings);
  if (end === null) return unlistedIn(content, words, endings);
  const isAnchorOrMark = /^(?:[#:]|[^\p{L}\p{N}]*$)/u.test(content.slice(end));
  return isAnchorOrMark ? { name: content.slice(0, end), claim: "always" } : null;
}

/** Words with which a quoted sentence begins, and names of files seldom do. */
const IMPERATIVES: ReadonlySet<string> = new Set([
  ..."read open show print cat load file quote summarize summarise".split(" "),
  ..."lies öffne zeige lis ouvre lee abre leia".split(" "),
]);

function oneWordIn(content: string, endings: Endings): Named | null {
  const shape = shapeOf(content, endings);
  return shape === null
    ? null
    : { name: content.slice(shape.start, shape.end), claim: shape.claim };
}

const MOST_WORDS_UNLISTED = 5;

/** Few words, of which the last has an ending that no table holds. */
function unlistedIn(content: string, words: readonly string[], endings: Endings): Named | null {
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
