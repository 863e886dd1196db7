import { SUBJECT } from "../../text/mail-header.ts";
import { READ_TOOL } from "../../../shared/config/tool-presets.ts";
import { cutBlocks } from "../../text/units/cut-blocks.ts";
import type { TextBlock, TextSentence } from "../../text/units/cut-blocks.ts";
import { shownSentences } from "./sentences.ts";

/** A paragraph, a list item or a table row of a document, in one line. */
export type DocumentItem = {
  readonly text: string;
  /** The nearest heading above it; empty if there is none. */
  readonly heading: string;
  /** The line directly above its list, without the colon at its end; empty if there is none. */
  readonly leadIn: string;
  /** open, done: a checkbox. row: cells between bars. */
  readonly mark: "text" | "item" | "open" | "done" | "row" | "heading";
  readonly block: TextBlock;
};

/** A document in the form in which its fields are searched. */
export type DocumentText = {
  readonly items: readonly DocumentItem[];
  /** Members of its frontmatter. */
  readonly about: ReadonlyMap<string, string>;
};

/** Parses a text. Code is skipped: it is no prose, and contains no task for anybody. */
export function parseDocument(text: string): DocumentText {
  const items: DocumentItem[] = [];
  const about = new Map<string, string>();
  for (const block of cutBlocks(text).flatMap((one) => linesOf(text, one))) {
    const [, key = "", value = ""] = isMember(block) ? (MEMBER.exec(block.text) ?? []) : [];
    // Only the name, without the mail address behind it.
    const said = value.replace(/\s*<[^<>]*>$/, "").replace(/^"(.*)"$/, "$1");
    if (key !== "" && !about.has(key.toLowerCase())) about.set(key.toLowerCase(), said);
    if (block.kind === "header" && SUBJECT.test(key))
      items.push(itemOf({ ...block, kind: "heading", mark: "# ", text: said }));
    if (key === "" && block.kind !== "code" && block.kind !== "about") items.push(itemOf(block));
  }
  return { items: items.filter(({ text: words }) => /[\p{L}\p{N}]/u.test(words)), about };
}

/** A line that begins with a sentence becomes an item of its own: in notes each may be a task. */
function linesOf(text: string, block: TextBlock): TextBlock[] {
  const lines: TextSentence[][] = [];
  for (const sentence of block.sentences) {
    const before = lines.at(-1);
    const end = before?.at(-1)?.end ?? 0;
    if (before === undefined || /[\n\r]/.test(text.slice(end, sentence.start)))
      lines.push([sentence]);
    else before.push(sentence);
  }
  if (lines.length < 2) return [block];
  return lines.map((sentences, line): TextBlock => {
    const from = sentences[0]?.at ?? 0;
    const to = lines[line + 1]?.[0]?.at;
    const kind = line === 0 ? block.kind : "text";
    const moved = sentences.map((one) => ({ ...one, at: one.at - from }));
    return { ...block, kind, text: block.text.slice(from, to).trim(), sentences: moved };
  });
}

const isMember = ({ kind }: TextBlock): boolean => kind === "about" || kind === "header";
const MEMBER = /^([\p{L}_][\p{L}\p{N}_-]{0,40})[ \t]?:[ \t]+(\S.*)$/u;

const itemOf = (block: TextBlock): DocumentItem => ({
  text: block.text,
  heading: block.headings.at(-1) ?? "",
  leadIn: /^(.{1,80}):$/.exec(block.kind === "item" ? block.around : "")?.[1] ?? "",
  mark: markOf(block),
  block,
});

function markOf({ kind, mark }: TextBlock): DocumentItem["mark"] {
  if (kind === "row" || (kind === "heading" && mark !== "")) return kind;
  if (kind !== "item" || mark === "") return "text";
  return /\[ ?\]/.test(mark) ? "open" : mark.includes("[") ? "done" : "item";
}

/** The sentences of an item as they stand; a row is one sentence. */
export const sentencesOf = ({ text, mark, block }: DocumentItem): string[] =>
  mark === "row" || mark === "heading" ? [text] : shownSentences(block);

/**
 * Whether a sentence addresses whoever classifies the document instead of its readers: it demands a class, or gives orders
 * to a program. It is no evidence of what the document is, and no task.
 */
export const addressesTheSorter = (sentence: string): boolean =>
  AI.test(sentence) || ORDERS.test(sentence);

/** In capitals: "j'ai" and "je vous ai" stand in every other French letter. */
const AI = /\bAI\b/;
const PROGRAMS = [
  ...["ai(?=:| agents?| models?| readers?)", "language model", "assistants?", "automated readers?"],
  ...["chatbots?", "llm", "tool_call", READ_TOOL],
].join("|");
const ORDERS = new RegExp(
  [
    String.raw`\b(?:ignore|disregard|forget|vergiss|ignoriere)\b.{0,60}\b(?:instructions?|rules?|prompt|anweisungen|regeln)\b`,
    String.raw`\b(?:classify|categori[sz]e|klassifiziere|kennzeichne)\b.{0,60}\b(?:as|with|als|mit)\b`,
    // Not "Guten Tag … mit", nor "Mark met … with".
    String.raw`\b(?:label|tag|mark) (?:this|it|that|these|the|them|all|every)\b.{0,60}\b(?:as|with)\b`,
    String.raw`\b(?:${PROGRAMS})\b`,
    String.raw`\b(?:system notice|system prompt|new rule)\b`,
  ].join("|"),
  "i",
);

/** The most characters of a sentence that becomes the quote of a field. */
export const MOST_QUOTE_CHARS = 600;
