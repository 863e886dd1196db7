import type { ConfigValues } from "../../shared/config/schema.ts";
import type { Embedder } from "./embedder.ts";
import { createHashingEmbedder } from "./hashing.ts";
import { createOllamaEmbedder } from "./ollama.ts";
import { createTransformersEmbedder } from "./transformers/transformers.ts";

/** Where embedders find what they need. */
export type EmbedderPlace = {
  /** Absolute; paths of the configuration are relative to it. */
  readonly workroot: string;
  /** Checked `scheme://host[:port]` of the model host, where `embed.base_url` names no other. */
  readonly modelBaseUrl: string | null;
  /** Flags of Node for the process that holds a transformers model; this process's own unless it is said otherwise. */
  readonly execArgv?: readonly string[];
};

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
