import { Ollama } from "ollama";
import { z } from "zod";
import type { ConfigValues } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { withDeadline } from "../model/call-deadline.ts";
import { ollamaFailure } from "../model/ollama-failure.ts";
import { ollamaFetch } from "../model/ollama-fetch.ts";
import type { EmbedderPlace } from "./create-embedder.ts";
import { embedFitting, TextTooLong } from "./embed-fitting.ts";
import type { Embedder } from "./embedder.ts";
import { normalize } from "./normalize.ts";
import { signatureOf } from "./signature.ts";
import { splitBatches } from "./split-batches.ts";

export type OllamaEmbedSettings = Pick<
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

type Host = { readonly model: string; readonly baseUrl: string; readonly timeoutMs: number };

async function findDigest(host: Host, signal: AbortSignal): Promise<string> {
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
async function refuseOtherBuild(host: Host, digest: string, signal: AbortSignal): Promise<void> {
  if ((await findDigest(host, signal)) === digest) return;
  throw new Failure(
    "EMBED_DRIFT",
    `${host.baseUrl} has another build of "${host.model}" than when this process began. Start the worker again, then ` +
      "run: nightdesk embed --rebuild",
  );
}

async function embedTexts(
  host: Host,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const { embeddings } = await ask(host, signal, async (client) =>
    replySchema.parse(
      await client.embed({ model: host.model, input: [...texts], truncate: false }),
    ),
  );
  if (embeddings.length !== texts.length) throw invalidReply(host);
  return embeddings.map((values) => normalize(Float32Array.from(values)));
}

async function ask<T>(
  host: Host,
  signal: AbortSignal,
  call: (client: Ollama) => Promise<T>,
): Promise<T> {
  const limits = { signal, timeoutMs: host.timeoutMs, late: () => tooSlow(host) };
  try {
    return await withDeadline(limits, (until) =>
      call(new Ollama({ host: host.baseUrl, fetch: ollamaFetch(until) })),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof z.ZodError) throw invalidReply(host, error);
    const refusal = ollamaFailure(error, host.model, host.baseUrl);
    if (refusal.code === "CONTEXT_OVERFLOW") throw new TextTooLong(refusal.message);
    throw noEmbedder(host, refusal.code, error);
  }
}

const noEmbedder = ({ model, baseUrl }: Host, code: string, cause: unknown): Failure =>
  new Failure(
    "CONFIG_ERROR",
    `"${model}" at ${baseUrl} can't embed (${code}): set embed.model_id to an embedding model.`,
    { cause },
  );

const tooSlow = ({ model, baseUrl, timeoutMs }: Host): Failure =>
  new Failure(
    "MODEL_TIMEOUT",
    `"${model}" at ${baseUrl} did not answer within ${timeoutMs / 1_000} s. Raise embed.timeout_s, or lower ` +
      "embed.batch_size.",
  );

const invalidReply = ({ model, baseUrl }: Host, cause?: z.ZodError): Failure =>
  new Failure("MODEL_OUTPUT_INVALID", `"${model}" at ${baseUrl} gave no list of vectors.`, {
    ...(cause === undefined ? {} : { cause }),
  });

/** What refuses a few words can't be helped by cutting. */
const explain = (host: Host) => (error: unknown) => {
  throw error instanceof TextTooLong ? noEmbedder(host, "CONTEXT_OVERFLOW", error) : error;
};
