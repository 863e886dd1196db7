
-- In SQL it would be parsed and planned each time.
create or replace function nightdesk_data.has_its_job(run uuid) returns boolean language plpgsql volatile as $$
begin
  return exists (select from nightdesk_data.jobs
                  where run_id = run and state = 'running' and lease_until > clock_timestamp());
end $$;

-- The commit of this transaction reaches the disk with the next that is waited for, a fifth of a second later at most. The
-- rows that all calls of a batch and of a night have in common are then free again at once. Without fsync a commit waits
-- for nothing, and there may be nobody who writes it later.
create or replace function nightdesk_data.commit_later() returns void language plpgsql as $$
begin
  if current_setting('fsync') = 'on' then
    perform set_config('synchronous_commit', 'off', true);
  end if;
end $$;

-- Reserves what a call may cost, or says which limit that would pass. Wall time is known only afterwards: a call begins
-- while there is some left, and what is in flight then ends.
create or replace function nightdesk_data.reserve_budget(new_ticket uuid, run uuid, batch uuid, cost jsonb) returns jsonb
language plpgsql as $$
declare
  c record;
  b nightdesk_data.batch_budgets;
  n nightdesk_data.nights;
  refused jsonb;
begin
  select * into c from jsonb_to_record(cost) as c (tokens bigint, night date, night_ends_at timestamptz,
         batch_tokens bigint, batch_calls bigint, batch_seconds double precision, batch_money double precision,
         night_tokens bigint, night_calls bigint, night_seconds double precision, night_money double precision,
         money double precision);
  -- Both rows are locked by this, always in this order.
  insert into nightdesk_data.batch_budgets as kept
         (batch_id, tokens_limit, calls_limit, seconds_limit, money_limit, tokens_reserved, calls_reserved, money_reserved)
  values (batch, c.batch_tokens, c.batch_calls, c.batch_seconds, c.batch_money, c.tokens, 1, c.money)
  on conflict (batch_id) do update set
    tokens_limit = case when 'tokens' = any (kept.own) then kept.tokens_limit else excluded.tokens_limit end,
    calls_limit = case when 'calls' = any (kept.own) then kept.calls_limit else excluded.calls_limit end,
    seconds_limit = case when 'seconds' = any (kept.own) then kept.seconds_limit else excluded.seconds_limit end,
    money_limit = case when 'money' = any (kept.own) then kept.money_limit else excluded.money_limit end,
    tokens_reserved = kept.tokens_reserved + c.tokens, calls_reserved = kept.calls_reserved + 1,
    money_reserved = kept.money_reserved + c.money
  returning * into b;
  insert into nightdesk_data.nights as kept
         (night, ends_at, tokens_limit, calls_limit, seconds_limit, money_limit,
          tokens_reserved, calls_reserved, money_reserved)
  values (c.night, c.night_ends_at, c.night_tokens, c.night_calls, c.night_seconds, c.night_money, c.tokens, 1, c.money)
  on conflict (night) do update set tokens_limit = excluded.tokens_limit, calls_limit = excluded.calls_limit,
    seconds_limit = excluded.seconds_limit, money_limit = excluded.money_limit,
    tokens_reserved = kept.tokens_reserved + c.tokens, calls_reserved = kept.calls_reserved + 1,
    money_reserved = kept.money_reserved + c.money
  returning * into n;
  insert into nightdesk_data.reservations (ticket, run_id, batch_id, night, tokens, money)
  values (new_ticket, run, batch, c.night, c.tokens, c.money);

  if num_nonnulls(b.tokens_limit, b.calls_limit, b.seconds_limit, b.money_limit,
                  n.tokens_limit, n.calls_limit, n.seconds_limit, n.money_limit) = 0 then
    -- A reservation that a crash takes back keeps nobody from anything.
    perform nightdesk_data.commit_later();
    return null;
  end if;
  select jsonb_build_object('by', by, 'what', what, 'limit', most, 'used', used, 'reserved', reserved, 'needed', needed)
    into refused
    from (values (1, 'batch', 'calls', b.calls_limit::double precision, b.calls_used::double precision, b.calls_reserved - 1, 1),
                 (2, 'batch', 'tokens', b.tokens_limit, b.tokens_used, b.tokens_reserved - c.tokens, c.tokens),
                 (3, 'batch', 'seconds', b.seconds_limit, b.seconds_used, 0, 0.001),
                 (4, 'batch', 'money', b.money_limit, b.money_used, b.money_reserved - c.money, c.money),
                 (5, 'night', 'calls', n.calls_limit, n.calls_used, n.calls_reserved - 1, 1),
                 (6, 'night', 'tokens', n.tokens_limit, n.tokens_used, n.tokens_reserved - c.tokens, c.tokens),
                 (7, 'night', 'seconds', n.seconds_limit, n.seconds_used, 0, 0.001),
                 (8, 'night', 'money', n.money_limit, n.money_used, n.money_reserved - c.money, c.money))
           as bounds (place, by, what, most, used, reserved, needed)
   where used + reserved + needed > most order by place limit 1;
  if refused is null then
    return null;
  end if;

  delete from nightdesk_data.reservations where ticket = new_ticket;
  update nightdesk_data.batch_budgets
     set tokens_reserved = tokens_reserved - c.tokens, calls_reserved = calls_reserved - 1,
         money_reserved = money_reserved - c.money,
         tokens_needed = least(tokens_needed, c.tokens), money_needed = least(money_needed, c.money), refused_by = refused->>'by',
         refused_at = coalesce(refused_at, clock_timestamp())
   where batch_id = batch;
  update nightdesk_data.nights
     set tokens_reserved = tokens_reserved - c.tokens, calls_reserved = calls_reserved - 1,
         money_reserved = money_reserved - c.money
   where night = c.night;
  update nightdesk_data.batches
     set hold_reason = 'budget', hold_until = case refused->>'by' when 'night' then n.ends_at end
   where batch_id = batch and state = 'open' and (hold_reason is null or hold_reason = 'host');
  return refused;
