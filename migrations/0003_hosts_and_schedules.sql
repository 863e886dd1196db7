-- Model hosts (how many calls each gets at once, and what is kept from one that is down), what calls may cost, when
-- batches were held, schedules, and what is called when a batch ends.

create table nightdesk_data.hosts (
  -- Base URL, scheme://host[:port]. It has to mean the same on every machine that has a worker.
  host text primary key check (host <> ''),
  provider text not null check (provider in ('ollama', 'openai-compatible')),
  -- Calls at once, and why so many.
  capacity integer not null check (capacity >= 1),
  capacity_reason text not null,
  capacity_changed_at timestamptz not null default clock_timestamp(),
  -- configured: the operator said how many it serves. found: nobody did, and it grows while that makes the host faster.
  sizing text not null check (sizing in ('configured', 'found')),
  most integer not null check (most <= 64),
  -- Calls since the capacity changed that had every slot in use, with their tokens and seconds.
  full_calls integer not null default 0,
  full_tokens bigint not null default 0,
  full_seconds double precision not null default 0,
  -- Tokens a second with one slot fewer; null where that was not measured.
  rate_before double precision,
  raise_after timestamptz not null default '-infinity',
  -- The breaker. closed: calls go through. open: its last calls failed, one worker asks now and then whether it is back.
  state text not null default 'closed' check (state in ('closed', 'open')),
  failures integer not null default 0 check (failures >= 0),
  error_code text,
  error_message text,
  failed_at timestamptz,
  opened_at timestamptz,
  next_probe_at timestamptz,
  -- Probes that failed since a call last succeeded: each makes the next pause longer.
  probes integer not null default 0 check (probes >= 0),
  prober uuid,
  probing_until timestamptz,
  constraint capacity_is_within_bounds check (capacity <= most),
  constraint open_hosts_have_times
    check ((state = 'open') = (opened_at is not null) and (state = 'open') = (next_probe_at is not null)),
  constraint probes_have_an_end check ((prober is null) = (probing_until is null)),
  constraint only_open_hosts_are_probed check (prober is null or state = 'open'),
  constraint errors_come_with_a_time check ((error_code is null) = (failed_at is null))
);

-- One row a call that the host may get at once; those above its capacity stay empty.
create table nightdesk_data.host_slots (
  host text not null references nightdesk_data.hosts on delete cascade,
  slot integer not null check (slot between 1 and 64),
  ticket uuid unique,
  -- Holds it while it has its job and a lease: a run that lost its job holds nothing.
  run_id uuid,
  taken_at timestamptz,
  -- Slots in use when it was taken, this one included.
  in_use integer check (in_use >= 1),
  primary key (host, slot),
  constraint taken_slots_are_taken_whole
    check (num_nulls(ticket, run_id, taken_at, in_use) in (0, 4))
);

-- Calls that wait for a slot, over all workers: who came first is served first.
create table nightdesk_data.host_waiters (
  ticket uuid primary key,
  host text not null references nightdesk_data.hosts on delete cascade,
  run_id uuid not null,
  since timestamptz not null default clock_timestamp()
);
create index host_waiters_in_order on nightdesk_data.host_waiters (host, since, ticket);

create table nightdesk_data.batch_budgets (
  batch_id uuid primary key references nightdesk_data.batches on delete cascade,
  -- Which limits are the batch's own; the others follow the configuration.
  own text[] not null default '{}' check (own <@ array['tokens', 'calls', 'seconds']),
  tokens_limit bigint check (tokens_limit > 0),
  calls_limit bigint check (calls_limit > 0),
  seconds_limit double precision check (seconds_limit > 0),
  tokens_used bigint not null default 0 check (tokens_used >= 0),
  calls_used bigint not null default 0 check (calls_used >= 0),
  seconds_used double precision not null default 0 check (seconds_used >= 0),
  tokens_reserved bigint not null default 0 check (tokens_reserved >= 0),
  calls_reserved bigint not null default 0 check (calls_reserved >= 0),
  -- The least that a call needs which was refused; the batch is held until that fits.
  tokens_needed bigint,
  refused_by text check (refused_by in ('batch', 'night')),
  refused_at timestamptz,
  constraint refusals_say_what_was_needed check (num_nulls(tokens_needed, refused_by, refused_at) in (0, 3))
);
create index refused_budgets on nightdesk_data.batch_budgets (refused_at) where refused_at is not null;

