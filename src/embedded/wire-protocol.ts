import path from "node:path";
import type { Existing } from "../shared/files/atomic-file.ts";

/** The status in ReadyForQuery: idle, in a transaction, or in a failed one. */
export type TransactionStatus = "I" | "T" | "E";

export type ErrorFields = {
  readonly severity: "ERROR" | "FATAL";
  /** SQLSTATE. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
};

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const cText = (value: string): Buffer => Buffer.from(`${value}\0`);

/** A message with its type letter and body. */
export const message = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};

export const query = (sql: string): Buffer => message("Q", cText(sql));
export const SYNC: Buffer = message("S");

export const authenticationOk: Buffer = message("R", int32(0));

export const parameterStatus = (name: string, value: string): Buffer =>
  message("S", cText(name), cText(value));

export const backendKeyData = (pid: number, secret: number): Buffer =>
  message("K", int32(pid), int32(secret));

export const readyForQuery = (status: TransactionStatus): Buffer =>
  message("Z", Buffer.from(status));

export const commandComplete = (tag: string): Buffer => message("C", cText(tag));

/** Tells the client that only protocol 3.0 and none of these options is supported. */
export const negotiateVersion = (options: readonly string[]): Buffer =>
  message("v", int32(0), int32(options.length), ...options.map(cText));

export const errorResponse = ({ severity, code, message: what, hint }: ErrorFields): Buffer =>
  message(
    "E",
    cText(`S${severity}`),
    cText(`V${severity}`),
    cText(`C${code}`),
    cText(`M${what}`),
    ...(hint === undefined ? [] : [cText(`H${hint}`)]),
    Buffer.of(0),
  );

/** A message of a client: its type letter, and all its bytes with type and length. */
export type Frame = { readonly type: string; readonly bytes: Buffer };

export class BadFrame extends Error {}

export const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/** The body of a message, after its type and length. */
export const bodyOf = (frame: Frame): Buffer => frame.bytes.subarray(5);

/** Splits a stream of bytes, in packets of any size, into protocol messages. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /** The next startup packet, which has no type. @throws BadFrame */
  startup(): Buffer | undefined {
    return this.#take(0);
  }

  /** The next message once it is complete. @throws BadFrame */
  frame(): Frame | undefined {
    const bytes = this.#take(1);
    return bytes && { type: String.fromCharCode(bytes[0] ?? 0), bytes };
  }

  #take(lengthAt: 0 | 1): Buffer | undefined {
    const header = lengthAt + 4;
    if (this.#size < header) return undefined;
    if ((this.#chunks[0]?.length ?? 0) < header) this.#merge();
    const length = this.#chunks[0]?.readUInt32BE(lengthAt) ?? 0;
    if (length < 4 || length > MAX_FRAME_BYTES) {
      throw new BadFrame(`a message of ${length} bytes, allowed are 4 to ${MAX_FRAME_BYTES}`);
    }
    return this.#cut(lengthAt + length);
  }

  #cut(end: number): Buffer | undefined {
    if (this.#size < end) return undefined;
    // Merges once the message is complete: merging for each packet would copy a long one many times.
    if ((this.#chunks[0]?.length ?? 0) < end) this.#merge();
    const [first = Buffer.alloc(0), ...rest] = this.#chunks;
    this.#chunks = first.length === end ? rest : [first.subarray(end), ...rest];
    this.#size -= end;
    return first.subarray(0, end);
  }

  #merge(): void {
    this.#chunks = [Buffer.concat(this.#chunks)];
  }
}

/** A command that the server runs itself, because SQL can't. */
export type EmbeddedCommand =
  | { readonly kind: "backup"; readonly file: string; readonly existing: Existing }
  | { readonly kind: "checkpoint" }
  | { readonly kind: "invalid" };

const WORDS = /^nightdesk\s+(backup|checkpoint|backup\s+replace)(?:\s+'((?:[^']|'')*)')?$/i;
const MAX_CHARS = 8_192;

/** `nightdesk backup '<absolute file>'`, `nightdesk backup replace '…'` or `nightdesk checkpoint`, sent as a simple query. */
export function parseCommand(sql: string): EmbeddedCommand | undefined {
  if (!/^nightdesk\s/i.test(sql)) return undefined;
  if (sql.length > MAX_CHARS) return { kind: "invalid" };
  const [, words = "", quoted] = WORDS.exec(sql.trim().replace(/\s*;$/, "")) ?? [];
  const [verb, replace] = words.toLowerCase().split(/\s+/);
  if (verb === "checkpoint" && quoted === undefined) return { kind: "checkpoint" };
  const file = quoted?.replaceAll("''", "'") ?? "";
  if (verb !== "backup" || !path.isAbsolute(file)) return { kind: "invalid" };
  return { kind: "backup", file, existing: replace === undefined ? "keep" : "replace" };
}

