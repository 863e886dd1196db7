import type { TextSpan } from "../../text/spans.ts";

/** A part of an answer that can hold claims: a paragraph, an item of a list, a row of a table, a line of code. */
export type AnswerBlock = TextSpan & {
  readonly kind: "paragraph" | "item" | "row" | "code";
  /** Whether a heading, a bold label or a rule is between it and the block before. */
  readonly isFirstOfSection: boolean;
};

/** Bullets of Markdown and bullets that people type, letters and numbers. `ORDINAL` excludes "3. Juni". */
const ITEM =
  /^[ \t]{0,40}(?:[-*+•◦▪‣–—][ \t]+|[・･·]\s?|(?:\p{N}{1,3}|[a-z])[.)）．](?:[ \t]+|$))(?:\[[ xX]\][ \t]+)?/u;
const ORDINAL =
  /^\s*\d{1,2}\. (?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jän|Stock|Etage|Klasse|Jahrhundert|Platz|Auflage)/;
const QUOTED = /^[ \t]{0,8}(?:>[ \t]?)+/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;
/** The end of a sentence: a rule below it makes no heading of it. */
const SENTENCE = /[.!?。！？\]】][*_]{0,3}[ \t]*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const SEPARATOR = /^[ \t]{0,8}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/;
const ROW = /^[ \t]{0,8}\|/;
/** A line of bold words alone. A sentence in bold ends with a stop or a citation, so it does not match. */
const LABEL =
  /^[ \t]{0,8}(?:\*\*|__)(?:(?!\*\*|__)[^[\n]){1,200}(?<![.!?。])(?:\*\*|__)[ \t]*(?::[ \t]*)?$/;
const FENCE = /^ {0,12}(`{3,}|~{3,})/;
const FENCE_END = /^ {0,12}(`{3,}|~{3,})[ \t]*$/;

type Line = TextSpan & { readonly words: string };

/**
 * Cuts an answer into blocks, in order. Leaves out lines that can't be claims: headings, bold labels, rules, the header of a
 * table and its separator, fences. Offsets are UTF-16 units. Linear.
 */
export function answerBlocks(text: string): AnswerBlock[] {
  const blocks = new BlockList();
  const lines = linesOf(text);
  let fence: string | null = null;
  lines.forEach((line, at) => {
    const mark = (fence === null ? FENCE : FENCE_END).exec(line.words)?.[1];
    if (fence !== null) {
      if (mark?.startsWith(fence) === true) fence = null;
      else blocks.add("code", line);
    } else if (mark !== undefined) {
      fence = mark;
      blocks.close();
    } else
      readLine(line, { next: lines[at + 1]?.words ?? "", isLast: at === lines.length - 1 }, blocks);
  });
  return blocks.list;
}

type Around = { readonly next: string; readonly isLast: boolean };

function readLine(line: Line, { next, isLast }: Around, blocks: BlockList): void {
  const { words } = line;
  if (words.trim() === "") blocks.close();
  else if (HEADING.test(words) || (LABEL.test(words) && !isLast)) blocks.endSection();
  else if (words.includes("|") && isSeparator(next)) blocks.close();
  else if (isSeparator(words)) blocks.openTable();
  else if (RULE.test(words) || UNDERLINE.test(words)) blocks.endSection();
  else if (UNDERLINE.test(next) && !blocks.isOpen && !ITEM.test(words) && !SENTENCE.test(words))
    blocks.endSection();
  else if (ROW.test(words) || (blocks.isTable && words.includes("|"))) blocks.addRow(line);
  else readText(line, blocks);
}

const isSeparator = (words: string): boolean => words.includes("|") && SEPARATOR.test(words);

function readText(line: Line, blocks: BlockList): void {
  const item = ORDINAL.test(line.words) ? null : ITEM.exec(line.words);
  if (item !== null) blocks.open("item", { ...line, start: line.start + item[0].length });
  else if (blocks.isOpen) blocks.extend(line);
  else blocks.open("paragraph", line);
}

class BlockList {
  readonly list: AnswerBlock[] = [];
  #isFirst = true;
  #open: "text" | "table" | null = null;

  /** Whether the next line may continue a paragraph or an item. */
  get isOpen(): boolean {
    return this.#open === "text";
  }

  get isTable(): boolean {
    return this.#open === "table";
  }

  /** Adds a block of one line. */
  add(kind: AnswerBlock["kind"], { start, end }: TextSpan): void {
    this.list.push({ kind, start, end, isFirstOfSection: this.#isFirst });
    this.#isFirst = false;
    this.#open = null;
  }

  open(kind: "paragraph" | "item", span: TextSpan): void {
    this.add(kind, span);
    this.#open = "text";
  }

  extend({ end }: TextSpan): void {
    const block = this.list.pop();
    if (block !== undefined) this.list.push({ ...block, end });
  }

  openTable(): void {
    this.#open = "table";
  }

  addRow(line: TextSpan): void {
    this.add("row", line);
    this.#open = "table";
  }

  close(): void {
    this.#open = null;
  }

  endSection(): void {
    this.#isFirst = true;
    this.#open = null;
  }
}

/** The lines, without the marks of a block quotation. */
function linesOf(text: string): Line[] {
  let at = 0;
  return text.split("\n").map((line) => {
    const start = at + (QUOTED.exec(line)?.[0].length ?? 0);
    const end = at + line.length;
    at = end + 1;
    return { start, end, words: text.slice(start, end) };
  });
}
