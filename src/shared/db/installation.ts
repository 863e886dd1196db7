import { z } from "zod";
import type { Queryable } from "./database.ts";

const keySchema = z.tuple([z.object({ evidence_key: z.instanceof(Buffer) })]);

/** The secret of this installation from which the marks around evidence are derived, 32 bytes. */
export async function selectEvidenceKey(db: Queryable): Promise<Buffer> {
  const { rows } = await db.query("select evidence_key from nightdesk_data.installation");
  return keySchema.parse(rows)[0].evidence_key;
}
