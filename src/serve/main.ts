import { setFlagsFromString } from "node:v8";
import type { CommandHandlers } from "../shared/commands/command.ts";

/** The process that serves programs. */
export const handlers: CommandHandlers = {
  serve: async () => {
    collectEarly();
    return (await import("./serve.ts")).servePrograms;
  },
};

/** In percent of live memory. V8's own choice is up to three times as much. */
const MOST_GARBAGE = 15;

/**
 * Makes V8 collect garbage early. Files and results pass through this process in pieces, so it holds little, and all else is
 * garbage. For a file of 100 MB, `bench/serve-memory.ts` takes up to 186 MiB above idle with V8's defaults, and 46 this way.
 */
function collectEarly(): void {
  // Keeps the young generation at its initial size.
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString(`--heap-growing-percent=${MOST_GARBAGE}`);
}
