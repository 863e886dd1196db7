import { modelHostsOf } from "../../shared/config/hosts.ts";
import type { HostPlace } from "../../shared/config/hosts.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { FROM_HOSTS, runsInProcess } from "../../shared/config/providers.ts";
import type { HostProvider } from "../../shared/config/providers.ts";
import { withoutAlias } from "../../shared/job/route-models.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { selectRefusedBudgets } from "../../shared/store/hosts/budgets.ts";
import { selectHosts } from "../../shared/store/hosts/hosts.ts";
import type { HostState } from "../../shared/store/hosts/hosts.ts";
import { formatInZone } from "../../shared/schedules/time.ts";
import { LIST_ROUTE, listModels } from "../models/ask-route.ts";
import { createModels, settingOfModel } from "../models/create-model.ts";
import type { Model } from "../models/model.ts";
import { checkDigest, isPinned } from "../models/ollama-probe.ts";
import { tryEachHost } from "../embedders/hosted.ts";
import { embedderPlaceOf, accessOfCommand } from "../settings.ts";
import { fail, ok, warn, wordsOf } from "./check.ts";
import { checkListedHosts } from "./check-listed-hosts.ts";
import type { Check } from "./check.ts";
import { probeWindow } from "./check-window.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

/** `probe`: each model also gets a prompt that it must refuse, for which its host loads it. */
type WindowPolicy = "probe" | "look";
type HowToAsk = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly window: WindowPolicy;
};

const TIMEOUT_MS = 5_000;

/**
 * Asks the model host about the configured models, as a worker does: whether it has them, whether they are the build that
 * model.digest names, and whether they accept the window of model.num_ctx.
 */
export async function checkModelHost(
  config: Config,
  env: Readonly<Record<string, string | undefined>> = {},
  window: WindowPolicy = "look",
): Promise<readonly Check[]> {
  if (config.model.provider === FROM_HOSTS) {
    const checks = await checkListedHosts(config, env);
    const models = await Promise.all(
      wantedModels(config).map((name) => checkModel(name, config, { env, window })),
    );
    return [...checks, ...models.flat(), ...(await checkEmbedder(config, env))];
  }
  let place: HostPlace | undefined;
  try {
    [place] = modelHostsOf(config);
  } catch (error) {
    return [fail("DOCTOR_OLLAMA_URL_INVALID", wordsOf(error), "Give scheme://host[:port].")];
  }
  if (runsInProcess(config.model.provider)) return checkOwnModels(config, { env, window });
  if (place === undefined) {
    const { provider } = config.model;
    return [
      ok("DOCTOR_OLLAMA_OK", `The ${provider} model needs no host.`),
      ...(await checkEmbedder(config, env)),
    ];
  }
  const { host: url, provider } = place;
  const down = await checkReachable(url, provider);
  if (down !== null) return [down];
  const checks = await Promise.all(
    wantedModels(config).map((name) => checkModel(name, config, { env, window })),
  );
  return [
    ok("DOCTOR_OLLAMA_OK", `${url} answers.`),
    ...checks.flat(),
    ...(await checkEmbedder(config, env)),
  ];
}

/** Loads one model after the other, like a worker; but none stays loaded. */
async function checkOwnModels(
  config: Config,
  { env, window }: HowToAsk,
): Promise<readonly Check[]> {
  const model = { ...config.model, digest: null, keep_alive: "0" };
  const models = createModels({ ...config, model });
  const checks: Check[] = [];
  for (const name of wantedModels(config)) {
    try {
      const model = await models.get(name, AbortSignal.timeout(config.model.timeout_s * 1_000));
      const { serverVersion } = model.facts;
      if (!checks.some(({ code }) => code === "DOCTOR_OLLAMA_OK")) {
        checks.push(ok("DOCTOR_OLLAMA_OK", `Models are loaded here, by ${serverVersion ?? ""}.`));
      }
      checks.push(checkBuild(model, config), ...(await checkWindow(model, config, window)));
    } catch (error) {
      const words = wordsOf(error);
      checks.push(
        fail("DOCTOR_MODEL_MISSING", words, `Do that, or change ${settingOf(name, config)}.`),
      );
    }
  }
  return [...checks, ...(await checkEmbedder(config, env))];
}

