import type { Database } from "../../../src/shared/store/connection/database.ts";
import { askJob, openBatchOf } from "../../conformance/jobs.ts";
import { eventually } from "../../conformance/signal.ts";
import type { TopologyName } from "../../conformance/topologies.ts";
import { readCases } from "../../corpora/verification/read-cases.ts";
import type { VerificationCase } from "../../corpora/verification/read-cases.ts";
import { startToolWorker } from "../../support/killed-worker/start.ts";
import type { ToolWorker } from "../../support/killed-worker/start.ts";
import type { Stops } from "../../support/killed-worker/boundaries.ts";
import { rowsOf } from "../night/accounts.ts";
import { stopsOf } from "./night-kills.ts";
import type { Kill } from "./night-kills.ts";
import { allEnded, endsOf, indexAll, inputOf, openCaseDesk } from "./play-cases.ts";
import type { CaseDesk, Ended } from "./play-cases.ts";

/** Jobs that a worker has in hand at once beside those that stand still. */
const IN_HAND = 4;
/** Of the jobs that lose their worker in the first act, and in the second. */
const PRIORITIES = [20, 10];

export type PlayedNight = {
  readonly desk: CaseDesk;
  readonly batchId: string;
  readonly ended: readonly Ended[];
  /** Runs that their workers had in hand when they were killed. */
  readonly lost: readonly string[];
};

/** The cases, then as many of them again with ids, folders and questions of their own. */
export function nightCases(count: number): readonly VerificationCase[] {
  const cases = readCases();
  const again = cases.map(({ id, question, ...one }) => ({
    ...one,
    id: id.replace(/\d/, (digit) => String(Number(digit) + 5)),
    ...(question === undefined ? {} : { question: `Once more: ${question}` }),
  }));
  return [...cases, ...again].slice(0, count);
}

/**
 * Plays the cases as one batch.
 * @param kills act by act: a worker is killed when the runs that are named stand still. Two more end the night.
 */
export async function playNight(
  name: TopologyName,
  cases: readonly VerificationCase[],
  kills: readonly (readonly Kill[])[] = [],
): Promise<PlayedNight> {
  const desk = await openCaseDesk(name, cases);
  const { db } = desk;
  const indexer = await desk.work();
  await indexAll(db);
  await indexer.stop();
  const actOf = ({ id }: VerificationCase): number =>
    kills.findIndex((act) => act.some(({ customId }) => customId === id));
  const { batchId, jobIds } = await openBatchOf(
    db,
    cases.map((one) =>
      askJob(one.id, { input: inputOf(one), priority: PRIORITIES[actOf(one)] ?? 0 }),
    ),
  );
  const ids = new Map(cases.map(({ id }, at) => [id, jobIds[at] ?? ""]));
  const lost: string[] = [];
  for (const act of kills) {
    lost.push(
      ...(await killAct(
        desk,
        stopsOf(act, (customId) => ids.get(customId) ?? ""),
      )),
    );
  }
  const workers = await Promise.all(
    [1, 2].map(() => startToolWorker(db, desk.topology.workroot, { concurrency: IN_HAND })),
  );
  await allEnded(db, batchId);
  await batchesCompleted(db, batchId);
  lost.push(...(await killAll(workers)));
  return { desk, batchId, ended: await endsOf(db, batchId, cases, jobIds), lost };
}

/** A statement behind the last result completes a batch: killed in between, it is left to the next worker. */
const batchesCompleted = (db: Database, batchId: string): Promise<void> =>
  eventually("its batches are completed", async () => {
    const open = await rowsOf(
      db,
      "select from nightdesk_data.batches where (batch_id = $1 or parent_id = $1) and state <> 'completed'",
      [batchId],
    );
    return open.length === 0;
  });

const killAll = async (workers: readonly ToolWorker[]): Promise<readonly string[]> =>
  (await Promise.all(workers.map((worker) => worker.kill()))).flat();

/**
 * One worker, whose runs that stand still hold their places: with twice as many places two of them keep two cores so busy
 * that leases run out before they are renewed.
 * @returns the jobs that it had in hand
 */
async function killAct({ db, topology }: CaseDesk, stops: Stops): Promise<readonly string[]> {
  const concurrency = IN_HAND + Object.keys(stops).length;
  const worker = await startToolWorker(db, topology.workroot, { concurrency, stops });
  await worker.allStopped();
  return worker.kill();
}
