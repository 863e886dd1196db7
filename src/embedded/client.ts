import { randomInt } from "node:crypto";
import type { Socket } from "node:net";
import {
  authenticationOk,
  backendKeyData,
  BadFrame,
  errorResponse,
  FrameReader,
  negotiateVersion,
  parseStartup,
  readyForQuery,
} from "./wire-protocol.ts";
import type { ErrorFields } from "./wire-protocol.ts";
import { BatchCollector } from "./collect-batch.ts";
import type { Batch } from "./collect-batch.ts";

type ClientEvents = {
  /** The ParameterStatus messages of a new session. */
  readonly parameters: Buffer;
  readonly onReady: (client: Client) => void;
  readonly onGone: (client: Client) => void;
  readonly onBadFrame: (problem: string) => void;
};

const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
// For a client that never reads while notifications arrive.
const MAX_UNREAD_NOTIFIED_BYTES = 256 * 1024 * 1024;

/** A connection: it reads batches from its socket and writes replies to it. */
export class Client {
  /** Whether it ever sent LISTEN; only such clients get notifications. */
  isListening = false;
  /** Its last command still runs outside of its turn. */
  isBusy = false;
  readonly #socket: Socket;
  readonly #events: ClientEvents;
  readonly #reader = new FrameReader();
  readonly #collector = new BatchCollector();
  readonly #batches: Batch[] = [];
  #waitingBytes = 0;
  #isStarted = false;
  #saidGoodbye = false;

  constructor(socket: Socket, events: ClientEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on("data", (chunk: Buffer) => {
      this.#read(chunk);
    });
    socket.on("drain", () => {
      events.onReady(this);
    });
    // `close` follows an error and is handled.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      events.onGone(this);
    });
  }

  get isGone(): boolean {
    return this.#socket.destroyed || this.#socket.writableEnded;
  }

  /** Whether it has a batch to run and reads its replies. */
  get isReady(): boolean {
    const reads = this.#socket.writableLength <= MAX_UNREAD_BYTES;
    return this.#batches.length > 0 && reads && !this.isBusy && !this.isGone;
  }

  take(): Batch | undefined {
    const batch = this.#batches.shift();
    this.#waitingBytes -= batch?.bytes.length ?? 0;
    if (this.#waitingBytes <= MAX_WAITING_BYTES) this.#socket.resume();
    return batch;
  }

  send(messages: readonly Buffer[]): void {
    if (this.isGone) return;
    this.#socket.cork();
    for (const message of messages) this.#socket.write(message);
    this.#socket.uncork();
    if (this.#saidGoodbye && this.#batches.length === 0) this.#socket.end();
  }

  notify(messages: readonly Buffer[]): void {
    if (this.#socket.writableLength > MAX_UNREAD_NOTIFIED_BYTES) this.#socket.destroy();
    else this.send(messages);
  }

  /** Sends an error and closes the connection. */
  end(error: ErrorFields): void {
    if (this.isGone) return;
    this.#socket.end(errorResponse(error), () => {
      this.#socket.destroy();
    });
  }

  #read(chunk: Buffer): void {
    if (this.isGone || this.#saidGoodbye) return;
    try {
      this.#reader.push(chunk);
      if (!this.#isStarted) this.#start();
      if (this.#isStarted) this.#collect();
    } catch (error) {
      if (!(error instanceof BadFrame)) throw error;
      this.#events.onBadFrame(error.message);
      this.end({
        severity: "FATAL",
        code: "08P01",
        message: `protocol violation: ${error.message}`,
      });
    }
  }

  #start(): void {
    for (let packet = this.#reader.startup(); packet; packet = this.#reader.startup()) {
      const startup = parseStartup(packet);
      switch (startup.kind) {
        case "encryption":
          this.#socket.write("N");
          continue;
        case "cancel":
          this.#socket.end();
          return;
        case "refused":
          this.end(startup.error);
          return;
        case "session":
          this.#greet(startup.minor, startup.protocolOptions);
          return;
      }
    }
  }

  #greet(minor: number, protocolOptions: readonly string[]): void {
    this.#isStarted = true;
    const isNewer = minor > 0 || protocolOptions.length > 0;
    this.send([
      ...(isNewer ? [negotiateVersion(protocolOptions)] : []),
      authenticationOk,
      this.#events.parameters,
      backendKeyData(process.pid, randomInt(2 ** 31)),
      readyForQuery("I"),
    ]);
  }

  #collect(): void {
    for (let frame = this.#reader.frame(); frame && !this.isGone; frame = this.#reader.frame()) {
      if (frame.type === "X") {
        this.#sayGoodbye();
        return;
      }
      const batch = this.#collector.add(frame);
      if (batch !== undefined) this.#queue(batch);
    }
  }

  // Earlier batches still run.
  #sayGoodbye(): void {
    this.#saidGoodbye = true;
    if (this.#batches.length === 0) this.#socket.end();
  }

  #queue(batch: Batch): void {
    this.#batches.push(batch);
    this.#waitingBytes += batch.bytes.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#socket.pause();
    this.#events.onReady(this);
  }
}
