import { z } from "zod";

const number = z.int().min(1);

/**
 * Where in its file a text begins, as people find it there: the least that says it. Plain text has none, its lines say it.
 * Numbers count from 1.
 */
export const locatorSchema = z
  .strictObject({
    page: number,
    sheet: z.string(),
    row: number,
    /** Of several lines, each of which is a row or a part of one: the row of the last. */
    last_row: number,
    /**
     * Where these lines are not the rows from `row` on, one each: a line of the text, from 0, and the row that it is, in order.
     * The lines behind it count on from there.
     */
    row_breaks: z.array(z.tuple([z.int().min(1), number])),
    /** Of a mailbox. */
    message: number,
    /** JSON pointer (RFC 6901). */
    pointer: z.string(),
  })
  .partial();
export type Locator = z.infer<typeof locatorSchema>;

/** `page 3`, `sheet Prices, row 12`, `rows 3 to 9`, `message 4`, `/orders/7`. */
export const formatLocator = ({
  page,
  sheet,
  row,
  last_row: last = row,
  message,
  pointer,
}: Locator): string =>
  [
    page === undefined ? [] : `page ${page}`,
    sheet === undefined ? [] : `sheet ${sheet}`,
    row === undefined ? [] : last === row ? `row ${row}` : `rows ${row} to ${last}`,
    message === undefined ? [] : `message ${message}`,
    pointer ?? [],
  ]
    .flat()
    .join(", ");

/** The same behind the lines of a place: `, page 3`; empty where these say it. */
export const behindLines = (locator: Locator | null): string =>
  locator === null ? "" : `, ${formatLocator(locator)}`;
