import { z } from "zod";
import type { DocumentFilter } from "../../shared/document-filter.ts";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { isRecord } from "../../shared/json-value.ts";
import type { ToolEffect } from "../../shared/tool-effects.ts";
import type { Passage, Reading, ToolPrint } from "../evidence/types.ts";
import type { McpReach } from "../mcp-client/definition.ts";
import type { Offload } from "../offload/offload.ts";
import type { CommandDecision } from "../sandbox/shell/command.ts";
import type { ShellOutcome } from "../sandbox/shell/executor.ts";
import type { CommandRule } from "../sandbox/shell/rules.ts";
import type { ShellCommand } from "../sandbox/shell/state.ts";
import type { WebReach } from "../web/open-web.ts";

/** A piece that an answer may rest on: a file or a web page that was read whole, a stretch of one, or what the tool itself printed. */
export type ToolEvidence =
  | { readonly kind: "file"; readonly reading: Reading }
  | { readonly kind: "passage"; readonly passage: Passage }
  | { readonly kind: "output"; readonly output: PrintedText };

/** What a tool printed or reckoned; its step gives it a label. */
export type PrintedText = Omit<ToolPrint, "label">;

/** What a call gives. All of it is shown to the model as data that nobody vouches for. */
export type ToolOutput = {
  readonly kind: "output";
  /** What the model is told; evidence is shown beside it and need not be repeated. */
  readonly text: string;
  /** For the record: counts, sizes and ids, never text of documents. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly evidence: readonly ToolEvidence[];
  /** Outputs that are kept whole beside what the model is shown; a later call may page through them. */
  readonly kept?: readonly WholeStream[];
};

export type WholeStream = {
  readonly stream: "stdout" | "stderr" | "state";
  readonly content: Buffer;
};

/** An output of nothing but words of ours. */
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

/** A sandbox for commands, as far as a grant goes, or why there is none. */
export type ShellDoor =
  | { readonly kind: "disabled"; readonly why: string }
  | {
      readonly kind: "open";
      /** What runs commands: it is part of what a person approves. */
      readonly executor: string;
      /** What may become of a command, where the last one left off. */
      decide(command: string): Promise<CommandDecision>;
      /** Counts a call that a rule answered. */
      countRule(rule: CommandRule): Promise<void>;
      /**
       * Runs a command where the last one left off. Refusals: those of the sandbox of files, for an input.
       * @param inputs paths, folders or globs of files that the grant holds
       * @throws Failure REVIEW_PENDING where what the last one left is gone
       */
      run(command: ShellCommand, inputs: readonly string[]): Promise<ShellRun | Refusal>;
    };

/** What became of a command, with the whole of both streams. */
export type ShellRun = {
  readonly kind: "ran";
  readonly outcome: ShellOutcome;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Paths of those that it was given, relative to the work root. */
  readonly files: readonly string[];
  readonly fileBytes: number;
};

/** What a run lets a tool reach of the world, within its grant: no tool has a door of its own. */
export type ToolReach = {
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
  /** The text that an earlier step of this investigation gave, whole; undefined where there is none. Steps as prompts number them. */
  readonly readOutput: (
    step: number,
    stream: "result" | "stdout" | "stderr",
  ) => Promise<string | undefined>;
  /** The web, as far as it may be reached. */
  readonly web: WebReach;
  readonly shell: ShellDoor;
  /** Servers of the configuration. */
  readonly mcp: McpReach;
  readonly offload: Offload;
  readonly signal: AbortSignal;
};

/** What of a machine and its configuration tools depend on. */
export type MachineParts = {
  readonly web: Pick<WebReach, "whyOff">;
  readonly shell: { readonly kind: "open" } | Extract<ShellDoor, { readonly kind: "disabled" }>;
};

/** That a person approved this very call. */
export type Permit = "approved";

/** Why a person has to be asked before a call. */
export type ApprovalNeed = {
  /** What would run it: it is part of what is decided about. */
  readonly executor: string;
  /** Labels; they warn, and allow nothing. */
  readonly risks: readonly string[];
  /** What would be done, as people read it. */
  readonly preview: string;
  /** Why this call needs it, as a clause for the model. */
  readonly why: string;
  /** Which calls of the tool need none. */
  readonly instead?: string;
};

/** What kind of step of a search a call is, as the view `moves` has it. */
export const MOVES = ["search", "open", "compare", "count", "verify", "note", "other"] as const;
export type Move = (typeof MOVES)[number];

/** Something that a model may call by its name. */
export type Tool<Args extends object = object> = {
  /** Lower case, with underscores; `mcp.<server>.<tool>` of a tool of somebody else's. */
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
  /** Of a search: the argument that has the words, and the fact of its output that says how much it found. */
  readonly query?: { readonly argument: string; readonly hits: string };
  /** The argument that says where it looks: a file, a folder or a URL. Two calls for one folder or site are for one place. */
  readonly place?: { readonly argument: string; readonly of: "file" | "folder" | "url" };
  /** Whether a call changes nothing anywhere, so that one which was lost may be made again; left out: where it has no effect. */
  readonly isRepeatable?: boolean;
  /** Whether an answer may rest on what it gives. */
  readonly isEvidence: boolean;
  readonly limits: {
    /** Calls that one investigation may make; one more is not made, and the model is told so. */
    readonly callsPerRun: number;
  };
  /** Why it can't be used on this machine; null or left out: it can. */
  disabled?(machine: MachineParts): string | null;
  /** What a person has to be asked before this call; null or left out: nothing. */
  approval?(args: Args, reach: ToolReach): Promise<ApprovalNeed | null>;
  /** Refusals are told to the model, which may try something else; a fault is thrown. */
  run(args: Args, reach: ToolReach, permit?: Permit): Promise<ToolOutput | Refusal>;
};

type Definition<Shape extends z.ZodRawShape> = Omit<
  Tool<z.infer<z.ZodObject<Shape>>>,
  "args" | "argNames" | "parameters"
> & { readonly args: z.ZodObject<Shape> };

/** A tool with what follows from its arguments. */
export function defineTool<Shape extends z.ZodRawShape>(
  definition: Definition<Shape>,
): Tool<z.infer<z.ZodObject<Shape>>> {
  const { type, properties, required, additionalProperties } = z.toJSONSchema(definition.args, {
    override({ jsonSchema }) {
      // Each prompt of each step holds these: a pattern of a date is 300 characters, and its format says the same.
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
 * The arguments of a call as its tool takes them, without those that are null where it takes no null: models write them
 * for what they leave out. INVALID_ARGS, which says what was expected, where it does not.
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
      `${tool.name} has no argument ${quoted(unknown)}; ${listed(tool.argNames.map(quoted))}.`,
    );
  }
  const [first] = issues;
  return refuse(
    "INVALID_ARGS",
    `${tool.name} needs ${quoted(String(first?.path[0] ?? ""))}, ${first?.message ?? ""}.`,
  );
}

const withoutNulls = (given: unknown): unknown =>
  isRecord(given)
    ? Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
    : given;

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
