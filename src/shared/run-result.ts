import type { Refusal } from "./failure.ts";

/** A piece of text that was really read. Characters are Unicode code points, lines count from 1. */
export type EvidencePiece = {
  readonly kind: "file" | "chunk";
  readonly admitted: boolean;
  /** Why it was not admitted: a code of failure.ts or a short reason. Null exactly when admitted. */
  readonly rejectedReason: string | null;
  /** Relative to the work root, with `/`, as spelled on disk. */
  readonly path: string;
  readonly source: string | null;
  /** SHA-256 of the file's bytes, 64 lower-case hex. */
  readonly sha256: string;
  /** SHA-256 of the text as UTF-8, 64 lower-case hex. */
  readonly textSha256: string;
  readonly charsFull: number;
  readonly charsReturned: number;
  readonly truncated: boolean;
  readonly chunkKey: string | null;
  readonly headingPath: string | null;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly score: number | null;
  /** The first `runs.preview_chars` characters, cleaned for the database. */
  readonly preview: string;
};

export type Citation = {
  /** Of a digest: the job whose answer is cited; the lines are those of its answer. */
  readonly jobId?: string;
  readonly path: string;
  readonly heading: string | null;
  readonly chunkKey: string | null;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly quote?: string;
  /** The number by which the answer cites it; none for a citation by name. */
  readonly number?: number;
  /** False for a citation that stands for nothing that was read; its path is what the answer spells, its lines are 0. */
  readonly resolved?: false;
};

/** A place in a piece of evidence. Characters are code points into the file, lines count from 1. */
export type EvidenceSpan = {
  /** The number that the answer cites. */
  readonly number: number;
  readonly path: string;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
};

/**
 * verbatim: stands in the evidence code point for code point. normalised: stands there but for white space, quote
 * marks, hyphens, ligatures or width. misattributed: stands in another piece than the one that is cited with it.
 * stitched: made of spans that stand apart. not_found: stands nowhere.
 */
type QuoteClass = "verbatim" | "normalised" | "misattributed" | "stitched" | "not_found";

/** A span in quotation marks of an answer, looked up in the evidence. */
export type QuoteRecord = {
  readonly quote: string;
  readonly class: QuoteClass;
  /** Where it stands; the first of its parts when it is stitched; null when it stands nowhere. */
  readonly span: EvidenceSpan | null;
};

/** A number, date, link or path that an answer states. */
export type FigureRecord = {
  readonly kind: "number" | "date" | "link" | "path";
  readonly text: string;
  /** evidence, question, both, or neither of them. */
  readonly standsIn: "evidence" | "question" | "both" | "neither";
  /** A number or date that stands nowhere; a link or path that only a document brought up. */
  readonly flagged: boolean;
  readonly span: EvidenceSpan | null;
};

/** A sentence of an answer, and the span of the evidence that carries it best. */
export type SentenceRecord = {
  readonly sentence: string;
  /** 0 (nothing in common) to 1. */
  readonly score: number;
  readonly span: EvidenceSpan | null;
};

/** What the words of an answer were found to be, piece by piece; of the last draft that was checked. */
export type AnswerChecks = {
  readonly quotes: readonly QuoteRecord[];
  readonly figures: readonly FigureRecord[];
  readonly sentences: readonly SentenceRecord[];
};

/** An inner node of a tree of summaries: what it says, and the span of the file that it covers. */
export type PartRecord = {
  /** The file that it covers a stretch of. */
  readonly path: string;
  /** 0 for the parts of the file itself, 1 for summaries of their summaries, and so on. */
  readonly level: number;
  /** Within its level, from 0. */
  readonly ordinal: number;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly summary: string;
};

/** Which model took which pass, why, and what its host said of it. */
export type ModelUse = {
  readonly pass: "first" | "second";
  readonly model: string;
  readonly why: string;
  readonly facts: Readonly<Record<string, unknown>>;
};

