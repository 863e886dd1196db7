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

/** One numbered piece of evidence, as the prompt shows it; the number is what an answer cites. */
export type EvidenceBlock = {
  readonly number: number;
  readonly path: string;
  readonly title: string | null;
  readonly headingPath: string | null;
  readonly text: string;
  /** Whether it is all of its file: only then a count over it is one over the file. */
  readonly isWhole?: boolean;
};

/** UTF-16 units of text in all pieces. */
export const charsIn = (evidence: readonly Pick<EvidenceBlock, "text">[]): number =>
  evidence.reduce((total, { text }) => total + text.length, 0);

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
  | {
      readonly purpose: "extract";
      /** What a model without language knows how to look for; null for a schema of the user. */
      readonly preset: Preset | null;
      /** Of preset `classify`; none otherwise. */
      readonly labels: readonly string[];
      /** Texts that have one of the labels; none without `--examples`. */
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
      /** Steps that were made so far. */
      readonly steps: number;
    }
  | { readonly purpose: "chat" };

/** A tool as a host's own protocol describes it: its arguments are a JSON schema. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
};

/** A call by a host's own protocol, as it came: nothing of it is checked yet. */
export type NativeCall = { readonly name: string; readonly args: unknown };

export type ModelRequest = {
  readonly messages: readonly Message[];
  readonly task: ModelTask;
  /** At most this many tokens of reply. */
  readonly maxTokens: number;
  /** For the whole call: waiting, loading, reading, writing. Where a host shows when it begins, for each of both. */
  readonly timeoutMs: number;
  /** Overrides the configured temperature. */
  readonly temperature?: number;
  /** Overrides the configured seed. */
  readonly seed?: number;
  /** 0 to 1: only the likeliest tokens of this much probability together. The host's default without it. */
  readonly topP?: number;
  /** The reply ends before the first of them. */
  readonly stop?: readonly string[];
  /** Constrains the reply to JSON, or to a JSON schema. */
  readonly format?: "json" | Readonly<Record<string, unknown>>;
  /** Offered by the host's own protocol; only to a model whose `facts.toolProtocol` is "native". */
  readonly tools?: readonly Tool[];
  /** The model has to call one of them, where its host can see to it; as it likes without it. */
  readonly toolChoice?: "required";
};

/** What a model in a process of ours is asked for. */
export type CompletionRequest = {
  readonly messages: readonly Message[];
  /** Tokens of reply. */
  readonly maxTokens: number;
  /** 0: always the likeliest token. */
  readonly temperature: number;
  readonly seed: number;
  readonly topP: number | null;
  readonly stop: readonly string[];
};

type Defaults = { readonly temperature: number; readonly seed: number; readonly limit: number };

/** What a request leaves open is as it is configured. */
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

/** What a model thought before it replied. */
export type Reasoning = {
  /** Of a long one the beginning and the end. */
  readonly text: string;
  /** Characters of all of it. */
  readonly chars: number;
};

export type ModelReply = {
  readonly kind: "reply";
  /** Without reasoning. */
  readonly text: string;
  /** Nothing goes by it. Missing where none came. */
  readonly reasoning?: Reasoning;
  /** Calls by the host's own protocol, as many as came: also where no tool was offered. */
  readonly toolCalls: readonly NativeCall[];
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly loadMs: number;
  /**
   * `length`: the reply was cut by `maxTokens`; `window`: prompt and reply used up the window; `thought`: all that the
   * model wrote is thinking, whatever ended it.
   */
  readonly doneReason: "stop" | "length" | "window" | "thought";
};

/** What is to be done where all that a model wrote is thinking, which is no reply, whatever stands in it. */
export const THOUGHT_ALONE =
  "All that it wrote stands in its thinking, and nothing in its reply: turn its thinking off at its host, or raise model.max_tokens.";

/** What a host says of a model, and what every call sends it: kept with each run, and enough to repeat it. */
export type ModelFacts = {
  readonly provider: Provider;
  /** A reply takes no time and is the same each time: it is asked for at once, and again rather than kept. */
  readonly isFree: boolean;
  /** Whether the words of a prompt change what it says; one without language goes by the task alone. */
  readonly readsPrompts: boolean;
  /** SHA-256 of the weights as the host reports it, 64 hex; null where it reports none. */
  readonly digest: string | null;
  readonly quantization: string | null;
  readonly serverVersion: string | null;
  /** Tokens that prompt and reply share: the configured window, at most what the model was trained for; null without one. */
  readonly windowTokens: number | null;
  /** native: the host's own tool calls. schema: text held to a JSON schema by the host. text: text alone. */
  readonly toolProtocol: "native" | "schema" | "text";
  /** The host takes a schema, and this build of the model did not keep to one. */
  readonly ignoresSchemas: boolean;
  /** Options of every call, such as temperature and seed. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
};

/** What a host says of a model that no call depends on. */
export type ModelProfile = {
  readonly writes: boolean;
  readonly embeds: boolean;
  /** null: its host does not say. */
  readonly readsPictures: boolean | null;
  /** Tokens that its window can have at most; null: its host does not say. */
  readonly largestWindow: number | null;
};

/**
 * Everything that can answer. Refusals of `complete` are CONTEXT_OVERFLOW (the prompt was or would be cut)
 * and MODEL_UNSUPPORTED; faults are thrown as Failure, and an abort throws the signal's reason. A host that
 * could not read the model's tool call throws ToolCallUnreadable, and one that could not read its reply ReplyUnreadable.
 */
export type Model = {
  readonly name: string;
  readonly facts: ModelFacts;
  /** Base URL of the host that was chosen for it; missing where there is one host, or none. */
  readonly host?: string;
  /** Missing of a model without a host. */
  readonly profile?: ModelProfile;
  /** How its host counts the tokens of a prompt; missing where that is not asked. */
  readonly counting?: "chat" | "tokenize" | "none";
  /** Characters of prompt that surely fit beside a reply of `maxTokens`; Infinity without a window. */
  promptChars(maxTokens: number): number;
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | Refusal>;
  /** Remembers that a reply was not of the schema that it was asked for under, where somebody remembers it. */
  noteIgnoredSchema?(): Promise<void>;
};

export type ModelRegistry = {
  /**
   * The model, with what its host says of it; asked once and remembered. Throws Failure MODEL_NOT_FOUND for a name
   * that the host does not have, MODEL_UNREACHABLE where no host answers.
   */
  get(name: string, signal: AbortSignal): Promise<Model>;
};

/** The host gave up on what the model wrote: it is not of the form that was asked for. Asked again, it may be. */
export class ReplyUnreadable extends Failure {
  /** What the host said of it, for the model alone: its words may hold what the model wrote. Null where it said nothing. */
  readonly hostWords: string | null;

  constructor(name: string, hostWords: string | null, cause?: unknown, what = "reply") {
    super("MODEL_OUTPUT_INVALID", `The host could not read the ${what} of "${name}".`, { cause });
    this.hostWords = hostWords;
  }
}

/** It gave up on a tool call. The text protocol may still work. */
export class ToolCallUnreadable extends ReplyUnreadable {
  constructor(name: string, hostWords: string | null, cause?: unknown) {
    super(name, hostWords, cause, "tool call");
  }
}

/** The literal with which a model says that the evidence does not answer. */
export const DECLINED = "INSUFFICIENT_EVIDENCE";
