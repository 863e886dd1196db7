-- Schedules, the runs that they made, and what is called when a batch ends.

alter table nightdesk_data.batches
  drop constraint batches_origin_check,
  -- schedule: one job of kind command, which no window holds and which takes no place of the queue.
  add constraint batches_origin_check check (origin in ('file', 'ad_hoc', 'schedule'));

create index commands_to_do on nightdesk_data.jobs (due_at) where kind = 'command' and state in ('queued', 'parked');

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
