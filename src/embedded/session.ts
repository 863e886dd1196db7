import { message, query, parseColumn, parseReply, SYNC } from "./wire-protocol.ts";
import type { ErrorFields, Reply, TransactionStatus } from "./wire-protocol.ts";
import { unsupported } from "./collect-batch.ts";
import type { Batch, NamedStatement } from "./collect-batch.ts";
import type { Engine } from "./open-database.ts";

type SessionEvents = {
  /** Gets NotificationResponse messages, which belong to no reply. */
  readonly notify: (messages: readonly Buffer[]) => void;
  /** Called if the engine's reply violates the protocol. Must end the process. */
  readonly onDeath: (reason: string) => never;
};

// Any error serves: PostgreSQL then fails the transaction as if the refused statement had been its own.
const FAIL = query("do $$ begin raise exception 'refused'; end $$");
const FORGET_SETTINGS = query("reset session authorization; reset all");
const CHANNELS = query("select pg_listening_channels()");
/** Tags of statements that delete prepared statements. */
const DEALLOCATING_TAGS = ["DISCARD ALL", "DEALLOCATE", "DEALLOCATE ALL"];
const PARSE_COMPLETE = message("1");
const FORGET_STATEMENTS = query("deallocate all");
const FORGET_PLANS = query("discard plans");

/** Nightdesk has a dozen, and one to settle a run for each choice of seven groups of tables. */
const MOST_STATEMENTS = 200;
/**
 * The longest use of a plan: no autovacuum tells the session that a table has grown, and a batch of a million jobs is one
 * statement.
 */
const PLAN_MS = 5_000;

/**
 * The one session that all clients share, one turn at a time. Each client finds it as if no other had used it: without a
 * transaction or changed settings, and still listening to every channel of any client. A named statement is prepared once for
 * all clients, so each name stands for one text.
 */
export class Session {
  readonly #engine: Engine;
  readonly #events: SessionEvents;
  readonly #channels = new Set<string>();
  /** The messages that prepared the session's statements, by name. */
  readonly #statements = new Map<string, Buffer>();
  #plannedAt = performance.now();
  #status: TransactionStatus = "I";
  #isMidway = false;
  #tags = new Set<string>();

  constructor(engine: Engine, events: SessionEvents) {
    this.#engine = engine;
    this.#events = events;
  }

  get status(): TransactionStatus {
    return this.#status;
  }

  /** Whether the client of the last batch must also run the next. */
  get isTaken(): boolean {
    return this.#status !== "I" || this.#isMidway;
  }

  /** Runs a batch and returns the reply for its client. */
  async run(batch: Batch): Promise<readonly Buffer[]> {
    const isPrepared = this.#isPrepared(batch.prepares);
    const reply = await this.#exchange(
      isPrepared ? batch.bytes.subarray(batch.prepares?.message.length) : batch.bytes,
    );
    this.#isMidway = batch.end === "flush";
    if (batch.end === "ready" && reply.status === undefined) {
      this.#events.onDeath("it did not answer to the end");
    }
    if (isPrepared) return [PARSE_COMPLETE, ...reply.own];
    if (batch.prepares !== undefined && reply.own[0]?.[0] === PARSE_COMPLETE[0]) {
      this.#statements.set(batch.prepares.name, batch.prepares.message);
    }
    return reply.own;
  }

  /** Why a batch must not run in the current state of the session. */
  refusalOf({ prepares }: Batch): ErrorFields | undefined {
    return prepares === undefined ||
      this.#statements.has(prepares.name) ||
      this.#statements.size < MOST_STATEMENTS
      ? undefined
      : unsupported(`more than ${MOST_STATEMENTS} named statements`);
  }

  /** A statement with the same name and another text is left to PostgreSQL to refuse. */
  #isPrepared(statement: NamedStatement | undefined): boolean {
    return (
      statement !== undefined &&
      this.#statements.get(statement.name)?.equals(statement.message) === true
    );
  }

  /** Fails a transaction, as an error does. */
  async failTransaction(): Promise<void> {
    if (!this.isTaken) return;
    await this.#exchange(FAIL);
    // After an error between two flushes PostgreSQL skips all messages until Sync, that statement included.
    if (this.#isMidway) await this.#exchange(SYNC);
    this.#isMidway = false;
  }

  /** Rolls back what a client left unfinished. */
  async abandon(): Promise<void> {
    // Not only Sync, which would commit.
    if (this.#isMidway) await this.failTransaction();
    if (this.#status !== "I") await this.#exchange(query("rollback"));
    await this.endTurn();
  }

  /** Undoes what the turn changed for all clients. Returns whether its client sent LISTEN. */
  async endTurn(): Promise<"listened" | "nothing"> {
    const tags = this.#tags;
    this.#tags = new Set();
    if (tags.has("SET") || tags.has("RESET") || tags.has("DISCARD ALL")) {
      await this.#exchange(FORGET_SETTINGS);
    }
    if (tags.has("LISTEN")) await this.#learnChannels();
    if (tags.has("UNLISTEN") || tags.has("DISCARD ALL")) await this.#listenAgain();
    if (DEALLOCATING_TAGS.some((tag) => tags.has(tag))) await this.#prepareAgain();
    if (performance.now() - this.#plannedAt > PLAN_MS) await this.#planAgain();
    this.#tags = new Set();
    return tags.has("LISTEN") ? "listened" : "nothing";
  }

  /** Runs a statement of this process between two turns. Returns its only column as text; undefined if it failed. */
  async selectColumn(statement: Buffer): Promise<readonly string[] | undefined> {
    const reply = await this.#exchange(statement);
    return reply.tags.length === 0 ? undefined : parseColumn(reply);
  }

  /** Prepares the data directory for a copy with little WAL. Only outside of a transaction. */
  async checkpoint(): Promise<void> {
    await this.#exchange(query("select pg_switch_wal()"));
    await this.#exchange(query("checkpoint"));
  }

  async close(): Promise<void> {
    await this.abandon();
    await this.#engine.close();
  }

  async #learnChannels(): Promise<void> {
    for (const channel of parseColumn(await this.#exchange(CHANNELS))) this.#channels.add(channel);
  }

  async #listenAgain(): Promise<void> {
    for (const channel of this.#channels) {
      await this.#exchange(query(`listen "${channel.replaceAll('"', '""')}"`));
    }
  }

  async #prepareAgain(): Promise<void> {
    await this.#exchange(FORGET_STATEMENTS);
    for (const prepare of this.#statements.values()) {
      await this.#exchange(Buffer.concat([prepare, SYNC]));
    }
  }

  async #planAgain(): Promise<void> {
    this.#plannedAt = performance.now();
    if (this.#statements.size > 0) await this.#exchange(FORGET_PLANS);
  }

  async #exchange(messages: Buffer): Promise<Reply> {
    const reply = parseReply(await this.#engine.run(messages));
    for (const tag of reply.tags) this.#tags.add(tag);
    this.#status = reply.status ?? this.#status;
    if (reply.notifications.length > 0) this.#events.notify(reply.notifications);
    return reply;
  }
}
