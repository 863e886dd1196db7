import { csvRecord } from "../../shared/text/csv.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import {
  marksOf,
  pointerOf,
  readExtractions,
  selectExtractions,
  selectExtractionShape,
  valueAt,
} from "../../shared/views/extraction-table.ts";
import type {
  ExtractionOrder,
  ExtractionRow,
  ExtractionShape,
  FieldPath,
} from "../../shared/views/extraction-table.ts";
import { valueText } from "../../shared/views/field-blocks.ts";
import { htmlTable, stateHtml } from "../../shared/views/draw-sections.ts";
import type { HtmlColumn } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { NAME } from "../../shared/views/section.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { batchOf } from "../path-ids.ts";
import { headHtml } from "../layout.ts";
import { link, pathTo, withQuery } from "../links.ts";
import { shorten } from "./batch.ts";

const PAGE_ROWS = 50;
const MOST_OFFSET = 1_000_000;

/** The extractions of a batch as one table to browse, sort and export as CSV. */
export const FIELDS: readonly Route[] = [
  { path: "/batches/:batch/fields", answer: showFields },
  { path: "/batches/:batch/fields.csv", answer: exportFields },
];

/** What the table shows. All values come from the shape; none is used as sent. */
type TableView = {
  readonly list: string | null;
  readonly columns: readonly FieldPath[];
  readonly order: ExtractionOrder;
  readonly offset: number;
};

function tableViewOf(shape: ExtractionShape, query: URLSearchParams): TableView {
  const list = listOf(shape, query.get("rows"));
  const columns = list === null ? shape.columns : (shape.itemColumns[list] ?? []);
  const path = columns.find((each) => pointerOf(each) === query.get("sort")) ?? null;
  const from = /^\d{1,7}$/.exec(query.get("from") ?? "")?.[0] ?? "0";
  return {
    ...{ list, columns },
    order: { path, direction: query.get("dir") === "desc" ? "desc" : "asc" },
    offset: Math.min(MOST_OFFSET, Number(from)),
  };
}

/** In place of the name of a list: a list may be called "files". */
const BY_FILE = ".";

/** The list whose items are the rows. It is the default if the extractions have nothing but one list. */
function listOf({ lists, columns }: ExtractionShape, wanted: string | null): string | null {
  const only = columns.length === 1 && lists.length === 1 ? lists[0] : undefined;
  return lists.find((name) => name === wanted) ?? (wanted === BY_FILE ? null : (only ?? null));
}

async function showFields({ database }: Site, { part, query }: SiteRequest): Promise<Answer> {
  const batch = await batchOf(database, part("batch"));
  const shape = await selectExtractionShape(database, batch.batchId);
  const shown = tableViewOf(shape, query);
  const rows = await selectExtractions(database, {
    batchId: batch.batchId,
    ...shown,
    limit: PAGE_ROWS + 1,
  });
  const body = markup`${headHtml("Extracted fields", markup`Of ${link(pathTo("batches", batch.batchId), batch.name)}. Click a title to sort; ${stateHtml("unsupported", "unbound")} is a value that no words of its file carry. Open a file to see the words behind each value, and to decide on it.`)}
${shape.columns.length === 0 ? markup`<p class="note">No extraction of this batch has succeeded.</p>` : fieldsHtml(batch, shape, shown, rows)}`;
  return page({ title: `${batch.name}: fields`, menu: "/batches", body });
}

function fieldsHtml(
  batch: BatchProgress,
  { lists, leftOut }: ExtractionShape,
  shown: TableView,
  rows: readonly ExtractionRow[],
): Html {
  const here = `${pathTo("batches", batch.batchId)}/fields`;
  const { list, order, offset } = shown;
  const parameters = {
    rows: list ?? BY_FILE,
    sort: order.path === null ? null : pointerOf(order.path),
    dir: order.direction === "desc" ? "desc" : null,
  };
  const choices = lists.length === 0 ? [] : [BY_FILE, ...lists];
  return markup`${choices.length === 0 ? "" : markup`<p class="tabs">A row for each: ${choices.map((name) => tabHtml(name, here, list ?? BY_FILE))}</p>`}
<p class="actions"><a class="button plain" href="${withQuery(`${here}.csv`, { rows: parameters.rows })}" download>Save all as CSV</a></p>
${leftOut === null ? "" : markup`<p class="note">${leftOut}</p>`}
${tableHtml(rows.slice(0, PAGE_ROWS), shown, here)}
<p class="pager">${offset === 0 ? "" : link(withQuery(here, { ...parameters, from: Math.max(0, offset - PAGE_ROWS) }), "Previous page")} ${rows.length > PAGE_ROWS ? link(withQuery(here, { ...parameters, from: offset + PAGE_ROWS }), "Next page") : ""}</p>`;
}

