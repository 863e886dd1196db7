/** What serves models, by the name that `model.provider` gives it. */
export const PROVIDERS = {
  ollama: { hasHost: true },
  "openai-compatible": { hasHost: true },
  /** Built in: it quotes documents, and its one model is called as it is. */
  extractive: { hasHost: false },
} as const satisfies Readonly<Record<string, { readonly hasHost: boolean }>>;

export type Provider = keyof typeof PROVIDERS;

/** Those that are asked over the network. */
export type HostProvider = {
  [P in Provider]: (typeof PROVIDERS)[P]["hasHost"] extends true ? P : never;
}[Provider];

/** What `model.provider` may be: one that serves models, or the list of hosts. */
export type ModelSource = Provider | typeof FROM_HOSTS;

/** The models of `hosts`, each with a kind of its own. */
export const FROM_HOSTS = "hosts";

export const hasHost = (source: ModelSource): source is HostProvider | typeof FROM_HOSTS =>
  source === FROM_HOSTS || PROVIDERS[source].hasHost;

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

/** Their names, as a schema takes them. */
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as [Provider, ...Provider[]];

/** Who searches the web for investigations. */
export const WEB_SEARCHES = ["searxng", "brave", "ollama"] as const;
export type WebSearchProvider = (typeof WEB_SEARCHES)[number];
