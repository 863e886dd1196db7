import { createHash } from "node:crypto";
import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { execute, valueOf } from "../connection/rows.ts";

/** A build of a model as its host describes it. */
export type ModelBuild = {
  readonly provider: string;
  readonly model: string;
  /** SHA-256 of the weights, 64 hex; null when the host reports none. */
  readonly digest: string | null;
  readonly serverVersion: string | null;
};

/** The key includes the server, since the same weights may follow a schema under another. Without a digest, the name counts. */
const keyOf = ({ provider, model, digest, serverVersion }: ModelBuild): string =>
  createHash("sha256")
    .update(JSON.stringify([provider, digest ?? model, serverVersion]))
    .digest("hex");

/** Records that a build broke the schema that its host enforces. Only the first record is kept. */
export async function insertSchemaFault(db: Queryable, build: ModelBuild): Promise<void> {
  const { model, digest, serverVersion } = build;
  await execute(db, [keyOf(build), model, digest, serverVersion])`
     insert into nightdesk_data.schema_faults (build_sha256, model, model_digest, server_version)
     values ($1, $2, $3, $4) on conflict do nothing`;
}

/** Whether a build is known to have broken a schema. */
export const hasSchemaFault = (db: Queryable, build: ModelBuild): Promise<boolean> =>
  valueOf(db, z.boolean(), [keyOf(build)])`
     select exists (select from nightdesk_data.schema_faults where build_sha256 = $1) as found`;
