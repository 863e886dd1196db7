import { decodeBytes } from "../encoding.ts";
import { NO_FRONTMATTER } from "../frontmatter.ts";
import { inChild } from "../reader/reader.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Format } from "./format.ts";
import type { Extraction } from "../extraction.ts";
import { addRow, isHeader, rowBlocks } from "./table-rows.ts";

/** Tables as text, with any of four delimiters. */
export const CSV: Format = {
  name: "csv",
  extensions: [".csv", ".tsv"],
  extractor: inChild("csv 1", { home: import.meta.url, name: "readCsv" }),
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (lines, firstLine) => ({ kind: "blocks", blocks: rowBlocks(lines, firstLine) }),
};

/** A line of text a row, its cells with the names of their columns where the first row names them. */
export function readCsv(bytes: Buffer, limits: TextLimits): Extraction {
  const decoded = decodeBytes(bytes);
  if (decoded === undefined) {
    throw new NoText(
      "FILE_READ_ERROR",
      "is no text in an encoding that is known: save it as UTF-8.",
    );
  }
  const text = decoded.text.replace(/^\uFEFF/, "");
  const delimiter = detectDelimiter(text);
  const builder = openTextBuilder(limits);
  const count = countEntries("rows", limits);
  let header: ReadonlyMap<number, string> | null = null;
  let row = 0;
  for (const cells of parseRows(text, delimiter)) {
    count();
    row += 1;
    if (cells.every((cell) => cell.trim() === "")) continue;
    builder.place({ row });
    const numbered = [...cells.entries()];
    addRow(builder, header, numbered);
    if (row === 1 && isHeader(cells)) header = new Map(numbered);
  }
  return builder.finish({ encoding: decoded.encoding, delimiter: NAMES[delimiter], rows: row });
}

const NAMES = { "\t": "tab", ";": "semicolon", ",": "comma", "|": "bar" } as const;
type Delimiter = keyof typeof NAMES;

const SAMPLE_CHARS = 20_000;
const SAMPLE_ROWS = 50;

/** The one that cuts the most rows of a sample into as many cells as the first has; the first of the list among equals. */
function detectDelimiter(text: string): Delimiter {
  const sample = text.slice(0, SAMPLE_CHARS);
  const scores = (["\t", ";", ",", "|"] as const).map((delimiter) => {
    const rows: string[][] = [];
    for (const cells of parseRows(sample, delimiter, "cut")) {
      rows.push(cells);
      if (rows.length === SAMPLE_ROWS) break;
    }
    // The last one may be cut.
    const whole = rows.length > 1 && text.length > SAMPLE_CHARS ? rows.slice(0, -1) : rows;
    const columns = whole[0]?.length ?? 1;
    const alike = whole.filter((cells) => cells.length === columns).length;
    return { delimiter, score: columns === 1 ? 0 : alike / Math.max(1, whole.length) };
  });
  return scores.reduce((best, other) => (other.score > best.score ? other : best), {
    delimiter: ",",
    score: 0,
  }).delimiter;
}

/**
 * Rows by RFC 4180: a cell in quotation marks may hold delimiters, line ends, and marks that are doubled. Time in
 * proportion to the text.
 * @param end of a text that may be `cut` in the middle of a cell
 */
function* parseRows(
  text: string,
  delimiter: string,
  end: "whole" | "cut" = "whole",
): Generator<string[]> {
  let cells: string[] = [];
  let at = 0;
  let row = 1;
  while (at < text.length) {
    const cell = text.charAt(at) === '"' ? quotedCell(text, at) : plainCell(text, at, delimiter);
    if (cell === undefined && end === "whole") {
      throw new NoText(
        "FILE_FORMAT_INVALID",
        `has a quotation mark in row ${row} that is never closed: close it, or save the table anew.`,
      );
    }
    if (cell === undefined) break;
    // What follows a closing mark, up to the next delimiter, belongs to the cell.
    const rest = plainCell(text, cell.end, delimiter);
    cells.push(cell.end === rest.end ? cell.value : cell.value + rest.value);
    at = rest.end;
    if (text.charAt(at) === delimiter) {
      at += 1;
      if (at < text.length) continue;
      cells.push("");
    }
    at += text.startsWith("\r\n", at) ? 2 : 1;
    yield cells;
    cells = [];
    row += 1;
  }
  if (cells.length > 0) yield cells;
}

type Cell = { readonly value: string; readonly end: number };

function quotedCell(text: string, start: number): Cell | undefined {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text.charAt(at + 1) === '"') continue;
    return { value: text.slice(start + 1, at).replaceAll('""', '"'), end: at + 1 };
  }
  return undefined;
}

function plainCell(text: string, start: number, delimiter: string): Cell {
  let end = start;
  while (end < text.length && !isEnd(text.charAt(end), delimiter)) end += 1;
  return { value: text.slice(start, end), end };
}

const isEnd = (character: string, delimiter: string): boolean =>
  character === delimiter || character === "\n" || character === "\r";
