import type { CommanderError } from "commander";
import { Failure } from "../failure.ts";

/** What Commander says about a wrong command line, as one line that names the way to help. */
export function usageFailure({ code, message }: CommanderError): Failure {
  // Commander ends with this code when it has printed help because no command was named.
  if (code === "commander.help") {
    return new Failure("USAGE_ERROR", "No command was given; nightdesk --help lists them.");
  }
  const name =
    code === "commander.unknownOption" ? /'(-[^']*\.[^']*)'/.exec(message)?.[1] : undefined;
  const hint =
    name === undefined
      ? "--help shows what is possible."
      : `where it is the name of a file, write ./${name}, or put -- before it and behind all options.`;
  return new Failure("USAGE_ERROR", `${plainWords(message)}; ${hint}`);
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
