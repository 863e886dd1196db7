import type { Directions } from "./controls.ts";
import type { Stage } from "./fixture.ts";
import type { NightJobs } from "./night-jobs.ts";

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
