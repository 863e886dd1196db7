import { countOf, countsByKind } from "../../shared/views/quantity.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectSamples } from "../../shared/store/index/samples.ts";
import type { Sample } from "../../shared/store/index/samples.ts";
import { selectIndexHealth } from "../../shared/store/connection/health.ts";
import type { IndexHealth } from "../../shared/store/connection/health.ts";
import { countForeignDocuments, findIndexFaults } from "../../shared/store/index/totals.ts";
import { findVectorIndex, MOST_INDEXED_DIMS } from "../../shared/store/index/vector-index.ts";
import { createEmbedder } from "../embedders/create-embedder.ts";
import type { Embedder } from "../embedders/embedder.ts";
import { createHashingEmbedder } from "../embedders/hashing.ts";
import { vectorsOf } from "../search/choose-vectors.ts";
import { createSearch } from "../search/search.ts";
import { chunkSettingsFingerprint } from "../index/sources.ts";
import {
  chunkSettingsOf,
  embedderPlaceOf,
  accessOfCommand,
  searchSettingsOf,
  sourcesOf,
} from "../settings.ts";
import { fail, ok, warn, wordsOf } from "./check.ts";
import type { Check } from "./check.ts";

/** `required`: missing or outdated vectors are a failure instead of a warning. */
type VectorPolicy = "required" | "optional";

type IndexCheck = {
  readonly vectors: VectorPolicy;
  /** The environment of the process, which may hold keys of hosts. */
  readonly env?: Readonly<Record<string, string | undefined>>;
};

/** Compares index and vectors with the configuration. */
export async function checkIndex(
  config: Config,
  database: Database,
  { vectors, env = {} }: IndexCheck,
): Promise<readonly Check[]> {
  const embedder = await tryEmbedder(config, env);
  const health = await selectIndexHealth(database, {
    sources: sourcesOf(config).map((source) => ({
      name: source.name,
      chunkSettings: chunkSettingsFingerprint(chunkSettingsOf(config), source),
    })),
    embedder: "error" in embedder ? NO_EMBEDDER : embedder,
  });
  return [
    ...checkDocuments(health, config),
    ...(await checkSources(config, database)),
    ...(await checkIntegrity(database, health)),
    ...("error" in embedder
      ? [failEmbedder(config, embedder.error)]
      : [
          checkVectors(health, embedder.id, vectors),
          ...(await checkVectorIndex(config, database, embedder, health)),
        ]),
  ];
}

const NO_EMBEDDER = { id: "", signature: "" } as const;

/** Returns the error instead of throwing it, because documents and chunks can be checked without an embedder. */
async function tryEmbedder(
  config: Config,
  env: NonNullable<IndexCheck["env"]>,
): Promise<Embedder | { readonly error: unknown }> {
  const reach = accessOfCommand(config, env);
  try {
    return await createEmbedder(config.embed, embedderPlaceOf(config, reach));
  } catch (error) {
    return { error };
  }
}

const failEmbedder = (config: Config, error: unknown): Check =>
  fail("DOCTOR_EMBED_CONFIG_INVALID", wordsOf(error), `Look at embed.* in ${config.file}.`);

function checkDocuments(health: IndexHealth, config: Config): readonly Check[] {
  if (health.documents === 0) {
    return [warn("DOCTOR_INDEX_EMPTY", "The index holds no document.", fillIndex(config))];
  }
  const checks = [
    ok(
      "DOCTOR_INDEX_NONEMPTY",
      `${countOf(health.documents, "document")}, ${countOf(health.chunks, "chunk")}.`,
    ),
  ];
  if (health.documents_without_chunks > 0) {
    checks.push(
      warn(
        "DOCTOR_DOCS_WITHOUT_CHUNKS",
        `Documents with text that have no chunk, since it is frontmatter or blanks alone: ${health.documents_without_chunks}.`,
        `Look: nightdesk sql "select path from documents where chunks = 0 and chars > 0"`,
      ),
    );
  }
  checks.push(
    health.outdated_documents === 0
      ? ok("DOCTOR_CHUNKER_SIG_MATCH", "All chunks were cut with the configured settings.")
      : fail(
          "DOCTOR_CHUNKER_SIG_MISMATCH",
          `${health.outdated_documents} documents were cut with other settings than index.chunking and index.language have now, or by an older release.`,
          "Run: nightdesk index. A worker that was started before the configuration was changed does not know of it: start it again first.",
        ),
  );
  if (health.failed_documents > 0) {
    checks.push(
      warn(
        "DOCTOR_DOCUMENTS_FAILED",
        `Documents that could not be indexed: ${health.failed_documents}.`,
        `Look: nightdesk sql "select path, error_code, error_message from failures where origin = 'document'"`,
      ),
    );
  }
  return [...checks, ...checkLeftOut(health), ...checkSecrets(health, config)];
}

const checkLeftOut = ({
  incomplete_documents: count,
  left_out: leftOut,
}: IndexHealth): readonly Check[] =>
  count === 0
    ? []
    : [
        ok(
          "DOCTOR_TEXT_INCOMPLETE",
          `Documents of which something is not in the text: ${count} (${countsByKind(leftOut)}). ` +
            `Look: nightdesk sql "select path, left_out from documents where left_out <> '{}'"`,
        ),
      ];

function checkSecrets(
  { documents_with_secrets: count, secret_kinds: kinds }: IndexHealth,
  { index: { secrets } }: Config,
): readonly Check[] {
  if (count === 0 || secrets === "off") return [];
  const told = `Documents that hold keys or tokens: ${count} (${kinds.join(", ")}).`;
  const look = `Look: nightdesk sql "select path, secrets from documents where secrets <> '{}'"`;
  return [
    secrets === "withhold_remote"
      ? ok("DOCTOR_SECRETS_WITHHELD", `${told} Model hosts elsewhere are not sent them.`)
      : warn(
          "DOCTOR_SECRETS_FOUND",
          told,
          `${look}. Take them out, or keep them from model hosts elsewhere: index.secrets: withhold_remote`,
        ),
  ];
}

