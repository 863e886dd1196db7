import { createServer, request } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Certificate } from "./certificates.ts";

type Gate = {
  /** With it, the gate speaks TLS, and the host behind it does not know. */
  readonly certificate?: Certificate;
  /** Stands before every path; calls of others are not found. */
  readonly below?: string;
  /** Only calls with it are let through. */
  readonly key?: string;
  /** What it answers in place of the host behind it; undefined: lets the call through. */
  readonly answer?: (
    path: string,
  ) =>
    | { readonly status: number; readonly headers?: Record<string, string>; readonly body: object }
    | undefined;
};

export type GatedHost = {
  readonly url: string;
  /** Paths and headers of all calls so far. */
  readonly calls: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
};

/** Stands before a host and lets through who has its key. One that refuses a key repeats it, as some do. */
export async function startGatedHost(url: string, gate: Gate): Promise<GatedHost> {
  const calls: { path: string; headers: IncomingHttpHeaders }[] = [];
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const path = incoming.url ?? "/";
    calls.push({ path, headers: incoming.headers });
    const answer = (status: number, body: object, headers: Record<string, string> = {}): void => {
      incoming.resume();
      outgoing.writeHead(status, { "content-type": "application/json", ...headers });
      outgoing.end(JSON.stringify(body));
    };
    const { authorization } = incoming.headers;
    if (gate.key !== undefined && authorization !== `Bearer ${gate.key}`) {
      answer(401, { error: { message: `Incorrect API key: ${authorization ?? "none"}` } });
      return;
    }
    const instead = gate.answer?.(path);
    if (instead !== undefined) {
      answer(instead.status, instead.body, instead.headers);
      return;
    }
    const { below = "" } = gate;
    if (!path.startsWith(`${below}/`)) {
      answer(404, { error: { message: "no such route" } });
      return;
    }
    const { method, headers } = incoming;
    const forwarded = request(
      new URL(path.slice(below.length), url),
      { method, headers },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      },
    );
    forwarded.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  };
  const { certificate } = gate;
  const server =
    certificate === undefined ? createServer(serve) : createTlsServer(certificate, serve);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate === undefined ? "http" : "https"}://127.0.0.1:${port}${gate.below ?? ""}`,
    calls,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
