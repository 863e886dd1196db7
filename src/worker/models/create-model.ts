import { modelBaseUrl } from "../../shared/config/base-url.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { withoutAlias } from "../../shared/route-models.ts";
import { extractiveModel } from "./extractive/extractive.ts";
import { openOffload } from "../offload/offload.ts";
import type { Offload } from "../offload/offload.ts";
import type { Model, ModelFacts, ModelRegistry } from "./model.ts";
import { checkDigest, isPinned } from "./ollama-probe.ts";
import { openOllamaModel } from "./ollama.ts";
import { openOpenAiModel } from "./openai-compatible.ts";

/** What is remembered of builds that did not keep to a schema. */
export type SchemaMemory = {
  hasFault(build: ModelBuild): Promise<boolean>;
  noteFault(build: ModelBuild): Promise<void>;
};

type ModelBuild = Pick<ModelFacts, "provider" | "digest" | "serverVersion"> & {
  readonly model: string;
};

type ModelConfig = Pick<Config, "model" | "origins">;
type Open = (name: string, signal: AbortSignal) => Promise<Model>;

/**
 * The models of this process, opened when first asked for and remembered. `extractive` is there with every
 * provider. The one that model.digest pins is looked at anew each time, so that another build is found at once.
 *
 * Throws Failure CONFIG_ERROR for a host that is not valid.
 *
 * @param memory null remembers nothing
 */
export function createModels(
  config: ModelConfig,
  offload: Offload = openOffload(),
  memory: SchemaMemory | null = null,
): ModelRegistry {
  const opener = modelOpener(config);
  const open = memory === null ? opener : withMemory(opener, memory);
  const remembered = rememberModels(open);
  const extractive = extractiveModel(offload);
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

/** Opens models with what is remembered of their builds. */
const withMemory =
  (open: Open, memory: SchemaMemory): Open =>
  async (name, signal) => {
    const model = await open(name, signal);
    const { provider, digest, serverVersion } = model.facts;
    const build = { provider, model: name, digest, serverVersion };
    return {
      ...model,
      facts: { ...model.facts, ignoresSchemas: await memory.hasFault(build) },
      noteIgnoredSchema: () => memory.noteFault(build),
    };
  };

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

/** What a host says of a model changes when somebody pulls another build of it, or changes how it is served. */
const FRESH_MS = 5 * 60_000;

/**
 * Opens each model once and gives it again for five minutes, or until a call finds it gone or its host down.
 * Those who ask for a model that is just being opened wait for the same opening; it goes on until the last of them
 * has gone away. One that failed is not remembered.
 *
 * @param now milliseconds of a monotonic clock
 */
export function rememberModels(
  open: Open,
  now: () => number = performance.now.bind(performance),
): Open {
  const entries = new Map<string, Entry>();
  return async (name, signal) => {
    signal.throwIfAborted();
    const known = entries.get(name);
    const entry = known !== undefined && now() < known.freshUntil ? known : start(name);
    return share(entry, signal);
  };

  function start(name: string): Entry {
    const controller = new AbortController();
    const forget = (): void => {
      if (entries.get(name) === entry) entries.delete(name);
    };
    const model = open(name, controller.signal).then(
      (opened) => forgetful(opened, forget),
      (error: unknown) => {
        forget();
        throw error;
      },
    );
    const entry: Entry = { model, controller, waiting: 0, freshUntil: now() + FRESH_MS, forget };
    entries.set(name, entry);
    return entry;
  }
}

type Entry = {
  readonly model: Promise<Model>;
  readonly controller: AbortController;
  readonly freshUntil: number;
  readonly forget: () => void;
  waiting: number;
};

/** Waits for an opening, but not longer than `signal`; nobody left means that nobody needs it. */
async function share(entry: Entry, signal: AbortSignal): Promise<Model> {
  entry.waiting += 1;
  let leave = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([entry.model, left]);
  } finally {
    signal.removeEventListener("abort", leave);
    entry.waiting -= 1;
    if (entry.waiting === 0 && signal.aborted) {
      entry.forget();
      entry.controller.abort(signal.reason);
    }
  }
}

/** The model, which is forgotten when a call finds that its host does not have it or is down, or that it ignores schemas. */
const forgetful = (model: Model, forget: () => void): Model => ({
  ...model,
  async complete(request, signal) {
    try {
      return await model.complete(request, signal);
    } catch (error) {
      if (error instanceof Failure && GONE.has(error.code)) forget();
      throw error;
    }
  },
  async noteIgnoredSchema() {
    await model.noteIgnoredSchema?.();
    forget();
  },
});

const GONE: ReadonlySet<string> = new Set(["MODEL_NOT_FOUND", "MODEL_UNREACHABLE"]);
