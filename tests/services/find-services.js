import { findCachedLlamaServer } from "./cached-llama-server.js";
import { startCachedPostgres } from "./cached-postgres.js";
import { startComposeServices } from "./compose-services.js";
import { startLocalPostgres } from "./local-postgres.js";
import { startLocalRedis } from "./local-redis.js";

/**
 * @typedef {{ url: string, from: string, stop: () => Promise<void> }} Service a running service; `from` says where it
 *   came from, `stop` ends what was started for this run, and leaves alone what was there before
 */

/**
 * Finds the real services for tests: what the environment names, else Docker, else programs of this machine, which are
 * started for this run alone.
 * @returns {Promise<{ env: { TEST_DATABASE_URL?: string, TEST_REDIS_URL?: string, TEST_LLAMA_SERVER?: string },
 *   notes: { postgres: string, redis: string, "llama-server": string }, stop: () => Promise<void> }>} `env` lacks a
 *   service that was not found; `notes` say where each came from, or that it was not found
 */
export async function findServices() {
  if (process.env.TEST_SERVICES === "none") return none();
  const named = {
    postgres: fromEnvironment("TEST_DATABASE_URL"),
    redis: fromEnvironment("TEST_REDIS_URL"),
  };
  const lacking = Object.keys(named).filter((name) => named[name] === null);
  const composed = await startComposeServices(lacking);
  const redis = named.redis ?? composed.redis ?? (await startLocalRedis());
  const postgres =
    named.postgres ??
    composed.postgres ??
    (await startCachedPostgres()) ??
    (await startLocalPostgres());
  const llamaServer = fromEnvironment("TEST_LLAMA_SERVER") ?? (await findCachedLlamaServer());
  return describe(postgres, redis, llamaServer);
}

const NONE = "TEST_SERVICES=none";
const none = () => ({
  // Not even those of the environment.
  env: { TEST_DATABASE_URL: undefined, TEST_REDIS_URL: undefined, TEST_LLAMA_SERVER: undefined },
  notes: { postgres: NONE, redis: NONE, "llama-server": NONE },
  stop: async () => {},
});

function fromEnvironment(key) {
  const url = process.env[key];
  return url === undefined || url === "" ? null : { url, from: key, stop: async () => {} };
}

function describe(postgres, redis, llamaServer) {
  return {
    env: {
      ...(postgres !== null && { TEST_DATABASE_URL: postgres.url }),
      ...(redis !== null && { TEST_REDIS_URL: redis.url }),
      ...(llamaServer !== null && { TEST_LLAMA_SERVER: llamaServer.url }),
    },
    notes: {
      postgres: postgres?.from ?? "not found",
      redis: redis?.from ?? "not found",
      "llama-server": llamaServer?.from ?? "not found",
    },
    stop: async () => {
      await Promise.all([postgres?.stop(), redis?.stop()]);
    },
  };
}
