import { once } from "node:events";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { openContext, openDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { modelHostsOf } from "../../shared/config/hosts.ts";
import { Failure, refuse } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { NO_MCP } from "../mcp-client/definition.ts";
import { grantedPrefixes, grantedRoots } from "../mcp/grant.ts";
import { listenForClients } from "../mcp/http.ts";
import { offeredTools } from "../mcp/offered-tools.ts";
import type { OfferedTool } from "../mcp/offered-tools.ts";
import { mcpServers } from "../mcp/server.ts";
import type { McpContext } from "../mcp/tool.ts";
import { openOffload } from "../offload/offload.ts";
import { lazyOpen } from "../../shared/once.ts";
import { openResources } from "../resources.ts";
import { filesWithin } from "../tools/granted-files.ts";
import type { ToolAccess } from "../tools/tool.ts";

/** Serves clients of the Model Context Protocol: its parent process by stdin and stdout, or those of this machine by HTTP. */
export const mcp: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { config, logger } = context;
  const { http, dashboard } = invocation.options;
  const database = lazyOpen(() => openDatabase(context, "must-exist"));
  const desk = deskOf(context, () => database.get());
  const offered =
    dashboard === true
      ? await offeredToDashboard(context, () => database.get())
      : offeredToClients(config);
  const servers = mcpServers({ offered, context: desk, version: invocation.version, logger });
  try {
    if (http === true) await serveHttp(context, servers);
    else {
      const handle = serveStdio(servers, {
        onerror: (err) => {
          logger.warn({ err }, "a message of the MCP client could not be served");
        },
      });
      await Promise.race([once(process.stdin, "close"), once(process.stdin, "end"), stopSignal()]);
      await handle.close();
    }
  } finally {
    await database.opened()?.then(
      (opened) => opened.end(),
      () => undefined,
    );
  }
};

function offeredToClients(config: CommandContext["config"]): readonly OfferedTool[] {
  // Jobs of clients use these hosts: report an invalid URL now, not in a worker at night.
  modelHostsOf(config);
  return offeredTools(config);
}

async function offeredToDashboard(
  context: CommandContext,
  database: () => Promise<Database>,
): Promise<readonly OfferedTool[]> {
  if (context.invocation.options["http"] === true) {
    throw new Failure("USAGE_ERROR", "--dashboard is for stdin and stdout, and not for --http.");
  }
  const { dashboardTools } = await import("./dashboard-tools.ts");
  return dashboardTools(context, database);
}

function deskOf(context: CommandContext, database: () => Promise<Database>): McpContext {
  const { config, invocation } = context;
  const resources = lazyOpen(async () =>
    openResources(context, await database()).within(grantedPrefixes(config)),
  );
  return {
    config,
    env: invocation.env,
    database,
    async reach(signal) {
      const opened = await resources.get();
      const files = await opened.files();
      const parts = { ...(await opened.pipeline()), listPaths: () => files.listPaths() };
      const { readFile, listFiles, search } = filesWithin(grantedRoots(config), parts, signal);
      return { ...NOTHING_ELSE, readFile, listFiles, search, signal };
    },
  };
}

const NO_WEB = refuse("WEB_DENIED", "Clients of nightdesk mcp are given no web.");

/** Tools for outside clients only read documents and rows. */
const NOTHING_ELSE: Omit<ToolAccess, "readFile" | "listFiles" | "search" | "signal"> = {
  readOutput: async () => undefined,
  web: {
    search: async () => NO_WEB,
    fetchPage: async () => NO_WEB,
    approvalReason: () => "unknown",
    whyOff: () => null,
  },
  shell: { kind: "disabled", why: "clients of nightdesk mcp are given no shell" },
  mcp: NO_MCP,
  offload: openOffload(),
};

const LEAST_TOKEN_CHARS = 16;

async function serveHttp(
  { config, invocation, logger, terminal }: CommandContext,
  servers: Parameters<typeof listenForClients>[0],
): Promise<void> {
  const { port, token_env, allowed_origins, max_body_bytes } = config.mcp.http;
  const token = invocation.env[token_env] ?? "";
  if (token.length < LEAST_TOKEN_CHARS) {
    throw new Failure(
      "CONFIG_ERROR",
      `The environment variable ${token_env} (mcp.http.token_env) has ${token.length} characters; a token of ` +
        `${LEAST_TOKEN_CHARS} at least is expected, such as \`openssl rand -hex 24\` gives.`,
    );
  }
  const wanted = invocation.options["port"];
  const settings = {
    port: typeof wanted === "number" ? wanted : port,
    token,
    allowedOrigins: allowed_origins,
    maxBodyBytes: max_body_bytes,
  };
  const stopped = stopSignal();
  const listener = await listenForClients(servers, settings, logger);
  terminal.say(`MCP at ${listener.url}, with the token of ${token_env}. Ctrl-C stops.`);
  await stopped;
  await listener.close();
}

const stopSignal = (): Promise<unknown> =>
  Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
