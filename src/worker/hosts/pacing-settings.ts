import {
  callsInProcess,
  confirmHostsOf,
  embedderHostsOf,
  modelHostsOf,
} from "../../shared/config/hosts.ts";
import type { CallPlace } from "../../shared/config/hosts.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Limits } from "../../shared/store/hosts/calls.ts";

/** The part of the configuration that pacing uses. */
export type PacingSettings = {
  /** The hosts of models; empty if the model needs none. */
  readonly models: readonly CallPlace[];
  /** The host of index.ocr.confirm; empty without it. */
  readonly confirming: readonly CallPlace[];
  /** The hosts of the embedder; empty if it needs none. */
  readonly embedders: readonly CallPlace[];
  readonly breakerFailures: number;
  readonly perBatch: Limits;
  readonly perNight: Limits;
  /** The zone of the first window determines when a night begins. */
  readonly windows: readonly string[];
};

/** Throws Failure CONFIG_ERROR for a host that is not valid. */
export function pacingSettingsOf(config: Config): PacingSettings {
  const { model, budgets, windows } = config;
  return {
    models: [...modelHostsOf(config), ...callsInProcess(config)],
    confirming: confirmHostsOf(config),
    embedders: embedderHostsOf(config),
    breakerFailures: model.breaker_failures,
    perBatch: limitsOf(budgets),
    perNight: limitsOf(budgets.night),
    windows,
  };
}

const limitsOf = ({ tokens, calls, wall_time_s, money }: Config["budgets"]["night"]): Limits => ({
  tokens,
  calls,
  seconds: wall_time_s,
  money,
});

/** All hosts that a worker calls, each once. */
export const hostsOf = ({
  models,
  confirming,
  embedders,
}: Pick<PacingSettings, "models" | "confirming" | "embedders">): readonly CallPlace[] => [
  ...new Map([...embedders, ...models, ...confirming].map((place) => [place.host, place])).values(),
];
