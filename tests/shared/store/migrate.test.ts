import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { openDatabase } from "../../../src/shared/store/connection/database.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { assertSchemaCurrent, migrate, schemaStatus } from "../../../src/shared/store/migrate.ts";

const migrations = resolve(import.meta.dirname, "..", "..", "..", "migrations");
const serverUrl = process.env["TEST_DATABASE_URL"];

const open = (url: string): Database =>
  openDatabase({
    target: { kind: "url", url },
    maxConnections: 4,
    statements: "query",
    onError: () => undefined,
  });

(serverUrl === undefined ? describe.skip : describe)("migrate, on postgres", () => {
  let server: Database;
  let folder: string;
  const closers: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = open(serverUrl ?? "");
    folder = await mkdtemp(join(tmpdir(), "nightdesk-migrations-"));
    await cp(migrations, folder, { recursive: true });
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  afterAll(async () => {
    await server.end();
    await rm(folder, { recursive: true });
  });

  async function createDatabase(user?: { name: string }): Promise<Database> {
    const name = `nightdesk_migrate_${randomBytes(6).toString("hex")}`;
    await server.query(`create database ${name}${user === undefined ? "" : ` owner ${user.name}`}`);
    closers.push(() => server.query(`drop database ${name} with (force)`));
    const url = Object.assign(new URL(serverUrl ?? ""), {
      pathname: `/${name}`,
      ...(user === undefined ? {} : { username: user.name }),
    });
    const database = open(url.href);
    closers.push(() => database.end());
    return database;
  }
  const apply = (database: Database, from = migrations) =>
    database.transaction((db) => migrate(db, from));

  test("applies each migration once, also when two start together", async () => {
    const database = await createDatabase();
    const applied = await Promise.all([apply(database), apply(database)]);
    const numbered = (await readdir(migrations)).filter((name) => name !== "functions.sql");
    expect(applied.flat()).toEqual([...numbered.sort(), "pacing functions"]);
    expect((await schemaStatus(database, migrations)).pending).toEqual([]);
  });

  test("an empty database is outdated, and the message says what to run", async () => {
    const database = await createDatabase();
    await expect(assertSchemaCurrent(database, migrations)).rejects.toMatchObject({
      code: "SCHEMA_OUTDATED",
      message: expect.stringContaining("Run: nightdesk migrate"),
    });
  });

  test("replaces functions of another build in place; until then the database is outdated", async () => {
    const database = await createDatabase();
    await apply(database);
    const source = "select prosrc from pg_proc where proname = 'commit_later'";
    const { rows: own } = await database.query(source);
    await database.query(
      "create or replace function nightdesk_data.commit_later() returns void language plpgsql as 'begin end'",
    );
    await database.query(
      "update nightdesk_migrations.applied set sha256 = repeat('0', 64) where name = 'pacing functions'",
    );
    await expect(assertSchemaCurrent(database, migrations)).rejects.toMatchObject({
      code: "SCHEMA_OUTDATED",
      message: expect.stringMatching(
        /pacing functions .* another build's.* Run: nightdesk migrate/,
      ),
    });
    const { pending } = await schemaStatus(database, migrations);
    expect(pending).toEqual(["pacing functions"]);
    expect(await apply(database)).toEqual(["pacing functions"]);
    expect((await database.query(source)).rows).toEqual(own);
    await assertSchemaCurrent(database, migrations);
    expect(await apply(database)).toEqual([]);
  });

  test("refuses a database that a newer version has migrated", async () => {
    const database = await createDatabase();
    await writeFile(join(folder, "9999_later.sql"), "create table nightdesk_data.later (id int);");
    await apply(database, folder);
    await expect(assertSchemaCurrent(database, migrations)).rejects.toMatchObject({
      code: "SCHEMA_OUTDATED",
      message: expect.stringContaining("9999_later.sql"),
    });
  });

  test("refuses a migration whose text was changed, and says how to go on", async () => {
    const database = await createDatabase();
    await apply(database);
    await writeFile(join(folder, "0004_views.sql"), "select 1;");
    await expect(assertSchemaCurrent(database, folder)).rejects.toMatchObject({
      code: "SCHEMA_OUTDATED",
      message: expect.stringMatching(
        /made by another build .*0004_views\.sql.*nightdesk batch export.* run: nightdesk index$/,
      ),
    });
  });

  test("a migration that fails leaves nothing behind", async () => {
    const database = await createDatabase();
    await writeFile(
      join(folder, "0005_broken.sql"),
      "create table nightdesk_data.x (id nonsense);",
    );
    await expect(apply(database, folder)).rejects.toThrow();
    expect((await schemaStatus(database, migrations)).applied).toEqual([]);
  });

  test("a pgvector without half precision is told of, with what to do", async () => {
    const database = await createDatabase();
    await database.query("create extension vector");
    await database.query("alter type halfvec rename to unknown_before");
    await expect(apply(database)).rejects.toMatchObject({
      code: "SQL_ERROR",
      message: expect.stringContaining("pgvector 0.7 or newer"),
    });
  });

  test("a role without the rights is told what an administrator has to run", async () => {
    const name = `nightdesk_poor_${randomBytes(6).toString("hex")}`;
    await server.query(`create role ${name} login`);
    closers.push(() => server.query(`drop role ${name}`));
    const database = await createDatabase({ name });
    await expect(apply(database)).rejects.toMatchObject({
      code: "SQL_ERROR",
      message: expect.stringContaining("create extension if not exists vector"),
    });
  });
});
