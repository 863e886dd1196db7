import { FROM_HOSTS, hasHost, HOST_KINDS, runsInProcess } from "./providers.ts";
import type { HostKind, HostProvider, ProcessProvider } from "./providers.ts";
import { embedBaseUrl, modelBaseUrl, normalBaseUrl } from "./base-url.ts";
import type { HostSettings } from "./hosts-schema.ts";
import type { Config } from "./schema.ts";

/** A host for calls. Its URL identifies it in the database, for slots, failures and whether it is up. */
export type HostPlace = {
  /** Base URL, `scheme://host[:port][/path]`. */
  readonly host: string;
  readonly provider: HostProvider;
  /** How many calls it serves at once; null if that has to be measured. */
  readonly parallel: number | null;
  /** Its entry in `hosts`; missing for the host of model.base_url. */
  readonly entry?: HostEntry;
};

/** An entry of `hosts`, with defaults. */
export type HostEntry = {
  readonly name: string;
  readonly kind: HostKind;
  /** Lower comes first. */
  readonly priority: number;
  /** Whether it is called while all slots of hosts with lower priority are in use, and not only while they are down. */
  readonly takesOverflow: boolean;
  readonly api: "chat" | "responses";
  /** Our model names, each with the host's name; null for whatever the host lists. */
  readonly models: ReadonlyMap<string, string> | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  /** Price of one million tokens; null if calls are free. */
  readonly priceIn: number | null;
  readonly priceOut: number | null;
};

/** The place that calls are counted for: a host, or the model processes of the workers. */
export type CallPlace = Omit<HostPlace, "provider"> & {
  readonly provider: HostProvider | ProcessProvider;
};

/** Large, because calls queue for the one process of each worker, and not for a slot. */
const CALLS_IN_PROCESSES = 64;

/** Ollama serves one call at a time unless OLLAMA_NUM_PARALLEL is set, which its API does not report. */
const FIRST_CAPACITY = {
  ollama: 1,
  "openai-compatible": 4,
  transformers: CALLS_IN_PROCESSES,
} as const;

/** How many parallel calls a host gets before its capacity was measured. */
export const firstCapacityOf = ({ parallel, provider }: CallPlace): number =>
  parallel ?? FIRST_CAPACITY[provider];

type HostConfig = Pick<Config, "model" | "embed" | "origins" | "hosts">;

/**
 * The hosts of language models, in the order of use; empty if the provider needs none. All code gets its hosts here.
 * @throws Failure CONFIG_ERROR for an invalid URL
 */
export function modelHostsOf(
  config: Pick<HostConfig, "model" | "origins" | "hosts">,
): readonly HostPlace[] {
  const { provider, parallel } = config.model;
  if (provider === FROM_HOSTS) return listedHosts(config);
  return hasHost(provider) ? [{ host: modelBaseUrl(config), provider, parallel }] : [];
}

/**
 * The hosts of the embedder, in the order of use; empty if it needs none. If `embed.base_url` names a host of `hosts`, the
 * settings of that entry apply.
 * @throws as modelHostsOf
 */
export function embedderHostsOf(config: HostConfig): readonly HostPlace[] {
  const { provider, model_id: name } = config.embed;
  switch (provider) {
    case "hashing":
    case "transformers":
      return [];
    case FROM_HOSTS:
      return listedHosts(config).filter((place) => modelNameAt(place, name) !== null);
    case "ollama":
    case "openai-compatible": {
      const host = embedBaseUrl(config);
      const listed = listedHosts(config).find((place) => place.host === host);
      if (listed === undefined) return [{ host, provider, parallel: config.model.parallel }];
      return [{ ...listed, provider, entry: { ...listed.entry, models: null } }];
    }
  }
}

/** The entry of `hosts` that index.ocr.confirm names, if any. */
export const confirmHostsOf = ({
  index,
  ...config
}: Pick<Config, "hosts" | "model" | "index">): readonly HostPlace[] =>
  listedHosts(config).filter(({ entry }) => entry.name === index.ocr?.confirm?.host);

export function allHostsOf(config: HostConfig): readonly HostPlace[] {
  const places = [...embedderHostsOf(config), ...modelHostsOf(config), ...listedHosts(config)];
  return [...new Map(places.map((place) => [place.host, place])).values()];
}

/** All entries of `hosts`, by priority, then in the order of the file. */
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
    // A night is in no hurry: a host with prices takes overflow only if it is configured to.
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

/** The host's name for a model; null if the host does not serve it. */
export const modelNameAt = ({ entry }: HostPlace, model: string): string | null =>
  entry === undefined || entry.models === null ? model : (entry.models.get(model) ?? null);

/** The price of a call, in the currency of the prices. */
export const callPrice = (
  { entry }: Pick<HostPlace, "entry">,
  { promptTokens, completionTokens }: { promptTokens: number; completionTokens: number },
): number =>
  (promptTokens * (entry?.priceIn ?? 0) + completionTokens * (entry?.priceOut ?? 0)) / 1_000_000;

/**
 * The pseudo-host under which budgets count calls of models in worker processes. Workers do not wait for each other there, and
 * it is never down.
 */
export const callsInProcess = ({ model }: Pick<HostConfig, "model">): readonly CallPlace[] =>
  runsInProcess(model.provider)
    ? [{ host: model.provider, provider: model.provider, parallel: CALLS_IN_PROCESSES }]
    : [];
