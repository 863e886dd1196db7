import type { Database } from "../../shared/store/connection/database.ts";
import { announceEvents } from "../../shared/store/jobs/batches.ts";
import type { FaultLog } from "../loop.ts";

/** Time between two announcements: every notification takes a global lock of the server that all commits wait for. */
const LEAST_MS = 1_000;

export type Announcer = {
  /** Call it when a run or a batch has ended; at most one announcement a second reaches the database. */
  readonly happened: () => void;
  /** Makes the announcement that is still pending. */
  readonly close: () => Promise<void>;
};

/** Notifies open pages of the dashboard that something happened: at once, then at most once a second. */
export function openAnnouncer(database: Database, faults: FaultLog): Announcer {
  let timer: NodeJS.Timeout | undefined;
  let isTold = true;
  let telling: Promise<void> = Promise.resolve();
  const tell = (): void => {
    isTold = true;
    telling = announceEvents(database).catch((error: unknown) => {
      faults.broke("what happened could not be announced", error);
    });
    timer = setTimeout(() => {
      timer = undefined;
      if (!isTold) tell();
    }, LEAST_MS);
    timer.unref();
  };
  return {
    happened() {
      isTold = false;
      if (timer === undefined) tell();
    },
    async close() {
      clearTimeout(timer);
      await telling;
      if (!isTold) await announceEvents(database).catch(() => undefined);
    },
  };
}
