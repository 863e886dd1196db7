-- When and why batches were held, also after they went on; and what retention leaves alone, where it can be seen.

-- A row a span in which a batch was held for one reason. What comes again within a minute, such as a host that answers
-- one call in three, is the same span: `times` counts it, and `held` has no gap in it.
create table nightdesk_data.hold_history (
  hold_id bigint generated always as identity primary key,
  batch_id uuid not null references nightdesk_data.batches on delete cascade,
  reason text not null check (reason in ('paused', 'window', 'budget', 'host')),
  -- The host, the windows, or what was used up; null where there is nothing to say.
  detail text,
  began_at timestamptz not null,
  -- When it was last held; the same as began_at unless it came again.
  since timestamptz not null,
  ended_at timestamptz,
  times integer not null default 1 check (times >= 1),
  -- Of those times that have ended.
  held interval not null default '0',
  constraint spans_go_forward check (began_at <= since and since <= ended_at)
);
create index hold_history_by_batch on nightdesk_data.hold_history (batch_id, began_at);
create unique index holds_that_last on nightdesk_data.hold_history (batch_id) where ended_at is null;

insert into nightdesk_data.hold_history (batch_id, reason, began_at, since)
select batch_id, hold_reason, began_at, began_at
  from (select batch_id, hold_reason,
               case hold_reason when 'paused' then least(paused_at, clock_timestamp()) else clock_timestamp() end as began_at
          from nightdesk_data.batches where hold_reason is not null) held;

-- What a reason does not say by itself. The bounds are those of reserve_budget, in its order.
create function nightdesk_data.hold_detail(b nightdesk_data.batches) returns text language sql volatile as $$
  select case b.hold_reason
    when 'window' then
      (select array_to_string(coalesce(b.windows, i.windows), ', ') from nightdesk_data.installation i)
    when 'host' then
      (select string_agg(h.host, ', ' order by h.host) from nightdesk_data.hosts h
        where h.state = 'open'
          -- The batch is held before the job that met the host is parked, until the host is asked next.
          and (h.next_probe_at = b.hold_until
               or exists (select from nightdesk_data.jobs j where j.parked_host = h.host and j.batch_id = b.batch_id)))
    when 'budget' then coalesce(
      (select case when u.calls_used + u.calls_reserved + 1 > u.calls_limit then 'calls of the batch'
                   when u.tokens_used + u.tokens_reserved + u.tokens_needed > u.tokens_limit then 'tokens of the batch'
                   when u.seconds_used + 0.001 > u.seconds_limit then 'seconds of the batch' end
         from nightdesk_data.batch_budgets u where u.batch_id = b.batch_id),
      (select case when n.calls_used + n.calls_reserved + 1 > n.calls_limit then 'calls of the night'
                   when n.tokens_used + n.tokens_reserved + u.tokens_needed > n.tokens_limit then 'tokens of the night'
                   when n.seconds_used + 0.001 > n.seconds_limit then 'seconds of the night' end
         from nightdesk_data.nights n, nightdesk_data.batch_budgets u
        where n.ends_at = b.hold_until and u.batch_id = b.batch_id))
  end
$$;

-- The lock on the batch, which who changes it has, is that on its history. A plan that is kept from when the
-- history was short would read all of it for every batch.
create function nightdesk_data.keep_hold_history() returns trigger language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  at timestamptz := clock_timestamp();
  lasting nightdesk_data.hold_history;
  why text := nightdesk_data.hold_detail(new);
