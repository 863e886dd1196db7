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
  /** What is sent over every new connection first. */
  readonly greeting: string | undefined;
};

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
 * A client that asks where its server is whenever it connects, hears of its connection's end from the beginning, and
 * destroys a connection over which an answer does not come within the limit: the statement is rejected with ETIMEDOUT,
 * the pool throws the connection away, and whoever tries again gets a new one.
 */
export const limitedClient = (server: Server, usual: StatementClass): typeof pg.Client =>
  class extends pg.Client {
    #broken: Error | undefined;
    #inFlight = 0;
    #ping: NodeJS.Timeout | undefined;

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
        if (server.greeting !== undefined) await this.query(server.greeting);
      } catch (error) {
        noteFailedConnect(error);
        throw error;
      }
      return this;
    }
    declare connectionParameters: { host: string; port: number };
    declare processID: number | null;

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
          const blocked = await server.findBlocker(this.processID);
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

const PING: pg.QueryConfig & LimitedStatement = { text: "select 1", limitMs: PING_MS };

const limitOf = (statement: unknown): number | undefined =>
  typeof statement === "object" && statement !== null && "limitMs" in statement
    ? Number(statement.limitMs)
    : undefined;

const timedOut = (limitMs: number): Error =>
  Object.assign(new Error(`no answer within ${limitMs / 1_000} s`), { code: "ETIMEDOUT" });
