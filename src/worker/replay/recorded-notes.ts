import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import type { Note } from "../evidence/types.ts";
import { toNote } from "../answer/notes.ts";

/** The notes that joined the run's prompts, as a prompt shows them, without those that were deleted since. */
export const recordedNotes = ({ notes }: Pick<RunDetail, "notes">): readonly Note[] =>
  notes.flatMap(({ memory_id: memoryId, type, source, content }) => {
    if (type === null || source === null || content === null) return [];
    return [toNote({ memory_id: memoryId, type, source, content })];
  });
