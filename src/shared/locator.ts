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
    /** Of a mailbox. */
    message: number,
    /** JSON pointer (RFC 6901). */
    pointer: z.string(),
  })
  .partial();
export type Locator = z.infer<typeof locatorSchema>;

/** `page 3`, `sheet Prices, row 12`, `message 4`, `/orders/7`. */
export const formatLocator = ({ page, sheet, row, message, pointer }: Locator): string =>
  [
    page === undefined ? [] : `page ${page}`,
    sheet === undefined ? [] : `sheet ${sheet}`,
    row === undefined ? [] : `row ${row}`,
    message === undefined ? [] : `message ${message}`,
    pointer ?? [],
  ]
    .flat()
    .join(", ");
