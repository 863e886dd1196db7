import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { emptyDatabaseFile, migrateAll } from "./database-command.ts";
import { dataPath, openDirectory, writeDump } from "./open-database.ts";

/** Creates the file of `emptyDatabaseFile` for the build. */
export async function packEmptyDatabase(packageRoot: string): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "nightdesk-empty-"));
  try {
    const engine = await openDirectory(directory, (reason) => {
      throw new Error(reason);
    });
    await engine.query("set search_path to public");
    await migrateAll(
      (sql, values) => engine.query(sql, values),
      path.join(packageRoot, "migrations"),
    );
    await engine.close();
    const file = await emptyDatabaseFile(packageRoot);
    await writeDump(dataPath(directory), file, "replace");
    // It has no private data, and the user who installed it may differ from the one who runs it.
    await chmod(file, 0o644);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
