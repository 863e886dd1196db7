import { createHash } from "node:crypto";
import pg from "pg";
import { Failure } from "../../failure.ts";
import { isBusy } from "../embedded/embedded-process.ts";
import { hasCode, isPoolEmpty, storageFaultOf, unreachableOf } from "./errors.ts";
import { findBlocker } from "./find-blocker.ts";
import {
  hasSharedSession,
  limitedClient,
  sharesSessions,
  STATEMENT_LIMITS_MS,
} from "./limited-client.ts";
import type { LimitedStatement, Server, StatementClass } from "./limited-client.ts";

export type Rows = { readonly rows: unknown[]; readonly rowCount: number | null };

/** A pool, or a client in a transaction; every SQL function accepts both. */
export type Queryable = {
  /**
   * Runs one statement with the extended protocol.
   * @param name for a statement that runs for each job: a server parses and plans it once for each connection, the embedded
   * database once. A name belongs to exactly one text.
   * @throws Failure DATABASE_UNREACHABLE when there is no connection, it breaks, or no answer comes within the limit of the
   * statement's class; else the driver's error.
   */
  query(text: string, values?: readonly unknown[], name?: string): Promise<Rows>;
};

export type Database = Queryable & {
  /** The same database with the time limit of another class, for statements in and outside of transactions. */
  within(statements: StatementClass): Database;
  /** Commits when the body resolves, rolls back when it throws. */
  transaction<T>(body: (db: Queryable) => Promise<T>): Promise<T>;
  /**
   * Listens on channels with a connection of its own, until `end`, and reconnects when it breaks. Calls `onGap` after every
   * connect, because notifications may have been missed before. When a pooler shares the sessions, LISTEN does not work:
   * `onNotification` is then called for each channel once a second, without a payload.
   */
  listen(
    channels: readonly string[],
    onNotification: (channel: string, payload: string) => void,
    onGap: () => void,
  ): Promise<void>;
  /** Whether a pooler shares sessions: a LISTEN, setting or named statement is then lost at the end of its transaction. */
  sharesSessions(): Promise<boolean>;
  /** The driver's pool, only for src/shared/queue/storage.ts. */
  readonly pool: pg.Pool;
  end(): Promise<void>;
};

type DatabaseOptions = {
  /** A server, or the embedded database. */
  readonly target:
    | {
        readonly kind: "url";
        readonly url: string;
        /** Bypasses a pooler, for LISTEN. */
        readonly directUrl?: string | undefined;
      }
    | {
        readonly kind: "embedded";
        /** Finds or starts the database process and returns the folder of its socket. */
        readonly ensure: () => Promise<{ readonly host: string; readonly port: number }>;
      };
  readonly maxConnections: number;
  /** Idle connections that stay open, so that they exist even when the server accepts no more. */
  readonly keptConnections?: number;
  /** The default class of a statement. */
  readonly statements: StatementClass;
  /** Settings of each session that no pooler shares. The embedded database has one session, with its own settings. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Receives errors of idle connections; the pool replaces these connections by itself. */
  readonly onError: (error: unknown) => void;
};

/** Opens a pool, which connects at the first query. */
export function openDatabase(options: DatabaseOptions): Database {
  const server = serverOf(options);
  const pool = createPool(options, server);
  // All connections of a pool may wait for one lock: when none is free, the error names the lock's holder.
  const explain = async (error: unknown): Promise<never> =>
    translate((isPoolEmpty(error) ? await server.findBlocker(null) : undefined) ?? error);
  pool.on("error", options.onError);
  const listeners = openListenPool(options);
  listeners?.on("error", options.onError);
  const subscriptions: Subscription[] = [];
  const within = (statements: StatementClass): Database => ({
    pool,
    within,
    query: (text, values = [], name) =>
      retryOnDeadlock(() => send(pool, { text, values, name, statements }).catch(explain)),
    transaction: (body) =>
      inTransaction(
        () => pool.connect().catch(explain),
        (client) => ({
          query: (text, values = [], name) =>
            send(client, { text, values, name, statements }).catch(translate),
        }),
        body,
      ),
    async listen(channels, onNotification, onGap) {
      const listening = { channels, onNotification, onGap };
      subscriptions.push(await listen(listeners ?? pool, listening).catch(translate));
    },
    async sharesSessions() {
      const client = await pool.connect().catch(translate);
      client.release();
      return hasSharedSession(client);
    },
    async end() {
      for (const subscription of subscriptions) subscription.close();
      await Promise.all([pool.end(), listeners?.end()]);
    },
  });
  return within(options.statements);
}

function createPool(options: DatabaseOptions, server: Server): pg.Pool {
  const { target, maxConnections, keptConnections = 0, statements } = options;
  const common = {
    max: maxConnections,
    min: keptConnections,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    Client: limitedClient(server, statements),
  };
  if (target.kind === "url") {
    return new pg.Pool({
      ...common,
      connectionString: target.url,
      application_name: "nightdesk",
    });
  }
  return new pg.Pool({
    ...common,
    // The embedded database takes seconds to start.
    connectionTimeoutMillis: 90_000,
    user: "postgres",
    database: "postgres",
  });
}

/** A separate pool for LISTEN that bypasses a pooler; undefined without a direct address. */
function openListenPool({ target, ...others }: DatabaseOptions): pg.Pool | undefined {
  if (target.kind !== "url" || target.directUrl === undefined) return undefined;
  const direct = { kind: "url", url: target.directUrl } as const;
  const options = { ...others, target: direct, keptConnections: 0 };
  return createPool(options, serverOf(options));
}

/** Idle time of a connection before TCP checks that the other end is alive. */
const KEEP_ALIVE_MS = 5_000;

