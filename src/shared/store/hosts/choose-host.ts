import { z } from "zod";
import type { HostPlace } from "../../config/hosts.ts";
import type { Queryable } from "../connection/database.ts";
import { oneRowOf } from "../connection/rows.ts";

/** A host that was not reached is not the first to be tried, for so long. */
const LATELY = "10 seconds";
/** A run that has begun no call for so long is busy with something else. */
const CHOICE_LASTS = "30 seconds";

/**
 * Installed with the pacing functions. Who chooses locks hosts first and choices after them, and in the order of their
 * URLs: take_call and end_call lock one host, and before choices and budgets.
 */
export const CHOOSE_HOST_FUNCTION = `
-- Chooses the host that a run calls next, among [{"host", "priority", "overflow"}] in the order of the configuration: of
-- those that may be called now the one of the lowest priority, among equals the one with the fewest calls for its slots.
-- While all slots of these are in use, the next that has one free and takes overflow. A host that was not reached a moment
-- ago comes last. The choice counts as a call of its host until take_call knows of that, the run loses its job, or it
-- expires; of a run without an id none is noted. Choices at hosts that were tried in vain count no more.
--
--   chosen   the host
--   closed   none may be called now; how they stand, the one that comes first at the beginning
--   unknown  hosts without a row
create or replace function nightdesk_data.choose_host(run uuid, candidates jsonb, tried text[], longest_wait_ms double precision)
returns table (outcome text, detail jsonb) language plpgsql as $$
declare
  found_host text;
  others jsonb;
begin
  -- A choice that a crash takes back was of a run that is lost with it.
  perform nightdesk_data.commit_later();
  delete from nightdesk_data.host_choices where run_id = run and host = any (tried);
  -- Who chooses at the same moment counts after this choice is there.
  perform from nightdesk_data.hosts
    where host in (select asked->>'host' from jsonb_array_elements(candidates) asked)
    order by host for no key update;
  select jsonb_agg(asked->'host') into others from jsonb_array_elements(candidates) asked
   where not exists (select from nightdesk_data.hosts where host = asked->>'host');
  if others is not null then
    return query select 'unknown', others;
    return;
  end if;

  -- One statement: a call that begins is counted as a choice or as a call.
  with asked as materialized (
    select place, host, priority, overflow
      from rows from (jsonb_to_recordset(candidates) as (host text, priority integer, overflow boolean))
           with ordinality as listed (host, priority, overflow, place)),
  standing as materialized (
    select a.*, h.state, h.error_message, h.next_probe_at, paused_ms, h.state = 'open' or paused_ms > longest_wait_ms as closed,
           paused_ms > longest_wait_ms
             or h.failures > 0 and h.failed_at > clock_timestamp() - interval '${LATELY}' is true as behind,
           ((select count(*) from nightdesk_data.host_slots s
              where s.host = h.host and s.ticket is not null
                and (s.taken_at >= now() - interval '1 s' or nightdesk_data.has_its_job(s.run_id)))
            + (select count(*) from nightdesk_data.host_waiters w
                where w.host = h.host and nightdesk_data.has_its_job(w.run_id))
            + (select count(*) from nightdesk_data.host_choices c
                where c.host = h.host and c.run_id is distinct from run and c.expires_at > clock_timestamp()
                  and nightdesk_data.has_its_job(c.run_id)))::double precision / h.capacity as load
      from asked a join nightdesk_data.hosts h using (host),
           greatest(0, coalesce(extract(epoch from greatest(h.paused_until, h.tokens_free_at) - clock_timestamp()) * 1000, 0))
             as paused_ms),
  ranked as materialized (
    select *, row_number() over (order by behind, priority, load, place) as rank,
           -- Has a slot free, and is to be called while it has one.
           not closed and not behind and load < 1
             and (overflow or priority = min(priority) filter (where not closed and not behind) over ()) as helps
      from standing)
  select (select host from ranked where not closed order by helps desc, rank limit 1),
         (select jsonb_agg(jsonb_build_object('host', host, 'state', state, 'error_message', error_message,
                                              'next_probe_at', next_probe_at, 'paused_ms', paused_ms) order by rank)
            from ranked)
    into found_host, others;
  if found_host is null then
    return query select 'closed', others;
    return;
  end if;
  if run is not null then
    insert into nightdesk_data.host_choices (run_id, host, expires_at)
    values (run, found_host, clock_timestamp() + interval '${CHOICE_LASTS}')
    on conflict (run_id, host) do update set expires_at = excluded.expires_at;
  end if;
  return query select 'chosen', to_jsonb(found_host);
end $$;
`;

const closedSchema = z.array(
  z.object({
    host: z.string(),
    state: z.enum(["closed", "open"]),
    error_message: z.string().nullable(),
    next_probe_at: z.coerce.date().nullable(),
    paused_ms: z.number(),
  }),
);
/** Why a host is not called now: it is down, or is to be left alone for so long. */
export type ClosedHost = z.infer<typeof closedSchema>[number];

const chosenSchema = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("chosen"), detail: z.string() }),
  z.object({ outcome: z.literal("closed"), detail: closedSchema }),
  z.object({ outcome: z.literal("unknown"), detail: z.array(z.string()) }),
]);
type ChosenHost = z.infer<typeof chosenSchema>;

type HostQuestion = {
  /** Whose next call it is for; null for who makes none. */
  readonly runId: string | null;
  /** In the order of the configuration. */
  readonly among: readonly HostPlace[];
  /** Base URLs of those that this run has asked in vain. */
  readonly tried: readonly string[];
  /** A host that lets no call begin for longer is not called now. */
  readonly longestWaitMs: number;
};

/**
 * Chooses the host that a run calls next, so that no slot is chosen twice while another host that is to be called has one,
 * by whatever workers at the same moment.
 * @returns chosen: its base URL; closed: how they stand, the one that comes first at the beginning; unknown: see `enterHost`
 */
export async function chooseHost(
  db: Queryable,
  { runId, among, tried, longestWaitMs }: HostQuestion,
): Promise<ChosenHost> {
  const candidates = among.map(({ host, entry }) => ({
    host,
    priority: entry?.priority ?? 0,
    overflow: entry?.takesOverflow === true,
  }));
  return oneRowOf(
    db,
    chosenSchema,
    [runId, JSON.stringify(candidates), tried, longestWaitMs],
    "choose_host",
  )`select * from nightdesk_data.choose_host($1, $2, $3, $4)`;
}
