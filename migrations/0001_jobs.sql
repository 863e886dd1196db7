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
  -- ad_hoc batches hold one job of ask, chat, summarize, embed or index that somebody may be waiting for.
  origin text not null default 'file' check (origin in ('file', 'ad_hoc')),
  hold_reason text check (hold_reason in ('paused', 'window', 'budget', 'host')),
  hold_until timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint hold_until_needs_a_reason check (hold_until is null or hold_reason is not null),
  constraint only_open_batches_are_held check (hold_reason is null or state = 'open'),
  constraint finished_batches_have_a_time
    check ((finished_at is not null) = (state in ('completed', 'cancelled', 'expired')))
);

-- queued -> running -> succeeded | refused | failed | cancelled | expired, and parked (its own run met a host
-- that is down or busy; due_at says when it is tried again).
create table nightdesk_data.jobs (
  job_id uuid primary key default gen_random_uuid(),
  seq bigint generated always as identity unique,
  batch_id uuid not null references nightdesk_data.batches on delete cascade,
  custom_id text not null check (custom_id <> '' and length(custom_id) <= 512),
  kind text not null check (kind in ('ask', 'summarize', 'embed', 'index', 'chat')),
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
  -- The run that holds the job, or that ended it: the fencing token.
  run_id uuid,
  worker_id uuid,
  lease_until timestamptz,
  cancel_requested boolean not null default false,
  progress jsonb,
  error_code text,
  error_message text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  unique (batch_id, custom_id),
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
  constraint only_waiting_jobs_are_dispatched
    check (dispatched_at is null or state in ('queued', 'parked')),
  constraint cancel_is_asked_of_running_jobs check (not cancel_requested or state in ('running', 'cancelled'))
);

create index open_batches on nightdesk_data.batches (created_at) where state = 'open';
create index jobs_to_dispatch on nightdesk_data.jobs (batch_id, priority desc, seq)
  where state in ('queued', 'parked') and dispatched_at is null;
create index jobs_in_the_queue on nightdesk_data.jobs (dispatched_at) where dispatched_at is not null;
create index jobs_by_lease on nightdesk_data.jobs (lease_until) where state = 'running';
create index jobs_by_batch on nightdesk_data.jobs (batch_id, seq);
create index jobs_by_batch_state on nightdesk_data.jobs (batch_id, state);
create unique index jobs_by_run on nightdesk_data.jobs (run_id) where run_id is not null;

-- Counts by state, kept by triggers in up to 16 rows a batch, so that workers do not queue for one row. A row
-- may hold negative counts; the sums of a batch do not. Whatever happens, the states add up to the total.
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

create function nightdesk_data.move_counts(batch_ids uuid[], states text[], deltas bigint[])
returns void language sql as $$
  insert into nightdesk_data.batch_counts as c
    (batch_id, shard, total, queued, running, parked, succeeded, refused, failed, cancelled, expired)
  select batch_id, pg_backend_pid() % 16, sum(delta),
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
    expired = c.expired + excluded.expired
$$;

create function nightdesk_data.count_jobs() returns trigger language plpgsql as $$
declare
  batch_ids uuid[];
  states text[];
  deltas bigint[];
begin
  case tg_op
    when 'INSERT' then
      select array_agg(batch_id), array_agg(state), array_agg(n) into batch_ids, states, deltas
        from (select batch_id, state, count(*) as n from added group by batch_id, state) moved;
    when 'DELETE' then
      select array_agg(batch_id), array_agg(state), array_agg(n) into batch_ids, states, deltas
        from (select batch_id, state, -count(*) as n from removed group by batch_id, state) moved;
    else
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

create table nightdesk_data.workers (
  worker_id uuid primary key,
  host text not null,
  pid integer not null,
  version text not null,
  concurrency integer not null check (concurrency > 0),
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now()
);

-- A claim of a job by a worker. Its id is the fencing token: a result is written only where the job still names it.
create table nightdesk_data.runs (
  run_id uuid primary key,
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  attempt integer not null check (attempt >= 1),
  worker_id uuid not null,
  -- lost: the lease ran out. handed_back: the worker was told to stop.
  state text not null default 'running' check (state in
    ('running', 'succeeded', 'refused', 'failed', 'parked', 'cancelled', 'lost', 'handed_back')),
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
  constraint ended_runs_have_a_time check ((finished_at is not null) = (state <> 'running')),
  constraint ended_runs_have_a_duration check (state in ('running', 'lost') or run_ms is not null),
  constraint only_successes_have_an_answer check (answer is null or state = 'succeeded'),
  constraint codes_tell_why check ((error_code is not null)
    = (state in ('refused', 'failed', 'parked', 'cancelled', 'lost'))),
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
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  step text not null check (step <> ''),
  duration_ms double precision not null check (duration_ms >= 0),
  detail jsonb not null default '{}' check (jsonb_typeof(detail) = 'object'),
  primary key (run_id, ordinal)
);

create table nightdesk_data.replies (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  pass text not null check (pass in ('first', 'second', 'retry', 'chat', 'part')),
  model text not null,
  reply text not null,
  prompt_sha256 text not null check (prompt_sha256 ~ '^[0-9a-f]{64}$'),
  prompt_tokens integer not null check (prompt_tokens >= 0),
  completion_tokens integer not null check (completion_tokens >= 0),
  duration_ms double precision not null check (duration_ms >= 0),
  primary key (run_id, ordinal)
);

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
  primary key (run_id, ordinal),
  constraint calls_have_a_result_or_an_error check ((result is null) = (error_code is not null)),
  constraint call_errors_have_a_message check ((error_code is null) = (error_message is null))
);

create table nightdesk_data.evidence (
  evidence_id bigint generated always as identity primary key,
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  kind text not null check (kind in ('file', 'chunk')),
  admitted boolean not null,
  rejected_reason text,
  path text not null check (path <> ''),
  source text,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  chars_full integer not null check (chars_full >= 0),
  chars_returned integer not null check (chars_returned >= 0),
  truncated boolean not null,
  chunk_key text,
  heading_path text,
  start_char integer not null check (start_char >= 0),
  end_char integer not null,
  line_start integer not null check (line_start >= 1),
  line_end integer not null,
  score double precision,
  preview text not null,
  unique (run_id, ordinal),
  constraint rejected_evidence_has_a_reason check (admitted = (rejected_reason is null)),
  constraint chunks_have_a_key check ((kind = 'chunk') = (chunk_key is not null)),
  constraint spans_run_forward check (end_char >= start_char and line_end >= line_start),
  constraint a_file_is_truncated_or_whole
    check (kind <> 'file' or truncated = (chars_returned < chars_full))
);

create table nightdesk_data.job_vectors (
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  model text not null,
  embedding vector not null,
  primary key (job_id, ordinal)
);

-- Keys and facts of this installation, such as the key that fences evidence in a prompt.
create table nightdesk_data.installation (
  installed_at timestamptz not null default now(),
  singleton boolean primary key default true check (singleton),
  evidence_key bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
);
insert into nightdesk_data.installation default values;
