import { hashJson } from "../schema/json-value.ts";
import type { CallPlace } from "./hosts.ts";
import type { ConfigValues } from "./schema.ts";

type AnswerSettings = Pick<
  ConfigValues,
  "model" | "hosts" | "ask" | "verify" | "index" | "embed" | "retrieve"
>;

// Settings of where a model is served and stored, its time limits and its parallel calls: they change no answer.
const WITHOUT_EFFECT = new Set([
  "base_url",
  "batch_size",
  "breaker_failures",
  "cache_dir",
  "keep_alive",
  "local_model_path",
  "parallel",
  "recycle_mb",
  "recycle_texts",
  "timeout_s",
  "timeout_s_big_second",
  "transformers",
]);

/** The SHA-256, lower-case hex, of the values that change answers, as JSON with sorted keys. */
export function configFingerprint({ verify, ...values }: AnswerSettings): string {
  const { model, hosts, ask, index, embed, retrieve } = values;
  const { rerank, ...retrieval } = retrieve;
  const answering = {
    model: effectiveModel(model),
    ask,
    index,
    embed: effectiveSettings(embed),
    retrieve:
      rerank.provider === "off" ? retrieval : { ...retrieval, rerank: effectiveSettings(rerank) },
  };
  const { entailment, judge, ...verification } = verify;
  return hashJson({
    ...answering,
    // Which models are called, and by which protocol; not their addresses.
    ...(hosts.length === 0
      ? {}
      : { hosts: hosts.map(({ kind, models, api }) => ({ kind, models, api })) }),
    ...(judge.model === "off" ? {} : { judge }),
    ...(judge.form === "nli" ? { entailment: effectiveSettings(entailment) } : {}),
    ...(verification.mode === "off" ? {} : { verification }),
  });
}

/** A part of the configuration that all workers share, as a warning names it. */
export type SharedKey =
  | "windows"
  | "schedules"
  | "on_batch_end"
  | "budgets"
  | "runs.keep_days"
  | "index"
  | "embed.model_id"
  | "hosts"
  | `model.parallel of ${string}`;

/** The SHA-256, 64 hex digits, of each shared part of a configuration. A missing key is not compared. */
export type SharedConfig = ReadonlyMap<SharedKey, string>;

/** The part that workers of one host have to agree on. @param host base URL, `scheme://host[:port][/path]` */
export const parallelKeyOf = (host: string): SharedKey => `model.parallel of ${host}`;

/** The shared part of `hosts`. Keys, certificates and proxies belong to the machine of a worker. */
const withoutSecrets = (hosts: ConfigValues["hosts"]): readonly unknown[] =>
  hosts.map(({ headers = {}, ...host }) => ({
    ...Object.fromEntries(Object.entries(host).filter(([key]) => !OF_A_MACHINE.has(key))),
    headers: Object.keys(headers).sort(),
  }));

const OF_A_MACHINE = new Set(["key_env", "key_file", "ca_file", "proxy"]);

/** @param hosts that the configuration calls */
export function sharedConfigOf(config: ConfigValues, hosts: readonly CallPlace[]): SharedConfig {
  const { windows, schedules, on_batch_end, budgets, runs, index, embed } = config;
  const { keep_days, pin_until_exported } = runs;
  const { secret, ...hook } = on_batch_end;
  const parts: readonly (readonly [SharedKey, unknown])[] = [
    ["windows", windows],
    ["schedules", schedules],
    [
      "on_batch_end",
      {
        ...hook,
        signed: secret !== null,
        ...(writesAtBatchEnd(config) ? { write_back: true } : {}),
      },
    ],
    ["budgets", budgets],
    ["runs.keep_days", { keep_days, pin_until_exported }],
    ["index", index],
    ["embed.model_id", vectorSettingsOf(embed)],
    ...(config.hosts.length === 0 ? [] : [["hosts", withoutSecrets(config.hosts)] as const]),
    ...hosts.map((place) => [parallelKeyOf(place.host), limitsOf(place)] as const),
  ];
  return new Map(parts.map(([key, value]) => [key, hashJson(value)]));
}

/** Whether a source is written back to when a batch ends. */
export const writesAtBatchEnd = ({ index }: Pick<ConfigValues, "index">): boolean =>
  index.sources.some((source) => source.write_back?.when === "batch_end");

/** Settings that determine stored vectors, beside the files of the model. */
const vectorSettingsOf = ({
  provider,
  model_id,
  passage_prefix,
  dimensions,
  precision,
}: ConfigValues["embed"]): unknown => [provider, model_id, passage_prefix, dimensions, precision];

/** A host that is not in `hosts` has only the limit of parallel calls. */
const limitsOf = ({ parallel, entry }: CallPlace): unknown =>
  entry === undefined
    ? parallel
    : [parallel, entry.requestsPerMinute, entry.tokensPerMinute, entry.priceIn, entry.priceOut];

/** Models in our own process also answer by the precision of their weights. */
const effectiveModel = (model: ConfigValues["model"]): object =>
  model.provider === "transformers"
    ? { ...effectiveSettings(model), dtype: model.transformers.dtype }
    : effectiveSettings(model);

const effectiveSettings = (slice: object): object =>
  Object.fromEntries(Object.entries(slice).filter(([key]) => !WITHOUT_EFFECT.has(key)));
