import { chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "./free-port.js";
import { runQuietly } from "./run-quietly.js";

/**
 * Starts a private Postgres from the initdb and pg_ctl of the PATH, if its installation has pgvector.
 * @returns {Promise<import("./find-services.js").Service | null>}
 */
export async function startLocalPostgres() {
  const user = await findUnprivilegedUser();
  if (user === null || !(await hasPgvector(user))) return null;
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-postgres-"));
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const port = await findFreePort();
  const stop = async () => {
    await runQuietly("pg_ctl", ["stop", "-D", data, "-m", "immediate"], { ...user, cwd: folder });
    rmSync(folder, { recursive: true, force: true });
  };
  if (await startCluster(data, port, { ...user, cwd: folder, timeout: 60_000 })) {
    return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, from: "initdb", stop };
  }
  await stop();
  return null;
}

/** pg_config may belong to another version than the server, so initdb itself says where its files are. */
async function hasPgvector(user) {
  const options = { ...user, cwd: tmpdir() };
  const { stderr } = await runQuietly("initdb", ["--show", "-D", "unused"], options);
  const share = /^share_path=(.*)$/m.exec(stderr)?.[1];
  return share !== undefined && existsSync(join(share, "extension", "vector.control"));
}

/** Postgres refuses to run as root: root borrows the account `nobody`. */
async function findUnprivilegedUser() {
  if (process.getuid?.() !== 0) return {};
  const { ok, stdout } = await runQuietly("id", ["-u", "nobody"]);
  const group = await runQuietly("id", ["-g", "nobody"]);
  return ok && group.ok ? { uid: Number(stdout), gid: Number(group.stdout) } : null;
}

async function startCluster(data, port, options) {
  const created = await runQuietly(
    "initdb",
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"],
    options,
  );
  if (!created.ok) return false;
  // Nothing that tests write has to survive a power cut.
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=300 -c fsync=off`;
  const log = join(data, "server.log");
  return (
    await runQuietly("pg_ctl", ["start", "-w", "-D", data, "-l", log, "-o", settings], options)
  ).ok;
}
