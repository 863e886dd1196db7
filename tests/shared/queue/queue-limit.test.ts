import { describe, expect, test } from "@jest/globals";
import { limitQueue } from "../../../src/shared/queue/storage.ts";
import { eventually, signal } from "../../conformance/signal.ts";

const AWAY = { code: "QUEUE_UNREACHABLE" };

describe("the limit of a queue's commands", () => {
  test("passes answers and errors on", async () => {
    const queue = limitQueue("Redis", () => Promise.resolve(), 1_000);
    await expect(queue.run(() => Promise.resolve(3))).resolves.toBe(3);
    await expect(queue.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(() => {
      queue.check();
    }).not.toThrow();
    queue.close();
  });

  test("sends nothing further while an answer is overdue, and goes on when it has come", async () => {
    const queue = limitQueue("Redis at a:1", () => new Promise(() => undefined), 20);
    const answer = signal();
    await expect(queue.run(() => answer.promise)).rejects.toMatchObject(AWAY);
    let sent = 0;
    const again = () => queue.run(() => Promise.resolve((sent += 1)));
    await expect(again()).rejects.toMatchObject(AWAY);
    expect(() => {
      queue.check();
    }).toThrow("Redis at a:1 does not answer within 0.02 s");
    expect(sent).toBe(0);
    answer.resolve();
    await eventually("it is asked again", () =>
      again().then(
        () => true,
        () => false,
      ),
    );
    expect(sent).toBe(1);
    queue.close();
  });
});
