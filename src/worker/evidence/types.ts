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

/** What a read through the sandbox gives. */
export type Reading = Extract<SandboxReading, { kind: "read" }> & {
  /** Of a web page, whose path is its URL. */
  readonly page?: WebPage;
};

/** What a page of the web calls itself, and when it was fetched (ISO 8601, UTC). */
export type WebPage = { readonly title: string | null; readonly retrievedAt: string };

/** A chunk of the index that a search found. */
export type Passage = Omit<StoredPassage, "source"> & {
  /** Null for a stretch of a file that was read, and not found in the index. */
  readonly source: string | null;
  /** Of such a stretch, which may go over several pages, sheets or mails: where its parts stand in the file. */
  readonly places?: Places;
  readonly score: number;
  readonly lexicalScore: number | null;
  /** Which reranker put it where it stands, and its rank before, from 1; left out where none did. */
  readonly reranked?: { readonly by: string; readonly fusedRank: number };
};

/** What a tool printed or reckoned: no text of a document, though it may be made of some. */
export type ToolPrint = {
  /** `output of shell, step 4`: stands where other pieces have their path. Steps as prompts number them. */
  readonly label: string;
  /** What was carried out, in the words of the model: it says what the print is of, and is no part of it. */
  readonly call: string;
  /** Of all that was printed, as bytes, 64 hex. */
  readonly sha256: string;
  /** Code points of all that was printed; the text is its beginning. */
  readonly charsFull: number;
  readonly text: string;
};

export type SearchLimits = {
  readonly pathPrefix: string | null;
  readonly source: string | null;
  readonly documents: DocumentFilter;
};

type SearchRequest = SearchLimits & { readonly text: string; readonly limit: number };

/** A durable note of the operator: a preference, a constraint or a rule of work. */
export type Note = { readonly memoryId: string; readonly type: string; readonly content: string };

/** What a model gave to one request: a reply, or a refusal of the host. */
export type RecordedReply = { readonly reply: ModelReply | Refusal; readonly durationMs: number };

export type RecordedCall = RecordedReply & {
  readonly requestSha256: string;
  readonly pass: ReplyRecord["pass"];
  readonly model: string;
  readonly modelDigest: string | null;
  readonly prompt: PromptRecord;
};

/** A reply that was there already. */
export type RecalledReply = RecordedReply & {
  /** The run of another job that asked for it; undefined when it was an earlier attempt of this one. */
  readonly cachedFrom?: string;
};

/** The model calls of one job, over all of its attempts, and those of other jobs that may stand for them. */
export type CallLog = {
  /** What the same request gave before. @param facts of the model that would be asked */
  recall(
    requestSha256: string,
    facts: Pick<ModelFacts, "isFree" | "digest">,
  ): Promise<RecalledReply | undefined>;
  /** Returns when the call is committed. @param charge of its slot, which is ended with it */
  commit(call: RecordedCall, charge?: CallCharge): Promise<void>;
  /** When a call that has to be asked may be made. */
  readonly limiter: Limiter;
};

export type PipelineSettings = {
  readonly ask: Omit<Config["ask"], "index_first_s">;
  readonly model: RoutingSettings;
  readonly security: Pick<Config["security"], "allowed_exts">;
};

/** A statement of an answer beside the words of the evidence that carry it, or come nearest. */
export type ClaimPair = {
  /** Title and heading of the piece; empty where it has none. */
  readonly heading: string;
  readonly carrier: string;
  readonly claim: string;
};

/** How probable it is, from 0 to 1, that the words entail the statement, and that they contradict it. */
export type EntailmentScores = { readonly entailment: number; readonly contradiction: number };

/** What a model for entailment says of pairs, in order; null for one that is longer than it reads. */
export type Compared = {
  /** Its name and build. */
  readonly model: string;
  readonly scores: readonly (EntailmentScores | null)[];
};

/** What an examined judge said of a statement, and in words. */
export type JudgeVerdict = { readonly says: "yes" | "no" | "unclear"; readonly detail: string };

/** A line of a document, below the name of its file and its headings: "minutes.md > Budget". */
export type JudgeLine = { readonly source: string; readonly text: string };

/** A statement, and the lines that it is held against. */
export type AskedStatement = { readonly text: string; readonly lines: readonly JudgeLine[] };

