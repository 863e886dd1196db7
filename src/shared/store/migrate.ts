import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Failure } from "../failure.ts";
import type { Queryable } from "./connection/database.ts";
import { oneRowOf, rowsOf, valueOf } from "./connection/rows.ts";
import { hasCode } from "./connection/errors.ts";

/** Channel that announces a committed change of the schema: running processes may be of another version. */
export const SCHEMA_CHANNEL = "nightdesk_schema";

const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
const LOCK_KEY = 7_301_000;

type Migration = { readonly name: string; readonly sql: string; readonly sha256: string };

const withHash = (name: string, sql: string): Migration => ({
  name,
  sql,
  sha256: createHash("sha256").update(sql).digest("hex"),
});

/**
 * SQL functions that choose the host of a run's next call and that begin and end model calls. Each is one round trip, because a
 * call must read the counts after it has locked the row. They are recorded with the migrations and replaced when a database has
 * others, so they are edited in place, without a new migration. When the arguments or the result of a function change, that file
 * must drop the old function first: `create or replace` would keep it beside the new one, or fail. The choice of a host locks
 * hosts first and choices after them, in the order of their URLs; take_call and end_call lock one host first.
 */
const FUNCTIONS = { file: "functions.sql", name: "pacing functions" } as const;

/** Reads the migrations of this version, in order, with the functions last. */
export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).filter((name) => MIGRATION_NAME.test(name)).sort();
  const files = [...names.map((name) => ({ file: name, name })), FUNCTIONS];
  return Promise.all(
    files.map(async ({ file, name }) =>
      withHash(name, await readFile(join(directory, file), "utf8")),
    ),
  );
}

const appliedSchema = z.object({ name: z.string(), sha256: z.string() });

/**
 * Applies all pending migrations, in order, and replaces functions of another version. The caller has opened a transaction, so
 * either all of it happens or nothing.
 * @returns the applied names
 * @throws Failure SCHEMA_OUTDATED when another build has made the database
 */
export async function migrate(db: Queryable, directory: string): Promise<readonly string[]> {
  await lockMigrations(db);
  const { pending } = compareMigrations(await readMigrations(directory), await selectApplied(db));
  if (pending.length > 0) await db.query(FIND_PGVECTOR);
  for (const { name, sql, sha256 } of pending) {
    await db.query(sql).catch((error: unknown) => explainMigrationError(error, name));
    await db.query(
      `insert into nightdesk_migrations.applied (name, sha256) values ($1, $2)
       on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()`,
      [name, sha256],
    );
  }
  if (pending.length > 0) await db.query(`select pg_notify('${SCHEMA_CHANNEL}', '')`);
  return pending.map(({ name }) => name);
}

/** Extends the search path, so that migrations find pgvector, and schema public, even when the role's own path lacks them. */
const FIND_PGVECTOR = `
  select set_config('search_path', concat_ws(', ', current_setting('search_path'), string_agg(quote_ident(nspname), ', ')), true)
    from pg_namespace n
   where nspname <> all (current_schemas(true))
     and (nspname = 'public' or n.oid in (select extnamespace from pg_extension where extname = 'vector'))`;

const encodingSchema = z.object({ encoding: z.string(), name: z.string() });

/** @throws Failure CONFIG_ERROR for an encoding that lacks characters: jobs with such characters would fail one by one */
export async function assertEncoding(db: Queryable): Promise<void> {
  const { encoding, name } = await oneRowOf(db, encodingSchema)`
     select current_setting('server_encoding') as encoding, current_database() as name`;
  if (encoding === "UTF8") return;
  throw new Failure(
    "CONFIG_ERROR",
    `The database "${name}" has encoding ${encoding}, and Nightdesk needs UTF8. Make another one: create database NAME encoding ` +
      "'UTF8' template template0; then name it in database.url.",
  );
}

/**
 * Makes concurrent migrations wait for each other; the second then finds nothing to do. In an empty database only migrations can
 * ask for an advisory lock; later a lock on the table is used, which the role of `nightdesk sql` can't see.
 */
