import { hasHost } from "../providers.ts";
import type { HostProvider } from "../providers.ts";
import { embedBaseUrl, modelBaseUrl } from "./base-url.ts";
import type { Config } from "./schema.ts";

/** A host that calls go to. Its URL is its name: slots, failures and whether it is up are kept under it. */
export type HostPlace = {
  /** Base URL, `scheme://host[:port]`. */
  readonly host: string;
  readonly provider: HostProvider;
  /** How many calls it serves at once; null: to be found. */
  readonly parallel: number | null;
};

type HostConfig = Pick<Config, "model" | "embed" | "origins">;

/**
 * The host that language models are asked at; null where the model needs none. Whoever asks for a host asks here, so that a
 * choice among several has one place.
 * @throws Failure CONFIG_ERROR for a URL that is not valid
 */
export function modelHostOf(config: Pick<HostConfig, "model" | "origins">): HostPlace | null {
  const { provider, parallel } = config.model;
  return hasHost(provider) ? { host: modelBaseUrl(config), provider, parallel } : null;
}

/** The host that embeds; null where the embedder needs none. @throws as modelHostOf */
export const embedderHostOf = (config: HostConfig): HostPlace | null =>
  config.embed.provider === "ollama"
    ? { host: embedBaseUrl(config), provider: "ollama", parallel: config.model.parallel }
    : null;