const tabHtml = (name: string, here: string, current: string): Html => {
  const words = name === BY_FILE ? "file" : `item of ${name}`;
  return name === current
    ? markup`<strong aria-current="true">${words}</strong> `
    : markup`${link(withQuery(here, { rows: name }), words)} `;
};

function tableHtml(rows: readonly ExtractionRow[], shown: TableView, here: string): Html {
  const { columns, list } = shown;
  const table = htmlTable<ExtractionRow>(rows, [
    [
      "file",
      (row) =>
        markup`${link(pathTo("runs", row.run_id), row.path ?? row.custom_id)}${list === null ? "" : markup` <span class="note">${row.item}</span>`}`,
      NAME,
    ],
    ["grade", ({ grade }) => (grade === null ? null : stateHtml(grade))],
    ...columns.map((path) => columnOf(path, rows, shown, here)),
  ]);
  return markup`<div class="fields">${table}</div>`;
}

const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;

function isNumeric(rows: readonly ExtractionRow[], path: FieldPath): boolean {
  const values = rows.map(({ fields }) => valueAt(fields, path)).filter((value) => value != null);
  return (
    values.length > 0 &&
    values.every((value) => typeof value === "number" || NUMBER.test(valueText(value)))
  );
}

function columnOf(
  path: FieldPath,
  rows: readonly ExtractionRow[],
  { order, list }: TableView,
  here: string,
): HtmlColumn<ExtractionRow> {
  const pointer = pointerOf(path);
  const isSorted = order.path !== null && pointerOf(order.path) === pointer;
  const isUp = order.direction === "asc";
  const to = withQuery(here, {
    ...{ rows: list ?? "files", sort: pointer, dir: isSorted && isUp ? "desc" : null },
  });
  const words = path.join(" · ");
  const arrow = isSorted ? markup` <span aria-hidden="true">${isUp ? "↑" : "↓"}</span>` : "";
  return [
    words,
    (row) => cellHtml(row, path, list),
    {
      align: isNumeric(rows, path) ? "right" : "left",
      heading: markup`${link(to, words)}${arrow}`,
      sorted: isSorted ? (isUp ? "ascending" : "descending") : undefined,
    },
  ];
}

function cellHtml(row: ExtractionRow, path: FieldPath, list: string | null): Html | null {
  const value = valueAt(row.fields, path);
  const { isUnbound, decided } = marksOf(row, list, path);
  const isEmpty = value === null || value === undefined;
  if (isEmpty && !isUnbound && decided === null) return null;
  const mark = isUnbound ? markup` ${stateHtml("unsupported", "unbound")}` : "";
  const note = decided === null ? "" : markup` <span class="note" dir="auto">${decided}</span>`;
  return markup`<span dir="auto">${isEmpty ? "" : shorten(valueText(value))}</span>${mark}${note}`;
}

async function exportFields({ database }: Site, { part, query }: SiteRequest): Promise<Answer> {
  const batch = await batchOf(database, part("batch"));
  const shape = await selectExtractionShape(database, batch.batchId);
  return {
    kind: "csv",
    name: "fields.csv",
    chunks: csvOf(database, batch.batchId, tableViewOf(shape, query)),
  };
}

/** All rows in the order of insertion. `unbound` names columns without supporting words, `decided` the decisions of people. */
async function* csvOf(
  database: Site["database"],
  batchId: string,
  { list, columns }: TableView,
): AsyncGenerator<string> {
  const names = columns.map((path) => path.join("."));
  yield `${csvRecord(["custom_id", "path", "item", "grade", ...names, "unbound", "run_id", "decided"])}\n`;
  for await (const rows of readExtractions(database, batchId, list)) {
    yield rows
      .map((row) => {
        const marked = columns.map((path) => ({
          name: path.join("."),
          ...marksOf(row, list, path),
        }));
        const values = columns.map((path) => csvValue(valueAt(row.fields, path)));
        const item = list === null ? null : String(row.item);
        const marks = marked.flatMap(({ name, isUnbound }) => (isUnbound ? [name] : [])).join(" ");
        const decisions = marked.flatMap(({ name, decided }) =>
          decided === null ? [] : [`${name} ${decided}`],
        );
        const cells = [row.custom_id, row.path, item, row.grade, ...values];
        return `${csvRecord([...cells, marks || null, row.run_id, decisions.join("; ") || null])}\n`;
      })
      .join("");
  }
}

function csvValue(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
