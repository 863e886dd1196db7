import type { Config } from "../../shared/config/schema.ts";
import type { DocumentFilter } from "../../shared/files/document-filter.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ModelChoice, RoutingSettings } from "../../shared/job/route-models.ts";
import type { PromptRecord, ReplyRecord } from "../../shared/job/run-result.ts";
import type { RunTrace } from "../run-trace.ts";
import type { DocumentVersion } from "../../shared/store/index/document-versions.ts";
import type { StoredPassage } from "../../shared/store/index/passages.ts";
import type { StoredVerification } from "../../shared/job/verification.ts";
import type { Places } from "../documents/places.ts";
import type { Model, ModelFacts, ModelRegistry, ModelReply } from "../models/model.ts";
import type { CallCharge, Limiter } from "../models/limiter.ts";
import type { Offload } from "../offload/offload.ts";
import type { Reading as SandboxReading } from "../sandbox/open-sandbox.ts";
import type { KnownFiles } from "../question/known-files.ts";
import type { Operators } from "../search/parse-operators.ts";

/** The result of a read through the sandbox, or a web page in the same form. */
export type Reading = Extract<SandboxReading, { kind: "read" }> & {
  /** Set for a web page, whose path is its URL. */
  readonly page?: WebPage;
};

/** The title of a web page, and when it was fetched (ISO 8601, UTC). */
export type WebPage = { readonly title: string | null; readonly retrievedAt: string };

/** A chunk of the index that a search found. */
export type Passage = Omit<StoredPassage, "source"> & {
  /** Null for a stretch of a file that was read, not found in the index. */
  readonly source: string | null;
  /** For such a stretch, which may span several pages, sheets or mails: where its parts stand in the file. */
  readonly places?: Places;
  readonly score: number;
  readonly lexicalScore: number | null;
  /** The reranker that ordered it, and its rank before that, from 1; left out without a reranker. */
  readonly reranked?: { readonly by: string; readonly fusedRank: number };
};

/** Output that a tool printed or calculated. It is no text of a document, though it may be made from one. */
export type ToolPrint = {
  /** `output of shell, step 4`: used where other pieces have a path. Prompts number the steps in the same way. */
  readonly label: string;
  /** The call as the model wrote it. It describes the output and is no part of it. */
  readonly call: string;
  /** SHA-256 of all bytes that were printed, 64 hex. */
  readonly sha256: string;
  /** Code points of all that was printed; `text` is its beginning. */
  readonly charsFull: number;
  readonly text: string;
};

export type SearchLimits = {
  readonly pathPrefix: string | null;
  readonly source: string | null;
  readonly documents: DocumentFilter;
};

/** The operators of a query that a model wrote; a question has none. */
type SearchRequest = SearchLimits &
  Partial<Operators> & { readonly text: string; readonly limit: number };

/** A durable note of the operator: a preference, a constraint or a rule of work. */
export type Note = { readonly memoryId: string; readonly type: string; readonly content: string };

/** The result of one request to a model: its reply, or a refusal of the host. */
export type RecordedReply = { readonly reply: ModelReply | Refusal; readonly durationMs: number };

export type RecordedCall = RecordedReply & {
  readonly requestSha256: string;
  readonly pass: ReplyRecord["pass"];
  readonly model: string;
  readonly modelDigest: string | null;
  readonly prompt: PromptRecord;
};

/** A stored reply that is used again. */
export type RecalledReply = RecordedReply & {
  /** The run of another job that requested it; undefined when an earlier attempt of this job did. */
  readonly cachedFrom?: string;
};

/** The model calls of one job, over all of its attempts, and calls of other jobs that can replace them. */
export type CallLog = {
  /** The stored reply to the same request. @param facts of the model that would be asked */
  recall(
    requestSha256: string,
    facts: Pick<ModelFacts, "isFree" | "digest">,
  ): Promise<RecalledReply | undefined>;
  /** Resolves when the call is committed. @param charge of its slot, which ends in the same transaction */
  commit(call: RecordedCall, charge?: CallCharge): Promise<void>;
  /** Decides when a call that has no stored reply may be made. */
  readonly limiter: Limiter;
};

export type PipelineSettings = {
  readonly ask: Omit<Config["ask"], "index_first_s">;
  readonly model: RoutingSettings;
  readonly security: Pick<Config["security"], "allowed_exts">;
};

/** A statement of an answer beside the words of the evidence that support it, or come nearest to it. */
export type ClaimPair = {
  /** Title and heading of the piece; empty where it has none. */
  readonly heading: string;
  readonly carrier: string;
  readonly claim: string;
};

/** Probabilities, from 0 to 1, that the words entail the statement and that they contradict it. */
export type EntailmentScores = { readonly entailment: number; readonly contradiction: number };

/** The scores of an entailment model for pairs, in order; null for a pair that is longer than its window. */
export type Compared = {
  /** Its name and build. */
  readonly model: string;
  readonly scores: readonly (EntailmentScores | null)[];
};

/** The verdict of an examined judge on a statement, with its reason in words. */
export type JudgeVerdict = { readonly says: "yes" | "no" | "unclear"; readonly detail: string };

/** A line of a document; `source` names its file and headings: "minutes.md > Budget". */
export type JudgeLine = { readonly source: string; readonly text: string };

