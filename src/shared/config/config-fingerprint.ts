import { hashJson } from "../schema/json-value.ts";
import type { CallPlace } from "./hosts.ts";
import type { ConfigValues } from "./schema.ts";

type Answering = Pick<
  ConfigValues,
  "model" | "hosts" | "ask" | "verify" | "index" | "embed" | "retrieve"
>;

// Where a model is served and kept, how long it may take, and how much goes to it at once.
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

/** SHA-256, in lower-case hexadecimal, of the values that change answers, as JSON with sorted keys. */
export function configFingerprint({ verify, ...values }: Answering): string {
  const { model, hosts, ask, index, embed, retrieve } = values;
  const { rerank, ...retrieval } = retrieve;
  const answering = {
    model: effectiveModel(model),
    ask,
    index,
    embed: effective(embed),
    retrieve: rerank.provider === "off" ? retrieval : { ...retrieval, rerank: effective(rerank) },
  };
  const { entailment, judge, ...verification } = verify;
  return hashJson({
    ...answering,
    // Which models are asked, and by which protocol; not where they are.
    ...(hosts.length === 0
      ? {}
      : { hosts: hosts.map(({ kind, models, api }) => ({ kind, models, api })) }),
    ...(judge.model === "off" ? {} : { judge }),
    ...(judge.form === "nli" ? { entailment: effective(entailment) } : {}),
    ...(verification.mode === "off" ? {} : { verification }),
  });
}

/** A part of the configuration that holds for all workers, as a warning names it. */
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

/** What a configuration says for all workers: SHA-256, 64 hex, of each part. A key that is missing says nothing. */
export type SharedConfig = ReadonlyMap<SharedKey, string>;

/** What workers of one host are to agree on. @param host base URL, `scheme://host[:port][/path]` */
export const parallelKeyOf = (host: string): SharedKey => `model.parallel of ${host}`;

/** What `hosts` says for all workers. How a worker comes to a host, by which key, file or proxy, is its machine's. */
const withoutSecrets = (hosts: ConfigValues["hosts"]): readonly unknown[] =>
  hosts.map(({ headers = {}, ...host }) => ({
    ...Object.fromEntries(Object.entries(host).filter(([key]) => !OF_A_MACHINE.has(key))),
    headers: Object.keys(headers).sort(),
  }));

const OF_A_MACHINE = new Set(["key_env", "key_file", "ca_file", "proxy"]);

/** @param hosts those that it calls */
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

/** What decides stored vectors, beside the files of the model. */
const vectorSettingsOf = ({
  provider,
  model_id,
  passage_prefix,
  dimensions,
  precision,
}: ConfigValues["embed"]): unknown => [provider, model_id, passage_prefix, dimensions, precision];

/** Of a host that is not listed, its parallel calls alone, as ever. */
const limitsOf = ({ parallel, entry }: CallPlace): unknown =>
  entry === undefined
    ? parallel
    : [parallel, entry.requestsPerMinute, entry.tokensPerMinute, entry.priceIn, entry.priceOut];

/** The precision of weights is part of what answers, where it is ours to choose. */
const effectiveModel = (model: ConfigValues["model"]): object =>
  model.provider === "transformers"
    ? { ...effective(model), dtype: model.transformers.dtype }
    : effective(model);

const effective = (slice: object): object =>
  Object.fromEntries(Object.entries(slice).filter(([key]) => !WITHOUT_EFFECT.has(key)));