/** The engine's reply to one batch, parsed as far as the server needs. */
export type Reply = {
  /** Everything but notifications, in order. */
  readonly own: readonly Buffer[];
  readonly notifications: readonly Buffer[];
  /** The command tags, for instance `SET` or `INSERT 0 1`. */
  readonly tags: readonly string[];
  /** The status in the last ReadyForQuery; undefined without one. */
  readonly status: TransactionStatus | undefined;
};

const NOTIFICATION = 0x41; // A
const COMMAND_COMPLETE = 0x43; // C
const DATA_ROW = 0x44; // D
const READY = 0x5a; // Z

export function parseReply(bytes: Buffer): Reply {
  const own: Buffer[] = [];
  const notifications: Buffer[] = [];
  const tags: string[] = [];
  let status: TransactionStatus | undefined;
  let ownStart = 0;
  for (const { start, end } of messagesOf(bytes)) {
    const type = bytes[start];
    if (type === NOTIFICATION) {
      notifications.push(bytes.subarray(start, end));
      own.push(bytes.subarray(ownStart, start));
      ownStart = end;
    } else if (type === COMMAND_COMPLETE) tags.push(bytes.toString("utf8", start + 5, end - 1));
    else if (type === READY) status = bytes.toString("latin1", start + 5, end) as TransactionStatus;
  }
  return { own: [...own, bytes.subarray(ownStart)], notifications, tags, status };
}

/** The rows of a query with one column, as text. */
export function parseColumn(reply: Reply): string[] {
  const bytes = Buffer.concat(reply.own);
  return [...messagesOf(bytes)]
    .filter(({ start }) => bytes[start] === DATA_ROW)
    .map(({ start, end }) => bytes.toString("utf8", start + 11, end));
}

function* messagesOf(bytes: Buffer): Generator<{ start: number; end: number }> {
  for (let start = 0; start < bytes.length;) {
    const end = start + 1 + bytes.readUInt32BE(start + 1);
    yield { start, end };
    start = end;
  }
}

type Startup =
  | { readonly kind: "encryption" }
  | { readonly kind: "cancel" }
  | { readonly kind: "session"; readonly minor: number; readonly protocolOptions: string[] }
  | { readonly kind: "refused"; readonly error: ErrorFields };

// Codes in place of the protocol version.
const CANCEL = 80_877_102;
const ENCRYPTION = new Set([80_877_103, 80_877_104]);

/** Reads the first packet of a connection. @throws BadFrame */
export function parseStartup(packet: Buffer): Startup {
  if (packet.length < 8) throw new BadFrame("a startup packet without a version");
  const version = packet.readUInt32BE(4);
  if (ENCRYPTION.has(version)) return { kind: "encryption" };
  if (version === CANCEL) return { kind: "cancel" };
  if (version >>> 16 !== 3) {
    return refusal("0A000", `protocol ${version >>> 16} is not supported, only 3`);
  }
  const parameters = parseParameters(packet);
  const error = checkParameters(parameters);
  if (error !== undefined) return error;
  const protocolOptions = [...parameters.keys()].filter((name) => name.startsWith("_pq_."));
  return { kind: "session", minor: version & 0xffff, protocolOptions };
}

function parseParameters(packet: Buffer): Map<string, string> {
  const words = packet.subarray(8).toString().split("\0");
  const parameters = new Map<string, string>();
  for (let at = 0; (words[at] ?? "") !== ""; at += 2) {
    parameters.set(words[at] ?? "", words[at + 1] ?? "");
  }
  return parameters;
}

// These would give wrong results, or more rights than requested, if they were accepted without effect. Others, such as the TimeZone
// that JDBC sends, are ignored.
function checkParameters(parameters: ReadonlyMap<string, string>): Startup | undefined {
  const user = parameters.get("user") ?? "";
  const database = parameters.get("database") ?? user;
  if (user !== "postgres") {
    return refusal("28000", `the embedded database has no user "${user}"`, "Connect as postgres.");
  }
  if (database !== "postgres") {
    const message = `the embedded database has no database "${database}"`;
    return refusal("3D000", message, "Connect to postgres.");
  }
  const name = REFUSED_PARAMETERS.find((it) => parameters.get(it));
  if (name === undefined) return undefined;
  const message = `the embedded database does not support the startup parameter "${name}"`;
  return refusal("0A000", message, "All connections share one session and its settings.");
}

const REFUSED_PARAMETERS = [
  "options",
  "search_path",
  "replication",
  "role",
  "default_transaction_read_only",
] as const;

const refusal = (code: string, message: string, hint?: string): Startup => ({
  kind: "refused",
  error: { severity: "FATAL", code, message, ...(hint === undefined ? {} : { hint }) },
});
