import type { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { noteFailedConnect } from "./errors.ts";

/**
 * How long a statement may take, by what depends on it. Kept by the client: PGlite knows no limit of a statement's, and
 * no limit of a server's reaches a client whose network has gone silent.
 */
export const STATEMENT_LIMITS_MS = {
  /** Fits twice into a lease. */
  lease: 4_000,
  claim: 10_000,
  settle: 30_000,
  /** What a worker does again and again for the desk. */
  upkeep: 20_000,
  /** What a run looks up: evidence, steps, what is to be read. */
  lookup: 20_000,
  query: 60_000,
  /** Indexes and migrations. */
  build: 12 * 60 * 60_000,
  backup: 60 * 60_000,
} as const;

export type StatementClass = keyof typeof STATEMENT_LIMITS_MS;

type ServerPlace = { readonly host?: string; readonly port?: number };

export type Server = {
  /** Says where it is, and starts it where that is ours to do. */
  readonly find: () => Promise<ServerPlace>;
  /**
   * Whether it has one statement in hand and hears nobody meanwhile. Who waits for such a server is not cut off: it would
   * come back to the end of the line.
   */
  readonly isBusy: () => Promise<boolean>;
  /** The failure that names who holds the lock which a session waits for, or any where none is named. */
  readonly findBlocker: (session: number | null) => Promise<Error | undefined>;
  /** What each session is given; undefined where all share one that has it already. */
  readonly session: SessionSettings | undefined;
};

type SessionSettings = {
  /** Names and values. */
  readonly settings: readonly (readonly [string, string])[];
  /** Whether the pooler that this client talks to hands sessions round. */
  readonly isShared: (client: pg.Client) => Promise<boolean>;
};

/** Whether a client of `limitedClient` may have another session for each transaction. */
export const hasSharedSession = (client: object): boolean =>
  "isShared" in client && client.isShared === true;

/** A statement as the driver takes it, with a limit of its own. */
export type LimitedStatement = { readonly limitMs?: number };

type Connected = (error?: Error) => void;

/** BullMQ asks again at once after an error, and would open thousands of connections a second while a server starts. */
const FAILED_CONNECT_MS = 500;
/** Who listens says nothing by himself, and would never notice that nobody is there any more. */
const PING_MS = 5_000;
/** A server that is there answers a goodbye at once. */
const GOODBYE_MS = 1_000;
/** A single statement may keep a server busy for so long. */
const LONGEST_BUSY_MS = 35 * 60_000;

/**
 * A client that asks where its server is whenever it connects, names no statement where its session is shared, hears of its
 * connection's end from the beginning, and destroys a connection over which an answer does not come within the limit: the
 * statement is rejected with ETIMEDOUT, the pool throws the connection away, and whoever tries again gets a new one.
 */
export const limitedClient = (server: Server, usual: StatementClass): typeof pg.Client =>
  class extends pg.Client {
    #broken: Error | undefined;
    #inFlight = 0;
    #ping: NodeJS.Timeout | undefined;
    isShared = false;

    constructor(config?: pg.ClientConfig) {
      super(config);
      // An error event that nobody hears ends the process, and a pool listens to idle clients only. The statement that
      // runs, or the next one, is rejected with the same error.
      this.on("error", (error) => (this.#broken ??= error));
      (this as EventEmitter).on("newListener", (event) => {
        if (event === "notification") this.#ping ??= this.#pingWhenIdle();
      });
      this.on("end", () => {
        clearInterval(this.#ping);
      });
      this.query = this.#limited(super.query.bind(this)) as typeof this.query;
    }

    override connect(): Promise<this>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<this> | undefined {
      const connected = this.#connect().catch(async (error: unknown) => {
        await sleep(FAILED_CONNECT_MS);
        throw error;
      });
      if (callback === undefined) return connected;
      connected.then(
        () => {
          callback();
        },
        (error: unknown) => {
          // As it is: an error of another realm would lose its code in a new one.
          callback(error as Error);
        },
      );
      return undefined;
    }

    async #connect(): Promise<this> {
      const place = await server.find();
      Object.assign(this, place);
      Object.assign(this.connectionParameters, place);
      try {
        await super.connect();
        // A server that goes down lets a client in and says goodbye in one packet.
        if (this.#broken !== undefined) throw this.#broken;
        if (server.session !== undefined) await this.#greet(server.session);
      } catch (error) {
        noteFailedConnect(error);
        throw error;
      }
      return this;
    }
    declare connectionParameters: { host: string; port: number };
    declare processID: number | null;

    /** Settings are the session's, and a pooler gives keys of its own: with one, they are sent once it is known whose it is. */
    async #greet({ settings, isShared }: SessionSettings): Promise<void> {
      const rows = settings.map(([name, value]) => `('${name}', '${value}')`).join(", ");
      const apply = `select set_config(name, value, false) from (values ${rows}) s (name, value)`;
      const own = await this.query(`${apply} where pg_backend_pid() = ${this.processID}`);
      if (own.rowCount !== 0) return;
      this.isShared = await isShared(this);
      if (!this.isShared) await this.query(apply);
    }

    /** Not settings of the session: a pooler keeps these for each client. The driver reads times in no other style. */
    getStartupConf(): object {
      const given = Reflect.apply(STARTUP_CONF, this, []);
      return server.session === undefined ? given : { ...given, DateStyle: "ISO, MDY" };
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | undefined {
      setTimeout(() => this.connection.stream.destroy(), GOODBYE_MS).unref();
      if (callback === undefined) return super.end();
      super.end(callback);
      return undefined;
    }

    /** The driver's `query` in its three forms: with a callback, with a promise, and for an object that emits rows. */
    #limited(send: pg.Client["query"]) {
      return (...args: unknown[]): unknown => {
        const [statement] = args;
        if (this.isShared && isNamed(statement)) args[0] = { ...statement, name: undefined };
        const answer = this.#await(limitOf(statement) ?? STATEMENT_LIMITS_MS[usual]);
        const last = args.findLastIndex((argument) => typeof argument === "function");
        if (last > 0) {
          const callback = args[last] as (...results: unknown[]) => void;
          args[last] = (...results: unknown[]) => {
            answer.ended();
            callback(...results);
          };
          return Reflect.apply(send, undefined, args);
        }
        const sent: unknown = Reflect.apply(send, undefined, args);
        if (sent instanceof pg.Query) {
          sent.on("row", answer.moved).once("end", answer.ended).once("error", answer.ended);
        } else void (sent as Promise<unknown>).then(answer.ended, answer.ended);
        return sent;
      };
    }

    #await(limitMs: number): { readonly moved: () => void; readonly ended: () => void } {
      const startedAt = performance.now();
      let isOpen = true;
      // Asked by a function: it changes while the server is asked.
      const isAnswered = (): boolean => !isOpen;
      const expire = async () => {
        const isLong = performance.now() - startedAt > Math.max(limitMs, LONGEST_BUSY_MS);
        // Of one who reads slowly, the server waits for us.
        const mayWait = this.connection.stream.isPaused() || (!isLong && (await server.isBusy()));
        if (isAnswered()) return;
        if (mayWait) timer = setTimeout(() => void expire(), limitMs);
        else {
          const blocked = await server.findBlocker(this.isShared ? null : this.processID);
          if (!isAnswered()) this.connection.stream.destroy(blocked ?? timedOut(limitMs));
        }
      };
      let timer = setTimeout(() => void expire(), limitMs);
      this.#inFlight += 1;
      return {
        moved: () => void timer.refresh(),
        ended: () => {
          if (!isOpen) return;
          isOpen = false;
          this.#inFlight -= 1;
          clearTimeout(timer);
        },
      };
    }

    #pingWhenIdle(): NodeJS.Timeout {
      const ping = () => {
        // Who listens hears of it when this one ends in an error.
        if (this.#inFlight === 0) void this.query(PING).catch(() => undefined);
      };
      return setInterval(ping, PING_MS).unref();
    }
  };

