import { createRequire } from "node:module";
import type * as BullMq from "bullmq";
import { Failure } from "../failure.ts";
import type { Queryable } from "./connection/database.ts";

/** The part of BullMQ that makes tables, 21 files of 246: the process of the embedded database uses no other. */
const {
  assertSchemaCompatibility,
  LATEST_SCHEMA_VERSION,
  runMigrations,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
} = createRequire(import.meta.url)("bullmq/dist/cjs/postgres/index.js") as typeof BullMq;

type QueueSession = Parameters<typeof runMigrations>[0];

const SCHEMA = "bullmq";

/** What `nightdesk migrate` calls the queue's tables of this version. */
export const QUEUE_SCHEMA_NAME = `queue tables (schema ${SCHEMA}, version ${LATEST_SCHEMA_VERSION})`;

/** Creates or updates BullMQ's tables in schema `bullmq`. @param session one connection, not a pool */
export async function migrateQueue(session: QueueSession): Promise<void> {
  await runMigrations(session, SCHEMA);
}

/**
 * Whether the queue's tables are there, and of this version. Those of a newer one that still serves this version count.
 * @throws Failure SCHEMA_OUTDATED when only a newer version of nightdesk can use them
 */
export async function queueSchemaStatus(db: Queryable): Promise<"current" | "pending"> {
  try {
    // It runs one statement, by the driver's `query`, of which a Queryable has what is used.
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
