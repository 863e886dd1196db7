import type { JobInput } from "./job.ts";
import { routeChat, routeModels } from "./route-models.ts";
import type { RoutingSettings } from "./route-models.ts";

/**
 * The model that will write the answer of a job, as far as the configuration of whoever queues it tells; "" where
 * none does. Jobs of one model are worked one after another, so that a host does not load models back and forth.
 */
export function modelAffinity(input: JobInput, settings: RoutingSettings): string {
  switch (input.kind) {
    case "ask":
      return routeModels(input.question, settings, input.options ?? {}).second.name ?? "";
    case "summarize":
    case "extract":
    case "digest":
      return routeModels("", settings, input.options ?? {}).second.name ?? "";
    case "chat":
      return routeChat(settings, input.model).name ?? "";
    case "embed":
    case "index":
    case "command":
      return "";
  }
}
