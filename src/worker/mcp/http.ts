import { createHash, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import { listenFailure } from "../../shared/commands/listen-failure.ts";
import type { Logger } from "../../shared/logger.ts";

const ADDRESS = "127.0.0.1";
const PATH = "/mcp";
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const MOST_CONNECTIONS = 64;

export type HttpSettings = {
  readonly port: number;
  readonly token: string;
  readonly allowedOrigins: readonly string[];
  readonly maxBodyBytes: number;
};

export type McpListener = { readonly url: string; close(): Promise<void> };

/**
 * Serves clients by HTTP on the loopback address only: POST /mcp with the token, a loopback Host, and no Origin that is not
 * allowed. @throws Failure CONFIG_ERROR for a port that is taken
 */
export async function listenForClients(
  servers: McpServerFactory,
  settings: HttpSettings,
  logger: Logger,
): Promise<McpListener> {
  const handler = createMcpHandler(servers, {
    maxRequestBodySize: settings.maxBodyBytes,
    maxSubscriptions: MOST_CONNECTIONS,
    onerror: (err) => {
      logger.warn({ err }, "an MCP request was refused or broke");
    },
  });
  const server = createServer((request, response) => {
    void respond(request, response, { settings, fetch: handler.fetch }).catch((err: unknown) => {
      logger.error({ err }, "an MCP request broke");
      if (response.headersSent) response.destroy();
      else endResponse(response, 500, "INTERNAL_ERROR");
    });
  });
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.maxConnections = MOST_CONNECTIONS;
  const port = await listen(server, settings.port);
  return {
    url: `http://${ADDRESS}:${port}${PATH}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await handler.close();
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      reject(listenFailure(error, { host: ADDRESS, port, keys: "mcp.http.port" }));
    });
    server.listen(port, ADDRESS, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

type ServeParts = {
  readonly settings: HttpSettings;
  readonly fetch: (request: Request) => Promise<Response>;
};

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { settings, fetch }: ServeParts,
): Promise<void> {
  const refused = refusalOf(request, settings);
  if (refused !== null) {
    endResponse(response, refused.status, refused.message);
    return;
  }
  const gone = new AbortController();
  response.once("close", () => {
    gone.abort();
  });
  await sendAnswer(await fetch(webRequest(request, gone.signal)), response);
}

type RefusedRequest = { readonly status: number; readonly message: string };

/** Checks the token before path, method and size, so that a client without it learns nothing about them. */
function refusalOf(
  { headers, method, url, socket }: IncomingMessage,
  { token, allowedOrigins, maxBodyBytes }: HttpSettings,
): RefusedRequest | null {
  if (!hostsOf(socket.localPort).includes(headers.host ?? "")) {
    return { status: 421, message: "the Host header names another machine" };
  }
  if (headers.origin !== undefined && !allowedOrigins.includes(headers.origin)) {
    return { status: 403, message: "pages of this origin may not call; mcp.http.allowed_origins" };
  }
  if (!isToken(headers.authorization, token)) {
    return { status: 401, message: "give the token: Authorization: Bearer TOKEN" };
  }
  if (url !== PATH) return { status: 404, message: `there is ${PATH} alone` };
  if (method !== "POST") return { status: 405, message: "POST alone" };
  if (Number(headers["content-length"] ?? 0) > maxBodyBytes) {
    return { status: 413, message: `at most ${maxBodyBytes} bytes; mcp.http.max_body_bytes` };
  }
  return null;
}

const hostsOf = (port: number | undefined): readonly string[] => [
  `${ADDRESS}:${port ?? ""}`,
  `localhost:${port ?? ""}`,
];

/** Compares in constant time. */
function isToken(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}

function endResponse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    connection: "close",
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(status === 405 ? { allow: "POST" } : {}),
  });
  response.end(`${message}\n`);
}

function webRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  return new Request(`http://${request.headers.host ?? ADDRESS}${PATH}`, {
    method: "POST",
    headers,
    body: Readable.toWeb(request) as ReadableStream,
    duplex: "half",
    signal,
  });
}

async function sendAnswer(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  if (answer.body === null) {
    response.end();
    return;
  }
  await pipeline(Readable.fromWeb(answer.body), response);
}
