/** The part of node-llama-cpp that is used. The package is installed by the user, so its types are not there. */
export type Library = {
  readonly getLlama: (options: {
    readonly gpu: false | "auto" | "cuda" | "vulkan" | "metal";
    readonly build: "never";
    readonly progressLogs: boolean;
    readonly logLevel: string;
  }) => Promise<Llama>;
  readonly LlamaChat: new (options: { readonly contextSequence: Sequence }) => Chat;
  readonly LlamaLogLevel: { readonly disabled: string };
  readonly GgufFileType: Readonly<Record<number, string>>;
};

export type Llama = {
  readonly gpu: false | string;
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>;
  getGrammarFor(kind: "json"): Promise<Grammar>;
  createGrammarForJsonSchema(schema: object): Promise<Grammar>;
};

export type LlamaModel = {
  readonly trainContextSize: number;
  readonly tokenizer: Tokenizer;
  /** A text is a plain one: no part of it is taken for a special token. */
  tokenize(text: string): readonly number[];
  readonly fileInfo: {
    readonly metadata: { readonly general: { readonly file_type?: number } };
  };
  createContext(options: {
    readonly contextSize: number;
    readonly sequences: number;
    readonly threads?: number;
  }): Promise<{ getSequence(): Sequence }>;
  createEmbeddingContext(options: {
    readonly contextSize: number;
    /** Tokens of one step: a text that takes several is not seen as a whole. */
    readonly batchSize: number;
    readonly threads?: number;
  }): Promise<EmbeddingContext>;
};

/** It adds the tokens with which a text begins and ends for the model, and takes one text after another. */
export type EmbeddingContext = {
  calculateInputLength(tokens: readonly number[]): number;
  getEmbeddingFor(tokens: readonly number[]): Promise<{ readonly vector: readonly number[] }>;
};

/** Opaque: they are handed back to the library. */
export type Grammar = object;
type Tokenizer = object;

export type Sequence = {
  readonly tokenMeter: {
    getState(): object;
    diff(before: object): { readonly usedOutputTokens: number };
  };
};

/** A text is a plain one: no part of it is taken for a special token. */
export type ChatMessage =
  | { readonly type: "system" | "user"; readonly text: string }
  | { readonly type: "model"; readonly response: readonly string[] };

export type Response = {
  readonly response: string;
  readonly fullResponse: readonly (
    string | { readonly segmentType?: string; readonly text: string }
  )[];
  readonly metadata: { readonly stopReason: string };
};

type Chat = {
  readonly chatWrapper: {
    generateContextState(of: { readonly chatHistory: readonly ChatMessage[] }): {
      readonly contextText: { tokenize(tokenizer: Tokenizer): readonly number[] };
    };
  };
  generateResponse(
    history: readonly ChatMessage[],
    options: {
      readonly signal: AbortSignal;
      readonly maxTokens: number;
      readonly temperature: number;
      readonly seed: number;
      readonly topP?: number;
      readonly customStopTriggers?: readonly string[];
      readonly grammar?: Grammar;
      readonly budgets: { readonly thoughtTokens: number };
    },
  ): Promise<Response>;
  dispose(): void;
};
