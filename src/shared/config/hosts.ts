import { FROM_HOSTS, hasHost, HOST_KINDS, runsInProcess } from "./providers.ts";
import type { HostKind, HostProvider, ProcessProvider } from "./providers.ts";
import { embedBaseUrl, modelBaseUrl, normalBaseUrl } from "./base-url.ts";
import type { HostSettings } from "./hosts-schema.ts";
import type { Config } from "./schema.ts";

/** A host that calls go to. Its URL is its name in the database: slots, failures and whether it is up are kept under it. */
export type HostPlace = {
  /** Base URL, `scheme://host[:port][/path]`. */
  readonly host: string;
  readonly provider: HostProvider;
  /** How many calls it serves at once; null: to be found. */
  readonly parallel: number | null;
  /** What `hosts` says of it beside; missing for the one of model.base_url. */
  readonly entry?: HostEntry;
};

/** A host of the list `hosts`, as all workers take it. */
export type HostEntry = {
  readonly name: string;
  readonly kind: HostKind;
  /** Lower comes first. */
  readonly priority: number;
  /** Whether it is asked while all slots of those of lower priority are in use, and not only while they are down. */
  readonly takesOverflow: boolean;
  readonly api: "chat" | "responses";
  /** By the name that it has here, the one that it has there; null: whatever the host lists. */
  readonly models: ReadonlyMap<string, string> | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  /** Of one million tokens; null: nothing is charged. */
  readonly priceIn: number | null;
  readonly priceOut: number | null;
};

/** Where calls are counted: a host, or the processes of the workers. */
export type CallPlace = Omit<HostPlace, "provider"> & {
  readonly provider: HostProvider | ProcessProvider;
};

/** Calls wait for the one process of each worker, and not for a slot. */
const CALLS_IN_PROCESSES = 64;

/** Ollama serves one call at a time unless OLLAMA_NUM_PARALLEL says otherwise, which its API does not tell. */
const FIRST_CAPACITY = {
  ollama: 1,
  "openai-compatible": 4,
  transformers: CALLS_IN_PROCESSES,
} as const;

/** How many calls a host gets at once before anything was found out about it. */
export const firstCapacityOf = ({ parallel, provider }: CallPlace): number =>
  parallel ?? FIRST_CAPACITY[provider];

type HostConfig = Pick<Config, "model" | "embed" | "origins" | "hosts">;

/**
 * The hosts that language models are asked at, in the order in which they are tried; none where the model needs none. Whoever
 * asks for a host asks here.
 * @throws Failure CONFIG_ERROR for a URL that is not valid
 */
export function modelHostsOf(
  config: Pick<HostConfig, "model" | "origins" | "hosts">,
): readonly HostPlace[] {
  const { provider, parallel } = config.model;
  if (provider === FROM_HOSTS) return listedHosts(config);
  return hasHost(provider) ? [{ host: modelBaseUrl(config), provider, parallel }] : [];
}

/**
 * The hosts that embed, in the order in which they are tried; none where the embedder needs none. One that `embed.base_url`
 * names and `hosts` lists is come to as the list says.
 * @throws as modelHostsOf
 */
export function embedderHostsOf(config: HostConfig): readonly HostPlace[] {
  const { provider, model_id: name } = config.embed;
  switch (provider) {
    case "hashing":
    case "transformers":
      return [];
    case FROM_HOSTS:
      return listedHosts(config).filter((place) => nameAt(place, name) !== null);
    case "ollama":
    case "openai-compatible": {
      const host = embedBaseUrl(config);
      const entry = listedHosts(config).find((place) => place.host === host)?.entry;
      const { parallel } = config.model;
      if (entry === undefined) return [{ host, provider, parallel }];
      return [{ host, provider, parallel, entry: { ...entry, models: null } }];
    }
  }
}

/** The host of index.ocr.confirm, as `hosts` has it; none without it. */
export const confirmHostsOf = ({
  index,
  ...config
}: Pick<Config, "hosts" | "model" | "index">): readonly HostPlace[] =>
  listedHosts(config).filter(({ entry }) => entry.name === index.ocr?.confirm?.host);

/** Every host that the configuration names, each once. @throws as modelHostsOf */
export function allHostsOf(config: HostConfig): readonly HostPlace[] {
  const places = [...embedderHostsOf(config), ...modelHostsOf(config), ...listedHosts(config)];
  return [...new Map(places.map((place) => [place.host, place])).values()];
}

/** All of `hosts`, by priority and then as they are written. */
export const listedHosts = ({
  hosts,
  model,
}: Pick<HostConfig, "hosts" | "model">): readonly (HostPlace & { readonly entry: HostEntry })[] =>
  hosts
    .map((settings) => placeOf(settings, model.parallel))
    .sort((one, other) => one.entry.priority - other.entry.priority);

const placeOf = (
  { name, kind, url, models, ...settings }: HostSettings,
  parallel: number | null,
): HostPlace & { readonly entry: HostEntry } => ({
  host: normalBaseUrl(url),
  provider: HOST_KINDS[kind],
  parallel: settings.parallel ?? parallel,
  entry: {
    name,
    kind,
    priority: settings.priority ?? 0,
    // A night is in no hurry: what costs money is asked for help only where somebody says so.
    takesOverflow: settings.overflow ?? (settings.price_in ?? 0) + (settings.price_out ?? 0) === 0,
    api: settings.api ?? "chat",
    models: models === undefined ? null : namesOf(models),
    requestsPerMinute: settings.requests_per_minute ?? null,
    tokensPerMinute: settings.tokens_per_minute ?? null,
    priceIn: settings.price_in ?? null,
    priceOut: settings.price_out ?? null,
  },
});

const namesOf = (models: NonNullable<HostSettings["models"]>): ReadonlyMap<string, string> =>
  new Map(Array.isArray(models) ? models.map((name) => [name, name]) : Object.entries(models));

/** The name that a model has at a host; null where the host does not serve it. */
export const nameAt = ({ entry }: HostPlace, model: string): string | null =>
  entry === undefined || entry.models === null ? model : (entry.models.get(model) ?? null);

/** What a call costs, in the currency of the prices. */
export const moneyOf = (
  { entry }: Pick<HostPlace, "entry">,
  { promptTokens, completionTokens }: { promptTokens: number; completionTokens: number },
): number =>
  (promptTokens * (entry?.priceIn ?? 0) + completionTokens * (entry?.priceOut ?? 0)) / 1_000_000;

/**
 * Where budgets count the calls of models in processes of the workers. There is no such host: no worker waits for another, and
 * nothing is ever found down there.
 */
export const callsInProcess = ({ model }: Pick<HostConfig, "model">): readonly CallPlace[] =>
  runsInProcess(model.provider)
    ? [{ host: model.provider, provider: model.provider, parallel: CALLS_IN_PROCESSES }]
    : [];
