import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hasCode } from "../store/connection/errors.ts";
import { METRICS_CONTENT_TYPE } from "./metrics.ts";
import type { Metrics } from "./metrics.ts";

export type MetricsPlace = { readonly host: string; readonly port: number };
export type MetricsServer = { readonly address: string; close(): Promise<void> };

type Served = {
  readonly metrics: Metrics;
  /** Whether the process can work: the database replies. */
  readonly isReady: () => Promise<boolean>;
};

/** Ports to try: workers of one machine use successive ones. */
const MOST_PORTS = 20;
/** The time limit for receiving a request. */
const REQUEST_MS = 10_000;

/**
 * Serves `/metrics`, `/healthz` and `/readyz` by GET, to clients that use a literal address or the configured name. If the port
 * is in use, by another worker of this machine, it tries the next ones, up to twenty.
 * @throws the error of the last port if all are in use, or of an address that is not local
 */
export async function serveMetrics(
  { host, port }: MetricsPlace,
  served: Served,
): Promise<MetricsServer> {
  for (let tried = 0; ; tried += 1) {
    const server = createServer(
      (request, response) => void sendReply(request, response, host, served),
    );
    server.requestTimeout = REQUEST_MS;
    try {
      await listen(server, host, port === 0 ? 0 : port + tried);
      server.unref();
      const { port: taken } = server.address() as AddressInfo;
      return { address: `${hostText(host)}:${taken}`, close: () => closeServer(server) };
    } catch (error) {
      if (!hasCode(error, "EADDRINUSE") || tried + 1 >= MOST_PORTS) throw error;
    }
  }
}

const hostText = (host: string): string => (host.includes(":") ? `[${host}]` : host);

const listen = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });

type Reply = { readonly status: number; readonly text: string; readonly type?: string };
const TEXT = "text/plain; charset=utf-8";

const UNREADABLE: Reply = {
  status: 500,
  text: "The metrics could not be read; the log of the process may say why.\n",
};

async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  host: string,
  served: Served,
): Promise<void> {
  const {
    status,
    text,
    type = TEXT,
  } = await replyTo(request, host, served).catch(() => UNREADABLE);
  response.writeHead(status, {
    "content-type": type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(status === 405 ? { allow: "GET" } : {}),
  });
  response.end(text);
}

async function replyTo(
  { method, url, headers, socket }: IncomingMessage,
  host: string,
  { metrics, isReady }: Served,
): Promise<Reply> {
  if (!isOwnHost(headers.host, host, socket.localPort))
    return {
      status: 421,
      text: `This is not ${headers.host ?? "named"}: ask it by its address.\n`,
    };
  if (method !== "GET") return { status: 405, text: "Only GET.\n" };
  switch ((url ?? "").replace(/\?.*/s, "")) {
    case "/metrics":
      return { status: 200, text: await metrics.text(), type: METRICS_CONTENT_TYPE };
    case "/healthz":
      return { status: 200, text: "ok\n" };
    case "/readyz":
      return (await isReady())
        ? { status: 200, text: "ok\n" }
        : { status: 503, text: "The database does not answer.\n" };
    default:
      return { status: 404, text: "There are /metrics, /healthz and /readyz.\n" };
  }
}

/** Against DNS rebinding: accepts only literal addresses, localhost and the configured host. */
function isOwnHost(header: string | undefined, host: string, port: number | undefined): boolean {
  if (header === undefined) return false;
  const [, name = "", given] = /^(\[[0-9a-f:.]+\]|[^:]+)(?::(\d+))?$/i.exec(header) ?? [];
  if (given !== undefined && Number(given) !== port) return false;
  const bare = name.replace(/^\[|\]$/g, "").toLowerCase();
  return (
    bare === "localhost" ||
    bare === host.toLowerCase() ||
    /^[\d.]+$|^[0-9a-f:.]*:[0-9a-f:.]*$/.test(bare)
  );
}
