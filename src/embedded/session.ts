import { query, readColumn, readReply, SYNC } from "./wire-protocol.ts";
import type { Reply, TransactionStatus } from "./wire-protocol.ts";
import type { Batch } from "./collect-batch.ts";
import type { Engine } from "./open-database.ts";

type SessionEvents = {
  /** NotificationResponse messages, outside of any reply. */
  readonly notify: (messages: readonly Buffer[]) => void;
  /** The engine gave an answer that no PostgreSQL gives. Must end the process. */
  readonly onDeath: (reason: string) => never;
};

// Any error would do: it makes PostgreSQL end the transaction as if the refused statement had been its own.
const FAIL = query("do $$ begin raise exception 'refused'; end $$");
const FORGET_SETTINGS = query("reset session authorization; reset all");
const CHANNELS = query("select pg_listening_channels()");

/**
 * The one session that the clients share, one turn at a time. It is left to the next client as if the last had
 * never been there: no transaction, no settings, and every channel that anybody listened to still listened to.
 */
export class Session {
  readonly #engine: Engine;
  readonly #events: SessionEvents;
  readonly #channels = new Set<string>();
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

  /** Whether the client that ran the last batch must also run the next. */
  get isTaken(): boolean {
    return this.#status !== "I" || this.#isMidway;
  }

  /** Runs a batch and gives what its client is to be sent. */
  async run(batch: Batch): Promise<readonly Buffer[]> {
    const reply = await this.#exchange(batch.bytes);
    this.#isMidway = batch.end === "flush";
    if (batch.end === "ready" && reply.status === undefined) {
      this.#events.onDeath("it did not answer to the end");
    }
    return reply.own;
  }

  /** Ends a transaction as an error does. */
  async fail(): Promise<void> {
    if (!this.isTaken) return;
    await this.#exchange(FAIL);
    // After an error between two flushes PostgreSQL skips all, that statement too, until Sync.
    if (this.#isMidway) await this.#exchange(SYNC);
    this.#isMidway = false;
  }

  /** Rolls back what a client has left behind. */
  async abandon(): Promise<void> {
    // Not Sync alone: that would commit.
    if (this.#isMidway) await this.fail();
    if (this.#status !== "I") await this.#exchange(query("rollback"));
    await this.endTurn();
  }

  /** Undoes what the turn changed for everybody. Gives whether its client asked to be notified. */
  async endTurn(): Promise<"listened" | "nothing"> {
    const tags = this.#tags;
    this.#tags = new Set();
    if (tags.has("SET") || tags.has("RESET") || tags.has("DISCARD ALL")) {
      await this.#exchange(FORGET_SETTINGS);
    }
    if (tags.has("LISTEN")) await this.#learnChannels();
    if (tags.has("UNLISTEN") || tags.has("DISCARD ALL")) await this.#listenAgain();
    this.#tags = new Set();
    return tags.has("LISTEN") ? "listened" : "nothing";
  }

  /** Runs a statement of this process, between two turns. Gives its one column as text; undefined when it failed. */
  async ask(statement: Buffer): Promise<readonly string[] | undefined> {
    const reply = await this.#exchange(statement);
    return reply.tags.length === 0 ? undefined : readColumn(reply);
  }

  /** Brings the data directory to a state in which it can be copied, with little log. Only outside of a transaction. */
  async checkpoint(): Promise<void> {
    await this.#exchange(query("select pg_switch_wal()"));
    await this.#exchange(query("checkpoint"));
  }

  async close(): Promise<void> {
    await this.abandon();
    await this.#engine.close();
  }

  async #learnChannels(): Promise<void> {
    for (const channel of readColumn(await this.#exchange(CHANNELS))) this.#channels.add(channel);
  }

  async #listenAgain(): Promise<void> {
    for (const channel of this.#channels) {
      await this.#exchange(query(`listen "${channel.replaceAll('"', '""')}"`));
    }
  }

  async #exchange(messages: Buffer): Promise<Reply> {
    const reply = readReply(await this.#engine.run(messages));
    for (const tag of reply.tags) this.#tags.add(tag);
    this.#status = reply.status ?? this.#status;
    if (reply.notifications.length > 0) this.#events.notify(reply.notifications);
    return reply;
  }
}
