import type { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { markFailedConnect } from "./errors.ts";

/**
 * Time limits of statements, by what depends on them. The client enforces them: PGlite has no statement timeout, and a server's
 * timeout does not reach a client whose network is dead.
 */
export const STATEMENT_LIMITS_MS = {
  /** Two of them fit into a lease. */
  lease: 4_000,
  claim: 10_000,
  settle: 30_000,
  /** The periodic maintenance of a worker. */
  upkeep: 20_000,
  /** Lookups of a run: evidence, steps, files to read. */
  lookup: 20_000,
  query: 60_000,
  /** Indexes and migrations. */
  build: 12 * 60 * 60_000,
  backup: 60 * 60_000,
} as const;

export type StatementClass = keyof typeof STATEMENT_LIMITS_MS;

type ServerPlace = { readonly host?: string; readonly port?: number };

export type Server = {
  /** Returns the address of the server; starts an embedded one. */
  readonly find: () => Promise<ServerPlace>;
  /**
   * Whether a statement runs and the server reads nothing meanwhile. A client that waits for such a server is not disconnected:
   * it would only rejoin the end of the queue.
   */
  readonly isBusy: () => Promise<boolean>;
  /** A failure that names the holder of the lock for which this session waits, or any session when it is null. */
  readonly findBlocker: (session: number | null) => Promise<Error | undefined>;
  /** Settings for each session; undefined for the embedded database, whose only session has them already. */
  readonly session: SessionSettings | undefined;
};

type SessionSettings = {
  /** Names and values. */
  readonly settings: readonly (readonly [string, string])[];
  /** Whether this client talks to a pooler that shares sessions. */
  readonly isShared: (client: pg.Client) => Promise<boolean>;
};

/** Whether a client of `limitedClient` may get another session for each transaction. */
export const hasSharedSession = (client: object): boolean =>
  "isShared" in client && client.isShared === true;

/** A statement of the driver with its own time limit. */
export type LimitedStatement = { readonly limitMs?: number };

type Connected = (error?: Error) => void;

/** Delay after a failed connect: BullMQ retries at once, which makes thousands of connections a second while a server starts. */
const FAILED_CONNECT_MS = 500;
/** A listening connection sends nothing by itself, and without pings would never notice that the server is gone. */
const PING_MS = 5_000;
/** Time for the server to answer the end of a connection before the socket is destroyed. */
const GOODBYE_MS = 1_000;
/** The longest time that a single statement may keep a server busy. */
const LONGEST_BUSY_MS = 35 * 60_000;

/**
 * A client with four additions: it finds its server's address at each connect; sends no statement names when its session is
 * shared; handles errors of its connection from the start; and destroys a connection when an answer exceeds its limit. That
 * statement is rejected with ETIMEDOUT, the pool drops the connection, and a retry gets a new one.
 */
export const limitedClient = (server: Server, usual: StatementClass): typeof pg.Client =>
  class extends pg.Client {
    #broken: Error | undefined;
    #inFlight = 0;
    #ping: NodeJS.Timeout | undefined;
    isShared = false;

    constructor(config?: pg.ClientConfig) {
      super(config);
      // An error event without a listener ends the process, and a pool listens to idle clients only. The current or next
      // statement is rejected with the same error.
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
          // Passed unchanged: a new Error would lose the code of an error of another realm.
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
        // A server that shuts down may accept a client and close the connection in one packet.
        if (this.#broken !== undefined) throw this.#broken;
        if (server.session !== undefined) await this.#applySettings(server.session);
      } catch (error) {
        markFailedConnect(error);
        throw error;
      }
      return this;
    }
    declare connectionParameters: { host: string; port: number };
    declare processID: number | null;

    /** Applies the settings, unless a pooler (where the process id is not the session's own) shares the sessions. */
    async #applySettings({ settings, isShared }: SessionSettings): Promise<void> {
      const rows = settings.map(([name, value]) => `('${name}', '${value}')`).join(", ");
      const apply = `select set_config(name, value, false) from (values ${rows}) s (name, value)`;
      const own = await this.query(`${apply} where pg_backend_pid() = ${this.processID}`);
      if (own.rowCount !== 0) return;
      this.isShared = await isShared(this);
      if (!this.isShared) await this.query(apply);
    }

    /** A pooler keeps startup parameters, unlike settings, for each client. The driver can parse only this style of dates. */
    getStartupConf(): object {
      const startup = Reflect.apply(STARTUP_CONF, this, []);
      return server.session === undefined ? startup : { ...startup, DateStyle: "ISO, MDY" };
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | undefined {
      setTimeout(() => this.connection.stream.destroy(), GOODBYE_MS).unref();
      if (callback === undefined) return super.end();
      super.end(callback);
      return undefined;
    }

    /** Wraps the driver's `query` in its three forms: with a callback, with a promise, and for an object that emits rows. */
    #limited(send: pg.Client["query"]) {
      return (...args: unknown[]): unknown => {
        const [statement] = args;
        if (this.isShared && isNamed(statement)) args[0] = { ...statement, name: undefined };
        const answer = this.#startTimer(limitOf(statement) ?? STATEMENT_LIMITS_MS[usual]);
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

    #startTimer(limitMs: number): { readonly moved: () => void; readonly ended: () => void } {
      const startedAt = performance.now();
      let isOpen = true;
      // A function, because the type checker would not expect the value to change during the awaits below.
      const isAnswered = (): boolean => !isOpen;
      const expire = async () => {
        const isLong = performance.now() - startedAt > Math.max(limitMs, LONGEST_BUSY_MS);
        // When the stream is paused, this process reads slowly and the server waits for it.
        const mayWait = this.connection.stream.isPaused() || (!isLong && (await server.isBusy()));
        if (isAnswered()) return;
        if (mayWait) timer = setTimeout(() => void expire(), limitMs);
        else {
          const blocked = await server.findBlocker(this.isShared ? null : this.processID);
          if (!isAnswered()) this.connection.stream.destroy(blocked ?? timeoutError(limitMs));
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
        // When the ping fails, its connection emits an error, which the listener handles.
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

const timeoutError = (limitMs: number): Error =>
  Object.assign(new Error(`no answer within ${limitMs / 1_000} s`), { code: "ETIMEDOUT" });

/** An idle pooler gives both clients the same session at once; a busy one needs a few rounds. */
const ROUNDS = 5;
const POOLER_ANSWER_MS = 3_000;

/**
 * Whether a pooler shares sessions after each transaction, like PgBouncer in transaction mode: then a session keeps no setting,
 * named statement or LISTEN. Two clients ask in turn for the id of the process that answers: without sharing, each has its own.
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
