import { CONTROL_LIMIT, controlStep } from "../../src/worker/verify/judge/controls.ts";
import type { ControlKind } from "../../src/worker/verify/judge/controls.ts";

/** The sum after one more control. */
export const addControl = (
  sum: number,
  isConfirmed: boolean,
  kind: ControlKind = "wrong",
): number => Math.max(0, sum + controlStep(isConfirmed, kind));

/** Whether the judge failed its controls. */
export const hasFailed = (sum: number): boolean => sum >= CONTROL_LIMIT;
