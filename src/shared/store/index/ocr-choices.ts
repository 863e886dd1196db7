import { z } from "zod";
import { refuse } from "../../failure.ts";
import type { Refusal } from "../../failure.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { rowOf, rowsOf, valuesOf } from "../connection/rows.ts";
import { AT_ONCE, queueAdHoc } from "../jobs/queue-ad-hoc.ts";

const boxSchema = z.tuple([z.number(), z.number(), z.number(), z.number()]);

const choiceSchema = z.object({
  page: z.int(),
  /** Of the words that it stands for, in pixels of the picture as it was read. */
  box: boxSchema,
  chosen: z.string(),
});
export type OcrChoice = z.infer<typeof choiceSchema>;

/** What people read in the pictures of a file. */
export const selectOcrChoices = (db: Queryable, sha256: string): Promise<readonly OcrChoice[]> =>
  rowsOf(db, choiceSchema, [sha256])`
     select page, box, chosen from nightdesk_data.ocr_choices where sha256 = $1 order by page, chosen_at`;

/** What a person takes for right: what one of the two models read, or other words. */
export type Reading = "first" | "second" | { readonly words: string };

const MOST_CHARS = 100;

const chosenSchema = z.object({ sha256: z.string(), page: z.int(), chosen: z.string() });
type Chosen = z.infer<typeof chosenSchema> & {
  readonly kind: "chosen";
  /** Files that are read anew with it, each by a job. */
  readonly paths: readonly string[];
};

/**
 * Stores what a person read where the models were not sure, in place of an earlier choice, and queues the files of the page.
 * @param figure as the view doubtful_figures names it
 */
export async function chooseReading(
  database: Database,
  { figure, reading, by }: { figure: string; reading: Reading; by: string },
): Promise<Chosen | Refusal> {
  const words = typeof reading === "string" ? null : reading.words.trim().normalize("NFC");
  // A mark of doubt, a line break or a sign without a shape would be no words of a line.
  if (
    words !== null &&
    (words.length > MOST_CHARS || !/^[^\p{C}\p{Zl}\p{Zp}\u2E2E]+$/u.test(words))
  ) {
    return refuse(
      "INVALID_ARGS",
      `What stands there is 1 to ${MOST_CHARS} characters in one line.`,
    );
  }
  const stored = await rowOf(database, chosenSchema, [figure, reading === "second", words, by])`
     insert into nightdesk_data.ocr_choices as c (sha256, page, box, first_read, second_read, chosen, chosen_by)
     select sha256, page, box, first_read, second_read, coalesce($3, case when $2 then second_read else first_read end), $4
       from nightdesk.doubtful_figures
      where figure = $1 and ($3::text is not null or not $2 or second_read is not null)
      limit 1
     on conflict (sha256, page, box) do update
       set chosen = excluded.chosen, chosen_by = excluded.chosen_by, chosen_at = excluded.chosen_at
     returning sha256, page, chosen`;
  if (stored === undefined) {
    return refuse(
      "INVALID_ARGS",
      `There is no figure ${JSON.stringify(figure)}${reading === "second" ? " of which the second model read something else" : ""}: nightdesk evidence doubts lists them.`,
    );
  }
  const paths = await valuesOf(database, z.string(), [stored.sha256])`
     select path from nightdesk_data.documents where sha256 = $1 order by path`;
  for (const path of paths) await queueAdHoc(database, { kind: "ocr", path }, AT_ONCE);
  return { kind: "chosen", ...stored, paths };
}
