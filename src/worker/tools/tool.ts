import { z } from "zod";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { Reading } from "../evidence/types.ts";

/** What a call of a tool may change or reach beside what it reads. */
export type ToolEffect = "none" | "local-write" | "exec" | "network";

/** What a run lets a tool reach of the world: no tool has a door of its own. */
export type ToolReach = {
  /** Reads a file through the sandbox, as much of it as this call may bring. */
  readonly readFile: (path: string) => Promise<Reading | Refusal>;
};

/** Something that a model may call by its name. */
export type Tool<Args extends object = object, Result = unknown> = {
  /** Lower case, with underscores. */
  readonly name: string;
  /** One sentence about what it does, as hosts and prompts show it. */
  readonly description: string;
  readonly args: z.ZodType<Args>;
  /** The names of its arguments, in order. */
  readonly argNames: readonly string[];
  /** The JSON schema of `args`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly effect: ToolEffect;
  /** Whether an answer may rest on what it gives. */
  readonly isEvidence: boolean;
  readonly limits: {
    /** Different calls that one run may make. */
    readonly callsPerRun: number;
  };
  run(args: Args, reach: ToolReach): Promise<Result | Refusal>;
};

type Definition<Shape extends z.ZodRawShape, Result> = Omit<
  Tool<z.infer<z.ZodObject<Shape>>, Result>,
  "args" | "argNames" | "parameters"
> & { readonly args: z.ZodObject<Shape> };

/** A tool with what follows from its arguments. */
export function defineTool<Shape extends z.ZodRawShape, Result>(
  definition: Definition<Shape, Result>,
): Tool<z.infer<z.ZodObject<Shape>>, Result> {
  const { type, properties, required, additionalProperties } = z.toJSONSchema(definition.args);
  return {
    ...definition,
    argNames: Object.keys(definition.args.shape),
    parameters: { type, properties, required, additionalProperties },
  };
}

/** A call as a reply writes it in the form that is ours. */
export const textOfCall = <Args extends object>(
  { name }: Pick<Tool<Args>, "name">,
  args: Args,
): string => JSON.stringify({ type: "tool_call", name, args });

/** The arguments of a call as its tool takes them; INVALID_ARGS, which says what was expected, where it does not. */
export function readArgs<Args extends object>(
  tool: Tool<Args>,
  given: unknown,
): { readonly kind: "args"; readonly args: Args } | Refusal {
  const read = tool.args.safeParse(given);
  if (read.success) return { kind: "args", args: read.data };
  const { issues } = read.error;
  const [unknown] = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys : [],
  );
  if (unknown !== undefined) {
    return refuse(
      "INVALID_ARGS",
      `${tool.name} has no argument ${quoted(unknown)}; ${listed(tool.argNames.map(quoted))}.`,
    );
  }
  const [first] = issues;
  return refuse(
    "INVALID_ARGS",
    `${tool.name} needs ${quoted(String(first?.path[0] ?? ""))}, ${first?.message ?? ""}.`,
  );
}

/** The refusal of a call of a tool that is not there. */
export const unknownTool = (name: string, tools: readonly Pick<Tool, "name">[]): Refusal =>
  refuse(
    "INVALID_ARGS",
    `There is no tool ${quoted(name)}; ${listed(tools.map((tool) => tool.name))}.`,
  );

const MOST_QUOTED_CHARS = 200;
const quoted = (text: string): string => JSON.stringify(text.slice(0, MOST_QUOTED_CHARS));

const listed = ([only = "none", ...others]: readonly string[]): string =>
  others.length === 0 ? `the only one is ${only}` : `there are ${[only, ...others].join(", ")}`;
