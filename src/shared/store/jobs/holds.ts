import { z } from "zod";
import { createWindowClock, nightOf } from "../../schedules/windows.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, rowsOf, valueOf, valuesOf } from "../connection/rows.ts";
import { endChecksOverBudget, releaseBudgetHolds } from "../hosts/budgets.ts";
import { BLOCKED_KINDS, IS_BLOCKED, SOMEONE_IS_ALIVE } from "./due.ts";

const WINDOWS = z.array(z.string());

/** Holds a batch when a call may cost more than its budget, or the night's, has left. */
const budgetRule: HoldRule = {
  reason: "budget",
  async prepare(db, now) {
    const windows = await valueOf(db, WINDOWS)`select windows from nightdesk_data.installation`;
    const night = nightOf(now, windows);
    let held = await releaseBudgetHolds(db, night);
    if (held.size > 0 && (await endChecksOverBudget(db)))
      held = await releaseBudgetHolds(db, night);
    return ({ batchId }) => held.get(batchId);
  },
};

/**
 * Holds a batch when hosts are down and no living worker can run any of its waiting jobs without them. When no worker is alive,
 * holds a batch with jobs that are parked for a host that is down.
 */
const hostRule: HoldRule = {
  reason: "host",
  async prepare(db) {
    const held = await selectHeldByHosts(db);
    return ({ batchId }) => held.get(batchId);
  },
};

const heldSchema = camelRow({ batch_id: z.string(), until: z.date() });

async function selectHeldByHosts(db: Queryable): Promise<ReadonlyMap<string, Date>> {
  const rows = await rowsOf(db, heldSchema)`
     with blocked as materialized (select ${BLOCKED_KINDS} as kinds, ${SOMEONE_IS_ALIVE} as by_living),
     down as materialized (select host, next_probe_at from nightdesk_data.hosts where state = 'open'),
     parked as materialized (
       select j.batch_id, max(down.next_probe_at) as until
         from down join nightdesk_data.jobs j on j.parked_host = down.host group by j.batch_id)
     select b.batch_id, coalesce(parked.until, (select min(next_probe_at) from down)) as until
       from blocked, nightdesk_data.batches b left join parked using (batch_id)
      where b.state = 'open' and exists (select from down)
        and case when by_living then kinds <> '{}' and ${IS_BLOCKED} else parked.until is not null end`;
  return new Map(rows.map(({ batchId, until }) => [batchId, until]));
}

/** A batch is held when at least this many of its jobs, and more than this share of them, wait for a person. */
const FEWEST_WAITING = 20;
const SHARE_WAITING = 0.25;

/** Holds a batch when many of its jobs wait for approval: the rest would only request more. */
const approvalsRule: HoldRule = {
  reason: "approvals",
  async prepare(db) {
    const waiting = await valuesOf(db, z.string(), [FEWEST_WAITING, SHARE_WAITING])`
       select w.batch_id
         from (select batch_id, count(*) as jobs from nightdesk_data.jobs
                where waiting_for = 'approval' group by batch_id having count(*) >= $1) w
        cross join lateral (
          select sum(total) as total from nightdesk_data.batch_counts c where c.batch_id = w.batch_id) of_all
        where w.jobs > $2::double precision * of_all.total`;
    const held = new Set(waiting);
    return ({ batchId }) => (held.has(batchId) ? null : undefined);
  },
};

/** Why a batch is held. If several reasons apply, the first in HOLD_RULES is reported. */
export const HOLD_REASONS = ["paused", "approvals", "window", "budget", "host"] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/** The facts for all rules; a rule that needs more reads it itself, for all batches at once. */
type OpenBatch = {
  readonly batchId: string;
  readonly pausedAt: Date | null;
  /** Its own windows, or those of the installation. */
  readonly windows: readonly string[];
};

/**
 * One reason to hold batches. `prepare` reads what it needs, once for each evaluation, and returns a function that is called for
 * every open batch. It returns when the hold ends by itself, null when that is unknown, and undefined when it does not hold the
 * batch.
 */
