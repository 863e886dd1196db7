-- What runs, steps, tools, workers, schedules and hooks did, for those who read SQL.

create view nightdesk.runs as
select r.run_id, r.job_id, j.batch_id, b.name as batch, j.custom_id, j.kind, r.attempt, r.state, r.error_code, r.error_message,
       r.answer, r.scope, r.model_first, r.model_second, r.prompt_tokens, r.completion_tokens, r.queued_ms, r.model_ms, r.run_ms,
       r.started_at, r.finished_at, r.worker_id, r.version, r.config_sha256,
       r.config_file, r.roots, r.cached_from
  from nightdesk_data.runs r
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id;
comment on view nightdesk.runs is 'One row an attempt at a job, ended or not.';
comment on column nightdesk.runs.run_id is 'Id of the run.';
comment on column nightdesk.runs.job_id is 'Id of its job.';
comment on column nightdesk.runs.batch_id is 'Id of the batch.';
comment on column nightdesk.runs.batch is 'Name of the batch.';
comment on column nightdesk.runs.custom_id is 'Id of the line that queued the job; null where it had none.';
comment on column nightdesk.runs.kind is 'Kind of the job.';
comment on column nightdesk.runs.attempt is 'Number of the attempt, from 1.';
comment on column nightdesk.runs.state is 'running, succeeded, refused, failed, parked, cancelled, expired, lost or handed_back.';
comment on column nightdesk.runs.error_code is 'Why it did not succeed; null where it did, or runs.';
comment on column nightdesk.runs.error_message is 'The same in words.';
comment on column nightdesk.runs.answer is 'The answer; null unless it succeeded.';
comment on column nightdesk.runs.scope is 'What the answer rests on.';
comment on column nightdesk.runs.model_first is 'Model of the first pass.';
comment on column nightdesk.runs.model_second is 'Model of the second pass.';
comment on column nightdesk.runs.prompt_tokens is 'Tokens of all prompts.';
comment on column nightdesk.runs.completion_tokens is 'Tokens of all replies.';
comment on column nightdesk.runs.queued_ms is 'Milliseconds between the time it was due and its start.';
comment on column nightdesk.runs.model_ms is 'Milliseconds in model calls.';
comment on column nightdesk.runs.run_ms is 'Milliseconds from start to end; null while it runs, and where its worker was lost.';
comment on column nightdesk.runs.started_at is 'When it was claimed.';
comment on column nightdesk.runs.finished_at is 'When it ended; null while it runs.';
comment on column nightdesk.runs.worker_id is 'Worker that ran it; of one that is gone, no row is left in workers.';
comment on column nightdesk.runs.version is 'Version of that worker.';
comment on column nightdesk.runs.config_sha256 is 'Fingerprint of its configuration.';
comment on column nightdesk.runs.config_file is 'The file that it was read from.';
comment on column nightdesk.runs.roots is 'The folders that the worker might read.';
comment on column nightdesk.runs.cached_from is 'Run whose result was taken over; null where it did the work.';

create view nightdesk.steps as
select e.run_id, r.job_id, j.batch_id, j.custom_id, e.ordinal, e.step, e.at_ms, e.duration_ms, e.detail
  from nightdesk_data.run_events e
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id);
comment on view nightdesk.steps is 'One row a step of a run that ended.';
comment on column nightdesk.steps.run_id is 'Id of the run.';
comment on column nightdesk.steps.job_id is 'Id of its job.';
comment on column nightdesk.steps.batch_id is 'Id of the batch.';
comment on column nightdesk.steps.custom_id is 'Id of the line that queued the job; null where it had none.';
comment on column nightdesk.steps.ordinal is 'Place among the steps of the run.';
comment on column nightdesk.steps.step is 'Name of the step.';
comment on column nightdesk.steps.at_ms is 'Milliseconds from the start of the run to its own.';
comment on column nightdesk.steps.duration_ms is 'Milliseconds that it took.';
comment on column nightdesk.steps.detail is 'What it found and decided.';

