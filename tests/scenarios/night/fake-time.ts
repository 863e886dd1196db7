import type { NightClock } from "../../../src/worker/hosts/pacing.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The times of a night that is played, by a clock that only the script moves. */
export type FakeTime = {
  readonly clock: NightClock;
  /** The same, of which nobody counts the looks. */
  readonly now: () => Date;
  /**
   * A window that is open at this very hour, so that processes which go by the real time find it open as well. The
   * script shuts it by moving its own clock.
   */
  readonly window: string;
  readonly opens: Date;
  readonly closes: Date;
  readonly opensAgain: Date;
  set(time: Date): void;
  /** How often `clock` was asked. */
  looks(): number;
};

export function createFakeTime(): FakeTime {
  const thisMinute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  const opens = new Date(thisMinute - 60 * MINUTE_MS);
  const closes = new Date(thisMinute + 120 * MINUTE_MS);
  let now = opens;
  let looks = 0;
  return {
    clock() {
      looks += 1;
      return now;
    },
    window: `${wallTime(opens)}-${wallTime(closes)} UTC`,
    opens,
    closes,
    opensAgain: new Date(opens.getTime() + DAY_MS),
    set(time) {
      now = time;
    },
    now: () => now,
    looks: () => looks,
  };
}

export const secondBefore = (time: Date): Date => new Date(time.getTime() - 1_000);

const wallTime = (time: Date): string => time.toISOString().slice(11, 16);
