import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  assertSchemaCompatibility,
  LATEST_SCHEMA_VERSION,
  runMigrations,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
} from "bullmq";
import { z } from "zod";
import { Failure } from "../failure.ts";
import type { Queryable } from "./connection/database.ts";
import { hasCode } from "./connection/errors.ts";

/** Says, when it is committed, that the schema has changed: whoever runs may be of another version than it. */
export const SCHEMA_CHANNEL = "nightdesk_schema";

const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
const LOCK_KEY = 7_301_000;

type Migration = { readonly name: string; readonly sql: string; readonly sha256: string };

/** The migrations of this version, in order. */
export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).filter((name) => MIGRATION_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(directory, name), "utf8");
      return { name, sql, sha256: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

const appliedSchema = z.array(z.object({ name: z.string(), sha256: z.string() }));

/**
 * Applies every pending migration, in order. The caller has opened a transaction: all of them are applied or
 * none is.
 * @returns the names applied
 * @throws Failure SCHEMA_OUTDATED when the database was migrated by another or a newer version
 */
export async function migrate(db: Queryable, directory: string): Promise<readonly string[]> {
  await becomeOnlyMigration(db);
  const { pending } = compare(await readMigrations(directory), await selectApplied(db));
  for (const { name, sql, sha256 } of pending) {
    await db.query(sql).catch((error: unknown) => refuseLackOfRights(error, name));
    await db.query("insert into nightdesk_migrations.applied (name, sha256) values ($1, $2)", [
      name,
      sha256,
    ]);
  }
  if (pending.length > 0) await db.query(`select pg_notify('${SCHEMA_CHANNEL}', '')`);
  return pending.map(({ name }) => name);
}

/**
 * Two migrations may start together: the second waits here, then finds nothing to do. In an empty database nobody
 * but them can ask for an advisory lock; later the table is locked, which the role of `nightdesk sql` can't see.
 */
async function becomeOnlyMigration(db: Queryable): Promise<void> {
  if (!(await hasApplied(db))) {
    await db.query(`select pg_advisory_xact_lock(${LOCK_KEY})`);
    await db.query(`create schema if not exists nightdesk_migrations`);
    await db.query(
      `create table if not exists nightdesk_migrations.applied (
         name text primary key, sha256 text not null, applied_at timestamptz not null default now())`,
    );
  }
  await db.query("lock table nightdesk_migrations.applied in share row exclusive mode");
}

async function hasApplied(db: Queryable): Promise<boolean> {
  const { rows } = await db.query(
    "select to_regclass('nightdesk_migrations.applied') is not null as found",
  );
  return z.tuple([z.object({ found: z.boolean() })]).parse(rows)[0].found;
}

const INSUFFICIENT_PRIVILEGE = "42501";

function refuseLackOfRights(error: unknown, name: string): never {
  if (!hasCode(error, INSUFFICIENT_PRIVILEGE)) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  throw new Failure(
    "SQL_ERROR",
    `Migration ${name} needs more rights (${reason}). Let an administrator of the server run in this database: ` +
      "create extension if not exists vector; create role nightdesk_reader nologin; " +
      "grant nightdesk_reader to <the role of database.url> with admin option; then run: nightdesk migrate",
    { cause: error },
  );
}

export type SchemaStatus = {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
};

/** What is applied and what is not. */
export async function schemaStatus(db: Queryable, directory: string): Promise<SchemaStatus> {
  const applied = await selectApplied(db);
  const { pending } = compare(await readMigrations(directory), applied);
  return {
    applied: applied.map(({ name }) => name),
    pending: pending.map(({ name }) => name),
  };
}

/** @throws Failure SCHEMA_OUTDATED unless exactly this version's migrations are applied */
export async function assertSchemaCurrent(db: Queryable, directory: string): Promise<void> {
  await assertMigrated(db, await readMigrations(directory));
}

/** The same for who keeps the migrations that it began with: those of an installation may be replaced under it. */
export async function assertMigrated(
  db: Queryable,
  migrations: readonly Migration[],
): Promise<void> {
  const applied = await selectApplied(db);
  const pending = compare(migrations, applied).pending.map(({ name }) => name);
  if (pending.length === 0) return;
  throw new Failure(
    "SCHEMA_OUTDATED",
    `The database lacks ${pending.join(", ")}${applied.length === 0 ? " (it is empty)" : ""}. Run: nightdesk migrate`,
  );
}

async function selectApplied(db: Queryable): Promise<z.infer<typeof appliedSchema>> {
  if (!(await hasApplied(db))) return [];
  const { rows } = await db.query(
    "select name, sha256 from nightdesk_migrations.applied order by name",
  );
  return appliedSchema.parse(rows);
}

function compare(
  known: readonly Migration[],
  applied: z.infer<typeof appliedSchema>,
): { readonly pending: readonly Migration[] } {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const { name, sha256 } of applied) {
    const migration = byName.get(name);
    if (migration === undefined) {
      throw new Failure(
        "SCHEMA_OUTDATED",
        `The database holds migration ${name}, which this version of nightdesk does not know. Use the newer version.`,
      );
    }
    if (migration.sha256 !== sha256) {
      throw new Failure(
        "SCHEMA_OUTDATED",
        `Migration ${name} was applied with other content than this version's. Released migrations never change: ` +
          "restore the file, or begin with an empty database.",
      );
    }
  }
  const done = new Set(applied.map(({ name }) => name));
  return { pending: known.filter(({ name }) => !done.has(name)) };
}

type QueueSession = Parameters<typeof runMigrations>[0];

const SCHEMA = "bullmq";

/** What `nightdesk migrate` calls the queue's tables of this version. */
export const QUEUE_SCHEMA_NAME = `queue tables (schema ${SCHEMA}, version ${LATEST_SCHEMA_VERSION})`;

/** Creates or updates BullMQ's tables in schema `bullmq`. @param session one connection, not a pool */
export async function migrateQueue(session: QueueSession): Promise<void> {
  await runMigrations(session, SCHEMA);
}

/**
 * Whether the queue's tables are there, and of this version. Those of a newer one that still serves this version count.
 * @throws Failure SCHEMA_OUTDATED when only a newer version of nightdesk can use them
 */
export async function queueSchemaStatus(db: Queryable): Promise<"current" | "pending"> {
  try {
    // It runs one statement, by the driver's `query`, of which a Queryable has what is used.
    const version = await assertSchemaCompatibility(db as unknown as QueueSession, SCHEMA);
    return version < LATEST_SCHEMA_VERSION ? "pending" : "current";
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return "pending";
    if (!(error instanceof SchemaVersionMismatchError)) throw error;
    throw new Failure(
      "SCHEMA_OUTDATED",
      `The queue's tables were made by a newer version of nightdesk (${error.message}). Use the newer version.`,
      { cause: error },
    );
  }
}

/** @throws Failure SCHEMA_OUTDATED unless this version can use the queue's tables as they are */
export async function assertQueueSchema(db: Queryable): Promise<void> {
  if ((await queueSchemaStatus(db)) === "current") return;
  throw new Failure(
    "SCHEMA_OUTDATED",
    `The database lacks the ${QUEUE_SCHEMA_NAME}, which queue.backend: postgres needs. Run: nightdesk migrate`,
  );
}