end $$;

-- Lets a call begin: takes a slot of its host and reserves what it may cost, both or neither.
--
--   taken    the slot is held until end_call, or until the run loses its job
--   wait     all slots are in use, others came first, or the host gets no more calls now; its place in the order is kept.
--            So does a run that was asked to stop and does not know it yet: a call that it breaks off would cost its budget
--   open     the host is down
--   budget   it may cost more than is left; its batch is held
--   lost     the run has lost its job
--   unknown  the host has no row yet
create or replace function nightdesk_data.take_call(new_ticket uuid, run uuid, at_host text, cost jsonb)
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
  is_stopping boolean;
  refused jsonb;
  -- Until when its limits, or a pause that it asked for, let no call begin.
  paced timestamptz;
begin
  -- Asked again, because the reply was lost with its connection.
  if exists (select from nightdesk_data.host_slots where ticket = new_ticket) then
    return query select 'taken', null::jsonb;
    return;
  end if;
  select batch_id, cancel_requested into batch, is_stopping from nightdesk_data.jobs where run_id = run and state = 'running';
  select * into h from nightdesk_data.hosts where host = at_host;
  if batch is null or h.host is null or h.state = 'open' then
    delete from nightdesk_data.host_waiters where ticket = new_ticket;
    return query select case when batch is null then 'lost' when h.host is null then 'unknown' else 'open' end,
                        to_jsonb(h);
    return;
  end if;

  select since into mine from nightdesk_data.host_waiters where ticket = new_ticket;
  paced := greatest(h.paused_until, h.next_call_at, h.tokens_free_at, '-infinity');
  loop
    -- Of a slot that was taken a moment ago, this transaction may not see the run that did: it is not looked for.
    select count(*), count(*) filter (where slot > h.capacity) into busy, draining
      from nightdesk_data.host_slots
     where host = at_host and ticket is not null
       and (taken_at >= now() - interval '1 s' or nightdesk_data.has_its_job(run_id));
    if busy < h.capacity and paced <= clock_timestamp() and not is_stopping then
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
  if found_slot is not null and num_nonnulls(h.requests_per_minute, h.tokens_per_minute) > 0 then
    -- Of those that come at the same moment one takes the turn.
    update nightdesk_data.hosts
       set next_call_at = clock_timestamp() + make_interval(secs => 60.0 / requests_per_minute),
           tokens_free_at = clock_timestamp()
             + make_interval(secs => coalesce((cost->>'tokens')::bigint, 0) * 60.0 / tokens_per_minute)
     where host = at_host and greatest(paused_until, next_call_at, tokens_free_at, '-infinity') <= clock_timestamp()
    returning greatest(next_call_at, tokens_free_at) into paced;
    if not found then
      found_slot := null;
      select greatest(paused_until, next_call_at, tokens_free_at) into paced
        from nightdesk_data.hosts where host = at_host;
    end if;
  end if;
  -- From here on it counts as a call, if only as one that waits.
  delete from nightdesk_data.host_choices where run_id = run and host = at_host;
  if found_slot is null then
    insert into nightdesk_data.host_waiters (ticket, host, run_id) values (new_ticket, at_host, run)
    on conflict (ticket) do nothing;
    perform nightdesk_data.commit_later();
    return query select 'wait', jsonb_build_object(
                     'since_us', (extract(epoch from since) * 1000000)::bigint,
                     'again_ms', case when paced > clock_timestamp()
                                      then ceil(extract(epoch from paced - clock_timestamp()) * 1000) end)
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
create or replace function nightdesk_data.wake_host(back text) returns void language plpgsql as $$
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
create or replace function nightdesk_data.size_host(h nightdesk_data.hosts, slot nightdesk_data.host_slots, answer text,
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

drop function if exists nightdesk_data.end_call(uuid, text, integer, bigint, double precision);
drop function if exists nightdesk_data.end_kept_call(uuid, boolean, uuid, text, integer, bigint, double precision);

-- Ends a call: frees its slot, takes back what was reserved for it, charges what it cost, and learns from how it ended. For
-- one that only waited, it gives up its place. The answer is answered, busy (HTTP 503 or 429), or none. A host that was busy
-- and asked to be left alone gets no call for so many seconds. Those who are next are told by their tickets: nobody else looks.
create or replace function nightdesk_data.end_call(old_ticket uuid, answer text, calls integer, tokens bigint,
                                                   seconds double precision, money double precision,
                                                   pause_seconds double precision)
returns void language plpgsql as $$
declare
  s nightdesk_data.host_slots;
  r nightdesk_data.reservations;
  h nightdesk_data.hosts;
  at_host text;
  next_up text;
begin
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
           money_reserved = money_reserved - r.money,
           tokens_used = tokens_used + end_call.tokens, calls_used = calls_used + calls,
           seconds_used = seconds_used + seconds, money_used = money_used + end_call.money
     where batch_id = r.batch_id;
    update nightdesk_data.nights
       set tokens_reserved = tokens_reserved - r.tokens, calls_reserved = calls_reserved - 1,
           money_reserved = money_reserved - r.money,
           tokens_used = tokens_used + end_call.tokens, calls_used = calls_used + calls,
           seconds_used = seconds_used + seconds, money_used = money_used + end_call.money
     where night = r.night;
    -- It was taken to cost more.
    update nightdesk_data.hosts
       set tokens_free_at = tokens_free_at - make_interval(secs => (r.tokens - end_call.tokens) * 60.0 / tokens_per_minute)
     where host = s.host and tokens_per_minute is not null and tokens_free_at > clock_timestamp();
  end if;
  if s.ticket is not null and h.name is not null and calls > 0 then
    insert into nightdesk_data.host_nights as kept (host, night, calls, tokens, money)
    select s.host, night, end_call.calls, end_call.tokens, end_call.money
      from nightdesk_data.nights where ends_at > clock_timestamp() order by ends_at limit 1
    on conflict (host, night) do update set calls = kept.calls + excluded.calls,
      tokens = kept.tokens + excluded.tokens, money = kept.money + excluded.money;
  end if;
  if s.ticket is not null and answer = 'busy' and pause_seconds > 0 then
    update nightdesk_data.hosts
       set paused_until = greatest(paused_until, clock_timestamp() + make_interval(secs => least(pause_seconds, 3600)))
     where host = s.host;
    answer := 'none';
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

-- Ends a call together with its reply, which was stored in this transaction, or not. Without limits nobody waits for a
-- reservation: a crash may have taken it back, and what is stored is charged all the same. Calls of a run that has lost its
-- job are charged by who finds that.
create or replace function nightdesk_data.end_kept_call(run uuid, is_stored boolean, old_ticket uuid, answer text,
                                                        calls integer, tokens bigint, seconds double precision,
                                                        money double precision, pause_seconds double precision)
returns void language plpgsql as $$
declare
  is_unreserved boolean := is_stored and nightdesk_data.has_its_job(run)
    and not exists (select from nightdesk_data.reservations where ticket = old_ticket);
begin
  perform nightdesk_data.end_call(old_ticket, answer, calls, tokens, seconds, money, pause_seconds);
  if is_unreserved then
    insert into nightdesk_data.batch_budgets as b (batch_id, tokens_used, calls_used, seconds_used, money_used)
    select batch_id, end_kept_call.tokens, calls, seconds, end_kept_call.money from nightdesk_data.jobs where run_id = run
    on conflict (batch_id) do update set tokens_used = b.tokens_used + excluded.tokens_used,
      calls_used = b.calls_used + excluded.calls_used, seconds_used = b.seconds_used + excluded.seconds_used,
      money_used = b.money_used + excluded.money_used;
    update nightdesk_data.nights
       set tokens_used = tokens_used + end_kept_call.tokens, calls_used = calls_used + calls,
           seconds_used = seconds_used + seconds, money_used = money_used + end_kept_call.money
     where night = (select night from nightdesk_data.nights where ends_at > clock_timestamp() order by ends_at limit 1);
  end if;
end $$;

-- Takes the next turn of a host of the web, which all workers pace together: no slots, because such calls are short, but a
-- time between them. Of a host that is given up one call goes through when its pause is over, and is waited for a minute.
create or replace function nightdesk_data.take_web_call(new_ticket uuid, at_host text, per_minute double precision,
                                                        longest_wait double precision)
returns table (outcome text, seconds double precision, message text) language plpgsql as $$
declare
  h nightdesk_data.hosts;
  at timestamptz;
  turn timestamptz;
begin
  insert into nightdesk_data.hosts (host, provider, capacity, capacity_reason, sizing, most)
  values (at_host, 'web', 1, 'paced: so many calls a minute', 'configured', 1) on conflict do nothing;
  select * into h from nightdesk_data.hosts where host = at_host for no key update;
  at := clock_timestamp();
  if h.state = 'open' and greatest(h.next_probe_at, h.probing_until) > at then
    return query select 'open', extract(epoch from greatest(h.next_probe_at, h.probing_until) - at)::double precision,
                        h.error_message;
    return;
  end if;
  turn := greatest(at, h.next_call_at);
  if turn > at + make_interval(secs => longest_wait) then
    return query select 'busy', extract(epoch from turn - at)::double precision, null::text;
    return;
  end if;
  update nightdesk_data.hosts
     set next_call_at = turn + make_interval(secs => 60 / per_minute),
         prober = case when h.state = 'open' then new_ticket end,
         probing_until = case when h.state = 'open' then turn + interval '1 minute' end
   where host = at_host;
  return query select 'taken', extract(epoch from turn - at)::double precision, null::text;
end $$;

-- Learns from how such a call ended: answered closes the breaker, busy (HTTP 429 or 503) opens it for as long as the host
-- asks, and failed counts. What ends late, while another call asks whether the host is back, says nothing.
create or replace function nightdesk_data.end_web_call(old_ticket uuid, at_host text, answer text, message text,
                                                       retry_after double precision, most_failures integer)
returns void language plpgsql as $$
declare
  h nightdesk_data.hosts;
  longest constant double precision := 3600;
begin
  select * into h from nightdesk_data.hosts where host = at_host for no key update;
  if h.host is null then
    return;
  end if;
  if answer = 'answered' then
    if h.failures > 0 or h.state = 'open' or h.probes > 0 then
      update nightdesk_data.hosts
         set state = 'closed', failures = 0, probes = 0, opened_at = null, next_probe_at = null,
             prober = null, probing_until = null
       where host = at_host;
    end if;
    return;
  end if;
  if h.state = 'open' and h.prober is distinct from old_ticket then
    return;
  end if;
  if h.state = 'open' or answer = 'busy' or h.failures + 1 >= most_failures then
    update nightdesk_data.hosts
       set state = 'open', failures = h.failures + 1, probes = h.probes + 1,
           error_code = 'WEB_UNAVAILABLE', error_message = end_web_call.message, failed_at = clock_timestamp(),
           opened_at = coalesce(h.opened_at, clock_timestamp()), prober = null, probing_until = null,
           next_probe_at = clock_timestamp()
             + make_interval(secs => case when retry_after is null then least(120, 5 * 2 ^ least(h.probes, 10))
                                          else least(longest, retry_after) end)
     where host = at_host;
  else
    update nightdesk_data.hosts
       set failures = h.failures + 1, error_code = 'WEB_UNAVAILABLE', error_message = end_web_call.message,
           failed_at = clock_timestamp()
     where host = at_host;
  end if;
end $$;

-- What a reason does not say by itself. The bounds are those of reserve_budget, in its order.
create or replace function nightdesk_data.hold_detail(b nightdesk_data.batches) returns text language sql volatile as $$
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
                   when u.seconds_used + 0.001 > u.seconds_limit then 'seconds of the batch'
                   when u.money_used + u.money_reserved + u.money_needed > u.money_limit then 'money of the batch' end
         from nightdesk_data.batch_budgets u where u.batch_id = b.batch_id),
      (select case when n.calls_used + n.calls_reserved + 1 > n.calls_limit then 'calls of the night'
                   when n.tokens_used + n.tokens_reserved + u.tokens_needed > n.tokens_limit then 'tokens of the night'
                   when n.seconds_used + 0.001 > n.seconds_limit then 'seconds of the night'
                   when n.money_used + n.money_reserved + u.money_needed > n.money_limit then 'money of the night' end
         from nightdesk_data.nights n, nightdesk_data.batch_budgets u
        where n.ends_at = b.hold_until and u.batch_id = b.batch_id))
  end
$$;

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
             or h.failures > 0 and h.failed_at > clock_timestamp() - interval '10 seconds' is true as behind,
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
    values (run, found_host, clock_timestamp() + interval '30 seconds')
    on conflict (run_id, host) do update set expires_at = excluded.expires_at;
  end if;
  return query select 'chosen', to_jsonb(found_host);
end $$;
