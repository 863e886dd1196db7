import { z } from "zod";
import { parseJson } from "../../shared/schema/json-value.ts";
import { askRoute } from "../models/ask-route.ts";
import { modelMissing, saysModelMissing } from "../models/host-failure.ts";
import { askHost, HostError, readText, wireAt } from "../models/host-request.ts";
import type { Wire } from "../models/host-request.ts";
import { findListedModel } from "../models/openai-probe.ts";
import { askEmbedder, cannotEmbed, invalidEmbeddings } from "./ask-embedder.ts";
import type { EmbedCall, EmbeddingHost } from "./ask-embedder.ts";
import { digestOf, normalize } from "./embedder.ts";
import { TextTooLong } from "./fit-texts.ts";

const replySchema = z.object({
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()).min(1) })),
});

/**
 * A model of a host by `/v1/embeddings`. `dimensions` is never sent, because llama.cpp ignores it silently; vectors are
 * shortened here if that is configured.
 */
export const openAiEmbeddings = (call: EmbedCall): EmbeddingHost => ({
  host: call.host,
  findBuild: (signal) => findBuild(call, signal),
  embed: (texts, signal) => embedTexts(call, texts, signal),
});

async function findBuild(call: EmbedCall, signal: AbortSignal): Promise<string | null> {
  const { name, baseUrl, access } = call.host;
  const listed = await askEmbedder(call, signal, async (until) => {
    const models = await askRoute(`${baseUrl}/v1/models`, null, until, access);
    if (models === null) throw new HostError(404, "it lists no models");
    return findListedModel(models, name);
  });
  if (listed === undefined) throw modelMissing(call.host);
  return weightsOf(wireAt(listed, "meta"));
}

/** A digest of what llama.cpp reports about the weights; no server of this protocol reports a digest of them. */
function weightsOf(meta: Wire | null): string | null {
  const facts = ["n_params", "n_vocab", "n_embd", "size"].flatMap((key) => {
    const value = meta?.[key];
    return typeof value === "number" ? [[key, value] as const] : [];
  });
  return facts.length === 0 ? null : digestOf(Object.fromEntries(facts));
}

async function embedTexts(
  call: EmbedCall,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const { name: model, baseUrl, access } = call.host;
  const json = JSON.stringify({ model, input: texts, encoding_format: "float" });
  const { data } = await askEmbedder(call, signal, async (until) => {
    const response = await askHost(`${baseUrl}/v1/embeddings`, json, until, access).catch(
      (error: unknown) => {
        throw explainStatus(error, call);
      },
    );
    return replySchema.parse(parseJson(await readText(response)));
  });
  const vectors = [...data].sort((one, other) => one.index - other.index);
  if (vectors.length !== texts.length || vectors.some(({ index }, at) => index !== at)) {
    throw invalidEmbeddings(call.host);
  }
  return vectors.map(({ embedding }) => normalize(Float32Array.from(embedding)));
}

/** Interprets statuses that have a special meaning on this route. */
function explainStatus(error: unknown, { host }: EmbedCall): unknown {
  if (!(error instanceof HostError)) return error;
  if (error.status === 413) return new TextTooLong(error.message);
  const hasNoRoute = error.status === 404 || error.status === 405;
  if (!hasNoRoute || saysModelMissing(error.message)) return error;
  return cannotEmbed(host, "it has no /v1/embeddings", error);
}
