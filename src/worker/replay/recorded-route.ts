import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import { routeChat, routeModels } from "../../shared/route-models.ts";
import type { Route, RoutingSettings } from "../../shared/route-models.ts";
import type { RepeatableInput } from "./repeatable-input.ts";

/** Who would take the passes of a job now. */
export function routeNow(input: RepeatableInput, settings: RoutingSettings): Route {
  switch (input.kind) {
    case "ask":
      return routeModels(input.question, settings, optionsOf(input));
    case "summarize":
    case "extract":
    case "digest":
      return routeModels("", settings, optionsOf(input));
    case "chat": {
      const choice = routeChat(settings, input.model);
      return { first: choice, second: choice };
    }
  }
}

const optionsOf = ({ options }: Exclude<RepeatableInput, { kind: "chat" }>) => ({
  route: options?.route,
  model: options?.model,
});

type Routed = { readonly input: RepeatableInput; readonly settings: RoutingSettings };

/** Job and settings that lead to the models which the run had, whatever is configured now. */
export function recordedRoute(
  { models }: Pick<RunDetail, "models">,
  input: RepeatableInput,
  settings: RoutingSettings,
): Routed {
  const second = models.find(({ pass }) => pass === "second");
  if (second === undefined) return { input, settings };
  const first = models.find(({ pass }) => pass === "first") ?? second;
  const now = routeNow(input, settings);
  return {
    input: withModels(input, second.model),
    settings: {
      ...settings,
      provider: "ollama",
      name: second.model,
      fast: first.model,
      big: second.model,
      prefer_fast: true,
      big_triggers: [],
      aliases: {},
      max_tokens: maxTokensOf(first, now.first.maxTokens),
      max_tokens_big_second: maxTokensOf(second, now.second.maxTokens),
    },
  };
}

const maxTokensOf = ({ facts }: RunDetail["models"][number], now: number): number =>
  typeof facts["max_tokens"] === "number" ? facts["max_tokens"] : now;

/** On the route on which pass 2 has a model and a budget of its own. */
function withModels(input: RepeatableInput, second: string): RepeatableInput {
  switch (input.kind) {
    case "chat":
      return { ...input, model: second };
    case "ask":
      return { ...input, options: { ...input.options, model: undefined, route: "big" } };
    case "summarize":
      return { ...input, options: { ...input.options, model: undefined, route: "big" } };
    case "extract":
      return { ...input, options: { ...input.options, model: undefined, route: "big" } };
    case "digest":
      return { ...input, options: { ...input.options, model: undefined, route: "big" } };
  }
}
