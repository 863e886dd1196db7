import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";

const spent = z.object({ calls: z.number(), tokens: z.number(), money: z.number() });

const overviewSchema = z.array(
  z
    .object({
      host: z.string(),
      name: z.string().nullable(),
      provider: z.string(),
      priority: z.number(),
      state: z.enum(["closed", "open"]),
      error_code: z.string().nullable(),
      error_message: z.string().nullable(),
      next_try_at: z.date().nullable(),
      next_call_at: z.date().nullable(),
      capacity: z.number(),
      capacity_reason: z.string(),
      in_use: z.coerce.number(),
      waiting: z.coerce.number(),
      requests_per_minute: z.number().nullable(),
      tokens_per_minute: z.number().nullable(),
      night: spent,
      total: spent,
    })
    .transform((row) => ({
      host: row.host,
      name: row.name,
      provider: row.provider,
      priority: row.priority,
      state: row.state,
      errorCode: row.error_code,
      errorMessage: row.error_message,
      nextTryAt: row.next_try_at,
      nextCallAt: row.next_call_at,
      capacity: row.capacity,
      capacityReason: row.capacity_reason,
      inUse: row.in_use,
      waiting: row.waiting,
      requestsPerMinute: row.requests_per_minute,
      tokensPerMinute: row.tokens_per_minute,
      night: row.night,
      total: row.total,
    })),
);
/** A model host as `hosts list` shows it: how it stands, and what it has cost tonight and in all. */
export type HostOverview = z.infer<typeof overviewSchema>[number];

const spentOf = (condition: string): string =>
  `(select jsonb_build_object('calls', coalesce(sum(n.calls), 0), 'tokens', coalesce(sum(n.tokens), 0),
                              'money', coalesce(sum(n.money), 0))
      from nightdesk.host_nights n where n.host = h.host and ${condition})`;

/** Model hosts that were called, by priority; those of the web are no model hosts. */
export async function selectHostOverview(db: Queryable): Promise<readonly HostOverview[]> {
  const { rows } = await db.query(
    `select h.host, h.name, h.provider, h.priority, h.state, h.error_code, h.error_message, h.next_try_at, h.next_call_at,
            h.capacity, h.capacity_reason, h.in_use, h.waiting, h.requests_per_minute, h.tokens_per_minute,
            ${spentOf("n.night = (select max(night) from nightdesk.budgets where scope = 'night')")} as night,
            ${spentOf("true")} as total
       from nightdesk.hosts h where h.provider <> 'web' order by h.priority, h.host`,
  );
  return overviewSchema.parse(rows);
}
