import { afterAll, beforeAll, describe } from "@jest/globals";
import { topologies } from "../../conformance/topologies.ts";
import type { TopologyName } from "../../conformance/topologies.ts";
import { directionsFor } from "./controls.ts";
import { setStage } from "./fixture.ts";
import { writeNight } from "./night-jobs.ts";
import { LONG_MS } from "./patience.ts";
import { actsInTurn } from "./scenario.ts";
import type { Scene } from "./scenario.ts";
import { EVENING } from "./steps/evening.ts";
import { HOLDS } from "./steps/holds.ts";
import { MORNING } from "./steps/morning.ts";
import { TROUBLE } from "./steps/trouble.ts";

/**
 * Plays a night, act by act, on a topology that this machine has the services for.
 * @param jobs at least 80, or some acts would find nothing left to do
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
    }, LONG_MS);
    afterAll(() => scene.stage.end(), LONG_MS);

    const play = actsInTurn();
    for (const act of [...EVENING, ...TROUBLE, ...HOLDS, ...MORNING]) {
      play(act.sentence, () => act.play(scene));
    }
  });
}
