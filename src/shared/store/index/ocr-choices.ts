import { z } from "zod";
import { refuse } from "../../failure.ts";
import type { Refusal } from "../../failure.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { rowOf, rowsOf, valuesOf } from "../connection/rows.ts";
import { AT_ONCE, insertAdHoc } from "../jobs/queue-ad-hoc.ts";

const boxSchema = z.tuple([z.number(), z.number(), z.number(), z.number()]);

const choiceSchema = z.object({
  page: z.int(),
  /** Box of the replaced words, in pixels of the picture that was read. */
  box: boxSchema,
  chosen: z.string(),
});
export type OcrChoice = z.infer<typeof choiceSchema>;

/** The corrections of people to the text of a file's pictures. */
export const selectOcrChoices = (db: Queryable, sha256: string): Promise<readonly OcrChoice[]> =>
  rowsOf(db, choiceSchema, [sha256])`
     select page, box, chosen from nightdesk_data.ocr_choices where sha256 = $1 order by page, chosen_at`;

/** A person's choice: the words of one of the two models, or other words. */
export type Reading = "first" | "second" | { readonly words: string };

const MOST_CHARS = 100;

const chosenSchema = z.object({ sha256: z.string(), page: z.int(), chosen: z.string() });
type ChosenReading = z.infer<typeof chosenSchema> & {
  readonly kind: "chosen";
  /** Files that are read again with this choice, each by a job. */
  readonly paths: readonly string[];
};

/**
 * Stores what a person read where the models disagree, in place of an earlier choice, and queues the files of the page, in one
 * transaction.
 * @param figure id in the view doubtful_figures
 */
export async function chooseReading(
  database: Database,
  { figure, reading, by }: { figure: string; reading: Reading; by: string },
): Promise<ChosenReading | Refusal> {
  const words = typeof reading === "string" ? null : reading.words.trim().normalize("NFC");
  if (words !== null && !isWordsOfLine(words)) {
    return refuse(
      "INVALID_ARGS",
      `What stands there is 1 to ${MOST_CHARS} characters in one line.`,
    );
  }
  const isSecond = reading === "second";
  const chosen = await database.transaction(async (db) => {
    const stored = await storeChoice(db, [figure, isSecond, words, by]);
    return stored === undefined ? undefined : { ...stored, paths: await queueFiles(db, stored) };
  });
  return chosen === undefined
    ? refuse(
        "INVALID_ARGS",
        `There is no figure ${JSON.stringify(figure)}${isSecond ? " of which the second model read something else" : ""}: nightdesk evidence doubts lists them.`,
      )
    : { kind: "chosen", ...chosen };
}

/** Whether words can stand in a line of text: without a mark of doubt (U+2E2E), line breaks and invisible characters. */
const isWordsOfLine = (words: string): boolean =>
  words.length <= MOST_CHARS && /^[^\p{C}\p{Zl}\p{Zp}\u2E2E]+$/u.test(words);

/** @param values the figure, whether the second model was right, words in place of either model's or null, and the person */
const storeChoice = (
  db: Queryable,
  values: readonly [string, boolean, string | null, string],
): Promise<z.infer<typeof chosenSchema> | undefined> =>
  rowOf(db, chosenSchema, values)`
     insert into nightdesk_data.ocr_choices as c (sha256, page, box, first_read, second_read, chosen, chosen_by)
     select sha256, page, box, first_read, second_read, coalesce($3, case when $2 then second_read else first_read end), $4
       from nightdesk.doubtful_figures
      where figure = $1 and ($3::text is not null or not $2 or second_read is not null)
      limit 1
     on conflict (sha256, page, box) do update
       set chosen = excluded.chosen, chosen_by = excluded.chosen_by, chosen_at = excluded.chosen_at
     returning sha256, page, chosen`;

async function queueFiles(
  db: Queryable,
  { sha256 }: { readonly sha256: string },
): Promise<readonly string[]> {
  const paths = await valuesOf(db, z.string(), [sha256])`
     select path from nightdesk_data.documents where sha256 = $1 order by path`;
  for (const path of paths) await insertAdHoc(db, { kind: "ocr", path }, AT_ONCE);
  return paths;
}
