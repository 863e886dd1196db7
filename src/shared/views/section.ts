import { SHORT_ID_CHARS } from "../store/jobs/find-id.ts";
import type { Html } from "./html-markup.ts";
import { countOf } from "./quantity.ts";
import type { Clock } from "./quantity.ts";

/**
 * What people read of a batch, a run or a list, before it is drawn: the command line, Markdown and a page draw it each in
 * its own way, and need nothing else. Texts may be anybody's: whoever draws them escapes them.
 */

/** A value of which each form has its own: a time has a zone, a place a link, an id a length. */
export type Piece =
  | string
  | { readonly kind: "strong"; readonly text: string }
  /** What is copied or typed: a command, an id, a key. */
  | { readonly kind: "code"; readonly text: string }
  /** What is said of a state, in the colour of that state: `failed, attempt 2`. */
  | { readonly kind: "state"; readonly state: string; readonly text: string }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "duration"; readonly ms: number }
  | { readonly kind: "time"; readonly at: Date; readonly precision: "minutes" | "seconds" }
  /** From one time to another; until now where `to` is null. */
  | { readonly kind: "span"; readonly from: Date; readonly to: Date | null }
  /** Lines of a file that was read, with their heading, and the first words that stand there, where they are known. */
  | ({ readonly kind: "place"; readonly heading?: string; readonly words?: string } & PagedRange)
  /** Of the bytes of a file. */
  | { readonly kind: "sha256"; readonly sha256: string }
  /** Something by its id. */
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

/** The same of a file with pages: the one on which they stand. */
export type PagedRange = LineRange & { readonly page?: number };

/** Something told under a label: a line, or several. */
export type Fact = { readonly label: Text; readonly lines: readonly Text[] };

export type Item = {
  /** Its number, class or verdict, which stands before it. */
  readonly mark?: string;
  readonly text: Text;
  /** More of it, each a line below it. */
  readonly lines?: readonly Text[];
  readonly facts?: readonly Fact[];
  /** Words of a document that stand there: folded away by a form that can unfold them. */
  readonly passage?: string;
  /** What its mark in the answer leads to: of those of its page, none has the same. */
  readonly anchor?: string;
};

/** A mark in a text, such as `[1]`, and the anchor of the item that tells what it stands for. */
export type Mark = { readonly mark: string; readonly anchor: string };

/** What is left out of rows or items, told where it would stand. */
export type Gap = { readonly at: number; readonly text: string };

export type Column = {
  readonly title: string;
  readonly align: "left" | "right";
  /** `name`: what the row is of. `words`: sentences, which may be broken; nothing else may. */
  readonly holds?: "name" | "words";
  /** Where a cell that does not fit is cut; at its end unless it is said. */
  readonly cut?: "middle";
  /** Columns that are left to it at least where cells give way; those of an id where nothing is said. */
  readonly least?: number;
  /** Which columns are left out first where all of them do not fit, from 1; never where nothing is said. */
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
  /** Said aside: what a job was, where more is. */
  | { readonly kind: "note"; readonly text: Text }
  /** What a code means, and what somebody can do about it: words of ours, with nothing of anybody else's in them. */
  | { readonly kind: "advice"; readonly text: string }
  /** Words of a document or a model, of any number of lines. */
  | { readonly kind: "quote"; readonly text: string; readonly marks?: readonly Mark[] }
  /** Drawn by a form that has pictures; any other says it in words. */
  | { readonly kind: "picture"; readonly svg: Html; readonly words: string }
  | {
      readonly kind: "commands";
      readonly language: "sh" | "sql";
      readonly lines: readonly string[];
    }
  | { readonly kind: "facts"; readonly facts: readonly Fact[] }
  | {
      readonly kind: "list";
      /** What the items are: `Evidence`. */
      readonly label?: string;
      readonly items: readonly Item[];
      readonly gap?: Gap | undefined;
      /** Columns that the marks take where columns are counted, the blank behind them included. */
      readonly markColumns?: number;
    }
  /** Events in order of time, each with when it began after the first and how long it took. */
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
  /** Of those of its page, none has the same. */
  readonly id: string;
  readonly title: string;
  /** Of what it tells, if that is of one state. */
  readonly state?: string;
  /** The job that it tells of, if that is one. */
  readonly jobId?: string;
  /** In a form that folds: whether it is open at first. */
  readonly fold?: "open" | "closed";
  readonly blocks: readonly Block[];
};

export type Count = { readonly name: string; readonly jobs: number };

/** A whole page. */
export type Page = {
  readonly title: string;
  /** One sentence on all of it. */
  readonly lead?: string;
  /** Jobs by state, for a bar; the facts have them in words. */
  readonly counts?: readonly Count[];
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
  /** Whose clocks its times are of, in a file; UTC, and said with each, where nothing is said. */
  readonly clock?: Clock;
  /** Where it is from, and how to read it. */
  readonly colophon?: Text;
};

/** Of a table: a title, what a row has below it, and how the column is laid out: on the left where nothing else is said. */
export type ColumnOf<R> = readonly [
  title: string,
  cell: (row: R) => Text | null,
  look?: Partial<Omit<Column, "title">>,
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

/** A column of ids, which says what they are ids of. */
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
  columns: columns.map(([title, , look]) => ({ title, align: "left", ...look })),
  rows: rows.map((row) => columns.map(([, cell]) => cell(row))),
});

export const fact = (label: Text, ...lines: readonly Text[]): Fact => ({ label, lines });

export const section = (id: string, title: string, blocks: readonly Block[]): Section => ({
  kind: "section",
  id,
  title,
  blocks,
});

/** A section, or none where there is nothing in it. */
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
 * How much of a run is shown: `brief` folds long lists and cuts long texts, `trace` only cuts texts, for a file of rows
 * beside it holds them.
 */
export type Extent = "brief" | "full" | "trace";

/** The first and the last of many, and how many there are between them. */
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
  /** What one of the items is. */
  readonly noun?: string;
  readonly markColumns?: number;
};

/** A list as a section of its own, folded where an extent says so; none where there is nothing in it. */
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

/** Items as a form draws them, with what is left out of them told where it would stand. */
export const withGap = <T>(
  items: readonly T[],
  gap: Gap | undefined,
  draw: (text: string) => T,
): readonly T[] =>
  gap === undefined ? items : [...items.slice(0, gap.at), draw(gap.text), ...items.slice(gap.at)];

/** A timeline for a form that has tables and no columns of its own. */
export function timelineTable({ events, gap }: Timeline): Table {
  const table = tableOf(events, [
    ["Began", ({ atMs }) => ["+", duration(atMs)], RIGHT],
    ["Step", ({ step }) => step],
    ["Took", ({ durationMs }) => duration(durationMs), RIGHT],
    ["What", ({ text }) => text, WORDS],
  ]);
  return { ...table, rows: rowsWithGap(table, gap) };
}

/** Rows of a table whose last column tells what is left out between them. */
export const rowsWithGap = ({ columns, rows }: Table, gap: Gap | undefined): readonly Row[] =>
  withGap<Row>(rows, gap, (text) => [...columns.slice(1).map(() => null), text]);

/** What is left out, and the statement for `nightdesk sql` that gives it. */
export const moreBlocks = (more: number, words: string, statement: string): readonly Block[] =>
  more > 0
    ? [
        { kind: "note", text: `… and ${words}:` },
        { kind: "commands", language: "sql", lines: [statement] },
      ]
    : [];
