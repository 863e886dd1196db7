import { createRequire } from "node:module";
import type * as BullMq from "bullmq";
import { Failure } from "../failure.ts";
import type { Queryable } from "./connection/database.ts";

/** Only the part of BullMQ that creates tables, 21 files of 246: the process of the embedded database needs no other. */
const {
  assertSchemaCompatibility,
  LATEST_SCHEMA_VERSION,
  runMigrations,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
} = createRequire(import.meta.url)("bullmq/dist/cjs/postgres/index.js") as typeof BullMq;

type QueueSession = Parameters<typeof runMigrations>[0];

const SCHEMA = "bullmq";

/** Name of the queue's tables of this version in `nightdesk migrate`. */
export const QUEUE_SCHEMA_NAME = `queue tables (schema ${SCHEMA}, version ${LATEST_SCHEMA_VERSION})`;

/** Creates or updates BullMQ's tables in schema `bullmq`. @param session one connection, not a pool */
export async function migrateQueue(session: QueueSession): Promise<void> {
  await runMigrations(session, SCHEMA);
}

/**
 * Whether the queue's tables exist in this version, or in a newer one that supports this version.
 * @throws Failure SCHEMA_OUTDATED when only a newer version of nightdesk can use them
 */
export async function queueSchemaStatus(db: Queryable): Promise<"current" | "pending"> {
  try {
    // The cast is safe: the check runs only one statement by `query`, which a Queryable has.
    const version = await assertSchemaCompatibility(db as unknown as QueueSession, SCHEMA);
    return version < LATEST_SCHEMA_VERSION ? "pending" : "current";
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return "pending";
    if (!(error instanceof SchemaVersionMismatchError)) throw error;
    throw new Failure(
      "SCHEMA_OUTDATED",
      `The queue's tables were made by a newer version of nightdesk (${error.message}). Use the newer version.`,
      { cause: error },
    );
  }
}

/** @throws Failure SCHEMA_OUTDATED unless this version can use the queue's tables as they are */
export async function assertQueueSchema(db: Queryable): Promise<void> {
  if ((await queueSchemaStatus(db)) === "current") return;
  throw new Failure(
    "SCHEMA_OUTDATED",
    `The database lacks the ${QUEUE_SCHEMA_NAME}, which queue.backend: postgres needs. Run: nightdesk migrate`,
  );
}
