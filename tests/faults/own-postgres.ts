import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { eventually } from "../conformance/signal.ts";
import { findFreePort } from "../services/free-port.js";

/** A Postgres server that a test may kill. */
export type OwnPostgres = {
  readonly url: string;
  start(): Promise<void>;
  /** SIGKILL to the postmaster, then to every process that it had started; resolves when all are gone. */
  kill(): Promise<void>;
  dispose(): Promise<void>;
};

type Place = {
  /** The words before those of a program of PostgreSQL. */
  readonly prefix: readonly string[];
  readonly bin: string;
  /** The folder for temporary files, as this process and as the server names it. */
  readonly temporary: { readonly here: string; readonly there: string };
};

const CACHE = join(process.env["NIGHTDESK_CI_CACHE"] ?? "/var/cache/nightdesk-ci", "trixie");

/** Where the programs of a PostgreSQL with pgvector are: in the root that .ci/postgres builds, or on the PATH for who is not root. */
export function findPostgres(): Place | undefined {
  const bin = "/usr/lib/postgresql/17/bin/";
  if (process.getuid?.() === 0 && existsSync(join(CACHE, bin, "initdb"))) {
    const prefix = ["chroot", "--userspec=postgres:postgres", CACHE];
    return { prefix, bin, temporary: { here: join(CACHE, "tmp"), there: "/tmp" } };
  }
  if (process.getuid?.() === 0) return undefined;
  try {
    const share = execFileSync("pg_config", ["--sharedir"], { encoding: "utf8" }).trim();
    const found = execFileSync("pg_config", ["--bindir"], { encoding: "utf8" }).trim();
    if (!existsSync(join(share, "extension", "vector.control"))) return undefined;
    const folder = tmpdir();
    return { prefix: [], bin: `${found}/`, temporary: { here: folder, there: folder } };
  } catch {
    return undefined;
  }
}

/** @param primary the URL of a server that is to be followed: the new one is its replica */
export async function makePostgres(
  { prefix, bin, temporary }: Place,
  primary?: string,
): Promise<OwnPostgres> {
  const run = (...words: string[]) => {
    const [command = "", ...args] = [...prefix, ...words];
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  };
  const folder = run("mktemp", "-d", `${temporary.there}/nightdesk-postgres-XXXXXX`).trim();
  const data = `${folder}/data`;
  if (primary === undefined) {
    run(`${bin}initdb`, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C");
  } else run(`${bin}pg_basebackup`, "-D", data, "-d", primary, "-R", "-c", "fast");
  const port = await findFreePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  async function kill(): Promise<void> {
    if (server?.pid === undefined) return;
    const children = childrenOf(server.pid);
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    for (const pid of children) killIfThere(pid);
    await ended;
    server = undefined;
    await eventually("its processes are gone", async () => !children.some(isThere));
  }

  return {
    url,
    kill,
    async start() {
      // A child of this process: one that is nobody's stays until somebody reaps it, and the next server takes it for alive.
      const settings = [
        ...["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=100"],
        // The root of .ci/postgres has no /dev/shm.
        "dynamic_shared_memory_type=mmap",
      ].flatMap((setting) => ["-c", setting]);
      const words = [...prefix, `${bin}postgres`, "-D", data, "-p", String(port), ...settings];
      const [command = "", ...args] = words;
      server = spawn(command, args, { stdio: "ignore" });
      await eventually("the server answers", () => answers(url), 30_000);
    },
    async dispose() {
      await kill();
      const name = folder.slice(temporary.there.length + 1);
      rmSync(join(temporary.here, name), { recursive: true, force: true });
    },
  };
}

/** The processes that a process has started and that are alive, of /proc. */
const childrenOf = (parent: number): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statusOf(pid)?.parent === parent);

const isThere = (pid: number): boolean => {
  const status = statusOf(pid);
  return status !== undefined && status.state !== "Z";
};

function statusOf(pid: number): { parent: number; state: string } | undefined {
  try {
    // The name in parentheses may hold blanks.
    const [state = "", parent] =
      readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended with its postmaster.
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
