import type { Database } from "../../../src/shared/store/connection/database.ts";

/** Somebody who looks at the counts of all batches the whole night. */
export type Onlooker = {
  looks(): number;
  /** What did not add up, in words. */
  faults(): readonly string[];
  stop(): Promise<void>;
};

type Look = {
  readonly batch: string;
  readonly total: number;
  readonly states: number;
  readonly jobs: number;
  readonly ended: number;
};

const LOOK = `
select batch, total::int, (queued + running + parked + succeeded + refused + failed + cancelled + expired)::int as states,
       (succeeded + refused + failed + cancelled + expired)::int as ended,
       (select count(*)::int from nightdesk_data.jobs j where j.batch_id = p.batch_id) as jobs
  from nightdesk.batch_progress p`;
const BETWEEN_LOOKS_MS = 30;

/** At every look states add up to the total and to the jobs there are, and what has ended stays so. */
export function startOnlooker(db: Database): Onlooker {
  const faults: string[] = [];
  const before = new Map<string, Look>();
  let looks = 0;
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    for (const seen of (await db.query(LOOK)).rows as Look[]) {
      faults.push(...faultsOf(seen, before.get(seen.batch)));
      before.set(seen.batch, seen);
    }
    looks += 1;
  };
  const looking = (async () => {
    while (!stopping.signal.aborted) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS_MS));
    }
  })();
  return {
    looks: () => looks,
    faults: () => faults,
    stop() {
      stopping.abort();
      return looking;
    },
  };
}

function faultsOf(now: Look, before: Look | undefined): string[] {
  const { total, states, jobs, ended } = now;
  return [
    ...(states === total && jobs === total ? [] : ["the states do not add up"]),
    ...(total >= (before?.total ?? 0) ? [] : ["jobs are missing"]),
    ...(ended >= (before?.ended ?? 0) ? [] : ["what had ended goes on"]),
  ].map((fault) => `${fault}: ${JSON.stringify({ now, before })}`);
}
