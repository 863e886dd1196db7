import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { camelRow, rowsOf } from "../store/connection/rows.ts";
import { countOf, formatCount, formatDuration, formatMoney } from "./quantity.ts";

const spent = z.object({ calls: z.number(), tokens: z.number(), money: z.number() });

const overviewSchema = camelRow({
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
  unanswered: z.number(),
  unanswered_ms: z.number().nullable(),
  requests_per_minute: z.number().nullable(),
  tokens_per_minute: z.number().nullable(),
  night: spent,
  total: spent,
});
/** A model host as `hosts list` shows it: its state, and its cost of tonight and in total. */
export type HostOverview = z.infer<typeof overviewSchema>;

const spentOf = (condition: string): string =>
  `(select jsonb_build_object('calls', coalesce(sum(n.calls), 0), 'tokens', coalesce(sum(n.tokens), 0),
                              'money', coalesce(sum(n.money), 0))
      from nightdesk.host_nights n where n.host = h.host and ${condition})`;

/** SQL: calls without an answer for a minute. The model computes for long, or the host accepted the calls and hangs. */
const UNANSWERED = `
  select count(*)::int as unanswered,
         (extract(epoch from clock_timestamp() - min(s.taken_at)) * 1000)::double precision as unanswered_ms
    from nightdesk_data.host_slots s
   where s.host = h.host and s.taken_at < clock_timestamp() - interval '1 min'`;

/** Hosts that were called, by priority: those of models only, or those of the web too. */
export const selectHostOverview = (
  db: Queryable,
  of: "models" | "all",
): Promise<readonly HostOverview[]> =>
  rowsOf(db, overviewSchema, [of])`
     select h.host, h.name, h.provider, h.priority, h.state, h.error_code, h.error_message, h.next_try_at, h.next_call_at,
            h.capacity, h.capacity_reason, h.in_use, h.waiting, h.requests_per_minute, h.tokens_per_minute,
            ${spentOf("n.night in (select night from nightdesk_data.nights where ends_at > clock_timestamp())")} as night,
            ${spentOf("true")} as total, s.unanswered, s.unanswered_ms
       from nightdesk.hosts h
       left join lateral (${UNANSWERED}) s on true
      where h.provider <> 'web' or $1 = 'all' order by h.priority, h.host limit ${MOST_HOSTS}`;

const MOST_HOSTS = 200;

/** A warning about calls without an answer for more than a minute; null if there are none. */
export function unansweredText({
  name,
  host,
  unanswered,
  unansweredMs,
}: HostOverview): string | null {
  if (unansweredMs === null) return null;
  return (
    `${name ?? host} has ${countOf(unanswered, "call")} without an answer for ${formatDuration(unansweredMs)}: its model takes long, or it hangs. ` +
    "Look at its log; model.timeout_s ends a call."
  );
}

/** The limits per minute of a host; null without a limit. */
export function limitsText({
  requestsPerMinute: requests,
  tokensPerMinute: tokens,
}: Pick<HostOverview, "requestsPerMinute" | "tokensPerMinute">): string | null {
  const parts = [
    ...(requests === null ? [] : [`${formatCount(requests)} calls/min`]),
    ...(tokens === null ? [] : [`${formatCount(tokens)} tokens/min`]),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}

/** The cost of the calls of a host; null if there were none. */
export function spentText({ calls, tokens, money }: HostOverview["night"]): string | null {
  if (calls === 0) return null;
  const counts = `${countOf(calls, "call")}, ${countOf(tokens, "token")}`;
  return money === 0 ? counts : `${counts}, ${formatMoney(money)}`;
}
