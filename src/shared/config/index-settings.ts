import { hash } from "node:crypto";
import { z } from "zod";
import type { Config } from "./schema.ts";

/**
 * The first 8 hex digits of the SHA-256 of each setting that determines the index. A worker stores them with what it indexed, so
 * that they can be compared with the current configuration.
 */
export const indexSettingsOf = (config: Config): Record<string, string> => ({
  ...digestsOf({
    "index.sources": config.index.sources,
    "index.language": config.index.language,
    "index.chunking": config.index.chunking,
    "security.allowed_exts": config.security.allowed_exts,
  }),
  ...vectorDigestsOf(config),
});

/** The digests of the settings that determine the vectors. */
export const vectorDigestsOf = ({ embed }: Pick<Config, "embed">): Record<string, string> =>
  digestsOf({
    "embed.provider": embed.provider,
    "embed.model_id": embed.model_id,
    "embed.passage_prefix": embed.passage_prefix,
    "embed.dimensions": embed.dimensions,
    "embed.precision": embed.precision,
  });

const digestsOf = (settings: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, digestOf(value)]));

const digestOf = (value: unknown): string => hash("sha256", JSON.stringify(value)).slice(0, 8);

const summarySchema = z.object({ settings: z.record(z.string(), z.string()) });

/** The settings in which the worker that wrote a summary differed from the current configuration. */
export function otherSettings(summary: unknown, config: Config): readonly string[] {
  const parsed = summarySchema.safeParse(summary);
  if (!parsed.success) return [];
  const now = indexSettingsOf(config);
  return Object.entries(parsed.data.settings).flatMap(([name, digest]) =>
    now[name] === digest ? [] : [name],
  );
}
