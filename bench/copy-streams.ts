import { PassThrough, Writable } from "node:stream";
import pg from "pg";
import type { Connection, PoolClient, Submittable } from "pg";

// The driver has the messages of COPY and no streams for them.
type CopyConnection = Connection & {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  readonly stream: NodeJS.WritableStream & { readonly writableNeedDrain: boolean };
};

/** Past the limit that our clients put on each statement: it knows queries, and nothing that speaks the protocol itself. */
function submit(client: PoolClient, copy: Submittable): void {
  const query = Reflect.get(pg.Client.prototype, "query") as (copy: Submittable) => void;
  Reflect.apply(query, client, [copy]);
}

/** Takes the data of a `copy … from stdin`, and finishes when the server has stored it. */
export function openCopyIn(client: PoolClient, sql: string): Writable {
  let connection: CopyConnection | undefined;
  let onReady = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  let onStored: (error?: Error | null) => void = () => undefined;
  const fail = (error: Error) => sink.destroy(error);
  const sink = new Writable({
    construct: (callback) => {
      void ready.then(() => {
        callback();
      });
    },
    write: (chunk: Buffer, _encoding, callback) => {
      connection?.sendCopyFromChunk(chunk);
      if (connection?.stream.writableNeedDrain) connection.stream.once("drain", callback);
      else callback();
    },
    final: (callback) => {
      onStored = callback;
      connection?.endCopyFrom();
    },
  });
  const copy: Submittable & Record<string, unknown> = {
    submit: (on) => {
      connection = on as CopyConnection;
      connection.query(sql);
    },
    handleCopyInResponse: onReady,
    handleCommandComplete: () => undefined,
    handleReadyForQuery: () => {
      onStored();
    },
    handleError: fail,
  };
  submit(client, copy);
  return sink;
}

/** The data of a `copy … to stdout`. */
export function openCopyOut(client: PoolClient, sql: string): PassThrough {
  const rows = new PassThrough({ highWaterMark: 2 ** 30 });
  const copy: Submittable & Record<string, unknown> = {
    submit: (connection) => {
      connection.query(sql);
    },
    handleCopyData: ({ chunk }: { readonly chunk: Buffer }) => {
      rows.write(Buffer.from(chunk));
    },
    handleCommandComplete: () => undefined,
    handleReadyForQuery: () => {
      rows.end();
    },
    handleError: (error: Error) => rows.destroy(error),
  };
  submit(client, copy);
  return rows;
}
