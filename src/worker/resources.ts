import type { CommandContext } from "../shared/commands/command-context.ts";
import type { Config } from "../shared/config/schema.ts";
import { facetsOf } from "../shared/files/document-filter.ts";
import { Failure } from "../shared/failure.ts";
import type { Database } from "../shared/store/connection/database.ts";
import { selectEvidenceKey } from "../shared/store/connection/locks.ts";
import { hasSchemaFault, insertSchemaFault } from "../shared/store/hosts/schema-faults.ts";
import type { ModelBuild } from "../shared/store/hosts/schema-faults.ts";
import { selectVersions } from "../shared/store/index/document-versions.ts";
import { anyChunkPasses } from "../shared/store/index/passages.ts";
import { selectAttachments } from "../shared/store/index/documents.ts";
import { openOffload } from "./offload/offload.ts";
import type { Offload } from "./offload/offload.ts";
import { withAttachments } from "./file-access.ts";
import type { FileAccess } from "./file-access.ts";
import type { Embedder } from "./embedders/embedder.ts";
import type { CompareClaims, PipelineDependencies } from "./evidence/types.ts";
import { choiceAmong, featuresIn } from "./hosts/host-state.ts";
import { pacingSettingsOf } from "./hosts/pacing-settings.ts";
import { createModels } from "./models/create-model.ts";
import type { HostReach, ProcessModels } from "./models/create-model.ts";
import { accessByHost } from "./models/host-access.ts";
import type { HostChoice } from "./models/host-models.ts";
import type { ReadPage } from "./ocr/page-outcome.ts";
import { lazyOpen } from "../shared/once.ts";
import { knownFilesOf } from "./question/known-files.ts";
import type { KnownFiles } from "./question/known-files.ts";
import { chooseVectors, vectorsNote } from "./search/choose-vectors.ts";
import type { ChooseVectors } from "./search/choose-vectors.ts";
import type { Search } from "./search/search.ts";
import { openSandbox } from "./sandbox/open-sandbox.ts";
import type { BoundSandbox, Sandbox } from "./sandbox/open-sandbox.ts";
import {
  embedderPlaceOf,
  entailmentSettingsOf,
  openFormerEmbedder,
  policyOf,
  rerankingOf,
  searchSettingsOf,
  textExtractionOf,
} from "./settings.ts";

/** The parts that the jobs of a worker share; the first job that needs a part opens it. */
export type WorkerResources = {
  readonly config: Config;
  readonly database: Database;
  readonly sandbox: () => Promise<BoundSandbox>;
  /** The files of the sandbox, and the attachments of mails in the index. */
  readonly files: () => Promise<FileAccess>;
  readonly embedder: () => Promise<Embedder>;
  /** The embedder of another model of the configured provider. */
  readonly embedderOf: (model: string | undefined) => Promise<Embedder>;
  readonly search: () => Promise<Search>;
  /** Reads the picture of a page, by the settings of index.ocr. */
  readonly readPage: ReadPage;
  /** A thread of its own: the check of an answer must not wait while a long document is cut. */
  readonly offloadDocuments: Offload;
  /** Chooses between several hosts for the calls of a run. */
  readonly choiceOf: (runId: string) => HostChoice;
  /** The shared dependencies, without calls, which belong to a job. */
  readonly pipeline: () => Promise<SharedDependencies>;
  /** The same, limited to paths with one of these prefixes; unlimited without any. */
  readonly within: (pathPrefixes: readonly string[]) => WorkerResources;
};

type SharedDependencies = Omit<PipelineDependencies, "calls" | "models" | "search" | "judge"> & {
  readonly compareClaims: CompareClaims | undefined;
  readonly models: ProcessModels;
  /** @param ofRun the third parameter of Search */
  readonly search: (
    request: Parameters<PipelineDependencies["search"]>[0],
    signal: AbortSignal,
    ofRun?: Parameters<Search>[2],
  ) => ReturnType<PipelineDependencies["search"]>;
};

