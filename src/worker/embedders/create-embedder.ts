import type { ConfigValues } from "../../shared/config/schema.ts";
import type { Embedder, EmbedderPlace } from "./embedder.ts";
import { createHashingEmbedder } from "./hashing.ts";
import { shapeEmbedder } from "./shape-vectors.ts";

/**
 * The embedder of the configuration's `embed` slice, ready to be used.
 * @throws Failure EMBED_MODEL_MISSING, CONFIG_ERROR, MODEL_UNREACHABLE, MODEL_NOT_FOUND, MODEL_TIMEOUT, TOOL_ERROR
 */
export async function createEmbedder(
  settings: ConfigValues["embed"],
  place: EmbedderPlace,
): Promise<Embedder> {
  return shapeEmbedder(await openEmbedder(settings, place), settings);
}

async function openEmbedder(
  settings: ConfigValues["embed"],
  place: EmbedderPlace,
): Promise<Embedder> {
  switch (settings.provider) {
    case "hashing":
      return createHashingEmbedder();
    case "transformers": {
      const { createTransformersEmbedder } = await import("./transformers/transformers.ts");
      return createTransformersEmbedder(settings, place);
    }
    case "ollama":
    case "openai-compatible":
    case "hosts": {
      const { createHostedEmbedder } = await import("./hosted.ts");
      return createHostedEmbedder(settings, place);
    }
  }
}