create table nightdesk_data.nights (
  -- The day on whose evening it begins: a night goes from noon to noon.
  night date primary key,
  ends_at timestamptz not null,
  tokens_limit bigint check (tokens_limit > 0),
  calls_limit bigint check (calls_limit > 0),
  seconds_limit double precision check (seconds_limit > 0),
  tokens_used bigint not null default 0 check (tokens_used >= 0),
  calls_used bigint not null default 0 check (calls_used >= 0),
  seconds_used double precision not null default 0 check (seconds_used >= 0),
  tokens_reserved bigint not null default 0 check (tokens_reserved >= 0),
  calls_reserved bigint not null default 0 check (calls_reserved >= 0)
);

-- What calls in flight may cost. It is given back with the run that holds it.
create table nightdesk_data.reservations (
  ticket uuid primary key,
  run_id uuid not null,
  batch_id uuid not null,
  night date not null,
  tokens bigint not null check (tokens >= 0),
  made_at timestamptz not null default clock_timestamp()
);

-- In SQL it would be parsed and planned each time.
create function nightdesk_data.has_its_job(run uuid) returns boolean language plpgsql volatile as $$
begin
  return exists (select from nightdesk_data.jobs
                  where run_id = run and state = 'running' and lease_until > clock_timestamp());
end $$;

-- The commit of this transaction reaches the disk with the next that is waited for, a fifth of a second later at most. The
-- rows that all calls of a batch and of a night have in common are then free again at once. Without fsync a commit waits
-- for nothing, and there may be nobody who writes it later.
create function nightdesk_data.commit_later() returns void language plpgsql as $$
begin
  if current_setting('fsync') = 'on' then
    perform set_config('synchronous_commit', 'off', true);
  end if;
end $$;

-- Reserves what a call may cost, or says which limit that would pass. Wall time is known only afterwards: a call begins
-- while there is some left, and what is in flight then ends.
create function nightdesk_data.reserve_budget(new_ticket uuid, run uuid, batch uuid, cost jsonb) returns jsonb
language plpgsql as $$
declare
  c record;
  b nightdesk_data.batch_budgets;
  n nightdesk_data.nights;
  refused jsonb;
