import type { Refusal } from "../../shared/failure.ts";
import { hostFailure } from "./host-failure.ts";
import { ollamaHost } from "./ollama-host.ts";

/** Turns what a call of an Ollama host threw into one of ours, as hostFailure says. */
export const ollamaFailure = (error: unknown, name: string, baseUrl: string): Refusal =>
  hostFailure(error, ollamaHost(name, baseUrl));
