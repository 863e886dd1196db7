const UNITS = { ns: 1e-6, us: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
/** As long as a timer goes. */
const LONGEST_MS = 2 ** 31 - 1;

/** Of model.keep_alive, whose form the configuration has checked; negative for ever. */
export function durationMs(text: string): number {
  // A number is tried where it begins alone: of a long one without a unit each digit would be a beginning.
  const parts = [...text.matchAll(/(?<!\d)(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)/g)];
  const sum = parts.reduce(
    (total, [, count, unit]) => total + Number(count) * UNITS[unit as keyof typeof UNITS],
    0,
  );
  return text.startsWith("-") ? -1 : Math.min(sum, LONGEST_MS);
}
