import type { TextBuilder } from "../reader/text-builder.ts";
import { markdownTable } from "./markdown-table.ts";

/** Where the words of a word processor's document go: paragraphs, headings, lists and tables in each other, and notes at the end. */
export type FlowWriter = {
  add(text: string): void;
  /** Ends a paragraph that is a heading of a level, an item of a list at a depth, or neither. */
  endParagraph(kind: ParagraphKind): void;
  openTable(): void;
  openRow(): void;
  openCell(): void;
  closeCell(): void;
  closeTable(): void;
  /** What is added from here on is a note of that name, until it is closed. */
  openNote(name: string): void;
  closeNote(): void;
  /** Writes the notes. */
  finish(): void;
};

export type ParagraphKind =
  | { readonly kind: "plain" }
  | { readonly kind: "heading"; readonly level: number }
  | { readonly kind: "item"; readonly depth: number };

const DEEPEST_HEADING = 6;
const DEEPEST_ITEM = 8;

type Table = { readonly rows: string[][] };

export function openFlowWriter(builder: Pick<TextBuilder, "add">): FlowWriter {
  /** What is gathered: the paragraph, inside of it a cell, inside of that a note. */
  const open: string[][] = [[]];
  const tables: Table[] = [];
  const notes: string[] = [];
  let isAfterItem = false;
  const take = (): string => (open.pop() ?? []).join("");
  const add = (text: string): void => {
    open.at(-1)?.push(text);
  };
  const isInside = (): boolean => open.length > 1;
  return {
    add,
    endParagraph(kind) {
      // A cell and a note are one line, of as many paragraphs as there are.
      if (isInside()) {
        add(" ");
        return;
      }
      const text = take()
        .replaceAll(/[ \t]+/g, " ")
        .trim();
      open.push([]);
      if (text === "") return;
      if (isAfterItem && kind.kind !== "item") builder.add("\n");
      isAfterItem = kind.kind === "item";
      builder.add(paragraphOf(text, kind));
    },
    openTable: () => void tables.push({ rows: [] }),
    openRow: () => void tables.at(-1)?.rows.push([]),
    openCell: () => void open.push([]),
    closeCell() {
      if (!isInside()) return;
      tables.at(-1)?.rows.at(-1)?.push(take());
    },
    closeTable() {
      const { rows } = tables.pop() ?? { rows: [] };
      if (!isInside()) {
        builder.add(`${isAfterItem ? "\n" : ""}${markdownTable(rows)}\n`);
        isAfterItem = false;
      }
      // One in a cell is part of its words.
      else add(rows.map((row) => row.join("; ")).join(" / "));
    },
    openNote: (name) => void open.push([`${name}: `]),
    closeNote() {
      if (isInside()) notes.push(take().replaceAll(/\s+/g, " ").trim());
    },
    finish() {
      for (const note of notes) builder.add(`${note}\n\n`);
    },
  };
}

function paragraphOf(text: string, kind: ParagraphKind): string {
  switch (kind.kind) {
    case "heading":
      return `${"#".repeat(Math.min(kind.level, DEEPEST_HEADING))} ${text.replaceAll("\n", " ")}\n\n`;
    case "item":
      return `${"  ".repeat(Math.min(kind.depth, DEEPEST_ITEM))}- ${text.replaceAll("\n", " ")}\n`;
    case "plain":
      return `${text}\n\n`;
  }
}
