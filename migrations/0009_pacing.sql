-- Pacing: how many calls a model host gets at once, what is kept from a host that is down, and what calls may cost.

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

-- Volatile, as the clock is: Postgres puts it in line only if it says so.
create function nightdesk_data.has_its_job(run uuid) returns boolean language sql volatile as $$
  select exists (select from nightdesk_data.jobs
                  where run_id = run and state = 'running' and lease_until > clock_timestamp())
$$;

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
  insert into nightdesk_data.batch_budgets as kept (batch_id, tokens_limit, calls_limit, seconds_limit)
  values (batch, c.batch_tokens, c.batch_calls, c.batch_seconds)
  on conflict (batch_id) do update set
    tokens_limit = case when 'tokens' = any (kept.own) then kept.tokens_limit else excluded.tokens_limit end,
    calls_limit = case when 'calls' = any (kept.own) then kept.calls_limit else excluded.calls_limit end,
    seconds_limit = case when 'seconds' = any (kept.own) then kept.seconds_limit else excluded.seconds_limit end
  returning * into b;
  insert into nightdesk_data.nights (night, ends_at, tokens_limit, calls_limit, seconds_limit)
  values (c.night, c.night_ends_at, c.night_tokens, c.night_calls, c.night_seconds)
  on conflict (night) do update set tokens_limit = excluded.tokens_limit, calls_limit = excluded.calls_limit,
    seconds_limit = excluded.seconds_limit
  returning * into n;

  select jsonb_build_object('by', by, 'what', what, 'limit', most, 'used', used, 'reserved', reserved, 'needed', needed)
    into refused
    from (values (1, 'batch', 'calls', b.calls_limit::double precision, b.calls_used::double precision, b.calls_reserved, 1),
                 (2, 'batch', 'tokens', b.tokens_limit, b.tokens_used, b.tokens_reserved, c.tokens),
                 (3, 'batch', 'seconds', b.seconds_limit, b.seconds_used, 0, 0.001),
                 (4, 'night', 'calls', n.calls_limit, n.calls_used, n.calls_reserved, 1),
                 (5, 'night', 'tokens', n.tokens_limit, n.tokens_used, n.tokens_reserved, c.tokens),
                 (6, 'night', 'seconds', n.seconds_limit, n.seconds_used, 0, 0.001))
           as bounds (place, by, what, most, used, reserved, needed)
   where used + reserved + needed > most order by place limit 1;
  if refused is not null then
    update nightdesk_data.batch_budgets
       set tokens_needed = least(tokens_needed, c.tokens), refused_by = refused->>'by',
           refused_at = coalesce(refused_at, clock_timestamp())
     where batch_id = batch;
    update nightdesk_data.batches
       set hold_reason = 'budget', hold_until = case refused->>'by' when 'night' then n.ends_at end
     where batch_id = batch and state = 'open' and (hold_reason is null or hold_reason = 'host');
    return refused;
  end if;

  update nightdesk_data.batch_budgets
     set tokens_reserved = tokens_reserved + c.tokens, calls_reserved = calls_reserved + 1 where batch_id = batch;
  update nightdesk_data.nights
     set tokens_reserved = tokens_reserved + c.tokens, calls_reserved = calls_reserved + 1 where night = c.night;
  insert into nightdesk_data.reservations (ticket, run_id, batch_id, night, tokens)
  values (new_ticket, run, batch, c.night, c.tokens);
  return null;
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
  busy integer;
  draining integer;
  vacant integer;
  ahead integer;
  found_slot integer;
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

  -- Of a slot that was taken a moment ago, this transaction may not see the run that did: it is not looked for.
  select count(*) filter (where not free), count(*) filter (where not free and slot > h.capacity)
    into busy, draining
    from (select slot, ticket is null or taken_at < now() - interval '1 s' and not nightdesk_data.has_its_job(run_id) as free
            from nightdesk_data.host_slots where host = at_host) slots;
  vacant := h.capacity - busy;
  select count(*) into ahead
    from nightdesk_data.host_waiters w
   where w.host = at_host and w.ticket <> new_ticket and nightdesk_data.has_its_job(w.run_id)
     and (w.since, w.ticket) < coalesce((select (mine.since, mine.ticket) from nightdesk_data.host_waiters mine
                                          where mine.ticket = new_ticket), (clock_timestamp(), new_ticket));
  if ahead < vacant then
    -- A slot beyond the capacity that is still in use counts for one below it.
    select slot into found_slot from nightdesk_data.host_slots
     where host = at_host and slot <= h.capacity - draining
       and (ticket is null or taken_at < now() - interval '1 s' and not nightdesk_data.has_its_job(run_id))
     order by slot limit 1 for update skip locked;
  end if;
  if found_slot is null then
    insert into nightdesk_data.host_waiters (ticket, host, run_id) values (new_ticket, at_host, run)
    on conflict (ticket) do nothing;
    return query select 'wait', jsonb_build_object('since_us', (extract(epoch from since) * 1000000)::bigint)
                   from nightdesk_data.host_waiters where ticket = new_ticket;
    return;
  end if;

  delete from nightdesk_data.host_waiters where ticket = new_ticket;
  if cost is not null then
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
-- one that only waited, it gives up its place. `answer` is answered, busy (HTTP 503 or 429), or none.
create function nightdesk_data.end_call(old_ticket uuid, answer text, calls integer, tokens bigint, seconds double precision)
returns void language plpgsql as $$
declare
  s nightdesk_data.host_slots;
  r nightdesk_data.reservations;
  h nightdesk_data.hosts;
  at_host text;
