import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../conformance/signal.ts";
import { findFreePort, isListening } from "../services/free-port.js";

/** Whether PgBouncer is on this machine: Debian's, on the PATH. */
export function hasPooler(): boolean {
  try {
    execFileSync("pgbouncer", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export type Pooler = { readonly url: string; close(): Promise<void> };

/** A PgBouncer of its own before the server of a database. */
export async function startPooler(
  databaseUrl: string,
  mode: "transaction" | "session",
): Promise<Pooler> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-pooler-"));
  chmodSync(folder, 0o777);
  const own = await findFreePort();
  const login = password === "" ? "" : ` password=${decodeURIComponent(password)}`;
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
* = user=${username} host=${hostname} port=${port || "5432"}${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
auth_type = any
pool_mode = ${mode}
default_pool_size = ${mode === "transaction" ? 5 : 60}
max_client_conn = 200
unix_socket_dir =
`,
  );
  const asUser = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const pooler = spawn("pgbouncer", [...asUser, file], { stdio: "ignore" });
  await eventually("the pooler takes connections", () => isListening(own), 10_000);
  return {
    url: `postgres://${username}@127.0.0.1:${own}${pathname}`,
    async close() {
      const ended = once(pooler, "exit");
      pooler.kill("SIGKILL");
      await ended;
      await sleep(0);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
