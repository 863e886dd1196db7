import { KINDS } from "../../job/job.ts";
import { kindOf, KINDS_BESIDE_THE_QUEUE, kindsInLane } from "../../job/kinds.ts";
import type { Lane } from "../../job/kinds.ts";
import type { Kind } from "../../job/job.ts";
import { LONGEST_DELAY_MS } from "../../job/settlement.ts";
import { IS_ALIVE } from "./workers.ts";

/** The longest delay of any rule, plus time for the statement that wrote it. */
const UNEXPLAINED_SECONDS = LONGEST_DELAY_MS / 1000 + 60;

/**
 * SQL condition: a job is due. A time further ahead than any rule allows was written before the database's clock was set back, so
 * that job is due now. A job that is held back while its batch loads has the time infinity.
 * @param dueAt the column
 */
export const isDue = (dueAt: string): string =>
  `(${dueAt} <= now() or ${dueAt} > now() + interval '${UNEXPLAINED_SECONDS} s' and ${dueAt} < 'infinity')`;

const namesOf = (kinds: readonly Kind[]): string => kinds.map((kind) => `'${kind}'`).join(", ");
/**
 * SQL list of the kinds that call a host. While it is down, workers that are configured for it can't run them. A job is not bound
 * to a host: a worker with another host can run it.
 */
const callersOf = (host: "model" | "embedder"): string =>
  namesOf(KINDS.filter((kind) => kindOf(kind).calls.includes(host)));

const needsFiles = (kind: string): string =>
  `${kind} in (${namesOf(KINDS.filter((each) => kindOf(each).needsFiles))})`;

/**
 * SQL condition: a worker (a row of `workers`) can't run a kind of jobs, because it lacks the files, or because all hosts that it
 * could call are down.
 */
export const blockedBy = (kind: string, worker: string): string =>
  `(${needsFiles(kind)} and ${worker}.documents_from = 'store'
    or ${kind} in (${callersOf("model")}) and ${areAllDown(`${worker}.model_hosts`)}
    or ${kind} in (${callersOf("embedder")}) and ${areAllDown(`${worker}.embedder_hosts`)})`;

/** @param hosts an array of base URLs; false when it is empty */
const areAllDown = (hosts: string): string =>
  `(cardinality(${hosts}) > 0 and not exists (
     select from unnest(${hosts}) named (host)
      where not exists (select from nightdesk_data.hosts h where h.host = named.host and h.state = 'open')))`;

/** SQL condition: any worker is alive. */
export const SOMEONE_IS_ALIVE = `exists (select from nightdesk_data.workers where ${IS_ALIVE})`;

/** SQL condition: a kind of jobs needs files, and all living workers read from the store. */
export const lacksFiles = (kind: string): string =>
  `(${needsFiles(kind)} and ${SOMEONE_IS_ALIVE}
    and not exists (select from nightdesk_data.workers where ${IS_ALIVE} and documents_from = 'files'))`;

/** SQL array of all kinds. */
const ALL_KINDS = `array[${namesOf(KINDS)}]`;

/** SQL array of the kinds that no living worker can run now; empty when no worker is alive. */
export const BLOCKED_KINDS = `array(
  select kind from unnest(${ALL_KINDS}) kind
   where (exists (select from nightdesk_data.hosts where state = 'open')
          or exists (select from nightdesk_data.workers where documents_from = 'store')) and ${SOMEONE_IS_ALIVE}
     and not exists (select from nightdesk_data.workers w where ${IS_ALIVE} and not ${blockedBy("kind", "w")}))`;

/** SQL array of the kinds whose jobs take no place in the queue. */
export const LANE_KINDS = `array[${namesOf(KINDS_BESIDE_THE_QUEUE)}]`;

/** SQL condition: jobs of a kind run in a lane. */
export const isInLane = (kind: string, lane: Lane): string =>
  `${kind} in (${namesOf(kindsInLane(lane))})`;

const WAITING = "j.state in ('queued', 'parked')";

/** SQL condition on batch `b`: it has waiting jobs, all of kinds in `blocked.kinds`, which no living worker can run now. */
export const IS_BLOCKED = `(
  exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id and ${WAITING})
  and not exists (
    select from unnest(${ALL_KINDS}) runnable (kind)
     where runnable.kind <> all (blocked.kinds)
       and exists (select from nightdesk_data.jobs j
                    where j.batch_id = b.batch_id and j.kind = runnable.kind and ${WAITING})))`;
