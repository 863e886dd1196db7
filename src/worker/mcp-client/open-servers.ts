import { readSecret } from "../../shared/config/read-secret.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure, refuse } from "../../shared/failure.ts";
import { hashJson, isRecord } from "../../shared/schema/json-value.ts";
import { configuredMcpTool, parseMcpTool } from "../../shared/config/mcp-servers.ts";
import type { McpServerConfig } from "../../shared/config/mcp-servers.ts";
import { cleanLine } from "../../shared/terminal/styled-text.ts";
import { firstCodePoints } from "../text/clean-text.ts";
import { definitionOf, disabledTool } from "./describe-tool.ts";
import type { McpDefinition, McpAccess } from "./definition.ts";
import { findProgram } from "./program-transport.ts";
import type { McpPlace, McpSession } from "./session.ts";

/** The servers of a configuration. A connection is opened when it is first needed, and shared. */
export type McpServers = {
  /** The definitions of tools by name; for a tool that can't be used with the reason. Never throws. */
  describe(names: readonly string[]): Promise<readonly McpDefinition[]>;
  /** Each server with the tools that the configuration names. Never throws. */
  listServers(): Promise<readonly ListedServer[]>;
  /** The access of one investigation. */
  reach(signal: AbortSignal): McpAccess;
  close(): Promise<void>;
};

export type ListedServer = {
  readonly name: string;
  /** Why none of its tools can be used; null if it responds. */
  readonly down: string | null;
  readonly tools: readonly McpDefinition[];
};

type Parts = {
  readonly config: Pick<Config, "tools" | "roots">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
};

const CALL_S = 60;
const CONNECT_MS = 15_000;
/** Restarts of a server within an hour; after more it is not started until the hour is over. */
const MOST_RESTARTS = 3;
const RESTARTS_WITHIN_MS = 3_600_000;
/** Counted from the start of the last call: longer than the longest timeout_s, which is 240 s. */
const IDLE_MS = 300_000;
const MOST_REASON_CHARS = 200;

/** Connects to no server yet. */
export function openMcpServers(parts: Parts): McpServers {
  const { servers } = parts.config.tools.mcp;
  const places = new Map(servers.map((server) => [server.name, openServer(server, parts)]));
  const killAll = () => {
    for (const place of places.values()) place.kill();
  };
  // Each program leads its own process group, so it gets no signal when this process ends.
  if (servers.length > 0) process.once("exit", killAll);
  const listTools = async (server: McpServerConfig): Promise<ListedServer> => {
    try {
      const described = (await places.get(server.name)?.list()) ?? [];
      const found = described.flatMap((tool) => definitionOf(server, tool));
      return { name: server.name, down: null, tools: [...found, ...missingTools(server, found)] };
    } catch (error) {
      const down = reasonOf(error);
      const named = Object.keys(server.tools ?? {});
      const tools = named.map((tool) => disabledTool(server, tool, down));
      return { name: server.name, down, tools };
    }
  };
  return {
    listServers: () => Promise.all(servers.map(listTools)),
    async describe(names) {
      const wanted = new Set(names.map((name) => parseMcpTool(name)?.server));
      const listed = await Promise.all(
        servers.filter(({ name }) => wanted.has(name)).map(listTools),
      );
      return names.map((name) => definitionNamed(name, servers, listed));
    },
    reach: (signal) => ({
      async call(name, args) {
        const found = configuredMcpTool(name, servers);
        if (found.kind === "none") {
          return refuse("TOOL_DENIED", `${name} can't be used any more: ${found.why}.`);
        }
        const { server } = found;
        const tool = parseMcpTool(name)?.tool ?? "";
        const timeoutMs = (server.timeout_s ?? CALL_S) * 1_000;
        const place = places.get(server.name);
        const session = await place?.session().catch((error: unknown) => reasonOf(error));
        if (typeof session !== "object") {
          return refuse("TOOL_UNAVAILABLE", `The server ${server.name} is away: ${session ?? ""}.`);
        }
        try {
          return await session.call(tool, args, { timeoutMs, signal });
        } catch (error) {
          signal.throwIfAborted();
          // The message may hold the server's words; prompts fence the message of such a tool.
          throw new Failure("TOOL_ERROR", session.ended() ?? reasonOf(error), { cause: error });
        }
      },
      executorOf: (tool) => executorOf(tool, parts),
    }),
    async close() {
      process.off("exit", killAll);
      await Promise.all([...places.values()].map((place) => place.close()));
    },
  };
}

/** Configured tools that the server does not have. */
const missingTools = (
  server: McpServerConfig,
  found: readonly McpDefinition[],
): readonly McpDefinition[] =>
  Object.keys(server.tools ?? {})
    .map((tool) => disabledTool(server, tool, `the server ${server.name} has no such tool`))
    .filter((missing) => !found.some(({ name }) => name === missing.name));

function definitionNamed(
  name: string,
  servers: readonly McpServerConfig[],
  listed: readonly ListedServer[],
): McpDefinition {
  const configured = configuredMcpTool(name, servers);
  if (configured.kind === "none") {
    return { ...UNKNOWN_TOOL, name, effect: "exec", disabled: configured.why };
  }
  const { server } = configured;
  const at = listed.find((one) => one.name === server.name);
  const found = at?.tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const why = at?.down ?? `the server ${server.name} has no such tool`;
  return disabledTool(server, parseMcpTool(name)?.tool ?? "", why);
}

