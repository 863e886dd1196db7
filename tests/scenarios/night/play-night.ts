import { afterAll, beforeAll, describe, test } from "@jest/globals";
import { topologies } from "../../conformance/topologies.ts";
import type { TopologyName } from "../../conformance/topologies.ts";
import { directionsFor } from "./controls.ts";
import { setStage } from "./fixture.ts";
import { writeNight } from "./night-jobs.ts";
import type { Scene } from "./scenario.ts";
import { EVENING } from "./steps/evening.ts";
import { HOLDS } from "./steps/holds.ts";
import { MORNING } from "./steps/morning.ts";
import { TROUBLE } from "./steps/trouble.ts";

/** On a machine that is busy with other things. */
const LONG_MS = 120_000;

/**
 * Plays a night, act by act, on a topology that this machine has the services for.
 * @param jobs at least 160, or some acts would find nothing left to do
 */
export function playNight(name: TopologyName, jobs: number): void {
  const isPossible = topologies.includes(name);
  (isPossible ? describe : describe.skip)(`a night of ${jobs} jobs on ${name}`, () => {
    let scene: Scene;
    beforeAll(async () => {
      const stage = await setStage(name);
      const script = await writeNight(stage.topology.workroot, jobs);
      const share = (part: number) => Math.ceil(jobs * part);
      scene = { stage, night: directionsFor(stage), script, jobs, share };
    });
    afterAll(() => scene.stage.end());

    // The acts build on each other: after one that failed, the others fail at once.
    let failed: string | undefined;
    test.each([...EVENING, ...TROUBLE, ...HOLDS, ...MORNING])(
      "$sentence",
      async ({ sentence, play }) => {
        if (failed !== undefined) throw new Error(`the night ended when it failed: ${failed}`);
        failed = sentence;
        await play(scene);
        failed = undefined;
      },
      LONG_MS,
    );
  });
}
