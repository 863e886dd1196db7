import type { Refusal } from "../failure.ts";
import type { Locator } from "./locator.ts";
import type { VerificationRecord } from "./verification.ts";

/** A piece of text that was really read. Characters are Unicode code points, lines count from 1. */
export type EvidencePiece = {
  /** output: what a tool printed, under a label such as `output of shell, step 4` in place of a path. */
  readonly kind: "file" | "chunk" | "web" | "output";
  readonly admitted: boolean;
  /** Why it was not admitted: a code of failure.ts or a short reason. Null exactly when admitted. */
  readonly rejectedReason: string | null;
  /** Relative to the work root, with `/`, as spelled on disk; of a web page its URL. */
  readonly path: string;
  readonly source: string | null;
  /** SHA-256 of the file's bytes, 64 lower-case hex. */
  readonly sha256: string;
  /** SHA-256 of the text as UTF-8, 64 lower-case hex. */
  readonly textSha256: string;
  /** Version of the extractor that made text of the bytes. */
  readonly extractor: string;
  readonly charsFull: number;
  readonly charsReturned: number;
  readonly truncated: boolean;
  readonly chunkKey: string | null;
  readonly headingPath: string | null;
  readonly locator: Locator | null;
  /** What a person would see in the file and its text does not hold, counted by kind. */
  readonly leftOut?: Readonly<Record<string, number>> | undefined;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly score: number | null;
  /** The first `runs.preview_chars` characters, cleaned for the database. */
  readonly preview: string;
  /** Of a web page alone; `retrievedAt` in ISO 8601, UTC. */
  readonly page?: { readonly title: string | null; readonly retrievedAt: string };
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
  /** As people find it there; left out where its lines say it. */
  readonly locator?: Locator;
};

/**
 * verbatim: stands in the evidence code point for code point. normalised: stands there but for white space, quote
 * marks, case, hyphens, ligatures or width. elided: its parts stand in order in one piece, words are left out or put in
 * as editors do it. misattributed: stands in another piece than the one that is cited with it. stitched: made of spans
 * that stand apart. Of what stands nowhere: asked are words of the question, translated is marked as a translation, term
 * a short name of the answer's own; not_found is anything else.
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

/** What the words of an answer were found to be, piece by piece; of the last draft that was checked. */
export type AnswerChecks = {
  readonly quotes: readonly QuoteRecord[];
  readonly figures: readonly FigureRecord[];
};

export const CLAIM_GRADES = ["supported", "unconfirmed", "unsupported"] as const;
export type ClaimGrade = (typeof CLAIM_GRADES)[number];

/** Of a run: verified where checks and their auditor say so, unresolved where they can't be settled; else that of its worst claim. */
export const RUN_GRADES = ["verified", ...CLAIM_GRADES, "unresolved"] as const;

/**
 * Why a claim has its grade: a whole sentence of the evidence, a figure over a table that comes out again, or a judge confirms it; a rule that speaks against it, which
 * counts first; or what a judge says that does not confirm it, or that none was asked.
 */
export const CLAIM_REASONS = [
  ...(["verbatim", "computed", "confirmed"] as const),
  ...(["uncited", "not_admitted", "quote"] as const),
  ...(["figure", "name", "polarity", "opposite", "anchor", "subject", "frame", "label"] as const),
  ...(["reading", "judge", "unclear", "not_asked"] as const),
] as const;
export type ClaimReason = (typeof CLAIM_REASONS)[number];

/**
 * What became of a claim: kept (supported), marked (unconfirmed), and of unsupported ones repaired (the model was asked again),
 * dropped (left out of the answer) or flagged (the operator lets it stand).
 */
export type ClaimFate = "kept" | "marked" | "repaired" | "dropped" | "flagged";

/** A rule that a claim was held against. */
type ClaimRule = {
  readonly rule: string;
  readonly verdict: "pass" | "fail" | "unknown";
  readonly detail: string;
};

/** The rule of what a judge says of a claim. */
export const JUDGE_RULE = "judge";
/** Between what two judges say of one statement, each behind its name. */
export const JUDGES_APART = "; ";

/** A statement of an answer, graded against the evidence that it cites. */
export type ClaimRecord = {
  /** 0 for the first reply, 1 for its repair. */
  readonly draft: number;
  /** Without its citations. */
  readonly text: string;
  /** Numbers of the pieces that it cites. */
  readonly cites: readonly number[];
  /** What the model gave as the words that carry it. */
  readonly quote: string | null;
  readonly grade: ClaimGrade;
  readonly reason: ClaimReason;
  readonly fate: ClaimFate;
  /** Whether the answer that was given holds it. */
  readonly stands: boolean;
  /** How its figure comes out of those of the evidence: `310 - 85 = 225`. */
  readonly arithmetic: string | null;
  /** Where the evidence carries it, or comes nearest. */
  readonly span: EvidenceSpan | null;
  /** Of each other piece that it cites, where that says most of it; none where it says too little. */
  readonly otherSpans: readonly EvidenceSpan[];
  /** The words that stand at `span`. */
  readonly carrier: string | null;
  readonly checks: readonly ClaimRule[];
};

/** Why no words of the document carry a value; of a bound one the first and the last three, why it is in doubt. */
export const UNBOUND_REASONS = [
  "no_quote",
  "quote_not_found",
  "quote_short",
  "not_in_quote",
  "other_label",
  "reading",
  "judge",
] as const;

/** A single value of the fields of an extraction, and the words of the document that it is bound to. */
export type FieldBinding = {
  /** JSON pointer in the fields. */
  readonly pointer: string;
  readonly value: string | number | boolean | null;
  /** bound: the words stand in the document and hold the value. unbound: none do. null: there is no value. */
  readonly state: "bound" | "unbound" | "null";
  /** Of an unbound one, of a null that stands for a value that nothing carried, and of a bound one that is in doubt. */
  readonly reason: (typeof UNBOUND_REASONS)[number] | null;
  /** Of a value that is there. */
  readonly grade: ClaimGrade | null;
  /** What a judge said of it, or of the value that was left out; null where none was asked. */
  readonly judged: { readonly says: "yes" | "no" | "unclear"; readonly detail: string } | null;
  readonly quote: string | null;
  readonly span: EvidenceSpan | null;
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
  ...(["plan", "embed", "index", "index_vectors", "read_page", "confirm", "notify"] as const),
  ...(["list_remote", "settle_gone", "fetch_files"] as const),
  ...(["grant", "look_around", "verdict", "examine"] as const),
  ...(["decompose", "rules", "audit", "revise"] as const),
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

/** What a model is asked for. The last three are of the verification of an answer; a revision is a retry. */
export const PASSES = [
  ...(["first", "second", "retry", "chat", "part", "step"] as const),
  ...(["decompose", "verdict", "audit", "grade"] as const),
] as const;
export type Pass = (typeof PASSES)[number];

/** Replies of a model by pass, without thinking. */
export type ReplyRecord = {
  readonly pass: Pass;
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

/** The answer of a job that gives figures and no words. */
export const summaryAlone = (summary: Readonly<Record<string, unknown>>): Answer => ({
  kind: "succeeded",
  answer: null,
  scope: null,
  citations: [],
  summary,
});

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
  /** Those of the first draft, then those of its repair. */
  readonly claims: readonly ClaimRecord[];
  /** Of an extraction, in the order of its fields. */
  readonly bindings: readonly FieldBinding[];
  readonly parts: readonly PartRecord[];
  readonly verification: VerificationRecord;
  /** Ids of the durable notes that joined the prompts. */
  readonly memoryIds: readonly string[];
  readonly usage: Usage;
  readonly modelMs: number;
};
