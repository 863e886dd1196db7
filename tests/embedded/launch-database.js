// Stands for the nightdesk bin before anything is built: `launch-database.js database --directory DIR`.
import { existsSync, readFileSync } from "node:fs";
import { register } from "node:module";
import { parseArgs } from "node:util";

register("../typescript-hooks.js", import.meta.url);
const { runDatabase } = await import("../../src/embedded/run-database.ts");

const { values } = parseArgs({
  allowPositionals: true,
  options: { directory: { type: "string" }, restore: { type: "string" } },
});

// The settings of one test: jest's environment variables do not reach the processes that it starts.
const settingsFile = `${values.directory}/test-settings.json`;
const settings = existsSync(settingsFile) ? JSON.parse(readFileSync(settingsFile, "utf8")) : {};

process.exitCode = await runDatabase({
  directory: values.directory,
  idleSeconds: settings.idleSeconds ?? 30,
  idleInTransactionSeconds: settings.idleInTransactionSeconds ?? 30,
  log: (level, msg, fields) => {
    process.stderr.write(`${JSON.stringify({ ...fields, level, msg })}\n`);
  },
  migrate: async (query) => {
    if (settings.migrationFails) throw new Error("the test's migration fails");
    await query("create extension if not exists vector; create schema if not exists nightdesk");
  },
  ...(values.restore === undefined ? {} : { restoreFrom: values.restore }),
});
