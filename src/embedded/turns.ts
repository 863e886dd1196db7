import { rm } from "node:fs/promises";
import { setImmediate as nextEvents } from "node:timers/promises";
import { DUPLICATE_FILE, hasCode } from "../shared/store/connection/errors.ts";
import type { Client } from "./client.ts";
import type { Batch } from "./collect-batch.ts";
import { copyData, dataPath, writeCheckpoint, writeDump } from "./open-database.ts";
import type { Session } from "./session.ts";
import { commandComplete, errorResponse, readyForQuery } from "./wire-protocol.ts";
import type { EmbeddedCommand } from "./wire-protocol.ts";

type TurnOptions = {
  readonly session: Session;
  readonly directory: string;
  /** A client that is idle in its turn for this long is disconnected, because it blocks all others. */
  readonly idleInTransactionMs: number;
};

/**
 * Gives the session to one client after the other, in the order of their requests. A turn is one batch; after BEGIN, all batches
 * until the end of the transaction.
 */
export class Turns {
  readonly #options: TurnOptions;
  readonly #queue = new Set<Client>();
  readonly #commands = new Set<Promise<void>>();
  #holder: Client | undefined;
  #running: Promise<void> | undefined;
  #between: (() => Promise<void>) | undefined;
  #patience: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** Called when the client may have a batch to run, or may have left during its turn. */
  request(client: Client): void {
    if (client.isReady) this.#queue.add(client);
    if (client.isGone) this.#queue.delete(client);
    this.#begin();
  }

  #begin(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Runs the body after the current turn; clients wait until it has ended. */
  runBetween(body: () => Promise<void>): void {
    this.#between = body;
    if (this.#holder === undefined) this.#begin();
  }

  /** Waits for the running statement and the dumps in progress, and starts no other. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#patience);
    await this.#running;
    await Promise.all(this.#commands);
  }

  async #run(): Promise<void> {
    clearTimeout(this.#patience);
    for (;;) {
      // PGlite never yields the thread: without this no socket would be read between two batches.
      await nextEvents();
      if (this.#isStopped) return;
      if (this.#holder?.isGone) await this.#endTurn("abandoned");
      if (this.#holder === undefined) await this.#takeBetween();
      const client = this.#next();
      if (client === undefined) break;
      await this.#serve(client);
    }
    if (this.#holder !== undefined) this.#watch(this.#holder);
  }

  async #takeBetween(): Promise<void> {
    const body = this.#between;
    this.#between = undefined;
    await body?.();
  }

  #next(): Client | undefined {
    if (this.#holder !== undefined) return this.#holder.isReady ? this.#holder : undefined;
    for (const client of this.#queue) {
      this.#queue.delete(client);
      if (client.isReady) return client;
    }
    return undefined;
  }

  async #serve(client: Client): Promise<void> {
    const batch = client.take();
    if (batch === undefined) return;
    this.#holder = client;
    if (batch.command !== undefined && !this.#options.session.isTaken) {
      await this.#command(client, batch.command);
    } else {
      client.send(await this.#answer(batch));
    }
    if (!this.#options.session.isTaken) await this.#endTurn("finished");
  }

  async #answer(batch: Batch): Promise<readonly Buffer[]> {
    const { session } = this.#options;
    const refusal =
      batch.command === undefined ? (batch.refusal ?? session.refusalOf(batch)) : IN_TRANSACTION;
    if (refusal === undefined) return session.run(batch);
    await session.failTransaction();
    const error = errorResponse(refusal);
    return batch.end === "flush" ? [error] : [error, readyForQuery(session.status)];
  }

  async #command(client: Client, command: NonNullable<Batch["command"]>): Promise<void> {
    const { session, directory } = this.#options;
    const finishCommand = await runCommand(command, session, directory);
    client.isBusy = true;
    const work = finishCommand().then((withReady) => {
      client.isBusy = false;
      client.send([withReady]);
      this.#commands.delete(work);
      this.request(client);
    });
    this.#commands.add(work);
  }

  async #endTurn(how: "finished" | "abandoned"): Promise<void> {
    const client = this.#holder;
    if (how === "abandoned") await this.#options.session.abandon();
    else if ((await this.#options.session.endTurn()) === "listened" && client)
      client.isListening = true;
    this.#holder = undefined;
    if (client?.isReady) this.#queue.add(client);
  }

  #watch(holder: Client): void {
    this.#patience = setTimeout(() => {
      holder.end({
        severity: "FATAL",
        code: "25P03",
        message: `terminating connection: idle in a transaction for ${this.#options.idleInTransactionMs} ms`,
      });
      this.request(holder);
    }, this.#options.idleInTransactionMs);
  }
}

const IN_TRANSACTION = {
  severity: "ERROR",
  code: "25001",
  message: "nightdesk backup and nightdesk checkpoint cannot run inside a transaction",
} as const;

const answer = (message: Buffer): Buffer => Buffer.concat([message, readyForQuery("I")]);

const errorReply = (code: string, message: string): Buffer =>
  answer(errorResponse({ severity: "ERROR", code, message }));

/**
 * Copies the data in the client's turn. The function that it resolves to packs the copy without a turn, and resolves to the
 * reply for the client. Only outside of a transaction.
 */
async function runCommand(
  command: EmbeddedCommand,
  session: Session,
  directory: string,
): Promise<() => Promise<Buffer>> {
  if (command.kind === "invalid") {
    const message =
      "nightdesk backup [replace] '<absolute file>' and nightdesk checkpoint are the commands of the embedded database";
    return async () => errorReply("42601", message);
  }
  try {
    await session.checkpoint();
    const copy = await copyData(dataPath(directory));
    return () => finish(command, copy, directory);
  } catch (error) {
    return async () => errorReply("58030", `the dump could not be made: ${textOf(error)}`);
  }
}

async function finish(
  command: Exclude<EmbeddedCommand, { kind: "invalid" }>,
  copy: string,
  directory: string,
): Promise<Buffer> {
  try {
    if (command.kind === "backup") await writeDump(copy, command.file, command.existing);
    else await writeCheckpoint(copy, directory);
    return answer(commandComplete(command.kind.toUpperCase()));
  } catch (error) {
    if (hasCode(error, "EEXIST"))
      return errorReply(DUPLICATE_FILE, "a file is there already, and is kept");
    return errorReply("58030", `the dump could not be written: ${textOf(error)}`);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
