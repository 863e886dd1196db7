import type { CommandContext } from "../../shared/commands/command-context.ts";
import { openMcpServers } from "../mcp-client/open-servers.ts";
import type { ListedServer } from "../mcp-client/open-servers.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** Connects to each server of tools.mcp.servers as a worker would, and asks for its tools. */
export async function checkMcpServers({
  config,
  invocation,
}: CommandContext): Promise<readonly Check[]> {
  const { env, version } = invocation;
  const servers = openMcpServers({ config, env, version });
  try {
    return (await servers.listServers()).map((server) => checkServer(server, config.file));
  } finally {
    await servers.close();
  }
}

function checkServer({ name, down, tools }: ListedServer, file: string): Check {
  if (down !== null) {
    return warn(
      "DOCTOR_MCP_SERVER_DOWN",
      `The MCP server ${name} can't be used, and its tools are disabled: ${down}.`,
      `Start it, or mend its entry under tools.mcp.servers in ${file}; then run: nightdesk tools list`,
    );
  }
  const disabled = tools.filter((tool) => tool.disabled !== null);
  const [first] = disabled;
  if (first !== undefined) {
    return warn(
      "DOCTOR_MCP_TOOL_DISABLED",
      `Of the MCP server ${name} ${disabled.length} of ${tools.length} tools can't be used, as ${first.name}: ${first.disabled ?? ""}.`,
      "Run: nightdesk tools list",
    );
  }
  return ok("DOCTOR_MCP_SERVER_OK", `The MCP server ${name} answers, with ${tools.length} tools.`);
}
