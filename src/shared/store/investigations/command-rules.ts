import { z } from "zod";
import type { Queryable } from "../connection/database.ts";

/** What commands a rule is about, as it is kept: program, first words, flags that may follow, and folder. */
export const commandRuleSchema = z.strictObject({
  binary: z.string().min(1),
  words: z.array(z.string()).readonly(),
  flags: z.array(z.string()).readonly(),
  /** Absolute, as the sandbox names it; null for a rule that forbids, which holds everywhere. */
  folder: z.string().startsWith("/").nullable(),
});
export type CommandRuleRow = z.infer<typeof commandRuleSchema>;

const rulesSchema = z.array(
  z
    .object({
      decision_id: z.string(),
      verdict: z.enum(["approve", "deny"]),
      rule: commandRuleSchema,
      reason: z.string().nullable(),
      expires_at: z.date().nullable(),
    })
    .transform((row) => ({
      decisionId: row.decision_id,
      verdict: row.verdict,
      rule: row.rule,
      reason: row.reason,
      expiresAt: row.expires_at,
    })),
);
export type StoredCommandRule = z.infer<typeof rulesSchema>[number];

/**
 * The rules for commands that hold now, those that forbid first, then the newest first. Throws for one that can't be
 * read: it might forbid.
 */
export async function selectCommandRules(db: Queryable): Promise<readonly StoredCommandRule[]> {
  const { rows } = await db.query(
    `select decision_id, verdict, rule, reason, expires_at from nightdesk_data.decisions
      where rule is not null and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())
      order by verdict = 'deny' desc, decided_at desc, decision_id`,
  );
  return rulesSchema.parse(rows);
}

/** Counts a call that a rule answered. */
export async function countRuleHit(db: Queryable, decisionId: string): Promise<void> {
  await db.query(
    "update nightdesk_data.decisions set hits = hits + 1 where decision_id = $1 and rule is not null",
    [decisionId],
  );
}

export type NewCommandRule = {
  readonly verdict: "approve" | "deny";
  readonly rule: CommandRuleRow;
  /** Of a denial never blank. */
  readonly reason: string | null;
  readonly decidedBy: string;
  /** Null for good, which only a denial may be. */
  readonly expiresInSeconds: number | null;
};

const insertedSchema = z.tuple([
  z.object({ decision_id: z.string(), expires_at: z.date().nullable() }),
]);

/** Adds a rule for commands. */
export async function insertCommandRule(
  db: Queryable,
  { verdict, rule, reason, decidedBy, expiresInSeconds }: NewCommandRule,
): Promise<{ readonly decisionId: string; readonly expiresAt: Date | null }> {
  const { rows } = await db.query(
    `insert into nightdesk_data.decisions (rule, verdict, scope, reason, decided_by, expires_at)
     values ($1, $2, 'rule', $3, $4, clock_timestamp() + make_interval(secs => $5::double precision))
     returning decision_id, expires_at`,
    [JSON.stringify(rule), verdict, reason, decidedBy, expiresInSeconds],
  );
  const [{ decision_id: decisionId, expires_at: expiresAt }] = insertedSchema.parse(rows);
  return { decisionId, expiresAt };
}
