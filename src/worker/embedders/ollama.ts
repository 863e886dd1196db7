import { z } from "zod";
import type { ConfigValues } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { withDeadline } from "../models/deadline.ts";
import { hostFailure } from "../models/host-failure.ts";
import { ollamaClient } from "../models/ollama-client.ts";
import { ollamaHost } from "../models/ollama-probe.ts";
import { normalize, signatureOf, splitBatches } from "./embedder.ts";
import type { Embedder, EmbedderPlace } from "./embedder.ts";

type OllamaEmbedSettings = Pick<
  ConfigValues["embed"],
  "model_id" | "base_url" | "batch_size" | "timeout_s"
>;

const START_TIMEOUT_MS = 30_000;
const CHARS_OF_A_BATCH = 512 * 1_024;
const modelsSchema = z.object({
  models: z.array(z.object({ name: z.string(), digest: z.string() })),
});
const replySchema = z.object({ embeddings: z.array(z.array(z.number()).min(1)) });

/**
 * An embedding model of an Ollama host by `/api/embed`, which cuts nothing unseen: a text beyond the model's window is
 * cut by us, and counted. The digest of the model is in the signature: pulling another build of it makes the stored
 * vectors outdated, moving the host does not.
 */
export async function createOllamaEmbedder(
  { model_id, base_url, batch_size, timeout_s }: OllamaEmbedSettings,
  { modelBaseUrl }: Pick<EmbedderPlace, "modelBaseUrl">,
): Promise<Embedder> {
  const baseUrl = base_url ?? modelBaseUrl;
  if (baseUrl === null) {
    throw new Failure("CONFIG_ERROR", "embed.provider is ollama: set embed.base_url to its host.");
  }
  const host = { model: model_id, baseUrl, timeoutMs: timeout_s * 1_000 };
  const starting = AbortSignal.timeout(START_TIMEOUT_MS);
  const digest = await findDigest(host, starting);
  const [probe] = await embedTexts(host, ["dimensions"], starting);
  const dims = probe?.length ?? 0;
  const limits = { texts: batch_size, chars: CHARS_OF_A_BATCH };
  return {
    id: model_id,
    dims,
    signature: signatureOf({ embedder: "ollama-2", model: model_id, digest, dims }),
    defaultWeight: 1,
    async embed(texts, signal, onCut = () => undefined) {
      await refuseOtherBuild(host, digest, signal);
      const embed = (batch: readonly string[]) => embedTexts(host, batch, signal);
      const vectors: Float32Array[] = [];
      for (const batch of splitBatches(texts, limits)) {
        vectors.push(...(await embedFitting(batch, { embed, dims, onCut }).catch(explain(host))));
      }
      return vectors;
    },
  };
}

type EmbeddingHost = {
  readonly model: string;
  readonly baseUrl: string;
  readonly timeoutMs: number;
};

async function findDigest(host: EmbeddingHost, signal: AbortSignal): Promise<string> {
  const { models } = await ask(host, signal, async (client) =>
    modelsSchema.parse(await client.list()),
  );
  const names = [host.model, `${host.model}:latest`];
  const found = models.find(({ name }) => names.includes(name));
  if (found !== undefined) return found.digest;
  throw new Failure(
    "MODEL_NOT_FOUND",
    `${host.baseUrl} has no model "${host.model}". Run: ollama pull ${host.model}`,
  );
}

/** The host may have pulled the model again since: the vectors of two builds would stand under one signature. */
async function refuseOtherBuild(
  host: EmbeddingHost,
  digest: string,
  signal: AbortSignal,
): Promise<void> {
  if ((await findDigest(host, signal)) === digest) return;
  throw new Failure(
    "EMBED_DRIFT",
    `${host.baseUrl} has another build of "${host.model}" than when this process began. Start the worker again, then ` +
      "run: nightdesk embed --rebuild",
  );
}

async function embedTexts(
  host: EmbeddingHost,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const { embeddings } = await ask(host, signal, async (client) =>
    replySchema.parse(
      await client.embed({ model: host.model, input: [...texts], truncate: false }),
    ),
  );
  if (embeddings.length !== texts.length) throw invalidEmbeddings(host);
  return embeddings.map((values) => normalize(Float32Array.from(values)));
}

