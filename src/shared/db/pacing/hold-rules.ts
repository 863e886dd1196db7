import { z } from "zod";
import { nightOf } from "../../windows.ts";
import type { Queryable } from "../database.ts";
import type { HoldRule } from "../jobs/holds.ts";
import { BLOCKED_KINDS, IS_BLOCKED, SOMEONE_IS_ALIVE } from "./blocked-kinds.ts";
import { keepBudgetHolds } from "./budgets.ts";

const windowsSchema = z.tuple([z.object({ windows: z.array(z.string()) })]);

/** A call of the batch may cost more than is left of its budget, or of the night's. */
export const budgetRule: HoldRule = {
  reason: "budget",
  async look(db, now) {
    const { rows } = await db.query("select windows from nightdesk_data.installation");
    const held = await keepBudgetHolds(db, nightOf(now, windowsSchema.parse(rows)[0].windows));
    return ({ batchId }) => held.get(batchId);
  },
};

/**
 * Hosts are down, and of the jobs that wait there is none that a living worker could do without them. While nobody is
 * alive, a batch is held whose own jobs have met a host that is down.
 */
export const hostRule: HoldRule = {
  reason: "host",
  async look(db) {
    const held = await selectHeldByHosts(db);
    return ({ batchId }) => held.get(batchId);
  },
};

const heldSchema = z.array(z.object({ batch_id: z.string(), until: z.date() }));

async function selectHeldByHosts(db: Queryable): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await db.query(
    `with blocked as materialized (select ${BLOCKED_KINDS} as kinds, ${SOMEONE_IS_ALIVE} as by_living),
     down as materialized (select host, next_probe_at from nightdesk_data.hosts where state = 'open'),
     parked as materialized (
       select j.batch_id, max(down.next_probe_at) as until
         from down join nightdesk_data.jobs j on j.parked_host = down.host group by j.batch_id)
     select b.batch_id, coalesce(parked.until, (select min(next_probe_at) from down)) as until
       from blocked, nightdesk_data.batches b left join parked using (batch_id)
      where b.state = 'open' and exists (select from down)
        and case when by_living then kinds <> '{}' and ${IS_BLOCKED} else parked.until is not null end`,
  );
  return new Map(heldSchema.parse(rows).map(({ batch_id, until }) => [batch_id, until]));
}
