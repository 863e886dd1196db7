import { chmodSync, lstatSync, readdirSync } from "node:fs";
import path from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";

export type Rows = { rows: Record<string, unknown>[]; rowCount: number | null };

/** One PostgreSQL session, and the only one on its data directory. */
export type Engine = {
  /** Runs whole protocol messages and gives the server's answer to them. */
  run(messages: Buffer): Promise<Buffer>;
  /**
   * Runs one statement with values, or one or several without; the rows are those of the last. Only before the
   * first `run`, because PGlite then gives the answers to that.
   */
  query(sql: string, values?: readonly unknown[]): Promise<Rows>;
  close(): Promise<void>;
};

export type EngineOptions = {
  readonly dataDirectory: string;
  /** Told, before anything else can run, that PostgreSQL has ended inside PGlite. Must end the process. */
  readonly onDeath: (reason: string) => never;
};

const SETTINGS = [
  // What RESET ALL and DISCARD ALL go back to.
  "search_path=nightdesk, bullmq, public",
  // WebAssembly's memory never shrinks. With 128 MB the process holds 60 to 80 MiB more and is no faster at an index of
  // 71 MB; with 32 MB storing vectors behind their index takes 1.4 times as long.
  "shared_buffers=64MB",
  // Log that a checkpoint has made needless is deleted. Kept for later, it would take 80 MB of disk and half of a dump.
  "wal_recycle=off",
];

// The line prefix keeps a statement's text, which PostgreSQL logs on lines of its own, from matching.
const END = /^\S+ \S+ \S+ \[\d+\] (?:FATAL|PANIC): +(.*)/;

// An engine that has ended answers each further call with the same line, inside a loop that never returns.
const MAX_ENDS_WHILE_OPENING = 10;

/**
 * Opens a data directory, or makes one.
 * @throws Error with PostgreSQL's reason when it does not open
 */
export async function openPglite(options: EngineOptions): Promise<Engine> {
  const reasons: string[] = [];
  let isOpen = false;
  const onStderr = (line: string) => {
    const reason = END.exec(line)?.[1];
    if (reason !== undefined) reasons.push(reason);
    if (reasons.length > (isOpen ? 0 : MAX_ENDS_WHILE_OPENING)) options.onDeath(reasons[0] ?? line);
    return false;
  };
  try {
    const db = await createPglite(options, onStderr);
    isOpen = true;
    closeToOthers(options.dataDirectory);
    return engineOn(db, options.dataDirectory);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(reasons[0] ?? message, { cause });
  }
}

const createPglite = (
  { dataDirectory }: EngineOptions,
  onStderr: (line: string) => boolean,
): Promise<PGlite> =>
  PGlite.create({
    dataDir: dataDirectory,
    extensions: { vector },
    startParams: [...PGlite.defaultStartParams, ...SETTINGS.flatMap((setting) => ["-c", setting])],
    onStderr,
  });

/**
 * Makes folders 0700 and files 0600. PGlite gives some files the rights 0644 by a chmod of its own, when it opens and when
 * it closes, and a copy or a dump may have opened others.
 */
function closeToOthers(dataDirectory: string): void {
  const below = readdirSync(dataDirectory, { recursive: true, encoding: "utf8" });
  for (const name of ["", ...below]) {
    const file = path.join(dataDirectory, name);
    const found = lstatSync(file);
    if (found.isSymbolicLink() || (found.mode & 0o077) === 0) continue;
    chmodSync(file, found.isDirectory() ? 0o700 : 0o600);
  }
}

const engineOn = (db: PGlite, dataDirectory: string): Engine => ({
  run: async (messages) => {
    const chunks: Uint8Array[] = [];
    // Not execProtocolRaw: it keeps a parsed copy of every answer for the life of the process.
    await db.execProtocolRawStream(messages, {
      // A view into PostgreSQL's memory, which the next call overwrites.
      onRawData: (chunk) => chunks.push(chunk.slice()),
    });
    return Buffer.concat(chunks);
  },
  query: async (sql, values) => {
    const result =
      values === undefined
        ? (await db.exec(sql)).at(-1)
        : await db.query<Record<string, unknown>>(sql, [...values]);
    return { rows: result?.rows ?? [], rowCount: result?.affectedRows ?? null };
  },
  async close() {
    await db.close();
    closeToOthers(dataDirectory);
  },
});
