import type { Refusal } from "../failure.ts";
import type { Locator } from "./locator.ts";
import type { VerificationRecord } from "./verification.ts";

/** A piece of text that a run really read. Characters are Unicode code points, lines count from 1. */
export type EvidencePiece = {
  /** output: the output of a tool; its path is a label such as `output of shell, step 4`. */
  readonly kind: "file" | "chunk" | "web" | "output";
  readonly admitted: boolean;
  /** Why it was not admitted: a code of failure.ts or a short reason. Null if and only if it was admitted. */
  readonly rejectedReason: string | null;
  /** Relative to the work root, with `/`, as spelled on disk; for a web page its URL. */
  readonly path: string;
  readonly source: string | null;
  /** SHA-256 of the file's bytes, 64 lower-case hex. */
  readonly sha256: string;
  /** SHA-256 of the text as UTF-8, 64 lower-case hex. */
  readonly textSha256: string;
  /** Version of the extractor that converted the bytes to text. */
  readonly extractor: string;
  readonly charsFull: number;
  readonly charsReturned: number;
  readonly truncated: boolean;
  readonly chunkKey: string | null;
  readonly headingPath: string | null;
  readonly locator: Locator | null;
  /** Content that a person sees in the file but the extracted text lacks, counted by kind. */
  readonly leftOut?: Readonly<Record<string, number>> | undefined;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly score: number | null;
  /** The first `runs.preview_chars` characters, cleaned for the database. */
  readonly preview: string;
  /** For web pages only; `retrievedAt` in ISO 8601, UTC. */
  readonly page?: { readonly title: string | null; readonly retrievedAt: string };
};

export type Citation = {
  /** In a digest: the job whose answer is cited; the lines are lines of that answer. */
  readonly jobId?: string;
  readonly path: string;
  readonly heading: string | null;
  readonly chunkKey: string | null;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly quote?: string;
  /** The number in the answer; missing for a citation by name. */
  readonly number?: number;
  /** False for a citation that matches nothing that was read; its path is the answer's spelling, its lines are 0. */
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
  /** The place in terms that people use; left out when the lines are enough. */
  readonly locator?: Locator;
};

/**
 * verbatim: in the evidence, code point for code point. normalised: there except for white space, quote marks, case, hyphens,
 * ligatures or width. elided: its parts are there in order in one piece, with words left out or inserted as editors do.
 * misattributed: in another piece than the cited one. stitched: made of separate spans. Three classes are in no evidence for a
 * known reason: asked are words of the question, translated is marked as a translation, term is a short name that the answer
 * coined. not_found is anything else.
 */
type QuoteClass =
  | "verbatim"
  | "normalised"
  | "elided"
  | "misattributed"
  | "stitched"
  | "asked"
  | "translated"
  | "term"
  | "not_found";

/** A quotation in an answer, looked up in the evidence. */
export type QuoteRecord = {
  readonly quote: string;
  readonly class: QuoteClass;
  /** Where the evidence has it; the first part of a stitched quote; null when no evidence has it. */
  readonly span: EvidenceSpan | null;
};

/** A number, date, link or path that an answer states. */
export type FigureRecord = {
  readonly kind: "number" | "date" | "link" | "path";
  readonly text: string;
  readonly standsIn: "evidence" | "question" | "both" | "neither";
  /** True for a number or date that is in neither, and for a link or path that only a document mentions. */
  readonly flagged: boolean;
  readonly span: EvidenceSpan | null;
};

/** The quotes and figures of the last draft that was checked. */
export type AnswerChecks = {
  readonly quotes: readonly QuoteRecord[];
  readonly figures: readonly FigureRecord[];
};

export const CLAIM_GRADES = ["supported", "unconfirmed", "unsupported"] as const;
export type ClaimGrade = (typeof CLAIM_GRADES)[number];

/** Grade of a run: verified when checks and auditor confirm it, unresolved when they can't settle it; else its worst claim's. */
export const RUN_GRADES = ["verified", ...CLAIM_GRADES, "unresolved"] as const;

/**
 * Why a claim has its grade. First what supports it: it is a whole sentence of the evidence, its figure follows from a table, or
 * a judge confirms it. Then the rules that reject it, which take precedence. Last: no judge confirms it, or none was asked.
 */
