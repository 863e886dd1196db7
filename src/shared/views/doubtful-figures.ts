import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf } from "../store/connection/rows.ts";
import { RIGHT, tableOf } from "./section.ts";
import type { Table } from "./section.ts";

const figureSchema = z.object({
  figure: z.string(),
  path: z.string(),
  page: z.number(),
  first_read: z.string(),
  second_read: z.string().nullable(),
  confidence: z.number(),
  chosen: z.string().nullable(),
  chosen_by: z.string().nullable(),
});
type DoubtfulFigure = z.infer<typeof figureSchema>;

type Filter = {
  /** Null for all documents. */
  readonly path: string | null;
  readonly which: "open" | "all";
  readonly limit: number;
};

/** Figures of documents that were not read for sure, the least sure first. */
export const selectDoubtfulFigures = (
  db: Queryable,
  { path, which, limit }: Filter,
): Promise<readonly DoubtfulFigure[]> =>
  rowsOf(db, figureSchema, [path, which, limit])`
     select figure, path, page, first_read, second_read, confidence, chosen, chosen_by from nightdesk.doubtful_figures
      where path is not null and ($1::text is null or path = $1) and ($2 = 'all' or chosen is null)
      order by confidence, path, page, figure limit $3`;

export const doubtfulFigureTable = (rows: readonly DoubtfulFigure[]): Table =>
  tableOf(rows, [
    ["figure", ({ figure }) => figure],
    ["first reader", ({ first_read: read }) => read],
    ["second reader", ({ second_read: read }) => read],
    ["sure", ({ confidence }) => `${confidence} %`, RIGHT],
    [
      "chosen",
      ({ chosen, chosen_by: by }) => (chosen === null ? null : `${chosen} by ${by ?? ""}`),
    ],
    ["where", ({ path, page }) => `${path}, page ${page}`, { cut: "middle", least: 20 }],
  ]);
