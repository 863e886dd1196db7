import type { KeyPath } from "./dotted-key.ts";
import type { ConfigValues } from "./schema.ts";

/** What a key is while it asks for nothing, and what this version does not do yet when it asks for more. */
type Unbuilt = {
  readonly path: KeyPath;
  readonly isIdle: (values: ConfigValues) => boolean;
  readonly idle: string;
};

const isUnlimited = (budget: Readonly<Record<string, unknown>>): boolean =>
  Object.values(budget).every((limit) => limit === null || typeof limit === "object");

const UNBUILT: readonly Unbuilt[] = [
  { path: ["windows"], isIdle: ({ windows }) => windows.length === 0, idle: "[]" },
  { path: ["schedules"], isIdle: ({ schedules }) => schedules.length === 0, idle: "[]" },
  { path: ["budgets"], isIdle: ({ budgets }) => isUnlimited(budgets), idle: "null throughout" },
  {
    path: ["budgets", "night"],
    isIdle: ({ budgets }) => isUnlimited(budgets.night),
    idle: "null throughout",
  },
  { path: ["runs", "keep_days"], isIdle: ({ runs }) => runs.keep_days === null, idle: "null" },
];

/**
 * Keys that are set and would do nothing: a window that does not hold, or a budget that does not stop, is worse
 * than none.
 */
export const findUnbuilt = (
  values: ConfigValues,
): { readonly path: KeyPath; readonly text: string }[] =>
  UNBUILT.filter(({ isIdle }) => !isIdle(values)).map(({ path, idle }) => ({
    path,
    text: `is set, and this version does not act on it yet; leave it ${idle}`,
  }));
