import { modelBaseUrl } from "../../shared/config/base-url.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { withoutAlias } from "../../shared/route-models.ts";
import { openAside } from "../aside/aside.ts";
import type { Aside } from "../aside/aside.ts";
import { extractiveModel } from "./extractive.ts";
import type { Model, ModelRegistry } from "./model.ts";
import { isPinned } from "./model-names.ts";
import { openOllamaModel } from "./ollama.ts";
import { openOpenAiModel } from "./openai-compatible.ts";
import { checkDigest } from "./pinned-digest.ts";
import { rememberModels } from "./remember-models.ts";

type ModelConfig = Pick<Config, "model" | "origins">;
type Open = (name: string, signal: AbortSignal) => Promise<Model>;

/**
 * The models of this process, opened when first asked for and remembered. `extractive` is there with every
 * provider. The one that model.digest pins is looked at anew each time, so that another build is found at once.
 *
 * Throws Failure CONFIG_ERROR for a host that is not valid.
 */
export function createModels(config: ModelConfig, aside: Aside = openAside()): ModelRegistry {
  const open = modelOpener(config);
  const remembered = rememberModels(open);
  const extractive = extractiveModel(aside);
  const { digest } = config.model;
  return {
    async get(asked, signal) {
      const name = withoutAlias(asked, config.model);
      if (name === extractive.name) return extractive;
      if (digest === null || !isPinned(name, config)) return remembered(name, signal);
      return checkDigest(await open(name, signal), digest);
    },
  };
}

function modelOpener(config: ModelConfig): Open {
  const { model } = config;
  switch (model.provider) {
    case "extractive":
      return async (name) => {
        throw new Failure(
          "MODEL_NOT_FOUND",
          `There is no model "${name}": model.provider is "extractive", which has only "extractive". ` +
            `Set model.provider: ollama to use a language model.`,
        );
      };
    case "ollama": {
      const baseUrl = modelBaseUrl(config);
      return (name, signal) => openOllamaModel({ name, baseUrl }, model, signal);
    }
    case "openai-compatible": {
      const baseUrl = modelBaseUrl(config);
      return (name, signal) => openOpenAiModel({ name, baseUrl }, model, signal);
    }
  }
}
