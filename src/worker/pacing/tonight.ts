import { nightOf } from "../../shared/night.ts";
import type { Night } from "../../shared/night.ts";
import type { NightClock } from "../runtime/keep-batches.ts";

/** The night by a worker's clock. To the database's it is close enough: a night ends at noon. */
export function tonight(clock: NightClock, windows: readonly string[]): Night {
  const time = clock();
  return nightOf(time === "database" ? new Date() : time, windows);
}