begin
  select * into c from jsonb_to_record(cost) as c (tokens bigint, night date, night_ends_at timestamptz,
         batch_tokens bigint, batch_calls bigint, batch_seconds double precision,
         night_tokens bigint, night_calls bigint, night_seconds double precision);
  -- Both rows are locked by this, always in this order.
  insert into nightdesk_data.batch_budgets as kept
         (batch_id, tokens_limit, calls_limit, seconds_limit, tokens_reserved, calls_reserved)
  values (batch, c.batch_tokens, c.batch_calls, c.batch_seconds, c.tokens, 1)
  on conflict (batch_id) do update set
    tokens_limit = case when 'tokens' = any (kept.own) then kept.tokens_limit else excluded.tokens_limit end,
    calls_limit = case when 'calls' = any (kept.own) then kept.calls_limit else excluded.calls_limit end,
    seconds_limit = case when 'seconds' = any (kept.own) then kept.seconds_limit else excluded.seconds_limit end,
    tokens_reserved = kept.tokens_reserved + c.tokens, calls_reserved = kept.calls_reserved + 1
  returning * into b;
  insert into nightdesk_data.nights as kept
         (night, ends_at, tokens_limit, calls_limit, seconds_limit, tokens_reserved, calls_reserved)
  values (c.night, c.night_ends_at, c.night_tokens, c.night_calls, c.night_seconds, c.tokens, 1)
  on conflict (night) do update set tokens_limit = excluded.tokens_limit, calls_limit = excluded.calls_limit,
    seconds_limit = excluded.seconds_limit,
    tokens_reserved = kept.tokens_reserved + c.tokens, calls_reserved = kept.calls_reserved + 1
  returning * into n;
  insert into nightdesk_data.reservations (ticket, run_id, batch_id, night, tokens)
  values (new_ticket, run, batch, c.night, c.tokens);

  if num_nonnulls(b.tokens_limit, b.calls_limit, b.seconds_limit,
                  n.tokens_limit, n.calls_limit, n.seconds_limit) = 0 then
    -- A reservation that a crash takes back keeps nobody from anything.
    perform nightdesk_data.commit_later();
    return null;
  end if;
  select jsonb_build_object('by', by, 'what', what, 'limit', most, 'used', used, 'reserved', reserved, 'needed', needed)
    into refused
    from (values (1, 'batch', 'calls', b.calls_limit::double precision, b.calls_used::double precision, b.calls_reserved - 1, 1),
                 (2, 'batch', 'tokens', b.tokens_limit, b.tokens_used, b.tokens_reserved - c.tokens, c.tokens),
                 (3, 'batch', 'seconds', b.seconds_limit, b.seconds_used, 0, 0.001),
                 (4, 'night', 'calls', n.calls_limit, n.calls_used, n.calls_reserved - 1, 1),
                 (5, 'night', 'tokens', n.tokens_limit, n.tokens_used, n.tokens_reserved - c.tokens, c.tokens),
                 (6, 'night', 'seconds', n.seconds_limit, n.seconds_used, 0, 0.001))
           as bounds (place, by, what, most, used, reserved, needed)
   where used + reserved + needed > most order by place limit 1;
  if refused is null then
    return null;
  end if;

  delete from nightdesk_data.reservations where ticket = new_ticket;
  update nightdesk_data.batch_budgets
     set tokens_reserved = tokens_reserved - c.tokens, calls_reserved = calls_reserved - 1,
         tokens_needed = least(tokens_needed, c.tokens), refused_by = refused->>'by',
         refused_at = coalesce(refused_at, clock_timestamp())
   where batch_id = batch;
  update nightdesk_data.nights
     set tokens_reserved = tokens_reserved - c.tokens, calls_reserved = calls_reserved - 1 where night = c.night;
  update nightdesk_data.batches
     set hold_reason = 'budget', hold_until = case refused->>'by' when 'night' then n.ends_at end
   where batch_id = batch and state = 'open' and (hold_reason is null or hold_reason = 'host');
  return refused;
end $$;

-- Lets a call begin: takes a slot of its host and reserves what it may cost, both or neither.
--
--   taken    the slot is held until end_call, or until the run loses its job
--   wait     all slots are in use, or others came first; its place in the order is kept
--   open     the host is down
--   budget   it may cost more than is left; its batch is held
--   lost     the run has lost its job
--   unknown  the host has no row yet
create function nightdesk_data.take_call(new_ticket uuid, run uuid, at_host text, cost jsonb)
returns table (outcome text, detail jsonb) language plpgsql as $$
declare
  h nightdesk_data.hosts;
  batch uuid;
  mine timestamptz;
  busy integer;
  draining integer;
  ahead integer;
  found_slot integer;
  is_locked boolean := false;
  refused jsonb;
