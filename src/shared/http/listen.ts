import { createServer as createHttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import type { ServerType } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context, Hono } from "hono";
import { openContext } from "../commands/command-context.ts";
import type { CommandContext } from "../commands/command-context.ts";
import type { CommandHandler } from "../commands/command.ts";
import { listenFailure } from "../commands/listen-failure.ts";
import type { Tls } from "./read-tls.ts";
import { refuseMalformed } from "./refuse-malformed.ts";
import type { MalformedBody } from "./refuse-malformed.ts";

export type Listening = {
  /** Includes the chosen port. */
  readonly url: string;
  close(): Promise<void>;
};

/** The address at the other end of a connection. */
export const addressOf = (context: Context): string => getConnInfo(context).remote.address ?? "";

type Place = {
  readonly host: string;
  readonly port: number;
  readonly tls: Tls | null;
  /** The time limit for receiving a request, so that a client that sends byte by byte holds no connection for long. */
  readonly requestMs: number;
  /** The settings of the address, in words. */
  readonly keys: string;
  /** The reply to an invalid HTTP request; by default the server's own. */
  readonly malformed?: MalformedBody;
};

const HEADERS_MS = 15_000;

/**
 * Serves an application at an address.
 * @throws Failure CONFIG_ERROR if the server can't listen there
 */
export async function listenOn(
  app: Hono,
  { host, port, tls, requestMs, keys, malformed }: Place,
): Promise<Listening> {
  const limits = {
    requestTimeout: requestMs,
    headersTimeout: HEADERS_MS,
    maxHeaderSize: 32_768,
    // The guard of the application refuses a request without a host, as one for another host.
    requireHostHeader: malformed === undefined,
  };
  const server = await new Promise<ServerType>((resolve, reject) => {
    const started = serve(
      {
        fetch: app.fetch,
        hostname: host,
        port,
        ...(tls === null
          ? { createServer: createHttpServer, serverOptions: limits }
          : { createServer: createTlsServer, serverOptions: { ...limits, ...tls } }),
      },
      () => {
        resolve(started);
      },
    );
    if (malformed !== undefined) refuseMalformed(started as Server, malformed);
    started.once("error", (error: Error) => {
      reject(listenFailure(error, { host, port, keys }));
    });
  });
  const { port: chosen } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `${tls === null ? "http" : "https"}://${name}:${chosen}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        // A stream stays open as long as its page does.
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

/**
 * A command that serves until SIGTERM or SIGINT.
 * @param describe the text to print for the URL
 * @param name of the server, for the log
 */
export const serveUntilSignal =
  (
    open: (context: CommandContext) => Promise<Listening>,
    { describe, name }: { readonly describe: (url: string) => string; readonly name: string },
  ): CommandHandler =>
  async (invocation) => {
    const context = await openContext(invocation);
    const stopped = new Promise<void>((resolve) => {
      for (const signal of ["SIGTERM", "SIGINT"] as const) {
        process.on(signal, () => {
          resolve();
        });
      }
    });
    const listening = await open(context);
    context.terminal.say(describe(listening.url));
    await stopped;
    context.logger.info(`stopping ${name}`);
    await listening.close();
  };
