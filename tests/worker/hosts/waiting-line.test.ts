import { describe, expect, test } from "@jest/globals";
import { waitQueue } from "../../../src/worker/hosts/slots.ts";
import type { QueueEntry, WaitQueue } from "../../../src/worker/hosts/slots.ts";

const NEVER = new AbortController().signal;
/** Longer than any test. */
const POLL_MS = 3_600_000;

/** What looks, in the order in which it does. */
function queueUp(line: WaitQueue, tickets: readonly string[]) {
  const looks: string[] = [];
  const stop = new AbortController();
  const places = new Map<string, QueueEntry>();
  for (const [index, ticket] of tickets.entries()) {
    const place = line.join({ sinceUs: index, ticket });
    places.set(ticket, place);
    const wait = (): void => {
      place.untilDue(stop.signal).then(
        () => {
          looks.push(ticket);
          if (places.has(ticket)) wait();
        },
        () => undefined,
      );
    };
    wait();
  }
  const leave = (ticket: string, how: "served" | "gave up"): void => {
    const place = places.get(ticket);
    places.delete(ticket);
    place?.leave(how);
  };
  return {
    looks,
    leave,
    stop: () => {
      stop.abort();
    },
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a line of calls that wait", () => {
  test("lets look who is told by ticket, and nobody else, wherever they stand", async () => {
    const line = waitQueue(POLL_MS);
    const { looks, stop } = queueUp(line, ["a", "b", "c"]);
    line.tell(["b", "elsewhere"]);
    await settled();
    expect(looks).toEqual(["b"]);
    stop();
  });

  test("lets the first look when nobody says who, and the others as they come to be the first", async () => {
    const line = waitQueue(POLL_MS);
    const { looks, leave, stop } = queueUp(line, ["a", "b", "c"]);
    line.wake();
    await settled();
    expect(looks).toEqual(["a"]);
    leave("a", "served");
    await settled();
    expect(looks).toEqual(["a", "b"]);
    stop();
  });

  test("asks nobody when one is served: who is next is told", async () => {
    const line = waitQueue(POLL_MS);
    const { looks, leave, stop } = queueUp(line, ["a", "b"]);
    line.tell(["a"]);
    leave("a", "served");
    await settled();
    expect(looks).not.toContain("b");
    stop();
  });

  test("lets the next one look when one gives up that may have been told", async () => {
    const line = waitQueue(POLL_MS);
    const { looks, leave, stop } = queueUp(line, ["a", "b", "c"]);
    leave("b", "gave up");
    await settled();
    expect(looks).toEqual(["c"]);
    stop();
  });

  test("remembers what was said to one that looked at that moment", async () => {
    const line = waitQueue(POLL_MS);
    const place = line.join({ sinceUs: 1, ticket: "a" });
    line.tell(["a"]);
    await expect(place.untilDue(NEVER)).resolves.toBeUndefined();
  });

  test("lets the first look after a while in which nobody said anything", async () => {
    const place = waitQueue(1).join({ sinceUs: 1, ticket: "a" });
    await expect(place.untilDue(NEVER)).resolves.toBeUndefined();
  });

  test("is left at once with the signal", async () => {
    const place = waitQueue(POLL_MS).join({ sinceUs: 1, ticket: "a" });
    const stop = new AbortController();
    const waits = place.untilDue(stop.signal);
    stop.abort(new Error("cancelled"));
    await expect(waits).rejects.toThrow("cancelled");
    await expect(place.untilDue(stop.signal)).rejects.toThrow("cancelled");
  });
});
