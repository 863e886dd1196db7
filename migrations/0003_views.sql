-- The contract with the outside: what users query. Tables may change, these columns do not.

create view nightdesk.results as
select j.job_id, j.batch_id, b.name as batch, j.custom_id, j.kind, j.state, j.error_code, j.error_message, j.input,
       r.answer, r.scope, coalesce(r.model_second, r.model_first) as model, r.prompt_tokens, r.completion_tokens,
       r.queued_ms, r.run_ms,
       (select count(*) from nightdesk_data.evidence e where e.run_id = r.run_id and e.admitted) as evidence_count,
       j.created_at, j.finished_at
  from nightdesk_data.jobs j
  join nightdesk_data.batches b using (batch_id)
  left join nightdesk_data.runs r on r.run_id = j.run_id;

comment on view nightdesk.results is 'One row a job, with its result.';
comment on column nightdesk.results.job_id is 'Id of the job.';
comment on column nightdesk.results.batch_id is 'Id of its batch.';
comment on column nightdesk.results.batch is 'Name of its batch.';
comment on column nightdesk.results.custom_id is 'The id that the user gave, or line-<number>; unique in the batch.';
comment on column nightdesk.results.kind is 'ask, summarize, embed, index or chat.';
comment on column nightdesk.results.state is 'queued, running, parked, succeeded, refused, failed, cancelled or expired.';
comment on column nightdesk.results.error_code is 'Why it did not succeed, as a stable code; null when it did. A job that waits for another try shows the last one.';
comment on column nightdesk.results.error_message is 'The same in words.';
comment on column nightdesk.results.input is 'What was asked for, as it was queued.';
comment on column nightdesk.results.answer is 'The answer, its last line the scope footer; null unless succeeded.';
comment on column nightdesk.results.scope is 'The scope footer: what the answer rests on.';
comment on column nightdesk.results.model is 'The model that wrote the answer.';
comment on column nightdesk.results.prompt_tokens is 'Tokens of all prompts of the last run.';
comment on column nightdesk.results.completion_tokens is 'Tokens of all replies of the last run.';
comment on column nightdesk.results.queued_ms is 'Milliseconds between the time it was due and the start of the last run.';
comment on column nightdesk.results.run_ms is 'Milliseconds that the last run took.';
comment on column nightdesk.results.evidence_count is 'Pieces of evidence that were admitted.';
comment on column nightdesk.results.created_at is 'When it was queued.';
comment on column nightdesk.results.finished_at is 'When it ended; null while it has not.';

create view nightdesk.evidence as
select e.evidence_id, j.job_id, e.run_id, j.batch_id, j.custom_id, e.kind, e.admitted, e.rejected_reason, e.path, e.source,
       e.sha256, e.chars_full, e.chars_returned, e.truncated, e.chunk_key, e.heading_path, e.start_char, e.end_char,
       e.line_start, e.line_end, e.score
  from nightdesk_data.evidence e
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id);

comment on view nightdesk.evidence is 'One row a piece of text that a run read, admitted or not.';
comment on column nightdesk.evidence.evidence_id is 'Id of the piece.';
comment on column nightdesk.evidence.job_id is 'Id of the job.';
comment on column nightdesk.evidence.run_id is 'Id of the run that read it.';
comment on column nightdesk.evidence.batch_id is 'Id of the batch.';
comment on column nightdesk.evidence.custom_id is 'The job''s custom_id.';
comment on column nightdesk.evidence.kind is 'file: read by read_text_file. chunk: a passage of the index.';
comment on column nightdesk.evidence.admitted is 'Whether the answer may rest on it.';
comment on column nightdesk.evidence.rejected_reason is 'Why not; null exactly when it was admitted.';
comment on column nightdesk.evidence.path is 'The file, relative to the work root.';
comment on column nightdesk.evidence.source is 'The source of the index that the passage came from.';
comment on column nightdesk.evidence.sha256 is 'SHA-256 of the bytes of the file; sha256sum confirms it.';
comment on column nightdesk.evidence.chars_full is 'Characters (code points) of the whole file.';
comment on column nightdesk.evidence.chars_returned is 'Characters that were read.';
comment on column nightdesk.evidence.truncated is 'Whether the text was cut.';
comment on column nightdesk.evidence.chunk_key is 'Key of the passage; null for a file.';
comment on column nightdesk.evidence.heading_path is 'Headings above the passage, outermost first.';
comment on column nightdesk.evidence.start_char is 'Offset of the first character in the file, from 0, in code points.';
comment on column nightdesk.evidence.end_char is 'Offset after the last character.';
comment on column nightdesk.evidence.line_start is 'First line in the file, from 1.';
comment on column nightdesk.evidence.line_end is 'Last line in the file.';
comment on column nightdesk.evidence.score is 'Score of the retrieval; null for a file.';

create view nightdesk.failures as
select 'job' as origin, j.job_id, j.batch_id, j.custom_id, j.kind, j.state,
       coalesce(j.input->>'path', (select t.args->>'path' from nightdesk_data.tool_calls t
                                    where t.run_id = j.run_id order by t.ordinal limit 1)) as path,
       j.error_code, j.error_message, j.attempt as attempts, coalesce(j.finished_at, j.due_at) as at
  from nightdesk_data.jobs j
 where j.error_code is not null and j.state <> 'running'
union all
select 'document', null, null, null, 'index', 'refused', d.path, d.error_code, d.error_message, 1, d.at
  from nightdesk_data.document_failures d;

