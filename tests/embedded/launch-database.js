// Stands for the nightdesk bin before anything is built: `launch-database.js database --directory DIR`, with
// `--restore FILE` for `nightdesk restore FILE`.
import { existsSync, readFileSync } from "node:fs";
import { register } from "node:module";
import { parseArgs } from "node:util";

register("../typescript-hooks.js", import.meta.url);
const { restoreDump } = await import("../../src/embedded/restore.ts");
const { runDatabase } = await import("../../src/embedded/run-database.ts");

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    directory: { type: "string" },
    restore: { type: "string" },
    force: { type: "boolean" },
  },
});

// The settings of one test: jest's environment variables do not reach the processes that it starts.
const settingsFile = `${values.directory}/test-settings.json`;
const settings = existsSync(settingsFile) ? JSON.parse(readFileSync(settingsFile, "utf8")) : {};

async function migrate(query) {
  if (settings.migrationFails) throw new Error("the test's migration fails");
  await query("create extension if not exists vector; create schema if not exists nightdesk");
}

function end(error) {
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exit(1);
}

if (values.restore === undefined) {
  process.exitCode = await runDatabase({
    directory: values.directory,
    idleSeconds: settings.idleSeconds ?? 30,
    idleInTransactionSeconds: settings.idleInTransactionSeconds ?? 30,
    log: (level, msg, fields) => {
      process.stderr.write(`${JSON.stringify({ ...fields, level, msg })}\n`);
    },
    migrate,
  });
} else {
  const { directory, restore: file, force } = values;
  const existing = force ? "replace" : "keep";
  await restoreDump({ directory, file, existing, migrate, onDeath: end }).then(
    () => process.exit(0),
    end,
  );
}