/** Loads the code of each part when it is opened: a worker that only answers questions does not load the rest. */
export function openResources(context: CommandContext, database: Database): WorkerResources {
  const { config, invocation } = context;
  const looked = database.within("lookup");
  const parts = {
    db: looked,
    settings: pacingSettingsOf(config),
    get logger() {
      return context.logger;
    },
  };
  const reach: HostReach = {
    accessOf: accessByHost(config, invocation.env),
    choice: choiceAmong(parts, null),
    features: featuresIn(looked),
  };
  const sandbox = openOnce(() => openFiles(config, looked));
  const filesOf = (opened: BoundSandbox): FileAccess =>
    withAttachments(opened, {
      list: () => selectAttachments(looked),
      named: (names) => selectAttachments(looked, names),
    });
  const files = openOnce(async () => filesOf(await sandbox()));
  const embedder = openOnce(() => openEmbedder(config, reach));
  const search = openOnce(async () => {
    const { createSearch } = await import("./search/search.ts");
    return createSearch({
      db: looked,
      vectors: warnOnce(
        context,
        chooseVectors({
          db: looked,
          configured: await embedder(),
          openFormer: (settings) => openFormerEmbedder(config, settings, reach),
        }),
      ),
      settings: searchSettingsOf(config),
      reranking: rerankingOf(config),
    });
  });
  const pipeline = openOnce(async () =>
    pipelineOf({ config, database: looked, files: await files(), search, reach }),
  );
  const embedderOf = (model: string | undefined) =>
    model === undefined || model === config.embed.model_id
      ? embedder()
      : otherEmbedder(config, model, reach);
  const offloadDocuments = openOffload();
  const pageReader = openOnce(async () => {
    const { openPageReader } = await import("./ocr/page-reader.ts");
    const { ocrFoldersOf } = await import("./ocr/places.ts");
    return openPageReader({
      folders: ocrFoldersOf(config, invocation.packageRoot),
      timeoutMs: (config.index.ocr?.page_timeout_s ?? 60) * 1_000,
      memoryBytes: (config.index.ocr?.memory_mb ?? 600) * 1_000_000,
    });
  });
  const resources: WorkerResources = {
    config,
    database,
    sandbox,
    files,
    embedder,
    embedderOf,
    search,
    readPage: async (request) => (await pageReader())(request),
    offloadDocuments,
    choiceOf: (runId) => choiceAmong(parts, runId),
    pipeline,
    within(pathPrefixes) {
      if (pathPrefixes.length === 0) return resources;
      const bound = openOnce(async () => (await sandbox()).within(pathPrefixes));
      const boundFiles = openOnce(async () => filesOf(await bound()));
      return {
        ...resources,
        sandbox: bound,
        files: boundFiles,
        pipeline: async () => {
          const { leadsOut } = await bound();
          const { search: find, ...others } = await pipeline();
          return {
            ...others,
            ...readingIn(await boundFiles()),
            // A link counts as a document under its own name, wherever it leads, and could lead out.
            search: async (...asked) =>
              (await find(...asked)).filter(({ path }) => !leadsOut(path)),
          };
        },
      };
    },
  };
  return resources;
}

/** The only access to documents: by files, or by their stored contents, as documents.from selects. */
export async function openFiles(config: Config, db: Database): Promise<Sandbox> {
  const extractText = textExtractionOf(config, db);
  const known = {
    attachments: () => selectAttachments(db),
    kept: async (sha256: string) => {
      const kept = await (await loadContents()).selectContent(db, sha256);
      if (kept === null || Buffer.isBuffer(kept)) return kept;
      const { numbers, sheets } = kept.places;
      return { ...kept, places: { numbers: Uint32Array.from(numbers), sheets } };
    },
  };
  if (config.documents.from === "files") return openSandbox(policyOf(config), extractText, known);
  const { listStoredFiles, selectStoredFile } = await loadContents();
  const { openStore } = await import("./sandbox/stored-files.ts");
  const store = {
    list: () => listStoredFiles(db),
    read: (path: string, maxBytes: number) => selectStoredFile(db, path, maxBytes),
  };
  return openStore(policyOf(config), extractText, { ...known, store });
}

const loadContents = () => import("../shared/store/index/contents.ts");

/** Logs once when questions are compared with vectors of another embedder than the configured one. */
function warnOnce(context: CommandContext, choose: ChooseVectors): ChooseVectors {
  let said: string | null = null;
  return async () => {
    const choice = await choose();
    const words = vectorsNote(choice);
    if (words !== null && words !== said) context.logger.warn(words);
    said = words;
    return choice;
  };
}

