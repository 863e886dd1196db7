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

/** How a figure was read. */
export const doubtSchema = z.object({
  first: z.string(),
  /** Null where the second model read nothing else. */
  second: z.string().nullable(),
  /** 0 to 100. */
  confidence: z.number(),
  /** What a person chose. */
  chosen: z.string().nullable(),
});
type Doubt = z.infer<typeof doubtSchema>;

/** That of a claim `c` whose reason is `reading`, as JSON. The detail of that check begins with the word. */
export const DOUBT_OF_CLAIM = `(select jsonb_build_object('first', f.first_read, 'second', f.second_read, 'confidence', f.confidence, 'chosen', f.chosen)
      from nightdesk_data.claim_checks k
      join nightdesk_data.evidence e on e.run_id = k.run_id and e.admitted and e.path = c.path
     cross join lateral (
       select * from nightdesk.doubtful_figures d where d.sha256 = e.sha256 and d.page = coalesce((c.locator->>'page')::int, 1)) f
     where c.reason = 'reading' and k.run_id = c.run_id and k.draft = c.draft and k.claim = c.ordinal and k.rule = 'reading'
       and split_part(k.detail, ' ', 1) = any (string_to_array(f.first_read, ' '))
     order by f.confidence limit 1)`;

/** `The 3 of 71.73 was read with 66 %, and as 71.71 by the second reader.` */
export function doubtText({ first, second, confidence, chosen }: Doubt): string {
  const sure = `${oddSign(first, second)}${first} was read with ${Math.round(confidence)} %`;
  const other = second === null ? "" : `, and as ${second} by the second reader`;
  return `${sure}${other}.${chosen === null ? "" : ` A person chose ${chosen}.`}`;
}

/** The one sign in which two readings differ. */
function oddSign(first: string, second: string | null): string {
  const [signs, others] = [Array.from(first), Array.from(second ?? "")];
  const odd = signs.filter((sign, at) => sign !== others[at]);
  return signs.length === others.length && signs.length > 1 && odd.length === 1
    ? `The ${odd[0] ?? ""} of `
    : "";
}
