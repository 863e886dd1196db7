import { MONTH_NAME } from "../../../shared/text/month-names.ts";
import { MAIL_HEADINGS, parseMailHeader, subjectOf } from "../mail-header.ts";
import { sentenceEnds } from "../sentences.ts";
import type { TextSpan } from "../spans.ts";
import { blankQuoteMarks, joinLines, relateLines } from "./line-breaks.ts";
import type { LineRelation } from "./line-breaks.ts";
import { isDelimited, readTable } from "./tables.ts";

/** A paragraph, an item of a list, a row of a table, or a line that stands for itself. Offsets are UTF-16 units. */
export type TextBlock = TextSpan & {
  /**
   * `line` is a member of JSON or a line in columns; `header` a line of the header, signature or attachments of a mail;
   * `about` a line of frontmatter; `code` lines between fences.
   */
  readonly kind: "heading" | "text" | "item" | "row" | "line" | "header" | "about" | "code";
  /** The mark before its words: "- [ ] ", "> ". */
  readonly mark: string;
  /** Its words in one line, without the mark. */
  readonly text: string;
  /** Headings above it, the nearest last. */
  readonly headings: readonly string[];
  /** More context: the line above its list, the names of its columns, other members of its JSON object. */
  readonly around: string;
  /** For a row: its cells, and the names of its columns, which are empty if the table has no header. */
  readonly cells: readonly string[];
  readonly names: readonly string[];
  readonly sentences: readonly TextSentence[];
};

/** A sentence of a paragraph; any other block is one sentence. `at` is its offset in the text of the block. */
export type TextSentence = TextSpan & { readonly text: string; readonly at: number };

/** Cuts a Markdown, plain or JSON text into blocks, in order, without rules and headers of tables. Linear. */
export function cutBlocks(text: string): TextBlock[] {
  const blocks = groupLines(text).flatMap((group): TextBlock[] =>
    group.kind === "rows" ? rowBlocks(group) : [blockOf(text, group)],
  );
  let leadIn = "";
  return blocks.map((block, at) => {
    const isItem = block.kind === "item" || isListed(text, blocks, at);
    if (isItem || block.kind === "line")
      return { ...block, kind: isItem ? "item" : "line", around: block.around || leadIn };
    if (block.kind !== "row") {
      const last = block.kind === "text" ? (block.sentences.at(-1)?.text ?? "") : "";
      leadIn = ENDED.test(last) ? "" : last.slice(0, MOST_AROUND_CHARS);
    }
    return block;
  });
}

const ENDED = /[.!?。…]$/;

/** Whether a block is an item: short lines one below the other are a list, also without marks. */
function isListed(text: string, blocks: readonly TextBlock[], at: number): boolean {
  const block = blocks[at];
  if (block === undefined || !isShortLine(block)) return false;
  return [blocks[at - 1], blocks[at + 1]].some((other) => {
    if (other === undefined || !isShortLine(other)) return false;
    const [from, to] = [Math.min(block.end, other.end), Math.max(block.start, other.start)];
    return to - from < 9 && !/\n\s*\n/.test(text.slice(from, to));
  });
}

const isShortLine = ({ kind, text, sentences }: TextBlock): boolean =>
  kind === "text" &&
  sentences.length === 1 &&
  !/[:：]$/.test(text) &&
  text.split(" ", MOST_LISTED_WORDS + 1).length <= MOST_LISTED_WORDS;

const MOST_LISTED_WORDS = 9;

/** Bounds headings, headers of tables and members of JSON: a longer one says no more about the text below it. */
const MOST_AROUND_CHARS = 300;

type Line = TextSpan & { readonly text: string };
type Heading = { readonly level: number; readonly text: string };
type Group = { readonly headings: readonly Heading[] } & (
  | {
      kind: Exclude<TextBlock["kind"], "row" | "item">;
      readonly start: number;
      end: number;
      readonly around?: string;
    }
  | { readonly kind: "rows"; readonly lines: Line[] }
);
type Prose = Exclude<Group, { readonly kind: "rows" }>;

