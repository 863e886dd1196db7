import { embedBaseUrl, modelBaseUrl } from "../../shared/config/base-url.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Limits } from "../../shared/store/hosts/calls.ts";
import type { HostPlace } from "../../shared/store/hosts/hosts.ts";

/** The slice of the configuration that pacing works with. */
export type PacingSettings = {
  /** The model's host; null where the model needs none. */
  readonly model: HostPlace | null;
  /** The embedder's host; null where the embedder needs none. */
  readonly embedder: HostPlace | null;
  readonly breakerFailures: number;
  readonly perBatch: Limits;
  readonly perNight: Limits;
  /** The first says in which zone a night begins. */
  readonly windows: readonly string[];
};

/** Throws Failure CONFIG_ERROR for a host that is not valid. */
export function pacingSettingsOf(config: Config): PacingSettings {
  const { model, embed, budgets, windows } = config;
  const { provider, parallel } = model;
  return {
    model: provider === "extractive" ? null : { host: modelBaseUrl(config), provider, parallel },
    embedder:
      embed.provider === "ollama"
        ? { host: embedBaseUrl(config), provider: "ollama", parallel }
        : null,
    breakerFailures: model.breaker_failures,
    perBatch: limitsOf(budgets),
    perNight: limitsOf(budgets.night),
    windows,
  };
}

const limitsOf = ({ tokens, calls, wall_time_s }: Config["budgets"]["night"]): Limits => ({
  tokens,
  calls,
  seconds: wall_time_s,
});
