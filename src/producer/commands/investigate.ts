import { openContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { printRefusal } from "../../shared/commands/report-failure.ts";
import { documentFilterOf } from "../../shared/files/document-filter.ts";
import { Failure, refuse } from "../../shared/failure.ts";
import { pathPrefixOf } from "../../shared/files/path-prefix.ts";
import { investigationProblem } from "../../shared/config/tool-presets.ts";
import { hintSearchKey } from "../watch/obstacles.ts";
import { runSingleJob } from "./ask.ts";
import { countOfOption, routeOf, said, textOf, verificationOf } from "./options.ts";
import { textArgumentOf } from "./read-stdin.ts";

/** Queues an investigation; one that can't be done with this configuration is refused at once. */
export const investigate: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options, cwd } = invocation;
  const path = textOf(options, "path");
  const place = path === undefined ? undefined : pathPrefixOf(path, cwd, context.config);
  if (place?.kind === "refused") return printRefusal(place, invocation);
  const input = {
    preset: textOf(options, "preset"),
    required_tools: toolsIn(textOf(options, "requireTools")),
    tools: options["tools"] === "optional" ? ("optional" as const) : undefined,
  };
  const problem = investigationProblem(input, context.config);
  if (problem?.code === "MODEL_UNSUPPORTED") {
    return printRefusal(refuse(problem.code, problem.message), invocation);
  }
  if (problem !== undefined) throw new Failure("INPUT_INVALID", problem.message);
  await hintSearchKey(context, [input.preset]);
  const { since, until } = documentFilterOf(options);
  const steps = countOfOption(options, "maxSteps");
  return runSingleJob(context, {
    kind: "investigate",
    task: await textArgumentOf(invocation, "The question"),
    ...said(input),
    ...(steps === undefined ? {} : { limits: { steps } }),
    options: said({
      route: routeOf(options),
      model: textOf(options, "model"),
      path_prefix: place?.prefix,
      since,
      until,
      ...verificationOf(options),
    }),
  });
};

/** @throws Failure USAGE_ERROR */
function toolsIn(text: string | undefined): readonly string[] | undefined {
  const names = text?.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  if (names?.length !== 0) return names;
  throw new Failure(
    "USAGE_ERROR",
    "--require-tools names no tool; `nightdesk tools list` shows them.",
  );
}