type Reader = {
  readonly text: string;
  readonly groups: Group[];
  headings: readonly Heading[];
  /** The group that the next line may continue. */
  open: Group | null;
  /** Members of the JSON object so far, which are context for the next one. */
  jsonMembers: string[];
  /** The open fence of code; null outside of code. */
  fence: string | null;
  /** Whether the text is a mail with a title. */
  isMail: boolean;
  /** Whether the reader is in the signature or the attachments of a mail. */
  isBesideMail: boolean;
};

function groupLines(text: string): Group[] {
  const reader: Reader = {
    ...{ text, groups: [], headings: [], open: null, jsonMembers: [], fence: null },
    ...{ isMail: false, isBesideMail: false },
  };
  const lines = linesOf(text);
  const texts = lines.map((line) => line.text);
  const related = relateLines(texts);
  const inColumns = alignedLines(texts);
  const about = frontmatterLines(texts);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? { start: 0, end: 0, text: "" };
    const relation = related[at] ?? "opens";
    const isTitle = at === 0 || line.text.startsWith("# ");
    const header = isTitle && reader.fence === null ? parseMailHeader(texts, at) : null;
    if (at < about) readText(reader, line, relation, "about");
    else if (header !== null && header.lines > 0) {
      readHeader(reader, lines.slice(at, at + header.lines), subjectOf(header));
      at += header.lines - 1;
    } else if (!readFence(reader, line, relation)) {
      readLine(reader, line, {
        relation,
        isInColumns: inColumns[at] === true,
        next: texts[at + 1],
      });
    }
  }
  return reader.groups;
}

/** Without blanks at their ends. */
const linesOf = (text: string): Line[] =>
  Array.from(text.matchAll(/([^\n\r]*)(?:\r\n|\n|\r|$)/g), ({ 1: line = "", index }) => ({
    start: index + line.length - line.trimStart().length,
    end: index + Math.max(line.trimEnd().length, line.length - line.trimStart().length),
    text: line,
  }));

/** How many lines the frontmatter of a text takes, with the marks around it. A byte order mark counts as a blank. */
export function frontmatterLines(lines: readonly string[]): number {
  if (lines[0]?.trim() !== "---") return 0;
  const end = lines.findIndex((line, at) => at > 0 && line.trim() === "---");
  return end === -1 ? 0 : end + 1;
}

/** Each member of a mail's header is a fact of its own; the subject is the heading of the text that follows. */
function readHeader(reader: Reader, lines: readonly Line[], subject: string | null): void {
  for (const line of lines) {
    if (line.text.startsWith("# ")) {
      reader.isMail = true;
      readHeading(reader, line, { level: 1, text: line.text.slice(2).trim() });
    } else if (line.text.trim() !== "")
      readText(reader, line, /^[ \t]/.test(line.text) ? "continues" : "opens", "header");
  }
  reader.open = null;
  if (subject !== null) setHeading(reader, { level: 1, text: subject });
}

