import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { LanguageSetting } from "../../src/shared/text/language.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { createHashingEmbedder } from "../../src/worker/embedders/hashing.ts";
import { embedChunks } from "../../src/worker/index/embed-chunks.ts";
import { indexSources } from "../../src/worker/index/index-sources.ts";
import type { IndexSummary } from "../../src/worker/index/index-sources.ts";
import type { IndexOptions } from "../../src/worker/index/scan-source.ts";
import { bindSources } from "../../src/worker/index/sources.ts";
import { openOffload } from "../../src/worker/offload/offload.ts";
import type { ExtractText } from "../../src/worker/documents/extraction.ts";
import { readerFingerprint } from "../../src/worker/documents/formats/registry.ts";
import type { ReaderLimits } from "../../src/worker/documents/reader/reader.ts";
import { extractText, extractTextIn, READER_LIMITS } from "./read-documents.ts";
import { openSandbox } from "../../src/worker/sandbox/open-sandbox.ts";
import { vectorsOf } from "../../src/worker/search/choose-vectors.ts";
import type { Reranking } from "../../src/worker/search/rerank.ts";
import { createSearch } from "../../src/worker/search/search.ts";
import type { Passage, SearchRequest, SearchSettings } from "../../src/worker/search/search.ts";
import { policyOver } from "./security-policy.ts";

const EXTENSIONS = [".md", ".txt", ".json", ".eml", ".mbox"];

export const SETTINGS: SearchSettings = {
  lexicalK: 50,
  vectorK: 50,
  rrfK: 60,
  vectorWeight: null,
  neighbourWeight: 0,
  feedback: "off",
  perDocument: 3,
  floor: 0,
};

/** A work root on disk with the allowed root `notes/` and the sources `ops` and `lab` below it. */
export type TestCorpus = {
  readonly workroot: string;
  /** Paths are relative to the work root. */
  readonly write: (path: string, content: string | Buffer) => void;
  readonly remove: (path: string) => void;
  readonly index: (options?: Partial<IndexOptions>) => Promise<IndexSummary>;
  /** Takes the paths that texts were made of since it was last asked, in order. */
  readonly takeReadings: () => readonly string[];
  /** Indexes with other `exts`, languages or encodings of some sources, or with another reader. */
  readonly indexWith: (
    settings: SourceSettings,
    options?: Partial<IndexOptions>,
  ) => Promise<IndexSummary>;
  /** Indexes as if a source had left the configuration. */
  readonly indexWithout: (source: string, options?: Partial<IndexOptions>) => Promise<IndexSummary>;
  readonly embed: () => Promise<void>;
  readonly search: (
    request: Partial<SearchRequest> & { readonly text: string },
    settings?: Partial<SearchSettings>,
    reranking?: Reranking,
  ) => Promise<readonly Passage[]>;
  readonly close: () => void;
};

type SourceSettings = {
  readonly exts?: Readonly<Record<string, readonly string[]>>;
  readonly languages?: Readonly<Record<string, LanguageSetting>>;
  readonly encodings?: Readonly<Record<string, string>>;
  /** The folder of `ops` is the work root. */
  readonly isRoot?: true;
  readonly limits?: ReaderLimits;
  readonly extractText?: ExtractText;
};

export async function openCorpus(
  db: Database,
  maxChars = 300,
  maxFileBytes = 20_000,
  offload = openOffload(),
): Promise<TestCorpus> {
  const workroot = mkdtempSync(join(tmpdir(), "nightdesk-index-"));
  for (const name of ["ops", "lab"]) mkdirSync(join(workroot, "notes", name), { recursive: true });
  const sandbox = await openSandbox(
    policyOver(workroot, {
      allowedRoots: [join(workroot, "notes")],
      allowedExts: EXTENSIONS,
      maxFileBytes,
    }),
    extractText,
  );
  const configured = ["ops", "lab"].map((name) => ({ name, root: `notes/${name}` }));
  const embedder = createHashingEmbedder();
  const { signal } = new AbortController();
  const readings: string[] = [];
  const index = (
    {
      exts = {},
      languages = {},
      encodings = {},
      isRoot,
      limits = READER_LIMITS,
      ...reader
    }: SourceSettings,
    options: Partial<IndexOptions> = {},
    present = configured,
  ) => {
    const prefixed = Object.entries(encodings).map(([source, encoding]) => ({
      prefix: `notes/${source}/`,
      encoding,
    }));
    const extract = reader.extractText ?? extractTextIn(prefixed);
    const counted: ExtractText = (path, bytes) => {
      readings.push(path);
      return extract(path, bytes);
    };
    const sources = bindSources(
      { ...sandbox, extractText: counted },
      (isRoot === true ? [{ name: "ops", root: "." }] : present).map((source) => ({
        ...source,
        exts: exts[source.name],
        language: languages[source.name] ?? "english",
        encoding: encodings[source.name],
      })),
      isRoot === true ? join(workroot, "notes/ops") : workroot,
    );
    const chunking = { maxChars, overlap: 40 };
    return indexSources(
      {
        db,
        sources,
        extensions: EXTENSIONS,
        chunking,
        offload,
        reader: readerFingerprint(limits, prefixed),
      },
      {
        rebuild: false,
        pruneOfEmptyRoot: "never",
        signal,
        onProgress: () => undefined,
        ...options,
      },
    );
  };
  return {
    workroot,
    write: (path, content) => {
      mkdirSync(dirname(join(workroot, path)), { recursive: true });
      writeFileSync(join(workroot, path), content);
    },
    remove: (path) => {
      rmSync(join(workroot, path), { recursive: true });
    },
    index: (options) => index({}, options),
    takeReadings: () => readings.splice(0),
    indexWith: (settings, options) => index(settings, options),
    indexWithout: (source, options) => {
      const present = configured.filter(({ name }) => name !== source);
      return index({}, options, present);
    },
    embed: async () => {
      const options = { rebuild: false, dryRun: false, batchSize: 50, signal };
      await embedChunks({ db, embedder }, { ...options, onProgress: () => undefined });
    },
    search: (request, settings, reranking) =>
      createSearch({
        db,
        vectors: vectorsOf(embedder),
        settings: { ...SETTINGS, ...settings },
        reranking,
      })({ limit: 10, mode: "lexical", ...request }, signal),
    close: () => {
      sandbox.close();
      rmSync(workroot, { recursive: true, force: true });
    },
  };
}
