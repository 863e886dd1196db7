import { SHORT_ID_CHARS } from "../../shared/store/jobs/find-id.ts";
import {
  joinLines,
  layOutLines,
  line,
  plainText,
  styledState,
} from "../../shared/terminal/styled-text.ts";
import type { Line } from "../../shared/terminal/styled-text.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import {
  formatCount,
  formatDuration,
  formatSpan,
  formatTime,
} from "../../shared/views/quantity.ts";
import { piecesOf, withGap } from "../../shared/views/section.ts";
import type {
  Block,
  Fact,
  Gap,
  Item,
  Page,
  Piece,
  Row,
  Section,
  Table,
  Text,
  TimelineEvent,
} from "../../shared/views/section.ts";
import { fitTable, layOutTable } from "./layout.ts";
import type { Cell } from "./layout.ts";

/** How values are shown; the default is that of a pipe. */
export type Shown = {
  /** Time zone; null for UTC. */
  readonly zone: string | null;
  readonly ids: "whole" | "short";
  /** How lines of a file follow its path: `:3-9`, or ` lines 3-9`. */
  readonly lines?: "numbers" | "words";
};

const AS_IN_A_PIPE: Shown = { zone: null, ids: "whole" };

/** Prints a page, wrapped at the terminal's width. */
export async function printPage(terminal: Terminal, page: Page): Promise<void> {
  const lines = pageLines(page, { zone: terminal.zone, ids: "whole" });
  for (const shown of layOutLines(lines, terminal.dataColumns)) await terminal.print(shown);
}

/**
 * Prints a list. On a terminal the lines fit its width, ids are shortened, and left-out columns are named; elsewhere the
 * columns are as wide as their content.
 */
export async function printList(terminal: Terminal, { columns, rows }: Table): Promise<void> {
  const { zone, dataColumns } = terminal;
  const shown: Shown = { zone, ids: dataColumns === undefined ? "whole" : "short" };
  const { lines, leftOut } = fitTable(columns, rows.map(cellsOf(shown)), dataColumns ?? Infinity);
  for (const each of lines) await terminal.print(each);
  if (leftOut.length > 0)
    terminal.say(`Left out for want of room: ${leftOut.join(", ")}. --json has all.`);
}

const cellsOf =
  (shown: Shown) =>
  (row: Row): readonly Cell[] =>
    row.map((cell) => (cell === null ? null : lineOf(cell, shown)));

/** A text as one line. The caller that prints it must clean it. */
export const lineOf = (text: Text, shown: Shown = AS_IN_A_PIPE): Line =>
  joinLines(piecesOf(text).map((piece) => pieceLine(piece, shown)));

function pieceLine(piece: Piece, { zone, ids, lines }: Shown): Line {
  if (typeof piece === "string") return piece;
  switch (piece.kind) {
    case "strong":
    case "code":
      return piece.text;
    case "state":
      return styledState(piece.state, piece.text);
    case "number":
      return formatCount(piece.value);
    case "duration":
      return formatDuration(piece.ms);
    case "time":
      return formatTime(piece.at, zone, piece.precision);
    case "span":
      return formatSpan(piece.from, piece.to, zone);
    case "place":
      return placeText(piece, lines);
    case "sha256":
      return `sha256 ${piece.sha256}`;
    case "id":
      return ids === "short" ? piece.id.slice(0, SHORT_ID_CHARS) : piece.id;
  }
}

function placeText(
  { path, heading, line_start: first, line_end: last }: Extract<Piece, { kind: "place" }>,
  lines: Shown["lines"] = "numbers",
): string {
  const range = first === last ? String(first) : `${first}-${last}`;
  const before = lines === "numbers" ? ":" : first === last ? " line " : " lines ";
  return `${path}${heading === undefined ? "" : `#${heading}`}${before}${range}`;
}

function pageLines({ facts, sections }: Page, shown: Shown): readonly Line[] {
  const longest = facts.map(({ label }) => plainText(lineOf(label, shown)).length + 1);
  const columns = Math.max(LABEL_COLUMNS, ...longest);
  return [
    ...facts.flatMap((each) => factLines(each, columns, shown)),
    ...sections.flatMap((each) => sectionLines(each, shown)),
  ];
}

/** The smallest width of the labels of a page. */
const LABEL_COLUMNS = 10;

function factLines({ label, lines }: Fact, columns: number, shown: Shown): readonly Line[] {
  const name = lineOf(label, shown);
  const blank = " ".repeat(columns - plainText(name).length);
  return lines.map((text, at) =>
    at === 0
      ? joinLines([name, blank, lineOf(text, shown)])
      : line`${" ".repeat(columns)}${lineOf(text, shown)}`,
  );
}

const sectionLines = ({ title, blocks }: Section, shown: Shown): readonly Line[] => [
  "",
  title,
  ...blocks.flatMap((block) => blockLines(block, shown)).map((each) => indented(each, 2)),
];

const indented = (text: Line, columns: number): Line => joinLines([" ".repeat(columns), text]);

function blockLines(block: Block, shown: Shown): readonly Line[] {
  switch (block.kind) {
    case "line":
    case "note":
      return [lineOf(block.text, shown)];
    case "advice":
      return [block.text];
    case "quote":
      return block.text.split(/\r?\n/);
    case "picture":
      return [block.words];
    case "commands":
      return block.lines;
    case "facts":
      return block.facts.flatMap(({ label, lines: [first = "", ...others] }) => [
        line`${lineOf(label, shown)}: ${lineOf(first, shown)}`,
        ...others.map((text) => line`- ${lineOf(text, shown)}`),
      ]);
    case "list":
      return [
        ...(block.label === undefined ? [] : [`${block.label}:`]),
        ...linesWithGap(
          block.items.map((item) => itemLines(item, block.markColumns, shown)),
          block.gap,
        ),
      ];
    case "section":
      return sectionLines(block, shown);
    case "timeline":
      return linesWithGap(
        block.events.map((event) => [eventLine(event)]),
        block.gap,
      );
    case "table":
      return layOutTable(block.columns, block.rows.map(cellsOf(shown)));
  }
}

const linesWithGap = (items: readonly (readonly Line[])[], gap: Gap | undefined): readonly Line[] =>
  withGap<readonly Line[]>(items, gap, (text) => [text]).flat();

const FACT_COLUMNS = 8;

/** Further lines of an item's text are aligned with the text; its facts are indented by two more columns. */
function itemLines(
  { mark, text, lines = [], facts = [], passage }: Item,
  markColumns: number | undefined,
  shown: Shown,
): readonly Line[] {
  const first = mark === undefined ? "" : `${mark.padEnd((markColumns ?? 0) - 1)} `;
  const column = markColumns ?? first.length;
  return [
    joinLines([first, lineOf(text, shown)]),
    ...lines.map((each) => indented(lineOf(each, shown), column === 0 ? 2 : column)),
    ...facts.flatMap(({ label, lines: ofFact }) => {
      const name = plainText(lineOf(label, shown)).padEnd(FACT_COLUMNS);
      return ofFact.map((each) => indented(line`${name} ${lineOf(each, shown)}`, column + 2));
    }),
    ...(passage === undefined
      ? []
      : passage.split(/\r?\n/).map((each) => indented(each, column + 2))),
  ];
}

const eventLine = ({ atMs, step, durationMs, text }: TimelineEvent): string => {
  const at = `+${formatDuration(atMs)}`.padStart(9);
  return `${at}  ${step.padEnd(12)} ${formatDuration(durationMs).padStart(8)}  ${text}`.trimEnd();
};
