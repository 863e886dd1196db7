import { SHORT_ID_CHARS } from "../store/jobs/find-id.ts";
import type { Html } from "./html-markup.ts";
import { countOf } from "./quantity.ts";
import type { Clock } from "./quantity.ts";

/**
 * The document model of pages about batches, runs and lists. The terminal, Markdown and HTML renderers need nothing else. Texts
 * may come from anyone, so each renderer escapes them.
 */

/** A value that each renderer formats its own way: a time has a zone, a place a link, an id a length. */
export type Piece =
  | string
  | { readonly kind: "strong"; readonly text: string }
  /** Text to copy or type: a command, an id, a key. */
  | { readonly kind: "code"; readonly text: string }
  /** A text in the colour of a state: `failed, attempt 2`. */
  | { readonly kind: "state"; readonly state: string; readonly text: string }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "duration"; readonly ms: number }
  | { readonly kind: "time"; readonly at: Date; readonly precision: "minutes" | "seconds" }
  /** A span of time; a null `to` means until now. */
  | { readonly kind: "span"; readonly from: Date; readonly to: Date | null }
  /** Lines of a file that was read, with their heading and first words if known. */
  | ({ readonly kind: "place"; readonly heading?: string; readonly words?: string } & PagedRange)
  | { readonly kind: "sha256"; readonly sha256: string }
  | {
      readonly kind: "id";
      readonly of: "job" | "run" | "note" | "approval" | "decision";
      readonly id: string;
    };

/** A line of text. */
export type Text = Piece | readonly Piece[];

/** Lines of a file, from 1. */
export type LineRange = {
  readonly path: string;
  readonly line_start: number;
  readonly line_end: number;
};

/** The same, with a page if the file has pages. */
export type PagedRange = LineRange & { readonly page?: number };

/** A label with one or more lines. */
export type Fact = { readonly label: Text; readonly lines: readonly Text[] };

export type Item = {
  /** The number, class or verdict in front of the text. */
  readonly mark?: string;
  readonly text: Text;
  /** Further lines below the text. */
  readonly lines?: readonly Text[];
  readonly facts?: readonly Fact[];
  /** Words of the source; renderers that can fold hide them at first. */
  readonly passage?: string;
  /** The target of its mark in the answer; unique on its page. */
  readonly anchor?: string;
};

/** A mark in a text, such as `[1]`, and the anchor of the item that it refers to. */
export type Mark = { readonly mark: string; readonly anchor: string };

/** A notice at the place of rows or items that are left out. */
export type Gap = { readonly at: number; readonly text: string };

export type Column = {
  readonly title: string;
  readonly align: "left" | "right";
  /** `name`: the subject of the row. `words`: sentences, the only cells that wrap. */
  readonly holds?: "name" | "words";
  /** Where a cell that does not fit is cut; the end by default. */
  readonly cut?: "middle";
  /** The least width in characters when the table is narrowed; by default that of an id. */
  readonly least?: number;
  /** The order, from 1, in which columns are dropped from a narrow table; never dropped by default. */
  readonly leftOut?: number;
};

/** A cell without a value is null. */
export type Row = readonly (Text | null)[];

export type Table = {
  readonly kind: "table";
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
};

export type Block =
  | { readonly kind: "line"; readonly text: Text }
  /** An aside, such as the kind of a job. */
  | { readonly kind: "note"; readonly text: Text }
  /** The meaning and remedy of a code. It contains only Nightdesk's own words. */
  | { readonly kind: "advice"; readonly text: string }
  /** Text of a document or a model, with any number of lines. */
  | { readonly kind: "quote"; readonly text: string; readonly marks?: readonly Mark[] }
  /** Renderers without pictures show `words`. */
  | { readonly kind: "picture"; readonly svg: Html; readonly words: string }
  | {
      readonly kind: "commands";
      readonly language: "sh" | "sql";
      readonly lines: readonly string[];
    }
  | { readonly kind: "facts"; readonly facts: readonly Fact[] }
  | {
      readonly kind: "list";
      /** The name of the list: `Evidence`. */
      readonly label?: string;
      readonly items: readonly Item[];
      readonly gap?: Gap | undefined;
      /** The width of the marks on a terminal, with the blank after them. */
      readonly markColumns?: number;
    }
  /** Events by time, each with its offset from the first and its duration. */
  | {
      readonly kind: "timeline";
      readonly events: readonly TimelineEvent[];
      readonly gap?: Gap | undefined;
    }
  | Table
  | Section;

type Timeline = Extract<Block, { readonly kind: "timeline" }>;

export type TimelineEvent = {
  readonly atMs: number;
  readonly step: string;
  readonly durationMs: number;
  readonly text: string;
};

export type Section = {
  readonly kind: "section";
  /** Unique on its page. */
  readonly id: string;
  readonly title: string;
  /** The state of its subject, if it has one. */
  readonly state?: string;
  /** The job that it describes, if it is about one. */
  readonly jobId?: string;
  /** Whether it is open at first, in renderers that fold. */
  readonly fold?: "open" | "closed";
  readonly blocks: readonly Block[];
};

export type Count = { readonly name: string; readonly jobs: number };

/** A whole page. */
export type Page = {
  readonly title: string;
  /** A sentence that sums up the page. */
  readonly lead?: string;
  /** Jobs by state, for a bar; the facts repeat them in words. */
  readonly counts?: readonly Count[];
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
  /** The clock of a page in a file. By default each time is in UTC and says so. */
  readonly clock?: Clock;
  /** The origin of the page, and how to read it. */
  readonly colophon?: Text;
};

