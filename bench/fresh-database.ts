import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../src/shared/store/connection/database.ts";
import type { Database } from "../src/shared/store/connection/database.ts";
import { migrate } from "../src/shared/store/migrate.ts";

const SERVER = process.env["TEST_DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:55432/postgres";
const MIGRATIONS = fileURLToPath(new URL("../migrations/", import.meta.url));

export type FreshDatabase = {
  readonly db: Database;
  readonly url: string;
  readonly engine: "server" | "embedded";
  /** Stands in the command line of each process of the database that works for it. */
  readonly mark: string;
  readonly drop: () => Promise<void>;
};

/** A migrated database of its own on the server of TEST_DATABASE_URL. */
export async function createFreshDatabase(): Promise<FreshDatabase> {
  const name = `nightdesk_bench_${randomUUID().replaceAll("-", "")}`;
  const server = open(SERVER);
  await server.query(`create database ${name}`);
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  const db = open(url.href);
  await db.transaction((client) => migrate(client, MIGRATIONS));
  return {
    db,
    url: url.href,
    engine: "server",
    mark: name,
    drop: async () => {
      await db.end();
      await server.query(`drop database ${name}`);
      await server.end();
    },
  };
}

const open = (url: string): Database =>
  openDatabase({
    target: { kind: "url", url },
    maxConnections: 4,
    statements: "query",
    onError: (error) => {
      console.error(error);
    },
  });
