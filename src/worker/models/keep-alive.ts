import { LONGEST_MS } from "./deadline.ts";

const UNITS = { ns: 1e-6, us: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** The duration of model.keep_alive, whose form the configuration has checked; negative means for ever. */
export function durationMs(text: string): number {
  // A match begins only at the first digit of a number: otherwise a long number without a unit takes quadratic time.
  const parts = [...text.matchAll(/(?<!\d)(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)/g)];
  const sum = parts.reduce(
    (total, [, count, unit]) => total + Number(count) * UNITS[unit as keyof typeof UNITS],
    0,
  );
  return text.startsWith("-") ? -1 : Math.min(sum, LONGEST_MS);
}
