import pg from "pg";
import { Failure } from "../failure.ts";

export type Rows = { readonly rows: unknown[]; readonly rowCount: number | null };

/** A pool or a client inside a transaction: every SQL function accepts either. */
export type Queryable = {
  /**
   * Runs one statement by the extended protocol.
   * @throws Failure DATABASE_UNREACHABLE when there is no connection or it broke; else the driver's error.
   */
  query(text: string, values?: readonly unknown[]): Promise<Rows>;
};

export type Subscription = { close(): Promise<void> };

export type Database = Queryable & {
  /** Commits when the body resolves, rolls back when it throws. */
  transaction<T>(body: (db: Queryable) => Promise<T>): Promise<T>;
  /**
   * Listens on channels of a connection of its own, and connects again after it broke. `onGap` is called after
   * every (re)connection, because notifications may have been missed before it.
   */
  listen(
    channels: readonly string[],
    onNotification: (channel: string, payload: string) => void,
    onGap: () => void,
  ): Promise<Subscription>;
  /** The driver's pool, for the queue door only. */
  readonly pool: pg.Pool;
  end(): Promise<void>;
};

export type DatabaseOptions = {
  /** A connection string, or the folder of the Unix socket of the embedded database. */
  readonly target:
    | { readonly kind: "url"; readonly url: string }
    | {
        readonly kind: "embedded";
        /** Finds or starts the database process and gives the folder of its socket. */
        readonly ensure: () => Promise<{ readonly host: string; readonly port: number }>;
      };
  readonly maxConnections: number;
  /** The schema where unqualified names are looked up first; the queue's functions need theirs. */
  readonly searchPath?: string;
  /** Told of errors of idle connections; the pool replaces them by itself. */
  readonly onError: (error: unknown) => void;
};

/** Opens a pool. Nothing is connected before the first query. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = createPool(options);
  pool.on("error", options.onError);
  const query =
    (runner: pg.Pool | pg.ClientBase) => async (text: string, values?: readonly unknown[]) =>
      runner.query(text, [...(values ?? [])]).catch(translate) as Promise<Rows>;
  return {
    pool,
    query: query(pool),
    transaction: (body) => inTransaction(pool, (client) => body({ query: query(client) })),
    listen: (channels, onNotification, onGap) => listen(pool, { channels, onNotification, onGap }),
    end: () => pool.end(),
  };
}

function createPool({ target, maxConnections, searchPath }: DatabaseOptions): pg.Pool {
  const common = { max: maxConnections, connectionTimeoutMillis: 10_000, keepAlive: true };
  if (target.kind === "url") {
    return new pg.Pool({
      ...common,
      connectionString: target.url,
      application_name: "nightdesk",
      ...(searchPath === undefined ? {} : { options: `-c search_path=${searchPath}` }),
    });
  }
  return new pg.Pool({
    ...common,
    // A cold start of the embedded database takes seconds.
    connectionTimeoutMillis: 90_000,
    user: "postgres",
    database: "postgres",
    Client: embeddedClient(target.ensure),
  });
}

type Connected = (error?: Error) => void;

/** A client that finds or starts the database process whenever it connects, also after `kill -9` of it. */
const embeddedClient = (ensure: () => Promise<{ host: string; port: number }>) =>
  class extends pg.Client {
    override connect(): Promise<this>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<this> | undefined {
      const connected = ensure().then(async ({ host, port }) => {
        Object.assign(this, { host, port });
        Object.assign(this.connectionParameters, { host, port });
        await super.connect();
        return this;
      });
      if (callback === undefined) return connected;
      connected.then(
        () => {
          callback();
        },
        (error: unknown) => {
          callback(error instanceof Error ? error : new Error(String(error)));
        },
      );
      return undefined;
    }
    declare connectionParameters: { host: string; port: number };
  };

/**
 * For a client that is checked out: its pool does not listen then, and an error event that nobody hears ends the
 * process. The statement that runs, or the next one, is rejected with the same error.
 */
