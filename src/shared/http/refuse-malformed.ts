import { STATUS_CODES } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { parseUrl } from "./parse-url.ts";

export type MalformedStatus = 400 | 408 | 413 | 417 | 431;
/** The JSON body of the reply to a malformed request. */
export type MalformedBody = (status: MalformedStatus) => string;

/**
 * Replies with a body to malformed requests, instead of the server's empty replies: requests that the parser refuses, those with
 * an invalid address or host, and CONNECT. Each reply closes the connection.
 */
export function refuseMalformed(server: Server, bodyOf: MalformedBody): void {
  const open = new WeakMap<Duplex, ServerResponse>();
  const listeners = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  server.on("request", (incoming, outgoing) => {
    open.set(incoming.socket, outgoing);
    if (!isAddressed(incoming)) answer(outgoing, 400);
    else for (const listener of listeners) listener(incoming, outgoing);
  });
  server.on("checkExpectation", (_, outgoing: ServerResponse) => {
    answer(outgoing, 417);
  });
  server.on("connect", (_, socket) => {
    end(socket, 400);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const response = open.get(socket);
    const isAnswering = response?.headersSent === true && !response.writableFinished;
    if (!socket.writable || error.code === "ECONNRESET" || isAnswering) socket.destroy();
    else end(socket, statusOf(error.code));
  });

  function answer(outgoing: ServerResponse, status: MalformedStatus): void {
    const headers = { "content-type": "application/json", connection: "close" };
    outgoing.writeHead(status, headers).end(bodyOf(status));
  }

  function end(socket: Duplex, status: MalformedStatus): void {
    const body = bodyOf(status);
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  }
}

/** Whether path and host form a valid URL. */
function isAddressed({ url = "", headers: { host = "" } }: IncomingMessage): boolean {
  const [path = ""] = url.split("?");
  if (path.includes("\\")) return false;
  if (!path.startsWith("/")) return /^https?:\/\//i.test(path) && parseUrl(url) !== undefined;
  const isHost = /^[\w.-]+(:\d+)?$|^\[[0-9a-f:.]+\](:\d+)?$/i.test(host);
  return isHost && parseUrl(`http://${host}`) !== undefined;
}

function statusOf(code: string | undefined): MalformedStatus {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return 413;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
}
