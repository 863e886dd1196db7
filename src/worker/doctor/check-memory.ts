import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectLeftOutNotes, selectMemoryHealth } from "../../shared/store/memory.ts";
import { fail, ok, warn, wordsOf } from "./check.ts";
import type { Check } from "./check.ts";

/** Checks whether durable notes are in use, rest on existing passages, and fit into prompts. */
export async function checkMemory(config: Config, database: Database): Promise<readonly Check[]> {
  if (!config.memory.enabled) {
    return [
      warn(
        "DOCTOR_MEMORY_DISABLED",
        "Durable notes are switched off: no answer follows them, and the memory commands refuse.",
        `To use them, set memory.enabled to true in ${config.file}.`,
      ),
    ];
  }
  try {
    const { notes, dangling } = await selectMemoryHealth(database);
    const leftOut = await selectLeftOutNotes(database);
    return [checkEvidence(notes, dangling), ...(leftOut.length === 0 ? [] : [tooMany(leftOut)])];
  } catch (error) {
    return [
      fail(
        "DOCTOR_MEMORY_DB_ERROR",
        `The durable notes can't be read (${wordsOf(error)}).`,
        "Look at the database's log.",
      ),
    ];
  }
}

const checkEvidence = (notes: number, dangling: readonly string[]): Check =>
  dangling.length === 0
    ? ok(
        "DOCTOR_MEMORY_DANGLING_EVIDENCE_OK",
        `${notes} durable notes; every passage that one rests on is in the index.`,
      )
    : fail(
        "DOCTOR_MEMORY_DANGLING_EVIDENCE",
        `${dangling.length} of ${notes} durable notes rest on passages that are no longer in the index: ${listIds(dangling)}.`,
        "Look: nightdesk memory list. What no longer holds: nightdesk memory delete ID",
      );

const tooMany = (leftOut: readonly string[]): Check =>
  warn(
    "DOCTOR_MEMORY_LEFT_OUT",
    `${leftOut.length} durable notes join no prompt, because newer ones fill it: ${listIds(leftOut)}.`,
    "Delete or shorten some: nightdesk memory list",
  );

const MOST_NAMED = 5;

const listIds = (ids: readonly string[]): string =>
  ids.slice(0, MOST_NAMED).join(", ") + (ids.length > MOST_NAMED ? ", …" : "");
