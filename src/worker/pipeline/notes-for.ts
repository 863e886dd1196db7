import type { RunTrace } from "../../shared/run-trace.ts";
import type { Model } from "../model/model.ts";
import type { PipelineDependencies } from "./pipeline-dependencies.ts";
import { operatorNotes } from "./prompts/operator-notes.ts";

/** The operator's durable notes as a prompt of pass 2 shows them, and their ids for the record. */
export type ShownNotes = { readonly text: string; readonly ids: readonly string[] };

/**
 * The operator's durable notes, read once a run. A model without language reads no prompt, and is given none.
 */
export async function notesFor(
  { facts }: Model,
  { notes }: Pick<PipelineDependencies, "notes">,
  trace: RunTrace,
): Promise<ShownNotes> {
  if (facts.provider === "extractive") return { text: "", ids: [] };
  const { shown, leftOut } = await notes();
  if (leftOut > 0) {
    await trace.step("notes", () => undefined);
    trace.detail("notes", { shown: shown.length, left_out: leftOut });
  }
  return { text: operatorNotes(shown), ids: shown.map(({ memoryId }) => memoryId) };
}
