import { z } from "zod";
import type { Queryable } from "../connection/database.ts";

/** What an investigation may take of everything. */
export type GrantLimits = {
  /** Calls of models and of tools together. */
  readonly maxSteps: number;
  /** Calls of tools. */
  readonly maxCalls: number;
  /** Tokens of prompts and replies together, over all runs of the job. */
  readonly maxTokens: number;
  /** Seconds at work, over all runs of the job; what it waits for people does not count. */
  readonly maxSeconds: number;
  /** When a model that drifts is told so; left out of grants that are older than these rules. */
  readonly drift?: DriftLimits | undefined;
};

/** Limits of the rules against drift; null: the rule is off. */
export type DriftLimits = {
  /** Calls of tools without a note. */
  readonly notesEvery: number | null;
  /** How often a query of the same words is asked of the same tool. */
  readonly sameQuery: number | null;
  /** How often in a row the same folder or site is asked. */
  readonly samePlace: number | null;
  /** Files and pages that evidence comes from. */
  readonly sources: number | null;
  /** How often in a row a tool fails with the same code. */
  readonly failures: number | null;
  /** Calls in a row that look for something and find nothing new. */
  readonly noNewEvidence: number | null;
};

export type NewGrant = {
  readonly preset: string;
  /** SHA-256 of the preset as it is now, 64 hex. */
  readonly presetSha256: string;
  readonly tools: readonly string[];
  /** Folders relative to the work root; none: all that may be read. */
  readonly roots: readonly string[];
  readonly limits: GrantLimits;
};

export type Grant = NewGrant & { readonly grantId: string };

const driftSchema = z.object({
  notesEvery: z.number().nullable(),
  sameQuery: z.number().nullable(),
  samePlace: z.number().nullable(),
  sources: z.number().nullable(),
  failures: z.number().nullable(),
  noNewEvidence: z.number().nullable(),
});

const limitsSchema = z.object({
  maxSteps: z.number(),
  maxCalls: z.number(),
  maxTokens: z.number(),
  maxSeconds: z.number(),
  drift: driftSchema.optional(),
});

/** A grant as its row. */
export const grantRowSchema = z.object({
  grant_id: z.string(),
  preset: z.string(),
  preset_sha256: z.string(),
  tools: z.array(z.string()),
  roots: z.array(z.string()),
  limits: limitsSchema,
});

const storedGrant = (row: z.infer<typeof grantRowSchema>): Grant => ({
  grantId: row.grant_id,
  preset: row.preset,
  presetSha256: row.preset_sha256,
  tools: row.tools,
  roots: row.roots,
  limits: row.limits,
});

const grantSchema = z.array(grantRowSchema.transform(storedGrant));

const COLUMNS = "grant_id, preset, preset_sha256, tools, roots, limits";

/**
 * Gives an investigation its grant; one that it has already stays.
 * @returns undefined when the job is not this run's any more
 */
export async function openGrant(
  db: Queryable,
  { jobId, runId }: { readonly jobId: string; readonly runId: string },
  grant: NewGrant,
): Promise<Grant | undefined> {
  const { rows } = await db.query(
    `with held as materialized (
       select job_id from nightdesk_data.jobs where job_id = $1 and run_id = $2 and state = 'running' for share),
     made as (
       insert into nightdesk_data.grants (job_id, preset, preset_sha256, tools, roots, limits)
       select job_id, $3, $4, $5, $6, $7 from held
       on conflict (job_id) do nothing
       returning *)
     select ${COLUMNS} from made
      union all
     select ${COLUMNS} from held join nightdesk_data.grants using (job_id)`,
    [
      jobId,
      runId,
      grant.preset,
      grant.presetSha256,
      grant.tools,
      grant.roots,
      JSON.stringify(grant.limits),
    ],
  );
  return grantSchema.parse(rows)[0];
}

/** The grant of a job; undefined where it has none. */
export async function selectGrant(db: Queryable, jobId: string): Promise<Grant | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from nightdesk_data.grants where job_id = $1`,
    [jobId],
  );
  return grantSchema.parse(rows)[0];
}
