import { tmpdir } from "node:os";
import { expect, test } from "@jest/globals";
import { ensureWorker } from "../../../src/producer/watch/ensure-worker.ts";
import type { CommandContext } from "../../../src/shared/commands/command-context.ts";
import { openDesk, pretendWorker } from "../desk.ts";

/** A folder whose disk has no free byte, to any user. */
const FULL = "/proc";

const saidOver = async (databaseDirectory: string): Promise<readonly string[]> => {
  const desk = await openDesk();
  try {
    await pretendWorker(desk.database);
    const said: string[] = [];
    const context = {
      config: { database: { url: "embedded" }, roots: { databaseDirectory } },
      terminal: { say: (text: string) => said.push(text) },
    } as unknown as CommandContext;
    const keeper = ensureWorker(context, desk.database);
    await keeper.check();
    await keeper.check();
    return said;
  } finally {
    await desk.dispose();
  }
};

test("a full disk is said once to whoever waits for a worker that is alive", async () => {
  const full = `disk full: free some space for ${FULL}; the work goes on by itself.`;
  expect(await saidOver(FULL)).toEqual([full]);
  expect(await saidOver(tmpdir())).toEqual([]);
});