const fillIndex = ({ index, security }: Config): string =>
  `Put documents (${security.allowed_exts.join(", ")}) into ${index.sources.map(({ root }) => root).join(" or ")}, then run: nightdesk index`;

async function checkSources(config: Config, database: Database): Promise<readonly Check[]> {
  const names = config.index.sources.map(({ name }) => name);
  const foreign = await countForeignDocuments(database, names);
  if (foreign.length === 0) return [];
  const listed = foreign.map(({ source, documents }) => `${source} (${documents})`).join(", ");
  return [
    warn(
      "DOCTOR_SOURCE_REMOVED",
      `The index holds documents of sources that are not configured: ${listed}.`,
      "Put them back under index.sources, or remove them: nightdesk index --prune",
    ),
  ];
}

async function checkIntegrity(
  database: Database,
  { documents, chunks }: IndexHealth,
): Promise<readonly Check[]> {
  if (documents === 0) return [];
  const faults = Object.entries(await findIndexFaults(database)).filter(([, count]) => count > 0);
  if (faults.length === 0) {
    return [
      ok("DOCTOR_INDEX_CONSISTENT", `Documents, words and ${countOf(chunks, "chunk")} agree.`),
    ];
  }
  const listed = faults.map(([name, count]) => `${name}: ${count}`).join(", ");
  return [
    fail(
      "DOCTOR_INDEX_INCONSISTENT",
      `Parts of the index contradict each other (${listed}).`,
      "Run: nightdesk index --rebuild",
    ),
  ];
}

function checkVectors(health: IndexHealth, embedder: string, policy: VectorPolicy): Check {
  const { missing_vectors: missing, outdated_vectors: outdated } = health;
  if (health.chunks === 0) return ok("DOCTOR_EMBED_NONE_OK", "No chunk needs a vector.");
  if (missing + outdated === 0)
    return ok("DOCTOR_EMBED_OK", `Every chunk has its vector of ${embedder}.`);
  const code = outdated > 0 ? "DOCTOR_EMBED_OUTDATED" : "DOCTOR_EMBED_MISSING";
  const message = `Chunks without a vector of ${embedder}: ${missing}; with one of another build of it: ${outdated}.`;
  const fix =
    outdated > 0
      ? "Run: nightdesk embed. Until that has made all of them, the old ones are searched."
      : "Run: nightdesk embed";
  return policy === "required" ? fail(code, message, fix) : warn(code, message, fix);
}

/** Checks whether the vectors have an index when there are enough of them, and whether it works with a filter. */
async function checkVectorIndex(
  { retrieve, embed }: Config,
  database: Database,
  { signature, dims }: Embedder,
  { chunks, missing_vectors, outdated_vectors }: IndexHealth,
): Promise<readonly Check[]> {
  const isComplete = missing_vectors + outdated_vectors === 0;
  const canHave = dims <= MOST_INDEXED_DIMS[embed.precision];
  if (!isComplete || chunks < retrieve.exact_below || !canHave) return [];
  const index = await findVectorIndex(database, signature);
  if (index === undefined) {
    return [
      warn(
        "DOCTOR_VECTOR_INDEX_MISSING",
        `${chunks} vectors have no index, and each question is compared with all of them; retrieve.exact_below is ` +
          `${retrieve.exact_below}.`,
        "Run: nightdesk embed",
      ),
    ];
  }
  if (index.iterates) return [];
  return [
    warn(
      "DOCTOR_VECTOR_INDEX_OLD",
      "This pgvector is older than 0.8: behind a filter the index would miss passages, so it is not used there.",
      "Install a newer pgvector, then: alter extension vector update",
    ),
  ];
}

const SAMPLES = 5;
const MOST_MS = 20_000;
/** Further hits that count, because other documents may contain copies of the passage. */
const AMONG = 10;

/** Searches the index for sentences that it contains: each must find its own document. */
export async function checkRetrieval(config: Config, db: Database): Promise<readonly Check[]> {
  const samples = await selectSamples(db, SAMPLES);
  if (samples.length === 0) return [];
  const settings = { ...searchSettingsOf(config), floor: 0 };
  const search = createSearch({ db, vectors: vectorsOf(createHashingEmbedder()), settings });
  const finds = async ({ path, text }: Sample): Promise<boolean> => {
    const request = { text: longestSentence(text), limit: AMONG, mode: "lexical" } as const;
    const hits = await search(request, AbortSignal.timeout(MOST_MS));
    return hits.some((hit) => hit.path === path || hit.text.includes(request.text));
  };
  const found = await Promise.all(samples.map(finds));
  const missed = samples.filter((_, at) => found[at] === false).map(({ path }) => path);
  return [
    missed.length === 0
      ? ok(
          "DOCTOR_RETRIEVAL_OK",
          `Searched for ${countOf(samples.length, "sentence")} of the index, and found the document of each.`,
        )
      : warn(
          "DOCTOR_RETRIEVAL_MISSES",
          `Sentences of these documents do not find them: ${missed.join(", ")}.`,
          "Run: nightdesk index --rebuild",
        ),
  ];
}

const MOST_CHARS = 300;

const longestSentence = (text: string): string =>
  text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .reduce((longest, sentence) => (sentence.length > longest.length ? sentence : longest), "")
    .slice(0, MOST_CHARS);