async function lockMigrations(db: Queryable): Promise<void> {
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

const hasApplied = (db: Queryable): Promise<boolean> =>
  valueOf(db, z.boolean())`
     select to_regclass('nightdesk_migrations.applied') is not null as found`;

const INSUFFICIENT_PRIVILEGE = "42501";
const UNDEFINED_OBJECT = "42704";

/** Explains a migration that fails for lack of rights or of a pgvector with half precision. */
function explainMigrationError(error: unknown, name: string): never {
  const reason = error instanceof Error ? error.message : String(error);
  if (hasCode(error, UNDEFINED_OBJECT) && reason.includes("halfvec")) {
    throw new Failure(
      "SQL_ERROR",
      `Migration ${name} needs pgvector 0.7 or newer (${reason}). Install it on the server, let its administrator run in ` +
        "this database: alter extension vector update; then run: nightdesk migrate",
      { cause: error },
    );
  }
  if (!hasCode(error, INSUFFICIENT_PRIVILEGE)) throw error;
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

/** The applied and the pending migrations. */
export async function schemaStatus(db: Queryable, directory: string): Promise<SchemaStatus> {
  return compareMigrations(await readMigrations(directory), await selectApplied(db)).status;
}

/** A sentence about what a database with pending migrations lacks. */
export function formatPending({ applied, pending }: SchemaStatus): string {
  if (pending.length === 1 && pending[0] === FUNCTIONS.name) {
    return "The pacing functions in the database are another build's: all workers have to be of one build.";
  }
  return `The database lacks ${pending.join(", ")}${applied.length === 0 ? " (it is empty)" : ""}.`;
}

/** @throws Failure SCHEMA_OUTDATED unless exactly this version's migrations and functions are applied */
export async function assertSchemaCurrent(db: Queryable, directory: string): Promise<void> {
  await assertMigrated(db, await readMigrations(directory));
}

/** `assertSchemaCurrent` for a process that keeps the migrations from its start: an upgrade may replace the files meanwhile. */
export async function assertMigrated(
  db: Queryable,
  migrations: readonly Migration[],
): Promise<void> {
  const { status } = compareMigrations(migrations, await selectApplied(db));
  if (status.pending.length === 0) return;
  throw new Failure("SCHEMA_OUTDATED", `${formatPending(status)} Run: nightdesk migrate`);
}

async function selectApplied(db: Queryable): Promise<z.infer<typeof appliedSchema>[]> {
  if (!(await hasApplied(db))) return [];
  return rowsOf(db, appliedSchema)`
     select name, sha256 from nightdesk_migrations.applied order by name`;
}

function compareMigrations(
  known: readonly Migration[],
  applied: z.infer<typeof appliedSchema>[],
): { readonly pending: readonly Migration[]; readonly status: SchemaStatus } {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  const done = new Set<string>();
  for (const { name, sha256 } of applied) {
    const migration = byName.get(name);
    if (migration?.sha256 === sha256) done.add(name);
    else if (name !== FUNCTIONS.name) throw otherBuildFailure(name, migration);
  }
  const pending = known.filter(({ name }) => !done.has(name));
  return { pending, status: { applied: [...done], pending: pending.map(({ name }) => name) } };
}

/** Until the first release migrations are edited in place, so the older of two builds can't be told. */
function otherBuildFailure(name: string, known: Migration | undefined): Failure {
  const difference = known === undefined ? "does not know" : "has with other content";
  return new Failure(
    "SCHEMA_OUTDATED",
    `The database was made by another build of nightdesk: it holds migration ${name}, which this one ${difference}. ` +
      "Use that build. To go on with this one: with that build, export what you want to keep (nightdesk batch export, " +
      "nightdesk memory export); begin with an empty database (on a server, name another one in database.url and run " +
      "nightdesk migrate; of the embedded one, move the folder pgdata away); then run: nightdesk index",
  );
}
