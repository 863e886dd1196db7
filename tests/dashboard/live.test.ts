import { get } from "node:http";
import type { ClientRequest } from "node:http";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { announceEvents } from "../../src/shared/store/jobs/batches.ts";
import { openDatabase } from "../../src/shared/store/connection/database.ts";
import type { Database, Queryable } from "../../src/shared/store/connection/database.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { describeOnPostgres } from "../support/test-databases.ts";
import { openDesk } from "./open-desk.ts";
import type { TestDesk } from "./open-desk.ts";

/** Opens a transaction that has a number, and holds it open until it is let go. */
async function holdTransaction(db: Database, body: (db: Queryable) => Promise<void>) {
  let commit = (): void => undefined;
  const committed = new Promise<void>((resolve) => (commit = resolve));
  let written = (): void => undefined;
  const isWritten = new Promise<void>((resolve) => (written = resolve));
  const held = db.transaction(async (transaction) => {
    await transaction.query("select pg_current_xact_id()");
    await body(transaction);
    written();
    await committed;
  });
  await isWritten;
  return async () => {
    commit();
    await held;
  };
}

type Heard = { readonly id: number; readonly step: string };

/** A stream as a browser reads it. */
class Stream {
  readonly steps: Heard[] = [];
  lastId = "";
  /** What it was told last of that; undefined where nothing. */
  isBehind: boolean | undefined;
  #text = "";
  #wake: () => void = () => undefined;
  readonly #request: ClientRequest;

  constructor(url: string, lastEventId?: string) {
    const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    this.#request = get(`${url}events`, { headers }, (response) => {
      response.setEncoding("utf8").on("data", (part: string) => {
        this.#read(part);
      });
      response.on("error", () => undefined);
    });
    this.#request.on("error", () => undefined);
  }

  #read(part: string): void {
    const messages = (this.#text + part).split("\n\n");
    this.#text = messages.pop() ?? "";
    for (const message of messages) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(message)?.[1];
      this.lastId = field("id") ?? this.lastId;
      if (field("event") === "behind")
        this.isBehind = (JSON.parse(field("data") ?? "{}") as { behind: boolean }).behind;
      if (field("event") !== "step") continue;
      const { step } = JSON.parse(field("data") ?? "{}") as { step: string };
      this.steps.push({ id: Number(field("id")), step });
    }
    this.#wake();
  }

  async until(isThere: () => boolean): Promise<void> {
    while (!isThere()) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  close(): void {
    this.#request.destroy();
  }
}

describeOnPostgres("what happens, as a stream", () => {
  let desk: TestDesk;
  let ordinal = 1_000;
  beforeAll(async () => {
    desk = await openDesk();
    await insertFinishedBatch(desk.db, {
      name: "evening",
      jobs: [{ customId: "one", input: { kind: "ask", question: "One?" }, answer: "One." }],
    });
  });
  afterAll(() => desk.close());

  async function writeEvent(db: Queryable, step: string): Promise<void> {
    await db.query(
      `insert into nightdesk_data.run_events (run_id, ordinal, step, duration_ms)
       select run_id, $1, $2, 1 from nightdesk_data.jobs`,
      [(ordinal += 1), step],
    );
  }

  async function happen(db: Queryable, step: string): Promise<void> {
    await writeEvent(db, step);
    await announceEvents(db);
  }

  test("tells who comes back what he missed, each event once and in order", async () => {
    const first = new Stream(desk.url);
    const other = new Stream(desk.url);
    for (const stream of [first, other]) await stream.until(() => stream.lastId !== "");
    await happen(desk.db, "a");
    await first.until(() => first.steps.length === 1);
    first.close();
    await happen(desk.db, "b");
    await happen(desk.db, "c");
    // Nobody tells it anew then: it is in the past.
    await other.until(() => other.steps.length === 3);
    const again = new Stream(desk.url, first.lastId);
    await again.until(() => again.steps.length === 2);
    await happen(desk.db, "d");
    await again.until(() => again.steps.length === 3);
    expect(again.steps.map(({ step }) => step)).toEqual(["b", "c", "d"]);
    again.close();
    other.close();
  });

  test("tells who looks on what happens before somebody else comes", async () => {
    const first = new Stream(desk.url);
    await first.until(() => first.lastId !== "");
    // Before anybody is told of it.
    await writeEvent(desk.db, "unheard");
    const second = new Stream(desk.url);
    await second.until(() => second.lastId !== "");
    await announceEvents(desk.db);
    await first.until(() => first.steps.length > 0);
    expect(first.steps.map(({ step }) => step)).toEqual(["unheard"]);
    first.close();
    second.close();
  });

  test("sends nothing above what an open transaction may still add", async () => {
    const stream = new Stream(desk.url);
    await stream.until(() => stream.lastId !== "");
    const commit = await holdTransaction(desk.db, (db) => happen(db, "early"));
    await happen(desk.db, "late");
    await happen(desk.db, "later");
    expect(stream.steps).toEqual([]);
    await commit();
    await stream.until(() => stream.steps.length === 3);
    expect(stream.steps.map(({ step }) => step)).toEqual(["early", "late", "later"]);
    const ids = stream.steps.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    stream.close();
  });

  test("is not kept back by what somebody writes in another database of the server", async () => {
    const other = openDatabase({
      target: { kind: "url", url: process.env["TEST_DATABASE_URL"] ?? "" },
      maxConnections: 1,
      statements: "query",
      onError: () => undefined,
    });
    const stream = new Stream(desk.url);
    await stream.until(() => stream.lastId !== "");
    const commit = await holdTransaction(other, async () => undefined);
    await happen(desk.db, "beside");
    await stream.until(() => stream.steps.length === 1);
    await commit();
    stream.close();
    await other.end();
  }, 10_000);

  test("says after ten seconds that a transaction keeps it back, and when that is over", async () => {
    const stream = new Stream(desk.url);
    await stream.until(() => stream.lastId !== "");
    const commit = await holdTransaction(desk.db, async () => undefined);
    const began = performance.now();
    await happen(desk.db, "kept back");
    await stream.until(() => stream.isBehind === true);
    expect(performance.now() - began).toBeGreaterThan(9_000);
    expect(stream.steps).toEqual([]);
    await commit();
    await stream.until(() => stream.isBehind === false && stream.steps.length === 1);
    stream.close();
  }, 30_000);
});
