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

export const hasHost = (provider: Provider): provider is HostProvider =>
  PROVIDERS[provider].hasHost;

/** Their names, as a schema takes them. */
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as [Provider, ...Provider[]];

/** Who searches the web for investigations. */
export const WEB_SEARCHES = ["searxng", "brave", "ollama"] as const;
export type WebSearchProvider = (typeof WEB_SEARCHES)[number];
