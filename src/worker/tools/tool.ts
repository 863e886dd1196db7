import { z } from "zod";
import type { DocumentFilter } from "../../shared/files/document-filter.ts";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import type { ToolEffect } from "../../shared/config/mcp-servers.ts";
import type { Passage, Reading, ToolPrint } from "../evidence/types.ts";
import type { McpAccess } from "../mcp-client/definition.ts";
import type { Offload } from "../offload/offload.ts";
import type { CommandDecision } from "../sandbox/shell/command.ts";
import type { ShellOutcome } from "../sandbox/shell/executor.ts";
import type { CommandRule } from "../sandbox/shell/rules.ts";
import type { ShellCommand } from "../sandbox/shell/state.ts";
import type { WebAccess } from "../web/open-web.ts";

/** A piece that an answer may rest on: a whole file or web page, a stretch of one, or the output of the tool itself. */
export type ToolEvidence =
  | { readonly kind: "file"; readonly reading: Reading }
  | { readonly kind: "passage"; readonly passage: Passage }
  | { readonly kind: "output"; readonly output: PrintedText };

/** The output of a tool. Its step gives it a label. */
export type PrintedText = Omit<ToolPrint, "label">;

/** The result of a call. The model sees all of it as untrusted data. */
export type ToolOutput = {
  readonly kind: "output";
  /** The text for the model. Evidence is shown beside it and need not be repeated. */
  readonly text: string;
  /** For the record: counts, sizes and ids, and no text of documents. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly evidence: readonly ToolEvidence[];
  /** Outputs that are stored whole, while the model sees a part. A later call may page through them. */
  readonly kept?: readonly WholeStream[];
};

export type WholeStream = {
  readonly stream: "stdout" | "stderr" | "state";
  readonly content: Buffer;
};

/** An output whose text Nightdesk wrote. */
export const outputOf = (
  text: string,
  facts: ToolOutput["facts"] = {},
  evidence: ToolOutput["evidence"] = [],
): ToolOutput => ({ kind: "output", text, facts, evidence });

type FoundPassages = {
  readonly passages: readonly Passage[];
  /** Hits that lie outside the grant. */
  readonly hidden: number;
};

/** A sandbox for the commands of a grant, or the reason why there is none. */
export type ShellDoor =
  | { readonly kind: "disabled"; readonly why: string }
  | {
      readonly kind: "open";
      /** The executor of commands. A person approves it together with the command. */
      readonly executor: string;
      /** Decides about a command that would run where the last one left off. */
      decide(command: string): Promise<CommandDecision>;
      /** Counts a call that a rule decided. */
      countRule(rule: CommandRule): Promise<void>;
      /**
       * Runs a command where the last one left off. Refusals: those of the sandbox of files, for an input.
       * @param inputs paths, folders or globs of files that the grant holds
       * @throws Failure REVIEW_PENDING if the state of the last command is gone
       */
      run(command: ShellCommand, inputs: readonly string[]): Promise<ShellRun | Refusal>;
    };

/** The outcome of a command, with both streams whole. */
export type ShellRun = {
  readonly kind: "ran";
  readonly outcome: ShellOutcome;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Paths of its input files, relative to the work root. */
  readonly files: readonly string[];
  readonly fileBytes: number;
};

/** Everything outside itself that a tool may use, within the grant of the run. */
export type ToolAccess = {
  /** Reads a file through the sandbox, from its beginning. Refusals: those of the sandbox, PATH_DENIED (outside the grant). */
  readonly readFile: (path: string) => Promise<Reading | Refusal>;
  /** Paths of all files that may be read within the grant, relative to the work root, in order. */
  readonly listFiles: () => Promise<readonly string[]>;
  /** Best first. */
  readonly search: (request: {
    readonly text: string;
    readonly limit: number;
    readonly pathPrefix: string | null;
    readonly documents?: DocumentFilter;
  }) => Promise<FoundPassages>;
  /** The whole text of an earlier step of this investigation, by its number in prompts; undefined if there is none. */
  readonly readOutput: (
    step: number,
    stream: "result" | "stdout" | "stderr",
  ) => Promise<string | undefined>;
  /** Access to the web, as far as the configuration allows it. */
  readonly web: WebAccess;
  readonly shell: ShellDoor;
  /** Access to the configured MCP servers. */
  readonly mcp: McpAccess;
  readonly offload: Offload;
  readonly signal: AbortSignal;
};

/** The parts of a machine and its configuration that tools depend on. */
export type MachineParts = {
  readonly web: Pick<WebAccess, "whyOff">;
  readonly shell: { readonly kind: "open" } | Extract<ShellDoor, { readonly kind: "disabled" }>;
};

/** A person approved this call. */
export type Permit = "approved";

/** Why a person has to be asked before a call. */
export type ApprovalNeed = {
  /** The executor of the call. A person decides about it together with the call. */
  readonly executor: string;
  /** Labels; they warn, and allow nothing. */
  readonly risks: readonly string[];
  /** A description of the call for people. */
  readonly preview: string;
  /** The reason why this call needs approval, as a clause for the model. */
  readonly why: string;
  /** The calls of the tool that need none. */
  readonly instead?: string;
};

/** The kinds of steps of a search, as the view `moves` shows them. */
export const MOVES = ["search", "open", "compare", "count", "verify", "note", "other"] as const;
export type Move = (typeof MOVES)[number];

