import { createServer, request } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** @returns the server, and its address without a slash at the end */
export async function listen(answer: Answer): Promise<{ server: Server; url: string }> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/**
 * Stands before a server, and passes on what it is asked.
 * @param look is asked first; after so many bytes of the answer as it says the relay hangs up
 */
export const listenBefore = (
  target: string,
  look: (asked: IncomingMessage) => Promise<number | undefined>,
): Promise<{ server: Server; url: string }> =>
  listen((asked, response) => {
    void look(asked).then((most) => {
      const { hostname, port } = new URL(target);
      const { method, headers, url: path } = asked;
      asked.pipe(
        request({ hostname, port, method, headers, path, agent: false }, (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          if (most === undefined) {
            answer.pipe(response);
            return;
          }
          let left = most;
          answer.on("data", (chunk: Buffer) => {
            response.write(chunk.subarray(0, left));
            left -= Math.min(left, chunk.length);
            if (left === 0) setTimeout(() => response.destroy(), 20);
          });
        }),
      );
    });
  });
