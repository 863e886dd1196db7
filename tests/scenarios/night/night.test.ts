import { afterAll, beforeAll } from "@jest/globals";
import { describeOn } from "../../support/describe-on.ts";
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

/** With fewer than 80, some acts would find nothing left to do. */
const JOBS = 160;

describeOn("redis+postgres", `a night of ${JOBS} jobs`, (name) => {
  let scene: Scene;
  beforeAll(async () => {
    const stage = await setStage(name);
    const script = await writeNight(stage.topology.workroot, JOBS);
    const share = (part: number) => Math.ceil(JOBS * part);
    scene = { stage, night: directionsFor(stage), script, jobs: JOBS, share };
  }, LONG_MS);
  afterAll(() => scene.stage.end(), LONG_MS);

  const play = actsInTurn();
  for (const act of [...EVENING, ...TROUBLE, ...HOLDS, ...MORNING]) {
    play(act.sentence, () => act.play(scene));
  }
});
