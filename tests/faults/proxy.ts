import { once } from "node:events";
import { mkdir, rename } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import type { AddressInfo, NetConnectOpts, Socket } from "node:net";
import { basename, dirname, join } from "node:path";

/** A server error that a proxy puts behind the first ReadyForQuery of a connection, in the same packet. */
export type Fatal = { readonly code: string; readonly message: string };

/** Stands between clients and a server, and does to their connections what networks and dying servers do. */
export type Proxy = {
  /** Where it listens, when that is a port. */
  readonly port: number;
  /** Connections that are open. */
  count(): number;
  /** Connections that there were. */
  accepted(): number;
  /** Bytes of the connections that are there vanish from now on, in both directions, and nobody is told. New ones pass. */
  muteExisting(): void;
  /** The same, and for every connection that comes, until `pass`. */
  muteAll(): void;
  /** Ends the connections that are there. */
  cut(): void;
  /** Ends the connections that are there, and every one that comes, until `pass`. */
  refuse(): void;
  /** Holds back every packet for so long. */
  delay(milliseconds: number): void;
  /** Every new connection is let in and ended at once, by this error of a server. Until `pass`. */
  answerFatal(error: Fatal): void;
  /** New connections pass again, without delay. */
  pass(): void;
  close(): Promise<void>;
};

type Mode = { readonly kind: "pass" | "mute" | "refuse" } | ({ readonly kind: "fatal" } & Fatal);

type Link = { readonly client: Socket; readonly server: Socket; isMute: boolean };

/** @param target the server @param listenAt a socket file; a port of the loopback interface without it */
export async function startProxy(target: NetConnectOpts, listenAt?: string): Promise<Proxy> {
  const links = new Set<Link>();
  let mode: Mode = { kind: "pass" };
  let delayMs = 0;
  let accepted = 0;
  const listener = createServer((client) => {
    client.on("error", () => undefined);
    accepted += 1;
    if (mode.kind === "refuse") {
      client.destroy();
      return;
    }
    const link = { client, server: createConnection(target), isMute: mode.kind === "mute" };
    links.add(link);
    const end = () => {
      links.delete(link);
      client.destroy();
      link.server.destroy();
    };
    for (const socket of [client, link.server]) {
      socket.on("error", end);
      // A mute connection hides its end, too.
      socket.on("close", () => {
        if (!link.isMute || socket === client) end();
      });
    }
    const ending = mode.kind === "fatal" ? fatalAfterReady(mode) : undefined;
    forward(client, link.server, { link, delayMs: () => delayMs });
    forward(link.server, client, { link, delayMs: () => delayMs, ...(ending && { ending }) });
  });
  listener.listen(listenAt === undefined ? { port: 0, host: "127.0.0.1" } : { path: listenAt });
  await once(listener, "listening");
  const cut = () => {
    for (const { client, server } of links) {
      client.destroy();
      server.destroy();
    }
  };
  const muteExisting = () => {
    for (const link of links) link.isMute = true;
  };
  return {
    port: listenAt === undefined ? (listener.address() as AddressInfo).port : 0,
    count: () => links.size,
    accepted: () => accepted,
    muteExisting,
    muteAll() {
      mode = { kind: "mute" };
      muteExisting();
    },
    cut,
    refuse() {
      mode = { kind: "refuse" };
      cut();
    },
    delay(milliseconds) {
      delayMs = milliseconds;
    },
    answerFatal(error) {
      mode = { kind: "fatal", ...error };
    },
    pass() {
      mode = { kind: "pass" };
      delayMs = 0;
    },
    async close() {
      cut();
      listener.close();
      if (listener.listening) await once(listener, "close");
    },
  };
}

type Forwarding = {
  readonly link: Link;
  readonly delayMs: () => number;
  /** What becomes of bytes that are the last, and ends the connection with them; undefined for others. */
  readonly ending?: (data: Buffer) => Buffer | undefined;
};

function forward(from: Socket, to: Socket, { link, delayMs, ending }: Forwarding): void {
  const send = (data: Buffer) => {
    if (link.isMute || to.destroyed) return;
    const last = ending?.(data);
    if (last === undefined) to.write(data);
    else to.end(last);
  };
  from.on("data", (data) => {
    if (delayMs() === 0) send(data);
    else setTimeout(send, delayMs(), data);
  });
}

const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

const fatalAfterReady =
  (error: Fatal) =>
  (data: Buffer): Buffer | undefined => {
    const at = data.indexOf(READY_FOR_QUERY);
    if (at < 0) return undefined;
    return Buffer.concat([data.subarray(0, at + READY_FOR_QUERY.length), errorMessage(error)]);
  };

function errorMessage({ code, message }: Fatal): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** Puts a proxy in front of a server that is named by a URL. @returns the URL through it */
export async function proxyOf(
  url: string,
): Promise<{ readonly proxy: Proxy; readonly url: string }> {
  const { hostname, port, protocol } = new URL(url);
  const standard = protocol.startsWith("redis") ? 6379 : 5432;
  const proxy = await startProxy({ host: hostname, port: Number(port || standard) });
  const through = Object.assign(new URL(url), { hostname: "127.0.0.1", port: `${proxy.port}` });
  return { proxy, url: through.href };
}

/**
 * Puts a proxy in front of a socket file of a server that listens already. The file goes into the folder `behind` beside
 * it, where it can still be reached without the proxy. Of a server that is started again the proxy knows nothing.
 */
export async function proxyOfSocket(
  file: string,
): Promise<{ readonly proxy: Proxy; readonly behind: string }> {
  const behind = join(dirname(file), "behind");
  await mkdir(behind, { recursive: true });
  const hidden = join(behind, basename(file));
  await rename(file, hidden);
  return { proxy: await startProxy({ path: hidden }, file), behind };
}
