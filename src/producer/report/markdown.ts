import {
  formatCount,
  formatDuration,
  formatOnClock,
  formatSpanOnClock,
} from "../../shared/views/quantity.ts";
import type { Clock } from "../../shared/views/quantity.ts";
import { piecesOf, timelineTable, withGap } from "../../shared/views/section.ts";
import type {
  Block,
  Fact,
  Item,
  Page,
  Piece,
  Section,
  Table,
  Text,
} from "../../shared/views/section.ts";
import { cleanForTerminal } from "../../shared/terminal/styled-text.ts";
import { evidenceLink, markdownPart, markdownQuote, markdownText } from "../export/markdown.ts";

/**
 * A page as Markdown for an editor or a mail.
 * @param marker a comment that identifies the file
 * @param hrefBase the path from the file to the work root
 */
export function markdownPage(page: Page, marker: string, hrefBase: string): string {
  const { title, lead, facts, sections, colophon, clock } = page;
  const form = { hrefBase, clock };
  const parts = [
    marker,
    `# ${markdownText(title)}`,
    ...(lead === undefined ? [] : [lead]),
    ...factList(facts, form),
    ...sections.map((section) => sectionParts(section, 2, form).join("\n\n")),
    ...(colophon === undefined ? [] : [`---\n\n${inline(colophon, form)}`]),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** A section under a heading of level 2; nested sections are one level deeper. */
export const markdownSection = (section: Section, hrefBase: string): string =>
  sectionParts(section, 2, { hrefBase, clock: undefined }).join("\n\n");

/** The base of links to the work root, and the clock of times. */
type Form = { readonly hrefBase: string; readonly clock: Clock | undefined };

const sectionParts = ({ title, blocks }: Section, level: number, form: Form): readonly string[] => [
  `${"#".repeat(level)} ${markdownText(title)}`,
  ...blocks.flatMap((block) =>
    block.kind === "section" ? sectionParts(block, level + 1, form) : blockParts(block, form),
  ),
];

function blockParts(block: Exclude<Block, Section>, form: Form): readonly string[] {
  switch (block.kind) {
    case "line":
    case "note":
      return [inline(block.text, form)];
    case "advice":
      return [block.text];
    case "quote":
      return [markdownQuote(block.text)];
    case "picture":
      return [markdownText(block.words)];
    case "commands":
      return [`\`\`\`${block.language}\n${block.lines.map(cleanForTerminal).join("\n")}\n\`\`\``];
    case "facts":
      return factList(block.facts, form);
    case "list":
      return [
        ...(block.label === undefined ? [] : [`${markdownText(block.label)}:`]),
        withGap(
          block.items.map((item) => itemText(item, form)),
          block.gap,
          (text) => `- ${markdownText(text)}`,
        ).join("\n"),
      ];
    case "timeline":
      return [markdownTable(timelineTable(block), form)];
    case "table":
      return [markdownTable(block, form)];
  }
}

const factList = (facts: readonly Fact[], form: Form): readonly string[] =>
  facts.length === 0 ? [] : [facts.map((each) => factText(each, form)).join("\n")];

const factText = ({ label, lines: [first = "", ...others] }: Fact, form: Form): string =>
  [
    `- ${inline(label, form)}: ${inline(first, form)}`.trimEnd(),
    ...others.map((text) => `  - ${inline(text, form)}`),
  ].join("\n");

function itemText({ mark, text, lines = [], facts = [], passage }: Item, form: Form): string {
  const before = mark === undefined ? "" : `${markdownText(mark)} `;
  return [
    `- ${before}${inline(text, form)}`,
    ...lines.map((each) => `  - ${inline(each, form)}`),
    ...facts.map((each) => factText(each, form).replace(/^/gm, "  ")),
    ...(passage === undefined ? [] : [`\n${markdownQuote(passage).replace(/^/gm, "  ")}\n`]),
  ].join("\n");
}

/** A table with each cell on one line. */
function markdownTable({ columns, rows }: Table, form: Form): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(columns.map(({ title }) => markdownText(title))),
    line(columns.map(() => "---")),
    ...rows.map((row) => line(row.map((cell) => (cell === null ? "" : inline(cell, form))))),
  ].join("\n");
}

/** Formats values on one line: times on the page's clock, lines of a file as a link. Adjacent texts are escaped together. */
function inline(text: Text, form: Form): string {
  const pieces = piecesOf(text);
  const parts: string[] = [];
  let plain = "";
  for (const piece of pieces) {
    if (typeof piece === "string") plain += piece;
    else {
      parts.push(markdownPart(plain), pieceText(piece, form));
      plain = "";
    }
  }
  return [...parts, markdownPart(plain)].join("").trim();
}

function pieceText(piece: Exclude<Piece, string>, form: Form): string {
  switch (piece.kind) {
    case "strong":
      return `**${markdownText(piece.text)}**`;
    case "code":
      return codeSpan(piece.text);
    case "state":
      return markdownText(piece.text);
    case "number":
      return formatCount(piece.value);
    case "duration":
      return formatDuration(piece.ms);
    case "time":
      return formatOnClock(piece.at, form.clock, piece.precision);
    case "span":
      return formatSpanOnClock(piece.from, piece.to, form.clock);
    case "place":
      return evidenceLink(piece, form.hrefBase);
    case "sha256":
      return `sha256 ${markdownText(piece.sha256)}`;
    case "id":
      return markdownText(piece.id);
  }
}

/** A text that has no special character for a code span or a table. */
const PLAIN_CODE = /^[\p{L}\p{N} .,:;=/@%+'"*()_-]{1,1000}$/u;

const codeSpan = (text: string): string =>
  PLAIN_CODE.test(text) ? `\`${text}\`` : markdownText(text);
