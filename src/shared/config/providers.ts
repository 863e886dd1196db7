/** Providers of models, by their names in `model.provider`. */
export const PROVIDERS = {
  ollama: { hasHost: true, hasWeights: true },
  "openai-compatible": { hasHost: true, hasWeights: true },
  /** ONNX files in our own process, with the optional package of that name. */
  transformers: { hasHost: false, hasWeights: true },
  /** Built in: it quotes documents. Its one model has no other name. */
  extractive: { hasHost: false, hasWeights: false },
} as const satisfies Readonly<Record<string, ProviderTraits>>;

type ProviderTraits = {
  /** Called over the network. */
  readonly hasHost: boolean;
  /** Has named models with files of weights, of which one must be chosen. */
  readonly hasWeights: boolean;
};

export type Provider = keyof typeof PROVIDERS;

/** Providers that are called over the network. */
export type HostProvider = {
  [P in Provider]: (typeof PROVIDERS)[P]["hasHost"] extends true ? P : never;
}[Provider];

/** Providers whose models are loaded into worker processes. */
export type ProcessProvider = {
  [P in Provider]: (typeof PROVIDERS)[P] extends {
    readonly hasHost: false;
    readonly hasWeights: true;
  }
    ? P
    : never;
}[Provider];

/** Values of `model.provider`: a provider, or the list of hosts. */
export type ModelSource = Provider | typeof FROM_HOSTS;

/** The provider that takes its models from `hosts`, where each entry has its own kind. */
export const FROM_HOSTS = "hosts";

export const hasHost = (source: ModelSource): source is HostProvider | typeof FROM_HOSTS =>
  source === FROM_HOSTS || PROVIDERS[source].hasHost;

export const runsInProcess = (source: ModelSource): source is ProcessProvider =>
  source !== FROM_HOSTS && !PROVIDERS[source].hasHost && PROVIDERS[source].hasWeights;

/** The protocol of each kind of host. */
export const HOST_KINDS = {
  ollama: "ollama",
  "llama-server": "openai-compatible",
  "lm-studio": "openai-compatible",
  vllm: "openai-compatible",
  openai: "openai-compatible",
} as const satisfies Readonly<Record<string, HostProvider>>;

export type HostKind = keyof typeof HOST_KINDS;
export const HOST_KIND_NAMES = Object.keys(HOST_KINDS) as [HostKind, ...HostKind[]];

export const hasWeights = (source: ModelSource): boolean =>
  source === FROM_HOSTS || PROVIDERS[source].hasWeights;

/** Values of `embed.provider`: built in, in our own process, one host by its protocol, or the list of hosts. */
export const EMBED_SOURCES = [
  "hashing",
  "transformers",
  "ollama",
  "openai-compatible",
  FROM_HOSTS,
] as const;

/** Provider names in the form that zod needs. */
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as [Provider, ...Provider[]];

/** Search providers of investigations. */
export const WEB_SEARCHES = ["searxng", "brave", "ollama"] as const;
export type WebSearchProvider = (typeof WEB_SEARCHES)[number];