const STARTUP_CONF = Reflect.get(pg.Client.prototype, "getStartupConf") as () => object;

const isNamed = (statement: unknown): statement is pg.QueryConfig =>
  typeof statement === "object" && statement !== null && "name" in statement;

const PING: pg.QueryConfig & LimitedStatement = { text: "select 1", limitMs: PING_MS };

const limitOf = (statement: unknown): number | undefined =>
  typeof statement === "object" && statement !== null && "limitMs" in statement
    ? Number(statement.limitMs)
    : undefined;

const timedOut = (limitMs: number): Error =>
  Object.assign(new Error(`no answer within ${limitMs / 1_000} s`), { code: "ETIMEDOUT" });

/** A pooler that has nobody else to serve gives both clients one session at once; one that is busy needs a few turns. */
const ROUNDS = 5;
const POOLER_ANSWER_MS = 3_000;

/**
 * Whether a pooler hands sessions round after each transaction, as PgBouncer does in transaction mode: then a session keeps no
 * setting, no named statement and no LISTEN. Seen by the processes that answer two clients in turn: each has one for itself
 * where sessions are their own.
 *
 * @param one connected, and idle
 */
export async function sharesSessions(one: pg.Client, url: string): Promise<boolean> {
  const other = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: POOLER_ANSWER_MS,
    query_timeout: POOLER_ANSWER_MS,
  });
  other.on("error", () => undefined);
  const [ofOne, ofOther] = [new Set<unknown>(), new Set<unknown>()];
  try {
    await other.connect();
    for (let round = 0; round < ROUNDS; round += 1) {
      ofOne.add(await backendOf(one));
      ofOther.add(await backendOf(other));
      const isCommon = [...ofOne].some((backend) => ofOther.has(backend));
      if (isCommon || ofOne.size > 1 || ofOther.size > 1) return true;
    }
    return false;
  } finally {
    await other.end();
  }
}

async function backendOf(client: pg.Client): Promise<unknown> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid;
}
