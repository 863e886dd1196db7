import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { stopEmbedded } from "../src/shared/store/embedded/embedded-process.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { findPids, measure, type Measured } from "./process-usage.ts";

const BIN = resolve(
  process.env["NIGHTDESK_BIN"] ?? join(import.meta.dirname, "..", "bin", "nightdesk.js"),
);

export type IndexCommand = {
  /** Runs `nightdesk index` as a user does, process start included. */
  readonly index: (...options: readonly string[]) => Promise<Measured<string>>;
  readonly close: () => Promise<void>;
};

/** `nightdesk index` on a server, with a worker that is up, for the folder `corpus` of a work root. */
export async function onServer(workroot: string): Promise<IndexCommand> {
  const fresh = await createFreshDatabase();
  const name = `${fresh.mark}_cli`;
  await fresh.db.query(`create database ${name}`);
  const url = Object.assign(new URL(fresh.url), { pathname: `/${name}` }).href;
  writeConfig(workroot, "default", { database: { url }, queue: { backend: "postgres" } });
  await run(workroot, ["migrate"]);
  const worker = start(workroot, ["worker"]);
  // It takes work as soon as it can.
  await run(workroot, ["index", "--no-embed", "--source", "empty"]);
  return {
    index: indexer(workroot, [workroot, name]),
    close: async () => {
      worker.kill("SIGTERM");
      await once(worker, "close");
      await fresh.db.query(`drop database ${name} with (force)`);
      await fresh.drop();
    },
  };
}

/** `nightdesk index` with nothing there yet: it makes the database and starts the worker. */
export async function onEmbedded(workroot: string): Promise<IndexCommand> {
  writeConfig(workroot, "embedded", {});
  const directory = join(workroot, ".nightdesk");
  return Promise.resolve({
    index: indexer(workroot, [workroot]),
    close: async () => {
      // A worker that goes on for a moment would start the database again.
      for (const pid of findPids("worker", [workroot])) process.kill(pid, "SIGTERM");
      while (findPids("worker", [workroot]).length > 0) await sleep(50);
      await stopEmbedded(directory);
      rmSync(directory, { recursive: true, force: true });
    },
  });
}

const configOf = (workroot: string): string => join(workroot, "nightdesk.yaml");

function writeConfig(workroot: string, base: string, settings: Readonly<Record<string, unknown>>) {
  const config = {
    extends: `nightdesk:${base}`,
    workroot: ".",
    security: { allowed_roots: ["corpus/", "empty/"], auto_create_allowed_roots: true },
    index: {
      sources: [
        { name: "corpus", root: "corpus/" },
        { name: "empty", root: "empty/" },
      ],
    },
    model: { provider: "extractive" },
    log: { level: "silent" },
    ...settings,
  };
  writeFileSync(configOf(workroot), stringify(config));
}

const indexer =
  (workroot: string, marks: readonly string[]): IndexCommand["index"] =>
  (...options) =>
    measure(marks, () => run(workroot, ["index", "--source", "corpus", ...options]));

const start = (workroot: string, words: readonly string[]): ChildProcess =>
  spawn(process.execPath, [BIN, ...words, "--config", configOf(workroot)], {
    cwd: workroot,
    stdio: ["ignore", "pipe", "pipe"],
  });

async function run(workroot: string, words: readonly string[]): Promise<string> {
  const child = start(workroot, words);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const [status] = (await once(child, "close")) as [number | null];
  if (status === 0) return output.trim();
  throw new Error(`nightdesk ${words.join(" ")} ended with ${status}: ${output}`);
}