/** A statement, and the lines that the judge compares it with. */
export type AskedStatement = { readonly text: string; readonly lines: readonly JudgeLine[] };

/**
 * Asks the judge about statements. Returns a verdict for each, in order: null where the judge can't be asked, or has not passed
 * its exam.
 * @param answerer the model that wrote the statements; it is the judge itself where the configuration says so
 */
export type AskJudge = (
  statements: readonly AskedStatement[],
  answerer: Auditor,
  parts: {
    readonly calls: CallLog;
    readonly offload: Offload;
    readonly trace: RunTrace;
    readonly signal: AbortSignal;
  },
) => Promise<readonly (JudgeVerdict | null)[]>;

export type CompareClaims = (pairs: readonly ClaimPair[], signal: AbortSignal) => Promise<Compared>;

/** The `verify` keys of the configuration, with the mode of the job at hand. */
export type VerifySettings = Omit<
  Config["verify"],
  "model" | "steps" | "tiers" | "judge" | "entailment"
>;

/** The access that checks by rule have beyond the evidence of a run, within the files that the job may read. */
export type CheckSources = {
  /** All paths that the job may read, relative to the work root, in order. */
  listPaths(): Promise<readonly string[]>;
  /** The same from the folders as they are now, not from the index. `isWhole` is false where the list was cut. */
  listPathsNow(): Promise<{ readonly paths: readonly string[]; readonly isWhole: boolean }>;
  /** The whole text of a file, through the sandbox. */
  read(path: string): Promise<Reading | Refusal>;
  search(query: string, limit: number): Promise<readonly Passage[]>;
  /** The newer versions of indexed documents, the newest first, by path. */
  versions(paths: readonly string[]): Promise<ReadonlyMap<string, Pick<DocumentVersion, "newer">>>;
};

export type Auditor = { readonly model: Model; readonly choice: ModelChoice };

/** Everything that verification of one job's answers needs. */
export type Verification = {
  readonly settings: VerifySettings;
  readonly jobId: string;
  /** The results of earlier runs of the job. */
  readonly stored: () => Promise<StoredVerification>;
  /** The model that asks the checks, looks for support and scores; null: the model that answered. */
  readonly auditor: (signal: AbortSignal) => Promise<Auditor | null>;
  /** Name of the model that answers the checks; undefined: the model that the configuration chooses. */
  readonly auditorName: string | undefined;
  /** How many other models have answered before; their rounds are recorded, too. */
  readonly tier: number;
  /** Who answers next when this answer is not verified: another model, a person, or nobody. */
  readonly next: "model" | "human" | null;
  /** The only folder that may be read; undefined: everything in the allowed roots. */
  readonly pathPrefix: string | undefined;
  readonly sources: CheckSources;
  readonly fenceKey: Buffer;
};

/** The only access of the pipeline to anything outside: it has no database, queue or configuration of its own. */
export type PipelineDependencies = {
  readonly settings: PipelineSettings;
  readonly models: ModelRegistry;
  /** Returns the best passages first, without hits that only a weak embedder found. */
  readonly search: (request: SearchRequest, signal: AbortSignal) => Promise<readonly Passage[]>;
  /** Whether the index holds any document within these limits, whatever its words. */
  readonly holdsAny: (limits: SearchLimits) => Promise<boolean>;
  /** Dates and newer versions of indexed documents, by path. */
  readonly versions: (paths: readonly string[]) => Promise<ReadonlyMap<string, DocumentVersion>>;
  readonly readTextFile: (request: {
    readonly path: string;
    readonly maxChars: number;
    /** Reads only the file at exactly this path from the work root. */
    readonly lookup?: "exact" | undefined;
  }) => Promise<Reading | Refusal>;
  /** The names of the files that may be read, as they are now. */
  readonly knownFiles: () => Promise<KnownFiles>;
  /** Finds the file that a name means without reading it, or says why it can't be read. */
  readonly locate: (
    path: string,
  ) => Promise<{ readonly kind: "located"; readonly path: string } | Refusal>;
  /** Stored replies, and the place where new replies are stored as soon as they arrive. */
  readonly calls: CallLog;
  /** Missing where no judge is configured: then only the rules grade. */
  readonly judge?: AskJudge | undefined;
  /** Missing where answers are not verified. */
  readonly verification?: Verification | undefined;
  /** Runs work over whole texts in a thread. */
  readonly offload: Offload;
  /** Durable notes of the operator for the prompts of pass 2, oldest first, and how many did not fit. */
  readonly notes: () => Promise<{ readonly shown: readonly Note[]; readonly leftOut: number }>;
  /** Secret of the installation, from which the marks around evidence are derived. */
  readonly fenceKey: Buffer;
  /** Characters of evidence text that a record stores. */
  readonly previewChars: number;
};

/** The evidence that an answer may rest on. `snapshotHash` covers the admitted passages. */
export type AdmittedEvidence = {
  readonly kind: "admitted";
  /** In reading order; several files are always whole. */
  readonly files: readonly Reading[];
  readonly passages: readonly Passage[];
  /** Output of tools, in the order of their steps; only beside evidence that was read, or made from it. */
  readonly outputs?: readonly ToolPrint[];
  readonly snapshotHash: string;
};
