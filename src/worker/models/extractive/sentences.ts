import { MAIL_HEADINGS, parseMailHeader, subjectOf } from "../../text/mail-header.ts";
import type { MailHeader } from "../../text/mail-header.ts";
import { cutToFit, sentenceEnds } from "../../text/sentences.ts";
import type { TextSpan } from "../../text/spans.ts";
import { cellTexts } from "../../text/table-cells.ts";

/** A stretch of a text that can be shown as it is. */
export type Sentence = {
  /** Verbatim, but that a run of white space is one blank, and that a table row names its columns. */
  readonly text: string;
  /** A row of a table, a line of JSON and a member of a mail's header are key facts rather than sentences. */
  readonly kind: "sentence" | "line" | "header";
  /** Words that stand around it and say what it is about: headings above it, the head of its table. */
  readonly context: string;
  /** The two highest headings above it. */
  readonly section: string;
  /** Number of its paragraph; sentences of one follow each other. */
  readonly paragraph: number;
  /** Its paragraph as a whole, verbatim as `text` is. */
  readonly block: string;
  /** Where it begins in its paragraph. */
  readonly start: number;
};

/** Longer stretches are text that nobody punctuated; they are shown in parts. */
const MAX_CHARS = 700;

/** The sentences of a markdown, plain or JSON text, in order. Nothing is left out but single characters. */
export const splitSentences = (text: string): Sentence[] =>
  splitBlocks(text).flatMap(({ kind, text: raw, context, section }, paragraph): Sentence[] => {
    const block = oneBlank(raw);
    const around = { context, section, paragraph, block };
    const whole = [{ start: 0, end: block.length }];
    return (kind === "paragraph" ? sentencesOf(block) : whole)
      .flatMap((span) => cutToFit(block, span, MAX_CHARS))
      .map((span): Sentence => {
        const { start, end } = withoutNoteMarks(block, span);
        const said = block.slice(start, end);
        const shown = kind === "paragraph" ? said.replace(SIGNATURE, "") : said;
        return {
          ...around,
          text: shown,
          start,
          kind: kind === "paragraph" ? "sentence" : kind,
        };
      })
      .filter((sentence) => sentence.text.length > 1);
  });

/** Who wrote the lines above: a short name after a dash after the last stop. After a quote it says who spoke, and stays. */
const SIGNATURE = /(?<=[.!?…)]) [—–-]{1,2} \p{Lu}[\p{L}.]{0,19}(?: \p{Lu}[\p{L}.]{0,19}){0,2}$/u;

/** The mark of a footnote, "[^2]", says nothing by itself, and reads like a citation. */
function withoutNoteMarks(block: string, { start, end }: TextSpan): TextSpan {
  const said = block.slice(start, end);
  const opening = NOTE_MARKS_BEFORE.exec(said)?.[0].length ?? 0;
  const closing = NOTE_MARKS_BEHIND.exec(said.slice(opening))?.[0].length ?? 0;
  return { start: start + opening, end: end - closing };
}

const NOTE_MARKS_BEFORE = /^(?:\[\^[\p{L}\p{N}_-]{1,20}\]:? {0,2}){1,9}/u;
const NOTE_MARKS_BEHIND = /(?: {0,2}\[\^[\p{L}\p{N}_-]{1,20}\]){1,9} {0,2}$/u;

const oneBlank = (text: string): string => text.replace(/\s+/g, " ").trim();

function sentencesOf(block: string): { start: number; end: number }[] {
  let from = 0;
  return sentenceEnds(block).map((end) => {
    const span = { start: from, end };
    from = block.charAt(end) === " " ? end + 1 : end;
    return span;
  });
}

/** A paragraph, a list item, a table row or a line of JSON, without its marks at the ends. */
type TextBlock = {
  /** header: a member of the header of a mail, what it is signed with, or a name in its list of attachments. */
  readonly kind: "paragraph" | "line" | "header";
  text: string;
  /** Words that stand around it and say what it is about: headings above it, the head of its table. */
  readonly context: string;
  /** The two highest headings above it. */
  readonly section: string;
};

/** Longer headings, heads of tables and members of JSON say nothing more about what stands under them. */
const MOST_CONTEXT_CHARS = 300;

type Reader = {
  readonly blocks: TextBlock[];
  readonly headings: string[];
  /** A mail has begun, with a title. */
  isMail: boolean;
  /** What stands here says who wrote it, or what came with it. */
  isBesideMail: boolean;
  /** The paragraph that the next line may continue. */
  open: TextBlock | null;
  /** A paragraph that ends with a colon: indented lines behind a blank one belong to it. */
  leadIn: TextBlock | null;
  /** How that paragraph begins: to look into the whole of it at each line would take quadratic time. */
  opening: string;
  tableHead: readonly string[] | null;
  /** Lines of the JSON object so far: its other members say what a member belongs to. */
  jsonMembers: string[];
  /** The fence that must close before text counts again. */
  fence: string | null;
};

