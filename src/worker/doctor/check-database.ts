import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CommandContext } from "../../shared/command-context.ts";
import { connectUnchecked } from "../../shared/db/connect.ts";
import type { Database } from "../../shared/db/database.ts";
import { schemaStatus } from "../../shared/db/migrate.ts";
import { selectServerFacts } from "../../shared/db/read-health.ts";
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
    if (schema.level === "ok") return { checks: [reached, schema], database };
    await database.end();
    return { checks: [reached, schema], database: undefined };
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
