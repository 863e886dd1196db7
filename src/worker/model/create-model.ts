import { modelBaseUrl } from "../../shared/config/model-base-url.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { extractiveModel } from "./extractive.ts";
import type { Model, ModelRegistry } from "./model.ts";
import { ollamaModel } from "./ollama.ts";

type ModelConfig = Pick<Config, "model" | "origins">;

/**
 * The models of this process, made when first asked for and kept. `extractive` is there with every provider.
 *
 * Throws Failure CONFIG_ERROR for a provider that this version can't serve, and for a host that is not valid.
 */
export function createModels(config: ModelConfig): ModelRegistry {
  const open = modelMaker(config);
  const models = new Map<string, Model>([["extractive", extractiveModel()]]);
  return {
    get(asked) {
      const name = config.model.aliases[asked] ?? asked;
      const known = models.get(name);
      if (known !== undefined) return known;
      const model = open(name);
      models.set(name, model);
      return model;
    },
  };
}

function modelMaker(config: ModelConfig): (name: string) => Model {
  const { model } = config;
  switch (model.provider) {
    case "extractive":
      return (name) => {
        throw new Failure(
          "MODEL_NOT_FOUND",
          `There is no model "${name}": model.provider is "extractive", which has only "extractive". ` +
            `Set model.provider: ollama to use a language model.`,
        );
      };
    case "ollama": {
      const baseUrl = modelBaseUrl(config);
      return (name) => ollamaModel(name, baseUrl, model);
    }
    case "openai-compatible":
      throw new Failure(
        "CONFIG_ERROR",
        `model.provider "openai-compatible" is not built yet; use "ollama" or "extractive".`,
      );
  }
}