export type HoldRule = {
  readonly reason: HoldReason;
  readonly prepare: (
    db: Queryable,
    now: Date,
  ) => Promise<(batch: OpenBatch) => Date | null | undefined>;
};

const windowClock = createWindowClock();

const pausedRule: HoldRule = {
  reason: "paused",
  prepare: async () => (batch) => (batch.pausedAt === null ? undefined : null),
};

const windowRule: HoldRule = {
  reason: "window",
  prepare: async (_, now) => (batch) => {
    const { isOpen, until } = windowClock(batch.windows, now);
    return isOpen ? undefined : until;
  },
};

/** In order of precedence: first the reasons that only a person can end. */
export const HOLD_RULES: readonly HoldRule[] = [
  pausedRule,
  approvalsRule,
  windowRule,
  budgetRule,
  hostRule,
];

/** SQL condition on batch `b`: its jobs may start now, within its own windows or those of the installation. */
export const MAY_RUN = `(b.state = 'open' and b.hold_reason is null and b.paused_at is null
       and (b.deadline_at is null or b.deadline_at > clock_timestamp())
       and (b.closes_at > clock_timestamp() or b.closes_at is null
            and coalesce(b.windows, (select windows from nightdesk_data.installation)) = '{}'))`;

const openSchema = z
  .object({
    batch_id: z.string(),
    paused_at: z.date().nullable(),
    windows: z.array(z.string()),
    hold_reason: z.enum(HOLD_REASONS).nullable(),
    hold_until: z.date().nullable(),
    // The driver returns Infinity for 'infinity'.
    closes_at: z.union([z.date(), z.literal(Infinity)]).nullable(),
    now: z.date(),
    version: z.string(),
  })
  .transform((row) => ({
    batch: { batchId: row.batch_id, pausedAt: row.paused_at, windows: row.windows },
    holdReason: row.hold_reason,
    holdUntil: row.hold_until,
    closesAt: row.closes_at === null ? null : Number(row.closes_at),
    now: row.now,
    version: row.version,
  }));
type OpenBatchRow = z.infer<typeof openSchema>;

type HoldDecision = Pick<OpenBatchRow, "holdReason" | "holdUntil" | "closesAt">;

const changeSchema = camelRow({
  batch_id: z.string(),
  reason: z.enum(HOLD_REASONS).nullable(),
  until: z.date().nullable(),
});
/** A batch whose hold changed; `reason` is null when it continues. */
type HoldChange = z.infer<typeof changeSchema>;

/**
 * Determines for every open batch whether and why it is held, until when, and when its window ends. Stores the changes, and takes
 * the deliveries of newly held batches out of the count of the queue. Workers call it every second, and so do commands that
 * change one of the facts.
 * @param now default: the database's clock
 * @returns the changes
 */
export async function evaluateHolds(
  db: Queryable,
  now: Date | "database" = "database",
  rules: readonly HoldRule[] = HOLD_RULES,
): Promise<readonly HoldChange[]> {
  const open = await selectOpen(db, now);
  const [first] = open;
  if (first === undefined) return [];
  const deciding = await Promise.all(
    rules.map(async ({ reason, prepare }) => ({ reason, decide: await prepare(db, first.now) })),
  );
  const changed = open
    .map((row) => ({ row, decision: decideHold(row, deciding) }))
    .filter(({ row, decision }) => hasChanged(row, decision));
  if (changed.length === 0) return [];
  return writeHolds(db, changed);
}

const selectOpen = (db: Queryable, now: Date | "database"): Promise<readonly OpenBatchRow[]> =>
  rowsOf(db, openSchema, [now === "database" ? null : now])`
     select b.batch_id, b.paused_at, coalesce(b.windows, i.windows) as windows, b.hold_reason, b.hold_until,
            b.closes_at, coalesce($1::timestamptz, clock_timestamp()) as now, b.xmin::text as version
       from nightdesk_data.batches b, nightdesk_data.installation i
      where b.state = 'open' and b.origin <> 'system'`;

type DecidingRule = {
  readonly reason: HoldReason;
  readonly decide: (batch: OpenBatch) => Date | null | undefined;
};

