import { dirname, relative, sep } from "node:path";
import { cleanForTerminal } from "../../shared/terminal/styled-text.ts";
import type { LineRange, PagedRange } from "../../shared/views/section.ts";

/** A link to the lines of a file; only their name if they can't be linked. */
export function evidenceLink(place: PagedRange, hrefBase: string): string {
  const href = evidenceHref(place, hrefBase);
  const text = formatPlace(place);
  return href === undefined ? markdownText(text) : `[${markdownLabel(text)}](${href})`;
}

/** Marks of emphasis (no underscore within a word), code, links, images, HTML, entities, tables or mathematics, anywhere in a line. */
const INLINE = /[\\`*[\]<>&|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;
/** Marks that begin a heading, a list, a rule or an underline at the start of a line. */
const BLOCK_MARK = /^(\s*)([#+=-])/;
const LIST_NUMBER = /^(\s*\d{1,9})([.)])(?=\s|$)/;

/** A run of characters that an address may consist of, for programs that find addresses in text. */
const RUN = /[^\s<>"'`“”«»„‹›|\\^{}[\]]+/g;
/**
 * A run that a program may take for an address: with a scheme, a mail address, or the beginning or the ending of a host
 * name. It also matches file names: to some programs `notes.md` is a host in Moldova.
 */
const ADDRESS =
  /:\/\/|www\.|\S@\S|^\W{0,20}\/\/|[\p{L}\p{N}_-]\.\p{L}{2}|(?:mailto|xmpp|data|javascript|vbscript|file|tel|sms|magnet):/iu;

/**
 * Escapes text of documents and models as one line of Markdown without any markup. Addresses become code, in which no
 * program makes a link of them, and they are not changed.
 */
export const markdownText = (text: string): string => escapeLine(inOneLine(text), showAddress);

/** As `markdownText`, for a part of a line: keeps spaces at its ends. */
export const markdownPart = (text: string): string =>
  escapeLine(cleanForTerminal(text).replace(/\s+/g, " "), showAddress);

/** As `markdownText`, for the text of a link, in which addresses need no code because links can't be nested. */
export const markdownLabel = (text: string): string => escapeLine(inOneLine(text), escapeMarks);

/** As `markdownText`, for text of several lines: a block quote that keeps the line breaks. */
export function markdownQuote(text: string): string {
  const lines = cleanForTerminal(text).trim().split(/\r?\n/);
  return lines
    .map((line, index) => {
      const shown = escapeLine(line.trim(), showAddress);
      const isBroken = shown !== "" && (lines[index + 1] ?? "").trim() !== "";
      return `> ${shown}${isBroken ? "\\" : ""}`.trimEnd();
    })
    .join("\n");
}

const inOneLine = (text: string): string => cleanForTerminal(text).replace(/\s+/g, " ").trim();

function escapeLine(line: string, show: (address: string) => string): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { 0: run, index } of line.matchAll(RUN)) {
    if (!ADDRESS.test(run)) continue;
    const { start, end } = withoutPunctuation(run);
    pieces.push(escapeMarks(line.slice(at, index + start)), show(run.slice(start, end)));
    at = index + end;
  }
  pieces.push(escapeMarks(line.slice(at)));
  return pieces.join("").replace(LIST_NUMBER, "$1\\$2").replace(BLOCK_MARK, "$1\\$2");
}

/** The code can't contain a backtick or a backslash, because a run ends before one. */
const showAddress = (address: string): string => (address === "" ? "" : `\`${address}\``);

const escapeMarks = (text: string): string => text.replace(INLINE, "\\$&");

const PUNCTUATION = ".,;:!?()*_~…";

/** The part of a run without punctuation and marks of emphasis at its ends. */
function withoutPunctuation(run: string): { readonly start: number; readonly end: number } {
  let [start, end] = [0, run.length];
  while (end > 0 && PUNCTUATION.includes(run.charAt(end - 1))) end -= 1;
  while (start < end && PUNCTUATION.includes(run.charAt(start))) start += 1;
  return { start, end };
}

/**
 * The link to evidence: its path, each part percent-encoded, so that no name becomes a scheme, a host or `..`.
 * @param base the path from the linking document to the work root, "" or ending in `/`
 * @returns undefined for a path that is not below the work root; it gets no link
 */
export function evidenceHref(
  { path, line_start, line_end, page }: PagedRange,
  base: string,
): string | undefined {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return undefined;
  const lines = line_start === line_end ? `L${line_start}` : `L${line_start}-L${line_end}`;
  // PDF viewers open the page.
  return `${base}${parts.map(encodePart).join("/")}#${page === undefined ? lines : `page=${page}`}`;
}

/** Also encodes `'()*!`, which encodeURIComponent leaves and which end a link in Markdown or an attribute. */
const encodePart = (part: string): string =>
  encodeURIComponent(part.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** `notes/brakes.md, lines 3-9`. */
export const formatPlace = ({ path, line_start, line_end }: LineRange): string =>
  line_start === line_end
    ? `${path}, line ${line_start}`
    : `${path}, lines ${line_start}-${line_end}`;

/**
 * The base of links from a document to the work root.
 * @param file the absolute path of the document; undefined for stdout
 * @returns "" or a path like `../`; also "" for a file outside of the work root, whose links then name paths in the work
 * root and reveal nothing about this machine
 */
export function hrefBaseFor(file: string | undefined, workroot: string): string {
  if (file === undefined) return "";
  const place = relative(workroot, dirname(file));
  const depth = place === "" ? 0 : place.split(sep).length;
  return place.startsWith("..") || place.startsWith(sep) ? "" : "../".repeat(depth);
}

/** The base of links for a report that a command writes outside of the work root by default, and that is not meant to be passed on. */
export const hrefBaseFrom = (folder: string, workroot: string): string =>
  `${relative(folder, workroot).split(sep).map(encodePart).join("/")}/`;
