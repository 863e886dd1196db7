import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { selectBatch } from "../../src/shared/enqueue/select-batch.ts";
import { enqueueLines } from "../../src/shared/enqueue/enqueue-lines.ts";
import { nativeLines } from "../../src/shared/enqueue/parse-line.ts";
import { openDesk } from "../producer/desk.ts";
import type { Desk } from "../producer/desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

const ask = (customId: string, question = `What about ${customId}?`) =>
  JSON.stringify({ custom_id: customId, kind: "ask", question });

test("twenty thousand lines are loaded in memory that does not grow with them", async () => {
  const batch = await selectBatch(desk.database, "large", "x");
  const heap: number[] = [];
  const { added } = await enqueueLines(desk.database, batch, lines(20_000), {
    badLines: "strict",
    onLines: () => {
      collectGarbage();
      heap.push(process.memoryUsage().heapUsed);
    },
    parser: nativeLines(() => ""),
  });
  expect(added).toBe(20_000);
  expect(heap.length).toBeGreaterThan(8);
  // Two portions are in hand at any time. Were the lines kept, the last would find 40 MB more than the first.
  expect((heap.at(-1) ?? Infinity) - (heap[0] ?? 0)).toBeLessThan(10_000_000);
});

test("lines of 10 MB are bad lines, each by its number, and none of them is held", async () => {
  const batch = await selectBatch(desk.database, "huge", "x");
  const held: number[] = [];
  const measure = () => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    held.push(heapUsed + arrayBuffers);
  };
  async function* huge(): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < 40; index += 1) {
      yield Buffer.from('{"kind":"ask","question":"');
      // The last one is so long that it would be noticed if it were held alone.
      const megabytes = index < 39 ? 10 : 60;
      for (let mb = 0; mb < megabytes; mb += 1) yield Buffer.alloc(1024 * 1024, "x");
      measure();
      yield Buffer.from(`"}\n${ask(`between-${index}`)}\n`);
      measure();
    }
  }
  const { added, outcome, problems } = await enqueueLines(desk.database, batch, huge(), {
    badLines: "skip",
    onLines: () => undefined,
    parser: nativeLines(() => ""),
  });
  expect({ added, outcome, bad: problems.count }).toEqual({
    added: 40,
    outcome: "queued",
    bad: 40,
  });
  expect(problems.first()).toEqual(
    Array.from({ length: 40 }, (_, index) => ({
      line: 2 * index + 1,
      reason: "is longer than 8 MiB",
    })),
  );
  // The file has 450 MB.
  expect(Math.max(...held) - (held[0] ?? 0)).toBeLessThan(20_000_000);
});

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function* lines(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index += 1) {
    yield Buffer.from(`${ask(`id-${index}`, `${index} ${"why ".repeat(500)}?`)}\n`);
  }
}
