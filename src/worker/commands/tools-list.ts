import { openContext } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { findKeyFault } from "../../shared/config/search-key.ts";
import { Failure } from "../../shared/failure.ts";
import type { Preset } from "../../shared/config/tool-presets.ts";
import { isMcpTool } from "../../shared/config/mcp-servers.ts";
import {
  DEFAULT_PRESET,
  presetsOf,
  selectPreset,
  WEB_TOOLS,
  whyWebOff,
} from "../../shared/config/tool-presets.ts";
import { openMcpServers } from "../mcp-client/open-servers.ts";
import { probeShell, shellOf } from "../sandbox/shell/probe.ts";
import { TOOLS } from "../tools/all-tools.ts";
import { mcpTool } from "../tools/mcp-tool.ts";
import { SHELL } from "../tools/shell.ts";
import type { Tool } from "../tools/tool.ts";
import { alignColumns } from "./align-columns.ts";

type ListedTool = {
  readonly name: string;
  readonly effect: string;
  readonly is_evidence: boolean;
  /** hidden: not in the preset. disabled: not usable with this configuration or on this machine. */
  readonly state: "available" | "hidden" | "disabled";
  /** The reason why it is disabled; null otherwise. */
  readonly reason: string | null;
  readonly presets: readonly string[];
  readonly description: string;
};

/** Lists tools and presets; with `--preset` also which tools that preset allows. */
export const toolsList: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { config, terminal } = context;
  const { options } = invocation;
  const wanted = typeof options["preset"] === "string" ? options["preset"] : undefined;
  const preset = wanted === undefined ? undefined : selectPreset(config.tools.presets, wanted);
  if (typeof preset === "string") throw new Failure("NOT_FOUND", preset);
  const presets = presetsOf(config.tools.presets);
  const keyFault = await findKeyFault(config, invocation.env);
  const machine = {
    shell: shellOf(await probeShell()),
    web: {
      whyOff: (tool: string) =>
        whyWebOff(tool, config.tools.web) ??
        (tool === WEB_TOOLS.search ? (keyFault ?? null) : null),
    },
  };
  const stateOf = (tool: Tool): Pick<ListedTool, "state" | "reason"> => {
    const isHeld = preset === undefined || preset.tools.includes(tool.name);
    const reason = whyDisabled(tool, machine);
    if (!isHeld) return { state: "hidden", reason: null };
    return { state: reason === null ? "available" : "disabled", reason };
  };
  const known = [...TOOLS.tools, ...(await toolsOfServers(context))];
  const tools = known.map((tool): ListedTool => ({
    ...toListed(tool),
    ...stateOf(tool),
    presets: presets.filter((each) => each.tools.includes(tool.name)).map((each) => each.name),
  }));
  if (terminal.isJson) return terminal.printJson({ ok: true, tools, presets });
  const columns = tools.map(({ name, state, reason, effect, description }) => [
    name,
    state,
    `effect ${effect}`,
    reason ?? description,
  ]);
  for (const line of alignColumns(columns)) await terminal.print(line);
  await terminal.print("");
  const shown = preset === undefined ? presets : [preset];
  for (const line of alignColumns(shown.map(presetColumns))) {
    await terminal.print(line);
  }
};

const presetColumns = ({ name, tools }: Preset): readonly string[] => [
  name === DEFAULT_PRESET ? `${name} (the default)` : name,
  tools.join(", "),
];

/** The current tools of configured servers; for a server that is down, the tools that presets name. */
async function toolsOfServers({ config, invocation }: CommandContext): Promise<readonly Tool[]> {
  const { env, version } = invocation;
  const servers = openMcpServers({ config, env, version });
  try {
    const listed = await servers.listServers();
    const inPresets = Object.values(config.tools.presets).flat().filter(isMcpTool);
    const offered = listed.flatMap(({ tools }) => tools);
    const others = inPresets.filter((name) => !offered.some((tool) => tool.name === name));
    const named = await servers.describe([...new Set(others)]);
    return await Promise.all([...offered, ...named].map(mcpTool));
  } finally {
    await servers.close();
  }
}

function whyDisabled(
  tool: Tool,
  machine: Parameters<NonNullable<Tool["disabled"]>>[0],
): string | null {
  const why = tool.disabled?.(machine) ?? null;
  if (why === null) return null;
  return tool.name === SHELL.name
    ? `${tool.name} is disabled: no sandbox on this machine: ${why}`
    : `${tool.name} is disabled: ${why}`;
}

const toListed = ({ name, effect, isEvidence, description }: Tool) => ({
  name,
  effect,
  is_evidence: isEvidence,
  description,
});
