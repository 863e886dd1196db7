/** What a call of a tool may change or reach beside what it reads. */
export const EFFECTS = ["none", "local-write", "exec", "network"] as const;
export type ToolEffect = (typeof EFFECTS)[number];

/** A server of the Model Context Protocol whose tools investigations may use: an entry of `tools.mcp.servers`. */
export type McpServerConfig = {
  readonly name: string;
  /** Of one that is started here: the program, found by the PATH of the worker where it is no path. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** All that its environment holds, beside the variables of `pass_env`. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Variables that it is given as the worker has them. */
  readonly pass_env?: readonly string[] | undefined;
  /** Of one that listens somewhere. */
  readonly url?: string | undefined;
  readonly token_env?: string | undefined;
  readonly token_file?: string | undefined;
  /** What a call of any of its tools may do. */
  readonly effect: ToolEffect;
  /** The tools that may be used, each with an effect of its own; all of them without it. */
  readonly tools?: Readonly<Record<string, ToolEffect>> | undefined;
  /** Whether an answer may rest on what its tools give; false without it. */
  readonly evidence?: boolean | undefined;
  /** Seconds that a call may take; 60 without it. */
  readonly timeout_s?: number | undefined;
};

/** A tool of a server as its server calls it. */
export type McpToolName = { readonly server: string; readonly tool: string };

const PREFIX = "mcp.";
const FULL_NAME = /^mcp\.([a-z][a-z0-9_]{0,31})\.([A-Za-z0-9_.-]{1,64})$/;
/** What a server and a tool may be called, so that a name stands in patterns, prompts and rows as it is. */
export const SERVER_NAME = /^[a-z][a-z0-9_]{0,31}$/;
export const TOOL_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** `mcp.<server>.<tool>` */
export const nameOfMcpTool = ({ server, tool }: McpToolName): string =>
  `${PREFIX}${server}.${tool}`;

export const isMcpTool = (name: string): boolean => name.startsWith(PREFIX);

/** Undefined for a name that is not `mcp.<server>.<tool>`. */
export function parseMcpTool(name: string): McpToolName | undefined {
  const [, server, tool] = FULL_NAME.exec(name) ?? [];
  return server === undefined || tool === undefined ? undefined : { server, tool };
}

/** What a configuration says of a tool: its server and its effect, or why it can't be used, as a clause. */
export function configuredMcpTool(
  name: string,
  servers: readonly McpServerConfig[],
):
  | { readonly kind: "tool"; readonly server: McpServerConfig; readonly effect: ToolEffect }
  | { readonly kind: "none"; readonly why: string } {
  const parsed = parseMcpTool(name);
  if (parsed === undefined) return { kind: "none", why: "it is not of the form mcp.SERVER.TOOL" };
  const server = servers.find((one) => one.name === parsed.server);
  if (server === undefined) {
    const known = servers.map((one) => one.name).join(", ");
    return {
      kind: "none",
      why: `tools.mcp.servers has no server ${parsed.server}${known === "" ? "" : `, but ${known}`}`,
    };
  }
  const effect =
    server.tools === undefined
      ? server.effect
      : Object.hasOwn(server.tools, parsed.tool)
        ? server.tools[parsed.tool]
        : undefined;
  return effect === undefined
    ? { kind: "none", why: `the tools of the server ${server.name} do not name it` }
    : { kind: "tool", server, effect };
}