const UNKNOWN_TOOL = {
  description: "",
  parameters: { type: "object", properties: {} },
  isEvidence: false,
} as const;

/** A hash of the server's configuration, its program's environment and the tool's definition, but not of its token. */
function executorOf(tool: McpDefinition, { config, env }: Parts): string {
  const found = configuredMcpTool(tool.name, config.tools.mcp.servers);
  if (found.kind === "none") return "mcp";
  const { server } = found;
  const given = [server.command ?? null, server.args ?? [], server.url ?? null];
  const variables = Object.entries(environmentOf(server, env)).sort();
  const { description, parameters, effect } = tool;
  return `mcp.${server.name} ${hashJson([...given, variables, description, parameters, effect]).slice(0, 24)}`;
}

/** The environment of a server's program. */
function environmentOf(
  server: McpServerConfig,
  env: Parts["env"],
): Readonly<Record<string, string>> {
  const passed = (server.pass_env ?? []).flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passed), ...server.env };
}

function reasonOf(error: unknown): string {
  const message = wordsOf(error) ?? String(error);
  const cause = wordsOf((error as { readonly cause?: unknown } | null)?.cause);
  // Node reports only "fetch failed" if a host does not respond.
  const whole =
    message === "fetch failed" && cause !== undefined ? `it can't be reached: ${cause}` : message;
  return firstCodePoints(cleanLine(whole), MOST_REASON_CHARS).replace(/\.$/, "");
}

const wordsOf = (error: unknown): string | undefined =>
  isRecord(error) && typeof error["message"] === "string" ? error["message"] : undefined;

type Server = {
  session(): Promise<McpSession>;
  list(): ReturnType<McpSession["list"]>;
  close(): Promise<void>;
  kill(): void;
};

/** One server: connected on demand, closed after an idle time, and restarted at most MOST_RESTARTS times an hour. */
function openServer(server: McpServerConfig, parts: Parts): Server {
  let open: Promise<McpSession> | undefined;
  let live: McpSession | undefined;
  let idle: NodeJS.Timeout | undefined;
  const ends: number[] = [];
  const connect = async (): Promise<McpSession> => {
    const place = await placeOf(server, parts);
    const { openSession } = await import("./session.ts");
    live = await openSession(place, { version: parts.version, timeoutMs: CONNECT_MS });
    return live;
  };
  const connectLimited = async (): Promise<McpSession> => {
    const since = performance.now() - RESTARTS_WITHIN_MS;
    const lately = ends.filter((at) => at > since);
    if (lately.length > MOST_RESTARTS) {
      throw new Error(
        `it ended ${lately.length} times within an hour and is left alone for the rest of it`,
      );
    }
    try {
      return await connect();
    } catch (error) {
      if (server.command !== undefined) ends.push(performance.now());
      throw error;
    }
  };
  const close = async (): Promise<void> => {
    clearTimeout(idle);
    const opening = open;
    live = undefined;
    open = undefined;
    // A connection that is being opened has a program already.
    const session = await opening?.catch(() => undefined);
    if (live === session) live = undefined;
    await session?.close().catch(() => undefined);
  };
  const session = async (): Promise<McpSession> => {
    clearTimeout(idle);
    idle = setTimeout(() => void close(), IDLE_MS).unref();
    if (live !== undefined && live.ended() !== null) {
      ends.push(performance.now());
      await close();
    }
    open ??= connectLimited();
    try {
      return await open;
    } catch (error) {
      open = undefined;
      throw error;
    }
  };
  return {
    session,
    list: async () => (await session()).list(CONNECT_MS),
    close,
    kill() {
      live?.kill();
    },
  };
}

const MOST_TOKEN_BYTES = 8_192;

async function placeOf(server: McpServerConfig, { config, env }: Parts): Promise<McpPlace> {
  const { roots } = config;
  if (server.command === undefined) {
    return {
      kind: "url",
      url: new URL(server.url ?? ""),
      token: await tokenOf(server, { env, folder: roots.configRoot }),
    };
  }
  const file = findProgram(server.command, roots.configRoot, env["PATH"] ?? "");
  if (file === undefined) {
    throw new Error(`there is no program ${JSON.stringify(server.command)}`);
  }
  return {
    kind: "program",
    program: {
      file,
      args: server.args ?? [],
      env: environmentOf(server, env),
      cwd: roots.workroot,
    },
  };
}

/** The token must not get into a row or a log. */
async function tokenOf(
  { token_env: variable, token_file: file }: McpServerConfig,
  { env, folder }: { readonly env: Parts["env"]; readonly folder: string },
): Promise<string | null> {
  const token = await readSecret({ variable, file, folder, maxBytes: MOST_TOKEN_BYTES }, env);
  if (token !== "") return token;
  throw new Error(
    variable === undefined
      ? "token_file holds no token"
      : `there is no variable ${variable} (token_env)`,
  );
}