/** Reads a fence or a line of code; false for any other line. */
function readFence(reader: Reader, line: Line, relation: LineRelation): boolean {
  const mark = /^(`{3,}|~{3,})/.exec(line.text.trim())?.[1];
  if (reader.fence === null && mark === undefined) return false;
  if (reader.fence === null || (mark?.startsWith(reader.fence) ?? false)) {
    reader.fence = reader.fence === null ? (mark ?? null) : null;
    reader.open = null;
  } else readText(reader, line, relation, "code");
  return true;
}

type Setting = {
  readonly relation: LineRelation;
  readonly isInColumns: boolean;
  readonly next: string | undefined;
};

const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)/;
const TABLE_ROW = /^\||\s\|\s.{0,400}\s\|\s/;
/** "Cabin: Ibex; Seats: 15": a row of a table that was read with the names of its columns. */
const NAMED_CELLS = /^[^:;,.!?]{1,60}: [^;]{1,1000}(?:; [^:;,.!?]{1,60}: [^;]{1,1000}){1,200}$/;

function readLine(reader: Reader, line: Line, { relation, isInColumns, next }: Setting): void {
  const said = line.text.trim();
  const { open } = reader;
  const [, marks, title = ""] = HEADING.exec(line.text) ?? [];
  const isInTable = open?.kind === "rows" || isSeparator(next ?? "");
  if (said === "") reader.open = null;
  else if (marks !== undefined) readHeading(reader, line, { level: marks.length, text: title });
  else if (isUnderline(reader, said)) makeHeading(reader, said.startsWith("=") ? 1 : 2);
  else if (isRule(said) && !(open?.kind === "rows" && isSeparator(said))) reader.open = null;
  else if (open === null && isCapitals(said)) readHeading(reader, line, { level: 2, text: said });
  else if (TABLE_ROW.test(said) || (isInTable && said.includes("|")) || isDelimited(said))
    readRow(reader, line);
  else if (isJsonLine(said)) readJson(reader, line, said);
  else if (NAMED_CELLS.test(said) && sentenceEnds(said).length === 1) {
    if (open !== null && isHeadOf(textOf(reader, open), said)) reader.groups.pop();
    readText(reader, line, "opens", "line");
  } else if (isInColumns) readText(reader, line, "opens", "line");
  else readText(reader, line, relation, reader.isBesideMail ? "header" : "text");
}

const textOf = ({ text }: Reader, group: Group): string =>
  group.kind === "rows" ? "" : text.slice(group.start, group.end);

/** A rule. The separator of a table looks like one, but only stands between two rows. */
const isRule = (said: string): boolean => /^[-=_*|:+ \t]+$/.test(said);
const isSeparator = (line: string): boolean =>
  line.includes("|") && line.includes("-") && /^[|:+ \t-]+$/.test(line.trim());

/** A line of `===` or `---` under a line of its own makes a heading of it. */
const isUnderline = (reader: Reader, said: string): boolean =>
  reader.open?.kind === "text" &&
  /^(?:=+|-{2,})$/.test(said) &&
  !/[\n\r]/.test(textOf(reader, reader.open));

function makeHeading(reader: Reader, level: number): void {
  const { open } = reader;
  if (open === null || open.kind === "rows") return;
  open.kind = "heading";
  setHeading(reader, { level, text: textOf(reader, open) });
}

/** The title of a section in a plain text. */
const isCapitals = (line: string): boolean =>
  /^\p{Lu}[^\p{Ll}\p{Lo}|.;]{4,79}$/u.test(line) && /\p{Lu}{3}/u.test(line);

function readHeading(reader: Reader, line: Line, heading: Heading): void {
  const above = reader.headings.filter(({ level }) => level < heading.level);
  reader.groups.push({ kind: "heading", start: line.start, end: line.end, headings: above });
  setHeading(reader, heading);
}

function setHeading(reader: Reader, { level, text }: Heading): void {
  const above = reader.headings.filter((heading) => heading.level < level);
  reader.headings = [...above, { level, text: text.slice(0, MOST_AROUND_CHARS) }];
  reader.open = null;
  // On the first level stands what a mail is about, whatever it is called.
  reader.isBesideMail = reader.isMail && level > 1 && BESIDE_MAIL.has(text);
}

const BESIDE_MAIL: ReadonlySet<string> = new Set(Object.values(MAIL_HEADINGS));

function readRow(reader: Reader, line: Line): void {
  if (reader.open?.kind === "rows") reader.open.lines.push(line);
  else {
    reader.open = { kind: "rows", lines: [line], headings: reader.headings };
    reader.groups.push(reader.open);
  }
}

const isJsonLine = (said: string): boolean =>
  /^(?:"[^"]*"[ \t]*:|[{}[\]]+,?$|\{[ \t]*")/.test(said);

function readJson(reader: Reader, line: Line, said: string): void {
  reader.open = null;
  if (/^[{}[\]]/.test(said)) reader.jsonMembers = [];
  if (/^[{}[\],]*$/.test(said)) return;
  const end = said.endsWith(",") ? line.end - 1 : line.end;
  const around = reader.jsonMembers.join(" ");
  reader.groups.push({ kind: "line", start: line.start, end, headings: reader.headings, around });
  if (reader.jsonMembers.length < MOST_MEMBERS)
    reader.jsonMembers.push(said.replace(/,$/, "").slice(0, MOST_MEMBER_CHARS));
}

const MOST_MEMBERS = 12;
const MOST_MEMBER_CHARS = 100;

/** Whether a line holds the names of the columns of a row: each cell repeats its name, so the line is no block. */
function isHeadOf(text: string, row: string): boolean {
  const names = new Set(text.trim().split("; "));
  return row.split("; ").every((cell) => names.has(cell.slice(0, cell.indexOf(": "))));
}

function readText(reader: Reader, line: Line, relation: LineRelation, kind: Prose["kind"]): void {
  const { open } = reader;
  if (line.text.trim() === "" || isRule(line.text.trim())) reader.open = null;
  else if (open?.kind === kind && relation !== "opens") open.end = line.end;
  else {
    const group = { kind, start: line.start, end: line.end, headings: reader.headings };
    reader.groups.push(group);
    // A line set in columns neither continues a paragraph nor is continued.
    reader.open = kind === "line" ? null : group;
  }
}

/**
 * Which lines stand in columns: two or more adjacent lines with cells that several blanks separate, and that begin or end at
 * the same offset. A wide gap in a single line is a typing error.
 */
function alignedLines(lines: readonly string[]): boolean[] {
  const edges = lines.map((line) => cellEdges(line.trim()));
  return edges.map((own, at) =>
    [edges[at - 1], edges[at + 1]].some((other) => own.some((edge) => other?.includes(edge))),
  );
}

/** Offsets where cells behind gaps begin, and as negative numbers where they end; empty for a line longer than table rows. */
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

const titlesOf = (headings: readonly Heading[]): string[] => headings.map(({ text }) => text);

/** How many names of columns a row has as context. */
const MOST_COLUMNS = 40;

function rowBlocks({ lines, headings }: Group & { readonly kind: "rows" }): TextBlock[] {
  const { names, rows } = readTable(lines);
  const around = names.slice(0, MOST_COLUMNS).join(" ").slice(0, MOST_AROUND_CHARS);
  return rows.map(({ start, end, text, cells }): TextBlock => {
    const said = { start, end, text: text.trim(), mark: "" };
    const above = titlesOf(headings);
    return {
      ...said,
      kind: "row",
      headings: above,
      around,
      cells,
      names,
      sentences: [{ ...said, at: 0 }],
    };
  });
}

const MARK = new RegExp(
  String.raw`^(?:>[ \t]?)*(?<item>(?:[-*+•·‣◦▪–—・]|\(?\p{L}\)|\p{Ll}\.|\(?\d{1,3}[.)](?![ \t]+${MONTH_NAME}(?!\p{L})))[ \t]+(?:\[[ xX✓]?\][ \t]+)?)?`,
  "u",
);

function blockOf(source: string, group: Prose): TextBlock {
  const { kind, start, end, headings, around } = group;
  const raw = blankQuoteMarks(source.slice(start, end));
  const { 0: mark = "", groups } = (kind === "heading" ? /^#*[ \t]*/ : MARK).exec(raw) ?? {};
  const isItem = groups?.["item"] !== undefined;
  const isProse = kind === "text" || kind === "code";
  const sentences: TextSentence[] = [];
  let from = mark.length;
  let text = "";
  for (const to of isProse ? sentenceEnds(raw.slice(from)) : [raw.length - from]) {
    const slice = raw.slice(from, mark.length + to);
    const said = joinLines(slice).replace(/\s+/g, " ").trim();
    const at = from + slice.length - slice.trimStart().length;
    from = mark.length + to;
    if (said === "") continue;
    if (/^\s/.test(slice) && text !== "") text += " ";
    const place = { start: start + at, end: start + at + slice.trim().length };
    sentences.push({ ...place, text: said, at: text.length });
    text += said;
  }
  return {
    ...{ kind: kind === "text" && isItem ? "item" : kind, start, end, mark, text, sentences },
    ...{
      headings: titlesOf(headings),
      around: around ?? "",
      cells: [],
      names: [],
    },
  };
}
