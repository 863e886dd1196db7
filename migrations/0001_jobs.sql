-- Postgres is the truth: batches, jobs, runs and everything that a run leaves behind.
create extension if not exists vector;
create schema nightdesk_data;
create schema nightdesk;

create table nightdesk_data.batches (
  batch_id uuid primary key default gen_random_uuid(),
  name text not null unique check (name <> '' and length(name) <= 200),
  -- loading: rows are still being committed, nothing is dispatched. open: queued, running or held.
  state text not null default 'loading'
    check (state in ('loading', 'open', 'completed', 'cancelled', 'expired')),
  -- ad_hoc batches hold one job of ask, chat, summarize, embed or index that somebody may be waiting for; those of a
  -- schedule one job of kind command, which no window holds. Those of system hold what Nightdesk does for itself about
  -- another batch, those of verify the checks of its answers, or the exam of their judge: nobody lists, counts or exports
  -- them, and they go with that batch. Checks and exam are held, paused and ended with it.
  origin text not null default 'file' check (origin in ('file', 'ad_hoc', 'schedule', 'system', 'verify')),
  parent_id uuid references nightdesk_data.batches on delete cascade,
  hold_reason text check (hold_reason in ('paused', 'window', 'budget', 'host', 'approvals')),
  hold_until timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Somebody paused it. Whatever else holds it, it stays held until somebody resumes it.
  paused_at timestamptz,
  -- Times in which its jobs may run, like '22:00-06:00 Europe/Berlin'. Null: those of the configuration; empty: always.
  windows text[],
  -- What has not finished by then expires.
  deadline_at timestamptz,
  -- How its input was written, and how its output is written unless somebody asks for another form.
  format text not null default 'native' check (format in ('native', 'openai')),
  -- Added to the priority that a job has of its own.
  priority smallint not null default 0 check (priority between -100 and 100),
  -- No job of it starts at this time or later: the end of the window that is open, or infinity. Null with windows in
  -- force: no keeper has looked yet, and nothing starts.
  closes_at timestamptz,
  -- Cancelled or expired, and jobs that waited are still being ended, a slice at a time.
  closing boolean not null default false,
  -- Retention leaves a pinned batch alone: always, or until its results were exported.
  pinned text check (pinned in ('always', 'until_exported')),
  -- When all of its results were last written to a file or to stdout.
  exported_at timestamptz,
  -- The span in which it was queued, as `traceparent` of W3C's Trace Context. Null: nobody traced.
  trace_context text check (trace_context ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'),
  -- The command that adds jobs to it now. It renews load_until; after that time another may take the batch.
  load_id uuid,
  load_until timestamptz,
  constraint loads_have_a_time check ((load_id is null) = (load_until is null)),
  constraint hold_until_needs_a_reason check (hold_until is null or hold_reason is not null),
  constraint only_open_batches_are_held check (hold_reason is null or state = 'open'),
  constraint finished_batches_have_a_time
    check ((finished_at is not null) = (state in ('completed', 'cancelled', 'expired'))),
  constraint only_closed_batches_are_closing check (not closing or state in ('cancelled', 'expired')),
  constraint own_batches_have_a_parent check ((origin in ('system', 'verify')) = (parent_id is not null))
);
create index open_batches on nightdesk_data.batches (created_at) where state = 'open';
create index closing_batches on nightdesk_data.batches (finished_at) where closing;
create index batches_by_parent on nightdesk_data.batches (parent_id) where parent_id is not null;
create index batches_by_finish on nightdesk_data.batches (finished_at) where finished_at is not null;

-- What holds, closes or ends a batch does so with the checks of its answers, and with the exam of its judge.
create function nightdesk_data.follow_batch() returns trigger language plpgsql as $$
begin
  update nightdesk_data.batches
     set paused_at = new.paused_at, windows = new.windows, deadline_at = new.deadline_at
   where parent_id = new.batch_id and origin = 'verify';
  if new.state in ('cancelled', 'expired') then
    update nightdesk_data.batches
       set state = new.state, finished_at = now(), closing = true, hold_reason = null, hold_until = null
     where parent_id = new.batch_id and origin = 'verify' and state = 'open';
  end if;
  return null;
end $$;
create trigger checks_follow_their_batch after update of state, paused_at, windows, deadline_at on nightdesk_data.batches
  for each row when (new.origin <> 'verify' and (old.state, old.paused_at, old.windows, old.deadline_at)
                     is distinct from (new.state, new.paused_at, new.windows, new.deadline_at))
  execute function nightdesk_data.follow_batch();

-- queued -> running -> succeeded | refused | failed | cancelled | expired, and parked (its own run met a host
-- that is down or busy; due_at says when it is tried again).
create table nightdesk_data.jobs (
  job_id uuid primary key default gen_random_uuid(),
  seq bigint generated always as identity unique,
  batch_id uuid not null references nightdesk_data.batches on delete cascade,
  custom_id text not null check (custom_id <> '' and length(custom_id) <= 512),
  kind text not null
    check (kind in ('ask', 'summarize', 'extract', 'digest', 'investigate', 'check', 'examine', 'embed', 'sync', 'index', 'ocr', 'chat', 'command', 'notify')),
  input jsonb not null check (jsonb_typeof(input) = 'object'),
  input_sha256 text not null check (input_sha256 ~ '^[0-9a-f]{64}$'),
  priority smallint not null default 0,
  state text not null default 'queued' check (state in
    ('queued', 'running', 'parked', 'succeeded', 'refused', 'failed', 'cancelled', 'expired')),
  due_at timestamptz not null default now(),
  -- Raised whenever the job becomes due again; a delivery with another number is a no-op.
  dispatch integer not null default 0 check (dispatch >= 0),
  -- Set while a delivery of the current dispatch is in the queue.
  dispatched_at timestamptz,
  attempt integer not null default 0 check (attempt >= 0),
  max_attempts integer not null default 3 check (max_attempts >= 1),
  parks integer not null default 0 check (parks >= 0),
  losses integer not null default 0 check (losses >= 0),
  -- Which model of verify.tiers answers, from 0: raised where one could not give an answer that is verified.
  tier smallint not null default 0 check (tier >= 0),
  -- The run that holds the job, or that ended it: the fencing token.
  run_id uuid,
  worker_id uuid,
  lease_until timestamptz,
  -- Asked of a running job by a cancellation, and by a deadline that passed.
  cancel_requested boolean not null default false,
  error_code text,
  error_message text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- The model that will answer, where it is known beforehand. Within a priority of a batch, jobs of one model are worked
  -- one after another, so that a host does not load models back and forth.
  affinity text not null default '',
  -- Bytes of its file, where it is known: small ones first.
  size bigint not null default 0 check (size >= 0),
  -- How many jobs that it depends on have not ended.
  waits_for integer not null default 0 check (waits_for >= 0),
  -- What a parked job waits for. One that waits for a person (approval, review) or for the exam of its judge is due at infinity: nobody
  -- looks at it.
  waiting_for text check (waiting_for in ('host', 'approval', 'review', 'exam', 'time')),
  -- Base URL of the model host that it is parked for.
  parked_host text,
  -- How often its host broke off in the middle of a call: a document may be what brings the host down.
  broken_calls integer not null default 0 check (broken_calls >= 0),
  -- The job of an earlier batch that this one repeats.
  rerun_of uuid references nightdesk_data.jobs on delete set null,
  -- The job of its batch that is worked in its place, because its file is a copy of that one's.
  duplicate_of uuid references nightdesk_data.jobs on delete cascade,
  -- A custom_id is looked up with and without its batch.
  unique (custom_id, batch_id),
  constraint running_jobs_hold_a_lease check ((state = 'running') = (lease_until is not null)),
  constraint running_jobs_have_a_run
    check (state <> 'running' or (run_id is not null and worker_id is not null and started_at is not null)),
  constraint ended_jobs_have_a_time check ((finished_at is not null)
    = (state in ('succeeded', 'refused', 'failed', 'cancelled', 'expired'))),
  constraint results_come_from_a_run check (state not in ('succeeded', 'refused') or run_id is not null),
  constraint failures_have_a_code
    check (error_code is not null or state not in ('refused', 'failed', 'cancelled', 'expired', 'parked')),
  constraint successes_have_no_code check (state <> 'succeeded' or error_code is null),
  constraint messages_come_with_a_code check ((error_code is null) = (error_message is null)),
  constraint duplicates_name_another_job check ((error_code is not distinct from 'DUPLICATE') = (duplicate_of is not null)),
  constraint duplicates_are_not_worked
    check (duplicate_of is null or (state = 'cancelled' and run_id is null and duplicate_of <> job_id)),
  constraint only_waiting_jobs_are_dispatched
    check (dispatched_at is null or state in ('queued', 'parked')),
  constraint parked_jobs_wait_for_something check ((state = 'parked') = (waiting_for is not null)),
  constraint only_jobs_that_wait_for_a_host_name_it check (parked_host is null or waiting_for is not distinct from 'host'),
  constraint what_waits_for_others_is_never_due
    check (waiting_for is null or waiting_for in ('host', 'time') or due_at = 'infinity'),
  constraint only_queued_jobs_wait_for_others
    check (waits_for = 0 or state in ('queued', 'cancelled', 'expired')),
  constraint cancel_is_asked_of_running_jobs
    check (not cancel_requested or state in ('running', 'cancelled', 'expired'))
);

-- Jobs that are held back while their file is read are due at infinity. A million of them are not to be looked through.
create index jobs_to_dispatch on nightdesk_data.jobs (batch_id, priority desc, affinity, size, seq)
  where state in ('queued', 'parked') and dispatched_at is null and waits_for = 0 and due_at < 'infinity';
-- The job that has waited longest gets its turn, too, whatever its priority, model and size.
create index jobs_to_dispatch_by_age on nightdesk_data.jobs (batch_id, created_at, seq)
  where state in ('queued', 'parked') and dispatched_at is null and waits_for = 0 and due_at < 'infinity';
create index jobs_in_the_queue on nightdesk_data.jobs (dispatched_at) where dispatched_at is not null;
create index jobs_by_lease on nightdesk_data.jobs (lease_until) where state = 'running';
create index jobs_by_batch on nightdesk_data.jobs (batch_id, seq);
create index jobs_by_batch_state on nightdesk_data.jobs (batch_id, state);
create unique index jobs_by_run on nightdesk_data.jobs (run_id) where run_id is not null;
create index jobs_by_parked_host on nightdesk_data.jobs (parked_host) where parked_host is not null;
create index jobs_by_rerun on nightdesk_data.jobs (rerun_of) where rerun_of is not null;
create index jobs_by_duplicate on nightdesk_data.jobs (duplicate_of) where duplicate_of is not null;
-- What takes no place of the queue.
create index jobs_in_lanes on nightdesk_data.jobs (kind, due_at, seq)
  where kind in ('command', 'notify') and state in ('queued', 'parked');
-- The newest result of the same input: its own, or of a copy that of the job that is worked in its place.
create index jobs_with_results on nightdesk_data.jobs (input_sha256, finished_at)
  where (state = 'succeeded' or duplicate_of is not null) and kind in ('summarize', 'extract');
-- The labels that a file was given. A path may be longer than an entry of an index.
create index jobs_that_classified on nightdesk_data.jobs (md5(input->>'path'), finished_at)
  where kind = 'extract' and input->>'preset' = 'classify' and state = 'succeeded';
-- What `results` is asked for. `order by finished_at desc` puts jobs that have not ended first, so that the index holds
-- them, too.
create index jobs_by_finish on nightdesk_data.jobs (finished_at);
create index jobs_with_problems on nightdesk_data.jobs (batch_id, state, error_code, seq) where error_code is not null;
-- What waits for a person or an exam is outside of all that is looked through for work.
create index jobs_never_due on nightdesk_data.jobs (waiting_for, batch_id)
  where waiting_for in ('approval', 'review', 'exam');
create index jobs_that_examine on nightdesk_data.jobs (finished_at) where kind = 'examine';
create index jobs_held_back on nightdesk_data.jobs (batch_id) where state = 'queued' and due_at = 'infinity';
-- Which kinds of jobs wait in a batch, without looking at each of a million.
create index jobs_waiting_by_kind on nightdesk_data.jobs (batch_id, kind) where state in ('queued', 'parked');

-- How far the run is that holds the job, in counts and names of steps; never words of an answer. The row goes when that
-- run ends, whatever ends it, so that there are no more rows than running jobs.
create table nightdesk_data.job_progress (
  job_id uuid primary key references nightdesk_data.jobs on delete cascade,
  run_id uuid not null,
  progress jsonb not null check (jsonb_typeof(progress) = 'object' and length(progress::text) <= 20000)
);
create function nightdesk_data.end_progress() returns trigger language plpgsql as $$
begin
  delete from nightdesk_data.job_progress where job_id = new.job_id;
  return null;
end $$;
create trigger progress_ends_with_its_run after update of state on nightdesk_data.jobs
  for each row when (old.state = 'running' and new.state <> 'running') execute function nightdesk_data.end_progress();

-- Counts by state, kept by triggers in up to 64 rows a batch, so that workers do not queue for one row: of 16
-- jobs that run at once, two rarely wait for the same one. A row may hold negative counts; the sums of a batch do not.
-- Whatever happens, the states add up to the total.
create table nightdesk_data.batch_counts (
  batch_id uuid not null references nightdesk_data.batches on delete cascade,
  shard smallint not null,
  total bigint not null default 0,
  queued bigint not null default 0,
  running bigint not null default 0,
  parked bigint not null default 0,
  succeeded bigint not null default 0,
  refused bigint not null default 0,
  failed bigint not null default 0,
  cancelled bigint not null default 0,
  expired bigint not null default 0,
  primary key (batch_id, shard),
  constraint states_add_up_to_the_total check
    (queued + running + parked + succeeded + refused + failed + cancelled + expired = total)
);

-- In SQL it would be parsed and planned each time, twice a job.
create function nightdesk_data.move_counts(batch_ids uuid[], states text[], deltas bigint[])
returns void language plpgsql as $$
begin
  insert into nightdesk_data.batch_counts as c
    (batch_id, shard, total, queued, running, parked, succeeded, refused, failed, cancelled, expired)
  select batch_id, pg_backend_pid() % 64, sum(delta),
         coalesce(sum(delta) filter (where state = 'queued'), 0),
         coalesce(sum(delta) filter (where state = 'running'), 0),
         coalesce(sum(delta) filter (where state = 'parked'), 0),
         coalesce(sum(delta) filter (where state = 'succeeded'), 0),
         coalesce(sum(delta) filter (where state = 'refused'), 0),
         coalesce(sum(delta) filter (where state = 'failed'), 0),
         coalesce(sum(delta) filter (where state = 'cancelled'), 0),
         coalesce(sum(delta) filter (where state = 'expired'), 0)
    from unnest(batch_ids, states, deltas) as moved (batch_id, state, delta)
   -- A batch that is being deleted takes its counts along.
   where exists (select from nightdesk_data.batches b where b.batch_id = moved.batch_id)
   group by batch_id
   -- Statements that move jobs of several batches take the rows in one order, or they would wait for each other.
   order by batch_id
  on conflict (batch_id, shard) do update set
    total = c.total + excluded.total,
    queued = c.queued + excluded.queued,
    running = c.running + excluded.running,
    parked = c.parked + excluded.parked,
    succeeded = c.succeeded + excluded.succeeded,
    refused = c.refused + excluded.refused,
    failed = c.failed + excluded.failed,
    cancelled = c.cancelled + excluded.cancelled,
    expired = c.expired + excluded.expired;
end $$;

create function nightdesk_data.count_jobs() returns trigger language plpgsql as $$
declare
  batch_ids uuid[];
  states text[];
  deltas bigint[];
  of_batch uuid;
  was text;
  became text;
begin
  case tg_op
    when 'INSERT' then
      select array_agg(batch_id), array_agg(state), array_agg(n) into batch_ids, states, deltas
        from (select batch_id, state, count(*) as n from added group by batch_id, state) moved;
    when 'DELETE' then
      select array_agg(batch_id), array_agg(state), array_agg(n) into batch_ids, states, deltas
        from (select batch_id, state, -count(*) as n from removed group by batch_id, state) moved;
    else
      -- A claim and a result move one job, and most often the row of its counts is there.
      if (select count(*) from added) = 1 then
        select a.batch_id, r.state, a.state into of_batch, was, became from added a join removed r using (job_id, batch_id);
        if was = became then
          return null;
        end if;
        update nightdesk_data.batch_counts
           set queued = queued + (became = 'queued')::int - (was = 'queued')::int,
               running = running + (became = 'running')::int - (was = 'running')::int,
               parked = parked + (became = 'parked')::int - (was = 'parked')::int,
               succeeded = succeeded + (became = 'succeeded')::int - (was = 'succeeded')::int,
               refused = refused + (became = 'refused')::int - (was = 'refused')::int,
               failed = failed + (became = 'failed')::int - (was = 'failed')::int,
               cancelled = cancelled + (became = 'cancelled')::int - (was = 'cancelled')::int,
               expired = expired + (became = 'expired')::int - (was = 'expired')::int
         where batch_id = of_batch and shard = pg_backend_pid() % 64;
        if found then
          return null;
        end if;
      end if;
      select array_agg(batch_id), array_agg(state), array_agg(n) into batch_ids, states, deltas
        from (select batch_id, state, sum(sign)::bigint as n
                from (select batch_id, state, 1 as sign from added
                      union all select batch_id, state, -1 from removed) signed
               group by batch_id, state having sum(sign) <> 0) moved;
  end case;
  if batch_ids is not null then
    perform nightdesk_data.move_counts(batch_ids, states, deltas);
  end if;
  return null;
end $$;

create trigger count_added_jobs after insert on nightdesk_data.jobs
  referencing new table as added for each statement execute function nightdesk_data.count_jobs();
create trigger count_moved_jobs after update on nightdesk_data.jobs
  referencing old table as removed new table as added
  for each statement execute function nightdesk_data.count_jobs();
create trigger count_removed_jobs after delete on nightdesk_data.jobs
  referencing old table as removed for each statement execute function nightdesk_data.count_jobs();

-- A parent becomes due in the transaction that ends its last child, and workers hear of it.
create table nightdesk_data.job_dependencies (
  parent_id uuid not null references nightdesk_data.jobs on delete cascade,
  child_id uuid not null references nightdesk_data.jobs on delete cascade,
  primary key (parent_id, child_id),
  constraint no_job_waits_for_itself check (parent_id <> child_id)
);
create index job_dependencies_by_child on nightdesk_data.job_dependencies (child_id);

create function nightdesk_data.release_parents() returns trigger language plpgsql as $$
declare
  parents uuid[];
  ended integer[];
  n_due integer;
begin
  select array_agg(parent_id), array_agg(n) into parents, ended
    -- No join of the two: planned for a statement that moves one row, it would compare each of 5,000 with each.
    from (select d.parent_id, sum(sign)::integer as n
            from (select job_id, 1 as sign from added where finished_at is not null
                  union all select job_id, -1 from removed where finished_at is not null) signed
            join nightdesk_data.job_dependencies d on d.child_id = signed.job_id
           group by d.parent_id) moved
   where n <> 0;
  -- A statement that moves no row fires the trigger, too: without this it would go on for ever.
  if parents is null then
    return null;
  end if;
  perform from nightdesk_data.jobs where job_id = any(parents) order by job_id for no key update;
  -- A parent that has run already waits for its checks, and not again for a child that is repeated.
  with moved as (
    update nightdesk_data.jobs p
       set waits_for = greatest(0, waits_for - n), due_at = case when waits_for = n then now() else due_at end
      from unnest(parents, ended) as moved (parent_id, n)
     where p.job_id = moved.parent_id and p.state = 'queued' and (p.attempt = 0 or p.waits_for > 0)
    returning p.waits_for)
  select count(*) filter (where waits_for = 0) into n_due from moved;
  if n_due > 0 then
    perform pg_notify('nightdesk_jobs', '');
  end if;
  return null;
end $$;
create trigger release_parents_of_ended_jobs after update on nightdesk_data.jobs
  referencing old table as removed new table as added
  for each statement execute function nightdesk_data.release_parents();

create table nightdesk_data.workers (
  worker_id uuid primary key,
  host text not null,
  pid integer not null,
  version text not null,
  concurrency integer not null check (concurrency > 0),
  config_file text not null,
  -- SHA-256 of each part of the configuration that holds for all workers, by its key.
  shared_config jsonb not null,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  -- Base URLs, as in hosts; none where its model, or its embedder, needs none. A host that is down keeps nobody from work
  -- who does not need it, or has another.
  model_hosts text[] not null default '{}',
  embedder_hosts text[] not null default '{}',
  -- store: it has no files, and takes no jobs that need them.
  documents_from text not null default 'files' check (documents_from in ('files', 'store'))
);

-- A claim of a job by a worker. Its id is the fencing token: a result is written only where the job still names it.
create table nightdesk_data.runs (
  run_id uuid primary key,
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  attempt integer not null check (attempt >= 1),
  worker_id uuid not null,
  -- lost: the lease ran out. handed_back: the worker was told to stop. drafted: its answer waits for checks.
  -- escalated: its answer was not verified, and the next model of verify.tiers is asked.
  state text not null default 'running' check (state in
    ('running', 'succeeded', 'refused', 'failed', 'parked', 'cancelled', 'expired', 'lost', 'handed_back', 'drafted',
     'escalated')),
  answer text,
  scope text,
  citations jsonb not null default '[]' check (jsonb_typeof(citations) = 'array'),
  summary jsonb,
  error_code text,
  error_message text,
  model_first text,
  model_second text,
  prompt_tokens integer not null default 0 check (prompt_tokens >= 0),
  completion_tokens integer not null default 0 check (completion_tokens >= 0),
  queued_ms double precision not null default 0,
  model_ms double precision not null default 0,
  run_ms double precision,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  version text,
  config_sha256 text check (config_sha256 ~ '^[0-9a-f]{64}$'),
  models jsonb not null default '[]' check (jsonb_typeof(models) = 'array'),
  memory_ids uuid[] not null default '{}',
  -- The run whose replies this one took over, all of them: nothing that decides them had changed.
  cached_from uuid,
  -- When grades of it were taken back, because the judge that had given them lost its word.
  regraded_at timestamptz,
  -- The configuration's file, absolute, and {"workroot", "allowed", "sources"}: what a path of the run is below.
  config_file text,
  roots jsonb check (jsonb_typeof(roots) = 'object'),
  -- verified where checks and their auditor say so; else of the worst claim that the answer holds. Null where it states
  -- nothing, and for kinds whose answers are not graded. unresolved: what it would take is in constraints.
  grade text check (grade in ('verified', 'supported', 'unconfirmed', 'unsupported', 'unresolved')),
  -- pending: its checks are under way. unverified: no auditor could be had, or read.
  verification text not null default 'off' check (verification in ('off', 'pending', 'passed', 'failed', 'unverified')),
  -- Claims that were left out of the answer.
  claims_dropped integer not null default 0 check (claims_dropped >= 0),
  constraint ended_runs_have_a_time check ((finished_at is not null) = (state <> 'running')),
  constraint ended_runs_have_a_duration check (state in ('running', 'lost') or run_ms is not null),
  constraint only_successes_have_an_answer check (answer is null or state = 'succeeded'),
  constraint only_answers_are_graded
    check (state = 'succeeded' or claims_dropped = 0 and (grade is null or grade = 'unresolved')),
  constraint what_is_unresolved_is_refused check ((grade is not distinct from 'unresolved') = (error_code is not distinct from 'UNRESOLVED')),
  constraint what_is_verified_has_passed check (grade is distinct from 'verified' or verification = 'passed'),
  constraint drafts_wait_for_checks check ((state = 'drafted') = (verification = 'pending')),
  constraint codes_tell_why check ((error_code is not null)
    = (state in ('refused', 'failed', 'parked', 'cancelled', 'expired', 'lost'))),
  constraint run_messages_come_with_a_code check ((error_code is null) = (error_message is null))
);
create index runs_by_job on nightdesk_data.runs (job_id, started_at);
create index runs_by_finish on nightdesk_data.runs (finished_at) where finished_at is not null;
create unique index one_run_at_a_time on nightdesk_data.runs (job_id) where state = 'running';
-- Exactly one result a job.
create unique index one_result_a_job on nightdesk_data.runs (job_id) where state in ('succeeded', 'refused');

alter table nightdesk_data.jobs
  add constraint jobs_name_their_run foreign key (run_id) references nightdesk_data.runs deferrable initially deferred;

create table nightdesk_data.run_events (
  event_id bigint generated always as identity primary key,
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  step text not null check (step <> ''),
  duration_ms double precision not null check (duration_ms >= 0),
  detail jsonb not null default '{}' check (jsonb_typeof(detail) = 'object'),
  -- When the step began, counted from the start of its run.
  at_ms double precision not null default 0 check (at_ms >= 0),
  unique (run_id, ordinal)
);

-- What an investigation may use, made once and never changed. Ended, it allows nothing.
create table nightdesk_data.grants (
  grant_id uuid primary key default gen_random_uuid(),
  job_id uuid not null unique references nightdesk_data.jobs on delete cascade,
  preset text not null check (preset <> ''),
  preset_sha256 text not null check (preset_sha256 ~ '^[0-9a-f]{64}$'),
  tools text[] not null,
  -- Folders, relative to the work root: its tools see nothing outside of them.
  roots text[] not null,
  limits jsonb not null check (jsonb_typeof(limits) = 'object'),
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
);

create function nightdesk_data.keep_grant() returns trigger language plpgsql as $$
begin
  if old.ended_at is not null
     or row(new.grant_id, new.job_id, new.preset, new.preset_sha256, new.tools, new.roots, new.limits, new.created_at)
        is distinct from
        row(old.grant_id, old.job_id, old.preset, old.preset_sha256, old.tools, old.roots, old.limits, old.created_at) then
    raise exception 'a grant is never changed' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger grants_stay before update on nightdesk_data.grants
  for each row execute function nightdesk_data.keep_grant();

-- A step of an investigation: one call of a model or of a tool, or what a rule did. They belong to the job, whose next
-- run goes on behind the last; each names the run that wrote it.
create table nightdesk_data.steps (
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  kind text not null check (kind in ('model', 'tool', 'compaction', 'policy', 'end')),
  -- What a call of a tool may change or reach.
  effect text check (effect in ('none', 'local-write', 'exec', 'network')),
  -- Of the call of a model: its request, as in model_calls.
  request_sha256 text check (request_sha256 ~ '^[0-9a-f]{64}$'),
  -- waiting: a person is asked. uncertain: its worker was lost, and it may have had its effect.
  state text not null default 'started'
    check (state in ('started', 'waiting', 'uncertain', 'done', 'failed', 'denied', 'skipped')),
  -- Facts, never document text or prompts: which rule acted, what was left out, what was asked.
  detail jsonb not null default '{}' check (jsonb_typeof(detail) = 'object'),
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (job_id, ordinal),
  constraint steps_that_ended_have_a_time
    check ((ended_at is not null) = (state in ('done', 'failed', 'denied', 'skipped'))),
  constraint calls_of_tools_have_an_effect check ((kind = 'tool') = (effect is not null)),
  constraint calls_of_models_have_a_request check (kind = 'model' or request_sha256 is null),
  constraint only_calls_of_tools_wait check (kind = 'tool' or state not in ('waiting', 'uncertain', 'denied'))
);
create unique index one_open_step_at_a_time on nightdesk_data.steps (job_id)
  where state in ('started', 'waiting', 'uncertain');
create index steps_by_run on nightdesk_data.steps (run_id);

create table nightdesk_data.tool_calls (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  name text not null,
  args jsonb not null check (jsonb_typeof(args) = 'object'),
  error_code text,
  error_message text,
  result jsonb,
  trailing_text text check (length(trailing_text) <= 200),
  duration_ms double precision not null check (duration_ms >= 0),
  -- Of an investigation, whose calls are committed before and after.
  job_id uuid,
  step integer,
  grant_id uuid references nightdesk_data.grants on delete cascade,
  args_sha256 text check (args_sha256 ~ '^[0-9a-f]{64}$'),
  primary key (run_id, ordinal),
  foreign key (job_id, step) references nightdesk_data.steps on delete cascade,
  constraint calls_of_steps_come_with_their_grant
    check (num_nulls(job_id, step, grant_id, args_sha256) in (0, 4)),
  constraint calls_have_a_result_or_an_error
    check (num_nonnulls(result, error_code) = 1 or step is not null and num_nonnulls(result, error_code) = 0),
  constraint call_errors_have_a_message check ((error_code is null) = (error_message is null))
);
create index tool_calls_by_grant on nightdesk_data.tool_calls (grant_id) where grant_id is not null;
create unique index tool_calls_by_step on nightdesk_data.tool_calls (job_id, step) where step is not null;

-- What a person decided about calls of one fingerprint: of those that wait, of a job, of a batch, or from now on.
create table nightdesk_data.decisions (
  decision_id uuid primary key default gen_random_uuid(),
  -- Of tool, arguments, executor and preset. Null for a rule that goes by binary and folder.
  fingerprint text check (fingerprint ~ '^[0-9a-f]{64}$'),
  verdict text not null check (verdict in ('approve', 'deny')),
  scope text not null check (scope in ('once', 'job', 'batch', 'rule')),
  job_id uuid references nightdesk_data.jobs on delete cascade,
  batch_id uuid references nightdesk_data.batches on delete cascade,
  -- {"binary", "words", "folder"} of a rule for commands, of all jobs, one job or one batch.
  rule jsonb check (jsonb_typeof(rule) = 'object'),
  reason text,
  decided_by text not null check (decided_by <> ''),
  decided_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Calls that it answered.
  hits integer not null default 0 check (hits >= 0),
  constraint decisions_are_about_something check (fingerprint is not null or rule is not null),
  constraint rules_stand check (rule is null or scope <> 'once'),
  constraint decisions_for_a_job_name_it check ((scope = 'job') = (job_id is not null)),
  constraint decisions_for_a_batch_name_it check ((scope = 'batch') = (batch_id is not null)),
  constraint rules_expire check (scope <> 'rule' or expires_at is not null or verdict = 'deny' and rule is not null),
  constraint denials_have_a_reason check (verdict <> 'deny' or btrim(reason) <> '')
);
create index decisions_by_fingerprint on nightdesk_data.decisions (fingerprint) where fingerprint is not null;
create index decisions_by_job on nightdesk_data.decisions (job_id) where job_id is not null;
create index decisions_by_batch on nightdesk_data.decisions (batch_id) where batch_id is not null;

-- A call that somebody is asked about. Its job is parked meanwhile, at no cost.
create table nightdesk_data.approvals (
  approval_id uuid primary key default gen_random_uuid(),
  job_id uuid not null,
  step integer not null,
  fingerprint text not null check (fingerprint ~ '^[0-9a-f]{64}$'),
  tool text not null check (tool <> ''),
  executor text not null check (executor <> ''),
  args jsonb not null check (jsonb_typeof(args) = 'object'),
  risks text[] not null default '{}',
  -- What would be done, as people read it.
  preview text not null check (length(preview) <= 4000),
  -- withdrawn: its job ended otherwise, or a rule answers it.
  state text not null default 'waiting' check (state in ('waiting', 'approved', 'denied', 'expired', 'withdrawn')),
  requested_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  decision_id uuid references nightdesk_data.decisions on delete set null,
  decided_at timestamptz,
  unique (job_id, step),
  foreign key (job_id, step) references nightdesk_data.steps on delete cascade,
  constraint what_was_decided_has_a_time check ((state = 'waiting') = (decided_at is null)),
  constraint only_answers_have_a_decision check (decision_id is null or state in ('approved', 'denied'))
);
create index approvals_waiting on nightdesk_data.approvals (fingerprint, requested_at) where state = 'waiting';
create index approvals_by_decision on nightdesk_data.approvals (decision_id) where decision_id is not null;
create index approvals_by_expiry on nightdesk_data.approvals (expires_at) where state = 'waiting';

-- What tools gave, whole, by its hash: two calls with one output keep it once.
create table nightdesk_data.artifacts (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint not null check (bytes >= 0),
  content bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Renewed by each write of the same bytes: nobody removes what is just being taken.
  used_at timestamptz not null default clock_timestamp(),
  constraint artifacts_are_as_long_as_they_say check (length(content) = bytes)
);

create table nightdesk_data.artifact_uses (
  job_id uuid not null,
  step integer not null,
  -- result, stdout, stderr, state
  stream text not null check (stream <> ''),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint not null check (bytes >= 0),
  -- evidence: what an answer may rest on, kept with its job. output: until it expires. state: until its job has ended.
  class text not null check (class in ('evidence', 'output', 'state')),
  expires_at timestamptz,
  -- Its bytes are kept no longer; what it was stays.
  removed_at timestamptz,
  kept_sha256 text generated always as (case when removed_at is null then sha256 end) stored
    references nightdesk_data.artifacts,
  primary key (job_id, step, stream),
  foreign key (job_id, step) references nightdesk_data.steps on delete cascade,
  constraint evidence_is_kept_with_its_job check (class <> 'evidence' or num_nonnulls(expires_at, removed_at) = 0)
);
create index artifact_uses_by_content on nightdesk_data.artifact_uses (kept_sha256);
create index artifact_uses_by_expiry on nightdesk_data.artifact_uses (expires_at)
  where expires_at is not null and removed_at is null;
create index artifact_uses_of_states on nightdesk_data.artifact_uses (job_id) where class = 'state' and removed_at is null;

-- How much of what tools gave is kept for the jobs of a batch, and how many outputs were cut because of that.
create table nightdesk_data.batch_outputs (
  batch_id uuid primary key references nightdesk_data.batches on delete cascade,
  bytes bigint not null check (bytes >= 0),
  cut integer not null default 0 check (cut >= 0)
);

-- What an investigation holds open goes with its end, whatever ends it.
create function nightdesk_data.end_investigation() returns trigger language plpgsql as $$
begin
  update nightdesk_data.grants set ended_at = clock_timestamp() where job_id = new.job_id and ended_at is null;
  update nightdesk_data.approvals set state = 'withdrawn', decided_at = clock_timestamp()
   where job_id = new.job_id and state = 'waiting';
  -- One that may have had its effect is uncertain, and stays so: nobody knows.
  update nightdesk_data.steps set state = 'uncertain'
   where job_id = new.job_id and state = 'started' and effect <> 'none';
  update nightdesk_data.steps set state = 'skipped', ended_at = clock_timestamp()
   where job_id = new.job_id and state in ('started', 'waiting');
  return null;
end $$;
create trigger end_investigations after update of state on nightdesk_data.jobs
  for each row when (new.kind in ('investigate', 'check') and new.finished_at is not null and old.finished_at is null)
  execute function nightdesk_data.end_investigation();

-- Every call of a model, committed as it returns. A later attempt of the job takes the reply to the same request.
create table nightdesk_data.model_calls (
  call_id bigint generated always as identity primary key,
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  -- The run that made it; it may have been lost since.
  run_id uuid not null,
  pass text not null check (pass in ('first', 'second', 'retry', 'chat', 'part', 'step', 'decompose', 'verdict', 'audit', 'grade')),
  request_sha256 text not null check (request_sha256 ~ '^[0-9a-f]{64}$'),
  model text not null check (model <> ''),
  model_digest text check (model_digest ~ '^[0-9a-f]{64}$'),
  prompt_template text not null check (prompt_template <> ''),
  prompt_sha256 text not null check (prompt_sha256 ~ '^[0-9a-f]{64}$'),
  -- What filled the template: operator text, and evidence as references (path, sha256, span), never as text.
  prompt jsonb not null check (jsonb_typeof(prompt) = 'object'),
  -- Without thinking. Null when the host refused the prompt.
  reply text,
  tool_calls jsonb not null default '[]' check (jsonb_typeof(tool_calls) = 'array'),
  done_reason text check (done_reason in ('stop', 'length', 'window', 'thought')),
  error_code text,
  error_message text,
  prompt_tokens integer not null default 0 check (prompt_tokens >= 0),
  completion_tokens integer not null default 0 check (completion_tokens >= 0),
  load_ms double precision not null default 0 check (load_ms >= 0),
  duration_ms double precision not null check (duration_ms >= 0),
  created_at timestamptz not null default clock_timestamp(),
  -- The run of another job that asked for it, when this is a copy of its call.
  cached_from uuid,
  unique (job_id, request_sha256),
  constraint calls_have_a_reply_or_a_code check ((reply is null) = (error_code is not null)),
  constraint replies_say_why_they_ended check ((reply is null) = (done_reason is null)),
  constraint call_codes_have_a_message check ((error_code is null) = (error_message is null))
);
-- A model without language is never looked up: what it says is made again for nothing.
create index model_calls_to_take_over on nightdesk_data.model_calls (request_sha256, call_id)
  where reply is not null and model <> 'extractive';

-- What a model thought before it replied. Apart from the calls, so that it is in nothing that is made of them, and goes
-- before they do.
create table nightdesk_data.call_reasoning (
  call_id bigint primary key references nightdesk_data.model_calls on delete cascade,
  -- The run that was told it: where another one asked again, and was told none, it is no longer of the call.
  run_id uuid not null,
  -- Of a long one the beginning and the end.
  reasoning text not null check (reasoning <> '' and char_length(reasoning) <= 65000),
  -- Of all of it.
  chars integer not null check (chars > 0),
  -- Null where it goes with its job.
  expires_at timestamptz
);
create index call_reasoning_by_expiry on nightdesk_data.call_reasoning (expires_at) where expires_at is not null;

-- The calls that a run used, in order: asked by itself, or taken over from an earlier attempt of its job (reused) or
-- from another job (cached).
create table nightdesk_data.run_calls (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  pass text not null check (pass in ('first', 'second', 'retry', 'chat', 'part', 'step', 'decompose', 'verdict', 'audit', 'grade')),
  call_id bigint not null references nightdesk_data.model_calls on delete cascade,
  origin text not null check (origin in ('asked', 'reused', 'cached')),
  primary key (run_id, ordinal)
);
create index run_calls_by_call on nightdesk_data.run_calls (call_id);

create table nightdesk_data.evidence (
  evidence_id bigint generated always as identity primary key,
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  -- output: what a tool printed. Its path is a label, such as "output of shell, step 4".
  kind text not null check (kind in ('file', 'chunk', 'web', 'output')),
  admitted boolean not null,
  rejected_reason text,
  path text not null check (path <> ''),
  source text,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Of the text itself, as UTF-8: what a locator into it goes by, also where a format makes the text of a file.
  text_sha256 text not null check (text_sha256 ~ '^[0-9a-f]{64}$'),
  -- Version of the extractor that made text of the bytes: another one makes the evidence stale.
  extractor text not null default 'utf-8' check (extractor <> ''),
  chars_full integer not null check (chars_full >= 0),
  chars_returned integer not null check (chars_returned >= 0),
  truncated boolean not null,
  chunk_key text,
  heading_path text,
  -- Where in the file it begins, as people find it there; null where its lines say it.
  locator jsonb check (jsonb_typeof(locator) = 'object'),
  -- What a person would see in the file and its text did not hold when it was read, counted by kind.
  left_out jsonb not null default '{}' check (jsonb_typeof(left_out) = 'object'),
  start_char integer not null check (start_char >= 0),
  end_char integer not null,
  line_start integer not null check (line_start >= 1),
  line_end integer not null,
  score double precision,
  preview text not null,
  -- Of a web page, whose path is its URL.
  title text,
  retrieved_at timestamptz,
  unique (run_id, ordinal),
  constraint rejected_evidence_has_a_reason check (admitted = (rejected_reason is null)),
  constraint chunks_have_a_key check ((kind = 'chunk') = (chunk_key is not null)),
  constraint spans_run_forward check (end_char >= start_char and line_end >= line_start),
  constraint web_pages_have_a_time check ((kind = 'web') = (retrieved_at is not null) and (kind = 'web' or title is null)),
  constraint a_file_is_truncated_or_whole
    check (kind <> 'file' or truncated = (chars_returned < chars_full))
);
-- Whose bytes they are, and which runs read a file: prune and forget ask. A path may be longer than an entry of an index.
create index evidence_by_sha256 on nightdesk_data.evidence (sha256);
create index evidence_by_path on nightdesk_data.evidence (left(path, 200) text_pattern_ops);

-- Spans in quotation marks of an answer, looked up in its evidence.
create table nightdesk_data.quotes (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  quote text not null check (quote <> ''),
  class text not null check (
    class in ('verbatim', 'normalised', 'elided', 'misattributed', 'stitched', 'asked', 'translated', 'term', 'not_found')
  ),
  number integer check (number >= 1),
  path text,
  start_char integer check (start_char >= 0),
  end_char integer,
  line_start integer check (line_start >= 1),
  line_end integer,
  primary key (run_id, ordinal),
  constraint quotes_stand_somewhere_or_nowhere check (num_nulls(number, path, start_char, end_char, line_start, line_end) in (0, 6)),
  -- Words of a heading or a title are found, and stand in no span of the text.
  constraint quotes_not_found_have_no_place check (class not in ('asked', 'translated', 'term', 'not_found') or path is null),
  constraint quote_spans_run_forward check (end_char >= start_char and line_end >= line_start)
);

-- Numbers, dates, links and paths that an answer states.
create table nightdesk_data.figures (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  kind text not null check (kind in ('number', 'date', 'link', 'path')),
  figure text not null check (figure <> ''),
  stands_in text not null check (stands_in in ('evidence', 'question', 'both', 'neither')),
  flagged boolean not null,
  number integer check (number >= 1),
  path text,
  start_char integer check (start_char >= 0),
  end_char integer,
  line_start integer check (line_start >= 1),
  line_end integer,
  primary key (run_id, ordinal),
  constraint figures_stand_somewhere_or_nowhere check (num_nulls(number, path, start_char, end_char, line_start, line_end) in (0, 6)),
  constraint figures_have_a_place_in_evidence check (path is null or stands_in in ('evidence', 'both')),
  constraint figure_spans_run_forward check (end_char >= start_char and line_end >= line_start)
);

-- Statements of an answer, draft by draft, each graded against the evidence that it cites.
create table nightdesk_data.claims (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  -- 0 for the first reply, 1 for its repair.
  draft integer not null check (draft >= 0),
  ordinal integer not null check (ordinal >= 0),
  text text not null check (text <> ''),
  cites integer[] not null default '{}',
  -- What the model gave as the words that carry it.
  quote text,
  grade text not null check (grade in ('supported', 'unconfirmed', 'unsupported')),
  fate text not null check (fate in ('kept', 'marked', 'repaired', 'dropped', 'flagged')),
  reason text not null check (reason in ('verbatim', 'computed', 'confirmed', 'uncited', 'not_admitted', 'quote', 'figure', 'name',
    'polarity', 'opposite', 'anchor', 'subject', 'frame', 'label', 'reading', 'judge', 'unclear', 'not_asked')),
  -- Whether the answer that was given holds it.
  stands boolean not null,
  arithmetic text,
  number integer check (number >= 1),
  path text,
  start_char integer check (start_char >= 0),
  end_char integer,
  line_start integer check (line_start >= 1),
  line_end integer,
  -- The words that stand at that place.
  carrier text,
  -- Where in the file that place is, as people find it there; null where its lines say it.
  locator jsonb check (jsonb_typeof(locator) = 'object'),
  -- Of each other piece that it cites, where that says most of it, as a list: number, path, start_char, end_char,
  -- line_start, line_end and locator.
  other_places jsonb not null default '[]' check (jsonb_typeof(other_places) = 'array'),
  primary key (run_id, draft, ordinal),
  constraint claims_have_a_place_or_none check (num_nulls(number, path, start_char, end_char, line_start, line_end) in (0, 6)),
  constraint claims_without_a_place_have_no_locator check (locator is null or path is not null),
  constraint claim_spans_run_forward check (end_char >= start_char and line_end >= line_start),
  constraint supported_claims_are_carried_somewhere
    check (grade <> 'supported' or path is not null and reason in ('verbatim', 'computed', 'confirmed')),
  constraint supported_claims_are_kept check ((grade = 'supported') = (fate = 'kept')),
  constraint unconfirmed_claims_are_marked check ((grade = 'unconfirmed') = (fate = 'marked')),
  constraint what_was_left_out_does_not_stand check (not stands or fate in ('kept', 'marked', 'flagged'))
);

-- The rules that speak against a claim, or the one that settled it at once.
create table nightdesk_data.claim_checks (
  run_id uuid not null,
  draft integer not null,
  claim integer not null,
  ordinal integer not null check (ordinal >= 0),
  rule text not null check (rule <> ''),
  verdict text not null check (verdict in ('pass', 'fail', 'unknown')),
  detail text not null,
  primary key (run_id, draft, claim, ordinal),
  foreign key (run_id, draft, claim) references nightdesk_data.claims on delete cascade
);

-- Single values of the fields of an extraction, each with the words of the document that carry it.
create table nightdesk_data.field_bindings (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  -- JSON pointer in runs.summary.
  pointer text not null,
  value jsonb not null check (jsonb_typeof(value) not in ('object', 'array')),
  state text not null check (state in ('bound', 'unbound', 'null')),
  -- Of an unbound one, of a null that stands for a value that nothing carried, and of a bound one that is in doubt.
  reason text check (reason in ('no_quote', 'quote_not_found', 'quote_short', 'not_in_quote', 'other_label', 'reading', 'judge')),
  grade text check (grade in ('supported', 'unconfirmed', 'unsupported')),
  -- What a judge said of the value, or of the one that was left out.
  judge_says text check (judge_says in ('yes', 'no', 'unclear')),
  judge_detail text,
  quote text,
  number integer check (number >= 1),
  path text,
  start_char integer check (start_char >= 0),
  end_char integer,
  line_start integer check (line_start >= 1),
  line_end integer,
  -- Where in the file that is, as people find it there; null where its lines say it.
  locator jsonb check (jsonb_typeof(locator) = 'object'),
  -- What a person said of the value, which stays as the model gave it.
  decision text check (decision in ('accepted', 'corrected', 'rejected')),
  correction jsonb check (jsonb_typeof(correction) in ('string', 'number', 'boolean')),
  decision_reason text check (btrim(decision_reason) <> ''),
  decided_by text check (decided_by <> ''),
  decided_at timestamptz,
  primary key (run_id, ordinal),
  constraint bindings_have_a_place_or_none check (num_nulls(number, path, start_char, end_char, line_start, line_end) in (0, 6)),
  constraint binding_spans_run_forward check (end_char >= start_char and line_end >= line_start),
  constraint bound_values_have_words_at_a_place
    check ((state = 'bound') = (quote is not null) and (quote is null) = (path is null)),
  constraint what_is_null_has_no_value check ((state = 'null') = (jsonb_typeof(value) = 'null')),
  constraint unbound_values_have_a_reason check (state <> 'unbound' or reason is not null),
  constraint bound_values_may_be_in_doubt check (state <> 'bound' or coalesce(reason in ('no_quote', 'other_label', 'reading', 'judge'), true)),
  constraint values_have_a_grade check ((state = 'null') = (grade is null)),
  constraint judges_say_it_in_words check ((judge_says is null) = (judge_detail is null)),
  constraint fields_that_were_decided_say_by_whom check (num_nonnulls(decision, decided_by, decided_at) in (0, 3)),
  constraint only_corrected_fields_have_a_correction check ((decision is not distinct from 'corrected') = (correction is not null)),
  constraint only_decided_fields_have_a_reason check (decision_reason is null or decision is not null),
  constraint no_value_is_not_accepted check (decision is distinct from 'accepted' or state <> 'null')
);
create index field_bindings_decided on nightdesk_data.field_bindings (decided_at) where decision is not null;

-- What was asked about the statements of an answer, round by round: yes-or-no questions, settled by a rule or by a job.
create table nightdesk_data.checks (
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  round integer not null check (round >= 0),
  ordinal integer not null check (ordinal >= 0),
  -- Of the answer that the round is about: another one is checked anew.
  draft_sha256 text not null check (draft_sha256 ~ '^[0-9a-f]{64}$'),
  -- The statement, and its number among those that stand.
  claim_number integer not null check (claim_number >= 1),
  claim text not null check (claim <> ''),
  question text not null check (question <> ''),
  expects text not null check (expects in ('yes', 'no')),
  how text not null check (how in ('rule', 'model')),
  -- Of a check by rule, and of a job that a rule asked for.
  rule text,
  state text not null check (state in ('open', 'yes', 'no', 'unknown')),
  detail text not null default '',
  -- Why nobody could say.
  reason text check (reason in ('source_missing', 'sources_disagree', 'out_of_budget', 'stagnated', 'blocked_by_approval', 'auditor_failed')),
  check_job_id uuid references nightdesk_data.jobs on delete set null,
  -- Places that the answer rests on, as {"path", "line_start", "line_end", "quote"}.
  evidence jsonb not null default '[]' check (jsonb_typeof(evidence) = 'array'),
  primary key (job_id, round, ordinal),
  constraint only_unknown_checks_have_a_reason check ((state = 'unknown') = (reason is not null)),
  constraint rules_ask_no_job check (how = 'model' or check_job_id is null and rule is not null)
);
create index checks_by_job on nightdesk_data.checks (check_job_id) where check_job_id is not null;

-- What the auditor made of the checks of a round.
create table nightdesk_data.audits (
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  round integer not null check (round >= 0),
  -- After caps, and before; 1 to 4, of which 3 passes.
  score integer check (score between 1 and 4),
  given integer check (given between 1 and 4),
  -- What keeps the score at 2 or below.
  caps text[] not null default '{}',
  -- [{"claim", "where", "change"}], 3 at most.
  corrections jsonb not null default '[]' check (jsonb_typeof(corrections) = 'array'),
  readable boolean not null,
  primary key (job_id, round),
  constraint what_can_be_read_has_a_score check (readable = (score is not null) and readable = (given is not null)),
  constraint caps_only_lower check (score <= given),
  constraint capped_scores_do_not_pass check (caps = '{}' or score <= 2 or not readable)
);

-- What is missing for an answer that could not be settled.
create table nightdesk_data.constraints (
  constraint_id bigint generated always as identity primary key,
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  what text not null check (what <> ''),
  needed text not null check (needed <> ''),
  reason text not null
    check (reason in ('source_missing', 'sources_disagree', 'out_of_budget', 'stagnated', 'blocked_by_approval', 'auditor_failed')),
  created_at timestamptz not null default clock_timestamp(),
  -- When the job, or one that repeats it, succeeded.
  resolved_at timestamptz,
  unique (job_id, ordinal)
);

-- Of a statement that nothing of a set is so: how many are in the set, and how many of them were read.
create table nightdesk_data.coverage (
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  round integer not null check (round >= 0),
  claim_number integer not null check (claim_number >= 1),
  claim text not null,
  set_query text not null check (set_query <> ''),
  members integer not null check (members >= 0),
  read integer not null check (read >= 0),
  primary key (job_id, round, claim_number),
  constraint no_more_is_read_than_there_is check (read <= members)
);

-- A draft that a person is asked to accept, to correct or to reject. Its job is parked meanwhile, at no cost.
create table nightdesk_data.draft_reviews (
  job_id uuid primary key references nightdesk_data.jobs on delete cascade,
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  draft_sha256 text not null check (draft_sha256 ~ '^[0-9a-f]{64}$'),
  draft text not null,
  -- Why nobody else could settle it.
  why text not null check (why <> ''),
  state text not null default 'waiting' check (state in ('waiting', 'accepted', 'corrected', 'rejected')),
  correction text,
  -- What a right answer holds: expected by nightdesk eval.
  facts text[] not null default '{}',
  reason text,
  requested_at timestamptz not null default clock_timestamp(),
  decided_by text check (decided_by <> ''),
  decided_at timestamptz,
  constraint reviews_that_were_decided_say_by_whom
    check ((state = 'waiting') = (decided_at is null) and (decided_at is null) = (decided_by is null)),
  constraint only_corrections_have_words check ((state = 'corrected') = (correction is not null)),
  constraint rejections_have_a_reason check (state <> 'rejected' or btrim(reason) <> '')
);
create index draft_reviews_by_run on nightdesk_data.draft_reviews (run_id);
create index draft_reviews_waiting on nightdesk_data.draft_reviews (requested_at) where state = 'waiting';

-- The success of a job that repeats another one resolves what was open there.
create function nightdesk_data.resolve_constraints() returns trigger language plpgsql as $$
begin
  update nightdesk_data.constraints set resolved_at = clock_timestamp()
   where resolved_at is null and job_id = new.rerun_of;
  return null;
end $$;
create trigger successes_resolve after update of state on nightdesk_data.jobs
  for each row when (new.rerun_of is not null and new.state = 'succeeded' and old.state <> 'succeeded')
  execute function nightdesk_data.resolve_constraints();

-- Inner nodes of a tree of summaries: what each says, and the span of the file that it covers.
create table nightdesk_data.summary_parts (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  path text not null check (path <> ''),
  level integer not null check (level >= 0),
  ordinal integer not null check (ordinal >= 0),
  start_char integer not null check (start_char >= 0),
  end_char integer not null,
  line_start integer not null check (line_start >= 1),
  line_end integer not null,
  summary text not null check (summary <> ''),
  primary key (run_id, level, ordinal),
  constraint part_spans_run_forward check (end_char > start_char and line_end >= line_start)
);

create table nightdesk_data.job_vectors (
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  model text not null,
  embedding vector not null,
  primary key (job_id, ordinal)
);

-- Durable notes of the operator. Preferences, constraints and rules of work join the prompts of pass 2.
create table nightdesk_data.memory (
  memory_id uuid primary key default gen_random_uuid(),
  seq bigint generated always as identity unique,
  type text not null check (type in ('preference', 'project_state', 'constraint', 'workflow_rule', 'user_fact')),
  source text not null check (source in ('manual', 'derived_from_evidence')),
  content text not null check (btrim(content) <> '' and length(content) <= 4000),
  chunk_keys text[] not null default '{}',
  created_at timestamptz not null default now(),
  constraint derived_notes_name_their_chunks check (source <> 'derived_from_evidence' or cardinality(chunk_keys) > 0)
);

-- What people did to the desk on its pages and about tokens, and what programs did: written before it is done, and what came of it after.
create table nightdesk_data.operator_actions (
  action_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text not null check (actor <> '' and length(actor) <= 200),
  action text not null check (action <> ''),
  -- Of what it was done to, as far as that is one batch or one job; both may be gone since.
  batch_id uuid,
  job_id uuid,
  -- What was chosen: scope, reason, filter, files.
  detail jsonb not null default '{}' check (jsonb_typeof(detail) = 'object'),
  outcome text not null default 'begun' check (outcome in ('begun', 'done', 'failed')),
  -- What came of it, in a sentence.
  said text,
  ended_at timestamptz,
  constraint actions_that_ended_have_a_time check ((ended_at is not null) = (outcome <> 'begun')),
  constraint actions_that_ended_say_what_came_of_them check ((said is not null) = (outcome <> 'begun'))
);
create index operator_actions_by_batch on nightdesk_data.operator_actions (batch_id) where batch_id is not null;

-- Statements of the page SQL that somebody keeps under a name.
create table nightdesk_data.saved_queries (
  name text primary key check (btrim(name) <> '' and length(name) <= 100),
  statement text not null check (btrim(statement) <> '' and length(statement) <= 20000),
  saved_by text not null check (saved_by <> '' and length(saved_by) <= 200),
  saved_at timestamptz not null default clock_timestamp()
);

-- What a program shows that comes by `nightdesk serve`; of its secret only the hash is kept.
create table nightdesk_data.tokens (
  token_id uuid primary key default gen_random_uuid(),
  name text not null check (btrim(name) <> '' and length(name) <= 100),
  secret_sha256 text not null unique check (secret_sha256 ~ '^[0-9a-f]{64}$'),
  scopes text[] not null
    check (cardinality(scopes) > 0 and scopes <@ array['files:write', 'batches:write', 'batches:read']),
  -- What its jobs may be, and what they may use and read.
  kinds text[] not null
    check (cardinality(kinds) > 0 and kinds <@ array['ask', 'summarize', 'extract', 'investigate', 'embed', 'chat']),
  presets text[] not null,
  sources text[] not null,
  -- Empty: all that the configuration knows.
  models text[] not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  constraint tokens_expire_later check (expires_at > created_at),
  constraint tokens_that_investigate_name_presets check (('investigate' = any(kinds)) = (cardinality(presets) > 0)),
  constraint tokens_that_read_name_sources
    check (not kinds && array['ask', 'summarize', 'extract', 'investigate'] or cardinality(sources) > 0)
);
-- The name of a revoked token is free again.
create unique index tokens_by_name on nightdesk_data.tokens (name) where revoked_at is null;

-- Files that programs sent. A row whose content was deleted stays until it expires: it counts among the bytes of its day.
create table nightdesk_data.program_files (
  file_id uuid primary key default gen_random_uuid(),
  seq bigint generated always as identity unique,
  token_id uuid not null references nightdesk_data.tokens on delete cascade,
  -- As the program wrote it. It is no path of anything.
  name text not null check (name <> '' and length(name) <= 255),
  bytes bigint not null check (bytes > 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  deleted_at timestamptz,
  constraint files_expire_later check (expires_at > created_at)
);
create index program_files_by_token on nightdesk_data.program_files (token_id, seq);
create index program_files_by_expiry on nightdesk_data.program_files (expires_at);

create table nightdesk_data.program_file_parts (
  file_id uuid not null references nightdesk_data.program_files on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  content bytea not null check (length(content) > 0),
  primary key (file_id, ordinal)
);

-- What programs asked for: batches of files, and single answers that somebody waits for, which have no file.
create table nightdesk_data.program_batches (
  program_batch_id uuid primary key default gen_random_uuid(),
  seq bigint generated always as identity unique,
  token_id uuid not null references nightdesk_data.tokens on delete cascade,
  -- Null while its lines are read, and where they were refused.
  batch_id uuid unique references nightdesk_data.batches on delete cascade,
  -- The file may be gone since.
  file_id uuid,
  endpoint text not null check (endpoint in ('/v1/chat/completions', '/v1/embeddings', '/v1/nightdesk/jobs')),
  completion_window text not null,
  metadata jsonb not null check (jsonb_typeof(metadata) = 'object'),
  -- By which the same request is known that is sent once more.
  request_sha256 text not null check (request_sha256 ~ '^[0-9a-f]{64}$'),
  idempotency_key text check (length(idempotency_key) between 1 and 255),
  created_at timestamptz not null default clock_timestamp(),
  failed_at timestamptz,
  -- Of each bad line its number and what is wrong, the first hundred: {"line", "message"}.
  errors jsonb check (jsonb_typeof(errors) = 'array'),
  -- Bytes of its results as files, and the end of the batch after which they were counted.
  output_bytes bigint check (output_bytes >= 0),
  error_bytes bigint check (error_bytes >= 0),
  counted_at timestamptz,
  -- When each of those files was last read to its end.
  output_read_at timestamptz,
  error_read_at timestamptz,
  constraint refused_requests_have_errors_and_no_batch
    check ((failed_at is null) = (errors is null) and (failed_at is null or batch_id is null)),
  constraint bytes_are_counted_together check (num_nulls(output_bytes, error_bytes, counted_at) in (0, 3))
);
create index program_batches_by_token on nightdesk_data.program_batches (token_id, seq);
create index program_batches_being_read on nightdesk_data.program_batches (created_at)
  where batch_id is null and failed_at is null;

-- Keys and facts of this installation, such as the key that fences evidence in a prompt.
create table nightdesk_data.installation (
  installed_at timestamptz not null default now(),
  singleton boolean primary key default true check (singleton),
  evidence_key bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
  -- Times in which jobs of batches without windows of their own may run: those of applied_config.
  windows text[] not null default '{}'
);
insert into nightdesk_data.installation default values;

-- What one worker at a time does: each takes the row. An advisory lock could be taken by whoever may run a statement.
create table nightdesk_data.locks (
  name text primary key
);
insert into nightdesk_data.locks (name) values
  ('dispatch'), ('retention'), ('vector_index'), ('compaction'), ('approvals'), ('artifacts'), ('contents');
