import { nightOf } from "../../shared/windows.ts";
import type { Night } from "../../shared/windows.ts";
import type { NightClock } from "../runtime/keep-batches.ts";

/** The night by a worker's clock. To the database's it is close enough: a night ends at noon. */
export const tonight = (clock: NightClock, windows: readonly string[]): Night =>
  nightOf(timeOf(clock), windows);

/** The same for who asks at every call of a model: a night is worked out once. */
export function nightWatch(clock: NightClock, windows: readonly string[]): () => Night {
  let since = new Date(NaN);
  let night: Night | undefined;
  return () => {
    const time = timeOf(clock);
    if (night === undefined || time < since || time >= night.endsAt) {
      night = nightOf(time, windows);
      since = time;
    }
    return night;
  };
}

function timeOf(clock: NightClock): Date {
  const time = clock();
  return time === "database" ? new Date() : time;
}
