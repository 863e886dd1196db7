import { Redis } from "ioredis";
import { createPostgresBackend, createRedisBackend, withBackend } from "bullmq";
import { connectQueueDatabase } from "../../src/shared/store/connection/connect.ts";
import type { QueueStorage } from "../../src/shared/queue/storage.ts";
import type { Topology } from "./topologies.ts";

/** The queue of ticks as BullMQ sees it, to do to it what time and operators do. */
export type TickStorage = {
  readonly storage: QueueStorage;
  /** Lets every tick that waits for its time come now. @returns how many */
  hurry(): Promise<number>;
  /** What a flush does. */
  lose(): Promise<void>;
  close(): Promise<void>;
};

export function openTickStorage({ name, context }: Topology): TickStorage {
  const { config, invocation } = context;
  const database =
    name === "redis+postgres"
      ? undefined
      : connectQueueDatabase({
          config,
          packageRoot: invocation.packageRoot,
          create: "create",
          maxConnections: 8,
          onError: () => undefined,
        });
  const { redis_url: url, prefix } = config.queue;
  const queue =
    database === undefined
      ? new (withBackend(createRedisBackend).Queue)("nightdesk-ticks", {
          connection: { url },
          prefix,
        })
      : new (withBackend(createPostgresBackend).Queue)("nightdesk-ticks", {
          connection: database.pool as never,
        });
  return {
    storage:
      database === undefined
        ? { backend: "redis", url, prefix }
        : { backend: "postgres", database },
    async hurry() {
      const waiting = await queue.getDelayed();
      // One whose minute begins now has come by itself, and is refused.
      for (const job of waiting) await job.promote().catch(() => undefined);
      return waiting.length;
    },
    async lose() {
      if (database !== undefined) {
        await database.query(
          `with ticks as (delete from bullmq.job where queue = 'nightdesk-ticks')
           delete from bullmq.scheduler where queue = 'nightdesk-ticks'`,
        );
        return;
      }
      // Of this test alone: the server is shared.
      const redis = new Redis(url);
      await redis.del(...(await redis.keys(`${prefix}:nightdesk-ticks:*`)));
      await redis.quit();
    },
    async close() {
      await queue.close();
      await database?.end();
    },
  };
}
