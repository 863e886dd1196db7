import { createHash } from "node:crypto";
import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { execute, valueOf } from "../connection/rows.ts";

/** A build of a model as its host describes it. */
export type ModelBuild = {
  readonly provider: string;
  readonly model: string;
  /** SHA-256 of the weights, 64 hex; null where the host reports none. */
  readonly digest: string | null;
  readonly serverVersion: string | null;
};

/** The same weights under another server may keep to a schema. Where there is no digest the name stands for them. */
const keyOf = ({ provider, model, digest, serverVersion }: ModelBuild): string =>
  createHash("sha256")
    .update(JSON.stringify([provider, digest ?? model, serverVersion]))
    .digest("hex");

/** Notes that a build did not keep to the schema that its host was given. The first time stands. */
export async function insertSchemaFault(db: Queryable, build: ModelBuild): Promise<void> {
  const { model, digest, serverVersion } = build;
  await execute(db, [keyOf(build), model, digest, serverVersion])`
     insert into nightdesk_data.schema_faults (build_sha256, model, model_digest, server_version)
     values ($1, $2, $3, $4) on conflict do nothing`;
}

/** Whether a build was seen not to keep to a schema. */
export const hasSchemaFault = (db: Queryable, build: ModelBuild): Promise<boolean> =>
  valueOf(db, z.boolean(), [keyOf(build)])`
     select exists (select from nightdesk_data.schema_faults where build_sha256 = $1) as found`;
