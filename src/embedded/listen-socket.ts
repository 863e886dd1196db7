import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { Client } from "./client.ts";
import type { Engine } from "./open-database.ts";
import { Session } from "./session.ts";
import { Turns } from "./turns.ts";
import { parameterStatus, query } from "./wire-protocol.ts";

type ListenOptions = {
  readonly engine: Engine;
  readonly directory: string;
  /** The path to bind; see socketDirectory. */
  readonly socket: string;
  readonly idleSeconds: number;
  readonly idleInTransactionSeconds: number;
  readonly onDeath: (reason: string) => never;
  readonly log: Log;
};

export type Listening = {
  /** Resolves after `idleSeconds` without a client. */
  readonly idle: Promise<void>;
  /** Finishes the running statement, notifies the clients, closes the engine and removes the socket. */
  close(): Promise<void>;
};

const SHUTDOWN = {
  severity: "FATAL",
  code: "57P01",
  message: "terminating connection: the embedded database is shutting down",
} as const;

/** Serves an engine on a Unix socket that only this user can open. The caller holds the lock on the directory. */
export async function listenOnSocket(options: ListenOptions): Promise<Listening> {
  const clients = new Set<Client>();
  const parameters = await readParameters(options.engine);
  const session = openSession(options, clients);
  const idleInTransactionMs = options.idleInTransactionSeconds * 1_000;
  const turns = new Turns({ session, directory: options.directory, idleInTransactionMs });
  const idle = idleTimer(options.idleSeconds);
  const upkeep = startUpkeep({ session, turns, log: options.log });
  const server = createServer((socket) => {
    idle.stop();
    const onGone = (client: Client) => {
      clients.delete(client);
      turns.request(client);
      if (clients.size === 0 && server.listening) idle.start();
    };
    const onReady = turns.request.bind(turns);
    const onBadFrame = logBadFrame(options.log);
    clients.add(new Client(socket, { parameters, onReady, onGone, onBadFrame }));
  });
  await bind(server, options.socket);
  const close = async () => {
    idle.stop();
    upkeep.stop();
    // Also removes the socket.
    server.close();
    await turns.stop();
    for (const client of clients) client.end(SHUTDOWN);
    await session.close();
  };
  return { idle: idle.over, close };
}

const openSession = ({ engine, onDeath }: ListenOptions, clients: ReadonlySet<Client>): Session =>
  new Session(engine, {
    notify: (messages) => {
      for (const client of clients) if (client.isListening) client.notify(messages);
    },
    onDeath,
  });

const logBadFrame = (log: Log) => (problem: string) => {
  log("warn", "A client broke the protocol and was cut off.", { problem });
};

async function bind(server: Server, socket: string): Promise<void> {
  // A killed process leaves its socket behind. The lock proves that no other process uses it.
  await rm(socket, { force: true });
  server.listen(socket);
  await once(server, "listening");
  await chmod(socket, 0o600);
}

const REPORTED = [
  "server_version",
  "server_encoding",
  "client_encoding",
  "DateStyle",
  "IntervalStyle",
  "TimeZone",
  "integer_datetimes",
  "standard_conforming_strings",
];

async function readParameters(engine: Engine): Promise<Buffer> {
  const { rows } = await engine.query("select name, setting from pg_settings");
  const settings = new Map(rows.map((row) => [String(row["name"]), String(row["setting"])]));
  return Buffer.concat(REPORTED.map((name) => parameterStatus(name, settings.get(name) ?? "")));
}

function idleTimer(seconds: number): { over: Promise<void>; start(): void; stop(): void } {
  let fire: () => void;
  const over = new Promise<void>((resolve) => (fire = resolve));
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(timer);
  };
  const start = () => {
    stop();
    timer = setTimeout(() => {
      fire();
    }, seconds * 1_000);
  };
  start();
  return { over, start, stop };
}

/** PostgreSQL counts dead rows within a second. A client waits at most for the vacuum of one table. */
const EVERY_MS = 5_000;

/**
 * The table with the most dead rows among those that PostgreSQL's autovacuum would process, with its default threshold of 50 and
 * scale factor of 0.2 ("Routine Vacuuming"). PGlite has no autovacuum.
 */
const DUE = query(`
  select format('%I.%I', s.schemaname, s.relname)
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
   where s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
   order by s.n_dead_tup desc limit 1`);

type Upkeep = { readonly session: Session; readonly turns: Turns; readonly log: Log };

/** Vacuums one table at a time, between two turns. */
function startUpkeep({ session, turns, log }: Upkeep): { stop(): void } {
  const timer = setInterval(() => {
    turns.runBetween(async () => {
      const due = await session.selectColumn(DUE);
      const [table] = due ?? [];
      if (due !== undefined && table === undefined) return;
      if (table !== undefined && (await session.selectColumn(query(`vacuum (analyze) ${table}`))))
        return;
      log("warn", "The place of deleted rows is not made free before the next start.", { table });
      stop();
    });
  }, EVERY_MS);
  timer.unref();
  const stop = (): void => {
    clearInterval(timer);
  };
  return { stop };
}

/** The log of the database process; it never gets the text of a statement. */
export type Log = (
  level: "info" | "warn" | "error",
  message: string,
  fields?: Record<string, unknown>,
) => void;