/**
 * The keepalives let the server notice within half a minute that a client is gone, and release its locks. jit is off: compiling a
 * statement takes seconds when the planner expects many rows, and ours end after a page of them.
 */
const SERVER_SESSION = {
  tcp_keepalives_idle: "10",
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "3",
  jit: "off",
};

function serverOf({ target, settings = {} }: Pick<DatabaseOptions, "target" | "settings">): Server {
  if (target.kind === "url") {
    const { url } = target;
    let shared: Promise<boolean> | undefined;
    const allSettings = Object.entries({ ...SERVER_SESSION, ...settings });
    return {
      find: () => Promise.resolve({}),
      isBusy: () => Promise.resolve(false),
      findBlocker: (session) => findBlocker(url, session),
      session: {
        settings: allSettings,
        isShared(client) {
          shared ??= sharesSessions(client, url).catch((error: unknown) => {
            shared = undefined;
            throw error;
          });
          return shared;
        },
      },
    };
  }
  let host: string | undefined;
  return {
    async find() {
      const place = await target.ensure();
      host = place.host;
      return place;
    },
    isBusy: async () => host !== undefined && isBusy(host),
    findBlocker: () => Promise.resolve(undefined),
    session: undefined,
  };
}

type Statement = {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly name: string | undefined;
  readonly statements: StatementClass;
};

/** Sends a statement, as a named one if it has a name. */
function send(
  runner: pg.Pool | pg.ClientBase,
  { text, values, name, statements }: Statement,
): Promise<Rows> {
  const statement: pg.QueryConfig & LimitedStatement = {
    text,
    values: [...values],
    ...(name === undefined ? {} : { name: nameOf(name, text) }),
    limitMs: STATEMENT_LIMITS_MS[statements],
  };
  return runner.query(statement);
}

/**
 * The name of a statement in the database: its name and a hash of its text. The embedded database shares named statements among
 * its clients, and two versions of Nightdesk may have different texts.
 */
function nameOf(name: string, text: string): string {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  const uniqueName = `${name}_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
  statementNames.set(text, uniqueName);
  return uniqueName;
}

const statementNames = new Map<string, string>();

const DEADLOCK_DETECTED = "40P01";
const MOST_TRIES = 3;

/** Retries a statement that the server cancelled to end a deadlock: it changed nothing. */
async function retryOnDeadlock(query: () => Promise<Rows>): Promise<Rows> {
  for (let tries = 1; tries < MOST_TRIES; tries += 1) {
    try {
      return await query();
    } catch (error) {
      if (!hasCode(error, DEADLOCK_DETECTED)) throw error;
    }
  }
  return query();
}

async function inTransaction<T>(
  connect: () => Promise<pg.PoolClient>,
  over: (client: pg.PoolClient) => Queryable,
  body: (db: Queryable) => Promise<T>,
): Promise<T> {
  const client = await connect();
  const db = over(client);
  try {
    await db.query("begin");
    const result = await body(db);
    await db.query("commit");
    client.release();
    return result;
  } catch (error) {
    // A connection that can't roll back is closed, and the server rolls back.
    await db.query("rollback").then(
      () => {
        client.release();
      },
      () => {
        client.release(true);
      },
    );
    throw error;
  }
}

export type DriverClient = pg.PoolClient;
export type TextQuery = InstanceType<typeof pg.Query>;

const AS_TEXT = { getTypeParser: () => (value: string) => value };

/**
 * A statement in the extended protocol even without parameters, so that the server refuses a text of two statements. It emits its
 * rows one by one, as arrays of the server's text. For a client's `query`; only for reader-sql.ts.
 * @param limitMs most time between two rows
 */
export function textQuery(statement: string, limitMs: number): TextQuery & LimitedStatement {
  const config = { text: statement, rowMode: "array", queryMode: "extended", types: AS_TEXT };
  return Object.assign(new pg.Query(config), { limitMs });
}

/** Rethrows the driver's error: as DATABASE_UNREACHABLE when the connection failed or broke, or as a storage fault. */
export function translate(error: unknown): never {
  if (error instanceof Failure) throw error;
  throw storageFaultOf(error) ?? unreachableOf(error) ?? error;
}

/** Whether an error means that the database was unreachable, so that a retry makes sense. */
export const isDatabaseGone = (error: unknown): boolean =>
  error instanceof Failure
    ? error.code === "DATABASE_UNREACHABLE"
    : unreachableOf(error) !== undefined;

type Subscription = { close(): void };

type Listening = {
  readonly channels: readonly string[];
  readonly onNotification: (channel: string, payload: string) => void;
  readonly onGap: () => void;
};

const RECONNECT_MS = 250;
/** Interval of notifications when LISTEN does not work. */
const POLL_MS = 1_000;

/** Implements `Database.listen`. Rejects only when the first connection fails. */
export async function listen(pool: Database["pool"], listening: Listening): Promise<Subscription> {
  let isClosed = false;
  let current: DriverClient | undefined;
  let retry: NodeJS.Timeout | undefined;
  let poll: NodeJS.Timeout | undefined;

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
    if (hasSharedSession(client)) {
      client.release();
      listening.onGap();
      poll ??= setInterval(() => {
        for (const channel of listening.channels) listening.onNotification(channel, "");
      }, POLL_MS);
      return;
    }
    current = client;
    // When LISTEN fails with its connection, both this event and the catch below follow; only one of them may reconnect.
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
      clearInterval(poll);
      drop();
    },
  };
}

async function subscribe(
  client: DriverClient,
  { channels, onNotification }: Listening,
): Promise<void> {
  client.on("notification", ({ channel, payload }) => {
    // The embedded database sends all notifications to all clients.
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
