import type { TransactionStatus } from "./backend-messages.ts";

/** What the engine answered to one batch, taken apart as far as the server has to know it. */
export type Reply = {
  /** Everything but notifications, in order. */
  readonly own: readonly Buffer[];
  readonly notifications: readonly Buffer[];
  /** The command tags, for instance `SET` or `INSERT 0 1`. */
  readonly tags: readonly string[];
  /** Of the last ReadyForQuery; undefined when there was none. */
  readonly status: TransactionStatus | undefined;
};

const NOTIFICATION = 0x41; // A
const COMMAND_COMPLETE = 0x43; // C
const DATA_ROW = 0x44; // D
const READY = 0x5a; // Z

export function readReply(bytes: Buffer): Reply {
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
export function readColumn(reply: Reply): string[] {
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
