import { Redis } from "ioredis";
import { Failure } from "../failure.ts";

const TIMEOUT_MS = 3_000;

/**
 * Asks a Redis whether it is there.
 * @param timeoutMs for the connection, and for each answer
 * @returns its eviction policy; null where the server does not tell
 * @throws Failure QUEUE_UNREACHABLE after that time, or at once when the connection is refused
 */
export async function probeQueue(
  url: string,
  timeoutMs = TIMEOUT_MS,
): Promise<{ readonly evictionPolicy: string | null }> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // The rejection of connect() says the same.
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    const reply = await redis.config("GET", "maxmemory-policy").catch(() => []);
    const [, policy] = Array.isArray(reply) ? reply.map(String) : [];
    return { evictionPolicy: policy ?? null };
  } catch (cause) {
    const { hostname, port } = new URL(url);
    throw new Failure(
      "QUEUE_UNREACHABLE",
      `Redis at ${hostname}:${port || "6379"} does not answer. Start it, or set queue.redis_url or REDIS_URL.`,
      { cause },
    );
  } finally {
    redis.disconnect();
  }
}
