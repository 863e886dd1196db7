import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { listenOnSocket } from "../../src/embedded/listen-socket.ts";
import type { Listening } from "../../src/embedded/listen-socket.ts";
import type { Engine } from "../../src/embedded/open-database.ts";
import { commandComplete, query, readyForQuery } from "../../src/embedded/wire-protocol.ts";
import { openRaw, openSession, packet } from "./raw-connection.ts";

let onRun = (): void => undefined;
/** Holds nothing, and says that all is done. */
const ENGINE: Engine = {
  run: async () => {
    onRun();
    return Buffer.concat([commandComplete("SELECT 0"), readyForQuery("I")]);
  },
  query: async () => ({ rows: [], rowCount: 0 }),
  close: async () => undefined,
};
const IDLE_SECONDS = 30;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nightdesk-socket-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const listen = (): Promise<Listening> =>
  listenOnSocket({
    ...{ engine: ENGINE, directory, socket: join(directory, ".s.PGSQL.5432") },
    ...{ idleSeconds: IDLE_SECONDS, idleInTransactionSeconds: 30 },
    onDeath: (reason) => {
      throw new Error(reason);
    },
    log: () => undefined,
  });

/** Connects, asks for TLS, and has heard from the other end. */
async function connect(): Promise<Socket> {
  const { socket } = openRaw({ host: directory, port: 5432 });
  socket.write(packet(80_877_103));
  await once(socket, "data");
  return socket;
}

const leave = (socket: Socket) => once(socket.end(), "close");

describe("a database process without clients", () => {
  let listening: Listening;
  let isIdle: boolean;
  beforeEach(async () => {
    // The sockets go on as ever.
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] });
    listening = await listen();
    isIdle = false;
    void listening.idle.then(() => (isIdle = true));
  });
  afterEach(async () => {
    jest.useRealTimers();
    await listening.close();
  });

  async function isIdleAfter(seconds: number): Promise<boolean> {
    await jest.advanceTimersByTimeAsync(seconds * 1_000);
    return isIdle;
  }

  test("stays while anybody is connected, and for a while after the last one left", async () => {
    expect(await isIdleAfter(IDLE_SECONDS - 1)).toBe(false);
    const [first, second] = [await connect(), await connect()];
    expect(await isIdleAfter(2 * IDLE_SECONDS)).toBe(false);
    await leave(first);
    expect(await isIdleAfter(2 * IDLE_SECONDS)).toBe(false);
    await leave(second);
    expect(await isIdleAfter(IDLE_SECONDS - 1)).toBe(false);
    await leave(await connect());
    expect(await isIdleAfter(IDLE_SECONDS - 1)).toBe(false);
    expect(await isIdleAfter(1)).toBe(true);
  });

  test("ends as well where nobody comes", async () => {
    expect(await isIdleAfter(IDLE_SECONDS)).toBe(true);
  });
});

test("a dump that is being written when the process is stopped is written, and its client hears of it", async () => {
  mkdirSync(join(directory, "pgdata"));
  writeFileSync(join(directory, "pgdata", "PG_VERSION"), "17\n");
  const listening = await listen();
  const client = await openSession({ host: directory, port: 5432 });
  client.write(query("nightdesk checkpoint"));
  await new Promise<void>((resolve) => (onRun = resolve));
  await listening.close();
  await client.closed();
  expect(client.text()).toContain("CHECKPOINT");
  expect(readdirSync(join(directory, "backups"))).toHaveLength(1);
});
