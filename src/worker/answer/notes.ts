import type { RunTrace } from "../run-trace.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { selectPromptNotes } from "../../shared/store/memory.ts";
import type { PromptNote } from "../../shared/store/memory.ts";
import type { Note, PipelineDependencies } from "../evidence/types.ts";
import type { Model } from "../models/model.ts";
import { operatorNotes } from "./prompt.ts";
import { neutraliseText } from "../text/neutralise-text.ts";

/** Loads the operator's current notes for the prompts of a job, oldest first, and counts those that do not fit. */
export async function loadNotes(
  db: Queryable,
): Promise<{ readonly shown: readonly Note[]; readonly leftOut: number }> {
  const notes = await selectPromptNotes(db);
  const shown = notes.filter(({ fits }) => fits);
  return { shown: shown.map(toNote), leftOut: notes.length - shown.length };
}

/**
 * A note that was derived from evidence may hold words of a document, so text in it that looks like our protocol is
 * neutralised, as in evidence. A note that the operator wrote stays as it is. Further lines are indented, so that each note is
 * one item of the list.
 */
export const toNote = ({
  memory_id: memoryId,
  type,
  source,
  content,
}: Omit<PromptNote, "fits">): Note => {
  const shown = source === "derived_from_evidence" ? neutraliseText(content) : content;
  return { memoryId, type, content: shown.replaceAll("\n", "\n  ") };
};

/** The operator's durable notes as a prompt of pass 2 shows them, and their ids for the record. */
export type ShownNotes = { readonly text: string; readonly ids: readonly string[] };

/** The operator's durable notes, read once a run. A model without language reads no prompt, and gets no notes. */
export async function notesFor(
  { facts }: Model,
  { notes }: Pick<PipelineDependencies, "notes">,
  trace: RunTrace,
): Promise<ShownNotes> {
  if (!facts.readsPrompts) return { text: "", ids: [] };
  const { shown, leftOut } = await notes();
  if (leftOut > 0) {
    await trace.step("notes", () => undefined);
    trace.detail("notes", { shown: shown.length, left_out: leftOut });
  }
  return { text: operatorNotes(shown), ids: shown.map(({ memoryId }) => memoryId) };
}
