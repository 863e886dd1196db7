import { z } from "zod";
import { Failure } from "../../shared/failure.ts";
import { withDeadline } from "../models/deadline.ts";
import { hostFailure } from "../models/host-failure.ts";
import type { ModelHost } from "../models/host-failure.ts";
import { TextTooLong } from "./fit-texts.ts";

/** An embedding model at one host, behind the protocol of that host. */
export type EmbeddingHost = {
  readonly host: ModelHost;
  /**
   * The build of the model as the host reports it; null if it reports none.
   * @throws Failure MODEL_NOT_FOUND, MODEL_UNREACHABLE, MODEL_TIMEOUT
   */
  findBuild(signal: AbortSignal): Promise<string | null>;
  /**
   * One vector per text, of unit length.
   * @throws TextTooLong; Failure CONFIG_ERROR for a model that can't embed, and what findBuild throws
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
};

/** The host of a call, and its time limit. */
export type EmbedCall = { readonly host: ModelHost; readonly timeoutMs: number };

/**
 * Makes one call to a host that embeds. Errors are reworded by hostFailure; a reply that `call` can't parse becomes
 * MODEL_OUTPUT_INVALID.
 */
export async function askEmbedder<T>(
  { host, timeoutMs }: EmbedCall,
  signal: AbortSignal,
  call: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = () => tooSlow(host, timeoutMs);
  try {
    return await withDeadline({ signal, timeoutMs, late }, call);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof z.ZodError) throw invalidEmbeddings(host, error);
    if (error instanceof TextTooLong) throw error;
    const { code, message } = hostFailure(error, host);
    if (code === "CONTEXT_OVERFLOW") throw new TextTooLong(message);
    throw cannotEmbed(host, `${code}: ${message}`, error);
  }
}

/** The failure of a model that answers, but makes no vectors. */
export const cannotEmbed = ({ name, baseUrl }: ModelHost, why: string, cause: unknown): Failure =>
  new Failure(
    "CONFIG_ERROR",
    `"${name}" at ${baseUrl} can't embed (${why}). Set embed.model_id to an embedding model, and start its server so that ` +
      "it embeds.",
    { cause },
  );

const tooSlow = ({ name, baseUrl }: ModelHost, timeoutMs: number): Failure =>
  new Failure(
    "MODEL_TIMEOUT",
    `"${name}" at ${baseUrl} did not answer within ${timeoutMs / 1_000} s. Raise embed.timeout_s, or lower ` +
      "embed.batch_size.",
  );

export const invalidEmbeddings = ({ name, baseUrl }: ModelHost, cause?: z.ZodError): Failure =>
  new Failure(
    "MODEL_OUTPUT_INVALID",
    `"${name}" at ${baseUrl} gave no list of vectors, one of the same length for each text. Look at the host's log, or ` +
      "set embed.model_id to another model.",
    { ...(cause === undefined ? {} : { cause }) },
  );
