import { z } from "zod";
import type { Queryable } from "../database.ts";

/** Why a result may not be what the same job would give now. */
export const STALE_REASONS = [
  "evidence_changed",
  "document_gone",
  "index_changed",
  "config_changed",
  "version_changed",
  "model_changed",
] as const;
export type StaleReason = (typeof STALE_REASONS)[number];

/** What results are compared with. */
export type Present = {
  /** Of Nightdesk. */
  readonly version: string;
  /** Fingerprint of the values that change answers, 64 hex. */
  readonly configSha256: string;
  /** SHA-256 of the pinned weights, 64 hex; null where none are pinned. */
  readonly digest: string | null;
  /** When a document of the index last changed; null for an empty index. */
  readonly indexedAt: Date | null;
};

const indexedSchema = z.tuple([z.object({ indexed_at: z.date().nullable() })]);

export async function selectIndexedAt(db: Queryable): Promise<Date | null> {
  const { rows } = await db.query(
    "select max(indexed_at) as indexed_at from nightdesk_data.documents",
  );
  return indexedSchema.parse(rows)[0].indexed_at;
}

/** As jsonb_to_record takes it with PRESENT_TYPES. */
export const presentRowOf = ({ version, configSha256, digest, indexedAt }: Present): object => ({
  version,
  config_sha256: configSha256,
  digest,
  indexed_at: indexedAt,
});

export const PRESENT_TYPES =
  "version text, config_sha256 text, digest text, indexed_at timestamptz";

/**
 * The reasons as an array, of a job `j`, its run `r` and what is present, `now`. A question may be answered from any
 * document, so that every change of the index makes it a candidate; replies to requests that are the same are taken over.
 */
export const REASONS_SQL = `array_remove(array[
  case when exists (
         select from nightdesk_data.evidence e
          where e.run_id = j.run_id and e.admitted
            and exists (select from nightdesk_data.documents d where d.path = e.path)
            and not exists (select from nightdesk_data.documents d where d.path = e.path and d.sha256 = e.sha256))
         or j.state = 'refused' and exists (
         select from nightdesk_data.documents d where d.path = j.input->>'path' and d.indexed_at > j.finished_at)
       then 'evidence_changed' end,
  case when exists (
         select from nightdesk_data.evidence e
          where e.run_id = j.run_id and e.admitted
            and not exists (select from nightdesk_data.documents d where d.path = e.path))
       then 'document_gone' end,
  case when j.kind = 'ask' and now.indexed_at > r.started_at then 'index_changed' end,
  case when r.config_sha256 <> now.config_sha256 then 'config_changed' end,
  case when r.version <> now.version then 'version_changed' end,
  case when exists (
         select from jsonb_array_elements(r.models) as used (model)
          where model->'facts'->>'provider' <> 'extractive' and model->'facts'->>'digest' <> now.digest)
       then 'model_changed' end], null)`;
