import { matchTrigger } from "../text/match-trigger.ts";
import { hasWeights } from "../config/providers.ts";
import type { ModelSource } from "../config/providers.ts";

/** The `model` keys of the configuration that decide which model answers, with how many tokens and how much time. */
export type RoutingSettings = {
  readonly provider: ModelSource;
  readonly name: string | null;
  readonly fast: string | null;
  readonly big: string | null;
  readonly prefer_fast: boolean;
  readonly big_triggers: readonly string[];
  readonly aliases: Readonly<Record<string, string>>;
  /** Names of models that accept pictures. */
  readonly sees: readonly string[];
  readonly max_tokens: number;
  readonly max_tokens_big_second: number;
  readonly timeout_s: number;
  readonly timeout_s_big_second: number;
};

/** The options of a job that choose the model. */
export type RouteOptions = {
  readonly route?: "fast" | "big" | undefined;
  readonly model?: string | undefined;
};

/** The model of a pass, why it was chosen, and its budget. `name` is null when none is configured. */
export type ModelChoice = {
  readonly name: string | null;
  readonly why: string;
  readonly maxTokens: number;
  readonly timeoutMs: number;
};

export type Route = { readonly first: ModelChoice; readonly second: ModelChoice };

/** Chooses the models of both passes. Pure; triggers of `big_triggers` match whole words only. */
export function routeModels(
  question: string,
  settings: RoutingSettings,
  options: RouteOptions,
): Route {
  const { first, second } = selectNames(question, settings, options);
  const isBig = options.route === "big" || (settings.big !== null && second.name === settings.big);
  const baseBudget = { maxTokens: settings.max_tokens, timeoutMs: settings.timeout_s * 1000 };
  const bigBudget = {
    maxTokens: Math.max(settings.max_tokens, settings.max_tokens_big_second),
    timeoutMs: Math.max(settings.timeout_s, settings.timeout_s_big_second) * 1000,
  };
  return {
    first: { ...resolveAlias(first, settings), ...baseBudget },
    second: { ...resolveAlias(second, settings), ...(isBig ? bigBudget : baseBudget) },
  };
}

/** The model that `verify.judge.model` names; `same` is the model that answers a job which names none. */
export const judgeName = (name: string, settings: RoutingSettings): string | null =>
  routeModels("", settings, name === "same" ? {} : { model: name }).second.name;

/** The model of a chat: the one that the job names, else `model.name`. */
export function routeChat(settings: RoutingSettings, model: string | undefined): ModelChoice {
  const { second } = routeModels("", { ...settings, fast: null, big: null }, { model });
  return second.name === null ? routeModels("", settings, {}).first : second;
}

type Named = { readonly name: string | null; readonly why: string };

function selectNames(
  question: string,
  settings: RoutingSettings,
  options: RouteOptions,
): { first: Named; second: Named } {
  if (options.model !== undefined) return samePasses(options.model, "option model");
  if (!hasWeights(settings.provider)) return samePasses(settings.provider, "model.provider");
  const { name, fast, big } = settings;
  if (options.route === "fast") return samePasses(fast ?? name ?? big, "option route fast");
  const usual = usualNames(question, settings);
  if (options.route !== "big") return usual;
  return { ...usual, second: { name: big ?? usual.second.name, why: "option route big" } };
}

function usualNames(question: string, settings: RoutingSettings): { first: Named; second: Named } {
  const { name, fast, big, prefer_fast: preferFast } = settings;
  if (fast === null && big === null) return samePasses(name, "model.name");
  if (!preferFast) return samePasses(big ?? fast, "model.prefer_fast is off");
  const first = { name: fast ?? big, why: "model.prefer_fast" };
  const trigger = big === null ? null : matchTrigger(question, settings.big_triggers);
  return { first, second: trigger === null ? first : { name: big, why: `trigger "${trigger}"` } };
}

const samePasses = (name: string | null, why: string): { first: Named; second: Named } => ({
  first: { name, why },
  second: { name, why },
});

const resolveAlias = ({ name, why }: Named, settings: RoutingSettings): Named => ({
  name: name === null ? null : withoutAlias(name, settings),
  why,
});

/** The model that model.aliases gives for a name; the name itself when it is no alias. */
export const withoutAlias = (name: string, { aliases }: Pick<RoutingSettings, "aliases">): string =>
  (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name;
