import type { Queryable } from "../../shared/store/connection/database.ts";
import { selectPromptNotes } from "../../shared/store/memory.ts";
import type { PromptNote } from "../../shared/store/memory.ts";
import { neutraliseText } from "../pipeline/text/neutralise-text.ts";
import type { Note } from "../pipeline/pipeline-dependencies.ts";

/** The operator's notes for the prompts of a job, as they are now, oldest first, and how many found no room. */
export async function loadNotes(
  db: Queryable,
): Promise<{ readonly shown: readonly Note[]; readonly leftOut: number }> {
  const notes = await selectPromptNotes(db);
  const shown = notes.filter(({ fits }) => fits);
  return { shown: shown.map(toNote), leftOut: notes.length - shown.length };
}

/**
 * A note that was derived from evidence may carry words of a document, so it is shown as evidence is: without
 * anything that looks like our protocol. What the operator wrote stands as it was written. Further lines are indented,
 * so that each note stays one item of the list.
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