export const heardByTheQuery = (): void => undefined;

async function inTransaction<T>(
  pool: pg.Pool,
  body: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch(translate);
  const release = (broken: boolean) => {
    client.off("error", heardByTheQuery);
    client.release(broken);
  };
  client.on("error", heardByTheQuery);
  try {
    await client.query("begin").catch(translate);
    const result = await body(client);
    await client.query("commit").catch(translate);
    release(false);
    return result;
  } catch (error) {
    // A connection that can't roll back is thrown away, and the server rolls back for it.
    await client.query("rollback").then(
      () => {
        release(false);
      },
      () => {
        release(true);
      },
    );
    throw error;
  }
}

const RECONNECT_MS = 250;

type Listening = {
  readonly channels: readonly string[];
  readonly onNotification: (channel: string, payload: string) => void;
  readonly onGap: () => void;
};

async function listen(pool: pg.Pool, listening: Listening): Promise<Subscription> {
  let closed = false;
  let current: pg.PoolClient | undefined;
  let retry: NodeJS.Timeout | undefined;

  const reconnect = () => {
    current = undefined;
    if (!closed) retry = setTimeout(() => void connect().catch(reconnect), RECONNECT_MS);
  };
  const connect = async () => {
    const client = await pool.connect();
    if (closed) {
      client.release(true);
      return;
    }
    client.on("notification", ({ channel, payload }) => {
      // The embedded database sends every notification to every client.
      if (listening.channels.includes(channel)) listening.onNotification(channel, payload ?? "");
    });
    client.once("error", (error: Error) => {
      client.release(error);
      reconnect();
    });
    current = client;
    for (const channel of listening.channels) await client.query(`listen "${channel}"`);
    listening.onGap();
  };

  await connect().catch(translate);
  return {
    async close() {
      closed = true;
      clearTimeout(retry);
      current?.removeAllListeners("notification");
      current?.release(true);
    },
  };
}

export type DriverClient = pg.PoolClient;
export type TextQuery = InstanceType<typeof pg.Query>;

const AS_TEXT = { getTypeParser: () => (value: string) => value };

/**
 * One statement by the extended protocol, also without parameters: the server then refuses a text of two. Its rows
 * come one by one, as lists of the server's text. To be given to a client's `query`; for reader-sql.ts only.
 */
export function textQuery(statement: string): TextQuery {
  const config = { text: statement, rowMode: "array", queryMode: "extended", types: AS_TEXT };
  return new pg.Query(config);
}

/** SQLSTATE classes of a connection that is gone or refused, and the codes of Node's sockets. */
const UNREACHABLE =
  /^(08|57P0|53300|ECONN|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH)/;

const LOST_CONNECTION =
  /^Connection terminated|timeout exceeded when trying to connect|^Client has encountered a connection error/;

// Not instanceof: an error of Node's own modules may come from another realm.
function isUnreachable(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const message = "message" in error && typeof error.message === "string" ? error.message : "";
  return UNREACHABLE.test(code) || LOST_CONNECTION.test(message);
}

/** Throws the driver's error again, as DATABASE_UNREACHABLE when there is no connection or it broke. */
export function translate(error: unknown): never {
  if (error instanceof Failure || !isUnreachable(error)) throw error;
  throw new Failure(
    "DATABASE_UNREACHABLE",
    `The database does not answer (${describe(error)}). ` +
      "Check database.url or DATABASE_URL, and that the server runs.",
    { cause: error },
  );
}

const describe = (error: unknown): string =>
  typeof error === "object" && error !== null && "message" in error
    ? String(error.message) || ("code" in error ? String(error.code) : "no reason given")
    : String(error);

/** Whether an error means that the database was not there, so that the same may be tried again. */
export const isDatabaseGone = (error: unknown): boolean =>
  (error instanceof Failure && error.code === "DATABASE_UNREACHABLE") || isUnreachable(error);
