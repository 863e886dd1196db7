import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";

type Tunnels = {
  /** Where every tunnel leads, whatever name it is asked for; the port that is asked for without it. */
  readonly to?: string;
  /** The status with which it refuses all. */
  readonly refusing?: number;
};

export type ConnectProxy = {
  readonly url: string;
  /** What was asked for: addresses, and names of tunnels behind CONNECT. */
  readonly asked: readonly string[];
  close(): Promise<void>;
};

/** A proxy that opens tunnels, and answers any other request by the name of the host that it is for. */
export async function startConnectProxy({ to, refusing }: Tunnels = {}): Promise<ConnectProxy> {
  const asked: string[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(incoming.url ?? "");
    outgoing.writeHead(200, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({ data: [{ id: incoming.headers.host }] }));
  });
  server.on("connect", (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url ?? ""}`);
    if (refusing !== undefined) {
      socket.end(`HTTP/1.1 ${refusing} Refused\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(to ?? `http://${incoming.url ?? ""}`);
    const target = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    target.on("error", () => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
    target.on("close", () => socket.destroy());
    socket.on("error", () => target.destroy());
    socket.on("close", () => target.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
