import type { Database } from "../../shared/store/connection/database.ts";
import { readResults } from "../../shared/views/results.ts";
import { vectorsOf } from "../../shared/views/openai-lines.ts";
import type { Written } from "../../shared/views/openai-lines.ts";
import { withOutputs } from "../../shared/views/steps.ts";
import type { ExportForm } from "./export-form.ts";

/** Jobs by where they were written; `leftOut` had not ended, and the form has no place for those. */
export type Exported = {
  output: number;
  errors: number;
  leftOut: number;
};

/** Takes one text, its line feed included. */
export type Sinks = Readonly<Record<Written["to"], (text: string) => Promise<void>>>;

type BatchExport = {
  readonly form: ExportForm;
  readonly sinks: Sinks;
  /** What is told of what steps gave: sizes and ids, or their texts too. */
  readonly outputs: "ids" | "texts";
};

/**
 * Writes every job of a batch once, in the order of insertion, a page of rows at a time.
 * @param onJob told after each job how many were seen
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
