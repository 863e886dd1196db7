import { KINDS } from "../../job/job.ts";
import { kindOf, KINDS_BESIDE_THE_QUEUE, kindsInLane } from "../../job/kinds.ts";
import type { Lane } from "../../job/kinds.ts";
import type { Kind } from "../../job/job.ts";
import { LONGEST_DELAY_MS } from "../../job/settlement.ts";
import { IS_ALIVE } from "./workers.ts";

/** Beyond the longest delay of a rule, and some time for the statement that wrote it. */
const UNEXPLAINED_SECONDS = LONGEST_DELAY_MS / 1000 + 60;

/**
 * A condition: whether the time of a job has come. A time that lies further ahead than any rule puts it was written
 * before the clock of the database was set back: such a job is due now, and not when the clock is there again. One that
 * is held back while its batch loads has the time infinity.
 * @param dueAt the column
 */
export const isDue = (dueAt: string): string =>
  `(${dueAt} <= now() or ${dueAt} > now() + interval '${UNEXPLAINED_SECONDS} s' and ${dueAt} < 'infinity')`;

const namesOf = (kinds: readonly Kind[]): string => kinds.map((kind) => `'${kind}'`).join(", ");
/**
 * What a host that is down keeps from being done: jobs of the kinds that call it, by workers that are configured for it.
 * A job is not bound to a host: a worker of another one does it as well.
 */
const callersOf = (host: "model" | "embedder"): string =>
  namesOf(KINDS.filter((kind) => kindOf(kind).calls.includes(host)));

const needsFiles = (kind: string): string =>
  `${kind} in (${namesOf(KINDS.filter((each) => kindOf(each).needsFiles))})`;

/**
 * A condition: whether a worker (a row of `workers`) can't do a kind of jobs: for want of files, or because all hosts are down that
 * it could ask.
 */
export const blockedBy = (kind: string, worker: string): string =>
  `(${needsFiles(kind)} and ${worker}.documents_from = 'store'
    or ${kind} in (${callersOf("model")}) and ${areAllDown(`${worker}.model_hosts`)}
    or ${kind} in (${callersOf("embedder")}) and ${areAllDown(`${worker}.embedder_hosts`)})`;

/** @param hosts an array of base URLs; of none nothing is down */
const areAllDown = (hosts: string): string =>
  `(cardinality(${hosts}) > 0 and not exists (
     select from unnest(${hosts}) named (host)
      where not exists (select from nightdesk_data.hosts h where h.host = named.host and h.state = 'open')))`;

/** A condition: whether any worker is alive. */
export const SOMEONE_IS_ALIVE = `exists (select from nightdesk_data.workers where ${IS_ALIVE})`;

/** A condition: whether a kind of jobs needs files, and all workers that are alive read from the store. */
export const lacksFiles = (kind: string): string =>
  `(${needsFiles(kind)} and ${SOMEONE_IS_ALIVE}
    and not exists (select from nightdesk_data.workers where ${IS_ALIVE} and documents_from = 'files'))`;

/** All kinds of jobs, as an array. */
const ALL_KINDS = `array[${namesOf(KINDS)}]`;

/** The kinds that no worker could run now of those that are alive, as an array; none while nobody is. */
export const BLOCKED_KINDS = `array(
  select kind from unnest(${ALL_KINDS}) kind
   where (exists (select from nightdesk_data.hosts where state = 'open')
          or exists (select from nightdesk_data.workers where documents_from = 'store')) and ${SOMEONE_IS_ALIVE}
     and not exists (select from nightdesk_data.workers w where ${IS_ALIVE} and not ${blockedBy("kind", "w")}))`;

/** The kinds whose jobs take no place of the queue, as an array. */
export const LANE_KINDS = `array[${namesOf(KINDS_BESIDE_THE_QUEUE)}]`;

/** A condition: whether jobs of a kind are run in a lane. */
export const isInLane = (kind: string, lane: Lane): string =>
  `${kind} in (${namesOf(kindsInLane(lane))})`;

const WAITING = "j.state in ('queued', 'parked')";

/** A condition on batch `b`: whether jobs of it wait, and none that a living worker could run; `blocked.kinds` says which it could not. */
export const IS_BLOCKED = `(
  exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id and ${WAITING})
  and not exists (
    select from unnest(${ALL_KINDS}) runnable (kind)
     where runnable.kind <> all (blocked.kinds)
       and exists (select from nightdesk_data.jobs j
                    where j.batch_id = b.batch_id and j.kind = runnable.kind and ${WAITING})))`;
