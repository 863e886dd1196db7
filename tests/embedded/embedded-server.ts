import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { ensureEmbedded, stopEmbedded } from "../../src/shared/store/embedded/embedded-process.ts";

export const launcher = path.join(import.meta.dirname, "launch-database.js");

/** A database process of its own on a directory of its own. */
export type EmbeddedServer = {
  readonly directory: string;
  /** Starts it again when it has ended. */
  address(): Promise<{ host: string; port: number }>;
  connect(): Promise<pg.Client>;
  pool(max: number): Promise<pg.Pool>;
  pid(): Promise<number>;
  dispose(): Promise<void>;
};

/** A directory with an empty, migrated database; copying one takes a tenth of making it. */
export async function embeddedDirectory(...below: string[]): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), "nightdesk-embedded-"));
  const directory = path.join(root, ...below);
  await mkdir(directory, { recursive: true });
  await cp(await template(), path.join(directory, "pgdata"), { recursive: true });
  return directory;
}

/** What launch-database.js is to do otherwise than the product. */
export type TestSettings = {
  readonly idleSeconds?: number;
  readonly idleInTransactionSeconds?: number;
  readonly migrationFails?: true;
};

export const set = (directory: string, settings: TestSettings): Promise<void> =>
  writeFile(path.join(directory, "test-settings.json"), JSON.stringify(settings));

export async function startServer(settings: TestSettings = {}): Promise<EmbeddedServer> {
  const directory = await embeddedDirectory();
  await set(directory, settings);
  return serverOn(directory);
}

export function serverOn(directory: string): EmbeddedServer {
  const clients: pg.Client[] = [];
  const pools: pg.Pool[] = [];
  const address = () => ensureEmbedded({ directory, create: "must-exist", bin: launcher });
  const settings = async () => ({ ...(await address()), user: "postgres", database: "postgres" });
  return {
    directory,
    address,
    connect: async () => {
      const client = new pg.Client(await settings());
      client.on("error", () => undefined);
      clients.push(client);
      await client.connect();
      return client;
    },
    pool: async (max) => {
      const pool = new pg.Pool({ ...(await settings()), max });
      pool.on("error", () => undefined);
      pools.push(pool);
      return pool;
    },
    pid: async () => Number(await readFile(path.join(directory, "pid"), "utf8")),
    dispose: async () => {
      await Promise.all([...clients, ...pools].map((it) => it.end().catch(() => undefined)));
      await stopEmbedded(directory, 1_000);
      // A process that came second may still be writing its log.
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

async function template(): Promise<string> {
  const packages = path.join(import.meta.dirname, "../../node_modules/@electric-sql/pglite");
  const { version } = JSON.parse(await readFile(`${packages}/package.json`, "utf8")) as {
    version: string;
  };
  const kept = path.join(tmpdir(), `nightdesk-embedded-template-${version}`);
  if (existsSync(kept)) return kept;
  const made = await mkdtemp(path.join(tmpdir(), "nightdesk-embedded-"));
  await ensureEmbedded({ directory: made, create: "create", bin: launcher });
  await stopEmbedded(made);
  // Another test file may have been faster.
  await rename(path.join(made, "pgdata"), kept).catch(() => undefined);
  await rm(made, { recursive: true });
  return kept;
}
