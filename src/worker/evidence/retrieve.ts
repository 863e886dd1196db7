import { hash } from "node:crypto";
import type { AskInput } from "../../shared/job/job.ts";
import { preferNewest } from "./prefer-newest.ts";
import type { PassedOver } from "./prefer-newest.ts";
import type { Passage, PipelineDependencies, SearchLimits } from "./types.ts";

/** The passages that were found, in rank order, and the hash that names exactly them. */
export type Snapshot = {
  readonly passages: readonly Passage[];
  readonly hash: string;
  /** Found, but of an older version than the question asks for: they are no evidence. */
  readonly passedOver: readonly PassedOver[];
};

/** The best `ask.top_n` chunks of the index for the question: the evidence snapshot. */
export async function retrieve(
  { question, options }: AskInput,
  { search, settings, versions }: Pick<PipelineDependencies, "search" | "settings" | "versions">,
  signal: AbortSignal,
): Promise<Snapshot> {
  const limits = limitsOf(options);
  const found = await search({ text: question, limit: settings.ask.top_n, ...limits }, signal);
  signal.throwIfAborted();
  const newest = await preferNewest({ question, limits }, found, { search, versions }, signal);
  signal.throwIfAborted();
  const passages = newest.passages.slice(0, settings.ask.top_n);
  return { passages, hash: snapshotHash(passages), passedOver: newest.passedOver };
}

export const limitsOf = (options: AskInput["options"]): SearchLimits => ({
  pathPrefix: options?.path_prefix ?? null,
  source: options?.source ?? null,
  documents: { where: options?.where, since: options?.since, until: options?.until },
});

/** Name and build of the reranker that ordered the passages; null where none did. */
export const rerankerOf = (passages: readonly Pick<Passage, "reranked">[]): string | null =>
  passages.find(({ reranked }) => reranked !== undefined)?.reranked?.by ?? null;

/** SHA-256 of the lines `chunk_key sha256` in rank order, joined by LF; 64 hex. */
export function snapshotHash(passages: readonly Pick<Passage, "chunkKey" | "sha256">[]): string {
  const lines = passages.map(({ chunkKey, sha256 }) => `${chunkKey} ${sha256}`);
  return hash("sha256", lines.join("\n"));
}
