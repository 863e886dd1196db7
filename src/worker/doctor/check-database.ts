import { existsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { CommandContext } from "../../shared/command-context.ts";
import { connectUnchecked } from "../../shared/store/connection/connect.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { schemaStatus } from "../../shared/store/migrate.ts";
import { selectServerFacts } from "../../shared/store/connection/health.ts";
import { fail, ok, wordsOf } from "./check.ts";
import type { Check } from "./check.ts";

export type DatabaseChecks = {
  readonly checks: readonly Check[];
  /** Open and with this version's schema; undefined when it is not, and the caller closes it. */
  readonly database: Database | undefined;
};

/** Connects, without creating an embedded database, and compares the schema's version. */
export async function checkDatabase({
  config,
  invocation,
}: CommandContext): Promise<DatabaseChecks> {
  const isEmbedded = config.database.url === "embedded";
  if (isEmbedded && !existsSync(join(config.roots.databaseDirectory, "pgdata"))) {
    return without(
      fail(
        "DOCTOR_INDEX_DB_MISSING",
        `There is no database yet in ${config.roots.databaseDirectory}.`,
        "Run: nightdesk index",
      ),
    );
  }
  const database = connectUnchecked({
    config,
    packageRoot: invocation.packageRoot,
    create: "must-exist",
    onError: () => undefined,
  });
  try {
    const facts = await selectServerFacts(database);
    const reached = ok("DOCTOR_DATABASE_OK", describeServer(facts, isEmbedded));
    const schema = await checkSchema(database, join(invocation.packageRoot, "migrations"));
    const size = isEmbedded ? [await measureDirectory(config.roots.databaseDirectory)] : [];
    const checks = [reached, ...size, schema];
    if (schema.level === "ok") return { checks, database };
    await database.end();
    return { checks, database: undefined };
  } catch (error) {
    await database.end();
    return without(
      fail(
        "DOCTOR_DATABASE_UNREACHABLE",
        wordsOf(error),
        "Start the server, or change database.url or DATABASE_URL.",
      ),
    );
  }
}

const without = (check: Check): DatabaseChecks => ({ checks: [check], database: undefined });

const describeServer = (
  { version, vector }: { version: string; vector: string | null },
  isEmbedded: boolean,
): string =>
  `PostgreSQL ${version}, pgvector ${vector ?? "not installed"}` +
  (isEmbedded
    ? ", embedded: it never calls fsync, so that a power cut may cost what was written since the last dump."
    : ".");

/** What each kind of entry of the database's directory is called in the report; the first that fits counts. */
const PARTS = [
  { name: "the database", pattern: /^pgdata$/ },
  { name: "the last dumps (backups)", pattern: /^backups$/ },
  { name: "replaced databases (pgdata.*), which you may delete", pattern: /^pgdata\./ },
  { name: "logs", pattern: /\.log/ },
  { name: "the rest", pattern: /./ },
];

/** What the embedded database takes on disk, and what for. */
async function measureDirectory(directory: string): Promise<Check> {
  const sizes = new Map<string, number>();
  for (const entry of await readdir(directory)) {
    const name = PARTS.find(({ pattern }) => pattern.test(entry))?.name ?? entry;
    sizes.set(name, (sizes.get(name) ?? 0) + (await bytesBelow(join(directory, entry))));
  }
  const parts = PARTS.flatMap(({ name }) => {
    const megabytes = inMegabytes(sizes.get(name) ?? 0);
    return megabytes === "0.0" ? [] : [`${megabytes} MB ${name}`];
  });
  const total = inMegabytes([...sizes.values()].reduce((sum, bytes) => sum + bytes, 0));
  return ok("DOCTOR_DATABASE_SIZE_OK", `${directory} takes ${total} MB: ${parts.join(", ")}.`);
}

const inMegabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);

/** Of all files below a path, links not followed; what goes away meanwhile counts nothing. */
async function bytesBelow(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.size;
  const names = await readdir(path).catch(() => []);
  const sizes = await Promise.all(names.map((name) => bytesBelow(join(path, name))));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function checkSchema(database: Database, directory: string): Promise<Check> {
  try {
    const { applied, pending } = await schemaStatus(database, directory);
    return pending.length === 0
      ? ok("DOCTOR_INDEX_SCHEMA_OK", `The schema is this version's (${applied.at(-1) ?? "empty"}).`)
      : fail(
          "DOCTOR_INDEX_SCHEMA_VERSION",
          `The database lacks ${pending.join(", ")}.`,
          "Run: nightdesk migrate",
        );
  } catch (error) {
    return fail("DOCTOR_INDEX_SCHEMA_VERSION", wordsOf(error), "Use the version that migrated it.");
  }
}