begin
  -- Asked again, because the reply was lost with its connection.
  if exists (select from nightdesk_data.host_slots where ticket = new_ticket) then
    return query select 'taken', null::jsonb;
    return;
  end if;
  select batch_id into batch from nightdesk_data.jobs where run_id = run and state = 'running';
  select * into h from nightdesk_data.hosts where host = at_host;
  if batch is null or h.host is null or h.state = 'open' then
    delete from nightdesk_data.host_waiters where ticket = new_ticket;
    return query select case when batch is null then 'lost' when h.host is null then 'unknown' else 'open' end,
                        to_jsonb(h);
    return;
  end if;

  select since into mine from nightdesk_data.host_waiters where ticket = new_ticket;
  loop
    -- Of a slot that was taken a moment ago, this transaction may not see the run that did: it is not looked for.
    select count(*), count(*) filter (where slot > h.capacity) into busy, draining
      from nightdesk_data.host_slots
     where host = at_host and ticket is not null
       and (taken_at >= now() - interval '1 s' or nightdesk_data.has_its_job(run_id));
    if busy < h.capacity then
      -- No more of those who came first are looked for than there is room for.
      select count(*) into ahead
        from (select from nightdesk_data.host_waiters w
               where w.host = at_host and w.ticket <> new_ticket
                 and (w.since, w.ticket) < (coalesce(mine, clock_timestamp()), new_ticket)
                 and nightdesk_data.has_its_job(w.run_id)
               limit h.capacity - busy) others;
      if ahead < h.capacity - busy then
        -- A slot beyond the capacity that is still in use counts for one below it.
        select slot into found_slot from nightdesk_data.host_slots
         where host = at_host and slot <= h.capacity - draining
           and (ticket is null or taken_at < now() - interval '1 s' and not nightdesk_data.has_its_job(run_id))
         order by slot limit 1 for update skip locked;
      end if;
    end if;
    exit when found_slot is not null or mine is not null or is_locked;
    -- A call that ends now would tell nobody. Who ends one has the host locked until those who wait can be seen.
    select * into h from nightdesk_data.hosts where host = at_host for no key update;
    is_locked := true;
  end loop;
  if found_slot is null then
    insert into nightdesk_data.host_waiters (ticket, host, run_id) values (new_ticket, at_host, run)
    on conflict (ticket) do nothing;
    perform nightdesk_data.commit_later();
    return query select 'wait', jsonb_build_object('since_us', (extract(epoch from since) * 1000000)::bigint)
                   from nightdesk_data.host_waiters where ticket = new_ticket;
    return;
  end if;

  delete from nightdesk_data.host_waiters where ticket = new_ticket;
  if cost is null then
    perform nightdesk_data.commit_later();
  else
    refused := nightdesk_data.reserve_budget(new_ticket, run, batch, cost);
    if refused is not null then
      return query select 'budget', refused;
      return;
    end if;
  end if;
  update nightdesk_data.host_slots
     set ticket = new_ticket, run_id = run, taken_at = clock_timestamp(), in_use = busy + 1
   where host = at_host and slot = found_slot;
  return query select 'taken', null::jsonb;
end $$;

-- The host answers: its breaker closes, and all that is parked for it is due.
create function nightdesk_data.wake_host(back text) returns void language plpgsql as $$
begin
  update nightdesk_data.hosts
     set state = 'closed', failures = 0, opened_at = null, next_probe_at = null, prober = null, probing_until = null
   where host = back;
  update nightdesk_data.batches b
     set hold_reason = null, hold_until = null
   where hold_reason = 'host'
     and not exists (select from nightdesk_data.jobs j join nightdesk_data.hosts h on h.host = j.parked_host
                      where j.batch_id = b.batch_id and h.state = 'open');
  with parked as materialized (
    select job_id from nightdesk_data.jobs where parked_host = back and state = 'parked' and due_at > now()
     order by seq for no key update)
  update nightdesk_data.jobs j set due_at = now() from parked where j.job_id = parked.job_id;
  perform pg_notify('nightdesk_jobs', '');
end $$;

-- How many calls at once: one more while that makes the host faster, half as many when it says that it is busy. The speed
-- of a host is that of the calls which shared it with as many others as it takes, times their number.
create function nightdesk_data.size_host(h nightdesk_data.hosts, slot nightdesk_data.host_slots, answer text,
                                         tokens bigint, seconds double precision)
returns void language plpgsql as $$
declare
  speed double precision;
  -- Of what one more slot would give at best, so much has to show.
  gain constant double precision := 0.3;
