import { isMainThread } from "node:worker_threads";
import type { PureWork } from "../../../src/worker/offload/offload.ts";

/** How long a thread takes to load this module. */
export const LOADING_MS = 1_500;

const startedAt = performance.now();
while (!isMainThread && performance.now() - startedAt < LOADING_MS);

export const sayLoaded = (): string => "loaded";
export const SAY_LOADED: PureWork<null, string> = { home: import.meta.url, run: sayLoaded };
