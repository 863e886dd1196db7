import { dirname, relative, sep } from "node:path";
import { describeTask } from "../../shared/kinds.ts";
import type { JobResult, StoredCitation } from "../../shared/views/results.ts";
import { cleanForTerminal } from "../../shared/styled-text.ts";

export const markdownHead = (batch: string): string => `# ${markdownText(batch)}\n`;

/** A job under its custom_id: what was asked, the answer and what it rests on, or why there is none. */
export function markdownSection(result: JobResult, hrefBase: string): string {
  const task = describeTask(result.kind, result.input);
  const blocks = [
    `## ${markdownText(result.custom_id)}`,
    `${result.kind}, ${result.state}${task === "" ? "" : `: ${markdownText(task)}`}`,
    ...(result.answer === null ? [] : [markdownQuote(result.answer)]),
    ...describeOutput(result),
    ...describeProblem(result),
    ...citationList(result.citations ?? [], hrefBase),
    ...(result.evidence.length === 0 ? [] : [evidenceList(result.evidence, hrefBase)]),
  ];
  return `${blocks.join("\n\n")}\n`;
}

/** What a digest had to leave out stands in its answer. */
const describeOutput = ({ kind, summary }: JobResult): readonly string[] =>
  summary === null || kind === "digest" ? [] : [markdownQuote(JSON.stringify(summary, null, 1))];

const describeProblem = ({ error_code, error_message }: JobResult): readonly string[] =>
  error_code === null ? [] : [`**${error_code}** ${markdownText(error_message ?? "")}`];

/** What the numbers in an answer stand for: lines of a file, or the job whose answer a digest tells of. */
function citationList(citations: readonly StoredCitation[], hrefBase: string): readonly string[] {
  const lines = citations.flatMap((citation) =>
    typeof citation.number === "number"
      ? [`- \\[${citation.number}\\] ${citedPlace(citation, hrefBase)}`]
      : [],
  );
  return lines.length === 0 ? [] : [`Citations:\n\n${lines.join("\n")}`];
}

function citedPlace(citation: StoredCitation, hrefBase: string): string {
  const { path, jobId, lineStart, lineEnd, resolved } = citation;
  const name = markdownText(path);
  if (resolved === false) return `${name}, which stands for nothing that was read`;
  if (typeof jobId === "string") return `${name}, job ${jobId}`;
  if (typeof lineStart !== "number" || typeof lineEnd !== "number") return name;
  return evidenceLink({ path, line_start: lineStart, line_end: lineEnd }, hrefBase);
}

const evidenceList = (pieces: JobResult["evidence"], hrefBase: string): string =>
  `Evidence:\n\n${pieces.map((piece) => `- ${evidenceLink(piece, hrefBase)}, sha256 ${piece.sha256}`).join("\n")}`;

/** A link to the lines of a file, or their name where they can't be linked. */
export function evidenceLink(place: LineRange, hrefBase: string): string {
  const href = evidenceHref(place, hrefBase);
  const text = describePlace(place);
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

/** Lines of a file that was read. */
export type LineRange = {
  readonly path: string;
  readonly line_start: number;
  readonly line_end: number;
};

/**
 * The address of evidence: its path, each part percent-encoded, so that no name becomes a scheme, a host or a way out.
 * @param base from the document that links to the work root, "" or ending in `/`
 * @returns undefined for a path that is none below the work root: it is shown without a link
 */
export function evidenceHref(
  { path, line_start, line_end }: LineRange,
  base: string,
): string | undefined {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return undefined;
  const lines = line_start === line_end ? `L${line_start}` : `L${line_start}-L${line_end}`;
  return `${base}${parts.map(encodePart).join("/")}#${lines}`;
}

/** encodeURIComponent leaves `'()*!` as they are, which end a link in Markdown or an attribute. */
const encodePart = (part: string): string =>
  encodeURIComponent(part.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** `notes/brakes.md, lines 3-9`. */
export const describePlace = ({ path, line_start, line_end }: LineRange): string =>
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