begin
  if answer = 'busy' then
    -- Calls that began before the last change say nothing about it.
    if slot.taken_at > h.capacity_changed_at then
      update nightdesk_data.hosts
         set capacity = greatest(1, capacity / 2), capacity_changed_at = clock_timestamp(), rate_before = null,
             full_calls = 0, full_tokens = 0, full_seconds = 0, raise_after = clock_timestamp() + interval '1 minute',
             capacity_reason = format('halved: busy with %s at once', slot.in_use)
       where host = h.host;
    end if;
    return;
  end if;
  -- A call whose cost nobody counts, such as one for vectors, can't be compared with others.
  if tokens = 0 or slot.in_use < h.capacity or h.raise_after > clock_timestamp() or slot.taken_at < h.capacity_changed_at
     or h.capacity = h.most and h.rate_before is null then
    return;
  end if;
  if h.full_calls + 1 < greatest(8, 4 * h.capacity) then
    update nightdesk_data.hosts
       set full_calls = full_calls + 1, full_tokens = full_tokens + tokens,
           full_seconds = full_seconds + seconds
     where host = h.host;
    return;
  end if;
  speed := h.capacity * (h.full_tokens + tokens) / greatest(0.000001, h.full_seconds + seconds);
  if h.sizing = 'found' and speed < h.rate_before * (1 + gain / greatest(1, h.capacity - 1)) then
    update nightdesk_data.hosts
       set capacity = greatest(1, capacity - 1), capacity_changed_at = clock_timestamp(), rate_before = null,
           full_calls = 0, full_tokens = 0, full_seconds = 0, raise_after = clock_timestamp() + interval '30 minutes',
           capacity_reason = format('found: %s at once gave %s tokens/s, one fewer %s', h.capacity,
                                    round(speed::numeric, 1), round(h.rate_before::numeric, 1))
     where host = h.host;
  else
    update nightdesk_data.hosts
       set capacity = least(most, capacity + 1), capacity_changed_at = clock_timestamp(),
           rate_before = case when capacity < most then speed end, full_calls = 0, full_tokens = 0, full_seconds = 0,
           capacity_reason = format('raised: %s at once gave %s tokens/s', h.capacity, round(speed::numeric, 1))
     where host = h.host;
  end if;
end $$;

-- Ends a call: frees its slot, takes back what was reserved for it, charges what it cost, and learns from how it ended. For
-- one that only waited, it gives up its place. `answer` is answered, busy (HTTP 503 or 429), or none. Those who are next
-- are told by their tickets: nobody else looks.
create function nightdesk_data.end_call(old_ticket uuid, answer text, calls integer, tokens bigint,
                                                   seconds double precision)
returns void language plpgsql as $$
declare
  s nightdesk_data.host_slots;
  r nightdesk_data.reservations;
  h nightdesk_data.hosts;
  at_host text;
  next_up text;
begin
  -- What a reply cost is on disk before its model call is: that commit is waited for, and takes this one along.
  perform nightdesk_data.commit_later();
  select * into s from nightdesk_data.host_slots where ticket = old_ticket for update;
  delete from nightdesk_data.host_waiters where ticket = old_ticket returning host into at_host;
  at_host := coalesce(s.host, at_host);
  -- Before the budgets, as in take_call: those who are about to wait are seen below, or see the slot.
  select * into h from nightdesk_data.hosts where host = at_host for no key update;
  if s.ticket is not null then
    update nightdesk_data.host_slots set ticket = null, run_id = null, taken_at = null, in_use = null
     where host = s.host and slot = s.slot;
  end if;
  delete from nightdesk_data.reservations where ticket = old_ticket returning * into r;
  if r.ticket is not null then
    update nightdesk_data.batch_budgets b
       set tokens_reserved = tokens_reserved - r.tokens, calls_reserved = calls_reserved - 1,
           tokens_used = tokens_used + end_call.tokens, calls_used = calls_used + calls,
           seconds_used = seconds_used + seconds
     where batch_id = r.batch_id;
    update nightdesk_data.nights
       set tokens_reserved = tokens_reserved - r.tokens, calls_reserved = calls_reserved - 1,
           tokens_used = tokens_used + end_call.tokens, calls_used = calls_used + calls,
           seconds_used = seconds_used + seconds
     where night = r.night;
  end if;
  if s.ticket is not null and answer <> 'none' then
    if answer = 'answered' and (h.failures > 0 or h.state = 'open' or h.probes > 0) then
      update nightdesk_data.hosts set probes = 0 where host = s.host;
      perform nightdesk_data.wake_host(s.host);
    end if;
    perform nightdesk_data.size_host(h, s, answer, tokens, seconds);
  end if;
  if exists (select from nightdesk_data.host_waiters where host = at_host) then
    -- As many as there is room for.
    select string_agg(ticket::text, ' ') into next_up
      from (select w.ticket from nightdesk_data.host_waiters w
             where w.host = at_host and nightdesk_data.has_its_job(w.run_id)
             order by w.since, w.ticket
             limit (select greatest(1, k.capacity - (select count(*) from nightdesk_data.host_slots o
                                                      where o.host = k.host and o.ticket is not null))
                      from nightdesk_data.hosts k where k.host = at_host)) first;
    if next_up is not null then
      perform pg_notify('nightdesk_slots', at_host || ' ' || next_up);
    end if;
  end if;
