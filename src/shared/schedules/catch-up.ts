const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^([1-9]\d{0,5})([smhd])$/;

/** Milliseconds of a duration like `90m`, `12h` or `2d`; `0` is none. @returns undefined for other text */
export function parseCatchUp(text: string): number | undefined {
  if (text === "0") return 0;
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  return Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}
