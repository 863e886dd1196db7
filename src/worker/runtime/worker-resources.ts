import type { CommandContext } from "../../shared/command-context.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/db/database.ts";
import { selectEvidenceKey } from "../../shared/db/installation.ts";
import { createEmbedder } from "../embedder/create-embedder.ts";
import type { Embedder } from "../embedder/embedder.ts";
import { createModels } from "../model/create-model.ts";
import type { PipelineDependencies } from "../pipeline/pipeline-dependencies.ts";
import { createSearch } from "../retrieval/search.ts";
import type { Search } from "../retrieval/search.ts";
import { openSandbox } from "../sandbox/open-sandbox.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";
import type { SecurityPolicy } from "../sandbox/policy.ts";

/** What the jobs of a worker share: each part is opened when a job first needs it. */
export type WorkerResources = {
  readonly config: Config;
  readonly database: Database;
  sandbox(): Promise<Sandbox>;
  embedder(): Promise<Embedder>;
  search(): Promise<Search>;
  pipeline(): Promise<PipelineDependencies>;
};

export function openResources({ config }: CommandContext, database: Database): WorkerResources {
  const sandbox = once(() => openSandbox(policyOf(config)));
  const embedder = once(async () => createEmbedder(config));
  const search = once(async () =>
    createSearch({ db: database, embedder: await embedder(), settings: config.retrieve }),
  );
  const pipeline = once(async () =>
    pipelineOf({ config, database, sandbox: await sandbox(), search: await search() }),
  );
  return { config, database, sandbox, embedder, search, pipeline };
}

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

type Parts = {
  readonly config: Config;
  readonly database: Database;
  readonly sandbox: Sandbox;
  readonly search: Search;
};

async function pipelineOf({
  config,
  database,
  sandbox,
  search,
}: Parts): Promise<PipelineDependencies> {
  const models = createModels(config);
  const fenceKey = await selectEvidenceKey(database);
  return {
    settings: { ask: config.ask, model: config.model, security: config.security },
    models,
    async search({ text, limit, pathPrefix, source }, signal) {
      const hits = await search(
        {
          text,
          limit,
          mode: "hybrid",
          ...(pathPrefix === null ? {} : { pathPrefix }),
          ...(source === null ? {} : { source }),
        },
        signal,
      );
      // The hashing embedder finds something for any text; without a word in common it is no evidence.
      return config.embed.provider === "hashing"
        ? hits.filter(({ lexicalScore }) => lexicalScore !== null)
        : hits;
    },
    readTextFile: (request) => sandbox.readTextFile(request),
    fenceKey,
    previewChars: config.runs.preview_chars,
  };
}

/** Remembers what the first call gave; a call that failed is made again by the next. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}
