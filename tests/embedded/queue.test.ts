import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createPostgresBackend, runMigrations, withBackend } from "bullmq";
import type { PostgresConnectionOptions } from "bullmq";
import { until } from "./deadline.ts";
import { startServer } from "./embedded-server.ts";
import type { EmbeddedServer } from "./embedded-server.ts";

const { Queue, Worker } = withBackend(createPostgresBackend);

let server: EmbeddedServer;
let connection: PostgresConnectionOptions;
beforeAll(async () => {
  server = await startServer();
  await runMigrations(await server.connect(), "bullmq");
  // BullMQ describes the driver's pool by a looser type that overloads do not fit.
  connection = (await server.pool(8)) as unknown as PostgresConnectionOptions;
});
afterAll(() => server.dispose());

describe("stock BullMQ on the embedded database", () => {
  test("works 200 jobs, each once", async () => {
    const queue = new Queue("many", { connection });
    const worked: number[] = [];
    const work = async ({ data }: { data: { number: number } }) => worked.push(data.number);
    const worker = new Worker("many", work, { connection, concurrency: 8 });
    const numbers = Array.from({ length: 200 }, (_, number) => number);
    await queue.addBulk(numbers.map((number) => ({ name: "job", data: { number } })));
    await until("all are worked", () => worked.length >= 200, 30_000);
    expect(worked.toSorted((a, b) => a - b)).toEqual(numbers);
    await worker.close();
    await queue.close();
  });

  test("a job wakes an idle worker by a notification, not by polling", async () => {
    const queue = new Queue("wake", { connection });
    let worked = 0;
    const worker = new Worker("wake", async () => (worked += 1), { connection, drainDelay: 60 });
    await worker.waitUntilReady();
    await queue.add("first", {});
    await until("the first is worked", () => worked === 1);
    await queue.add("second", {});
    await until("the second is worked", () => worked === 2, 5_000);
    await worker.close();
    await queue.close();
  });
});