/** A column of a table: its title, the cell of a row, and its layout, left-aligned by default. */
export type ColumnOf<R> = readonly [
  title: string,
  cell: (row: R) => Text | null,
  layout?: Partial<Omit<Column, "title">>,
];

export const RIGHT = { align: "right" } as const;
export const NAME = { holds: "name" } as const;
export const WORDS = { holds: "words" } as const;

/** A column of numbers. */
export const numbers = <R>(title: string, of: (row: R) => number): ColumnOf<R> => [
  title,
  (row) => number(of(row)),
  RIGHT,
];

/** A column of ids of one kind. */
export const ids = <R>(
  of: Extract<Piece, { readonly kind: "id" }>["of"],
  idOf: (row: R) => string,
): ColumnOf<R> => [
  of,
  (row) => ({ kind: "id", of, id: idOf(row) }),
  { ...NAME, least: SHORT_ID_CHARS },
];

export const tableOf = <R>(rows: readonly R[], columns: readonly ColumnOf<R>[]): Table => ({
  kind: "table",
  columns: columns.map(([title, , layout]) => ({ title, align: "left", ...layout })),
  rows: rows.map((row) => columns.map(([, cell]) => cell(row))),
});

export const fact = (label: Text, ...lines: readonly Text[]): Fact => ({ label, lines });

export const section = (id: string, title: string, blocks: readonly Block[]): Section => ({
  kind: "section",
  id,
  title,
  blocks,
});

/** A section, or nothing without blocks. */
export const sectionOf = (
  id: string,
  title: string,
  blocks: readonly Block[],
): readonly Section[] => (blocks.length === 0 ? [] : [section(id, title, blocks)]);

export const time = (at: Date, precision: "minutes" | "seconds" = "seconds"): Piece => ({
  kind: "time",
  at,
  precision,
});

export const strong = (text: string): Piece => ({ kind: "strong", text });
export const code = (text: string): Piece => ({ kind: "code", text });
export const duration = (ms: number): Piece => ({ kind: "duration", ms });
export const number = (value: number): Piece => ({ kind: "number", value });
export const state = (of: string, text: string = of): Piece => ({ kind: "state", state: of, text });

const isList = (text: Text): text is readonly Piece[] => Array.isArray(text);

export const piecesOf = (text: Text): readonly Piece[] => (isList(text) ? text : [text]);

/** The pieces of several texts in one. */
export const joinTexts = (...texts: readonly Text[]): Text => texts.flatMap(piecesOf);

const HEAD_ITEMS = 20;
const TAIL_ITEMS = 5;

/**
 * The extent of a page: `brief` folds long lists and cuts long texts; `trace` only cuts texts, which the trace file holds in
 * full.
 */
export type Extent = "brief" | "full" | "trace";

/** Keeps the first and last of many items, with a notice of how many lie between them. */
export function fold<T>(
  items: readonly T[],
  extent: Extent,
  noun: string,
): { readonly items: readonly T[]; readonly gap?: Gap } {
  const hidden = items.length - HEAD_ITEMS - TAIL_ITEMS;
  if (extent !== "brief" || hidden <= 1) return { items };
  return {
    items: [...items.slice(0, HEAD_ITEMS), ...items.slice(-TAIL_ITEMS)],
    gap: { at: HEAD_ITEMS, text: `… ${countOf(hidden, noun)} more; --all shows all` },
  };
}

type Listing = {
  readonly extent?: Extent;
  /** The singular noun for an item. */
  readonly noun?: string;
  readonly markColumns?: number;
};

/** A list as a section, folded by extent; nothing without items. */
export const listSection = (
  id: string,
  title: string,
  items: readonly Item[],
  { extent = "full", noun = "row", ...list }: Listing = {},
): readonly Section[] =>
  sectionOf(
    id,
    title,
    items.length === 0 ? [] : [{ kind: "list", ...fold(items, extent, noun), ...list }],
  );

/** Drawn items, with the notice at the place of the items that are left out. */
export const withGap = <T>(
  items: readonly T[],
  gap: Gap | undefined,
  draw: (text: string) => T,
): readonly T[] =>
  gap === undefined ? items : [...items.slice(0, gap.at), draw(gap.text), ...items.slice(gap.at)];

/** A timeline as a table, for renderers without columns of their own. */
export function timelineTable({ events, gap }: Timeline): Table {
  const table = tableOf(events, [
    ["Began", ({ atMs }) => ["+", duration(atMs)], RIGHT],
    ["Step", ({ step }) => step],
    ["Took", ({ durationMs }) => duration(durationMs), RIGHT],
    ["What", ({ text }) => text, WORDS],
  ]);
  return { ...table, rows: rowsWithGap(table, gap) };
}

/** Rows of a table, with a notice in the last column at the place of rows that are left out. */
export const rowsWithGap = ({ columns, rows }: Table, gap: Gap | undefined): readonly Row[] =>
  withGap<Row>(rows, gap, (text) => [...columns.slice(1).map(() => null), text]);

/** How much is left out, and the `nightdesk sql` statement that selects it. */
export const moreBlocks = (more: number, words: string, statement: string): readonly Block[] =>
  more > 0
    ? [
        { kind: "note", text: `… and ${words}:` },
        { kind: "commands", language: "sql", lines: [statement] },
      ]
    : [];