function decideHold(
  { batch, holdReason, holdUntil, now }: OpenBatchRow,
  deciding: readonly DecidingRule[],
): HoldDecision {
  const closesAt = closingTime(batch.windows, now);
  for (const { reason, decide } of deciding) {
    const until = decide(batch);
    if (until !== undefined) return { holdReason: reason, holdUntil: until, closesAt };
  }
  const isKnown = deciding.some(({ reason }) => reason === holdReason);
  return isKnown
    ? { holdReason: null, holdUntil: null, closesAt }
    : { holdReason, holdUntil, closesAt };
}

function closingTime(windows: readonly string[], now: Date): number | null {
  if (windows.length === 0) return null;
  const { isOpen, until } = windowClock(windows, now);
  return isOpen ? Number(until ?? Infinity) : null;
}

const hasChanged = (row: OpenBatchRow, decision: HoldDecision): boolean =>
  row.holdReason !== decision.holdReason ||
  row.holdUntil?.getTime() !== decision.holdUntil?.getTime() ||
  row.closesAt !== decision.closesAt;

/** A row that another session changed meanwhile is left for the next evaluation. */
const writeHolds = (
  db: Queryable,
  changed: readonly { readonly row: OpenBatchRow; readonly decision: HoldDecision }[],
): Promise<readonly HoldChange[]> =>
  rowsOf(db, changeSchema, [
    changed.map(({ row }) => row.batch.batchId),
    changed.map(({ row }) => row.version),
    changed.map(({ decision }) => decision.holdReason),
    changed.map(({ decision }) => decision.holdUntil),
    changed.map(({ decision }) => timeOf(decision.closesAt)),
  ])`
     with kept as (
       update nightdesk_data.batches b
          set hold_reason = n.hold_reason, hold_until = n.hold_until, closes_at = n.closes_at
         from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
              as n (batch_id, version, hold_reason, hold_until, closes_at)
        where b.batch_id = n.batch_id and b.xmin::text = n.version and b.state = 'open'
       returning b.batch_id, b.hold_reason, b.hold_until),
     free as materialized (
       select j.job_id from nightdesk_data.jobs j join kept using (batch_id)
        where j.dispatched_at is not null and kept.hold_reason is not null
          for no key update of j skip locked),
     withdrawn as (
       update nightdesk_data.jobs j set dispatched_at = null from free where j.job_id = free.job_id)
     select batch_id, hold_reason as reason, hold_until as until from kept order by batch_id`;

function timeOf(milliseconds: number | null): string | null {
  if (milliseconds === null) return null;
  return milliseconds === Infinity ? "infinity" : new Date(milliseconds).toISOString();
}

/**
 * Stores the default windows from the workers' configuration.
 * @returns the windows before
 */
export const setDefaultWindows = (
  db: Queryable,
  windows: readonly string[],
): Promise<readonly string[]> =>
  valueOf(db, WINDOWS, [windows])`
     with before as materialized (select windows from nightdesk_data.installation),
     now as (update nightdesk_data.installation set windows = $1 where windows <> $1)
     select windows from before`;

const holdSchema = z.object({
  reason: z.enum(HOLD_REASONS),
  /** The host, the windows, or the used up budget, like `calls of the batch`. */
  detail: z.string().nullable(),
  began_at: z.date(),
  /** Null while it lasts. */
  ended_at: z.date().nullable(),
  /** How often it occurred: a hold that returns within a minute extends the same span. */
  times: z.int(),
  /** Without the gaps between these times. */
  held_ms: z.coerce.number(),
});
/** A time span during which a batch was held for one reason. */
export type PastHold = z.infer<typeof holdSchema>;

/** All holds of a batch, oldest first; a database trigger records them, about 500 for each batch at most. */
export const selectHolds = (db: Queryable, batchId: string): Promise<readonly PastHold[]> =>
  rowsOf(db, holdSchema, [batchId])`
     select reason, detail, began_at, ended_at, times, held_ms from nightdesk.batch_holds
      where batch_id = $1 order by began_at, ended_at nulls last, reason, detail`;