/** Something that a model may call by its name. */
export type Tool<Args extends object = object> = {
  /** Lower case, with underscores; `mcp.<server>.<tool>` for the tool of a server. */
  readonly name: string;
  /** One sentence about what it does, as hosts and prompts show it. */
  readonly description: string;
  readonly args: z.ZodType<Args>;
  /** The names of its arguments, in order. */
  readonly argNames: readonly string[];
  /** The JSON schema of `args`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly effect: ToolEffect;
  readonly move: Move;
  /** For a search: the argument that holds the words, and the fact of its output that holds the number of hits. */
  readonly query?: { readonly argument: string; readonly hits: string };
  /** The argument that names the file, folder or URL. Two calls for one folder or site are for one place. */
  readonly place?: { readonly argument: string; readonly of: "file" | "folder" | "url" };
  /** Whether a lost call may be made again, since it changes nothing. Left out: true for a tool without an effect. */
  readonly isRepeatable?: boolean;
  /** Whether an answer may rest on its output. */
  readonly isEvidence: boolean;
  readonly limits: {
    /** The most calls of one investigation. A further call is not made, and the model reads the reason. */
    readonly callsPerRun: number;
  };
  /** The reason why this machine can't use it; null or left out: it can. */
  disabled?(machine: MachineParts): string | null;
  /** The approval that this call needs; null or left out: none. */
  approval?(args: Args, reach: ToolAccess): Promise<ApprovalNeed | null>;
  /** A refusal goes to the model, which may try something else; a fault is thrown. */
  run(args: Args, reach: ToolAccess, permit?: Permit): Promise<ToolOutput | Refusal>;
};

/**
 * An argument that is a text, and not a blank one.
 * @param expected the error that a model reads after any other value
 */
export const filledText = (expected: string, mostChars = Infinity): z.ZodString =>
  (mostChars === Infinity
    ? z.string(expected)
    : z.string(expected).max(mostChars, `at most ${mostChars} characters`)
  ).refine((text) => text.trim() !== "", expected);

/** An argument that is a whole number from 1. */
export const numberUpTo = (most: number): z.ZodOptional<z.ZodInt> =>
  z.int("a whole number").min(1, "a number from 1").max(most, `a number up to ${most}`).optional();

/** @param things the plural of what the tool looks through */
export const pathPrefix = (things: string): z.ZodOptional<z.ZodString> =>
  z
    .string("the beginning of a path")
    .optional()
    .describe(`Only ${things} whose path begins with this.`);

type Definition<Shape extends z.ZodRawShape> = Omit<
  Tool<z.infer<z.ZodObject<Shape>>>,
  "args" | "argNames" | "parameters"
> & { readonly args: z.ZodObject<Shape> };

/** Adds the names and the JSON schema of the arguments to a tool. */
export function defineTool<Shape extends z.ZodRawShape>(
  definition: Definition<Shape>,
): Tool<z.infer<z.ZodObject<Shape>>> {
  const { type, properties, required, additionalProperties } = z.toJSONSchema(definition.args, {
    override({ jsonSchema }) {
      // Every prompt holds the schema: the pattern of a date has 300 characters, and `format` means the same.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return {
    ...definition,
    argNames: Object.keys(definition.args.shape),
    parameters: { type, properties, required, additionalProperties },
  };
}

/**
 * Parses the arguments of a call. If a tool takes no null, null arguments are dropped: models write them for arguments that
 * they leave out. Refusal: INVALID_ARGS, which names the expected argument.
 */
export function parseArgs<Args extends object>(
  tool: Pick<Tool<Args>, "name" | "args" | "argNames">,
  given: unknown,
): { readonly kind: "args"; readonly args: Args } | Refusal {
  const asGiven = tool.args.safeParse(given);
  const read = asGiven.success ? asGiven : tool.args.safeParse(withoutNulls(given));
  if (read.success) return { kind: "args", args: read.data };
  const { issues } = read.error;
  const [unknown] = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys : [],
  );
  if (unknown !== undefined) {
    return refuse(
      "INVALID_ARGS",
      `${tool.name} has no argument ${quoted(unknown)}; ${namesText(tool.argNames.map(quoted))}.`,
    );
  }
  const [first] = issues;
  const needed = first?.path[0];
  const words =
    needed === undefined
      ? "an object of arguments"
      : `${quoted(String(needed))}, ${first?.message ?? ""}`;
  return refuse("INVALID_ARGS", `${tool.name} needs ${words}.`);
}

const withoutNulls = (given: unknown): unknown =>
  isRecord(given)
    ? Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
    : given;

/** The refusal of a call of an unknown tool. */
export const unknownTool = (name: string, tools: readonly Pick<Tool, "name">[]): Refusal =>
  refuse(
    "INVALID_ARGS",
    `There is no tool ${quoted(name)}; ${namesText(tools.map((tool) => tool.name))}.`,
  );

const MOST_QUOTED_CHARS = 200;
export const quoted = (text: string): string => JSON.stringify(text.slice(0, MOST_QUOTED_CHARS));

const namesText = ([only = "none", ...others]: readonly string[]): string =>
  others.length === 0 ? `the only one is ${only}` : `there are ${[only, ...others].join(", ")}`;