const START: Readonly<Record<HostProvider, string>> = {
  ollama: "Start Ollama there",
  "openai-compatible": "Start the server there",
};

async function checkReachable(url: string, provider: HostProvider): Promise<Check | null> {
  const route = LIST_ROUTE[provider];
  const answer = await listModels(url, provider, AbortSignal.timeout(TIMEOUT_MS)).catch(
    (error: unknown) => wordsOf(error),
  );
  if (answer !== null && typeof answer !== "string") return null;
  return fail(
    "DOCTOR_OLLAMA_UNREACHABLE",
    `${url} does not answer (${answer ?? `it says nothing at ${route}`}).`,
    `${START[provider]}, or change model.base_url; --no-ollama skips this check.`,
  );
}

const wantedModels = (config: Config): readonly string[] => [
  ...new Set(
    [config.model.name, config.model.fast, config.model.big]
      .filter((name) => name !== null)
      .map((name) => withoutAlias(name, config.model)),
  ),
];

async function checkModel(
  name: string,
  config: Config,
  { env, window }: HowToAsk,
): Promise<readonly Check[]> {
  const models = createModels(
    { ...config, model: { ...config.model, digest: null } },
    undefined,
    null,
    { ...accessOfCommand(config, env), features: null },
  );
  try {
    const model = await models.get(name, AbortSignal.timeout(TIMEOUT_MS));
    return [checkBuild(model, config), ...(await checkWindow(model, config, window))];
  } catch (error) {
    return [missingModel(name, config, error)];
  }
}

const settingOf = (name: string, config: Config): string =>
  settingOfModel(name, config) ?? "model.name";

const silentHost = (name: string, error: unknown): Check =>
  fail(
    "DOCTOR_OLLAMA_UNREACHABLE",
    `The host says nothing of model ${name} (${wordsOf(error)}).`,
    "Look at the host's log.",
  );

function missingModel(name: string, config: Config, error: unknown): Check {
  if (!(error instanceof Failure) || error.code !== "MODEL_NOT_FOUND")
    return silentHost(name, error);
  const fix =
    config.model.provider === "ollama"
      ? `Run: ollama pull ${name}`
      : `Load it there, or change ${settingOf(name, config)}.`;
  return fail("DOCTOR_MODEL_MISSING", error.message, fix);
}

function checkBuild(model: Model, config: Config): Check {
  const { digest } = config.model;
  try {
    if (digest !== null && isPinned(model.name, config)) checkDigest(model, digest);
  } catch (error) {
    return fail(
      "DOCTOR_MODEL_DIGEST",
      wordsOf(error),
      "Install that build, or change model.digest.",
    );
  }
  return ok("DOCTOR_MODEL_OK", `Model ${model.name} is installed${buildOf(model)}.`);
}

function buildOf({ facts: { quantization, digest } }: Model): string {
  const known = [quantization, digest === null ? null : `digest ${digest.slice(0, 12)}`];
  const words = known.filter((word) => word !== null);
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}

async function checkWindow(
  model: Model,
  config: Config,
  policy: WindowPolicy,
): Promise<readonly Check[]> {
  const trained = checkTrainedWindow(model, config);
  return policy === "probe" ? [...trained, await probeWindow(model, config)] : trained;
}

function checkTrainedWindow(
  { name, facts: { windowTokens } }: Model,
  { model }: Config,
): readonly Check[] {
  if (windowTokens === null || windowTokens >= model.num_ctx) return [];
  return [
    warn(
      "DOCTOR_MODEL_WINDOW",
      `Model ${name} takes ${windowTokens} tokens, fewer than model.num_ctx (${model.num_ctx}).`,
      `Nothing is lost: its calls use ${windowTokens}. Lower model.num_ctx to silence this.`,
    ),
  ];
}

