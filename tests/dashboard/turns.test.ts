import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { takeTurns } from "../../src/shared/take-turns.ts";
import { eventually, signal } from "../conformance/signal.ts";
import { describeOnPostgres } from "../support/test-databases.ts";
import { openDesk } from "./open-desk.ts";
import type { TestDesk } from "./open-desk.ts";

describe("turns", () => {
  test("are so many at once, in the order in which they were asked for, and beyond them busy", async () => {
    const turns = takeTurns(1, 1, "It");
    const first = signal();
    const order: string[] = [];
    const running = turns(() => first.promise.then(() => order.push("first")));
    const next = turns(async () => order.push("second"));
    await expect(turns(async () => order.push("third"))).rejects.toThrow("It is busy");
    first.resolve();
    await Promise.all([running, next]);
    expect(order).toEqual(["first", "second"]);
  });

  test("of who steps aside are given to others, and taken again", async () => {
    const turns = takeTurns(1, 1, "It");
    const [child, other] = [signal(), signal()];
    const order: string[] = [];
    const aside = turns(async (stepAside) => {
      await stepAside(() => child.promise);
      order.push("back");
    });
    const between = turns(async () => {
      order.push("between");
      child.resolve();
      await other.promise;
      order.push("end of between");
    });
    other.resolve();
    await Promise.all([aside, between]);
    expect(order).toEqual(["between", "end of between", "back"]);
    await expect(turns(async () => "free")).resolves.toBe("free");
  });
});

describeOnPostgres("pages that wait for a child", () => {
  let desk: TestDesk;
  const children = signal();
  beforeAll(async () => {
    desk = await openDesk({ childrenMayEnd: children.promise });
  });
  afterAll(() => desk.close());

  test("leave the others their places", async () => {
    const statement = { statement: "select pg_sleep(9)", form: "table" };
    const waiting = [
      ...Array.from({ length: 5 }, () => desk.browse("/sql", statement)),
      desk.browse("/index?q=pay"),
      desk.browse("/health", {}),
    ];
    await eventually("the statements run", async () => desk.commands.length === 5);
    for (const path of ["/", "/batches", "/sql"]) {
      expect((await desk.browse(path)).status).toBe(200);
    }
    children.resolve();
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
  });
});
