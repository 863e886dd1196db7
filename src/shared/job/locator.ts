import { z } from "zod";

const number = z.int().min(1);

/**
 * Where a text begins in its file, in terms that people use to find it, with as few fields as possible. Plain text has no
 * locator: its lines are enough. Numbers count from 1.
 */
export const locatorSchema = z
  .strictObject({
    page: number,
    sheet: z.string(),
    row: number,
    /** For several lines of rows: the row of the last line. */
    last_row: number,
    /**
     * Only when the lines are not consecutive rows from `row` on: pairs of a line of the text, from 0, and its row, in order. The
     * lines after it count on from there.
     */
    row_breaks: z.array(z.tuple([z.int().min(1), number])),
    /** Number of the message in a mailbox. */
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

/** The locator as it follows line numbers: `, page 3`; empty when the lines are enough. */
export const formatAfterLines = (locator: Locator | null): string =>
  locator === null ? "" : `, ${formatLocator(locator)}`;
