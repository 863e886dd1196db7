import { z } from "zod";
import { nightOf } from "../../night.ts";
import type { Queryable } from "../database.ts";
import type { HoldRule } from "../jobs/holds.ts";
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

/** Jobs of the batch are parked for a host that is down. */
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
    `select j.batch_id, max(h.next_probe_at) as until
       from nightdesk_data.hosts h join nightdesk_data.jobs j on j.parked_host = h.host
      where h.state = 'open' group by j.batch_id`,
  );
  return new Map(heldSchema.parse(rows).map(({ batch_id, until }) => [batch_id, until]));
}
