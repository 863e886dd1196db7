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
  readonly path: string;
  readonly heading: string | null;
  readonly chunkKey: string | null;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly quote?: string;
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

/** One step of a run, in order. `detail` never holds document text or prompts. */
export type RunEvent = {
  readonly step: string;
  readonly durationMs: number;
  readonly detail: Readonly<Record<string, unknown>>;
};

export type Usage = { readonly promptTokens: number; readonly completionTokens: number };

/** Replies of a model by pass, without thinking. */
export type ReplyRecord = {
  readonly pass: "first" | "second" | "retry" | "chat" | "part";
  readonly model: string;
  readonly text: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly durationMs: number;
  readonly promptSha256: string;
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
  readonly models: { readonly first: string | null; readonly second: string | null };
  readonly usage: Usage;
  readonly modelMs: number;
};
