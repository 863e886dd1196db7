-- Model hosts (how many calls each gets at once, and what is kept from one that is down), what calls may cost, when
-- batches were held, schedules, and what is called when a batch ends. The functions that take a slot, reserve and charge
-- are in src/shared/store/hosts/functions.ts.

create table nightdesk_data.hosts (
  -- Base URL, scheme://host[:port][/path]. It has to mean the same on every machine that has a worker. Of the web the base URL of a
  -- search provider, and `web pages` for all of them together.
  host text primary key check (host <> ''),
  provider text not null check (provider in ('ollama', 'openai-compatible', 'transformers', 'web')),
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
  -- A small call like the last one that the host took and failed with: it is not back before that works.
  trial jsonb,
  -- Probes that failed since a call last succeeded: each makes the next pause longer.
  probes integer not null default 0 check (probes >= 0),
  prober uuid,
  probing_until timestamptz,
  -- No call begins before: so many a minute are allowed.
  next_call_at timestamptz,
  -- Of the list `hosts` of the configuration; null for one that is not in it.
  name text,
  priority integer not null default 0,
  requests_per_minute integer check (requests_per_minute > 0),
  tokens_per_minute integer check (tokens_per_minute > 0),
  -- No call begins before: the tokens of those that have begun count for so long.
  tokens_free_at timestamptz,
  -- No call begins before: the host asked for that (HTTP 429 with Retry-After).
  paused_until timestamptz,
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

-- Hosts that runs were given, and have not called yet: each counts as a call there, over all workers, until it is one.
create table nightdesk_data.host_choices (
  -- Counts while it has its job and a lease.
  run_id uuid not null,
  host text not null references nightdesk_data.hosts on delete cascade,
  expires_at timestamptz not null,
  primary key (run_id, host)
);
create index host_choices_by_host on nightdesk_data.host_choices (host);

-- What calls of a listed host have cost, by night.
create table nightdesk_data.host_nights (
  host text not null references nightdesk_data.hosts on delete cascade,
  night date not null,
  calls bigint not null default 0 check (calls >= 0),
  tokens bigint not null default 0 check (tokens >= 0),
  money double precision not null default 0 check (money >= 0),
  primary key (host, night)
);

-- What a host was found to have, by the digest of the model (its name where there is none) and the server's version.
create table nightdesk_data.host_models (
  host text not null,
  -- As it is called there.
  model text not null check (model <> ''),
  digest text check (digest ~ '^[0-9a-f]{64}$'),
  server_version text,
  window_tokens integer check (window_tokens > 0),
  -- Such as {"tools": "native", "counts_tokens": true}.
  features jsonb not null default '{}' check (jsonb_typeof(features) = 'object'),
  seen_at timestamptz not null default clock_timestamp(),
  primary key (host, model)
);

-- Builds of models that did not keep to the schema of a reply, though their host takes one: they are asked for text.
create table nightdesk_data.schema_faults (
  -- Of the provider, the digest of the weights (the model's name where its host reports none) and the server's version.
  build_sha256 text primary key check (build_sha256 ~ '^[0-9a-f]{64}$'),
  model text not null check (model <> ''),
  model_digest text check (model_digest ~ '^[0-9a-f]{64}$'),
  server_version text,
  noticed_at timestamptz not null default clock_timestamp()
);

-- What judges are worth: who they are, what they are asked, and how they did in the exam. What they say of the control statements
-- of later calls may take their word.
create table nightdesk_data.exams (
  -- Digest of the weights, or of host, name and version where the host reports none.
  identity text not null check (identity ~ '^[0-9a-f]{64}$'),
  form text not null check (form in ('list', 'yes_no', 'nli')),
  prompt text not null check (prompt <> ''),
  exam text not null check (exam <> ''),
  model text not null check (model <> ''),
  -- Whether the identity is that of the weights: else the exam holds for a week.
  is_known boolean not null,
  state text not null check (state in ('passed', 'weak', 'failed', 'useless')),
  wrong_asked integer not null check (wrong_asked >= 0),
  wrong_confirmed integer not null check (wrong_confirmed between 0 and wrong_asked),
  right_asked integer not null check (right_asked >= 0),
  right_confirmed integer not null check (right_confirmed between 0 and right_asked),
  -- Of form nli: from which score on a statement counts as confirmed.
  yes_from double precision check (yes_from is null or form = 'nli' and yes_from between 0 and 1),
  calls integer not null check (calls > 0),
  -- By kind and language: kind, language, is_wrong, asked, confirmed.
  parts jsonb not null default '[]' check (jsonb_typeof(parts) = 'array'),
  -- Over the user's own documents: machine and person, in each wrong and right, in each asked and confirmed. Null: not asked.
  own jsonb check (own ?& array['machine', 'person']),
  examined_at timestamptz not null default clock_timestamp(),
  job_id uuid,
  -- Sums of wrong control statements that it confirmed, and of right ones that it did not, since they last stood at zero.
  nodding double precision not null default 0 check (nodding >= 0),
  nodding_since timestamptz not null default clock_timestamp(),
  sleeping double precision not null default 0 check (sleeping >= 0),
  sleeping_since timestamptz not null default clock_timestamp(),
  controls integer not null default 0 check (controls >= 0),
  -- Since when its word does not count, because of its controls.
  dismissed_at timestamptz,
  primary key (identity, form, prompt, exam)
);

create table nightdesk_data.batch_budgets (
  batch_id uuid primary key references nightdesk_data.batches on delete cascade,
  -- Which limits are the batch's own; the others follow the configuration.
  own text[] not null default '{}' check (own <@ array['tokens', 'calls', 'seconds', 'money']),
  tokens_limit bigint check (tokens_limit > 0),
  calls_limit bigint check (calls_limit > 0),
  seconds_limit double precision check (seconds_limit > 0),
  money_limit double precision check (money_limit > 0),
  tokens_used bigint not null default 0 check (tokens_used >= 0),
  calls_used bigint not null default 0 check (calls_used >= 0),
  seconds_used double precision not null default 0 check (seconds_used >= 0),
  money_used double precision not null default 0 check (money_used >= 0),
  tokens_reserved bigint not null default 0 check (tokens_reserved >= 0),
  calls_reserved bigint not null default 0 check (calls_reserved >= 0),
  money_reserved double precision not null default 0,
  -- The least that a call needs which was refused; the batch is held until that fits.
  tokens_needed bigint,
  money_needed double precision,
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
  money_limit double precision check (money_limit > 0),
  tokens_used bigint not null default 0 check (tokens_used >= 0),
  calls_used bigint not null default 0 check (calls_used >= 0),
  seconds_used double precision not null default 0 check (seconds_used >= 0),
  money_used double precision not null default 0 check (money_used >= 0),
  tokens_reserved bigint not null default 0 check (tokens_reserved >= 0),
  calls_reserved bigint not null default 0 check (calls_reserved >= 0),
  money_reserved double precision not null default 0
);

-- What calls in flight may cost. It is given back with the run that holds it.
create table nightdesk_data.reservations (
  ticket uuid primary key,
  run_id uuid not null,
  batch_id uuid not null,
  night date not null,
  tokens bigint not null check (tokens >= 0),
  money double precision not null default 0 check (money >= 0),
  made_at timestamptz not null default clock_timestamp()
);

-- A row a span in which a batch was held for one reason. What comes again within a minute, such as a host that answers
-- one call in three, is the same span: `times` counts it, and `held` has no gap in it.
create table nightdesk_data.hold_history (
  hold_id bigint generated always as identity primary key,
  batch_id uuid not null references nightdesk_data.batches on delete cascade,
  reason text not null check (reason in ('paused', 'window', 'budget', 'host', 'approvals')),
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

-- The parts of a configuration that hold for all workers, and whose are in force: of workers that differ, those of the one
-- that has been there longest.
create table nightdesk_data.applied_config (
  key text primary key,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  host text not null,
  applied_at timestamptz not null default clock_timestamp()
);
create table nightdesk_data.batch_end_hook (
  singleton boolean primary key default true check (singleton),
  targets text[] not null check (targets <@ array['command', 'webhook', 'write_back']),
  origins text[] not null
);
insert into nightdesk_data.batch_end_hook (targets, origins) values ('{}', '{}');

-- Queues a job for each target, in a batch of that name; where there is one already, nothing more is told.
create function nightdesk_data.queue_notifications(
  about nightdesk_data.batches, event text, at timestamptz, batch_name text)
returns void language plpgsql as $$
declare
  hook nightdesk_data.batch_end_hook;
  told text[];
  notifying uuid;
begin
  select * into hook from nightdesk_data.batch_end_hook;
  told := case when about.origin = any(hook.origins) then array_remove(hook.targets, 'write_back') else '{}' end;
  -- Whoever made the batch: the source of its files wants it.
  if event = 'batch_end' and 'write_back' = any(hook.targets) and about.origin <> 'system' and exists (
       select from nightdesk_data.jobs j
         join nightdesk_data.remote_files f on f.path = j.input->>'path' and f.path_key is not null
         join nightdesk_data.remote_sources s on s.source = f.source and s.kind = 'paperless'
        where j.batch_id = about.batch_id and j.kind = 'extract') then
    told := array_append(told, 'write_back');
  end if;
  if cardinality(told) = 0 then
    return;
  end if;
  insert into nightdesk_data.batches (name, origin, state, windows, parent_id)
  values (batch_name, 'system', 'open', '{}', about.batch_id)
  on conflict (name) do nothing
  returning batch_id into notifying;
  if notifying is null then
    return;
  end if;
  insert into nightdesk_data.jobs (batch_id, custom_id, kind, input, input_sha256)
  select notifying, target, 'notify', input, encode(sha256(convert_to(input::text, 'UTF8')), 'hex')
    from unnest(told) as target cross join lateral jsonb_build_object(
           'kind', 'notify', 'event', event, 'batch_id', about.batch_id, 'target', target,
           'at', to_char(queue_notifications.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) as input;
  perform pg_notify('nightdesk_jobs', '');
end $$;

-- Whatever ends a batch, the trigger sees it. Batches of origin system end, too, and no hook names their origin.
create function nightdesk_data.tell_end() returns trigger language plpgsql as $$
begin
  perform nightdesk_data.queue_notifications(new, 'batch_end', new.finished_at, 'system ' || gen_random_uuid());
  return null;
end $$;
create trigger tell_end after update of state on nightdesk_data.batches
  for each row when (old.state <> new.state and new.state in ('completed', 'cancelled', 'expired'))
  execute function nightdesk_data.tell_end();

-- Once a batch, however many of its jobs come to wait, and whichever workers park them.
create function nightdesk_data.tell_waiting() returns trigger language plpgsql as $$
declare
  about nightdesk_data.batches;
begin
  select * into about from nightdesk_data.batches where batch_id = new.batch_id;
  perform nightdesk_data.queue_notifications(
    about, 'approval_needed', clock_timestamp(), 'system approvals ' || new.batch_id);
  return null;
end $$;
create trigger tell_waiting after update of waiting_for on nightdesk_data.jobs
  for each row when (new.waiting_for in ('approval', 'review') and new.waiting_for is distinct from old.waiting_for)
  execute function nightdesk_data.tell_waiting();

-- Files of watched folders (index.sources[].watch), by what they hold: one that comes again, under whatever name, by whichever
-- worker or after a restart, is not queued again.
create table nightdesk_data.watched_files (
  source text not null check (source <> ''),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Where it was found, relative to the work root.
  path text not null check (path <> '' and path !~ '^/'),
  bytes bigint not null check (bytes >= 0),
  inode bigint not null,
  mtime_ns bigint not null,
  seen_at timestamptz not null default now(),
  -- Of an attachment the file of its mail, which is moved when the jobs of what it holds have succeeded too.
  mail_sha256 text,
  -- The job that a rule made of it; null where no rule is for it, or the job was deleted.
  job_id uuid references nightdesk_data.jobs on delete set null,
  -- When the classification ended that the rules for labels were last asked about.
  classified_at timestamptz,
  -- What it gave; null where it was refused or failed.
  label text check (label <> ''),
  -- The job that a rule for the label made of it.
  label_job_id uuid references nightdesk_data.jobs on delete set null,
  -- Why the rules for labels passed it over.
  label_problem text,
  -- Folder that it is moved to once its jobs have succeeded, relative to the work root.
  move_to text check (move_to <> ''),
  moved_to text check (moved_to <> ''),
  -- Why it is not moved.
  move_problem text,
  primary key (source, sha256),
  foreign key (source, mail_sha256) references nightdesk_data.watched_files on delete cascade,
  constraint files_are_moved_and_not_attachments check (mail_sha256 is null or move_to is null),
  constraint only_what_is_to_be_moved_is check (move_to is not null or (moved_to is null and move_problem is null)),
  constraint moved_or_kept check (moved_to is null or move_problem is null),
  constraint labels_come_from_a_classification
    check (classified_at is not null or (label is null and label_job_id is null and label_problem is null)),
  constraint queued_by_its_label_or_passed_over check (label_job_id is null or label_problem is null)
);
create index watched_files_by_job on nightdesk_data.watched_files (job_id) where job_id is not null;
create index watched_files_by_mail on nightdesk_data.watched_files (source, mail_sha256) where mail_sha256 is not null;
-- The files that a classification may be of, and those that were taken lately. A path may be longer than an entry of an index.
create index watched_files_by_path on nightdesk_data.watched_files (source, md5(path));
create index watched_files_by_moved_path on nightdesk_data.watched_files (source, md5(moved_to)) where moved_to is not null;
create index watched_files_by_time on nightdesk_data.watched_files (source, seen_at);
create index watched_files_by_label_job on nightdesk_data.watched_files (label_job_id) where label_job_id is not null;

-- The last look at each watched folder.
create table nightdesk_data.watches (
  source text primary key check (source <> ''),
  looked_at timestamptz not null,
  files integer not null check (files >= 0),
  -- Of them, those that were written too lately to be taken.
  restless integer not null check (restless >= 0),
  -- Why it could not be looked at; null where it could.
  problem text
);

-- Deletes jobs that have ended, with all that refers to them. Foreign keys do it too, by 37 look-ups a job: 180 µs of a job's
-- 220. Whoever may set it (a superuser, as in the embedded database, and whom the compose file grants it) deletes a table at a
-- time instead, with foreign keys and triggers at rest; for others the first statement does all, and the rest find nothing. A row
-- goes before those that refer to it: what another session adds meanwhile is then seen by a later statement, or fails there.
create function nightdesk_data.delete_jobs(ids uuid[]) returns bigint language plpgsql as $$
declare
  name text;
  run_ids uuid[];
  call_ids bigint[];
  deleted bigint;
  may_rest boolean := current_setting('is_superuser') = 'on';
begin
  -- Before version 15 there is no such right, nor this function.
  if not may_rest and current_setting('server_version_num')::integer >= 150000 then
    may_rest := has_parameter_privilege('session_replication_role', 'set');
  end if;
  with recursive doomed as (
    select unnest(ids) as job_id
    union select j.job_id from nightdesk_data.jobs j join doomed d on j.duplicate_of = d.job_id)
  select array_agg(job_id) into ids from doomed;
  -- Left to the foreign key it is a statement a job, each of which prepares all checks and indexes of jobs again.
  update nightdesk_data.jobs set rerun_of = null where rerun_of = any (ids) and job_id <> all (ids);
  if may_rest then
    perform set_config('session_replication_role', 'replica', true);
  end if;

  delete from nightdesk_data.jobs where job_id = any (ids);
  get diagnostics deleted = row_count;
  update nightdesk_data.jobs set rerun_of = null where rerun_of = any (ids);
  update nightdesk_data.watched_files set job_id = null where job_id = any (ids);
  update nightdesk_data.watched_files set label_job_id = null where label_job_id = any (ids);
  with gone as (delete from nightdesk_data.runs where job_id = any (ids) returning run_id)
  select array_agg(run_id) into run_ids from gone;
  with gone as (delete from nightdesk_data.model_calls where job_id = any (ids) returning call_id)
  select array_agg(call_id) into call_ids from gone;
  delete from nightdesk_data.call_reasoning where call_id = any (call_ids);
  delete from nightdesk_data.run_calls where call_id = any (call_ids);
  delete from nightdesk_data.job_dependencies where parent_id = any (ids);
  delete from nightdesk_data.job_dependencies where child_id = any (ids);
  foreach name in array array['job_progress', 'grants', 'steps', 'decisions', 'approvals', 'artifact_uses', 'checks', 'audits',
      'constraints', 'coverage', 'draft_reviews', 'job_vectors', 'write_backs'] loop
    execute format('delete from nightdesk_data.%I where job_id = any ($1)', name) using ids;
  end loop;
  update nightdesk_data.checks set check_job_id = null where check_job_id = any (ids);
  foreach name in array array['run_events', 'tool_calls', 'run_calls', 'evidence', 'quotes', 'figures', 'claims', 'claim_checks',
      'field_bindings', 'summary_parts'] loop
    execute format('delete from nightdesk_data.%I where run_id = any ($1)', name) using run_ids;
  end loop;

  if may_rest then
    perform set_config('session_replication_role', 'origin', true);
  end if;
  return deleted;
end $$;
-- It counts while triggers are at rest, too.
alter table nightdesk_data.jobs enable always trigger count_removed_jobs;
