import type { Refusal } from "../../shared/failure.ts";
import type { ModelRegistry } from "../model/model.ts";
import type { RoutingSettings } from "./route-models.ts";

/** What a read through the sandbox gives. Characters are code points. */
export type Reading = {
  readonly kind: "read";
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly charsFull: number;
  readonly charsReturned: number;
  readonly truncated: boolean;
  readonly text: string;
};

/** A chunk of the index that a search found. Offsets are code points into its file, lines count from 1. */
export type Passage = {
  readonly chunkKey: string;
  readonly source: string;
  readonly path: string;
  readonly sha256: string;
  /** Characters of the whole document. */
  readonly docChars: number;
  readonly headingPath: string | null;
  readonly title: string | null;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly text: string;
  readonly score: number;
  readonly lexicalScore: number | null;
};

export type SearchRequest = {
  readonly text: string;
  readonly limit: number;
  readonly pathPrefix: string | null;
  readonly source: string | null;
};

export type PipelineSettings = {
  readonly ask: {
    readonly top_n: number;
    readonly read_full_on_thorough: boolean;
    readonly max_chars_full_read: number;
    readonly full_evidence_triggers: readonly string[];
    readonly citations: { readonly enabled: boolean; readonly strict: boolean };
  };
  readonly model: RoutingSettings;
  readonly security: { readonly allowed_exts: readonly string[] };
};

/** All that the pipeline can reach of the world: it has no database, queue or configuration of its own. */
export type PipelineDependencies = {
  readonly settings: PipelineSettings;
  readonly models: ModelRegistry;
  /** Best first, without hits that only a weak embedder found. */
  readonly search: (request: SearchRequest, signal: AbortSignal) => Promise<readonly Passage[]>;
  readonly readTextFile: (request: {
    readonly path: string;
    readonly maxChars: number;
  }) => Promise<Reading | Refusal>;
  /** Secret of the installation, from which the marks around evidence are derived. */
  readonly fenceKey: Buffer;
  /** Characters of evidence text that a record keeps. */
  readonly previewChars: number;
};
