import type { ConfigValues } from "../../shared/config/schema.ts";
import type { Embedder, EmbedderPlace } from "./embedder.ts";
import { createHashingEmbedder } from "./hashing.ts";
import { createOllamaEmbedder } from "./ollama.ts";
import { createTransformersEmbedder } from "./transformers/transformers.ts";

/**
 * The embedder of the configuration's `embed` slice, ready to be used.
 * @throws Failure EMBED_MODEL_MISSING, CONFIG_ERROR, MODEL_UNREACHABLE, MODEL_NOT_FOUND, MODEL_TIMEOUT, TOOL_ERROR
 */
export async function createEmbedder(
  settings: ConfigValues["embed"],
  place: EmbedderPlace,
): Promise<Embedder> {
  switch (settings.provider) {
    case "hashing":
      return createHashingEmbedder();
    case "ollama":
      return createOllamaEmbedder(settings, place);
    case "transformers":
      return createTransformersEmbedder(settings, place);
  }
}
