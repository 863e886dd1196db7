import { randomUUID } from "node:crypto";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { claimDocument, releaseDocument } from "../../shared/store/index/write-backs.ts";
import type { DocumentId } from "../../shared/store/index/write-backs.ts";
import type { End } from "./settle-writes.ts";

/** What becomes of values while another write-back has their document. */
export const TAKEN: End = {
  state: "pending",
  reason:
    "another write-back writes to the document now, or was killed while it did; run it again in 5 minutes",
};

/**
 * Has a document to itself while `body` looks at it and writes to it.
 * @returns undefined while another write-back has it
 */
export async function withDocument<T>(
  db: Queryable,
  document: DocumentId,
  body: () => Promise<T>,
): Promise<T | undefined> {
  const claim = randomUUID();
  if (!(await claimDocument(db, document, claim))) return undefined;
  try {
    return await body();
  } finally {
    await releaseDocument(db, document, claim);
  }
}
