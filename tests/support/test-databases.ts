import { randomUUID } from "node:crypto";
import { describe } from "@jest/globals";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { optimizeLater } from "../../src/embedded/open-database.ts";
import { openDatabase } from "../../src/shared/store/connection/database.ts";
import type { Database, Queryable } from "../../src/shared/store/connection/database.ts";
import { createMigratedDatabase, queryServer, readPgliteDump } from "./templates.ts";

const serverUrl = process.env["TEST_DATABASE_URL"];

export type TestDatabase = { readonly db: Database; readonly close: () => Promise<void> };

type Engine = {
  readonly engine: "PostgreSQL" | "PGlite";
  readonly open: () => Promise<TestDatabase>;
};

const SERVER: Engine = { engine: "PostgreSQL", open: () => openPostgres() };
const IN_PROCESS: Engine = { engine: "PGlite", open: openPglite };

/**
 * The engines that the SQL must run on, as far as this machine has them: a server, and PostgreSQL in WebAssembly. The
 * quick tests take one of them.
 */
export const ENGINES: readonly Engine[] = enginesFor(process.env["NIGHTDESK_TESTS"]);

function enginesFor(run: string | undefined): readonly Engine[] {
  if (serverUrl === undefined) return [IN_PROCESS];
  return run === "quick" ? [SERVER] : [SERVER, IN_PROCESS];
}

/** For tests that need a server: several connections, or its planner. */
export const describeOnPostgres = serverUrl === undefined ? describe.skip : describe;

/** A migrated database of its own. `onError` hears of idle connections that broke. */
export async function openPostgres(
  onError: (error: unknown) => void = fail,
): Promise<TestDatabase> {
  const name = `nightdesk_index_${randomUUID().replaceAll("-", "")}`;
  if (serverUrl === undefined) throw new Error("There is no Postgres for the tests.");
  await createMigratedDatabase(serverUrl, name);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const db = connect(url.href, onError);
  return {
    db,
    close: async () => {
      await db.end();
      await queryServer(serverUrl, `drop database ${name}`);
    },
  };
}

function fail(error: unknown): never {
  throw error;
}

function connect(url: string, onError: (error: unknown) => void): Database {
  return openDatabase({
    target: { kind: "url", url },
    maxConnections: 4,
    statements: "query",
    onError,
  });
}

/** In memory and in this process; only what the index uses of a database. */
export async function openPglite(): Promise<TestDatabase> {
  optimizeLater();
  const pglite = await PGlite.create({
    extensions: { vector },
    loadDataDir: await readPgliteDump(),
  });
  type Runner = Pick<PGlite, "query">;
  const queryable = (runner: Runner): Queryable => ({
    async query(text, values = []) {
      const { rows, affectedRows } = await runner.query(text, [...values]);
      return { rows, rowCount: affectedRows ?? rows.length };
    },
  });
  const db: Pick<Database, "query" | "transaction" | "within"> = {
    ...queryable(pglite),
    // In this process nothing can fall silent.
    within: () => db as Database,
    transaction: <T>(body: (transaction: Queryable) => Promise<T>) =>
      pglite.transaction((transaction) => body(queryable(transaction as Runner))),
  };
  return { db: db as Database, close: () => pglite.close() };
}
