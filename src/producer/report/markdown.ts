import {
  formatCount,
  formatDuration,
  formatSpan,
  formatTime,
} from "../../shared/views/quantity.ts";
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
import { cleanForTerminal } from "../../shared/styled-text.ts";
import { evidenceLink, markdownPart, markdownQuote, markdownText } from "../export/markdown.ts";

/**
 * A page as text for an editor or a mail.
 * @param marker a comment that tells what the file is
 * @param hrefBase from the file to the work root
 */
export function markdownPage(page: Page, marker: string, hrefBase: string): string {
  const { title, lead, facts, sections, colophon } = page;
  const parts = [
    marker,
    `# ${markdownText(title)}`,
    ...(lead === undefined ? [] : [lead]),
    ...factList(facts, hrefBase),
    ...sections.map((section) => markdownSection(section, hrefBase)),
    ...(colophon === undefined ? [] : [`---\n\n${inline(colophon, hrefBase)}`]),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** A section under a heading of the second level, those within it one deeper. */
export const markdownSection = (section: Section, hrefBase: string): string =>
  sectionParts(section, 2, hrefBase).join("\n\n");

const sectionParts = (
  { title, blocks }: Section,
  level: number,
  hrefBase: string,
): readonly string[] => [
  `${"#".repeat(level)} ${markdownText(title)}`,
  ...blocks.flatMap((block) =>
    block.kind === "section"
      ? sectionParts(block, level + 1, hrefBase)
      : blockParts(block, hrefBase),
  ),
];

function blockParts(block: Exclude<Block, Section>, hrefBase: string): readonly string[] {
  switch (block.kind) {
    case "line":
    case "note":
      return [inline(block.text, hrefBase)];
    case "advice":
      return [block.text];
    case "quote":
      return [markdownQuote(block.text)];
    case "commands":
      return [`\`\`\`${block.language}\n${block.lines.map(cleanForTerminal).join("\n")}\n\`\`\``];
    case "facts":
      return factList(block.facts, hrefBase);
    case "list":
      return [
        ...(block.label === undefined ? [] : [`${markdownText(block.label)}:`]),
        withGap(
          block.items.map((item) => itemText(item, hrefBase)),
          block.gap,
          (text) => `- ${markdownText(text)}`,
        ).join("\n"),
      ];
    case "timeline":
      return [markdownTable(timelineTable(block), hrefBase)];
    case "table":
      return [markdownTable(block, hrefBase)];
  }
}

const factList = (facts: readonly Fact[], hrefBase: string): readonly string[] =>
  facts.length === 0 ? [] : [facts.map((each) => factText(each, hrefBase)).join("\n")];

const factText = ({ label, lines: [first = "", ...others] }: Fact, hrefBase: string): string =>
  [
    `- ${inline(label, hrefBase)}: ${inline(first, hrefBase)}`.trimEnd(),
    ...others.map((text) => `  - ${inline(text, hrefBase)}`),
  ].join("\n");

function itemText({ mark, text, lines = [], facts = [] }: Item, hrefBase: string): string {
  const before = mark === undefined ? "" : `${markdownText(mark)} `;
  return [
    `- ${before}${inline(text, hrefBase)}`,
    ...lines.map((each) => `  - ${inline(each, hrefBase)}`),
    ...facts.map((each) => factText(each, hrefBase).replace(/^/gm, "  ")),
  ].join("\n");
}

/** Each cell in one line. */
function markdownTable({ columns, rows }: Table, hrefBase: string): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(columns.map(({ title }) => markdownText(title))),
    line(columns.map(() => "---")),
    ...rows.map((row) => line(row.map((cell) => (cell === null ? "" : inline(cell, hrefBase))))),
  ].join("\n");
}

/** Values in one line: times in UTC, lines of a file as a link to them. Texts side by side are escaped as one. */
function inline(text: Text, hrefBase: string): string {
  const pieces = piecesOf(text);
  const parts: string[] = [];
  let plain = "";
  for (const piece of pieces) {
    if (typeof piece === "string") plain += piece;
    else {
      parts.push(markdownPart(plain), pieceText(piece, hrefBase));
      plain = "";
    }
  }
  return [...parts, markdownPart(plain)].join("").trim();
}

function pieceText(piece: Exclude<Piece, string>, hrefBase: string): string {
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
      return formatTime(piece.at, null, piece.precision);
    case "span":
      return formatSpan(piece.from, piece.to);
    case "place":
      return evidenceLink(piece, hrefBase);
    case "sha256":
      return `sha256 ${markdownText(piece.sha256)}`;
    case "id":
      return markdownText(piece.id);
  }
}

/** What neither ends a span of code nor means anything in one, nor in a table. */
const PLAIN_CODE = /^[\p{L}\p{N} .,:;=/@%+'"*()_-]{1,1000}$/u;

const codeSpan = (text: string): string =>
  PLAIN_CODE.test(text) ? `\`${text}\`` : markdownText(text);