/** Embeds a word at each host of the embedder, or in this process. A failing host does not hide the results of others. */
async function checkEmbedder(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Check[]> {
  const { embed, model } = config;
  const reach = accessOfCommand(config, env);
  const isAlone = embed.provider === FROM_HOSTS && model.provider !== FROM_HOSTS;
  try {
    const listed = isAlone ? await checkListedHosts(config, env) : [];
    const trials = await tryEachHost(embed, embedderPlaceOf(config, reach));
    const checks = trials.map(({ place, error }) =>
      error === undefined
        ? ok("DOCTOR_MODEL_OK", `Model ${embed.model_id} embeds at ${place.host}.`)
        : failEmbedder(embed, error),
    );
    return [...listed, ...checks];
  } catch (error) {
    return [failEmbedder(embed, error)];
  }
}

function failEmbedder(embed: Config["embed"], error: unknown): Check {
  if (error instanceof Failure && (error.code === "CONFIG_ERROR" || error.code === "EMBED_DRIFT")) {
    return fail("DOCTOR_EMBED_CONFIG_INVALID", wordsOf(error), "Do that, or change embed.*.");
  }
  const isMissing = error instanceof Failure && error.code === "MODEL_NOT_FOUND";
  if (!isMissing) return silentHost(embed.model_id, error);
  return fail("DOCTOR_MODEL_MISSING", wordsOf(error), "Do that, or change embed.model_id.");
}

/** Reports what the workers know about the model hosts, and the batches that a budget holds. */
export async function checkHosts(db: Queryable, zone: string | null): Promise<readonly Check[]> {
  const hosts = await selectHosts(db);
  const refused = await selectRefusedBudgets(db);
  return [
    ...hosts.map((host) => checkHost(host, zone)),
    ...refused.map(({ batch, refusedBy, tokensNeeded }) =>
      warn(
        "DOCTOR_BUDGET_USED_UP",
        `Batch ${JSON.stringify(batch)} is held: the budget of the ${refusedBy} has no room for its next call, which may take ${tokensNeeded} tokens.`,
        refusedBy === "batch"
          ? `See which limit to raise: nightdesk batch budget ${quoteForShell(batch)}`
          : "Raise budgets.night and start the workers again, or wait for the next night.",
      ),
    ),
  ];
}

function checkHost(
  { host, provider, capacity, capacityReason, state, ...more }: HostState,
  zone: string | null,
): Check {
  if (state === "closed" && provider === "web") {
    return ok(
      "DOCTOR_HOST_OK",
      `${host} is called as often as tools.web.search allows, by all workers together.`,
    );
  }
  if (state === "closed") {
    return ok("DOCTOR_HOST_OK", `${host} gets ${capacity} at once (${capacityReason}).`);
  }
  const { openedAt, nextTryAt, errorMessage } = more;
  if (provider === "web") {
    return warn(
      "DOCTOR_HOST_DOWN",
      `${host} is not called since ${timeOf(openedAt, zone)}: investigations are told so, and go on without. ${errorMessage ?? ""}`.trim(),
      `Nothing, if it was busy: it is called again after ${timeOf(nextTryAt, zone)}. Else look at tools.web.search.`,
    );
  }
  return warn(
    "DOCTOR_HOST_DOWN",
    `${host} is down since ${timeOf(openedAt, zone)}, and its jobs are held. ${errorMessage ?? ""}`.trim(),
    `Start it. A worker asks it again at ${timeOf(nextTryAt, zone)}, and goes on by itself.`,
  );
}

function timeOf(time: Date | null, zone: string | null): string {
  if (time === null) return "an unknown time";
  return zone === null ? time.toISOString() : formatInZone(time, zone, "seconds");
}
