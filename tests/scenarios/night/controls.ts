import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { numberOf, progressOf } from "./accounts.ts";
import type { Progress } from "./accounts.ts";
import { IN_HAND } from "./fixture.ts";
import type { Stage } from "./fixture.ts";
import { toJsonl } from "./night-jobs.ts";
import { patiently } from "./patience.ts";

/** What acts have in common. */
export type Directions = {
  tonight(): Promise<Progress>;
  /** Calls that the host gets at once. */
  capacity(): Promise<number>;
  enqueue(batch: string, lines: readonly object[]): Promise<void>;
  /** Waits until the night is held for a reason, and nothing of it runs any more. */
  isHeld(reason: string): Promise<void>;
  /** Waits until both workers have their hands full, and the host has all that it gets at once. */
  isFull(batch?: string): Promise<void>;
};

export function directionsFor(stage: Stage): Directions {
  const { db, topology, gate } = stage;
  const tonight = () => progressOf(db, "night");
  const capacity = () => numberOf(db, "select capacity from nightdesk.hosts");
  return {
    tonight,
    capacity,
    async enqueue(batch, lines) {
      await writeFile(join(topology.workroot, `${batch}.jsonl`), toJsonl(lines));
      await stage.nightdesk("enqueue", `${batch}.jsonl`, "--batch-name", batch);
    },
    isHeld: (reason) =>
      patiently(`the night is held: ${reason}`, async () => {
        const { hold_reason, running } = await tonight();
        return hold_reason === reason && running === 0;
      }),
    isFull: (batch = "night") =>
      patiently("all hands are full", async () => {
        const { running } = await progressOf(db, batch);
        return running === 2 * IN_HAND && gate.waiting() === (await capacity());
      }),
  };
}
