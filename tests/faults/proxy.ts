import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

export type Proxy = {
  /** The same service by way of the proxy. */
  readonly url: string;
  /** The service is away: every connection breaks, and new ones are refused. */
  cut(): Promise<void>;
};

/** Stands before a service of others, which must not be stopped. @param url with host and port */
export async function startProxy(url: string): Promise<Proxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
    socket.pipe(other);
  };
  const server = createServer((socket) => {
    const upstream = connect(Number(target.port), target.hostname);
    keep(socket, upstream);
    keep(upstream, socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const port = String((server.address() as AddressInfo).port);
  return {
    url: Object.assign(new URL(url), { hostname: "127.0.0.1", port }).href,
    async cut() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
