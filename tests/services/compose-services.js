import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/root.js";
import { runQuietly } from "./run-quietly.js";

const ports = { postgres: 5432, redis: 6379 };
const urls = {
  postgres: (port) => `postgres://postgres:nightdesk-test@127.0.0.1:${port}/postgres`,
  redis: (port) => `redis://:nightdesk-test@127.0.0.1:${port}`,
};

/**
 * Starts services of docker-compose.yml as a project of this run alone, on free loopback ports.
 * @param {string[]} names of `postgres` and `redis`
 * @returns {Promise<{ postgres: import("./find-services.js").Service | null,
 *   redis: import("./find-services.js").Service | null }>} null for each when there is no Docker engine
 */
export async function startComposeServices(names) {
  const none = { postgres: null, redis: null };
  if (names.length === 0 || !(await hasDocker())) return none;
  const secrets = writeTestSecrets();
  const compose = (args, timeout) =>
    runQuietly("docker", ["compose", ...projectArgs, ...args], {
      cwd: root,
      timeout,
      env: { ...process.env, NIGHTDESK_SECRETS: secrets },
    });
  const stop = async () => {
    await compose(["down", "--volumes", "--timeout", "5"], 60_000);
    rmSync(secrets, { recursive: true, force: true });
  };
  // The first run pulls the images.
  const up = await compose(
    ["up", "--detach", "--wait", "--wait-timeout", "120", ...names],
    300_000,
  );
  if (up.ok) return { ...none, ...(await collectServices(compose, names, stop)) };
  process.stderr.write(`docker compose did not bring up ${names.join(" and ")}:\n${up.stderr}\n`);
  await stop();
  return none;
}

const projectArgs = [
  ...["--project-name", `nightdesk-test-${process.pid}`],
  ...["--file", "docker-compose.yml", "--file", "tests/services/compose-ports.yml"],
];

async function hasDocker() {
  // An engine that hangs must not hang the tests.
  const engine = await runQuietly("docker", ["info"], { timeout: 5_000 });
  return engine.ok && (await runQuietly("docker", ["compose", "version"])).ok;
}

/** The compose file mounts its secrets from this folder. Readable by any user, as the containers' users differ. */
function writeTestSecrets() {
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-secrets-"));
  for (const name of ["postgres_password", "nightdesk_password", "redis_password"]) {
    writeFileSync(join(folder, name), "nightdesk-test", { mode: 0o644 });
  }
  for (const name of ["database_url", "redis_url"]) {
    writeFileSync(join(folder, name), "unused by the services of the tests", { mode: 0o644 });
  }
  return folder;
}

async function collectServices(compose, names, stop) {
  // Both stand in one project, which ends once.
  let stopped;
  const stopOnce = () => (stopped ??= stop());
  const services = {};
  for (const name of names) {
    const { stdout } = await compose(["port", name, String(ports[name])], 10_000);
    const port = Number(stdout.trim().split(":").at(-1));
    services[name] = { url: urls[name](port), from: "docker compose", stop: stopOnce };
  }
  return services;
}