create view nightdesk.tool_calls as
select t.run_id, r.job_id, j.batch_id, j.custom_id, t.ordinal, t.name, t.args, t.error_code, t.error_message, t.result,
       t.trailing_text, t.duration_ms
  from nightdesk_data.tool_calls t
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id);
comment on view nightdesk.tool_calls is 'One row a call of a tool.';
comment on column nightdesk.tool_calls.run_id is 'Id of the run.';
comment on column nightdesk.tool_calls.job_id is 'Id of its job.';
comment on column nightdesk.tool_calls.batch_id is 'Id of the batch.';
comment on column nightdesk.tool_calls.custom_id is 'Id of the line that queued the job; null where it had none.';
comment on column nightdesk.tool_calls.ordinal is 'Place among the calls of the run.';
comment on column nightdesk.tool_calls.name is 'Name of the tool.';
comment on column nightdesk.tool_calls.args is 'Its arguments, as the model gave them.';
comment on column nightdesk.tool_calls.error_code is 'Why it gave nothing; null where it gave a result.';
comment on column nightdesk.tool_calls.error_message is 'The same in words.';
comment on column nightdesk.tool_calls.result is 'What it gave, without the text.';
comment on column nightdesk.tool_calls.trailing_text is 'What the model wrote behind the call.';
comment on column nightdesk.tool_calls.duration_ms is 'Milliseconds that it took.';

create view nightdesk.workers as
select worker_id, host, pid, version, concurrency, started_at, heartbeat_at,
       heartbeat_at > clock_timestamp() - interval '15 seconds' as is_alive
  from nightdesk_data.workers;
comment on view nightdesk.workers is 'One row a worker that did not say goodbye.';
comment on column nightdesk.workers.worker_id is 'Id of the worker; another at each start.';
comment on column nightdesk.workers.host is 'Name of its machine.';
comment on column nightdesk.workers.pid is 'Its process on that machine.';
comment on column nightdesk.workers.version is 'Its version.';
comment on column nightdesk.workers.concurrency is 'Jobs that it runs at once, at most.';
comment on column nightdesk.workers.started_at is 'When it started.';
comment on column nightdesk.workers.heartbeat_at is 'When it last said that it is alive; every 5 s.';
comment on column nightdesk.workers.is_alive is 'Whether that was in the last 15 s.';

create view nightdesk.schedules as
select s.name, s.origin, s.cron, s.timezone, s.command, s.catch_up, coalesce(s.switched, s.enabled) as enabled, s.since,
       l.planned_at as last_planned_at, l.cause as last_cause, l.batch_id as last_batch_id
  from nightdesk_data.schedules s
  left join lateral (
    select planned_at, cause, batch_id from nightdesk_data.schedule_runs r
     where r.schedule = s.name order by planned_at desc limit 1) l on true;
comment on view nightdesk.schedules is 'One row a schedule.';
comment on column nightdesk.schedules.name is 'Name of the schedule.';
comment on column nightdesk.schedules.origin is 'file: from the configuration; set: by schedule set.';
comment on column nightdesk.schedules.cron is 'When it runs.';
comment on column nightdesk.schedules.timezone is 'Zone of these times.';
comment on column nightdesk.schedules.command is 'What it runs, word by word.';
comment on column nightdesk.schedules.catch_up is 'What is done about times that were missed.';
comment on column nightdesk.schedules.enabled is 'Whether it runs.';
comment on column nightdesk.schedules.since is 'Since when these times hold.';
comment on column nightdesk.schedules.last_planned_at is 'Planned time of its last run; null before the first.';
comment on column nightdesk.schedules.last_cause is 'tick, missed or by_hand.';
comment on column nightdesk.schedules.last_batch_id is 'Batch of that run: batch_progress and runs say what came of it; null where it was deleted.';

create view nightdesk.hooks as
select h.call_id, h.batch_id, b.name as batch, h.target, h.state, h.tries, h.status, h.error, h.finished_at, h.due_at, h.ended_at
  from nightdesk_data.hook_calls h
  join nightdesk_data.batches b using (batch_id);
comment on view nightdesk.hooks is 'One row a command or webhook that is told of the end of a batch.';
comment on column nightdesk.hooks.call_id is 'Number of the call.';
comment on column nightdesk.hooks.batch_id is 'Id of the batch.';
comment on column nightdesk.hooks.batch is 'Name of the batch.';
comment on column nightdesk.hooks.target is 'command or webhook.';
comment on column nightdesk.hooks.state is 'pending, done, failed or superseded (the batch ended again before it was told).';
comment on column nightdesk.hooks.tries is 'How often it was tried.';
comment on column nightdesk.hooks.status is 'Exit status or HTTP status of the last try; null where it gave none.';
comment on column nightdesk.hooks.error is 'Why the last try failed.';
comment on column nightdesk.hooks.finished_at is 'When the batch ended.';
comment on column nightdesk.hooks.due_at is 'When it is tried next; while pending.';
comment on column nightdesk.hooks.ended_at is 'When it came to its end; null while pending.';
