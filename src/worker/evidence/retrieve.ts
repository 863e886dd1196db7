import { createHash } from "node:crypto";
import type { AskInput } from "../../shared/job.ts";
import type { Passage, PipelineDependencies, SearchLimits } from "./types.ts";

/** The passages that were found, in rank order, and the hash that names exactly them. */
export type Snapshot = { readonly passages: readonly Passage[]; readonly hash: string };

/** The best `ask.top_n` chunks of the index for the question: the evidence snapshot. */
export async function retrieve(
  { question, options }: AskInput,
  { search, settings }: Pick<PipelineDependencies, "search" | "settings">,
  signal: AbortSignal,
): Promise<Snapshot> {
  const found = await search(
    {
      text: question,
      limit: settings.ask.top_n,
      ...limitsOf(options),
    },
    signal,
  );
  signal.throwIfAborted();
  const passages = found.slice(0, settings.ask.top_n);
  return { passages, hash: snapshotHash(passages) };
}

export const limitsOf = (options: AskInput["options"]): SearchLimits => ({
  pathPrefix: options?.path_prefix ?? null,
  source: options?.source ?? null,
  documents: { where: options?.where, since: options?.since, until: options?.until },
});

/** SHA-256 of the lines `chunk_key sha256` in rank order, joined by LF; 64 hex. */
export function snapshotHash(passages: readonly Pick<Passage, "chunkKey" | "sha256">[]): string {
  const lines = passages.map(({ chunkKey, sha256 }) => `${chunkKey} ${sha256}`);
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}
