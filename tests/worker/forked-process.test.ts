import { expect, test } from "@jest/globals";
import { watchResidentBytes } from "../../src/worker/forked-process.ts";

const firstLook = (pid: number, procFolder: string): Promise<number> =>
  new Promise((resolve) => {
    const end = watchResidentBytes({ pid, everyMs: 10, procFolder }, (bytes) => {
      end();
      resolve(bytes);
    });
  });

test("what a process holds is told by /proc, and by ps where there is none", async () => {
  const held = process.memoryUsage.rss();
  for (const procFolder of ["/proc", "/no/proc"]) {
    const looked = await firstLook(process.pid, procFolder);
    expect(looked).toBeGreaterThan(held / 3);
    expect(looked).toBeLessThan(held * 3);
  }
});

test("a process that has ended holds nothing", async () => {
  // Beyond what a kernel numbers processes by.
  const nobody = 2 ** 30;
  expect(await firstLook(nobody, "/proc")).toBe(0);
  expect(await firstLook(nobody, "/no/proc")).toBe(0);
});
