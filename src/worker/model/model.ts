import type { Refusal } from "../../shared/failure.ts";

export type Message = {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
};

/** One numbered piece of evidence, as the prompt shows it; the number is what an answer cites. */
export type EvidenceBlock = {
  readonly number: number;
  readonly path: string;
  readonly title: string | null;
  readonly headingPath: string | null;
  readonly text: string;
};

/**
 * What is asked, beside the rendered messages: a language model reads the messages, a model without language
 * reads this. Both say the same.
 */
export type ModelTask =
  | {
      readonly purpose: "select_tool";
      readonly question: string;
      readonly namedFiles: readonly string[];
      readonly evidence: readonly EvidenceBlock[];
    }
  | {
      readonly purpose: "answer";
      readonly question: string;
      readonly evidence: readonly EvidenceBlock[];
      readonly sentences: number;
    }
  | {
      readonly purpose: "summarize";
      readonly title: string;
      readonly evidence: readonly EvidenceBlock[];
      readonly sentences: number;
      readonly style: "prose" | "bullets";
    }
  | { readonly purpose: "chat" };

export type ModelRequest = {
  readonly messages: readonly Message[];
  readonly task: ModelTask;
  /** At most this many tokens of reply. */
  readonly maxTokens: number;
  /** For the whole call: waiting, loading, reading, writing. */
  readonly timeoutMs: number;
  /** Overrides the configured temperature. */
  readonly temperature?: number;
  /** Constrains the reply to JSON, or to a JSON schema. */
  readonly format?: "json" | Readonly<Record<string, unknown>>;
};

export type ModelReply = {
  readonly kind: "reply";
  /** Without thinking. */
  readonly text: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly loadMs: number;
  /** `length`: the reply was cut by `maxTokens` or by the window. */
  readonly doneReason: "stop" | "length";
};

/**
 * Everything that can answer. Refusals of `complete` are CONTEXT_OVERFLOW (the prompt was or would be cut)
 * and MODEL_UNSUPPORTED; faults are thrown as Failure, and an abort throws the signal's reason.
 */
export type Model = {
  readonly name: string;
  /** Characters of prompt that surely fit beside a reply of `maxTokens`; Infinity without a window. */
  promptChars(maxTokens: number): number;
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | Refusal>;
};

export type ModelRegistry = {
  /** Throws Failure MODEL_NOT_FOUND for a name that the provider can't have. */
  get(name: string): Model;
};

/** The literal with which a model says that the evidence does not answer. */
export const DECLINED = "INSUFFICIENT_EVIDENCE";
