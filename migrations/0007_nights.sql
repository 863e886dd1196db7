-- Nights: batches that are held and go on, jobs that wait for other jobs, results that are taken over.

alter table nightdesk_data.batches
  -- Somebody paused it. Whatever else holds it, it stays held until somebody resumes it.
  add column paused_at timestamptz,
  -- Times in which its jobs may run, like '22:00-06:00 Europe/Berlin'. Null: those of the configuration; empty: always.
  add column windows text[],
  -- What has not finished by then expires.
  add column deadline_at timestamptz,
  -- How its input was written, and how its output is written unless somebody asks for another form.
  add column format text not null default 'native' check (format in ('native', 'openai'));

alter table nightdesk_data.jobs
  drop constraint jobs_kind_check,
  add constraint jobs_kind_check
    check (kind in ('ask', 'summarize', 'extract', 'digest', 'embed', 'index', 'chat', 'command')),
  -- Bytes of its file, where it is known: small ones first.
  add column size bigint not null default 0 check (size >= 0),
  -- How many jobs that it depends on have not ended.
  add column waits_for integer not null default 0 check (waits_for >= 0),
  -- Base URL of the model host that it is parked for.
  add column parked_host text,
  -- How often its host broke off in the middle of a call: a document may be what brings the host down.
  add column broken_calls integer not null default 0 check (broken_calls >= 0),
  -- The job of an earlier batch that this one repeats.
  add column rerun_of uuid references nightdesk_data.jobs on delete set null,
  add constraint only_parked_jobs_name_a_host check (parked_host is null or state = 'parked'),
  add constraint only_queued_jobs_wait_for_others
    check (waits_for = 0 or state in ('queued', 'cancelled', 'expired')),
  -- Asked of a running job by a cancellation, and by a deadline that passed.
  drop constraint cancel_is_asked_of_running_jobs,
  add constraint cancel_is_asked_of_running_jobs
    check (not cancel_requested or state in ('running', 'cancelled', 'expired'));

drop index nightdesk_data.jobs_to_dispatch;
create index jobs_to_dispatch on nightdesk_data.jobs (batch_id, priority desc, affinity, size, seq)
  where state in ('queued', 'parked') and dispatched_at is null and waits_for = 0;
create index jobs_by_parked_host on nightdesk_data.jobs (parked_host) where parked_host is not null;
create index jobs_by_rerun on nightdesk_data.jobs (rerun_of) where rerun_of is not null;

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
  -- A parent that has run already does not wait again for a child that is repeated.
  with moved as (
    update nightdesk_data.jobs p
       set waits_for = greatest(0, waits_for - n), due_at = case when waits_for = n then now() else due_at end
      from unnest(parents, ended) as moved (parent_id, n)
     where p.job_id = moved.parent_id and p.state = 'queued' and p.attempt = 0
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

alter table nightdesk_data.runs
  drop constraint runs_state_check,
  add constraint runs_state_check check (state in
    ('running', 'succeeded', 'refused', 'failed', 'parked', 'cancelled', 'expired', 'lost', 'handed_back')),
  drop constraint codes_tell_why,
  add constraint codes_tell_why check ((error_code is not null)
    = (state in ('refused', 'failed', 'parked', 'cancelled', 'expired', 'lost'))),
  -- The run whose replies this one took over, all of them: nothing that decides them had changed.
  add column cached_from uuid;

create or replace view nightdesk.results as
select j.job_id, j.batch_id, b.name as batch, j.custom_id, j.kind, j.state, j.error_code, j.error_message, j.input,
       r.answer, r.scope, coalesce(r.model_second, r.model_first) as model, r.prompt_tokens, r.completion_tokens,
       r.queued_ms, r.run_ms,
       (select count(*) from nightdesk_data.evidence e where e.run_id = r.run_id and e.admitted) as evidence_count,
       j.created_at, j.finished_at, r.summary as output, r.cached_from, j.rerun_of
  from nightdesk_data.jobs j
  join nightdesk_data.batches b using (batch_id)
  left join nightdesk_data.runs r on r.run_id = j.run_id;
comment on column nightdesk.results.kind is 'ask, summarize, extract, digest, embed, index, chat or command.';
comment on column nightdesk.results.output is 'What a job gave beside words: the fields of extract, the counters of index and embed.';
comment on column nightdesk.results.cached_from is 'The run whose replies were taken over, because nothing that decides them had changed.';
comment on column nightdesk.results.rerun_of is 'The job of an earlier batch that this one repeats.';

create or replace view nightdesk.batch_progress as
select b.batch_id, b.name as batch,
       case when b.state <> 'open' then b.state when b.hold_reason is not null then 'held'
            when c.queued = c.total then 'queued' else 'running' end as state,
       b.hold_reason, c.total, c.queued, c.running, c.parked, c.succeeded, c.refused, c.failed, c.cancelled, c.expired,
       b.created_at, b.finished_at, b.hold_until, b.deadline_at
  from nightdesk_data.batches b
 cross join lateral (
   select coalesce(sum(total), 0)::bigint as total, coalesce(sum(queued), 0)::bigint as queued,
          coalesce(sum(running), 0)::bigint as running, coalesce(sum(parked), 0)::bigint as parked,
          coalesce(sum(succeeded), 0)::bigint as succeeded, coalesce(sum(refused), 0)::bigint as refused,
          coalesce(sum(failed), 0)::bigint as failed, coalesce(sum(cancelled), 0)::bigint as cancelled,
          coalesce(sum(expired), 0)::bigint as expired
     from nightdesk_data.batch_counts n where n.batch_id = b.batch_id) c;
comment on column nightdesk.batch_progress.hold_until is 'When it goes on by itself, if that is known.';
comment on column nightdesk.batch_progress.deadline_at is 'When what has not finished expires.';