/**
 * Asks the judge of statements, a verdict for each in order: null where it can't be asked, or has passed no exam.
 * @param answerer who wrote them, and judges where the configuration says so
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

/** All that checks by rule reach beyond the evidence of a run, within what the job may read. */
export type CheckSources = {
  /** All paths that the job may read, relative to the work root, in order. */
  listPaths(): Promise<readonly string[]>;
  /** The same as the folders are now; whole unless there are more than are listed. */
  listPathsNow(): Promise<{ readonly paths: readonly string[]; readonly isWhole: boolean }>;
  /** The whole text of a file, through the sandbox. */
  read(path: string): Promise<Reading | Refusal>;
  search(query: string, limit: number): Promise<readonly Passage[]>;
  /** Of indexed documents the newer versions, the newest first, by path. */
  versions(paths: readonly string[]): Promise<ReadonlyMap<string, Pick<DocumentVersion, "newer">>>;
};

export type Auditor = { readonly model: Model; readonly choice: ModelChoice };

/** What the answers of one job are verified with. */
export type Verification = {
  readonly settings: VerifySettings;
  readonly jobId: string;
  /** What earlier runs of the job have come to. */
  readonly stored: () => Promise<StoredVerification>;
  /** Who asks, looks and scores; null: whoever answered. */
  readonly auditor: (signal: AbortSignal) => Promise<Auditor | null>;
  /** By name, as checks are to be asked of it; undefined: the model that the desk gives them. */
  readonly auditorName: string | undefined;
  /** How many other models have answered before: their rounds are on record, too. */
  readonly tier: number;
  /** Who answers next where an answer is not verified: another model, a person, or nobody. */
  readonly next: "model" | "human" | null;
  /** Folder outside of which nothing may be read; undefined: all that the desk may read. */
  readonly pathPrefix: string | undefined;
  readonly sources: CheckSources;
  readonly fenceKey: Buffer;
};

/** All that the pipeline can reach of the world: it has no database, queue or configuration of its own. */
export type PipelineDependencies = {
  readonly settings: PipelineSettings;
  readonly models: ModelRegistry;
  /** Best first, without hits that only a weak embedder found. */
  readonly search: (request: SearchRequest, signal: AbortSignal) => Promise<readonly Passage[]>;
  /** Whether the index holds any document that a search so limited may find, whatever its words. */
  readonly holdsAny: (limits: SearchLimits) => Promise<boolean>;
  /** When indexed documents are of, and the newer versions of them, by path. */
  readonly versions: (paths: readonly string[]) => Promise<ReadonlyMap<string, DocumentVersion>>;
  readonly readTextFile: (request: {
    readonly path: string;
    readonly maxChars: number;
    /** Only the file at this path from the work root. */
    readonly lookup?: "exact" | undefined;
  }) => Promise<Reading | Refusal>;
  /** The files that may be read, by name, as they are now. */
  readonly knownFiles: () => Promise<KnownFiles>;
  /** Where the file lies that a name means, without a read of it, or why it can't be read. */
  readonly locate: (
    path: string,
  ) => Promise<{ readonly kind: "located"; readonly path: string } | Refusal>;
  /** Replies that need not be asked for again, and where new ones go as they return. */
  readonly calls: CallLog;
  /** Missing where no judge is configured: then the rules grade alone. */
  readonly judge?: AskJudge | undefined;
  /** What answers are verified with before they count; missing where they are not. */
  readonly verification?: Verification | undefined;
  /** For what goes through the whole of a text. */
  readonly offload: Offload;
  /** Durable notes of the operator that join the prompts of pass 2, oldest first, and how many found no room there. */
  readonly notes: () => Promise<{ readonly shown: readonly Note[]; readonly leftOut: number }>;
  /** Secret of the installation, from which the marks around evidence are derived. */
  readonly fenceKey: Buffer;
  /** Characters of evidence text that a record keeps. */
  readonly previewChars: number;
};

/** What an answer may rest on. The snapshot hash is of the admitted passages. */
export type AdmittedEvidence = {
  readonly kind: "admitted";
  /** In reading order; of several all are whole. */
  readonly files: readonly Reading[];
  readonly passages: readonly Passage[];
  /** What tools printed, in the order of their steps; only beside, or made of, what was read. */
  readonly outputs?: readonly ToolPrint[];
  readonly snapshotHash: string;
};
