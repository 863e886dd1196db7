import type { Database, DriverClient } from "./database.ts";
import { STATEMENT_LIMITS_MS } from "./limited-client.ts";
import type { LimitedStatement } from "./limited-client.ts";

export type Subscription = { close(): void };

type Listening = {
  readonly channels: readonly string[];
  readonly onNotification: (channel: string, payload: string) => void;
  readonly onGap: () => void;
};

const RECONNECT_MS = 250;

/** Keeps one connection that listens, see `Database.listen`. Only the first connection may fail. */
export async function listen(pool: Database["pool"], listening: Listening): Promise<Subscription> {
  let isClosed = false;
  let current: DriverClient | undefined;
  let retry: NodeJS.Timeout | undefined;

  const drop = () => {
    current?.removeAllListeners("notification");
    current?.release(true);
    current = undefined;
  };
  const reconnect = () => {
    if (!isClosed) retry = setTimeout(() => void connect().catch(reconnect), RECONNECT_MS);
  };
  const connect = async () => {
    const client = await pool.connect();
    if (isClosed) {
      client.release();
      return;
    }
    current = client;
    // Of a statement that fails with its connection, only one of the two events may reconnect.
    client.once("error", () => {
      if (current !== client) return;
      drop();
      reconnect();
    });
    try {
      await subscribe(client, listening);
    } catch (error) {
      if (current !== client) return;
      drop();
      throw error;
    }
    if (current === client) listening.onGap();
  };

  await connect();
  return {
    close() {
      isClosed = true;
      clearTimeout(retry);
      drop();
    },
  };
}

async function subscribe(
  client: DriverClient,
  { channels, onNotification }: Listening,
): Promise<void> {
  client.on("notification", ({ channel, payload }) => {
    // The embedded database sends every notification to every client.
    if (channels.includes(channel)) onNotification(channel, payload ?? "");
  });
  for (const channel of channels) {
    const statement: LimitedStatement & { readonly text: string } = {
      text: `listen "${channel}"`,
      limitMs: STATEMENT_LIMITS_MS.claim,
    };
    await client.query(statement);
  }
}
