import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { camelRow, execute, rowsOf } from "../connection/rows.ts";

const modelSchema = camelRow({
  /** Base URL. */
  host: z.string(),
  model: z.string(),
  digest: z.string().nullable(),
  server_version: z.string().nullable(),
  window_tokens: z.number().nullable(),
  features: z.record(z.string(), z.union([z.string(), z.boolean()])).readonly(),
});
/** A model of a host, as the host described it. */
export type HostModel = Readonly<z.infer<typeof modelSchema>>;

/** Stores the description of a host's model, in place of that of an earlier build. */
export const upsertHostModel = (db: Queryable, found: HostModel): Promise<void> =>
  execute(db, [
    ...[found.host, found.model, found.digest, found.serverVersion, found.windowTokens],
    JSON.stringify(found.features),
  ])`
     insert into nightdesk_data.host_models (host, model, digest, server_version, window_tokens, features)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (host, model) do update
        set digest = excluded.digest, server_version = excluded.server_version, window_tokens = excluded.window_tokens,
            features = excluded.features, seen_at = clock_timestamp()`;

/** The known models of hosts. @param host base URL; null: all hosts */
export const selectHostModels = (
  db: Queryable,
  host: string | null,
): Promise<readonly HostModel[]> =>
  rowsOf(db, modelSchema, [host])`
     select host, model, digest, server_version, window_tokens, features from nightdesk.host_models
      where $1::text is null or host = $1 order by host, model`;