begin
  select * into s from nightdesk_data.host_slots where ticket = old_ticket for update;
  update nightdesk_data.host_slots set ticket = null, run_id = null, taken_at = null, in_use = null
   where ticket = old_ticket;
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
    select * into h from nightdesk_data.hosts where host = s.host for no key update;
    if answer = 'answered' and (h.failures > 0 or h.state = 'open' or h.probes > 0) then
      update nightdesk_data.hosts set probes = 0 where host = s.host;
      perform nightdesk_data.wake_host(s.host);
    end if;
    perform nightdesk_data.size_host(h, s, answer, tokens, seconds);
  end if;
  delete from nightdesk_data.host_waiters where ticket = old_ticket returning host into at_host;
  at_host := coalesce(s.host, at_host);
  if exists (select from nightdesk_data.host_waiters where host = at_host) then
    perform pg_notify('nightdesk_slots', at_host);
  end if;
end $$;

create view nightdesk.hosts as
select h.host, h.provider, h.capacity, h.capacity_reason,
       -- Not has_its_job: a function in a view runs with the rights of who asks, who has none on the tables.
       (select count(*) from nightdesk_data.host_slots s join nightdesk_data.jobs j using (run_id)
         where s.host = h.host and j.state = 'running' and j.lease_until > clock_timestamp()) as in_use,
       (select count(*) from nightdesk_data.host_waiters w join nightdesk_data.jobs j using (run_id)
         where w.host = h.host and j.state = 'running' and j.lease_until > clock_timestamp()) as waiting,
       h.state, h.failures, h.error_code, h.error_message, h.failed_at, h.opened_at, h.next_probe_at as next_try_at
  from nightdesk_data.hosts h;
comment on view nightdesk.hosts is 'One row a model host: how many calls it gets at once, and whether it answers.';
comment on column nightdesk.hosts.host is 'Base URL, scheme://host[:port].';
comment on column nightdesk.hosts.provider is 'ollama or openai-compatible.';
comment on column nightdesk.hosts.capacity is 'Calls that it gets at once, of all workers together.';
comment on column nightdesk.hosts.capacity_reason is 'Why so many: configured, or what was found.';
comment on column nightdesk.hosts.in_use is 'Calls that it has now.';
comment on column nightdesk.hosts.waiting is 'Calls that wait for it.';
comment on column nightdesk.hosts.state is 'closed: calls go through. open: it is down, and what is parked for it is held.';
comment on column nightdesk.hosts.failures is 'Runs in a row that found it down or busy.';
comment on column nightdesk.hosts.error_code is 'Of its last failure.';
comment on column nightdesk.hosts.error_message is 'Of its last failure.';
comment on column nightdesk.hosts.failed_at is 'Of its last failure.';
comment on column nightdesk.hosts.opened_at is 'Since when it is given up; null while calls go through.';
comment on column nightdesk.hosts.next_try_at is 'When a worker asks next whether it is back; null while calls go through.';

create view nightdesk.budgets as
select 'batch' as scope, b.batch_id, b.name as batch, null::date as night, u.tokens_limit, u.tokens_used, u.tokens_reserved,
       u.calls_limit, u.calls_used, u.calls_reserved, u.seconds_limit, u.seconds_used, u.refused_at is not null as is_used_up
  from nightdesk_data.batch_budgets u join nightdesk_data.batches b using (batch_id)
 union all
select 'night', null, null, n.night, n.tokens_limit, n.tokens_used, n.tokens_reserved, n.calls_limit, n.calls_used,
       n.calls_reserved, n.seconds_limit, n.seconds_used,
       n.tokens_used >= n.tokens_limit is true or n.calls_used >= n.calls_limit is true
         or n.seconds_used >= n.seconds_limit is true
  from nightdesk_data.nights n;
comment on view nightdesk.budgets is 'What calls of models have cost, and may cost: one row a batch that made any, and one a night.';
comment on column nightdesk.budgets.scope is 'batch or night.';
comment on column nightdesk.budgets.batch_id is 'Null for a night.';
comment on column nightdesk.budgets.batch is 'Name of the batch; null for a night.';
comment on column nightdesk.budgets.night is 'The day on whose evening the night begins; null for a batch.';
comment on column nightdesk.budgets.tokens_limit is 'Tokens that may be read and written; null: no limit.';
comment on column nightdesk.budgets.tokens_used is 'Tokens that were read and written, as the hosts report them.';
comment on column nightdesk.budgets.tokens_reserved is 'Tokens that calls in flight may cost.';
comment on column nightdesk.budgets.calls_limit is 'Calls that may be made; null: no limit.';
comment on column nightdesk.budgets.calls_used is 'Calls that have ended.';
comment on column nightdesk.budgets.calls_reserved is 'Calls in flight.';
comment on column nightdesk.budgets.seconds_limit is 'Seconds of model time that may pass; null: no limit.';
comment on column nightdesk.budgets.seconds_used is 'Seconds that calls took, without waiting for a slot.';
comment on column nightdesk.budgets.is_used_up is 'Of a batch: a call was refused, and it is held. Of a night: a limit is reached.';
