import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../src/shared/store/connection/database.ts";
import { ensureEmbedded, stopEmbedded } from "../src/shared/store/embedded/embedded-process.ts";
import { migrate } from "../src/shared/store/migrate.ts";
import type { FreshDatabase } from "./fresh-database.ts";

/** Runs the database process from the sources. */
const LAUNCHER = join(import.meta.dirname, "..", "tests", "embedded", "launch-database.js");

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");

/** An embedded database of its own, on disk, in its process. */
export async function createEmbeddedDatabase(): Promise<Omit<FreshDatabase, "url">> {
  const directory = mkdtempSync(join(tmpdir(), "nightdesk-bench-embedded-"));
  const db = openDatabase({
    target: {
      kind: "embedded",
      ensure: () => ensureEmbedded({ directory, create: "create", bin: LAUNCHER }),
    },
    maxConnections: 4,
    statements: "query",
    onError: (error) => {
      console.error(error);
    },
  });
  // The launcher leaves the schema of the product to its caller, but for one that is in the way.
  await db.query("drop schema if exists nightdesk");
  await db.transaction((client) => migrate(client, MIGRATIONS));
  return {
    db,
    engine: "embedded",
    mark: directory,
    drop: async () => {
      await db.end();
      await stopEmbedded(directory);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
