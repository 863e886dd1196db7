import type { McpServerConfig } from "./mcp-servers.ts";
import { isLoopbackHost } from "../http/network-address.ts";
import { parseUrl } from "../http/parse-url.ts";
import { maskUrl } from "./mask-url.ts";
import type { Conflict } from "./problem.ts";

/** Checks rules across the keys of `tools.mcp.servers`. Pure. */
export function checkMcpServers(servers: readonly McpServerConfig[]): readonly Conflict[] {
  const names = servers.map(({ name }) => name);
  return servers.flatMap((server, position) => {
    const conflict = (key: string | null, text: string): Conflict => ({
      path: ["tools", "mcp", "servers", position, ...(key === null ? [] : [key])],
      text,
    });
    if (names.indexOf(server.name) !== position) {
      return [conflict("name", `is "${server.name}" like an entry before; expected its own`)];
    }
    const { command, url } = server;
    if ((command === undefined) === (url === undefined)) {
      const found = command === undefined ? "neither" : "both";
      return [conflict(null, `has ${found} of command and url; expected one of them`)];
    }
    return url === undefined ? checkCommand(server, conflict) : checkUrl(server, conflict);
  });
}

type MakeConflict = (key: string, text: string) => Conflict;

const OF_URL = ["token_env", "token_file"] as const;
const OF_COMMAND = ["args", "env", "pass_env"] as const;

const checkCommand = (server: McpServerConfig, fault: MakeConflict): readonly Conflict[] =>
  OF_URL.filter((key) => server[key] !== undefined).map((key) =>
    fault(
      key,
      "is of servers with a url; one with a command is given variables by env and pass_env",
    ),
  );

function checkUrl(server: McpServerConfig, fault: MakeConflict): readonly Conflict[] {
  const { url: written = "", token_env: env, token_file: file } = server;
  const foreign = OF_COMMAND.filter((key) => server[key] !== undefined);
  const url = parseUrl(written);
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    return [fault("url", `is ${maskUrl(written)}; expected http://host/path or https://host/path`)];
  }
  if (url.username !== "" || url.password !== "") {
    return [fault("url", "holds a user name or password; set token_env or token_file")];
  }
  if (env !== undefined && file !== undefined) {
    return [fault("token_file", "is set, and so is token_env; keep one")];
  }
  const hasToken = env !== undefined || file !== undefined;
  if (hasToken && url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    return [
      fault("url", "is http:// and leads to another machine; a token is sent by https:// alone"),
    ];
  }
  return foreign.map((key) => fault(key, "is of servers with a command"));
}
