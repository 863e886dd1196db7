import { posix } from "node:path";
import type { z } from "zod";
import { configFingerprint } from "../shared/config/config-fingerprint.ts";
import { embedderHostsOf } from "../shared/config/hosts.ts";
import { embedSchema } from "../shared/config/schema.ts";
import type { Config } from "../shared/config/schema.ts";
import type { Queryable } from "../shared/store/connection/database.ts";
import type { MadeWith } from "./delivery/process-delivery.ts";
import type { ChunkSettings } from "./documents/chunk-text.ts";
import type { ExtractText, SourceEncoding } from "./documents/extraction.ts";
import { openDocumentReader } from "./documents/reader/reader.ts";
import type { ReaderLimits } from "./documents/reader/reader.ts";
import type { Embedder, EmbedderPlace } from "./embedders/embedder.ts";
import { callsForPairs } from "./embedders/transformers/cross-encoder.ts";
import type { LocalModelSettings } from "./embedders/transformers/cross-encoder.ts";
import type { EntailmentSettings } from "./embedders/transformers/entailment.ts";
import type { RerankerSettings } from "./embedders/transformers/reranker.ts";
import type { ConfiguredSource } from "./index/sources.ts";
import { accessByHost } from "./models/host-access.ts";
import { IN_ORDER } from "./models/host-models.ts";
import { lazyOpen } from "../shared/once.ts";
import type { SecurityPolicy } from "./sandbox/policy.ts";
import type { Reranking } from "./search/rerank.ts";
import type { SearchSettings } from "./search/search.ts";

/** The settings of the sandbox. */
export const policyOf = ({ security, roots }: Config): SecurityPolicy => ({
  securityRoot: roots.workroot,
  allowedRoots: security.allowed_roots,
  allowedExts: security.allowed_exts,
  denyAbsolutePaths: security.deny_absolute_paths,
  denyHiddenPaths: security.deny_hidden_paths,
  allowAnyPath: security.allow_any_path,
  autoCreateAllowedRoots: security.auto_create_allowed_roots,
  rootsMustBeWithinSecurityRoot: security.roots_must_be_within_security_root,
  maxFileBytes: security.max_file_bytes,
  allowHardLinks: security.allow_hard_links,
  allowRacyReads: security.allow_racy_reads,
});

/** The settings of search. */
export const searchSettingsOf = ({ retrieve }: Config): SearchSettings => ({
  lexicalK: retrieve.lexical_k,
  vectorK: retrieve.vector_k,
  rrfK: retrieve.rrf_k,
  vectorWeight: retrieve.vector_weight,
  neighbourWeight: retrieve.neighbour_weight,
  feedback: retrieve.feedback,
  perDocument: retrieve.per_document,
  floor: retrieve.floor,
});

/** The sources with their languages. */
export const sourcesOf = ({ index }: Config): ConfiguredSource[] =>
  index.sources.map((source) => ({ ...source, language: source.language ?? index.language }));

/** The settings for cutting documents. */
export const chunkSettingsOf = ({ index }: Config): ChunkSettings => ({
  maxChars: index.chunking.max_chars,
  overlap: index.chunking.overlap,
});

const MEGABYTE = 1_000_000;

/** The limits for extracting the text of one file. */
export const readerLimitsOf = ({ documents: { reader } }: Config): ReaderLimits => ({
  timeoutMs: reader.timeout_s * 1_000,
  memoryBytes: reader.memory_mb * MEGABYTE,
  text: {
    chars: reader.max_chars,
    pages: reader.max_pages,
    entries: reader.max_entries,
    unpackedBytes: reader.max_unpacked_mb * MEGABYTE,
  },
});

/** The encodings of sources by their roots, relative to the work root; a root within another comes first. */
export const encodingsOf = ({ index, roots }: Config): readonly SourceEncoding[] =>
  index.sources
    .flatMap(({ root, encoding }) => {
      const folder = posix.relative(roots.workroot, posix.resolve(roots.workroot, root));
      return encoding === undefined
        ? []
        : [{ prefix: folder === "" ? "" : `${folder}/`, encoding }];
    })
    .sort((one, other) => other.prefix.length - one.prefix.length);

/**
 * Extracts texts of files. The first file that needs a format loads it, and the first that needs the reader process starts it.
 * @param db holds texts that were read from pictures; without it pictures have no text
 */
