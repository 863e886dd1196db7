import type { Database } from "../../../src/shared/store/connection/database.ts";
import { startBin } from "../../support/run-bin.ts";
import type { Running } from "../../support/run-bin.ts";
import { LONG_MS } from "./patience.ts";

/** A worker as a user starts it, which knows nothing of the script. */
export type WorkerProcess = {
  /**
   * Kills it as nothing else does, and lets the leases of its jobs run out.
   * @returns the jobs that it had in hand
   */
  kill(): Promise<readonly string[]>;
};

export async function startWorkerProcess(
  db: Database,
  workroot: string,
  concurrency: number,
): Promise<WorkerProcess> {
  const child = startBin(["worker", "--concurrency", `${concurrency}`, "--log-level", "info"], {
    cwd: workroot,
  });
  await child.said(/worker ready/, LONG_MS);
  return {
    kill() {
      return killWorker(db, child);
    },
  };
}

/** Kills the process of a worker, and lets its leases run out. @returns the jobs that it had in hand */
export async function killWorker(
  db: Database,
  child: Pick<Running, "pid" | "kill" | "ended">,
): Promise<readonly string[]> {
  child.kill("SIGKILL");
  await child.ended;
  const { rows } = await db.query(
    `update nightdesk_data.jobs j set lease_until = clock_timestamp() - interval '1 s'
       from nightdesk_data.workers w
      where w.worker_id = j.worker_id and w.pid = $1 and j.state = 'running'
     returning j.job_id`,
    [child.pid],
  );
  return (rows as { job_id: string }[]).map(({ job_id }) => job_id);
}
