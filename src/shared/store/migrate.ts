import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Failure } from "../failure.ts";
import type { Queryable } from "./connection/database.ts";
import { oneRowOf, rowsOf, valueOf } from "./connection/rows.ts";
import { hasCode } from "./connection/errors.ts";

/** Says, when it is committed, that the schema has changed: whoever runs may be of another version than it. */
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
 * The functions of the database that decide which host a run calls next, and which call of a model begins: one round trip each,
 * because a call has to see the counts after it holds the row. They are recorded with the migrations, and replaced where a
 * database has others, so they are edited in their file, without a new migration. Of a function whose arguments or result
 * change, the old one is dropped there first: `create or replace` would keep it beside the new one, or refuse. Who chooses
 * locks hosts first and choices after them, and in the order of their URLs: take_call and end_call lock one host, and before
 * choices and budgets.
 */
const FUNCTIONS = { file: "functions.sql", name: "pacing functions" } as const;

/** The migrations of this version, in order, and last the functions. */
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
 * Applies every pending migration, in order, and replaces functions that are not this version's. The caller has opened
 * a transaction: all of it is done or nothing is.
 * @returns the names applied
 * @throws Failure SCHEMA_OUTDATED when the database was made by another or a newer version
 */
export async function migrate(db: Queryable, directory: string): Promise<readonly string[]> {
  await becomeOnlyMigration(db);
  const { pending } = compare(await readMigrations(directory), await selectApplied(db));
  if (pending.length > 0) await db.query(FIND_PGVECTOR);
  for (const { name, sql, sha256 } of pending) {
    await db.query(sql).catch((error: unknown) => refuseWhatLacks(error, name));
    await db.query(
      `insert into nightdesk_migrations.applied (name, sha256) values ($1, $2)
       on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()`,
      [name, sha256],
    );
  }
  if (pending.length > 0) await db.query(`select pg_notify('${SCHEMA_CHANNEL}', '')`);
  return pending.map(({ name }) => name);
}

/** Has migrations find types and functions of pgvector, or a place for it, whatever the role's own path leaves out. */
const FIND_PGVECTOR = `
  select set_config('search_path', concat_ws(', ', current_setting('search_path'), string_agg(quote_ident(nspname), ', ')), true)
    from pg_namespace n
   where nspname <> all (current_schemas(true))
     and (nspname = 'public' or n.oid in (select extnamespace from pg_extension where extname = 'vector'))`;

const encodingSchema = z.object({ encoding: z.string(), name: z.string() });

/** @throws Failure CONFIG_ERROR for a database that can't hold each character: what it can't would fail job by job */
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

const hasApplied = (db: Queryable): Promise<boolean> =>
  valueOf(db, z.boolean())`
     select to_regclass('nightdesk_migrations.applied') is not null as found`;

const INSUFFICIENT_PRIVILEGE = "42501";
const UNDEFINED_OBJECT = "42704";

/** The rights, or a pgvector that knows half precision. */
function refuseWhatLacks(error: unknown, name: string): never {
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

/** What is applied and what is not. */
export async function schemaStatus(db: Queryable, directory: string): Promise<SchemaStatus> {
  return compare(await readMigrations(directory), await selectApplied(db)).status;
}

/** What a database with something pending lacks, as a sentence. */
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

/** The same for who keeps the migrations that it began with: those of an installation may be replaced under it. */
export async function assertMigrated(
  db: Queryable,
  migrations: readonly Migration[],
): Promise<void> {
  const { status } = compare(migrations, await selectApplied(db));
  if (status.pending.length === 0) return;
  throw new Failure("SCHEMA_OUTDATED", `${formatPending(status)} Run: nightdesk migrate`);
}

async function selectApplied(db: Queryable): Promise<z.infer<typeof appliedSchema>[]> {
  if (!(await hasApplied(db))) return [];
  return rowsOf(db, appliedSchema)`
     select name, sha256 from nightdesk_migrations.applied order by name`;
}

function compare(
  known: readonly Migration[],
  applied: z.infer<typeof appliedSchema>[],
): { readonly pending: readonly Migration[]; readonly status: SchemaStatus } {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  const done = new Set<string>();
  for (const { name, sha256 } of applied) {
    const migration = byName.get(name);
    if (migration?.sha256 === sha256) done.add(name);
    else if (name !== FUNCTIONS.name) throw madeByAnotherBuild(name, migration);
  }
  const pending = known.filter(({ name }) => !done.has(name));
  return { pending, status: { applied: [...done], pending: pending.map(({ name }) => name) } };
}

/** Until the first release migrations are edited in place: nobody can tell an older build's from a newer one's. */
function madeByAnotherBuild(name: string, known: Migration | undefined): Failure {
  const difference = known === undefined ? "does not know" : "has with other content";
  return new Failure(
    "SCHEMA_OUTDATED",
    `The database was made by another build of nightdesk: it holds migration ${name}, which this one ${difference}. ` +
      "Use that build. To go on with this one: with that build, export what you want to keep (nightdesk batch export, " +
      "nightdesk memory export); begin with an empty database (on a server, name another one in database.url and run " +
      "nightdesk migrate; of the embedded one, move the folder pgdata away); then run: nightdesk index",
  );
}
