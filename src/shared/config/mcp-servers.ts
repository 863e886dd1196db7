/** What a tool call may change or access beside reading. */
export const EFFECTS = ["none", "local-write", "exec", "network"] as const;
export type ToolEffect = (typeof EFFECTS)[number];

/** A server of the Model Context Protocol whose tools investigations may use: an entry of `tools.mcp.servers`. */
export type McpServerConfig = {
  readonly name: string;
  /** The program of a server that the worker starts, found in the worker's PATH unless it is a path. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Its whole environment, beside the variables of `pass_env`. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Variables that it inherits from the worker. */
  readonly pass_env?: readonly string[] | undefined;
  /** The URL of a server that runs elsewhere. */
  readonly url?: string | undefined;
  readonly token_env?: string | undefined;
  readonly token_file?: string | undefined;
  /** The effect of its tools by default. */
  readonly effect: ToolEffect;
  /** The allowed tools, each with its effect; all tools by default. */
  readonly tools?: Readonly<Record<string, ToolEffect>> | undefined;
  /** Whether answers may use results of its tools as evidence; false by default. */
  readonly evidence?: boolean | undefined;
  /** Seconds that a call may take; 60 by default. */
  readonly timeout_s?: number | undefined;
};

/** A server and the name that the server gives to a tool. */
export type McpToolName = { readonly server: string; readonly tool: string };

const PREFIX = "mcp.";
const FULL_NAME = /^mcp\.([a-z][a-z0-9_]{0,31})\.([A-Za-z0-9_.-]{1,64})$/;
/** Allowed names of servers and tools, safe in patterns, prompts and rows without escapes. */
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

/** The server and effect of a configured tool, or why it cannot be used, as a clause. */
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