export function textExtractionOf(config: Config, db?: Queryable): ExtractText {
  const limits = readerLimitsOf(config);
  const read = openDocumentReader(limits);
  const settings = {
    allowed: config.security.allowed_exts,
    encodings: encodingsOf(config),
    mostChars: limits.text.chars,
  };
  const { ocr } = config.index;
  const pages = lazyOpen(async () => {
    if (ocr === null || db === undefined) return undefined;
    return (await import("./ocr/open-read-pages.ts")).openReadPages(ocr, db);
  });
  return async (path, bytes) => {
    const { extractTextBy } = await import("./documents/formats/registry.ts");
    return extractTextBy(read, { ...settings, pages: await pages.get() })(path, bytes);
  };
}

/** The files and hosts of the embedder; the URL of a host is checked only if it is used. */
export const embedderPlaceOf = (
  config: Config,
  { accessOf, choice }: Pick<EmbedderPlace, "accessOf" | "choice">,
): EmbedderPlace => ({
  workroot: config.roots.workroot,
  hosts: embedderHostsOf(config),
  secrets: config.index.secrets,
  accessOf,
  choice,
});

/** A command's access to hosts: with their keys, but without knowledge of their state. */
export const accessOfCommand = (
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Pick<EmbedderPlace, "accessOf" | "choice"> => ({
  accessOf: accessByHost(config, env),
  choice: IN_ORDER,
});

/** The settings of `embed` that determine how a question must be embedded to match the passages. */
export const questionSettingsOf = ({ embed }: Config): QuestionSettings =>
  questionSettings.parse(embed);

/** Opens the embedder of earlier settings, with the current limits. @throws as createEmbedder */
export async function openFormerEmbedder(
  config: Config,
  settings: unknown,
  reach: Pick<EmbedderPlace, "accessOf" | "choice">,
): Promise<Embedder> {
  const { createEmbedder } = await import("./embedders/create-embedder.ts");
  const embed = { ...config.embed, ...questionSettings.parse(settings) };
  return createEmbedder(embed, embedderPlaceOf({ ...config, embed }, reach));
}

const questionSettings = embedSchema
  .pick({
    provider: true,
    model_id: true,
    query_prefix: true,
    passage_prefix: true,
    dimensions: true,
    precision: true,
    local_model_path: true,
    cache_dir: true,
    dtype: true,
    device: true,
    pooling: true,
    max_length: true,
    base_url: true,
  })
  .strip();
type QuestionSettings = z.infer<typeof questionSettings>;

/** The settings of the model that compares claims with evidence; null if it is off. */
export function entailmentSettingsOf({ verify, embed }: Config): EntailmentSettings | null {
  const { provider, ...settings } = verify.entailment;
  return provider === "off" ? null : { ...settings, ...modelProcessOf(embed) };
}

/** The settings of the model that reranks passages; null if it is off. */
export function rerankerSettingsOf({ retrieve, embed }: Config): RerankerSettings | null {
  const { provider, ...settings } = retrieve.rerank;
  return provider === "off" ? null : { ...settings, ...modelProcessOf(embed) };
}

/** Milliseconds that the reranker may take for one search; 0 if it is off. */
export const mostRerankMs = (config: Pick<Config, "retrieve" | "queue">): number => {
  const { provider, candidates, timeout_s } = config.retrieve.rerank;
  return provider === "off" ? 0 : mostComparingMs(candidates, timeout_s, config);
};

/** Milliseconds that the model of verify.entailment may take for so many pairs. */
export const mostEntailmentMs = (pairs: number, config: Pick<Config, "verify" | "queue">): number =>
  mostComparingMs(pairs, config.verify.entailment.timeout_s, config);

/** The model handles one call at a time, so each call may wait for one call of every other job. */
const mostComparingMs = (
  pairs: number,
  timeoutS: number,
  { queue }: Pick<Config, "queue">,
): number => callsForPairs(pairs) * queue.concurrency * timeoutS * 1_000;

const modelProcessOf = ({
  cache_dir,
  device,
  recycle_texts,
  recycle_mb,
}: LocalModelSettings): LocalModelSettings => ({ cache_dir, device, recycle_texts, recycle_mb });

/** The reranking of searches; undefined if it is off. The first search with hits opens the model. */
export function rerankingOf(config: Config): Reranking | undefined {
  const settings = rerankerSettingsOf(config);
  if (settings === null) return undefined;
  const model = lazyOpen(async () => {
    const { openReranker } = await import("./embedders/transformers/reranker.ts");
    return openReranker(settings, { workroot: config.roots.workroot });
  });
  return { candidates: settings.candidates, model: () => model.get() };
}

/** The facts about worker and configuration that each run records. */
export const madeWithOf = (version: string, config: Config): MadeWith => ({
  version,
  configSha256: configFingerprint(config),
  configFile: config.file,
  roots: {
    workroot: config.roots.workroot,
    allowed: config.security.allowed_roots,
    sources: Object.fromEntries(config.index.sources.map(({ name, root }) => [name, root])),
  },
});
