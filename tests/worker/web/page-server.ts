import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type PageServer = {
  /** `127.0.0.1:PORT` */
  readonly place: string;
  readonly url: string;
  /** Paths that were asked for, with their queries, oldest first. */
  readonly asked: string[];
  readonly requests: IncomingMessage[];
  close(): Promise<void>;
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server of pages on loopback: by path, and 404 for any other. */
export async function startPages(pages: Readonly<Record<string, Answer>>): Promise<PageServer> {
  const requests: IncomingMessage[] = [];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    asked.push(request.url ?? "");
    const { pathname } = new URL(request.url ?? "/", "http://pages");
    const answer = pages[pathname] ?? ((_, missing) => missing.writeHead(404).end("none"));
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    place,
    url: `http://${place}`,
    asked,
    requests,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Answers with a text of a type. */
export const page =
  (text: string | Buffer, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...headers }).end(text);
  };

export const redirect =
  (location: string, status = 302): Answer =>
  (_, response) => {
    response.writeHead(status, { location }).end();
  };

export const json = (value: unknown): Answer =>
  page(JSON.stringify(value), { "content-type": "application/json" });
