/** What the process of a model is told once, before all else. */
export type LoadRequest = {
  readonly kind: "load";
  /** Absolute. */
  readonly folder: string;
  readonly dtype: string;
  readonly device: string;
  readonly pooling: "mean" | "cls";
  /** In tokens. */
  readonly maxLength: number;
};

export type EmbedRequest = { readonly kind: "embed"; readonly texts: readonly string[] };
export type Request = LoadRequest | EmbedRequest;

/** It answers each request once, in order. */
export type Reply =
  | { readonly kind: "ready" }
  | {
      readonly kind: "vectors";
      /** One row a text, as the model gave it: not normalized. */
      readonly values: Float32Array;
      readonly rows: number;
      readonly rssBytes: number;
    }
  /** `message` is about the model and its files while it loads, and never about a text. */
  | {
      readonly kind: "failed";
      readonly why: "no_package" | "no_model" | "no_vectors";
      readonly message: string;
    };
