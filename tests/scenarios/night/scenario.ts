import { test } from "@jest/globals";
import type { Directions } from "./controls.ts";
import type { Stage } from "./fixture.ts";
import type { NightJobs } from "./night-jobs.ts";
import { LONG_MS } from "./patience.ts";

/** What an act has to play with. */
export type Scene = {
  readonly stage: Stage;
  readonly night: Directions;
  readonly script: NightJobs;
  readonly jobs: number;
  /** So many jobs as a part of all are, at least one. */
  readonly share: (part: number) => number;
};

/** A step of the night; its sentence says what it shows. */
export type Act = { readonly sentence: string; readonly play: (scene: Scene) => Promise<void> };

export const act = (sentence: string, play: Act["play"]): Act => ({ sentence, play });

/** Of an act, which waits for several things. */
const ACT_MS = 2 * LONG_MS;

/** Plays acts as tests that build on each other: after one that failed, the others fail at once. */
export function actsInTurn(): (sentence: string, play: () => Promise<void>) => void {
  let failed: string | undefined;
  return (sentence, play) => {
    test(
      sentence,
      async () => {
        if (failed !== undefined) throw new Error(`the night ended when it failed: ${failed}`);
        failed = sentence;
        await play();
        failed = undefined;
      },
      ACT_MS,
    );
  };
}
