import type { GpuKind } from "../../../shared/providers.ts";
import type { CompletionRequest } from "../model.ts";

/** What the process of a model is told once, before all else. */
export type LoadRequest = {
  readonly kind: "load";
  /** Absolute path of the library's module. */
  readonly library: string;
  /** Absolute path of the GGUF file; null to try the runtime alone. */
  readonly file: string | null;
  /** What the model is asked for: each takes a context of its own kind. */
  readonly task: "complete" | "embed";
  /** Tokens of the window that each call, or each text, has for itself, at most what the model was trained for. */
  readonly windowTokens: number;
  /** Calls at once. */
  readonly parallel: number;
  readonly gpu: GpuKind;
  readonly threads: number | null;
};

export type CompleteRequest = CompletionRequest & {
  readonly kind: "complete";
  readonly id: number;
  /** The reply is held to JSON, or to a schema that the library's grammar can express; null to neither. */
  readonly format: "json" | Readonly<Record<string, unknown>> | null;
};

export type EmbedRequest = {
  readonly kind: "embed";
  readonly id: number;
  readonly texts: readonly string[];
};

export type CallRequest = CompleteRequest | EmbedRequest;
export type Request = LoadRequest | CallRequest | { readonly kind: "abort"; readonly id: number };

export type LoadReply =
  | {
      readonly kind: "ready";
      /** What it calculates on: cuda, vulkan, metal, or cpu. */
      readonly processor: string;
      /** Null where no file was to be loaded. */
      readonly model: {
        readonly windowTokens: number;
        /** As llama.cpp names it, such as Q4_K_M; null where the file does not say. */
        readonly quantization: string | null;
      } | null;
    }
  | {
      readonly kind: "not_ready";
      readonly why: "no_runtime" | "no_model" | "no_memory";
      /** About the runtime, the model and its file; never about a text. */
      readonly message: string;
    };

/** Each call gets `started`, when it is its turn, and one of the others. */
export type CallReply = { readonly id: number } & (
  | { readonly kind: "started" }
  | {
      readonly kind: "completed";
      readonly text: string;
      readonly reasoning: string;
      readonly promptTokens: number;
      readonly completionTokens: number;
      readonly finish: "stop" | "length";
    }
  | {
      readonly kind: "embedded";
      /** One row a text, as the model gave it: not of unit length. */
      readonly values: Float32Array;
    }
  /** What the prompt, or the first text that does not fit, takes with the tokens around it. Nothing was calculated. */
  | { readonly kind: "too_long"; readonly tokens: number }
  | { readonly kind: "aborted" }
  /** The library's name of the error alone: its words may repeat the prompt. */
  | { readonly kind: "failed"; readonly error: string }
);

export type Reply = LoadReply | CallReply;
