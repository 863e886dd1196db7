import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "./free-port.js";
import { runQuietly } from "./run-quietly.js";
import { waitUntil } from "./wait-until.js";

/** Starts a private redis-server of the PATH. @returns {Promise<import("./find-services.js").Service | null>} */
export async function startLocalRedis() {
  if (!(await runQuietly("redis-server", ["--version"])).ok) return null;
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-redis-"));
  const port = await findFreePort();
  const child = spawn("redis-server", settings(port, folder), { stdio: "ignore", detached: true });
  const stop = () => stopRedis(child, folder);
  if (await waitUntil(() => answersPing(port), 10_000)) {
    return { url: `redis://127.0.0.1:${port}`, from: "redis-server", stop };
  }
  await stop();
  return null;
}

// Its own group (`detached`), so that Ctrl-C ends the tests first; should this script be killed outright, the
// server stays, and holds nothing but an empty folder in the temporary folder.
const settings = (port, folder) => [
  ...["--bind", "127.0.0.1", "--port", String(port), "--dir", folder],
  ...["--appendonly", "no", "--save", "", "--maxmemory-policy", "noeviction"],
];

async function stopRedis(child, folder) {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Whether a Redis on this loopback port answers. @returns {Promise<boolean>} */
function answersPing(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.once("data", (reply) => resolve(reply.toString().startsWith("+PONG")));
    socket.once("error", () => resolve(false));
    socket.once("data", () => socket.destroy());
    socket.setTimeout(1_000, () => socket.destroy());
    socket.once("close", () => resolve(false));
  });
}
