import type { CommanderError } from "commander";
import { Failure } from "../failure.ts";

/** What Commander says about a wrong command line, as one line that names the way to help. */
export function usageFailure({ code, message }: CommanderError): Failure {
  // Commander ends with this code when it has printed help because no command was named.
  if (code === "commander.help") {
    return new Failure("USAGE_ERROR", "No command was given; nightdesk --help lists them.");
  }
  return new Failure("USAGE_ERROR", `${plainWords(message)}; --help shows what is possible.`);
}

/** Commander's message as a clause on one line, without its "error:". */
export const plainWords = (message: string): string =>
  message
    .replace(/^error: /, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ")
    .replace(/[.]$/, "");
