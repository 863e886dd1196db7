import { setFlagsFromString } from "node:v8";
import type { CommandHandlers } from "../shared/commands/command.ts";

/** The process that programs talk to. */
export const handlers: CommandHandlers = {
  serve: async () => {
    collectEarly();
    return (await import("./serve.ts")).servePrograms;
  },
};

/** A share of what lives, in percent. V8's own choice is up to three times of it. */
const MOST_GARBAGE = 15;

/**
 * Has this process collect garbage early. Files and results pass through it piece by piece, so that it holds little and all else
 * is garbage. For a file of 100 MB, `bench/serve-memory.ts` takes up to 186 MiB above idle where V8 is left to itself, and 46 so.
 */
function collectEarly(): void {
  // The young generation stays as small as it begins.
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString(`--heap-growing-percent=${MOST_GARBAGE}`);
}
