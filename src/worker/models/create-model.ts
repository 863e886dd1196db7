import { listedHosts, modelHostsOf } from "../../shared/config/hosts.ts";
import type { HostPlace } from "../../shared/config/hosts.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { FROM_HOSTS } from "../../shared/config/providers.ts";
import { withoutAlias } from "../../shared/job/route-models.ts";
import { extractiveModel } from "./extractive/extractive.ts";
import { lazyOpen } from "../../shared/once.ts";
import { openOffload } from "../offload/offload.ts";
import type { Offload } from "../offload/offload.ts";
import type { Model, ModelFacts, ModelRegistry } from "./model.ts";
import { OPEN_ACCESS } from "./host-access.ts";
import type { AccessOf } from "./host-access.ts";
import { IN_ORDER, openAtHost } from "./host-models.ts";
import type { HostChoice } from "./host-models.ts";
import { textFor } from "../text/secrets.ts";
import type { FeatureMemory } from "./openai-compatible.ts";

/** Remembers builds of models that did not keep to a schema. */
export type SchemaMemory = {
  hasFault(build: ModelBuild): Promise<boolean>;
  noteFault(build: ModelBuild): Promise<void>;
};

type ModelBuild = Pick<ModelFacts, "provider" | "digest" | "serverVersion"> & {
  readonly model: string;
};

type ModelConfig = Pick<Config, "origins" | "model" | "embed" | "roots"> &
  Partial<Pick<Config, "hosts" | "verify">> & { readonly index?: Pick<Config["index"], "secrets"> };
type Open = (name: string, signal: AbortSignal) => Promise<Model>;
/** Makes the opener of models for a way of choosing hosts. */
type OpenBy = (choice: HostChoice) => Open;

/**
 * The models of this process; each is opened on first use and remembered. Every provider also has `extractive`. The model
 * that model.digest pins is opened each time, so that a changed build is noticed at once.
 *
 * Throws Failure CONFIG_ERROR for a host that is not valid.
 *
 * @param memory null: faults of schemas are not remembered
 */
export function createModels(
  config: ModelConfig,
  offload: Offload = openOffload(),
  memory: SchemaMemory | null = null,
  reach: HostReach = NO_REACH,
): ProcessModels {
  const remembering = (opener: Open): Open =>
    memory === null ? opener : withMemory(opener, memory);
  const openBy = modelOpener(config, remembering, reach);
  const only = rememberModels(openBy(reach.choice));
  const extractive = extractiveModel(offload);
  const { digest } = config.model;
  const chosenBy = (choice: HostChoice): ModelRegistry => {
    const open = openBy(choice);
    const remembered = isListed(config) ? open : only;
    return {
      async get(asked, signal) {
        const name = withoutAlias(asked, config.model);
        if (name === extractive.name) return extractive;
        if (digest === null) return remembered(name, signal);
        const { checkDigest, isPinned } = await import("./ollama-probe.ts");
        if (!isPinned(name, config)) return remembered(name, signal);
        return checkDigest(await open(name, signal), digest);
      },
    };
  };
  return { ...chosenBy(reach.choice), chosenBy };
}

/** The models of a process. `chosenBy` gives a run the same models, at hosts chosen for that run. */
export type ProcessModels = ModelRegistry & {
  readonly chosenBy: (choice: HostChoice) => ModelRegistry;
};

/** Adds to opened models what the memory knows about their builds. */
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

/** Opens models that receive only the part of a text that `shown` returns. */
function withShownTexts(shown: (text: string) => string, open: Open): Open {
  return async (name, signal) => {
    const model = await open(name, signal);
    return {
      ...model,
      complete: ({ messages, ...request }, until) =>
        model.complete(
          {
            ...request,
            messages: messages.map((message) => ({ ...message, content: shown(message.content) })),
          },
          until,
        ),
    };
  };
}

/** How to access hosts, how to choose one, and what is known about their models. */
export type HostReach = {
  readonly accessOf: AccessOf;
  readonly choice: HostChoice;
  readonly features: HostFeatures | null;
};

/** Stores findings about a model at a host, by its digest and the version of the server. */
export type HostFeatures = {
  recall(host: string, model: string): FeatureMemory;
  note(host: string, model: Model): Promise<void>;
};

const NO_REACH: HostReach = {
  accessOf: () => OPEN_ACCESS,
  choice: IN_ORDER,
  features: null,
};

const isListed = ({ model }: ModelConfig): boolean => model.provider === FROM_HOSTS;

