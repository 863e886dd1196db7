import { Ollama } from "ollama";
import { z } from "zod";
import type { ConfigValues } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { ollamaFailure } from "../model/ollama-failure.ts";
import { ollamaFetch } from "../model/ollama-fetch.ts";
import type { EmbedderPlace } from "./create-embedder.ts";
import type { Embedder } from "./embedder.ts";
import { normalize } from "./normalize.ts";
import { signatureOf } from "./signature.ts";

type OllamaEmbedSettings = Pick<ConfigValues["embed"], "model_id" | "base_url">;

const START_TIMEOUT_MS = 30_000;
const modelsSchema = z.object({
  models: z.array(z.object({ name: z.string(), digest: z.string() })),
});
const replySchema = z.object({ embeddings: z.array(z.array(z.number()).min(1)) });

/**
 * An embedding model of an Ollama host by `/api/embed`, nothing cut. The digest of the model is in the signature:
 * pulling another build of it makes the stored vectors outdated, moving the host does not.
 */
export async function createOllamaEmbedder(
  { model_id, base_url }: OllamaEmbedSettings,
  { modelBaseUrl }: Pick<EmbedderPlace, "modelBaseUrl">,
): Promise<Embedder> {
  const baseUrl = base_url ?? modelBaseUrl;
  if (baseUrl === null) {
    throw new Failure("CONFIG_ERROR", "embed.provider is ollama: set embed.base_url to its host.");
  }
  const host = { model: model_id, baseUrl };
  const signal = AbortSignal.timeout(START_TIMEOUT_MS);
  const digest = await findDigest(host, signal);
  const [probe] = await embedTexts(host, ["dimensions"], signal);
  const dims = probe?.length ?? 0;
  return {
    id: model_id,
    dims,
    signature: signatureOf({ embedder: "ollama-1", model: model_id, digest, dims }),
    defaultWeight: 1,
    embed: (texts, until) => embedTexts(host, texts, until),
  };
}

type Host = { readonly model: string; readonly baseUrl: string };

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
  return embeddings.map((values) => normalize(Float32Array.from(values)));
}

async function ask<T>(
  host: Host,
  signal: AbortSignal,
  call: (client: Ollama) => Promise<T>,
): Promise<T> {
  try {
    return await call(new Ollama({ host: host.baseUrl, fetch: ollamaFetch(signal) }));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof z.ZodError) throw invalidReply(host, error);
    const refusal = ollamaFailure(error, host.model, host.baseUrl);
    throw new Failure(
      "CONFIG_ERROR",
      `"${host.model}" at ${host.baseUrl} can't embed the chunks (${refusal.code}): lower ` +
        "index.chunking.max_chars, or choose an embedding model with a larger window.",
      { cause: error },
    );
  }
}

const invalidReply = ({ model, baseUrl }: Host, cause: z.ZodError): Failure =>
  new Failure("MODEL_OUTPUT_INVALID", `"${model}" at ${baseUrl} gave no list of vectors.`, {
    cause,
  });
