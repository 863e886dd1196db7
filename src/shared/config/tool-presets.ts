import { configuredMcpTool, isMcpTool } from "./mcp-servers.ts";
import type { McpServerConfig, ToolEffect } from "./mcp-servers.ts";

type ToolName =
  | "search_index"
  | "list_files"
  | "read_text_file"
  | "search_text"
  | "read_artifact"
  | "note"
  | "web_search"
  | "web_fetch"
  | "calculate"
  | "shell";

/**
 * The shipped tools that a configuration or a batch may name. The worker's registry (worker/tools/registry.ts) has the same
 * tools, which a test checks.
 */
export const TOOL_EFFECTS: Readonly<Record<ToolName, ToolEffect>> = {
  search_index: "none",
  list_files: "none",
  read_text_file: "none",
  search_text: "none",
  read_artifact: "none",
  note: "none",
  web_search: "network",
  web_fetch: "network",
  calculate: "none",
  shell: "exec",
};

/** The tool that reads a file. It is the only tool of a question, and the one that a footer names. */
export const READ_TOOL = "read_text_file" satisfies ToolName;

const TOOL_NAMES = Object.keys(TOOL_EFFECTS).join(", ");

const SAFE = ["search_index", "list_files", "read_text_file", "search_text", "calculate"] as const;
const CONTEXT = [...SAFE, "read_artifact", "note"] as const;

/** The shipped presets, in the order of lists. */
export const SHIPPED_PRESETS: Readonly<Record<string, readonly ToolName[]>> = {
  reader: ["read_text_file"],
  readonly_safe: SAFE,
  readonly_context: CONTEXT,
  research: [...CONTEXT, "web_search", "web_fetch"],
  shell_sandboxed: [...CONTEXT, "shell"],
};

export const DEFAULT_PRESET = "readonly_safe";

/** Names that are easy to type and to tell apart. */
const PRESET_NAME = /^[a-z][a-z0-9_-]{0,63}$/;
/** A name that promises tools without effects. */
const PROMISES_READING = /^read[_-]?only/;

/**
 * The problem of a preset, in words that follow its name; undefined if there is none. Users trust the name readonly, so a preset
 * with that name may only have tools without effects.
 * @param servers whose tools the preset may name as `mcp.<server>.<tool>`
 */
export function presetProblem(
  name: string,
  tools: readonly string[],
  servers: readonly McpServerConfig[] = [],
): string | undefined {
  if (Object.hasOwn(SHIPPED_PRESETS, name))
    return "ships with Nightdesk and can't be changed; take another name";
  if (!PRESET_NAME.test(name)) {
    return "is no name of a preset; take a small letter, then small letters, digits, _ and -, 64 at most";
  }
  if (tools.length === 0) return "names no tool";
  const unknown = tools.find((tool) => !isTool(tool) && !isMcpTool(tool));
  const ofServers = tools.filter(isMcpTool);
  for (const tool of ofServers) {
    const found = configuredMcpTool(tool, servers);
    if (found.kind === "none") return `names the tool ${tool}, and ${found.why}`;
  }
  if (unknown !== undefined) {
    return `names the tool ${JSON.stringify(unknown)}; there are ${TOOL_NAMES}`;
  }
  const twice = tools.find((tool, at) => tools.indexOf(tool) !== at);
  if (twice !== undefined) return `names ${twice} twice`;
  if (!PROMISES_READING.test(name)) return undefined;
  const acting = tools
    .map((tool) => ({ tool, effect: effectOf(tool, servers) }))
    .find(({ effect }) => effect !== "none");
  return acting === undefined
    ? undefined
    : `begins with readonly and names ${acting.tool}, whose effect is ${acting.effect}; take another name`;
}

function effectOf(tool: string, servers: readonly McpServerConfig[]): ToolEffect {
  if (isTool(tool)) return TOOL_EFFECTS[tool];
  const found = configuredMcpTool(tool, servers);
  return found.kind === "tool" ? found.effect : "exec";
}

/** The keys of `tools.web` that enable its tools. */
export type WebSwitches = {
  readonly enabled: boolean;
  readonly search: { readonly provider: string | null };
};

/** The tools that need the web. */
export const WEB_TOOLS = { search: "web_search", page: "web_fetch" } as const;

/** The setting that a web tool lacks, in words that follow a colon; undefined if it lacks none, and for any other tool. */
export function whyWebOff(tool: string, web: WebSwitches): string | undefined {
  if (tool !== WEB_TOOLS.search && tool !== WEB_TOOLS.page) return undefined;
  if (!web.enabled) return "set tools.web.enabled.";
  if (tool === WEB_TOOLS.page || web.search.provider !== null) return undefined;
  return "set tools.web.search.provider.";
}

