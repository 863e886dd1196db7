import { parseMailHeader, subjectOf } from "../../text/mail-header.ts";
import type { MailHeader } from "../../text/mail-header.ts";
import { READ_TOOL } from "../../../shared/tool-presets.ts";
import { splitSentences } from "./sentences.ts";

/** A paragraph, a list item or a table row of a document, in one line. */
export type DocumentItem = {
  readonly text: string;
  /** The nearest heading above it; empty where there is none. */
  readonly heading: string;
  /** The line right above its list that ends in a colon, without it; empty where there is none. */
  readonly leadIn: string;
  /** open, done: a box to be ticked. row: cells between bars. */
  readonly mark: "text" | "item" | "open" | "done" | "row" | "heading";
};

/** A document as what its fields are looked for in. */
export type DocumentText = {
  readonly items: readonly DocumentItem[];
  /** Members of its frontmatter. */
  readonly about: ReadonlyMap<string, string>;
};

const ITEM = /^(?:>[ \t]?)*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)(?:\[([ xX])\][ \t]+)?(.*)$/;
const HEADING = /^#{1,6}[ \t]+(.*)$/;
const RULE = /^[-=_*|:+ \t]+$/;
/** A line of JSON stands for itself. */
const JSON_LINE = /^(?:"[^"]*"[ \t]*:|[{}[\]]+,?$|\{[ \t]*")/;
const MOST_ITEM_CHARS = 4_000;

type Reader = {
  items: { -readonly [K in keyof DocumentItem]: DocumentItem[K] }[];
  heading: string;
  /** Of the list that the next line may belong to. */
  leadIn: string;
  isOpen: boolean;
  /** Length of the line before. */
  lastChars: number;
};

/** A shorter line that is followed by a capital or a mark was not wrapped: the next one is an item of its own. */
const FEWEST_WRAPPED_CHARS = 55;
/** "olga: in the cellar": a line of a conversation. */
const SPEAKER = /^[\p{L}\d._-]{2,20}: /u;

/** Reads a markdown or plain text. Code is left out: it is no prose, and nobody's task. */
export function parseDocument(text: string): DocumentText {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  const end =
    lines[0]?.trim() === "---"
      ? lines.findIndex((line, at) => at > 0 && line.trim() === "---")
      : -1;
  const reader: Reader = { items: [], heading: "", leadIn: "", isOpen: false, lastChars: 0 };
  const header = parseMailHeader(lines);
  reader.heading = subjectOf(header) ?? "";
  if (reader.heading !== "") push(reader, reader.heading, "heading");
  let fence: string | null = null;
  for (const line of lines.slice(Math.max(end + 1, header.lines))) {
    const mark = /^(`{3,}|~{3,})/.exec(line.trim())?.[1] ?? null;
    if (fence !== null) {
      if (mark?.startsWith(fence) === true) fence = null;
    } else if (mark !== null) {
      fence = mark;
      reader.isOpen = false;
    } else {
      parseLine(reader, line.trim());
      reader.lastChars = line.trim().length;
    }
  }
  return {
    items: reader.items.filter(({ text: words }) => /[\p{L}\p{N}]/u.test(words)),
    about: header.lines > 0 ? aboutMail(header) : membersOf(lines.slice(1, Math.max(1, end))),
  };
}

function parseLine(reader: Reader, line: string): void {
  const heading = HEADING.exec(line)?.[1]?.trim();
  if (heading !== undefined) {
    reader.heading = heading;
    reader.leadIn = "";
    push(reader, heading, "heading");
  } else if (line === "" || RULE.test(line)) reader.isOpen = false;
  else if (line.startsWith("|")) push(reader, line, "row");
  else if (JSON_LINE.test(line)) push(reader, line.replace(/,$/, ""), "text");
  else parseWords(reader, line);
}

/** A list item, a paragraph, or a further line of one. */
function parseWords(reader: Reader, line: string): void {
  const [, box, rest] = ITEM.exec(line) ?? [];
  if (rest !== undefined) {
    const above = reader.items.at(-1);
    if (above?.mark === "text") reader.leadIn = /^(.{1,80}):$/.exec(above.text)?.[1] ?? "";
    push(reader, rest.trim(), box === undefined ? "item" : box === " " ? "open" : "done");
    reader.isOpen = true;
    return;
  }
  const last = reader.items.at(-1);
  const continued = line.replace(/^(?:>[ \t]?)+/, "");
  const isWrapped = /^\p{Ll}/u.test(continued)
    ? !SPEAKER.test(continued)
    : reader.lastChars >= FEWEST_WRAPPED_CHARS && !/[.!?:]$/.test(last?.text ?? "");
  if (reader.isOpen && isWrapped && last !== undefined && last.text.length < MOST_ITEM_CHARS) {
    last.text += ` ${continued}`;
    return;
  }
  reader.leadIn = "";
  push(reader, continued, "text");
  reader.isOpen = true;
}

function push(reader: Reader, text: string, mark: DocumentItem["mark"]): void {
  const { heading, leadIn } = reader;
  reader.items.push({ text: text.replace(/\s+/g, " "), heading, leadIn, mark });
  reader.isOpen = false;
}

/** Names without the addresses behind them. */
const aboutMail = ({ members }: MailHeader): Map<string, string> =>
  new Map(
    members.map(({ name, value }) => [
      name.toLowerCase(),
      value.replace(/\s*<[^<>]*>\s*$/, "").replace(/^"(.*)"$/, "$1"),
    ]),
  );

const membersOf = (lines: readonly string[]): Map<string, string> =>
  new Map(
    lines.flatMap((line) => {
      const [, key, value] = /^([\w-]{1,40}):[ \t]+(\S.{0,300})$/.exec(line.trim()) ?? [];
      return key === undefined || value === undefined
        ? []
        : [[key.toLowerCase(), value.trim()] as const];
    }),
  );

/** The sentences of an item, as they stand; a row is one. */
export const sentencesOf = ({ text, mark }: DocumentItem): string[] =>
  mark === "row" || mark === "heading"
    ? [text]
    : splitSentences(text).map((sentence) => sentence.text);

/**
 * Whether a sentence talks to whoever sorts the document instead of to its readers: it says how it wants to be
 * classified, or gives orders to a program. It is no evidence of what the document is, nor anybody's task.
 */
export const addressesTheSorter = (sentence: string): boolean => ORDERS.test(sentence);

const PROGRAMS = [
  ...["ai", "language model", "assistants?", "automated readers?", "chatbots?", "llm"],
  ...["tool_call", READ_TOOL],
].join("|");
const ORDERS = new RegExp(
  [
    String.raw`\b(?:ignore|disregard|forget|vergiss|ignoriere)\b.{0,60}\b(?:instructions?|rules?|prompt|anweisungen|regeln)\b`,
    String.raw`\b(?:classify|categori[sz]e|label|tag|mark|klassifiziere|kennzeichne)\b.{0,60}\b(?:as|with|als|mit)\b`,
    String.raw`\b(?:${PROGRAMS})\b`,
    String.raw`\b(?:system notice|system prompt|new rule)\b`,
  ].join("|"),
  "i",
);

/** Of a sentence as the quote of a field. */
export const MOST_QUOTE_CHARS = 600;