end $$;

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

create table nightdesk_data.schedules (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  -- file: of the configuration, and replaced by it. set: of `schedule set`.
  origin text not null check (origin in ('file', 'set')),
  cron text not null check (cron <> ''),
  timezone text not null check (timezone <> ''),
  command text[] not null check (cardinality(command) >= 1),
  catch_up text not null check (catch_up <> ''),
  -- As it was written, and what `schedule enable` or `schedule disable` made of it since.
  enabled boolean not null,
  switched boolean,
  -- Times before this were never planned, and so were not missed.
  since timestamptz not null default clock_timestamp()
);

-- What makes any number of ticks one run. It outlives its schedule and its batch.
create table nightdesk_data.schedule_runs (
  schedule text not null,
  planned_at timestamptz not null,
  batch_id uuid references nightdesk_data.batches on delete set null,
  cause text not null check (cause in ('tick', 'missed', 'by_hand')),
  made_at timestamptz not null default clock_timestamp(),
  primary key (schedule, planned_at)
);
create index schedule_runs_by_batch on nightdesk_data.schedule_runs (batch_id) where batch_id is not null;

-- What the worker that started last read in its configuration.
create table nightdesk_data.schedule_file (
  singleton boolean primary key default true check (singleton),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  host text not null,
  applied_at timestamptz not null default clock_timestamp()
);
create table nightdesk_data.batch_end_hook (
  singleton boolean primary key default true check (singleton),
  targets text[] not null check (targets <@ array['command', 'webhook']),
  origins text[] not null
);
insert into nightdesk_data.batch_end_hook (targets, origins) values ('{}', '{}');

-- One row an end of a batch and target: whatever ends a batch, the trigger below sees it.
create table nightdesk_data.hook_calls (
  call_id bigint generated always as identity primary key,
  batch_id uuid not null references nightdesk_data.batches on delete cascade,
  finished_at timestamptz not null,
  target text not null check (target in ('command', 'webhook')),
  -- superseded: the batch was opened again before anybody was told of its end.
  state text not null default 'pending' check (state in ('pending', 'done', 'failed', 'superseded')),
  tries integer not null default 0 check (tries >= 0),
  due_at timestamptz not null default clock_timestamp(),
  -- The try that has it in hand, and until when nobody else takes it.
  claim_id uuid,
  claimed_until timestamptz,
  -- HTTP status of a webhook, exit code of a command.
  status integer,
  error text,
  ended_at timestamptz,
  unique (batch_id, finished_at, target),
  constraint ended_calls_have_a_time check ((ended_at is not null) = (state <> 'pending')),
  constraint claims_have_a_limit check ((claim_id is null) = (claimed_until is null)),
  constraint only_pending_calls_are_claimed check (claim_id is null or state = 'pending')
);
create index hook_calls_to_make on nightdesk_data.hook_calls (due_at) where state = 'pending';

create function nightdesk_data.queue_hook_calls() returns trigger language plpgsql as $$
begin
  insert into nightdesk_data.hook_calls (batch_id, finished_at, target)
  select new.batch_id, new.finished_at, target
    from nightdesk_data.batch_end_hook hook cross join lateral unnest(hook.targets) as target
   where new.origin = any(hook.origins)
  on conflict do nothing;
  if found then
    perform pg_notify('nightdesk_hooks', '');
  end if;
  return null;
end $$;
create trigger queue_hook_calls after update of state on nightdesk_data.batches
  for each row when (old.state <> new.state and new.state in ('completed', 'cancelled', 'expired'))
  execute function nightdesk_data.queue_hook_calls();
