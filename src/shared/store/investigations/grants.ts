import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { camelRow, rowOf } from "../connection/rows.ts";

const driftSchema = z.object({
  /** Most tool calls without a note. */
  notesEvery: z.number().nullable(),
  /** Most calls of one tool with the same words. */
  sameQuery: z.number().nullable(),
  /** Most consecutive calls for the same folder or site. */
  samePlace: z.number().nullable(),
  /** Most files and pages that evidence comes from. */
  sources: z.number().nullable(),
  /** Most consecutive failures of a tool with the same code. */
  failures: z.number().nullable(),
  /** Most consecutive searches without new evidence. */
  noNewEvidence: z.number().nullable(),
});

/** Limits of the rules against drift; null turns a rule off. */
export type DriftLimits = Readonly<z.infer<typeof driftSchema>>;

const limitsSchema = z.object({
  /** Model calls and tool calls together. */
  maxSteps: z.number(),
  /** Tool calls. */
  maxCalls: z.number(),
  /** Tokens of prompts and replies together, over all runs of the job. */
  maxTokens: z.number(),
  /** Working seconds, over all runs of the job; waiting for people does not count. */
  maxSeconds: z.number(),
  /** When the model is warned that it drifts; missing in grants that are older than these rules. */
  drift: driftSchema.optional(),
});

/** Limits of an investigation. */
export type GrantLimits = Readonly<z.infer<typeof limitsSchema>>;

/** The row of a grant. */
export const grantRowSchema = z.object({
  grant_id: z.string(),
  preset: z.string(),
  /** Hash of the preset when the grant was made, 64 hex. */
  preset_sha256: z.string(),
  tools: z.array(z.string()).readonly(),
  /** Folders relative to the work root; empty: everything that may be read. */
  roots: z.array(z.string()).readonly(),
  limits: limitsSchema,
});

const grantSchema = camelRow(grantRowSchema.shape);
export type Grant = z.infer<typeof grantSchema>;
export type NewGrant = Omit<Grant, "grantId">;

const COLUMNS = "grant_id, preset, preset_sha256, tools, roots, limits";

/**
 * Creates the grant of an investigation, or returns its existing one.
 * @returns undefined when the run no longer owns the job
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

/** The grant of a job; undefined when it has none. */
export const selectGrant = (db: Queryable, jobId: string): Promise<Grant | undefined> =>
  rowOf(db, grantSchema, [jobId])`
     select ${COLUMNS} from nightdesk_data.grants where job_id = $1`;