/** Why the configuration disables a tool, as a sentence; undefined if it does not. */
export function whyToolDisabled(tool: string, web: WebSwitches): string | undefined {
  const why = whyWebOff(tool, web);
  return why === undefined ? undefined : `${tool} is disabled: ${why}`;
}

/** The settings of investigations. */
type InvestigationConfig = {
  readonly tools: {
    readonly presets: Readonly<Record<string, readonly string[]>>;
    readonly web: WebSwitches;
  };
  readonly model: { readonly provider: string };
};

/**
 * Why an investigation can't run with a configuration, as far as the enqueuing process can tell: its preset is unknown or lacks
 * a required tool, or the model calls no tools. A sentence; undefined if there is no problem.
 */
export function investigationProblem(
  input: {
    readonly preset?: string | undefined;
    readonly required_tools?: readonly string[] | undefined;
    readonly tools?: "required" | "optional" | undefined;
  },
  { tools, model }: InvestigationConfig,
): { readonly code: "INPUT_INVALID" | "MODEL_UNSUPPORTED"; readonly message: string } | undefined {
  const preset = selectPreset(tools.presets, input.preset ?? DEFAULT_PRESET, input.required_tools);
  if (typeof preset === "string") return { code: "INPUT_INVALID", message: preset };
  const disabled = (input.required_tools ?? []).flatMap(
    (tool) => whyToolDisabled(tool, tools.web) ?? [],
  );
  const [reason] = disabled;
  if (reason !== undefined) return { code: "INPUT_INVALID", message: reason };
  if (model.provider !== "extractive") return undefined;
  if (input.tools === "optional") {
    return canSearch(preset)
      ? undefined
      : { code: "INPUT_INVALID", message: uselessPresetText(preset.name) };
  }
  return {
    code: "MODEL_UNSUPPORTED",
    message:
      'model.provider is extractive, which calls no tools. Set a model host, or take --tools optional ("tools": "optional" ' +
      "in a line of a batch) to have it answered from passages alone.",
  };
}

/** Whether a preset exists and has a tool. @param name undefined for the default */
export function canUseTool(
  tool: ToolName,
  name: string | undefined,
  own: Readonly<Record<string, readonly string[]>>,
): boolean {
  const preset = selectPreset(own, name ?? DEFAULT_PRESET);
  return typeof preset !== "string" && preset.tools.includes(tool);
}

/** The tool that Nightdesk calls itself for a model that calls no tools. */
const SEARCH: ToolName = "search_index";

export const canSearch = ({ tools }: Pick<Preset, "tools">): boolean => tools.includes(SEARCH);

/** The message that a preset is useless for a model that calls no tools. */
export const uselessPresetText = (preset: string): string =>
  `For a model that calls no tools Nightdesk calls ${SEARCH} itself, which the preset ${JSON.stringify(preset)} does not have. ` +
  `Take --preset ${DEFAULT_PRESET}.`;

const isTool = (name: string): name is ToolName => Object.hasOwn(TOOL_EFFECTS, name);

export type Preset = { readonly name: string; readonly tools: readonly string[] };

/** All presets of a configuration: shipped ones, then its own. */
export const presetsOf = (own: Readonly<Record<string, readonly string[]>>): readonly Preset[] =>
  Object.entries({ ...SHIPPED_PRESETS, ...own }).map(([name, tools]) => ({ name, tools }));

/**
 * Selects the preset of a job, which must have all tools that the job requires.
 * @returns the preset, or the problem as a sentence
 */
export function selectPreset(
  own: Readonly<Record<string, readonly string[]>>,
  name: string,
  required: readonly string[] = [],
): Preset | string {
  const all = presetsOf(own);
  const preset = all.find((known) => known.name === name);
  if (preset === undefined) {
    return `There is no preset ${JSON.stringify(name)}; there are ${all.map((known) => known.name).join(", ")}.`;
  }
  const unknown = required.filter((tool) => !isTool(tool) && !isMcpTool(tool));
  if (unknown.length > 0) {
    return `The job needs ${unknown.map((tool) => JSON.stringify(tool)).join(", ")}, which is no tool; there are ${TOOL_NAMES}.`;
  }
  const missing = required.filter((tool) => !preset.tools.includes(tool));
  if (missing.length === 0) return preset;
  const others = all.filter(({ tools }) => required.every((tool) => tools.includes(tool)));
  const remedy =
    others.length === 0
      ? "No preset has all of them: write one under tools.presets."
      : `Take --preset ${others.map((other) => other.name).join(" or ")}.`;
  return `The preset ${JSON.stringify(name)} lacks ${missing.join(", ")}, which the job needs. ${remedy}`;
}
