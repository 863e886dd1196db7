import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { Invocation } from "./command.ts";
import { Failure } from "../failure.ts";

/**
 * Asks for permission: `--yes`, or an answer on the terminal. End of input and Ctrl-C mean no.
 * @param question without the choices behind it, such as "Download 3 MB?"
 * @param what needs permission, to follow "whether", such as "this may be downloaded"
 * @throws Failure USAGE_ERROR without a terminal and without --yes
 */
export async function askForYes(
  { options }: Pick<Invocation, "options">,
  question: string,
  what: string,
): Promise<boolean> {
  if (options["yes"] === true) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new Failure(
      "USAGE_ERROR",
      `There is no terminal to ask on whether ${what}. Give --yes to allow it.`,
    );
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const left = once(prompt, "close").then(() => "");
  const answer = await Promise.race([prompt.question(`${question} [y/N] `), left]);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}
