import type { Database } from "../../shared/store/connection/database.ts";
import { announceEvents } from "../../shared/store/jobs/batches.ts";
import type { FaultLog } from "../loop.ts";

/** Between two announcements: a notification a job would be a lock of the server's that all commits wait for. */
const LEAST_MS = 1_000;

export type Announcer = {
  /** To be called when a run or a batch has ended; at most one a second reaches the database. */
  readonly happened: () => void;
  /** Tells what was not told yet. */
  readonly close: () => Promise<void>;
};

/** Tells whoever looks at the desk that something happened, at once and then once a second. */
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
