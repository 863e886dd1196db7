import { z } from "zod";
import { modelMissing } from "../models/host-failure.ts";
import { ollamaClient } from "../models/ollama-client.ts";
import { askEmbedder, invalidEmbeddings } from "./ask-embedder.ts";
import type { EmbedCall, EmbeddingHost } from "./ask-embedder.ts";
import { normalize } from "./embedder.ts";

const modelsSchema = z.object({
  models: z.array(z.object({ name: z.string(), digest: z.string() })),
});
const replySchema = z.object({ embeddings: z.array(z.array(z.number()).min(1)) });

/**
 * A model of an Ollama host by `/api/embed`, which cuts no text silently. The digest of its weights is its build: pulling
 * another build makes stored vectors outdated, moving the host does not.
 */
export const ollamaEmbeddings = (call: EmbedCall): EmbeddingHost => ({
  host: call.host,
  findBuild: (signal) => findDigest(call, signal),
  embed: (texts, signal) => embedTexts(call, texts, signal),
});

async function findDigest(call: EmbedCall, signal: AbortSignal): Promise<string> {
  const { name, baseUrl, access } = call.host;
  const { models } = await askEmbedder(call, signal, async (until) =>
    modelsSchema.parse(await ollamaClient(baseUrl, until, access).list()),
  );
  const names = [name, `${name}:latest`];
  const found = models.find((model) => names.includes(model.name));
  if (found === undefined) throw modelMissing(call.host);
  return found.digest;
}

async function embedTexts(
  call: EmbedCall,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const { name: model, baseUrl, access } = call.host;
  const { embeddings } = await askEmbedder(call, signal, async (until) =>
    replySchema.parse(
      await ollamaClient(baseUrl, until, access).embed({
        model,
        input: [...texts],
        truncate: false,
      }),
    ),
  );
  if (embeddings.length !== texts.length) throw invalidEmbeddings(call.host);
  return embeddings.map((values) => normalize(Float32Array.from(values)));
}
