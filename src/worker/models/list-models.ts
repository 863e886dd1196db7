import type { HostPlace } from "../../shared/config/hosts.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure, HostFailure } from "../../shared/failure.ts";
import { listModels, probeHost } from "./ask-route.ts";
import { hostOpener } from "./create-model.ts";
import { withDeadline } from "./deadline.ts";
import type { AccessOf } from "./host-access.ts";
import { textAt, wiresAt } from "./host-request.ts";
import type { Model } from "./model.ts";
import { fullName, ollamaHost } from "./ollama-probe.ts";
import type { FeatureMemory } from "./openai-compatible.ts";
import { findListedModel, openAiHost } from "./openai-probe.ts";

/** The models of a host; `failure` if it does not answer. */
export type HostModels = {
  readonly place: HostPlace;
  readonly models: readonly FoundModel[];
  readonly failure: Failure | null;
};

type FoundModel = {
  /** The name in the configuration. */
  readonly name: string;
  /** The facts that the host reports; null if it reports none in time, or was not asked. */
  readonly model: Model | null;
};

const TIMEOUT_MS = 10_000;
/** Each model takes a few requests. A hosted service lists hundreds: the others get only their names. */
const MOST_ASKED = 40;
const AT_ONCE = 4;

/**
 * Asks a host for its models and its facts about each, with the requests of a worker. Loads none.
 * @param isUsed whether the configuration uses a name: such models come first
 */
export async function listHostModels(
  place: HostPlace,
  config: Config,
  { accessOf, isUsed }: { readonly accessOf: AccessOf; readonly isUsed: (name: string) => boolean },
): Promise<HostModels> {
  try {
    const listed = await namesAt(place, accessOf);
    const names = listed.toSorted(([a], [b]) => Number(isUsed(b)) - Number(isUsed(a)));
    const features = { recall: () => NO_COUNTING, note: async () => undefined };
    const open = hostOpener(place, config, accessOf, features);
    const models: FoundModel[] = [];
    for (let at = 0; at < names.length; at += AT_ONCE) {
      const some = names.slice(at, at + AT_ONCE).map(async ([name, nameThere]) => {
        if (at >= MOST_ASKED) return { name, model: null };
        const model = await open(nameThere, AbortSignal.timeout(TIMEOUT_MS)).catch(() => null);
        return { name, model };
      });
      models.push(...(await Promise.all(some)));
    }
    return { place, models, failure: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { place, models: [], failure: error };
  }
}

const NO_COUNTING: FeatureMemory = { recall: async () => "none" };

/** Pairs of the name in the configuration and the name on the host, for the models that the host lists. */
async function namesAt(
  { host: baseUrl, provider, entry }: HostPlace,
  accessOf: AccessOf,
): Promise<readonly (readonly [string, string])[]> {
  const access = accessOf(baseUrl);
  const place = {
    name: "",
    baseUrl,
    access,
    ...(entry === undefined ? {} : { entry: entry.name }),
  };
  const host = provider === "ollama" ? ollamaHost(place) : openAiHost(place);
  const { signal } = new AbortController();
  const listed = await withDeadline(
    { signal, timeoutMs: TIMEOUT_MS, late: () => listTimeout(baseUrl) },
    (until) => probeHost(host, until, (ends) => listModels(baseUrl, provider, ends, access)),
  );
  const there = [...wiresAt(listed, "models"), ...wiresAt(listed, "data")].flatMap(
    (model) => textAt(model, "id") ?? textAt(model, "name") ?? [],
  );
  const named = entry?.models ?? null;
  if (named === null) return [...new Set(there)].map((name) => [name, name] as const);
  const full = new Set(there.map(fullName));
  const isThere = (name: string): boolean =>
    provider === "ollama" ? full.has(fullName(name)) : findListedModel(listed, name) !== undefined;
  return [...named].filter(([, name]) => isThere(name));
}

const listTimeout = (host: string): Failure =>
  new HostFailure(
    "MODEL_UNREACHABLE",
    `${host} did not list its models within ${TIMEOUT_MS / 1_000} s.`,
    { host },
  );
