import { runMigrations } from "bullmq";

type QueueSession = Parameters<typeof runMigrations>[0];

/** Creates or updates BullMQ's tables in schema `bullmq`. @param session one connection, not a pool */
export async function migrateQueue(session: QueueSession): Promise<void> {
  await runMigrations(session, "bullmq");
}