async function ask<T>(
  host: EmbeddingHost,
  signal: AbortSignal,
  call: (client: ReturnType<typeof ollamaClient>) => Promise<T>,
): Promise<T> {
  const limits = { signal, timeoutMs: host.timeoutMs, late: () => tooSlow(host) };
  try {
    return await withDeadline(limits, (until) => call(ollamaClient(host.baseUrl, until)));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof z.ZodError) throw invalidEmbeddings(host, error);
    const refusal = ollamaFailure(error, host.model, host.baseUrl);
    if (refusal.code === "CONTEXT_OVERFLOW") throw new TextTooLong(refusal.message);
    throw noEmbedder(host, refusal.code, error);
  }
}

const noEmbedder = ({ model, baseUrl }: EmbeddingHost, code: string, cause: unknown): Failure =>
  new Failure(
    "CONFIG_ERROR",
    `"${model}" at ${baseUrl} can't embed (${code}): set embed.model_id to an embedding model.`,
    { cause },
  );

const tooSlow = ({ model, baseUrl, timeoutMs }: EmbeddingHost): Failure =>
  new Failure(
    "MODEL_TIMEOUT",
    `"${model}" at ${baseUrl} did not answer within ${timeoutMs / 1_000} s. Raise embed.timeout_s, or lower ` +
      "embed.batch_size.",
  );

const invalidEmbeddings = ({ model, baseUrl }: EmbeddingHost, cause?: z.ZodError): Failure =>
  new Failure("MODEL_OUTPUT_INVALID", `"${model}" at ${baseUrl} gave no list of vectors.`, {
    ...(cause === undefined ? {} : { cause }),
  });

/** What refuses a few words can't be helped by cutting. */
const explain = (host: EmbeddingHost) => (error: unknown) => {
  throw error instanceof TextTooLong ? noEmbedder(host, "CONTEXT_OVERFLOW", error) : error;
};

/** The host refused a batch because one of its texts does not fit the model's window; it does not say which. */
export class TextTooLong extends Error {
  override readonly name = "TextTooLong";
}

type FittingOptions = {
  /** @throws TextTooLong */
  readonly embed: (texts: readonly string[]) => Promise<Float32Array[]>;
  /** Of the zeros that stand for a blank text, which a host leaves out of its reply. */
  readonly dims: number;
  readonly onCut: () => void;
};

/** No window of today holds more; what is longer would take many tries to cut down. */
const MOST_CHARS = 200_000;
const SHRINK_BY = 0.7;

/** A text of so few characters fits any window: the host means something else. */
const LEAST_CHARS = 8;

/**
 * One vector a text, in order. A batch that is refused for its length is halved until the text is found, and that text
 * loses its end, three tenths at a time, until it is taken: a vector of the beginning finds more than none.
 * @throws TextTooLong when even a few words are refused
 */
export async function embedFitting(
  texts: readonly string[],
  options: FittingOptions,
): Promise<Float32Array[]> {
  const filled = texts.filter(isFilled);
  const vectors = filled.length === 0 ? [] : await embedHalves(filled, options);
  let next = 0;
  return texts.map((text) => {
    const vector = isFilled(text) ? vectors[next++] : new Float32Array(options.dims);
    if (vector === undefined) throw new Error("there are fewer vectors than texts");
    return vector;
  });
}

const isFilled = (text: string): boolean => text.trim() !== "";

async function embedHalves(
  texts: readonly string[],
  options: FittingOptions,
): Promise<Float32Array[]> {
  try {
    return await options.embed(texts);
  } catch (error) {
    if (!(error instanceof TextTooLong)) throw error;
    const [only, ...others] = texts;
    if (only === undefined) throw error;
    if (others.length === 0) return [await embedBeginning(only, options, error)];
  }
  const middle = Math.ceil(texts.length / 2);
  const first = await embedHalves(texts.slice(0, middle), options);
  return first.concat(await embedHalves(texts.slice(middle), options));
}

async function embedBeginning(
  text: string,
  { embed, onCut }: FittingOptions,
  refused: TextTooLong,
): Promise<Float32Array> {
  let kept = Math.min(text.length, MOST_CHARS) * SHRINK_BY;
  for (; kept >= LEAST_CHARS; kept *= SHRINK_BY) {
    try {
      const [vector] = await embed([beginningOf(text, Math.floor(kept))]);
      if (vector === undefined) break;
      onCut();
      return vector;
    } catch (error) {
      if (!(error instanceof TextTooLong)) throw error;
    }
  }
  throw refused;
}

/** Not between the two halves of a character. */
function beginningOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** Turns what a call of an Ollama host threw into one of ours, as hostFailure says. */
const ollamaFailure = (error: unknown, name: string, baseUrl: string): Refusal =>
  hostFailure(error, ollamaHost({ name, baseUrl }));
