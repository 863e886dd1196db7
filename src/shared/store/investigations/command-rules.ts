import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { camelRow, execute, oneRowOf, rowsOf } from "../connection/rows.ts";
import { JOBS_CHANNEL } from "../jobs/batches.ts";
import { DUE_AT_ONCE } from "./approvals.ts";

/** The commands that a rule matches, as stored: program, first words, and folder. */
export const commandRuleSchema = z.strictObject({
  binary: z.string().min(1),
  words: z.array(z.string()).readonly(),
  /** Absolute path in the sandbox; null for a rule that forbids, which applies everywhere. */
  folder: z.string().startsWith("/").nullable(),
});
type CommandRuleRow = z.infer<typeof commandRuleSchema>;

const rulesSchema = camelRow({
  decision_id: z.string(),
  verdict: z.enum(["approve", "deny"]),
  rule: commandRuleSchema,
  reason: z.string().nullable(),
  expires_at: z.date().nullable(),
});
export type StoredCommandRule = z.infer<typeof rulesSchema>;

/** The valid command rules for a job, denials first, then the newest first. Throws for an invalid rule: it might forbid. */
export const selectCommandRules = (
  db: Queryable,
  jobId: string,
): Promise<readonly StoredCommandRule[]> =>
  rowsOf(db, rulesSchema, [jobId])`
     select decision_id, verdict, rule, reason, expires_at from nightdesk_data.decisions
      where rule is not null and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())
        and (scope = 'rule' or job_id = $1 or batch_id = (select batch_id from nightdesk_data.jobs where job_id = $1))
      order by verdict = 'deny' desc, decided_at desc, decision_id`;

/** Counts a call that a rule decided. */
export const countRuleHit = (db: Queryable, decisionId: string): Promise<void> =>
  execute(db, [decisionId])`
     update nightdesk_data.decisions set hits = hits + 1 where decision_id = $1 and rule is not null`;

export type NewCommandRule = {
  readonly verdict: "approve" | "deny";
  readonly rule: CommandRuleRow;
  /** Never blank for a denial. */
  readonly reason: string | null;
  readonly decidedBy: string;
  /** Null for no end, allowed only for a denial and for a rule of a job or batch. */
  readonly expiresInSeconds: number | null;
  /** The only job or batch for which it is valid; missing: all. */
  readonly within?: { readonly scope: "job" | "batch"; readonly id: string } | undefined;
};

const insertedSchema = camelRow({
  decision_id: z.string(),
  expires_at: z.date().nullable(),
  woken: z.coerce.number(),
});

/**
 * Adds a command rule, and makes jobs due that wait for approval of a command with its program: their worker checks whether the
 * rule decides it.
 */
export const insertCommandRule = (
  db: Queryable,
  { verdict, rule, reason, decidedBy, expiresInSeconds, within }: NewCommandRule,
): Promise<z.infer<typeof insertedSchema>> =>
  oneRowOf(db, insertedSchema, [
    JSON.stringify(rule),
    verdict,
    reason,
    decidedBy,
    expiresInSeconds,
    within?.scope ?? "rule",
    within?.id ?? null,
  ])`
     with made as (
       insert into nightdesk_data.decisions (rule, verdict, scope, reason, decided_by, expires_at, job_id, batch_id)
       values ($1, $2, $6, $3, $4, clock_timestamp() + make_interval(secs => $5::double precision),
               case $6 when 'job' then $7::uuid end, case $6 when 'batch' then $7::uuid end)
       returning decision_id, expires_at),
     asking as materialized (
       select j.job_id from nightdesk_data.jobs j
        where j.state = 'parked' and j.waiting_for = 'approval'
          and case $6 when 'job' then j.job_id = $7::uuid when 'batch' then j.batch_id = $7::uuid else true end
          and exists (select from nightdesk_data.approvals a
                       where a.job_id = j.job_id and a.state = 'waiting' and a.tool = 'shell'
                         and position($1::jsonb->>'binary' in a.args->>'command') > 0)
        order by j.seq for no key update of j),
     woken as (
       update nightdesk_data.jobs j set ${DUE_AT_ONCE} from asking where j.job_id = asking.job_id
       returning 1)
     select decision_id, expires_at, (select count(*) from woken) as woken,
            case when exists (select from woken) then pg_notify('${JOBS_CHANNEL}', '') end
       from made`;
