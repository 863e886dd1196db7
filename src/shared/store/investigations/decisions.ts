import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { camelRow, oneRowOf } from "../connection/rows.ts";

const revokedSchema = camelRow({
  is_revoked: z.boolean(),
  scope: z.enum(["once", "job", "batch", "rule"]).nullable(),
});

/** once: it answered only the requests that waited then, so there is nothing to revoke. late: it was revoked before. */
export type RevokeOutcome = "revoked" | "once" | "late" | "unknown";

/** Revokes a decision: its answers stay, and new requests wait for a person. */
export async function revokeDecision(db: Queryable, decisionId: string): Promise<RevokeOutcome> {
  const { isRevoked, scope } = await oneRowOf(db, revokedSchema, [decisionId])`
     with revoked as (
       update nightdesk_data.decisions set revoked_at = clock_timestamp()
        where decision_id = $1 and revoked_at is null and scope <> 'once'
       returning decision_id)
     select exists (select from revoked) as is_revoked, d.scope
       from (select 1) one left join nightdesk_data.decisions d on d.decision_id = $1`;
  if (isRevoked) return "revoked";
  if (scope === null) return "unknown";
  return scope === "once" ? "once" : "late";
}