/** Each host has its own memory of its models: two hosts may have different builds of the same model. */
function listOpener(
  config: ModelConfig,
  remembering: (open: Open) => Open,
  { accessOf, features }: HostReach,
): OpenBy {
  const { model, hosts = [] } = config;
  const places = listedHosts({ model, hosts });
  const opens = new Map(
    places.map((place) => [
      place.host,
      rememberModels(remembering(hostOpener(place, config, accessOf, features))),
    ]),
  );
  return (choice) => (name, signal) =>
    openAtHost(
      name,
      places,
      {
        choice,
        open: ({ host }, nameThere, until) => {
          const open = opens.get(host);
          if (open === undefined) throw new Error(`${host} is not listed`);
          return open(nameThere, until);
        },
      },
      signal,
    );
}

type ModelNames = { readonly model: object } & Partial<Pick<Config, "verify">>;

/** The setting that names a model, such as `verify.judge.model`; undefined if only a job names it. */
export function settingOfModel(name: string, { model, verify }: ModelNames): string | undefined {
  const paths = (value: unknown, path: string): readonly string[] =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, below]) =>
          paths(below, Array.isArray(value) ? path : `${path}.${key}`),
        )
      : value === name
        ? [path]
        : [];
  return [...paths({ ...model, sees: [] }, "model"), ...paths(verify, "verify")][0];
}

/** Opens models at one host, with what the host reports about them. */
export function hostOpener(
  { host: baseUrl, provider, entry }: HostPlace,
  config: ModelConfig,
  accessOf: AccessOf,
  features: HostFeatures | null,
): Open {
  const { model: settings, index } = config;
  const listed =
    entry === undefined ? {} : { entry: entry.name, api: entry.api, access: accessOf(baseUrl) };
  const open = withShownTexts(textFor(baseUrl, index?.secrets ?? "off"), async (name, signal) => {
    const place = { name, baseUrl, setting: settingOfModel(name, config), ...listed };
    if (provider === "ollama") {
      const { openOllamaModel } = await import("./ollama.ts");
      return openOllamaModel(place, settings, signal);
    }
    const { openOpenAiModel } = await import("./openai-compatible.ts");
    return openOpenAiModel(place, settings, signal, features?.recall(baseUrl, name));
  });
  if (features === null) return open;
  return async (name, signal) => {
    const model = await open(name, signal);
    await features.note(baseUrl, model);
    return model;
  };
}

function modelOpener(
  config: ModelConfig,
  remembering: (open: Open) => Open,
  reach: HostReach,
): OpenBy {
  const always = (open: Open) => () => open;
  switch (config.model.provider) {
    case FROM_HOSTS:
      return listOpener(config, remembering, reach);
    case "extractive":
      return always(async (name) => {
        throw new Failure(
          "MODEL_NOT_FOUND",
          `There is no model "${name}": model.provider is "extractive", which has only "extractive". ` +
            `Set model.provider: ollama to use a language model.`,
        );
      });
    case "transformers":
      return always(transformersOpener(config));
    case "ollama":
    case "openai-compatible":
      return always(remembering(onlyHostOpener(config, reach)));
  }
}

function transformersOpener(config: ModelConfig): Open {
  const models = lazyOpen(async () =>
    (await import("./transformers.ts")).transformersModels(config),
  );
  return async (name, signal) => (await models.get())(name, signal);
}

function onlyHostOpener(config: ModelConfig, { accessOf, features }: HostReach): Open {
  const [place] = modelHostsOf({ ...config, hosts: [] });
  if (place === undefined) throw new Error("model.provider has no host");
  return hostOpener(place, config, accessOf, features);
}

/** The facts that a host reports change when somebody pulls another build or serves the model differently. */
const FRESH_MS = 5 * 60_000;

/**
 * Opens each model once and returns it again for five minutes, or until a call finds that it is gone or its host is down.
 * Callers that request a model while it is being opened share that opening; it is aborted when the last of them has
 * aborted. A failed opening is not remembered.
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
    return awaitShared(entry, signal);
  };

  function start(name: string): Entry {
    const controller = new AbortController();
    const forget = (): void => {
      if (entries.get(name) === entry) entries.delete(name);
    };
    const model = open(name, controller.signal).then(
      (opened) => withForgetting(opened, forget),
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

/** Waits for an opening, but not longer than `signal` allows; the last caller that leaves aborts the opening. */
async function awaitShared(entry: Entry, signal: AbortSignal): Promise<Model> {
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

/** Forgets the model when a call finds that it is gone, that its host is down, or that it ignores schemas. */
const withForgetting = (model: Model, forget: () => void): Model => ({
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
