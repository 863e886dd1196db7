import { createConnection } from "node:net";
import type { Socket } from "node:net";
import path from "node:path";
import { message } from "../../src/embedded/wire-protocol.ts";
import { until } from "./deadline.ts";

/** A client without a driver, to send bytes that no driver sends. */
export type RawConnection = {
  readonly socket: Socket;
  write(...messages: Buffer[]): void;
  /** The types of all messages so far, in order. */
  types(): string;
  text(): string;
  /** Resolves when the types received end so. */
  ends(types: string): Promise<void>;
  closed(): Promise<void>;
};

export const text = (value: string): Buffer => Buffer.from(`${value}\0`);

const int = (value: number, size: 2 | 4): Buffer => {
  const bytes = Buffer.alloc(size);
  bytes.writeIntBE(value, 0, size);
  return bytes;
};

export const parse = (sql: string, name = ""): Buffer =>
  message("P", text(name), text(sql), int(0, 2));
export const bind: Buffer = message("B", text(""), text(""), int(0, 2), int(0, 2), int(0, 2));
export const execute = (rows: number): Buffer => message("E", text(""), int(rows, 4));
export const flush: Buffer = message("H");

export function startup(parameters: Record<string, string>, version = 196_608): Buffer {
  const words = Object.entries(parameters).flat().map(text);
  const body = Buffer.concat([int(version, 4), ...words, Buffer.of(0)]);
  return Buffer.concat([int(body.length + 4, 4), body]);
}

export const packet = (code: number): Buffer => Buffer.concat([int(8, 4), int(code, 4)]);

export function openRaw({ host, port }: { host: string; port: number }): RawConnection {
  const socket = createConnection(path.join(host, `.s.PGSQL.${port}`));
  let received = Buffer.alloc(0);
  let isClosed = false;
  socket.on("data", (chunk) => (received = Buffer.concat([received, chunk])));
  socket.on("error", () => undefined);
  socket.on("close", () => (isClosed = true));
  const types = () => typesOf(received);
  return {
    socket,
    write: (...messages) => socket.write(Buffer.concat(messages)),
    types,
    text: () => received.toString(),
    ends: (end) => until(`messages ending in ${end}`, () => types().endsWith(end)),
    closed: () => until("the server closes the connection", () => isClosed),
  };
}

function typesOf(bytes: Buffer): string {
  let types = "";
  for (let at = 0; at + 5 <= bytes.length;) {
    const type = String.fromCharCode(bytes[at] ?? 0);
    const isEncryptionAnswer = type === "N" && at === 0;
    const end = isEncryptionAnswer ? at + 1 : at + 1 + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) break;
    types += type;
    at = end;
  }
  return bytes.length === 1 ? bytes.toString() : types;
}

export async function openSession(address: { host: string; port: number }): Promise<RawConnection> {
  const connection = openRaw(address);
  connection.write(startup({ user: "postgres", database: "postgres" }));
  await connection.ends("KZ");
  return connection;
}
