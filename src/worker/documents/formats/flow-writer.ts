import type { TextBuilder } from "../reader/text-builder.ts";

/** Receives the words of a document in order, and writes paragraphs, headings, lists, nested tables, and the notes at the end. */
export type FlowWriter = {
  add(text: string): void;
  /** Ends the open paragraph, and says whether it is a heading, an item of a list, or plain. */
  endParagraph(kind: ParagraphKind): void;
  readonly openTable: () => void;
  readonly openRow: () => void;
  openCell(span?: CellSpan): void;
  readonly closeCell: () => void;
  readonly closeTable: () => void;
  /** Opens a box beside the open paragraph; its text is written behind that paragraph. */
  readonly openBox: () => void;
  readonly closeBox: () => void;
  /** Opens a note of that name; text belongs to it until `closeNote`. */
  openNote(name: string): void;
  closeNote(): void;
  /** Writes the notes. */
  finish(): void;
};

/** How many columns a cell spans, and whether it continues the cell above. The caller may change it until the cell is closed. */
export type CellSpan = { columns: number; goesOn: boolean };

export type ParagraphKind =
  | { readonly kind: "plain" }
  | { readonly kind: "heading"; readonly level: number; readonly label?: string | undefined }
  /** An item without a label has a bullet. */
  | { readonly kind: "item"; readonly depth: number; readonly label?: string | undefined };

const DEEPEST_HEADING = 6;
const DEEPEST_ITEM = 8;
/** A row with more columns is written without its spans, and the rule of a Markdown table ends there. */
const MOST_COLUMNS = 200;
/** A longer cell is written once, however many columns it spans. */
const MOST_REPEATED_CHARS = 80;
const oneCell = (): CellSpan => ({ columns: 1, goesOn: false });

type Cell = { readonly text: string; readonly span: CellSpan };
type Table = { readonly rows: Cell[][]; readonly spans: CellSpan[] };

/** An open place for text: `blocks` for the document or a box, `line` for a cell or a note, which joins all paragraphs. */
type Frame = {
  readonly kind: "blocks" | "line";
  readonly put: (block: string) => void;
  pieces: string[];
  /** Index of the first piece of the open paragraph of a line. */
  from: number;
  /** Texts of the boxes beside the open paragraph. */
  boxes: string[];
  isAfterItem: boolean;
};

const frameOf = (kind: Frame["kind"], put: Frame["put"]): Frame => ({
  kind,
  put,
  pieces: [],
  from: 0,
  boxes: [],
  isAfterItem: false,
});

export function openFlowWriter(builder: Pick<TextBuilder, "add">): FlowWriter {
  const body = frameOf("blocks", (block) => {
    builder.add(block);
  });
  const open: Frame[] = [];
  const tables: Table[] = [];
  const boxes: string[][] = [];
  const notes = new Set<string>();
  const top = (): Frame => open.at(-1) ?? body;
  const add = (text: string): void => {
    top().pieces.push(text);
  };
  const openLine = (start: readonly string[]): void => {
    open.push({ ...frameOf("line", () => undefined), pieces: [...start], from: start.length });
  };
  const closeLine = (): string => open.pop()?.pieces.join("") ?? "";
  const putBoxes = (frame: Frame): void => {
    for (const box of frame.boxes.splice(0)) frame.put(box);
  };
  return {
    add,
    endParagraph(kind) {
      const frame = top();
      if (frame.kind === "line") {
        const label = kind.kind === "plain" ? undefined : kind.label;
        if (label !== undefined) frame.pieces.splice(frame.from, 0, `${label} `);
        add(" ");
        frame.from = frame.pieces.length;
        return;
      }
      const text = frame.pieces
        .join("")
        .replaceAll(/[ \t]+/g, " ")
        .trim();
      frame.pieces = [];
      if (text !== "") {
        if (frame.isAfterItem && kind.kind !== "item") frame.put("\n");
        frame.isAfterItem = kind.kind === "item";
        frame.put(paragraphOf(text, kind));
      }
      if (frame.boxes.length > 0 && frame.isAfterItem) frame.put("\n");
      if (frame.boxes.length > 0) frame.isAfterItem = false;
      putBoxes(frame);
    },
    openTable: () => void tables.push({ rows: [], spans: [] }),
    openRow: () => void tables.at(-1)?.rows.push([]),
    openCell(span = oneCell()) {
      tables.at(-1)?.spans.push(span);
      openLine([]);
    },
    closeCell() {
      if (top().kind !== "line") return;
      const text = closeLine();
      const table = tables.at(-1);
      const row = table?.rows.at(-1);
      const span = table?.spans.pop() ?? oneCell();
      if (table === undefined || row === undefined) return;
      const said = span.goesOn ? textAbove(table, columnsOf(row)) : undefined;
      row.push({ text: said ?? text, span });
    },
    closeTable() {
      const { rows } = tables.pop() ?? { rows: [] };
      const frame = top();
      const texts = rows.map((row, at) =>
        columnsOf(row) > MOST_COLUMNS
          ? row.map(({ text }) => text)
          : row.flatMap((cell) => cellsOf(cell, at === 0, row.length)),
      );
      // A table within a cell becomes part of the text of the cell.
      if (frame.kind === "line")
        add(texts.map((row) => row.map((text) => text.trim()).join("; ")).join(" / "));
      else {
        frame.put(`${frame.isAfterItem ? "\n" : ""}${markdownTable(texts)}\n`);
        frame.isAfterItem = false;
      }
    },
    openBox() {
      const blocks: string[] = [];
      boxes.push(blocks);
      open.push(frameOf("blocks", (block) => blocks.push(block)));
    },
    closeBox() {
      if (boxes.length === 0) return;
      open.pop();
      const text = (boxes.pop() ?? []).join("");
      const frame = top();
      if (frame.kind === "line") add(` ${text.replaceAll(/\s+/g, " ").trim()} `);
      else if (text !== "") frame.boxes.push(text);
    },
    openNote: (name) => {
      openLine([`${name}: `]);
    },
    closeNote() {
      if (top().kind !== "line") return;
      const note = closeLine().replaceAll(/\s+/g, " ").trim();
      if (!note.endsWith("]:")) notes.add(note);
    },
    finish() {
      putBoxes(body);
      for (const note of notes) builder.add(`${note}\n\n`);
    },
  };
}

