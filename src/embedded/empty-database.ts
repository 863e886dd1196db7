import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { readMigrations } from "../shared/store/migrate.ts";

const packageSchema = z.object({ dependencies: z.record(z.string(), z.string()) });

/**
 * Where the build keeps the packed files of an empty database of this version: initdb and all migrations take seconds. The
 * name tells what the files depend on, so that those of another version are never taken.
 */
export async function emptyDatabaseFile(packageRoot: string): Promise<string> {
  const hash = createHash("sha256");
  const text = await readFile(path.join(packageRoot, "package.json"), "utf8");
  const { dependencies } = packageSchema.parse(JSON.parse(text));
  for (const name of ["@electric-sql/pglite", "@electric-sql/pglite-pgvector", "bullmq"])
    hash.update(`${name} ${dependencies[name]}\n`);
  for (const { name, sha256 } of await readMigrations(path.join(packageRoot, "migrations")))
    hash.update(`${name} ${sha256}\n`);
  return path.join(packageRoot, "dist", `empty-database-${hash.digest("hex").slice(0, 16)}.tar.gz`);
}
