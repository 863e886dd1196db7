/** What serves models, by the name that `model.provider` gives it. */
export const PROVIDERS = {
  ollama: { hasHost: true, hasWeights: true },
  "openai-compatible": { hasHost: true, hasWeights: true },
  /** Files of ONNX in a process of ours, by the optional package of that name. */
  transformers: { hasHost: false, hasWeights: true },
  /** Built in: it quotes documents, and its one model is called as it is. */
  extractive: { hasHost: false, hasWeights: false },
} as const satisfies Readonly<Record<string, ProviderTraits>>;

type ProviderTraits = {
  /** It is asked over the network. */
  readonly hasHost: boolean;
  /** Its models have names and files of weights, of which one is to be chosen. */
  readonly hasWeights: boolean;
};

export type Provider = keyof typeof PROVIDERS;

/** Those that are asked over the network. */
export type HostProvider = {
  [P in Provider]: (typeof PROVIDERS)[P]["hasHost"] extends true ? P : never;
}[Provider];

/** Those whose models are loaded into processes of the workers. */
export type ProcessProvider = {
  [P in Provider]: (typeof PROVIDERS)[P] extends {
    readonly hasHost: false;
    readonly hasWeights: true;
  }
    ? P
    : never;
}[Provider];

/** What `model.provider` may be: one that serves models, or the list of hosts. */
export type ModelSource = Provider | typeof FROM_HOSTS;

/** The models of `hosts`, each with a kind of its own. */
export const FROM_HOSTS = "hosts";

export const hasHost = (source: ModelSource): source is HostProvider | typeof FROM_HOSTS =>
  source === FROM_HOSTS || PROVIDERS[source].hasHost;

export const runsInProcess = (source: ModelSource): source is ProcessProvider =>
  source !== FROM_HOSTS && !PROVIDERS[source].hasHost && PROVIDERS[source].hasWeights;

/** By which protocol a kind of `hosts` is asked. */
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

/** What `embed.provider` may be: built in, in a process of ours, one host by its protocol, or the list of hosts. */
export const EMBED_SOURCES = [
  "hashing",
  "transformers",
  "ollama",
  "openai-compatible",
  FROM_HOSTS,
] as const;

/** Their names, as a schema takes them. */
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as [Provider, ...Provider[]];

/** Who searches the web for investigations. */
export const WEB_SEARCHES = ["searxng", "brave", "ollama"] as const;
export type WebSearchProvider = (typeof WEB_SEARCHES)[number];
