import { recordFailures } from "../../shared/db/index/document-failures.ts";
import { touchDocuments } from "../../shared/db/index/document-facts.ts";
import { removeDocuments } from "../../shared/db/index/remove-documents.ts";
import { writeDocuments } from "../../shared/db/index/write-documents.ts";
import type { Database } from "../../shared/db/database.ts";
import type { Tally } from "./index-tally.ts";
import type { Portion } from "./prepare-portions.ts";

/** Stores a portion in one transaction and says what it changed. */
export async function storePortion(db: Database, portion: Portion): Promise<Partial<Tally>> {
  const { documents, touched, failures, lost, known } = portion;
  await db.transaction(async (transaction) => {
    if (documents.length > 0) await writeDocuments(transaction, portion);
    if (touched.length > 0) await touchDocuments(transaction, touched);
    if (lost.length > 0) await removeDocuments(transaction, lost);
    if (failures.length > 0) await recordFailures(transaction, portion.source, failures);
  });
  return {
    unchanged: touched.length,
    added: documents.length - known,
    changed: known,
    removed: lost.length,
    failed: failures.length,
    chunks_written: documents.reduce((sum, { chunks }) => sum + chunks.length, 0),
  };
}
