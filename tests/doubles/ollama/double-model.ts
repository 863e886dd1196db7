export type DoubleMessage = { readonly role: string; readonly content: string };

/** What a model of the double does in place of a plain text. */
export type Script = {
  readonly text: string;
  readonly thinking?: string;
  /** Calls in the host's own protocol; a text in place of the arguments is sent as it stands. */
  readonly toolCalls?: readonly { readonly name: string; readonly args: unknown }[];
  /** Where an Ollama puts them: templates give them a line of their own, GGUF templates the last line. */
  readonly toolCallsIn?: "own_line" | "last_line";
  /** The reply starts only when this has resolved, before any header: a slow model without a sleep. */
  readonly after?: Promise<unknown>;
  /** After two words nothing more is sent until this has resolved. */
  readonly pause?: Promise<unknown>;
  /** How the reply ends; `done` unless it is said otherwise. */
  readonly ending?: "done" | "no_final_line" | "error_line" | "broken_line" | "socket_dies";
  /** The words of `error_line`. */
  readonly errorText?: string;
  /** Ends the request with this status before anything is sent. */
  readonly failure?: { readonly status: number; readonly error: string };
  /** Sends each byte in a chunk of its own. */
  readonly write?: "whole" | "bytes";
  /** Laid over the metrics, or over the usage, of the last line. */
  readonly metrics?: Readonly<Record<string, unknown>>;
  /** Reports this count in place of the true one; 0 leaves it out. */
  readonly promptEvalCount?: number;
};

export type DoubleModel = {
  /** With or without a tag. */
  readonly name: string;
  readonly digest?: string;
  /** Trained length in tokens: the window is never larger. */
  readonly contextLength?: number;
  /** null: a host before v0.6.4, which says none. */
  readonly capabilities?: readonly string[] | null;
  readonly quantization?: string;
  readonly family?: string;
  /** `json` is what runners say that run the GGUF chat template. */
  readonly overflowText?: "plain" | "json";
  /** Gets the messages as the model sees them, after any cut. */
  readonly respond?: (
    messages: readonly DoubleMessage[],
    request: Readonly<Record<string, unknown>>,
  ) => string | Script;
};

/** What a model can do, said or not. */
export const capabilitiesOf = ({ capabilities }: DoubleModel): readonly string[] =>
  capabilities ?? ["completion"];

/** A script's text and the rest of it, for messages as the model sees them. */
export function scriptOf(
  { respond }: DoubleModel,
  messages: readonly DoubleMessage[],
  request: Readonly<Record<string, unknown>>,
): Script {
  const answer = respond?.(messages, request) ?? "ok";
  return typeof answer === "string" ? { text: answer } : answer;
}

/** Names match without regard to case; a missing tag means `latest`. */
export function findModel(models: readonly DoubleModel[], name: string): DoubleModel | undefined {
  return models.find((model) => fullName(model.name) === fullName(name));
}

export const fullName = (name: string): string =>
  (name.includes(":") ? name : `${name}:latest`).toLowerCase();
