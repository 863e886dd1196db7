import { dirname, relative, sep } from "node:path";
import { cleanForTerminal } from "../../shared/terminal/styled-text.ts";
import type { LineRange, PagedRange } from "../../shared/views/section.ts";

/** A link to the lines of a file, or their name where they can't be linked. */
export function evidenceLink(place: PagedRange, hrefBase: string): string {
  const href = evidenceHref(place, hrefBase);
  const text = formatPlace(place);
  return href === undefined ? markdownText(text) : `[${markdownLabel(text)}](${href})`;
}

/** Marks that begin emphasis (an underscore within a word begins none), code, links, images, HTML, entities, tables or mathematics wherever they stand. */
const INLINE = /[\\`*[\]<>&|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;
/** Marks that begin a heading, a list, a rule or an underline where a line starts. */
const BLOCK_MARK = /^(\s*)([#+=-])/;
const LIST_NUMBER = /^(\s*\d{1,9})([.)])(?=\s|$)/;

/** What an address consists of for programs that find addresses in a text; none goes on behind another character. */
const RUN = /[^\s<>"'`“”«»„‹›|\\^{}[\]]+/g;
/**
 * What makes a program take a run for an address: a scheme, a mail address, or the beginning or the ending of a host's
 * name. Names of files are among them: `notes.md` is a host in Moldova to some.
 */
const ADDRESS =
  /:\/\/|www\.|\S@\S|^\W{0,20}\/\/|[\p{L}\p{N}_-]\.\p{L}{2}|(?:mailto|xmpp|data|javascript|vbscript|file|tel|sms|magnet):/iu;

/**
 * Text of documents and models as one line of Markdown that shows it and does nothing else. Addresses stand in code,
 * where no program makes a link of them, and are copied as they are.
 */
export const markdownText = (text: string): string => escapeLine(inOneLine(text), showAddress);

/** The same for a part of a line, with the blanks at its ends. */
export const markdownPart = (text: string): string =>
  escapeLine(cleanForTerminal(text).replace(/\s+/g, " "), showAddress);

/** The same for the text of a link, in which nothing else can be a link. */
export const markdownLabel = (text: string): string => escapeLine(inOneLine(text), escapeMarks);

/** The same as `markdownText` for text of many lines, as a block quote that keeps them. */
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

/** Code holds no backtick and no backslash here: a run ends before one. */
const showAddress = (address: string): string => (address === "" ? "" : `\`${address}\``);

const escapeMarks = (text: string): string => text.replace(INLINE, "\\$&");

const PUNCTUATION = ".,;:!?()*_~…";

/** What of a run stands between punctuation of the sentence and marks of emphasis. */
function withoutPunctuation(run: string): { readonly start: number; readonly end: number } {
  let [start, end] = [0, run.length];
  while (end > 0 && PUNCTUATION.includes(run.charAt(end - 1))) end -= 1;
  while (start < end && PUNCTUATION.includes(run.charAt(start))) start += 1;
  return { start, end };
}

/**
 * The address of evidence: its path, each part percent-encoded, so that no name becomes a scheme, a host or a way out.
 * @param base from the document that links to the work root, "" or ending in `/`
 * @returns undefined for a path that is none below the work root: it is shown without a link
 */
export function evidenceHref(
  { path, line_start, line_end, page }: PagedRange,
  base: string,
): string | undefined {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return undefined;
  const lines = line_start === line_end ? `L${line_start}` : `L${line_start}-L${line_end}`;
  // Programs that show PDF go to the page.
  return `${base}${parts.map(encodePart).join("/")}#${page === undefined ? lines : `page=${page}`}`;
}

/** encodeURIComponent leaves `'()*!` as they are, which end a link in Markdown or an attribute. */
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
 * How links of a document lead to the work root.
 * @param file where the document is written, absolute; undefined for stdout
 * @returns "" or a path like `../`; "" also for a file outside of the work root, whose links then say where a file
 * lies in it, and nothing of this machine
 */
export function hrefBaseFor(file: string | undefined, workroot: string): string {
  if (file === undefined) return "";
  const place = relative(workroot, dirname(file));
  const depth = place === "" ? 0 : place.split(sep).length;
  return place.startsWith("..") || place.startsWith(sep) ? "" : "../".repeat(depth);
}

/** The same of a report that a command puts outside of the work root by itself, where nobody takes it for one to give away. */
export const hrefBaseFrom = (folder: string, workroot: string): string =>
  `${relative(folder, workroot).split(sep).map(encodePart).join("/")}/`;
