import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { camelRow, rowOf } from "../connection/rows.ts";

const driftSchema = z.object({
  /** Calls of tools without a note. */
  notesEvery: z.number().nullable(),
  /** How often a query of the same words is asked of the same tool. */
  sameQuery: z.number().nullable(),
  /** How often in a row the same folder or site is asked. */
  samePlace: z.number().nullable(),
  /** Files and pages that evidence comes from. */
  sources: z.number().nullable(),
  /** How often in a row a tool fails with the same code. */
  failures: z.number().nullable(),
  /** Calls in a row that look for something and find nothing new. */
  noNewEvidence: z.number().nullable(),
});

/** Limits of the rules against drift; null: the rule is off. */
export type DriftLimits = Readonly<z.infer<typeof driftSchema>>;

const limitsSchema = z.object({
  /** Calls of models and of tools together. */
  maxSteps: z.number(),
  /** Calls of tools. */
  maxCalls: z.number(),
  /** Tokens of prompts and replies together, over all runs of the job. */
  maxTokens: z.number(),
  /** Seconds at work, over all runs of the job; time in which it waits for people does not count. */
  maxSeconds: z.number(),
  /** When a model that drifts is told so; left out of grants that are older than these rules. */
  drift: driftSchema.optional(),
});

/** How much an investigation may do. */
export type GrantLimits = Readonly<z.infer<typeof limitsSchema>>;

/** A grant as its row. */
export const grantRowSchema = z.object({
  grant_id: z.string(),
  preset: z.string(),
  /** Of the preset as it was when the grant was given, 64 hex. */
  preset_sha256: z.string(),
  tools: z.array(z.string()).readonly(),
  /** Folders relative to the work root; none: all that may be read. */
  roots: z.array(z.string()).readonly(),
  limits: limitsSchema,
});

const grantSchema = camelRow(grantRowSchema.shape);
export type Grant = z.infer<typeof grantSchema>;
export type NewGrant = Omit<Grant, "grantId">;

const COLUMNS = "grant_id, preset, preset_sha256, tools, roots, limits";

/**
 * Gives an investigation its grant; one that it has already stays.
 * @returns undefined when the job is not this run's any more
 */
export const openGrant = (
  db: Queryable,
  { jobId, runId }: { readonly jobId: string; readonly runId: string },
  grant: NewGrant,
): Promise<Grant | undefined> =>
  rowOf(db, grantSchema, [
    jobId,
    runId,
    grant.preset,
    grant.presetSha256,
    grant.tools,
    grant.roots,
    JSON.stringify(grant.limits),
  ])`
     with held as materialized (
       select job_id from nightdesk_data.jobs where job_id = $1 and run_id = $2 and state = 'running' for share),
     made as (
       insert into nightdesk_data.grants (job_id, preset, preset_sha256, tools, roots, limits)
       select job_id, $3, $4, $5, $6, $7 from held
       on conflict (job_id) do nothing
       returning *)
     select ${COLUMNS} from made
      union all
     select ${COLUMNS} from held join nightdesk_data.grants using (job_id)`;

/** The grant of a job; undefined where it has none. */
export const selectGrant = (db: Queryable, jobId: string): Promise<Grant | undefined> =>
  rowOf(db, grantSchema, [jobId])`
     select ${COLUMNS} from nightdesk_data.grants where job_id = $1`;
