import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { Preset } from "../../shared/job/job.ts";
import type { LabelExample } from "../../shared/job/label-examples.ts";
import type { Provider } from "../../shared/config/providers.ts";

export type Message = {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
  /** Data URLs of pictures. */
  readonly images?: readonly string[] | undefined;
};

/** One numbered piece of evidence, as the prompt shows it; answers cite the number. */
export type EvidenceBlock = {
  readonly number: number;
  readonly path: string;
  readonly title: string | null;
  readonly headingPath: string | null;
  readonly text: string;
  /** Whether it is the whole file: only then a count over the block is a count over the file. */
  readonly isWhole?: boolean;
};

/** UTF-16 units of text in all pieces. */
export const charsIn = (evidence: readonly Pick<EvidenceBlock, "text">[]): number =>
  evidence.reduce((total, { text }) => total + text.length, 0);

/**
 * The task in structured form, beside the rendered messages: a language model reads the messages, the built-in model without
 * language reads this. Both say the same.
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
  | {
      readonly purpose: "extract";
      /** The preset that a model without language knows; null for a schema of the user. */
      readonly preset: Preset | null;
      /** For preset `classify`; empty otherwise. */
      readonly labels: readonly string[];
      /** Texts with their known label; empty without `--examples`. */
      readonly examples: readonly LabelExample[];
      readonly evidence: readonly EvidenceBlock[];
    }
  | {
      readonly purpose: "digest";
      readonly evidence: readonly EvidenceBlock[];
      readonly lines: number;
    }
  | {
      readonly purpose: "investigate";
      readonly question: string;
      /** Steps that were made before. */
      readonly steps: number;
    }
  | { readonly purpose: "chat" };

/** A tool as a host's own protocol describes it: its arguments are a JSON schema. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
};

/** A tool call by the host's own protocol, as it arrived: nothing in it is checked yet. */
export type NativeCall = { readonly name: string; readonly args: unknown };

export type ModelRequest = {
  readonly messages: readonly Message[];
  readonly task: ModelTask;
  /** The most tokens of the reply. */
  readonly maxTokens: number;
  /** For the whole call: waiting, loading, reading, writing. If the host shows when it begins, for each of the two phases. */
  readonly timeoutMs: number;
  /** Overrides the configured temperature. */
  readonly temperature?: number;
  /** Overrides the configured seed. */
  readonly seed?: number;
  /** 0 to 1: samples only from the likeliest tokens with this total probability. Default: the host's. */
  readonly topP?: number;
  /** The reply ends before the first occurrence of one of them. */
  readonly stop?: readonly string[];
  /** Constrains the reply to JSON, or to a JSON schema. */
  readonly format?: "json" | Readonly<Record<string, unknown>>;
  /** Tools for the host's own protocol; only for a model whose `facts.toolProtocol` is "native". */
  readonly tools?: readonly Tool[];
  /** Forces the model to call a tool, if its host can enforce that; otherwise it decides itself. */
  readonly toolChoice?: "required";
};

/** The request to a model in a child process. */
export type CompletionRequest = {
  readonly messages: readonly Message[];
  /** The most tokens of the reply. */
  readonly maxTokens: number;
  /** 0: always the likeliest token. */
  readonly temperature: number;
  readonly seed: number;
  readonly topP: number | null;
  readonly stop: readonly string[];
};

type Defaults = { readonly temperature: number; readonly seed: number; readonly limit: number };

/** Fills the open fields of a request from the configuration. */
export const completionOf = (
  { messages, temperature, seed, topP, stop }: ModelRequest,
  defaults: Defaults,
): CompletionRequest => ({
  messages: messages.map(({ role, content }) => ({ role, content })),
  maxTokens: defaults.limit,
  temperature: temperature ?? defaults.temperature,
  seed: seed ?? defaults.seed,
  topP: topP ?? null,
  stop: stop ?? [],
});

/** The thinking of a model before its reply. */
export type Reasoning = {
  /** The text; of a long one only the beginning and the end. */
  readonly text: string;
  /** Characters of the whole thinking. */
  readonly chars: number;
};

