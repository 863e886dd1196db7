import type { Database } from "../../shared/store/connection/database.ts";
import { readResults } from "../../shared/views/results.ts";
import { vectorsOf } from "../../shared/views/openai-lines.ts";
import type { Written } from "../../shared/views/openai-lines.ts";
import { withOutputs } from "../../shared/views/steps.ts";
import type { ExportForm } from "./export-form.ts";

/** Numbers of jobs by target; `leftOut` counts unfinished jobs, for which the format has no place. */
export type Exported = {
  output: number;
  errors: number;
  leftOut: number;
};

/** Each writes one text, which includes its line feed. */
export type Sinks = Readonly<Record<Written["to"], (text: string) => Promise<void>>>;

type BatchExport = {
  readonly form: ExportForm;
  readonly sinks: Sinks;
  /** Whether outputs of steps are exported as sizes and ids, or with their texts. */
  readonly outputs: "ids" | "texts";
};

/**
 * Writes every job of a batch once, in the order of insertion, a page of rows at a time.
 * @param onJob is called after each job with the number so far
 */
export async function exportBatch(
  database: Database,
  batchId: string,
  { form, sinks, outputs }: BatchExport,
  onJob: (seen: number) => void,
): Promise<Exported> {
  const exported: Exported = { output: 0, errors: 0, leftOut: 0 };
  if (form.head !== null) await sinks.output(`${form.head}\n`);
  let seen = 0;
  for await (const found of readResults(database, batchId)) {
    const result = outputs === "texts" ? await withOutputs(database, found) : found;
    const written = form.write(result, await vectorsOf(database, result));
    if (written !== undefined) await sinks[written.to](`${written.text}\n`);
    exported[written?.to ?? "leftOut"] += 1;
    seen += 1;
    onJob(seen);
  }
  return exported;
}