export const CLAIM_REASONS = [
  ...(["verbatim", "computed", "confirmed"] as const),
  ...(["uncited", "not_admitted", "quote"] as const),
  ...(["figure", "name", "polarity", "opposite", "anchor", "subject", "frame", "label"] as const),
  ...(["reading", "judge", "unclear", "not_asked"] as const),
] as const;
export type ClaimReason = (typeof CLAIM_REASONS)[number];

/**
 * What happened to a claim: kept (supported), marked (unconfirmed); for unsupported claims: repaired (the model was asked again),
 * dropped (left out of the answer) or flagged (the operator allows it).
 */
type ClaimFate = "kept" | "marked" | "repaired" | "dropped" | "flagged";

/** A rule that a claim was checked against. */
type ClaimRule = {
  readonly rule: string;
  readonly verdict: "pass" | "fail" | "unknown";
  readonly detail: string;
};

/** The name of the rule that records a judge's verdict on a claim. */
export const JUDGE_RULE = "judge";
/** Separates the verdicts of two judges on one statement; each verdict follows its judge's name. */
export const JUDGES_APART = "; ";

/** A statement of an answer, graded against the evidence that it cites. */
export type ClaimRecord = {
  /** 0 for the first reply, 1 for its repair. */
  readonly draft: number;
  /** The text without its citations. */
  readonly text: string;
  /** Numbers of the cited pieces. */
  readonly cites: readonly number[];
  /** The quote that the model gave as support. */
  readonly quote: string | null;
  readonly grade: ClaimGrade;
  readonly reason: ClaimReason;
  readonly fate: ClaimFate;
  /** Whether the final answer contains it. */
  readonly stands: boolean;
  /** How its figure follows from figures of the evidence: `310 - 85 = 225`. */
  readonly arithmetic: string | null;
  /** The place in the evidence that supports it, or comes nearest. */
  readonly span: EvidenceSpan | null;
  /** For each other cited piece, the place that supports most of the claim; no entry for a piece that supports too little. */
  readonly otherSpans: readonly EvidenceSpan[];
  /** The text at `span`. */
  readonly carrier: string | null;
  readonly checks: readonly ClaimRule[];
};

/** Why no words of the document support a value. A bound value that is in doubt has the first reason or one of the last three. */
export const UNBOUND_REASONS = [
  "no_quote",
  "quote_not_found",
  "quote_short",
  "not_in_quote",
  "other_label",
  "reading",
  "judge",
] as const;

/** A single value of an extraction, and the words of the document that support it. */
export type FieldBinding = {
  /** JSON pointer in the fields. */
  readonly pointer: string;
  readonly value: string | number | boolean | null;
  /** bound: words of the document hold the value. unbound: no words do. null: there is no value. */
  readonly state: "bound" | "unbound" | "null";
  /** Set when it is unbound, when null replaces a value without support, and when it is bound but in doubt. */
  readonly reason: (typeof UNBOUND_REASONS)[number] | null;
  /** Null when there is no value. */
  readonly grade: ClaimGrade | null;
  /** A judge's verdict on the value, or on the value that null replaces; null when no judge was asked. */
  readonly judged: { readonly says: "yes" | "no" | "unclear"; readonly detail: string } | null;
  readonly quote: string | null;
  readonly span: EvidenceSpan | null;
};

/** An inner node of a tree of summaries: its summary, and the span of the file that it covers. */
export type PartRecord = {
  /** The file of that span. */
  readonly path: string;
  /** 0 for the parts of the file itself, 1 for summaries of their summaries, and so on. */
  readonly level: number;
  /** Position within its level, from 0. */
  readonly ordinal: number;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly summary: string;
};

/** The model of a pass, why it was chosen, and the facts that its host reported. */
export type ModelUse = {
  readonly pass: "first" | "second";
  readonly model: string;
  readonly why: string;
  readonly facts: Readonly<Record<string, unknown>>;
};

export type ToolCallRecord = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Null when the call succeeded. */
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** The result without its text: path, sha256, counts. */
  readonly result: Readonly<Record<string, unknown>> | null;
  /** The first 200 characters of text after the call in the model's reply. */
  readonly trailingText: string | null;
  readonly durationMs: number;
};

