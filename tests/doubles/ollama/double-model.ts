export type DoubleMessage = { readonly role: string; readonly content: string };

/** What a model of the double does in place of a plain text. */
export type Script = {
  readonly text: string;
  readonly thinking?: string;
  /** The reply starts only when this has resolved: a slow model without a sleep. */
  readonly after?: Promise<unknown>;
  /** How the reply ends; `done` unless it is said otherwise. */
  readonly ending?: "done" | "no_final_line" | "error_line" | "broken_line" | "socket_dies";
  /** Ends the request with this status before anything is sent. */
  readonly failure?: { readonly status: number; readonly error: string };
  /** Reports this count in place of the true one; 0 leaves it out. */
  readonly promptEvalCount?: number;
};

export type DoubleModel = {
  /** With or without a tag. */
  readonly name: string;
  readonly digest?: string;
  /** Trained length in tokens: the window is never larger. */
  readonly contextLength?: number;
  readonly capabilities?: readonly string[];
  /** `json` is what runners say that run the GGUF chat template. */
  readonly overflowText?: "plain" | "json";
  /** Gets the messages as the model sees them, after any cut. */
  readonly respond?: (
    messages: readonly DoubleMessage[],
    request: Readonly<Record<string, unknown>>,
  ) => string | Script;
};

/** Names match without regard to case; a missing tag means `latest`. */
export function findModel(models: readonly DoubleModel[], name: string): DoubleModel | undefined {
  return models.find((model) => fullName(model.name) === fullName(name));
}

export const fullName = (name: string): string =>
  (name.includes(":") ? name : `${name}:latest`).toLowerCase();
