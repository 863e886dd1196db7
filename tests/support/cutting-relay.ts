import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

export type CuttingRelay = {
  readonly port: number;
  /** How many connections were cut. */
  cuts(): number;
  close(): Promise<void>;
};

/** Stands before a server of this machine, and cuts each connection after so many bytes of what the server sends. */
export async function startCuttingRelay(target: number, mostBytes: number): Promise<CuttingRelay> {
  const open = new Set<Socket>();
  let cuts = 0;
  const relay = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    let left = mostBytes;
    const end = (): void => {
      for (const socket of [client, server]) {
        open.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on("error", end);
      socket.on("close", end);
    }
    client.pipe(server);
    server.on("data", (chunk: Buffer) => {
      client.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left > 0) return;
      cuts += 1;
      end();
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => relay.once("listening", resolve));
  return {
    port: (relay.address() as AddressInfo).port,
    cuts: () => cuts,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => relay.close(resolve));
    },
  };
}