/** The steps of runs: those of a question in order, then those of other kinds; also used in run_events, logs and reports. */
export const STEPS = [
  ...(["classify", "retrieve", "notes", "first_pass", "tool_call", "gate"] as const),
  ...(["second_pass", "check", "children", "chat"] as const),
  ...(["plan", "embed", "index", "index_vectors", "read_page", "confirm", "notify"] as const),
  ...(["list_remote", "settle_gone", "fetch_files"] as const),
  ...(["grant", "look_around", "verdict", "examine"] as const),
  ...(["decompose", "rules", "audit", "revise"] as const),
] as const;
export type StepName = (typeof STEPS)[number];

/** One step of a run, in order. `detail` never holds document text or prompts. */
export type RunEvent = {
  readonly step: StepName;
  /** Start of the step, from the start of the run. */
  readonly atMs: number;
  readonly durationMs: number;
  readonly detail: Readonly<Record<string, unknown>>;
};

export type Usage = { readonly promptTokens: number; readonly completionTokens: number };

/** A reference to a text in a prompt: a piece of a file, or a summary of a part of it. */
export type PromptEvidence = {
  readonly number: number;
  readonly path: string;
  readonly sha256: string;
  readonly startChar: number;
  readonly endChar: number;
  readonly chunkKey: string | null;
  /** Null for the file's own text; else the level of the summaries in its place. */
  readonly summaryLevel: number | null;
};

/** A prompt as it is stored: the values of its template, with evidence as references and never as text. */
export type PromptRecord = {
  /** `name/version` of the template. */
  readonly template: string;
  /** SHA-256 of the messages that were sent, as JSON; 64 hex. */
  readonly sha256: string;
  /** Texts of the operator and of Nightdesk that fill the template: question, footer, notes. */
  readonly values: Readonly<Record<string, string>>;
  readonly evidence: readonly PromptEvidence[];
  /** When this prompt asks for a second try: the codes of the first try's faults. */
  readonly violations: readonly string[];
};

/** Why a model is called. The second line is for the verification of an answer; a revision is a retry. */
export const PASSES = [
  ...(["first", "second", "retry", "chat", "part", "step"] as const),
  ...(["decompose", "verdict", "audit", "grade"] as const),
] as const;
export type Pass = (typeof PASSES)[number];

/** A model's reply in a pass, without its thinking. */
export type ReplyRecord = {
  readonly pass: Pass;
  readonly model: string;
  readonly text: string;
  /** SHA-256 of everything that determines the reply: model, digest, options, messages, tools, format. 64 hex. */
  readonly requestSha256: string;
  readonly prompt: PromptRecord;
  /** reused: taken from an earlier attempt of the same job. cached: taken from another job. */
  readonly origin: "asked" | "reused" | "cached";
  /** For a cached reply: the run that requested it. */
  readonly cachedFrom?: string;
  /** as_returned: committed on arrival. with_run: cheap to repeat, so written with the result of the run. */
  readonly kept: "as_returned" | "with_run";
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly durationMs: number;
};

export type Answer = {
  readonly kind: "succeeded";
  /** The text for the user; the last line of a gated answer is the scope footer. Null for index and embed. */
  readonly answer: string | null;
  readonly scope: string | null;
  readonly citations: readonly Citation[];
  /** Counters of index and embed jobs; null otherwise. */
  readonly summary: Readonly<Record<string, unknown>> | null;
};

/** The answer of a job that has counters and no text. */
export const summaryAlone = (summary: Readonly<Record<string, unknown>>): Answer => ({
  kind: "succeeded",
  answer: null,
  scope: null,
  citations: [],
  summary,
});

export type Outcome = Answer | Refusal;

/** Everything that a finished run stores, in one transaction. */
export type RunResult = {
  readonly outcome: Outcome;
  readonly evidence: readonly EvidencePiece[];
  readonly toolCalls: readonly ToolCallRecord[];
  readonly events: readonly RunEvent[];
  readonly replies: readonly ReplyRecord[];
  readonly models: readonly ModelUse[];
  readonly checks: AnswerChecks;
  /** Claims of the first draft, then those of its repair. */
  readonly claims: readonly ClaimRecord[];
  /** For an extraction, in the order of its fields. */
  readonly bindings: readonly FieldBinding[];
  readonly parts: readonly PartRecord[];
  readonly verification: VerificationRecord;
  /** Ids of the stored notes that were added to the prompts. */
  readonly memoryIds: readonly string[];
  readonly usage: Usage;
  readonly modelMs: number;
};
