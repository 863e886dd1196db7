import type { Database } from "../shared/store/connection/database.ts";
import { CANCEL_CHANNEL, EVENTS_CHANNEL, JOBS_CHANNEL } from "../shared/store/jobs/batches.ts";
import { findFinalEvent, selectEvents } from "../shared/views/live-events.ts";
import type { EventMark, LiveEvent } from "../shared/views/live-events.ts";
import { throttle } from "./throttle.ts";

/** Events of the installation, as a stream of server-sent events to each open browser. */
export type Live = {
  /** Sends each event once, with its id. A client that reconnects with its last id also gets what it missed. */
  stream(lastEventId: string | undefined): ReadableStream<Uint8Array>;
  close(): void;
};

type LiveOptions = {
  /** Needs two connections: one of them listens. */
  readonly database: Database;
  readonly onError: (error: unknown) => void;
};

const LEAST_MS = 1_000;
/** Between two reads while an open transaction holds events back. */
const HELD_BACK_MS = 2_000;
/** How long events are held back before clients are notified. */
const BEHIND_MS = 10_000;
const BEAT_MS = 25_000;
/** More events at once are sent as one: nobody can read so many. */
const MOST_EVENTS = 500;
/** Unread messages after which a client is disconnected. It reconnects with its last id. */
const MOST_BEHIND = 2_000;

/** Listens for notifications, and reads events only after one, and only while a client is connected. */
export async function openLive({ database, onError }: LiveOptions): Promise<Live> {
  const events = followEvents(database);
  const clients = new Set<Client>();
  const push = (update: StreamUpdate): void => {
    for (const client of clients) client.push(update);
  };
  let isBehind = false;
  const reportDelay = (heldBackMs: number): void => {
    const wasBehind = isBehind;
    isBehind = heldBackMs >= BEHIND_MS;
    // Repeated while it lasts, because new clients may have connected.
    if (isBehind || wasBehind)
      push({ text: messageOf("behind", { behind: isBehind }), upTo: null });
  };
  const readEvents = async (): Promise<number | null> => {
    if (clients.size === 0) return null;
    try {
      push(await events.next());
      push({ text: messageOf("changed", {}), upTo: null });
      const heldBackMs = events.heldBackMs();
      reportDelay(heldBackMs ?? 0);
      return heldBackMs === null ? null : HELD_BACK_MS;
    } catch (error) {
      onError(error);
      return HELD_BACK_MS;
    }
  };
  const reads = throttle(readEvents, LEAST_MS);
  await database.listen(
    [EVENTS_CHANNEL, JOBS_CHANNEL, CANCEL_CHANNEL],
    reads.request,
    reads.request,
  );
  const beat = setInterval(push, BEAT_MS, { text: ": beat\n\n", upTo: null }).unref();
  return {
    stream: (lastEventId) => {
      const opened = openStream((client) => clients.delete(client));
      clients.add(opened.client);
      const seen = /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : null;
      void events
        .since(seen)
        .then((missed) => {
          opened.client.begin(missed);
          if (events.heldBackMs() !== null) reads.request();
        })
        .catch((error: unknown) => {
          onError(error);
          opened.client.end();
        });
      return opened.stream;
    },
    close() {
      reads.stop();
      clearInterval(beat);
      for (const client of clients) client.end();
    },
  };
}

/** Text of the stream, and the id up to which it contains all events; null for text without events. */
type StreamUpdate = { readonly text: string; readonly upTo: number | null };

type EventFollower = {
  /** Events that have become final since the last read. */
  next(): Promise<StreamUpdate>;
  /** The events after the id that a client has seen (null: it is new, no events), and the id up to which it is then complete. */
  since(seen: number | null): Promise<StreamUpdate & { readonly upTo: number }>;
  /** How long an open transaction has held events back; null if none does. */
  heldBackMs(): number | null;
};

/** Reads events by id, each once. Reads run one after the other. */
function followEvents(database: Database): EventFollower {
  let cursor: number | undefined;
  let marks: readonly EventMark[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(body: () => Promise<T>): Promise<T> => {
    const turn = last.then(body);
    last = turn.catch(() => undefined);
    return turn;
  };
  const advance = async (): Promise<{ readonly from: number; readonly upTo: number }> => {
    const found = await findFinalEvent(database, marks);
    marks = found.marks;
    const from = cursor ?? found.upTo ?? 0;
    return { from, upTo: Math.max(from, found.upTo ?? 0) };
  };
  const textBetween = async (after: number, upTo: number): Promise<string> =>
    after >= upTo
      ? ""
      : textOf(await selectEvents(database, { after, upTo, limit: MOST_EVENTS + 1 }), upTo);
  return {
    next: () =>
      inTurn(async () => {
        const { from, upTo } = await advance();
        const text = await textBetween(from, upTo);
        cursor = upTo;
        return { text, upTo };
      }),
    since: (seen) =>
      inTurn(async () => {
        // The next read sends new events to all clients, this one included.
        cursor ??= (await advance()).upTo;
        const missed = seen === null ? "" : await textBetween(seen, cursor);
        return { text: `${missed}id: ${cursor}\n${messageOf("hello", {})}`, upTo: cursor };
      }),
    heldBackMs() {
      const [oldest] = marks;
      return oldest === undefined ? null : performance.now() - oldest.seenAt;
    },
  };
}

type Client = {
  push(update: StreamUpdate): void;
  /** Sends the missed events, then the updates that arrived meanwhile and are not among them. */
  begin(missed: StreamUpdate & { readonly upTo: number }): void;
  end(): void;
};

function openStream(onLeave: (client: Client) => void): {
  readonly client: Client;
  readonly stream: ReadableStream<Uint8Array>;
} {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let held: StreamUpdate[] | null = [];
  let begunAt = 0;
  const send = (text: string): void => {
    if (text === "" || controller === undefined) return;
    controller.enqueue(encoder.encode(text));
    if ((controller.desiredSize ?? 0) < -MOST_BEHIND) client.end();
  };
  const client: Client = {
    push(update) {
      if (held !== null) held.push(update);
      else if (update.upTo === null || update.upTo > begunAt) send(update.text);
    },
    begin({ text, upTo }) {
      send(text);
      begunAt = upTo;
      const meanwhile = held ?? [];
      held = null;
      for (const update of meanwhile) client.push(update);
    },
    end() {
      controller?.close();
      controller = undefined;
      onLeave(client);
    },
  };
  const stream = new ReadableStream<Uint8Array>({
    start(opened) {
      controller = opened;
      send("retry: 2000\n\n");
    },
    cancel() {
      controller = undefined;
      onLeave(client);
    },
  });
  return { client, stream };
}

const messageOf = (event: string, data: unknown): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

function textOf(events: readonly LiveEvent[], upTo: number): string {
  if (events.length > MOST_EVENTS) return `id: ${upTo}\n${messageOf("many", {})}`;
  return events.map((event) => `id: ${event.event_id}\n${messageOf("step", event)}`).join("");
}
