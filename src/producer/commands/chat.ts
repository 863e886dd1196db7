import { openContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { argumentOf, countOfOption, said, textOf } from "./read-options.ts";
import { runSingleJob } from "./run-single-job.ts";

export const chat: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  return runSingleJob(context, {
    kind: "chat",
    prompt: argumentOf(invocation),
    ...said({ model: textOf(options, "model"), max_tokens: countOfOption(options, "maxTokens") }),
  });
};