async function openEmbedder(config: Config, reach: HostReach): Promise<Embedder> {
  const { createEmbedder } = await import("./embedders/create-embedder.ts");
  return createEmbedder(config.embed, embedderPlaceOf(config, reach));
}

async function otherEmbedder(config: Config, model: string, reach: HostReach): Promise<Embedder> {
  const embed = { ...config.embed, model_id: model };
  const embedder = await openEmbedder({ ...config, embed }, reach);
  // The built-in embedder ignores the name: without this check, a misspelt one would seem to work.
  if (config.embed.provider === "hashing" && embedder.id !== model) {
    throw new Failure(
      "EMBED_MODEL_MISSING",
      `The embedder "hashing" has no model ${JSON.stringify(model)}, only ${embedder.id}. Leave --model out, or set embed.provider.`,
    );
  }
  return embedder;
}

type Parts = {
  readonly config: Config;
  readonly database: Database;
  readonly files: FileAccess;
  /** Opened by the first search: a job without a search does not need the embedder's host. */
  readonly search: () => Promise<Search>;
  readonly reach: HostReach;
};

async function pipelineOf({
  config,
  database,
  files,
  search,
  reach,
}: Parts): Promise<SharedDependencies> {
  const offload = openOffload();
  const memory = {
    hasFault: (build: ModelBuild) => hasSchemaFault(database, build),
    noteFault: (build: ModelBuild) => insertSchemaFault(database, build),
  };
  const models = createModels(config, offload, memory, reach);
  const fenceKey = await selectEvidenceKey(database);
  return {
    settings: { ask: config.ask, model: config.model, security: config.security },
    models,
    offload,
    compareClaims: compareClaimsBy(config),
    async search({ pathPrefix, source, documents, ...query }, signal, ofRun) {
      const find = await search();
      return find(
        {
          ...query,
          mode: "hybrid",
          // A word with similar spelling is a hint for a person, but no evidence.
          spelling: "as written",
          purpose: "evidence",
          ...(pathPrefix === null ? {} : { pathPrefix }),
          ...(source === null ? {} : { source }),
          ...documents,
          where: facetsOf(documents.where),
        },
        signal,
        ofRun,
      );
    },
    holdsAny: ({ pathPrefix, source, documents }) =>
      anyChunkPasses(database, {
        pathPrefix: pathPrefix ?? undefined,
        source: source ?? undefined,
        ...documents,
        where: facetsOf(documents.where),
        limit: 1,
      }),
    versions: (paths) => selectVersions(database, paths),
    ...readingIn(files),
    notes: config.memory.enabled ? notesIn(database) : noNotes,
    fenceKey,
    previewChars: config.runs.preview_chars,
  };
}

const readingIn = (
  files: FileAccess,
): Pick<PipelineDependencies, "readTextFile" | "knownFiles" | "locate"> => ({
  readTextFile: (request) => files.readTextFile(request),
  knownFiles: knownFilesIn(files),
  locate: (path) => files.locate(path),
});

/** Undefined if verify.entailment is off. The first answer that needs the model opens it. */
function compareClaimsBy(config: Config): CompareClaims | undefined {
  const settings = entailmentSettingsOf(config);
  if (settings === null) return undefined;
  const model = openOnce(async () => {
    const { openEntailmentModel } = await import("./embedders/transformers/entailment.ts");
    return openEntailmentModel(settings, { workroot: config.roots.workroot });
  });
  return async (pairs, signal) => {
    const opened = await model();
    const texts = pairs.map(
      ({ heading, carrier, claim }) =>
        [heading === "" ? carrier : `${heading}: ${carrier}`, claim] as const,
    );
    return { model: opened.name, scores: await opened.compare(texts, signal) };
  };
}

/** Keeps the files computed from a listing until the listing changes. */
function knownFilesIn(desk: FileAccess): PipelineDependencies["knownFiles"] {
  let kept: { readonly paths: readonly string[]; readonly files: KnownFiles } | undefined;
  return async () => {
    const paths = await desk.listPaths();
    if (kept?.paths !== paths) kept = { paths, files: knownFilesOf(paths) };
    return kept.files;
  };
}

const notesIn = (database: Database) => async () =>
  (await import("./answer/notes.ts")).loadNotes(database);
const noNotes = async () => ({ shown: [], leftOut: 0 });

function openOnce<T>(open: () => Promise<T>): () => Promise<T> {
  const first = lazyOpen(open);
  return () => first.get();
}