export type ModelReply = {
  readonly kind: "reply";
  /** Without reasoning. */
  readonly text: string;
  /** Stored only; no decision uses it. Missing if there was none. */
  readonly reasoning?: Reasoning;
  /** All calls by the host's own protocol, even if no tool was offered. */
  readonly toolCalls: readonly NativeCall[];
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly loadMs: number;
  /**
   * `length`: `maxTokens` cut the reply; `window`: prompt and reply used up the window; `thought`: the model wrote only
   * thinking, whatever ended it.
   */
  readonly doneReason: "stop" | "length" | "window" | "thought";
};

/** The advice for a reply that holds only thinking, which counts as no reply, whatever it contains. */
export const THOUGHT_ALONE =
  "All that it wrote stands in its thinking, and nothing in its reply: turn its thinking off at its host, or raise model.max_tokens.";

/** The facts that a host reports about a model, and the options of every call: stored with each run, enough to repeat it. */
export type ModelFacts = {
  readonly provider: Provider;
  /** A reply takes no time and is the same each time: it needs no slot, and it is computed again instead of stored. */
  readonly isFree: boolean;
  /** Whether the words of a prompt change the reply; a model without language uses only the task. */
  readonly readsPrompts: boolean;
  /** SHA-256 of the weights as the host reports it, 64 hex digits; null if it reports none. */
  readonly digest: string | null;
  readonly quantization: string | null;
  readonly serverVersion: string | null;
  /** Tokens that prompt and reply share: the configured window, at most what the model was trained for; null without one. */
  readonly windowTokens: number | null;
  /** native: the host's own tool calls. schema: text for which the host enforces a JSON schema. text: plain text. */
  readonly toolProtocol: "native" | "schema" | "text";
  /** The host accepts a schema, but this build of the model did not keep to one. */
  readonly ignoresSchemas: boolean;
  /** Options of every call, such as temperature and seed. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
};

/** Facts about a model that no call depends on. */
export type ModelProfile = {
  readonly writes: boolean;
  readonly embeds: boolean;
  /** null: the host does not say. */
  readonly readsPictures: boolean | null;
  /** The most tokens that its window can have; null: the host does not say. */
  readonly largestWindow: number | null;
};

/**
 * A model of any provider. `complete` returns the refusals CONTEXT_OVERFLOW (the prompt was or would be cut) and
 * MODEL_UNSUPPORTED; it throws faults as Failure, and the signal's reason after an abort. If a host could not read the
 * model's tool call it throws ToolCallUnreadable, and for any other unreadable reply ReplyUnreadable.
 */
export type Model = {
  readonly name: string;
  readonly facts: ModelFacts;
  /** Base URL of the chosen host; missing if there is only one host, or none. */
  readonly host?: string;
  /** Missing for a model without a host. */
  readonly profile?: ModelProfile;
  /** How its host counts the tokens of a prompt; missing if the host was not asked. */
  readonly counting?: "chat" | "tokenize" | "none";
  /** Characters of a prompt that certainly fit beside a reply of `maxTokens`; Infinity without a window. */
  promptChars(maxTokens: number): number;
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | Refusal>;
  /** Remembers that a reply did not match its schema, if there is a memory. */
  noteIgnoredSchema?(): Promise<void>;
};

export type ModelRegistry = {
  /**
   * The model with the facts of its host, which are requested once and remembered. Throws Failure MODEL_NOT_FOUND for a
   * name that the host does not have, MODEL_UNREACHABLE if no host answers.
   */
  get(name: string, signal: AbortSignal): Promise<Model>;
};

/** The host could not read what the model wrote, because it does not have the requested form. A second try may. */
export class ReplyUnreadable extends Failure {
  /** The host's error, which only the model may see, because it may contain text of the model. Null if there was none. */
  readonly hostWords: string | null;

  constructor(name: string, hostWords: string | null, cause?: unknown, what = "reply") {
    super("MODEL_OUTPUT_INVALID", `The host could not read the ${what} of "${name}".`, { cause });
    this.hostWords = hostWords;
  }
}

/** The same for a tool call. The text protocol may still work. */
export class ToolCallUnreadable extends ReplyUnreadable {
  constructor(name: string, hostWords: string | null, cause?: unknown) {
    super(name, hostWords, cause, "tool call");
  }
}

/** The literal by which a model reports that the evidence does not answer the question. */
export const DECLINED = "INSUFFICIENT_EVIDENCE";
