import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stringify } from "yaml";
import type { CommandContext } from "../../src/shared/commands/command-context.ts";
import { COMMANDS } from "../../src/shared/commands/table.ts";
import { loadConfig } from "../../src/shared/config/load-config.ts";
import { connectDatabase } from "../../src/shared/store/connection/connect.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { stopEmbedded } from "../../src/shared/store/embedded/embedded-process.ts";
import { createLogger } from "../../src/shared/logger.ts";
import { isRecord } from "../../src/shared/schema/json-value.ts";
import { openTerminal } from "../../src/shared/terminal/terminal.ts";
import { createMigratedDatabase, queryServer, seedEmbedded } from "../support/templates.ts";

export type TopologyName = "embedded" | "postgres" | "redis+postgres";

export type Topology = {
  readonly name: TopologyName;
  readonly workroot: string;
  readonly configFile: string;
  readonly context: CommandContext;
  /** Opens one more pool, as another process would. */
  connect(): Promise<Database>;
  /** Cuts every connection to the database: kill -9 of the embedded process, or the server's own cut. */
  breakConnections(): Promise<void>;
  dispose(): Promise<void>;
};

const packageRoot = resolve(import.meta.dirname, "..", "..");
const databaseUrl = process.env["TEST_DATABASE_URL"];
const redisUrl = process.env["TEST_REDIS_URL"];

/** The topologies that this machine has the services for; embedded needs none. */
export const topologies: readonly TopologyName[] = [
  "embedded",
  ...(databaseUrl === undefined ? [] : (["postgres"] as const)),
  ...(databaseUrl === undefined || redisUrl === undefined ? [] : (["redis+postgres"] as const)),
];

/** One topology a database, for what no queue is part of. The quick tests take the server where there is one. */
export const databases: readonly TopologyName[] = topologies.filter(
  (name) =>
    name === "postgres" ||
    (name === "embedded" &&
      (process.env["NIGHTDESK_TESTS"] !== "quick" || databaseUrl === undefined)),
);

/** A work root, a migrated database and a queue of this test file's own. */
export async function startTopology(
  name: TopologyName,
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<Topology> {
  const { verify } = overrides;
  const workroot = await mkdtemp(join(tmpdir(), "nightdesk-"));
  await mkdir(join(workroot, "allowed", "corpus"), { recursive: true });
  const services = await createServices(name);
  const configFile = join(workroot, "nightdesk.yaml");
  const base = name === "embedded" ? "embedded" : "default";
  await writeFile(
    configFile,
    stringify({
      extends: join(packageRoot, "configs", `${base}.yaml`),
      model: { provider: "extractive" },
      security: { auto_create_allowed_roots: true },
      log: { level: "silent" },
      ...services.config,
      ...overrides,
      // The exam of a judge would be a job more of each batch with a language model: tests of judges say who judges.
      verify: { judge: { model: "off" }, ...(isRecord(verify) ? verify : {}) },
    }),
  );
  const config = await loadConfig({
    flags: { config: configFile, workroot },
    env: {},
    cwd: workroot,
    packageRoot,
  });
  const [command] = COMMANDS;
  if (command === undefined) throw new Error("no commands");
  const context: CommandContext = {
    config,
    invocation: {
      command,
      args: [],
      options: {},
      env: {},
      cwd: workroot,
      screen: process,
      packageRoot,
      version: "0.0.0-test",
    },
    logger: createLogger("silent", "json"),
    terminal: openTerminal({
      screen: process,
      color: "never",
      data: "clean",
      isJson: false,
      zone: () => null,
    }),
  };
  const options = { config, packageRoot, create: "create", onError: () => undefined } as const;
  if (name === "embedded") await seedEmbedded(config.roots.databaseDirectory);
  return {
    name,
    workroot,
    configFile,
    context,
    connect: () => connectDatabase(options),
    async breakConnections() {
      if (name === "embedded") {
        process.kill(
          Number(await readFile(join(config.roots.databaseDirectory, "pid"), "utf8")),
          "SIGKILL",
        );
      } else {
        await onServer(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${new URL(config.database.url).pathname.slice(1)}'`,
        );
      }
    },
    async dispose() {
      if (name === "embedded") await stopEmbedded(config.roots.databaseDirectory);
      await services.dispose();
      await rm(workroot, { recursive: true, force: true });
    },
  };
}

type Services = {
  readonly config: Readonly<Record<string, unknown>>;
  readonly dispose: () => Promise<void>;
};

async function createServices(name: TopologyName): Promise<Services> {
  if (name === "embedded" || databaseUrl === undefined) {
    return { config: {}, dispose: async () => undefined };
  }
  const database = `nightdesk_test_${randomBytes(6).toString("hex")}`;
  await createMigratedDatabase(databaseUrl, database);
  const url = Object.assign(new URL(databaseUrl), { pathname: `/${database}` }).href;
  const queue =
    name === "postgres"
      ? { backend: "postgres" }
      : { backend: "redis", redis_url: redisUrl, prefix: database.replaceAll("_", "-") };
  return {
    config: { database: { url }, queue },
    dispose: () => onServer(`drop database if exists ${database} with (force)`),
  };
}

const onServer = (statement: string): Promise<void> => queryServer(databaseUrl ?? "", statement);
