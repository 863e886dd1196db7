import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findServices } from "../tests/services/find-services.js";
import { ensureBuilt } from "./build.js";
import { ensureInstalled } from "./install.js";
import { diffLines } from "./line-diff.js";
import { runScript } from "./phase.js";
import { root } from "./root.js";
import { runCommand } from "./run-command.js";
import { schemaQueries } from "./schema-queries.js";

const committed = join(root, "tests", "schema.sql");
const header =
  "-- What the migrations make of an empty database. Written by scripts/dump-schema.js; never edited by hand.";

await runScript(async () => {
  await ensureInstalled("build");
  ensureBuilt();
  const services = await findServices();
  try {
    const dump = await dumpMigrated(services.env.TEST_DATABASE_URL);
    return process.argv.includes("--check") ? compare(dump) : write(dump);
  } finally {
    await services.stop();
  }
});

async function dumpMigrated(serverUrl) {
  if (serverUrl === undefined) {
    throw new Error(
      "No Postgres with pgvector for the dump. Set TEST_DATABASE_URL to one that may create databases.",
    );
  }
  const { default: pg } = await import("pg");
  return withDatabase(pg, serverUrl, async (url) => {
    await migrate(url);
    return withClient(pg, url, readSchema);
  });
}

async function readSchema(client) {
  // Definitions name an object with its schema only when the search path lacks it.
  await client.query("set search_path to pg_catalog");
  const parts = [header];
  for (const query of schemaQueries) {
    const { rows } = await client.query(query, [["nightdesk", "nightdesk_data"]]);
    parts.push(...rows.map(({ line }) => line));
  }
  return `${parts.join("\n\n")}\n`;
}

async function migrate(url) {
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-schema-"));
  const config = join(folder, "nightdesk.yaml");
  // JSON is YAML.
  const values = {
    extends: join(root, "configs", "default.yaml"),
    database: { url },
    queue: { backend: "postgres" },
  };
  writeFileSync(config, JSON.stringify(values));
  try {
    const exitCode = await runCommand(
      process.execPath,
      [join(root, "bin", "nightdesk.js"), "migrate", "--config", config],
      { cwd: folder, env: { PATH: process.env.PATH }, stdio: ["ignore", 2, 2] },
    );
    if (exitCode !== 0)
      throw new Error(`nightdesk migrate ended with ${exitCode}: its own lines above say why.`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function withDatabase(pg, serverUrl, work) {
  const name = `nightdesk_schema_${randomBytes(6).toString("hex")}`;
  const url = new URL(serverUrl);
  url.pathname = name;
  await withClient(pg, serverUrl, (client) => client.query(`create database ${name}`));
  try {
    return await work(url.href);
  } finally {
    await withClient(pg, serverUrl, (client) => client.query(`drop database ${name} with (force)`));
  }
}

async function withClient(pg, connectionString, work) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function compare(dump) {
  const changes = diffLines(existsSync(committed) ? readFileSync(committed, "utf8") : "", dump);
  if (changes.length === 0) return 0;
  process.stdout.write(`${changes.join("\n")}\n`);
  process.stderr.write(
    "tests/schema.sql is not what the migrations make. Look at the lines above; if they are meant, run `node scripts/dump-schema.js` and commit it.\n",
  );
  return 1;
}

function write(dump) {
  writeFileSync(committed, dump);
  return 0;
}