comment on view nightdesk.failures is 'What did not succeed: jobs that were refused, failed, parked, cancelled or expired, and documents that could not be indexed.';
comment on column nightdesk.failures.origin is 'job, or document for a file that could not be indexed.';
comment on column nightdesk.failures.job_id is 'Id of the job; null for a document.';
comment on column nightdesk.failures.batch_id is 'Id of the batch; null for a document.';
comment on column nightdesk.failures.custom_id is 'The job''s custom_id; null for a document.';
comment on column nightdesk.failures.kind is 'Kind of the job.';
comment on column nightdesk.failures.state is 'State of the job; queued for one that waits for another try.';
comment on column nightdesk.failures.path is 'The file concerned, if any, relative to the work root.';
comment on column nightdesk.failures.error_code is 'Stable code.';
comment on column nightdesk.failures.error_message is 'The same in words, with what to do.';
comment on column nightdesk.failures.attempts is 'Runs that were used up.';
comment on column nightdesk.failures.at is 'When it happened, or when it is tried again.';

create view nightdesk.batch_progress as
select b.batch_id, b.name as batch,
       case when b.state <> 'open' then b.state when b.hold_reason is not null then 'held'
            when c.queued = c.total then 'queued' else 'running' end as state,
       b.hold_reason, c.total, c.queued, c.running, c.parked, c.succeeded, c.refused, c.failed, c.cancelled, c.expired,
       b.created_at, b.finished_at
  from nightdesk_data.batches b
 cross join lateral (
   select coalesce(sum(total), 0)::bigint as total, coalesce(sum(queued), 0)::bigint as queued,
          coalesce(sum(running), 0)::bigint as running, coalesce(sum(parked), 0)::bigint as parked,
          coalesce(sum(succeeded), 0)::bigint as succeeded, coalesce(sum(refused), 0)::bigint as refused,
          coalesce(sum(failed), 0)::bigint as failed, coalesce(sum(cancelled), 0)::bigint as cancelled,
          coalesce(sum(expired), 0)::bigint as expired
     from nightdesk_data.batch_counts n where n.batch_id = b.batch_id) c;

comment on view nightdesk.batch_progress is 'One row a batch: counts by state, which add up to the total.';
comment on column nightdesk.batch_progress.batch_id is 'Id of the batch.';
comment on column nightdesk.batch_progress.batch is 'Name of the batch.';
comment on column nightdesk.batch_progress.state is 'loading, queued, running, held, completed, cancelled or expired.';
comment on column nightdesk.batch_progress.hold_reason is 'Why it is held: paused, window, budget or host.';
comment on column nightdesk.batch_progress.total is 'Jobs in the batch; the sum of the states.';
comment on column nightdesk.batch_progress.queued is 'Jobs that wait.';
comment on column nightdesk.batch_progress.running is 'Jobs in hand.';
comment on column nightdesk.batch_progress.parked is 'Jobs that wait for a host that is down or busy.';
comment on column nightdesk.batch_progress.succeeded is 'Jobs with an answer.';
comment on column nightdesk.batch_progress.refused is 'Jobs with a typed refusal: a correct result.';
comment on column nightdesk.batch_progress.failed is 'Jobs ended by a fault of the machinery.';
comment on column nightdesk.batch_progress.cancelled is 'Jobs that somebody cancelled.';
comment on column nightdesk.batch_progress.expired is 'Jobs whose deadline passed.';
comment on column nightdesk.batch_progress.created_at is 'When the batch was created.';
comment on column nightdesk.batch_progress.finished_at is 'When its last job ended.';

create view nightdesk.throughput as
select date_trunc('hour', r.finished_at) as hour, j.kind, coalesce(r.model_second, r.model_first) as model,
       count(*) as jobs, sum(r.prompt_tokens)::bigint as prompt_tokens,
       sum(r.completion_tokens)::bigint as completion_tokens,
       percentile_cont(0.5) within group (order by r.run_ms) as run_ms_p50,
       percentile_cont(0.95) within group (order by r.run_ms) as run_ms_p95
  from nightdesk_data.runs r
  join nightdesk_data.jobs j using (job_id)
 where r.finished_at is not null and r.state in ('succeeded', 'refused', 'failed')
 group by 1, 2, 3;

comment on view nightdesk.throughput is 'Work done by hour, kind and model.';
comment on column nightdesk.throughput.hour is 'Start of the hour in which the runs ended.';
comment on column nightdesk.throughput.kind is 'Kind of the jobs.';
comment on column nightdesk.throughput.model is 'Model that answered; null where none was asked.';
comment on column nightdesk.throughput.jobs is 'Runs that ended.';
comment on column nightdesk.throughput.prompt_tokens is 'Tokens of their prompts.';
comment on column nightdesk.throughput.completion_tokens is 'Tokens of their replies.';
comment on column nightdesk.throughput.run_ms_p50 is 'Median milliseconds of a run.';
comment on column nightdesk.throughput.run_ms_p95 is '95th percentile of the same.';

-- The role of `nightdesk sql`: reads the views and nothing else. Roles belong to the server, not to the database.
do $$
begin
  if not exists (select from pg_roles where rolname = 'nightdesk_reader') then
    create role nightdesk_reader nologin;
  end if;
  if not pg_has_role(current_user, 'nightdesk_reader', 'member') then
    execute format('grant nightdesk_reader to %I', current_user);
  end if;
exception when duplicate_object or unique_violation then
  null; -- another database of this server was migrated at the same moment
end $$;
grant usage on schema nightdesk to nightdesk_reader;
grant select on all tables in schema nightdesk to nightdesk_reader;
alter default privileges in schema nightdesk grant select on tables to nightdesk_reader;