const columnsOf = (row: readonly Cell[]): number =>
  row.reduce((sum, { span }) => sum + span.columns, 0);

/** The text of the cell in the row above, at a column. */
function textAbove({ rows }: Table, column: number): string | undefined {
  let at = 0;
  for (const { text, span } of rows.at(-2) ?? []) {
    if (column < at + span.columns) return text;
    at += span.columns;
  }
  return undefined;
}

/** The texts of a cell for each column it spans; in the first row its name is repeated for each. */
function cellsOf({ text, span }: Cell, isFirstRow: boolean, cells: number): string[] {
  const isRepeated = isFirstRow && cells > 1 && text.length <= MOST_REPEATED_CHARS;
  return [text, ...Array.from({ length: span.columns - 1 }, () => (isRepeated ? text : ""))];
}

const clamp = (value: number, least: number, most: number): number =>
  Math.min(Math.max(value, least), most);

function paragraphOf(text: string, kind: ParagraphKind): string {
  const line = text.replaceAll("\n", " ");
  switch (kind.kind) {
    case "heading": {
      const marks = "#".repeat(clamp(kind.level, 1, DEEPEST_HEADING));
      return `${marks} ${kind.label === undefined ? "" : `${kind.label} `}${line}\n\n`;
    }
    case "item": {
      const { depth, label = "-" } = kind;
      // A label that is no list number in Markdown stands behind a bullet.
      const mark = /^(?:-|\d{1,9}[.)])$/.test(label) ? label : `- ${label}`;
      return `${"  ".repeat(clamp(depth, 0, DEEPEST_ITEM))}${mark} ${line}\n`;
    }
    case "plain":
      return `${text}\n\n`;
  }
}

/** Writes a table whose cells are known. */
export function addTable(writer: FlowWriter, rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) return;
  writer.openTable();
  for (const row of rows) {
    writer.openRow();
    for (const cell of row) {
      writer.openCell();
      writer.add(cell);
      writer.closeCell();
    }
  }
  writer.closeTable();
}

/** A table as Markdown writes it: the first row names the columns. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [header, ...rest] = rows;
  if (header === undefined) return "";
  const columns = Math.min(
    MOST_COLUMNS,
    Math.max(...rows.slice(0, MEASURED).map((row) => row.length)),
  );
  const rule = Array.from({ length: columns }, () => "---");
  return [header, rule, ...rest].map((row) => `| ${row.map(inCell).join(" | ")} |\n`).join("");
}

const MEASURED = 1_000;

const inCell = (text: string): string => text.replaceAll(/\s+/g, " ").trim().replaceAll("|", "\\|");
