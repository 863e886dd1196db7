import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { emptyDatabaseFile } from "../../src/embedded/database-command.ts";
import { dataPath, openDirectory } from "../../src/embedded/open-database.ts";
import { migrate, readMigrations } from "../../src/shared/store/migrate.ts";

const packageRoot = resolve(import.meta.dirname, "..", "..");
const migrations = join(packageRoot, "migrations");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nightdesk-empty-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const onDeath = (reason: string): never => {
  throw new Error(reason);
};

test("a new directory takes the files that the build has packed, and no migration is left", async () => {
  const packed = await emptyDatabaseFile(packageRoot);
  expect(existsSync(packed)).toBe(true);
  const before = readFileSync(packed);
  const engine = await openDirectory(folder, onDeath, async () => packed);
  const known = (await readMigrations(migrations)).map(({ name }) => name).sort();
  const { rows } = await engine.query("select name from nightdesk_migrations.applied");
  expect(rows.map((row) => row["name"]).sort()).toEqual(known);
  const query = (sql: string, values?: readonly unknown[]) => engine.query(sql, values);
  await engine.query("begin");
  expect(await migrate({ query }, migrations)).toEqual([]);
  await engine.query("commit");
  const counts = await engine.query("select count(*)::int as jobs from nightdesk_data.jobs");
  expect(counts.rows).toEqual([{ jobs: 0 }]);
  await engine.close();
  expect(readFileSync(packed).equals(before)).toBe(true);
});

test("without that file the files are made", async () => {
  const packed = join(folder, "nowhere.tar.gz");
  const engine = await openDirectory(folder, onDeath, async () => packed);
  const found = await engine.query(
    "select to_regclass('nightdesk_migrations.applied')::text as it",
  );
  expect(found.rows).toEqual([{ it: null }]);
  await engine.close();
  expect(existsSync(join(dataPath(folder), "PG_VERSION"))).toBe(true);
});

test("the file of another schema has another name", async () => {
  for (const name of ["package.json", "migrations"])
    cpSync(join(packageRoot, name), join(folder, name), { recursive: true });
  const nameOf = async (root: string) => basename(await emptyDatabaseFile(root));
  const own = await nameOf(packageRoot);
  expect(await nameOf(folder)).toBe(own);
  appendFileSync(join(folder, "migrations", "0004_views.sql"), "\n-- edited\n");
  expect(await nameOf(folder)).not.toBe(own);
});
