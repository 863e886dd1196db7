import type { Database } from "../../shared/store/connection/database.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import {
  marksOf,
  readExtractions,
  selectExtractionShape,
  valueAt,
} from "../../shared/views/extraction-table.ts";
import type {
  ExtractionRow,
  ExtractionShape,
  FieldPath,
} from "../../shared/views/extraction-table.ts";
import { valueText } from "../../shared/views/field-blocks.ts";
import { NAME, WORDS, tableOf } from "../../shared/views/section.ts";
import type { ColumnOf } from "../../shared/views/section.ts";
import { printList } from "./sections.ts";

/**
 * Prints the fields of a batch's extractions: a table of files, and one table for the items of each list of records.
 * A question mark follows a value that no words of the file support; a person's decision follows the value that it is on.
 */
export async function printExtractions(
  terminal: Terminal,
  database: Database,
  batchId: string,
): Promise<void> {
  const shape = await selectExtractionShape(database, batchId);
  for (const { list, paths } of tablesOf(shape)) {
    const columns = columnsOf(list, paths);
    for await (const page of readExtractions(database, batchId, list)) {
      if (page.length === 0) continue;
      await terminal.print(list ?? "fields");
      await printList(terminal, tableOf(page, columns));
    }
  }
  if (shape.leftOut !== null) terminal.say(shape.leftOut);
  terminal.say("Values in full, with the words that carry them: --json, or nightdesk runs show.");
}

type FieldTable = { readonly list: string | null; readonly paths: readonly FieldPath[] };

/** Leaves out quotes of the document, which are too long for a cell. */
const tablesOf = ({ columns, lists, itemColumns }: ExtractionShape): readonly FieldTable[] =>
  [
    { list: null, paths: columns.filter(([name = ""]) => !lists.includes(name)) },
    ...lists.map((list) => ({ list, paths: itemColumns[list] ?? [] })),
  ]
    .map(({ list, paths }) => ({ list, paths: paths.filter((path) => path.at(-1) !== "quote") }))
    .filter(({ paths }) => paths.length > 0);

const columnsOf = (
  list: string | null,
  paths: readonly FieldPath[],
): readonly ColumnOf<ExtractionRow>[] => [
  ["file", (row) => row.path ?? row.custom_id, { ...NAME, cut: "middle", least: 12 }],
  ...paths.map((path, at): ColumnOf<ExtractionRow> => [
    path.join("."),
    (row) => cellOf(row, list, path),
    { ...WORDS, least: 8, leftOut: paths.length - at },
  ]),
];

function cellOf(row: ExtractionRow, list: string | null, path: FieldPath): string | null {
  const value = valueAt(row.fields, path);
  const { isUnbound, decided } = marksOf(row, list, path);
  const parts = [
    ...(value === null || value === undefined
      ? []
      : [valueText(value), ...(isUnbound ? ["?"] : [])]),
    ...(decided === null ? [] : [`(${decided})`]),
  ];
  return parts.join(" ") || null;
}
