import { z } from "zod";
import type { Queryable } from "../connection/database.ts";

/** What a host was found to have. */
export type HostModel = {
  /** Base URL. */
  readonly host: string;
  readonly model: string;
  readonly digest: string | null;
  readonly serverVersion: string | null;
  readonly windowTokens: number | null;
  readonly features: Readonly<Record<string, string | boolean>>;
};

/** Notes what a host has; what was known of another build of the model is forgotten. */
export async function upsertHostModel(db: Queryable, found: HostModel): Promise<void> {
  await db.query(
    `insert into nightdesk_data.host_models (host, model, digest, server_version, window_tokens, features)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (host, model) do update
        set digest = excluded.digest, server_version = excluded.server_version, window_tokens = excluded.window_tokens,
            features = excluded.features, seen_at = clock_timestamp()`,
    [
      ...[found.host, found.model, found.digest, found.serverVersion, found.windowTokens],
      JSON.stringify(found.features),
    ],
  );
}

const rowsSchema = z.array(
  z
    .object({
      host: z.string(),
      model: z.string(),
      digest: z.string().nullable(),
      server_version: z.string().nullable(),
      window_tokens: z.number().nullable(),
      features: z.record(z.string(), z.union([z.string(), z.boolean()])),
    })
    .transform(
      ({ server_version: serverVersion, window_tokens: windowTokens, ...row }): HostModel => ({
        ...row,
        serverVersion,
        windowTokens,
      }),
    ),
);

/** What hosts were found to have, by model. @param host base URL; null: of all hosts */
export async function selectHostModels(
  db: Queryable,
  host: string | null,
): Promise<readonly HostModel[]> {
  const { rows } = await db.query(
    `select host, model, digest, server_version, window_tokens, features from nightdesk.host_models
      where $1::text is null or host = $1 order by host, model`,
    [host],
  );
  return rowsSchema.parse(rows);
}
