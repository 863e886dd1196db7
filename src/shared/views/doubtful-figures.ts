import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf, valueOf } from "../store/connection/rows.ts";
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

/** Figures in documents that OCR read with doubt, the least certain first. */
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

/** How OCR read a figure. */
export const doubtSchema = z.object({
  first: z.string(),
  /** Null if the second model read the same. */
  second: z.string().nullable(),
  /** 0 to 100. */
  confidence: z.number(),
  /** Null if a person has chosen the right reading. */
  certainty: z.enum(["by_one", "doubtful"]).nullable(),
  /** The reading that a person chose. */
  chosen: z.string().nullable(),
});
type Doubt = z.infer<typeof doubtSchema>;

const pixels = z.number();
const box = z.tuple([pixels, pixels, pixels, pixels]);

/** Where a quote stands on the picture of its page, and how its figures were read. A box is left, top, right, bottom. */
export const quotePicture = z.object({
  /** From 1. */
  page: z.number(),
  /** The size of the picture, in the same pixels as the boxes. */
  width: pixels,
  height: pixels,
  /** Resolution at which a page of a PDF is drawn; null if the file is a picture itself. */
  dpi: z.number().nullable(),
  /** Clockwise degrees by which a page of a PDF is turned before it is drawn. */
  turned: z.number(),
  /** One box per line of text. */
  boxes: z.array(box),
  /** How often the words occur on the page; each occurrence has boxes. */
  times: z.number(),
  figures: z.array(
    z.object({
      text: z.string(),
      certainty: z.enum(["by_two", "by_one", "doubtful"]),
      /** The reading of the second model, if it differs. */
      second: z.string().nullable(),
      /** The vision model that read the same from the cropped picture. */
      confirmed_by: z.string().nullable(),
      /** 0 to 100. */
      confidence: z.number(),
      box,
    }),
  ),
});
export type QuotePicture = z.infer<typeof quotePicture>;

/** SQL: whether stored pictures of pages exist for the files that a run read. @param runId SQL of the id of the run */
export const hasPicturesOf = (runId: string): string =>
  `exists (select from nightdesk_data.evidence e join nightdesk_data.ocr_pages p using (sha256) where e.run_id = ${runId} and e.admitted)`;

/** The same for one run. It keeps runs on text files from loading the code for pictures. */
export const selectHasPictures = (db: Queryable, runId: string): Promise<boolean> =>
  valueOf(db, z.boolean(), [runId])`select ${hasPicturesOf("$1::uuid")}`;

const DOUBT_JSON = `jsonb_build_object('first', f.first_read, 'second', f.second_read, 'confidence', f.confidence,
             'certainty', f.certainty, 'chosen', f.chosen)`;

/** Joins the doubtful figures `f` on the page of row `c`, in the file of evidence `e`. */
const FIGURES_OF_PAGE = `join nightdesk.doubtful_figures f on f.sha256 = e.sha256 and f.page = coalesce((c.locator->>'page')::int, 1)`;

/** The doubt of a claim `c` whose reason is `reading`, as JSON. The detail of that check begins with the figure. */
export const DOUBT_OF_CLAIM = `(select ${DOUBT_JSON}
      from nightdesk_data.claim_checks k
      join nightdesk_data.evidence e on e.run_id = k.run_id and e.admitted and e.path = c.path
      ${FIGURES_OF_PAGE}
     where c.reason = 'reading' and k.run_id = c.run_id and k.draft = c.draft and k.claim = c.ordinal and k.rule = 'reading'
       and split_part(k.detail, ' ', 1) = any (string_to_array(f.first_read, ' '))
     order by f.confidence limit 1)`;

/** SQL array of the groups of digits in a text, and of all its digits joined, without trailing zeros. */
const groupsIn = (text: string): string =>
  String.raw`string_to_array(btrim(regexp_replace(${text}, '\D+', ' ', 'g')) || ' ' || rtrim(regexp_replace(${text}, '\D+', '', 'g'), '0'), ' ')`;

/** The doubt of a field binding `c` whose reason is `reading`, as JSON: the figure occurs in the quote and in the value. */
export const DOUBT_OF_FIELD = `(select ${DOUBT_JSON}
      from nightdesk_data.evidence e
      ${FIGURES_OF_PAGE}
     where c.reason = 'reading' and e.run_id = c.run_id and e.admitted and e.path = c.path
       and position(f.first_read in replace(c.quote, '\u2E2E', '')) > 0
       and ${groupsIn("f.first_read")} && ${groupsIn("c.value #>> '{}'")}
     order by f.confidence limit 1)`;

/** `The 3 of 71.73 was read with 66 %, and as 71.71 by the second reader.` `8 was read by one reader alone, with 81 %.` */
export function doubtText({ first, second, confidence, certainty, chosen }: Doubt): string {
  const sure = `with ${Math.round(confidence)} %`;
  const choice = chosen === null ? "" : ` A person chose ${chosen}.`;
  if (second !== null) {
    const read = `${oddSign(first, second)}${first} was read ${sure}`;
    return `${read}, and as ${second} by the second reader.${choice}`;
  }
  const how = {
    by_one: ` by one reader alone, ${sure}`,
    doubtful: ` ${sure}, which is doubtful`,
    none: ` ${sure}`,
  }[certainty ?? "none"];
  return `${first} was read${how}.${choice}`;
}

/** Names the single character in which two readings differ: `The 3 of `. */
function oddSign(first: string, second: string): string {
  const [signs, others] = [Array.from(first), Array.from(second)];
  const odd = signs.filter((sign, at) => sign !== others[at]);
  return signs.length === others.length && signs.length > 1 && odd.length === 1
    ? `The ${odd[0] ?? ""} of `
    : "";
}