/** The blocks of a markdown, plain or JSON text; frontmatter, code and rules are left out. */
export function splitBlocks(text: string): TextBlock[] {
  const reader: Reader = {
    blocks: [],
    headings: [],
    isMail: false,
    isBesideMail: false,
    open: null,
    leadIn: null,
    opening: "",
    tableHead: null,
    jsonMembers: [],
    fence: null,
  };
  const lines = text.split(/\r\n|\n|\r/);
  const isInTable = alignedLines(lines);
  for (let at = frontmatterLines(lines); at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    // In a mailbox each mail has its title.
    const header = at === 0 || line.startsWith("# ") ? parseMailHeader(lines, at) : null;
    if (header !== null && header.lines > 0 && reader.fence === null) {
      parseHeader(reader, header);
      at += header.lines - 1;
      continue;
    }
    if (line.trim() !== "") openLeadIn(reader, line);
    parseLine(reader, line.trim(), isInTable[at] === true ? "aligned" : "running");
  }
  return reader.blocks;
}

/** The members of a mail's header are facts, each by itself, and no sentences; its subject is the title of what follows. */
function parseHeader(reader: Reader, header: MailHeader): void {
  if (header.title !== null) {
    reader.isMail = true;
    setHeading(reader, 1, header.title);
  }
  for (const { name, value } of header.members)
    pushBlock(reader, "header", `${name}: ${value}`, "");
  const subject = subjectOf(header);
  if (subject !== null) setHeading(reader, 1, subject);
}

function frontmatterLines(lines: readonly string[]): number {
  if (lines[0]?.replace(/^\uFEFF/, "").trim() !== "---") return 0;
  const end = lines.findIndex((line, index) => index > 0 && line.trim() === "---");
  return end === -1 ? 0 : end + 1;
}

