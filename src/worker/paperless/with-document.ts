import { randomUUID } from "node:crypto";
import type { Queryable } from "../../shared/store/connection/database.ts";
import {
  claimDocument,
  releaseDocument,
  renewDocument,
} from "../../shared/store/index/write-backs.ts";
import type { DocumentId } from "../../shared/store/index/write-backs.ts";
import type { End } from "./settle-writes.ts";

/** The outcome of values while another write-back holds the claim on their document. */
export const TAKEN: End = {
  state: "pending",
  reason:
    "another write-back writes to the document now, or was killed while it did; run it again in 5 minutes",
};

/** A claim expires after 5 minutes, and paperless-ngx may take longer for a document. */
const RENEWED_EVERY_MS = 60_000;

/**
 * Holds an exclusive claim on a document while `body` reads and writes it.
 * @returns undefined if another write-back holds the claim
 */
export async function withDocument<T>(
  db: Queryable,
  document: DocumentId,
  body: () => Promise<T>,
  renewedEveryMs = RENEWED_EVERY_MS,
): Promise<T | undefined> {
  const claim = randomUUID();
  if (!(await claimDocument(db, document, claim))) return undefined;
  // While the database does not answer, nobody else can take the claim either.
  const renewing = setInterval(() => {
    renewDocument(db, document, claim).catch(() => undefined);
  }, renewedEveryMs);
  try {
    return await body();
  } finally {
    clearInterval(renewing);
    await releaseDocument(db, document, claim);
  }
}
