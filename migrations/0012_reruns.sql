-- Results that are taken over from other jobs, batches that are kept, and indexes for a million jobs.

alter table nightdesk_data.model_calls
  -- The run of another job that asked for it, when this is a copy of its call.
  add column cached_from uuid;
-- A model without language is never looked up: what it says is made again for nothing.
create index model_calls_to_take_over on nightdesk_data.model_calls (request_sha256, call_id)
  where reply is not null and model <> 'extractive';

alter table nightdesk_data.run_calls
  drop constraint run_calls_origin_check,
  add constraint run_calls_origin_check check (origin in ('asked', 'reused', 'cached'));

create or replace view nightdesk.model_calls as
select c.call_id, c.job_id, c.run_id, j.batch_id, j.custom_id, c.pass, c.model, c.model_digest, c.prompt_template,
       c.prompt_sha256, c.request_sha256, c.prompt, c.reply, c.done_reason, c.error_code, c.prompt_tokens,
       c.completion_tokens, c.load_ms, c.duration_ms, c.created_at, c.cached_from
  from nightdesk_data.model_calls c
  join nightdesk_data.jobs j using (job_id);
comment on view nightdesk.model_calls is
  'One row a call of a model, committed as it returned, and one a reply that was taken over from another job.';
comment on column nightdesk.model_calls.run_id is 'Id of the run that made the call, or took its reply over.';
comment on column nightdesk.model_calls.cached_from is
  'The run of another job that made the call; its tokens and times were spent there. Null for a call of its own.';

alter table nightdesk_data.batches
  -- Retention leaves a pinned batch alone: always, or until its results were exported.
  add column pinned text check (pinned in ('always', 'until_exported')),
  -- When all of its results were last written to a file or to stdout.
  add column exported_at timestamptz;
create index batches_by_finish on nightdesk_data.batches (finished_at) where finished_at is not null;

-- The newest result of the same input.
create index jobs_with_results on nightdesk_data.jobs (input_sha256, finished_at)
  where state = 'succeeded' and kind in ('summarize', 'extract');

-- What `results` is asked for. `order by finished_at desc` puts jobs that have not ended first, so that the index holds
-- them, too.
create index jobs_by_finish on nightdesk_data.jobs (finished_at);
create index jobs_with_problems on nightdesk_data.jobs (batch_id, state, error_code, seq) where error_code is not null;
create index jobs_held_back on nightdesk_data.jobs (batch_id) where state = 'queued' and due_at = 'infinity';
-- A custom_id is looked up with and without its batch.
alter table nightdesk_data.jobs
  drop constraint jobs_batch_id_custom_id_key,
  add constraint jobs_custom_id_batch_id_key unique (custom_id, batch_id);
