import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { openDatabase } from "../../src/shared/store/connection/database.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { runCommand } from "../support/run-command.ts";
import { createMigratedDatabase, queryServer } from "../support/templates.ts";

/** Without a server `npm test` leaves out the files that open a desk. */
const serverUrl = process.env["TEST_DATABASE_URL"] ?? "";

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type OnTerminal = {
  readonly columns: number;
  readonly env?: Readonly<Record<string, string>>;
};

/** A work root with a migrated database of its own, and the commands on it. */
export type Desk = {
  readonly database: Database;
  readonly workroot: string;
  readonly databaseUrl: string;
  /** Runs a command as `nightdesk …` does, in this process, with what it wrote. */
  run(...args: readonly string[]): Promise<Ran>;
  /** The same on a terminal of so many columns, with an environment. */
  runOn(terminal: OnTerminal, ...args: readonly string[]): Promise<Ran>;
  write(path: string, text: string | Uint8Array): Promise<string>;
  dispose(): Promise<void>;
};

export async function openDesk(schema: "migrated" | "empty" = "migrated"): Promise<Desk> {
  const name = `nightdesk_producer_${randomBytes(6).toString("hex")}`;
  await (schema === "migrated"
    ? createMigratedDatabase(serverUrl, name)
    : onServer(`create database ${name}`));
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` });
  const database = openDatabase({
    target: { kind: "url", url: url.href },
    maxConnections: 4,
    statements: "query",
    onError: () => undefined,
  });
  const workroot = await mkdtemp(join(tmpdir(), "nightdesk-producer-"));
  await mkdir(join(workroot, "allowed", "corpus"), { recursive: true });
  await writeFile(join(workroot, "nightdesk.yaml"), deskConfig(url.href));
  return {
    database,
    workroot,
    databaseUrl: url.href,
    run: (...words) => runCommand(words, { cwd: workroot }),
    runOn: (terminal, ...words) => runCommand(words, { cwd: workroot, ...terminal }),
    async write(path, text) {
      await writeFile(join(workroot, path), text);
      return join(workroot, path);
    },
    async dispose() {
      await database.end();
      await onServer(`drop database if exists ${name} with (force)`);
      await rm(workroot, { recursive: true, force: true });
    },
  };
}

/** What a desk is configured by, and more, as YAML. */
export const deskConfig = (
  databaseUrl: string,
  more: Readonly<Record<string, unknown>> = {},
): string =>
  stringify({
    extends: "nightdesk:default",
    database: { url: databaseUrl },
    queue: { backend: "postgres" },
    model: { provider: "extractive" },
    log: { level: "silent" },
    ...more,
  });

const onServer = (statement: string): Promise<void> => queryServer(serverUrl, statement);

const BEAT_EVERY_MS = 3_000;

/**
 * A worker's row, so that commands take one for alive, until the row is deleted or the database is left: however long the test
 * takes.
 */
export async function pretendWorker(
  database: Database,
  modelHosts: readonly string[] = [],
): Promise<void> {
  const workerId = randomUUID();
  await database.query(
    `insert into nightdesk_data.workers (worker_id, host, pid, version, concurrency, model_hosts, config_file, shared_config)
     values ($1, 'here', 1, '0', 1, $2, '/nightdesk.yaml', '{}')`,
    [workerId, modelHosts],
  );
  const beat =
    "update nightdesk_data.workers set heartbeat_at = clock_timestamp() where worker_id = $1";
  const timer = setInterval(() => {
    database.query(beat, [workerId]).catch(() => {
      clearInterval(timer);
    });
  }, BEAT_EVERY_MS).unref();
}

export async function rowsOf(
  database: Database,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  return (await database.query(text, values)).rows as Record<string, unknown>[];
}