export type ToolCallRecord = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Null when the call was carried out. */
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Without the text: path, sha256, counts. */
  readonly result: Readonly<Record<string, unknown>> | null;
  /** Text that followed the call in the model's reply, first 200 characters. */
  readonly trailingText: string | null;
  readonly durationMs: number;
};

/**
 * The steps of runs: those of a question in their order, then those of other kinds. Rows of run_events, logs and reports
 * call them so.
 */
export const STEPS = [
  ...(["classify", "retrieve", "notes", "first_pass", "tool_call", "gate"] as const),
  ...(["second_pass", "check", "children", "chat"] as const),
  ...(["plan", "embed", "index", "index_vectors", "notify"] as const),
] as const;
export type StepName = (typeof STEPS)[number];

/** One step of a run, in order. `detail` never holds document text or prompts. */
export type RunEvent = {
  readonly step: StepName;
  /** When it began, counted from the start of the run. */
  readonly atMs: number;
  readonly durationMs: number;
  readonly detail: Readonly<Record<string, unknown>>;
};

export type Usage = { readonly promptTokens: number; readonly completionTokens: number };

/** A piece of text that a prompt showed, by reference: of a file, or a summary of a part of it. */
export type PromptEvidence = {
  readonly number: number;
  readonly path: string;
  readonly sha256: string;
  readonly startChar: number;
  readonly endChar: number;
  readonly chunkKey: string | null;
  /** Null for the words of the file themselves; else the level of the summaries that stand for them. */
  readonly summaryLevel: number | null;
};

/** A prompt as it is kept: what fills its template, with evidence as references and never as text. */
export type PromptRecord = {
  /** `name/version` of the template. */
  readonly template: string;
  /** SHA-256 of the messages that were sent, as JSON; 64 hex. */
  readonly sha256: string;
  /** Words of the operator and of Nightdesk that fill the template: question, footer, notes. */
  readonly values: Readonly<Record<string, string>>;
  readonly evidence: readonly PromptEvidence[];
  /** Codes of what was wrong with a first try, when this prompt asks for another. */
  readonly violations: readonly string[];
};

/** Replies of a model by pass, without thinking. */
export type ReplyRecord = {
  readonly pass: "first" | "second" | "retry" | "chat" | "part";
  readonly model: string;
  readonly text: string;
  /** SHA-256 of all that decides the reply: model, digest, options, messages, tools, format. 64 hex. */
  readonly requestSha256: string;
  readonly prompt: PromptRecord;
  /** reused: taken from an earlier attempt of the same job. cached: taken from another job. */
  readonly origin: "asked" | "reused" | "cached";
  /** Of a cached one: the run that asked for it. */
  readonly cachedFrom?: string;
  /** as_returned: it was committed when it came. with_run: it costs nothing to make again, and is written with the result. */
  readonly kept: "as_returned" | "with_run";
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly durationMs: number;
};

export type Answer = {
  readonly kind: "succeeded";
  /** What the user reads; for a gated answer its last line is the scope footer. Null for index and embed. */
  readonly answer: string | null;
  readonly scope: string | null;
  readonly citations: readonly Citation[];
  /** Counters of index and embed jobs; null otherwise. */
  readonly summary: Readonly<Record<string, unknown>> | null;
};

export type Outcome = Answer | Refusal;

/** All that a finished run leaves behind; it is written in one transaction. */
export type RunResult = {
  readonly outcome: Outcome;
  readonly evidence: readonly EvidencePiece[];
  readonly toolCalls: readonly ToolCallRecord[];
  readonly events: readonly RunEvent[];
  readonly replies: readonly ReplyRecord[];
  readonly models: readonly ModelUse[];
  readonly checks: AnswerChecks;
  readonly parts: readonly PartRecord[];
  /** Ids of the durable notes that joined the prompts. */
  readonly memoryIds: readonly string[];
  readonly usage: Usage;
  readonly modelMs: number;
};