function parseLine(reader: Reader, line: string, setting: "aligned" | "running"): void {
  if (isInCode(reader, line)) return;
  const isRow = line.startsWith("|");
  if (!isRow) reader.tableHead = null;
  const [, marks, title] = /^(#{1,6})[ \t]+(.*)$/.exec(line) ?? [];
  const underlined = underlinedTitle(reader, line);
  if (marks !== undefined) setHeading(reader, marks.length, title ?? "");
  else if (underlined !== null) setHeading(reader, line.startsWith("=") ? 1 : 2, underlined);
  else if (line === "") closeParagraph(reader);
  else if (isRule(line)) reader.open = null;
  else if (reader.open === null && isCapitals(line)) setHeading(reader, 2, line);
  else if (isRow) parseRow(reader, line);
  else if (isJsonLine(line)) parseJsonLine(reader, line);
  else if (NAMED_CELLS.test(line)) parseNamedRow(reader, line);
  else if (setting === "aligned") parseAligned(reader, line);
  else parseText(reader, line);
}

/** "Cabin: Ibex; Seats: 15": a row of a table that was read with the names of its columns. */
const NAMED_CELLS = /^[^:;,.!?]{1,60}: [^;]{1,1000}(?:; [^:;,.!?]{1,60}: [^;]{1,1000}){1,200}$/;

function closeParagraph(reader: Reader): void {
  if (reader.open !== null) reader.leadIn = reader.open.text.endsWith(":") ? reader.open : null;
  reader.open = null;
}

/** A command or an example that is set in, as Markdown has it, is what the line above announces. */
function openLeadIn(reader: Reader, line: string): void {
  if (reader.leadIn !== null && /^(?: {4}|\t)/.test(line)) reader.open = reader.leadIn;
  reader.leadIn = null;
}

/** A paragraph above a line of `===` or `---` was a heading, and is no block. */
function underlinedTitle({ blocks, open }: Reader, line: string): string | null {
  if (open === null || blocks.at(-1) !== open || !/^(?:=+|-+)$/.test(line)) return null;
  blocks.pop();
  return open.text;
}

function isInCode(reader: Reader, line: string): boolean {
  const mark = /^(`{3,}|~{3,})/.exec(line)?.[1];
  if (reader.fence !== null) {
    if (mark?.startsWith(reader.fence) === true) reader.fence = null;
    return true;
  }
  if (mark === undefined) return false;
  reader.fence = mark;
  reader.open = null;
  return true;
}

function setHeading(reader: Reader, level: number, title: string): void {
  const { headings } = reader;
  reader.open = null;
  headings.length = Math.min(headings.length, level - 1);
  while (headings.length < level - 1) headings.push("");
  headings.push(title.slice(0, MOST_CONTEXT_CHARS));
  // On the first level stands what a mail is about, whatever it is called.
  reader.isBesideMail = reader.isMail && level > 1 && BESIDE_MAIL.has(title);
}

const BESIDE_MAIL: ReadonlySet<string> = new Set(Object.values(MAIL_HEADINGS));

function parseRow(reader: Reader, line: string): void {
  const cells = cellTexts(line);
  reader.open = null;
  if (reader.tableHead === null) reader.tableHead = cells;
  else pushBlock(reader, "line", formatRow(cells, reader.tableHead), headWords(reader.tableHead));
}

/** Of a table with more columns, the first ones. */
const headWords = (head: readonly string[]): string => head.slice(0, MOST_COLUMNS).join(" ");
const MOST_COLUMNS = 40;

/** The names of the columns above the rows are in each of the rows, and no block of their own. */
function parseNamedRow(reader: Reader, line: string): void {
  const { blocks, open } = reader;
  if (open !== null && blocks.at(-1) === open && isHeadOf(open.text, line)) {
    blocks.pop();
    reader.open = null;
  }
  parseAligned(reader, line);
}

function isHeadOf(text: string, row: string): boolean {
  const names = new Set(text.split("; "));
  return row.split("; ").every((cell) => names.has(cell.slice(0, cell.indexOf(": "))));
}

/** A line set in columns stands for itself: it neither continues a paragraph nor is continued. */
function parseAligned(reader: Reader, line: string): void {
  pushBlock(
    reader,
    "line",
    line.replace(LIST_MARK, ""),
    reader.open === null ? "" : reader.opening,
  );
}

function parseJsonLine(reader: Reader, line: string): void {
  reader.open = null;
  if (/^[{}[\]]/.test(line)) reader.jsonMembers = [];
  if (/^[{}[\],]*$/.test(line)) return;
  const member = line.replace(/,$/, "");
  pushBlock(reader, "line", member, reader.jsonMembers.join(" "));
  if (reader.jsonMembers.length < MOST_MEMBERS)
    reader.jsonMembers.push(member.slice(0, MOST_MEMBER_CHARS));
}

const MOST_MEMBERS = 12;
const MOST_MEMBER_CHARS = 100;

function parseText(reader: Reader, line: string): void {
  const text = line.replace(LIST_MARK, "").trim();
  if (reader.open === null || text !== line) {
    reader.open = pushBlock(reader, reader.isBesideMail ? "header" : "paragraph", text, "");
    reader.opening = text.slice(0, MOST_CONTEXT_CHARS);
  } else {
    reader.open.text += ` ${text}`;
  }
}

function pushBlock(
  reader: Reader,
  kind: TextBlock["kind"],
  text: string,
  around: string,
): TextBlock {
  const { headings } = reader;
  const context = [...headings, around.slice(0, MOST_CONTEXT_CHARS)].join(" ");
  const block = { kind, text, context, section: headings.slice(0, 2).join(" > ") };
  reader.blocks.push(block);
  return block;
}

const LIST_MARK = /^(?:>[ \t]?|(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)/;
const isRule = (line: string): boolean => /^[-=_*|:+ \t]+$/.test(line);
const isJsonLine = (line: string): boolean =>
  /^(?:"[^"]*"[ \t]*:|[{}[\]]+,?$|\{[ \t]*")/.test(line);

/**
 * Which lines stand in columns: two or more in a row whose cells, apart by several blanks, begin or end at the same
 * place. One wide gap in a line alone is a slip of the writer's.
 */
function alignedLines(lines: readonly string[]): boolean[] {
  const edges = lines.map(cellEdges);
  return edges.map((own, at) =>
    [edges[at - 1], edges[at + 1]].some((other) => own.some((edge) => other?.includes(edge))),
  );
}

/** Where the cells behind gaps begin (as they are) and end (below zero); none of a line that is longer than any table. */
function cellEdges(line: string): number[] {
  if (line.length > MOST_ROW_CHARS) return [];
  return [...line.matchAll(/(?<=[^\s.!?]) {2,}(\S+(?: \S+)*)/g)].flatMap(
    ({ 0: gap, 1: cell = "", index }) => {
      const end = index + gap.length;
      return [end - cell.length, -end];
    },
  );
}

const MOST_ROW_CHARS = 300;
/** The title of a section in a plain text. */
const isCapitals = (line: string): boolean =>
  /^\p{Lu}[^\p{Ll}|.;]{4,79}$/u.test(line) && /\p{Lu}{3}/u.test(line);

/**
 * A row as a reader says it: its first cell, then each further one after the head of its column. Every cell stays
 * as it is in the file.
 */
function formatRow(cells: readonly string[], head: readonly string[]): string {
  const [label = "", ...rest] = cells;
  const said = rest.flatMap((cell, index) => {
    const column = head[index + 1] ?? "";
    if (cell === "") return [];
    return [column === "" ? cell : `${column}: ${cell}`];
  });
  return [label, said.join("; ")].filter((part) => part !== "").join(" — ");
}
