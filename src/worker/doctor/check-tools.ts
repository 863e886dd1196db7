import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Config } from "../../shared/config/schema.ts";
import { findKeyFault } from "../../shared/config/search-key.ts";
import { WEB_TOOLS } from "../../shared/config/tool-presets.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { selectCallableByReader } from "../../shared/store/connection/health.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { openMcpServers } from "../mcp-client/open-servers.ts";
import type { ListedServer } from "../mcp-client/open-servers.ts";
import type { ShellProbe } from "../sandbox/shell/probe.ts";
import { fail, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** Reports the sandbox for commands on this machine, and how it limits memory. */
export function checkShell(probe: ShellProbe): Check {
  if (probe.kind === "unavailable") {
    return warn(
      "DOCTOR_SHELL_DISABLED",
      `There is no sandbox for commands on this machine, so the tool shell is disabled: ${probe.reason}. ${probe.message}`,
      "Nothing, unless investigations here are to have the preset shell_sandboxed.",
    );
  }
  const memory =
    probe.memoryWhy === null
      ? "memory is limited in all, by cgroup v2"
      : `memory is limited for each process alone, by prlimit: ${probe.memoryWhy}`;
  return ok("DOCTOR_SHELL_OK", `Commands run in the sandbox of ${probe.bubblewrap}; ${memory}.`);
}

/** Checks whether searches of the web have a key, if they are enabled; makes no request to the provider. */
export async function checkWeb(
  config: Pick<Config, "tools" | "roots">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Check[]> {
  const fault = await findKeyFault(config, env);
  if (fault === undefined) return [];
  return [
    fail(
      "DOCTOR_WEB_SEARCH_KEY",
      `${WEB_TOOLS.search} can't be used: ${fault}`,
      "Give the key to doctor and to the workers alike: tools.web.search.key_file or key_env.",
    ),
  ];
}

/** Connects to each server of tools.mcp.servers like a worker, and asks for its tools. */
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
      `Of the MCP server ${name} ${disabled.length} of ${countOf(tools.length, "tool")} can't be used, as ${first.name}: ${first.disabled ?? ""}.`,
      "Run: nightdesk tools list",
    );
  }
  return ok(
    "DOCTOR_MCP_SERVER_OK",
    `The MCP server ${name} answers, with ${countOf(tools.length, "tool")}.`,
  );
}

/** Checks whether the server denies the role of `nightdesk sql` rights that PostgreSQL grants to everybody. */
export async function checkSqlRole(database: Queryable): Promise<Check> {
  const callable = await selectCallableByReader(database);
  if (callable.length === 0) {
    return ok(
      "DOCTOR_SQL_ROLE_OK",
      "The role of nightdesk sql may take no advisory lock, nor write to the server's log.",
    );
  }
  return warn(
    "DOCTOR_SQL_ROLE_UNGUARDED",
    `The role of nightdesk sql has the right to call ${callable.join(", ")}: the words of a statement alone refuse it.`,
    "Let a superuser revoke it with the statements of docs/many-machines.md; where the server has none for you, nothing.",
  );
}