begin
  select * into lasting from nightdesk_data.hold_history where batch_id = new.batch_id and ended_at is null;
  if lasting.reason = new.hold_reason and (why is null or lasting.detail is null or why = lasting.detail) then
    update nightdesk_data.hold_history set detail = why where hold_id = lasting.hold_id and detail is null;
    return null;
  end if;
  -- A clock that is set back ends nothing before it began.
  at := greatest(at, lasting.since);
  update nightdesk_data.hold_history set ended_at = at, held = held + (at - since) where hold_id = lasting.hold_id;
  if new.hold_reason is null then
    return null;
  end if;
  -- Beyond 500 spans no gap is too long, and no detail too different: the history of a batch has an end.
  update nightdesk_data.hold_history
     set ended_at = null, since = greatest(at, ended_at), times = times + 1, detail = coalesce(why, detail)
   where hold_id = (
     select hold_id from nightdesk_data.hold_history h
      where h.batch_id = new.batch_id and h.reason = new.hold_reason
        and (h.ended_at > at - interval '1 minute' and (why is null or h.detail is null or why = h.detail)
             or (select count(*) from nightdesk_data.hold_history n where n.batch_id = new.batch_id) >= 500)
      order by h.ended_at desc, h.hold_id desc limit 1);
  if not found then
    insert into nightdesk_data.hold_history (batch_id, reason, detail, began_at, since)
    values (new.batch_id, new.hold_reason, why, at, at);
  end if;
  return null;
end $$;
-- Whatever holds a batch or lets it go, the trigger sees it: a cancellation, a deadline and an end do the latter. Another
-- time at which it goes on may mean another host or other windows.
create trigger keep_hold_history after update of hold_reason, hold_until on nightdesk_data.batches
  for each row when ((old.hold_reason, old.hold_until) is distinct from (new.hold_reason, new.hold_until))
  execute function nightdesk_data.keep_hold_history();

create view nightdesk.batch_holds as
select h.batch_id, b.name as batch, h.reason, h.detail, h.began_at, h.ended_at, h.times,
       (extract(epoch from h.held + case when h.ended_at is null then greatest('0', clock_timestamp() - h.since) else '0' end)
         * 1000)::bigint as held_ms
  from nightdesk_data.hold_history h
  join nightdesk_data.batches b using (batch_id);
comment on view nightdesk.batch_holds is
  'One row a span in which a batch was held: what comes again for the same reason within a minute is one span.';
comment on column nightdesk.batch_holds.batch_id is 'Id of the batch.';
comment on column nightdesk.batch_holds.batch is 'Name of the batch.';
comment on column nightdesk.batch_holds.reason is 'paused, window, budget or host.';
comment on column nightdesk.batch_holds.detail is
  'The host that was down, the windows, or what was used up, like calls of the batch; null where it is not known, and for paused.';
comment on column nightdesk.batch_holds.began_at is 'When it was first held.';
comment on column nightdesk.batch_holds.ended_at is 'When it last went on, or was held for another reason, or ended; null while it is held.';
comment on column nightdesk.batch_holds.times is 'How often it was held in this span.';
comment on column nightdesk.batch_holds.held_ms is 'Milliseconds for which it was held, without those between the times. Those of a batch add up.';

create or replace view nightdesk.batch_progress as
select b.batch_id, b.name as batch,
       case when b.state <> 'open' then b.state when b.hold_reason is not null then 'held'
            when c.queued = c.total then 'queued' else 'running' end as state,
       b.hold_reason, c.total, c.queued, c.running, c.parked, c.succeeded, c.refused, c.failed, c.cancelled, c.expired,
       b.created_at, b.finished_at, b.hold_until, b.deadline_at, b.pinned
  from nightdesk_data.batches b
 cross join lateral (
   select coalesce(sum(total), 0)::bigint as total, coalesce(sum(queued), 0)::bigint as queued,
          coalesce(sum(running), 0)::bigint as running, coalesce(sum(parked), 0)::bigint as parked,
          coalesce(sum(succeeded), 0)::bigint as succeeded, coalesce(sum(refused), 0)::bigint as refused,
          coalesce(sum(failed), 0)::bigint as failed, coalesce(sum(cancelled), 0)::bigint as cancelled,
          coalesce(sum(expired), 0)::bigint as expired
     from nightdesk_data.batch_counts n where n.batch_id = b.batch_id) c;
comment on column nightdesk.batch_progress.pinned is 'always or until_exported: retention leaves it alone till then; null: it may be deleted for its age.';
