-- The contract with the outside: what users query. Tables may change, these columns do not.

create view nightdesk.results as
select j.job_id, j.batch_id, b.name as batch, j.custom_id, j.kind, j.state, j.error_code, j.error_message, j.input,
       r.answer, r.scope, coalesce(r.model_second, r.model_first) as model, r.prompt_tokens, r.completion_tokens,
       r.queued_ms, r.run_ms,
       (select count(*) from nightdesk_data.evidence e where e.run_id = r.run_id and e.admitted) as evidence_count,
       j.created_at, j.finished_at, r.summary as output, r.cached_from, j.rerun_of, j.waiting_for, r.grade,
       r.claims_dropped, r.verification, j.duplicate_of, j.input->>'path' as path
  from nightdesk_data.jobs j
  join nightdesk_data.batches b using (batch_id)
  left join nightdesk_data.runs r on r.run_id = j.run_id
 -- Jobs of kind notify and check are what Nightdesk does for itself: views hooks and checks have them.
 where j.kind not in ('notify', 'check');
comment on view nightdesk.results is 'One row a job, with its result.';
comment on column nightdesk.results.job_id is 'Id of the job.';
comment on column nightdesk.results.batch_id is 'Id of its batch.';
comment on column nightdesk.results.batch is 'Name of its batch.';
comment on column nightdesk.results.custom_id is 'The id that the user gave, or line-<number>; unique in the batch.';
comment on column nightdesk.results.kind is 'ask, summarize, extract, digest, investigate, check, examine, embed, sync, index, ocr, chat, command or notify.';
comment on column nightdesk.results.state is 'queued, running, parked, succeeded, refused, failed, cancelled or expired.';
comment on column nightdesk.results.error_code is 'Why it did not succeed, as a stable code; null when it did. A job that waits for another try shows the last one.';
comment on column nightdesk.results.error_message is 'The same in words.';
comment on column nightdesk.results.input is 'What was asked for, as it was queued.';
comment on column nightdesk.results.path is 'The file that the job was queued for, relative to the work root; null where it was queued for none, as a question.';
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
comment on column nightdesk.results.output is 'What a job gave beside words: the fields of extract, the counters of index and embed.';
comment on column nightdesk.results.cached_from is 'The run whose replies were taken over, because nothing that decides them had changed.';
comment on column nightdesk.results.waiting_for is 'What a parked job waits for: host, approval, review, exam (of its judge) or time; null unless it is parked.';
comment on column nightdesk.results.grade is
  'verified: it passed its checks. supported or unconfirmed: of the worst claim of the answer, or unconfirmed where a field of an extraction is unbound; unsupported only where ask.unsupported lets it stand; unresolved of a refusal whose checks leave something open; null without claims and fields.';
comment on column nightdesk.results.verification is 'off: its answer was not verified. passed or failed: what its checks and their auditor came to. unverified: no auditor could be had, or read. Of a job that is queued, pending: its checks are under way.';
comment on column nightdesk.results.claims_dropped is 'Statements that the evidence does not carry and that were left out of the answer.';
comment on column nightdesk.results.rerun_of is 'The job of an earlier batch that this one repeats.';
comment on column nightdesk.results.duplicate_of is 'The job of its batch that is worked in its place, because their files are copies; it has the result. Null for any other.';

create view nightdesk.evidence as
select e.evidence_id, j.job_id, e.run_id, j.batch_id, b.name as batch, j.custom_id, e.kind, e.admitted, e.rejected_reason, e.path, e.source,
       e.sha256, e.chars_full, e.chars_returned, e.truncated, e.chunk_key, e.heading_path, e.start_char, e.end_char,
       e.line_start, e.line_end, e.score, e.text_sha256, e.extractor, e.locator, e.left_out, e.title, e.retrieved_at,
       e.kind in ('file', 'chunk') and exists (
         select from nightdesk_data.documents d where d.path = e.path and d.sha256 <> e.sha256) as is_outdated,
       exists (select from nightdesk_data.contents c where c.sha256 = e.sha256) as is_kept,
       coalesce(
         (select v.origin from nightdesk_data.remote_versions v where v.path = e.path and v.sha256 = e.sha256),
         (select min(v.origin) from nightdesk_data.remote_versions v
           where v.path = substring(e.path from '^(.*?[.](?:eml|mbox|zip))/(?:messages/[0-9]+/)?attachments/')
          having count(*) = 1)) as origin
  from nightdesk_data.evidence e
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b using (batch_id);
comment on view nightdesk.evidence is 'One row a piece of text that a run read, admitted or not.';
comment on column nightdesk.evidence.evidence_id is 'Id of the piece.';
comment on column nightdesk.evidence.job_id is 'Id of the job.';
comment on column nightdesk.evidence.run_id is 'Id of the run that read it.';
comment on column nightdesk.evidence.batch_id is 'Id of the batch.';
comment on column nightdesk.evidence.batch is 'Name of the batch.';
comment on column nightdesk.evidence.custom_id is 'The job''s custom_id.';
comment on column nightdesk.evidence.kind is 'file: read by read_text_file. chunk: a passage of the index, or some lines of a file. web: a page that web_fetch fetched. output: what a tool printed.';
comment on column nightdesk.evidence.admitted is 'Whether the answer may rest on it.';
comment on column nightdesk.evidence.rejected_reason is 'Why not; null exactly when it was admitted.';
comment on column nightdesk.evidence.path is 'The file, relative to the work root; of a web page its URL, as it was in the end; of what a tool printed the call, as "output of shell, step 4".';
comment on column nightdesk.evidence.source is 'The source of the index that the passage came from.';
comment on column nightdesk.evidence.sha256 is 'SHA-256 of the bytes of the file; sha256sum confirms it. Of a web page of the bytes that came, unpacked; of what a tool printed, of all of that.';
comment on column nightdesk.evidence.chars_full is 'Characters (code points) of the whole file.';
comment on column nightdesk.evidence.chars_returned is 'Characters that were read.';
comment on column nightdesk.evidence.truncated is 'Whether the text was cut.';
comment on column nightdesk.evidence.chunk_key is 'Key of the passage; null for a file and for what a tool printed.';
comment on column nightdesk.evidence.heading_path is 'Headings above the passage, outermost first.';
comment on column nightdesk.evidence.start_char is 'Offset of the first character in the file, from 0, in code points.';
comment on column nightdesk.evidence.end_char is 'Offset after the last character.';
comment on column nightdesk.evidence.line_start is 'First line in the file, from 1.';
comment on column nightdesk.evidence.line_end is 'Last line in the file.';
comment on column nightdesk.evidence.score is 'Score of the retrieval; null for a file.';
comment on column nightdesk.evidence.text_sha256 is 'SHA-256 of the text that was read, as UTF-8; of a text file that was read whole it is that of its bytes.';
comment on column nightdesk.evidence.extractor is 'What made text of the bytes of the file, with its version; utf-8 for a text file.';
comment on column nightdesk.evidence.locator is 'Where in the file the piece begins, as JSON: page, sheet and row (with last_row, that of its last line, and row_breaks, pairs of a line from 0 and its row, where its lines are not the rows one by one), message, or the pointer of a JSON or YAML file; null where its lines say it.';
comment on column nightdesk.evidence.left_out is 'What a person would see in the file and its text did not hold when it was read, as JSON: how many of each kind; {} where nothing is known to be left out.';
comment on column nightdesk.evidence.is_outdated is 'Whether the index has the file with other bytes by now than those that were read.';
comment on column nightdesk.evidence.is_kept is 'Whether the database holds the bytes that were read, or their text (documents.keep), so that they can be shown when the file is gone.';
comment on column nightdesk.evidence.title is 'Of a web page: what it calls itself; null where it does not, and for anything else.';
comment on column nightdesk.evidence.retrieved_at is 'Of a web page: when it was fetched; null for anything else.';
comment on column nightdesk.evidence.origin is 'Of a file of a mirror: the URL of the version whose bytes these are, such as https://host/dav/a.pdf#etag, s3://bucket/key?versionId=1 or imap://host/INBOX;UIDVALIDITY=1/;UID=42; of an attachment that of its mail. Null for anything else.';

create view nightdesk.failures as
select 'job' as origin, j.job_id, j.batch_id, j.custom_id, j.kind, j.state,
       coalesce(j.input->>'path', (select t.args->>'path' from nightdesk_data.tool_calls t
                                    where t.run_id = j.run_id order by t.error_code is null, t.ordinal limit 1)) as path,
       j.error_code, j.error_message, j.attempt as attempts, coalesce(j.finished_at, j.due_at) as at
  from nightdesk_data.jobs j
 where j.error_code is not null and j.state <> 'running' and j.kind not in ('notify', 'check')
union all
select 'document', null, null, null, 'index', 'refused', d.path, d.error_code, d.error_message, coalesce(d.tries, 1), d.at
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
comment on column nightdesk.failures.attempts is 'Runs that were used up; of a document that met the limit of time or memory, how often in a row.';
comment on column nightdesk.failures.at is 'When it happened, or when it is tried again.';

create view nightdesk.runs as
select r.run_id, r.job_id, j.batch_id, b.name as batch, j.custom_id, j.kind, r.attempt, r.state, r.error_code, r.error_message,
       r.answer, r.scope, r.model_first, r.model_second, r.prompt_tokens, r.completion_tokens, r.queued_ms, r.model_ms, r.run_ms,
       r.started_at, r.finished_at, r.worker_id, r.version, r.config_sha256,
       r.config_file, r.roots, r.cached_from, r.grade, r.claims_dropped, r.verification, r.regraded_at
  from nightdesk_data.runs r
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id
 where j.kind <> 'notify';
comment on view nightdesk.runs is 'One row an attempt at a job, ended or not.';
comment on column nightdesk.runs.run_id is 'Id of the run.';
comment on column nightdesk.runs.job_id is 'Id of its job.';
comment on column nightdesk.runs.batch_id is 'Id of the batch.';
comment on column nightdesk.runs.batch is 'Name of the batch.';
comment on column nightdesk.runs.custom_id is 'Id of the line that queued the job; null where it had none.';
comment on column nightdesk.runs.kind is 'Kind of the job.';
comment on column nightdesk.runs.attempt is 'Number of the attempt, from 1.';
comment on column nightdesk.runs.state is 'running, succeeded, refused, failed, parked, cancelled, expired, lost, handed_back or drafted (its answer waits for checks).';
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
comment on column nightdesk.runs.grade is 'verified, or of the worst claim of the answer: supported, unconfirmed or unsupported; unresolved of a refusal whose checks leave something open; null without claims.';
comment on column nightdesk.runs.verification is 'off, pending (its answer waits for checks), passed, failed or unverified.';
comment on column nightdesk.runs.claims_dropped is 'Statements that were left out of the answer.';
comment on column nightdesk.runs.regraded_at is 'When grades of it were taken back, because the judge that had given them lost its word; null where none were.';
comment on column nightdesk.runs.cached_from is 'Run whose result was taken over; null where it did the work.';

create view nightdesk.run_events as
select e.event_id, e.run_id, r.job_id, j.batch_id, j.custom_id, e.ordinal, e.step, e.at_ms, e.duration_ms, e.detail
  from nightdesk_data.run_events e
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id)
 where j.kind <> 'notify';
comment on view nightdesk.run_events is 'One row a step of a run that ended, as its code went through it.';
comment on column nightdesk.run_events.event_id is 'Id of the step, in the order in which steps were written.';
comment on column nightdesk.run_events.run_id is 'Id of the run.';
comment on column nightdesk.run_events.job_id is 'Id of its job.';
comment on column nightdesk.run_events.batch_id is 'Id of the batch.';
comment on column nightdesk.run_events.custom_id is 'Id of the line that queued the job; null where it had none.';
comment on column nightdesk.run_events.ordinal is 'Place among the steps of the run.';
comment on column nightdesk.run_events.step is 'Name of the step.';
comment on column nightdesk.run_events.at_ms is 'Milliseconds from the start of the run to its own.';
comment on column nightdesk.run_events.duration_ms is 'Milliseconds that it took.';
comment on column nightdesk.run_events.detail is 'What it found and decided.';

create view nightdesk.tool_calls as
select t.run_id, r.job_id, j.batch_id, b.name as batch, j.custom_id, t.ordinal, t.name, t.args, t.error_code, t.error_message, t.result,
       t.trailing_text, t.duration_ms, t.step, t.grant_id, t.args_sha256
  from nightdesk_data.tool_calls t
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j on j.job_id = r.job_id
  join nightdesk_data.batches b using (batch_id);
comment on view nightdesk.tool_calls is 'One row a call of a tool.';
comment on column nightdesk.tool_calls.run_id is 'Id of the run.';
comment on column nightdesk.tool_calls.job_id is 'Id of its job.';
comment on column nightdesk.tool_calls.batch_id is 'Id of the batch.';
comment on column nightdesk.tool_calls.batch is 'Name of the batch.';
comment on column nightdesk.tool_calls.custom_id is 'Id of the line that queued the job; null where it had none.';
comment on column nightdesk.tool_calls.ordinal is 'Place among the calls of the run.';
comment on column nightdesk.tool_calls.name is 'Name of the tool.';
comment on column nightdesk.tool_calls.args is 'Its arguments, as the model gave them.';
comment on column nightdesk.tool_calls.error_code is 'Why it gave nothing; null where it gave a result.';
comment on column nightdesk.tool_calls.error_message is 'The same in words.';
comment on column nightdesk.tool_calls.result is 'What it gave, without the text.';
comment on column nightdesk.tool_calls.trailing_text is 'What the model wrote behind the call.';
comment on column nightdesk.tool_calls.duration_ms is 'Milliseconds that it took.';
comment on column nightdesk.tool_calls.step is 'Of an investigation: its step; null for any other.';
comment on column nightdesk.tool_calls.grant_id is 'Of an investigation: the grant that allowed it.';
comment on column nightdesk.tool_calls.args_sha256 is 'Of an investigation: SHA-256 of its arguments as canonical JSON.';

create view nightdesk.steps as
select s.job_id, s.run_id, j.batch_id, b.name as batch, j.custom_id, s.ordinal, s.kind, t.name as tool, s.effect, s.state,
       coalesce(t.error_code, c.error_code) as error_code, c.model, c.prompt_tokens, c.completion_tokens, s.detail,
       s.started_at, s.ended_at, extract(epoch from s.ended_at - s.started_at) * 1000 as duration_ms
  from nightdesk_data.steps s
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b using (batch_id)
  left join nightdesk_data.tool_calls t on t.job_id = s.job_id and t.step = s.ordinal
  left join nightdesk_data.model_calls c on c.job_id = s.job_id and c.request_sha256 = s.request_sha256;
comment on view nightdesk.steps is 'One row a step of an investigation: a call of a model or of a tool, or what a rule did, written before and after.';
comment on column nightdesk.steps.job_id is 'Id of the job.';
comment on column nightdesk.steps.run_id is 'Id of the run that wrote it; a later run of the job goes on behind it.';
comment on column nightdesk.steps.batch_id is 'Id of the batch.';
comment on column nightdesk.steps.batch is 'Name of the batch.';
comment on column nightdesk.steps.custom_id is 'The job''s custom_id.';
comment on column nightdesk.steps.ordinal is 'Place among the steps of the job, from 0.';
comment on column nightdesk.steps.kind is 'model, tool, compaction (older steps are shown in brief from here on), policy (a rule acted) or end.';
comment on column nightdesk.steps.tool is 'Name of the tool; null for any other step.';
comment on column nightdesk.steps.effect is 'What the tool may change or reach: none, local-write, exec or network.';
comment on column nightdesk.steps.state is
  'started, waiting (a person is asked), uncertain (its worker was lost, and it may have had its effect), done, failed, denied or skipped.';
comment on column nightdesk.steps.error_code is 'Why the call gave nothing; null where it gave a result.';
comment on column nightdesk.steps.model is 'The model that was called.';
comment on column nightdesk.steps.prompt_tokens is 'Tokens of the prompt, as the host counted them.';
comment on column nightdesk.steps.completion_tokens is 'Tokens of the reply.';
comment on column nightdesk.steps.detail is 'Which rule acted and why, what was shown in brief, what was asked.';
comment on column nightdesk.steps.started_at is 'When it began.';
comment on column nightdesk.steps.ended_at is 'When it ended; null while it is open.';
comment on column nightdesk.steps.duration_ms is 'Milliseconds from its beginning to its end.';

create view nightdesk.grants as
select g.grant_id, g.job_id, j.batch_id, j.custom_id, g.preset, g.preset_sha256, g.tools, g.roots, g.limits, g.created_at,
       g.ended_at
  from nightdesk_data.grants g
  join nightdesk_data.jobs j using (job_id);
comment on view nightdesk.grants is 'One row an investigation: what it may use. A grant is never changed, and allows nothing once it has ended.';
comment on column nightdesk.grants.grant_id is 'Id of the grant.';
comment on column nightdesk.grants.job_id is 'Id of the job.';
comment on column nightdesk.grants.batch_id is 'Id of the batch.';
comment on column nightdesk.grants.custom_id is 'The job''s custom_id.';
comment on column nightdesk.grants.preset is 'The preset that it was made from.';
comment on column nightdesk.grants.preset_sha256 is 'SHA-256 of that preset as it was then.';
comment on column nightdesk.grants.tools is 'Tools that it allows.';
comment on column nightdesk.grants.roots is 'Folders that its tools see, relative to the work root; none: all that may be read.';
comment on column nightdesk.grants.limits is 'Steps, calls, tokens and time that the investigation may take, and when a rule against drift acts.';
comment on column nightdesk.grants.created_at is 'When it was made.';
comment on column nightdesk.grants.ended_at is 'When the job ended, and the grant with it.';

create view nightdesk.approvals as
select a.approval_id, a.job_id, j.batch_id, b.name as batch, j.custom_id, a.step, a.fingerprint, a.tool, a.executor, a.args,
       a.risks, a.preview, a.state, a.requested_at, a.expires_at, a.decided_at, a.decision_id, d.scope, d.reason, d.decided_by
  from nightdesk_data.approvals a
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b using (batch_id)
  left join nightdesk_data.decisions d using (decision_id);
comment on view nightdesk.approvals is 'One row a call of a tool that a person is, or was, asked about.';
comment on column nightdesk.approvals.approval_id is 'Id of the request.';
comment on column nightdesk.approvals.job_id is 'Id of the job that waits.';
comment on column nightdesk.approvals.batch_id is 'Id of the batch.';
comment on column nightdesk.approvals.batch is 'Name of the batch.';
comment on column nightdesk.approvals.custom_id is 'The job''s custom_id.';
comment on column nightdesk.approvals.step is 'Step of the investigation.';
comment on column nightdesk.approvals.fingerprint is
  'SHA-256 of tool, arguments, executor, preset and folders: one decision answers all requests that share it.';
comment on column nightdesk.approvals.tool is 'Name of the tool.';
comment on column nightdesk.approvals.executor is 'What would run it.';
comment on column nightdesk.approvals.args is 'Its arguments.';
comment on column nightdesk.approvals.risks is 'Labels: out_of_root, network, writes, deletes, credentials, privilege, project_code. They warn, and allow nothing.';
comment on column nightdesk.approvals.preview is 'What would be done, as people read it.';
comment on column nightdesk.approvals.state is 'waiting, approved, denied, expired, or withdrawn (its job ended otherwise, or a rule answers it).';
comment on column nightdesk.approvals.requested_at is 'When it was asked.';
comment on column nightdesk.approvals.expires_at is 'Until when it waits; its job is refused with APPROVAL_EXPIRED then.';
comment on column nightdesk.approvals.decided_at is 'When it was answered, expired or was withdrawn.';
comment on column nightdesk.approvals.decision_id is 'Id of the decision that answered it.';
comment on column nightdesk.approvals.scope is 'once, job, batch or rule.';
comment on column nightdesk.approvals.reason is 'Why it was denied, as the model was told.';
comment on column nightdesk.approvals.decided_by is 'Who decided.';

create view nightdesk.artifacts as
select u.job_id, j.batch_id, j.custom_id, u.step, u.stream, u.sha256, u.bytes, u.class, u.expires_at, a.created_at,
       u.removed_at
  from nightdesk_data.artifact_uses u
  left join nightdesk_data.artifacts a on a.sha256 = u.kept_sha256
  join nightdesk_data.jobs j using (job_id);
comment on view nightdesk.artifacts is 'One row an output of a tool. Equal ones are kept once.';
comment on column nightdesk.artifacts.job_id is 'Id of the job.';
comment on column nightdesk.artifacts.batch_id is 'Id of the batch.';
comment on column nightdesk.artifacts.custom_id is 'The job''s custom_id.';
comment on column nightdesk.artifacts.step is 'Step of the investigation that made it.';
comment on column nightdesk.artifacts.stream is 'result, stdout, stderr or state.';
comment on column nightdesk.artifacts.sha256 is 'SHA-256 of its bytes.';
comment on column nightdesk.artifacts.bytes is 'Its length.';
comment on column nightdesk.artifacts.class is 'evidence (kept with its job), output (until it expires) or state (until its job has ended).';
comment on column nightdesk.artifacts.expires_at is 'When it may be removed; null where it is kept with its job.';
comment on column nightdesk.artifacts.created_at is 'When it was first made; null once it was removed.';
comment on column nightdesk.artifacts.removed_at is 'When its bytes were removed; null while they are kept.';

create view nightdesk.model_calls as
select c.call_id, c.job_id, c.run_id, j.batch_id, b.name as batch, j.custom_id, c.pass, c.model, c.model_digest, c.prompt_template,
       c.prompt_sha256, c.request_sha256, c.prompt, c.reply, c.done_reason, c.error_code, c.prompt_tokens,
       c.completion_tokens, c.load_ms, c.duration_ms, c.created_at, c.cached_from
  from nightdesk_data.model_calls c
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b using (batch_id);
comment on view nightdesk.model_calls is
  'One row a call of a model, committed as it returned, and one a reply that was taken over from another job.';
comment on column nightdesk.model_calls.call_id is 'Id of the call.';
comment on column nightdesk.model_calls.job_id is 'Id of the job.';
comment on column nightdesk.model_calls.run_id is 'Id of the run that made the call, or took its reply over.';
comment on column nightdesk.model_calls.batch_id is 'Id of the batch.';
comment on column nightdesk.model_calls.batch is 'Name of the batch.';
comment on column nightdesk.model_calls.custom_id is 'The job''s custom_id.';
comment on column nightdesk.model_calls.pass is 'first, second, retry (after a violation), part (of a long file) or chat.';
comment on column nightdesk.model_calls.model is 'The model that was asked.';
comment on column nightdesk.model_calls.model_digest is 'SHA-256 of its weights, as its host reports it.';
comment on column nightdesk.model_calls.prompt_template is 'Name and version of the prompt.';
comment on column nightdesk.model_calls.prompt_sha256 is 'SHA-256 of the messages that were sent.';
comment on column nightdesk.model_calls.request_sha256 is 'SHA-256 of all that decides the reply.';
comment on column nightdesk.model_calls.prompt is 'What filled the template; evidence as path, sha256 and span.';
comment on column nightdesk.model_calls.reply is 'What the model wrote, without thinking; null when its host refused.';
comment on column nightdesk.model_calls.done_reason is 'stop, length (max_tokens), window (num_ctx), or thought: all of it was thinking.';
comment on column nightdesk.model_calls.error_code is 'Why the host refused; null when it replied.';
comment on column nightdesk.model_calls.prompt_tokens is 'Tokens of the prompt, as the host counts.';
comment on column nightdesk.model_calls.completion_tokens is 'Tokens of the reply.';
comment on column nightdesk.model_calls.load_ms is 'Milliseconds until the model was loaded.';
comment on column nightdesk.model_calls.duration_ms is 'Milliseconds of the whole call.';
comment on column nightdesk.model_calls.created_at is 'When the reply was stored.';
comment on column nightdesk.model_calls.cached_from is
  'The run of another job that made the call; its tokens and times were spent there. Null for a call of its own.';

create view nightdesk.reasoning as
select c.call_id, c.job_id, c.run_id, j.batch_id, j.custom_id, c.pass, c.model, t.chars, t.reasoning, c.created_at, t.expires_at
  from nightdesk_data.call_reasoning t
  join nightdesk_data.model_calls c using (call_id, run_id)
  join nightdesk_data.jobs j using (job_id);
comment on view nightdesk.reasoning is
  'One row a call whose model thought before it replied, as long as that is kept. It is in no result, export or report.';
comment on column nightdesk.reasoning.call_id is 'Id of the call, as in model_calls.';
comment on column nightdesk.reasoning.job_id is 'Id of the job.';
comment on column nightdesk.reasoning.run_id is 'Id of the run that made the call.';
comment on column nightdesk.reasoning.batch_id is 'Id of the batch.';
comment on column nightdesk.reasoning.custom_id is 'The job''s custom_id.';
comment on column nightdesk.reasoning.pass is 'The pass of the call.';
comment on column nightdesk.reasoning.model is 'The model that was asked.';
comment on column nightdesk.reasoning.chars is 'Characters that the model thought.';
comment on column nightdesk.reasoning.reasoning is 'What it thought; of more than 64,000 characters the first 48,000 and the last 16,000.';
comment on column nightdesk.reasoning.created_at is 'When it was stored.';
comment on column nightdesk.reasoning.expires_at is 'When it may be removed; null where it is kept with its job.';

create view nightdesk.quotes as
select j.job_id, q.run_id, j.batch_id, j.custom_id, q.ordinal, q.quote, q.class, q.number, q.path, q.start_char, q.end_char,
       q.line_start, q.line_end
  from nightdesk_data.quotes q
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id);
comment on view nightdesk.quotes is 'One row a quotation of 12 characters or more in the last draft of an answer.';
comment on column nightdesk.quotes.job_id is 'Id of the job.';
comment on column nightdesk.quotes.run_id is 'Id of the run.';
comment on column nightdesk.quotes.batch_id is 'Id of the batch.';
comment on column nightdesk.quotes.custom_id is 'The job''s custom_id.';
comment on column nightdesk.quotes.ordinal is 'Place in the answer, from 0.';
comment on column nightdesk.quotes.quote is 'The words between the marks.';
comment on column nightdesk.quotes.class is 'verbatim, normalised, elided, misattributed, stitched, asked, translated, term or not_found.';
comment on column nightdesk.quotes.number is 'Number of the piece of evidence that holds it; null when none does.';
comment on column nightdesk.quotes.path is 'The file, relative to the work root.';
comment on column nightdesk.quotes.start_char is 'Offset of its first character in the file, from 0, in code points.';
comment on column nightdesk.quotes.end_char is 'Offset after its last character.';
comment on column nightdesk.quotes.line_start is 'First line in the file, from 1.';
comment on column nightdesk.quotes.line_end is 'Last line in the file.';

create view nightdesk.figures as
select j.job_id, f.run_id, j.batch_id, j.custom_id, f.ordinal, f.kind, f.figure, f.stands_in, f.flagged, f.number, f.path,
       f.start_char, f.end_char, f.line_start, f.line_end
  from nightdesk_data.figures f
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id);
comment on view nightdesk.figures is 'One row a number, date, link or path in the last draft of an answer.';
comment on column nightdesk.figures.job_id is 'Id of the job.';
comment on column nightdesk.figures.run_id is 'Id of the run.';
comment on column nightdesk.figures.batch_id is 'Id of the batch.';
comment on column nightdesk.figures.custom_id is 'The job''s custom_id.';
comment on column nightdesk.figures.ordinal is 'Place in the answer, from 0.';
comment on column nightdesk.figures.kind is 'number, date, link or path.';
comment on column nightdesk.figures.figure is 'As the answer writes it.';
comment on column nightdesk.figures.stands_in is 'evidence, question, both or neither.';
comment on column nightdesk.figures.flagged is 'A number or date that stands nowhere; a link or path that only a document brought up.';
comment on column nightdesk.figures.number is 'Number of the piece of evidence that holds it; null when none does.';
comment on column nightdesk.figures.path is 'The file that holds it, relative to the work root.';
comment on column nightdesk.figures.start_char is 'Offset of its first character in the file, from 0, in code points.';
comment on column nightdesk.figures.end_char is 'Offset after its last character.';
comment on column nightdesk.figures.line_start is 'First line in the file, from 1.';
comment on column nightdesk.figures.line_end is 'Last line in the file.';

create view nightdesk.claims as
select j.job_id, c.run_id, j.batch_id, b.name as batch, j.custom_id, c.draft, c.ordinal, c.stands, c.text as claim, c.grade,
       c.reason,
       c.fate, c.cites, c.arithmetic, c.number, c.path, c.start_char, c.end_char, c.line_start, c.line_end,
       c.carrier as quote, c.quote as given_quote,
       c.locator, c.other_places
  from nightdesk_data.claims c
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id;
comment on view nightdesk.claims is 'One row a statement of an answer, graded against the evidence that it cites; those of earlier drafts and those left out, too.';
comment on column nightdesk.claims.job_id is 'Id of the job.';
comment on column nightdesk.claims.run_id is 'Id of the run.';
comment on column nightdesk.claims.batch_id is 'Id of the batch.';
comment on column nightdesk.claims.batch is 'Name of the batch.';
comment on column nightdesk.claims.custom_id is 'The job''s custom_id.';
comment on column nightdesk.claims.draft is '0 for the first reply of the model, 1 for its repair.';
comment on column nightdesk.claims.ordinal is 'Place in the draft, from 0.';
comment on column nightdesk.claims.stands is 'Whether the answer that was given holds it.';
comment on column nightdesk.claims.claim is 'The statement, without its citations.';
comment on column nightdesk.claims.grade is 'supported, unconfirmed or unsupported.';
comment on column nightdesk.claims.reason is
  'verbatim, computed (over a table) or confirmed (by a judge) for a supported one; else what speaks against it (uncited, not_admitted, quote, figure, name, polarity, opposite, anchor, subject, frame, label, reading), or what a judge says that does not confirm it (judge, unclear), or not_asked.';
comment on column nightdesk.claims.fate is 'kept, marked, repaired (the model was asked again), dropped (left out) or flagged (let stand).';
comment on column nightdesk.claims.cites is 'Numbers of the pieces of evidence that it cites.';
comment on column nightdesk.claims.arithmetic is 'How its figure is reckoned from those of the evidence; null where it is not.';
comment on column nightdesk.claims.number is 'Number of the piece of evidence that carries it, or comes nearest; null when none does.';
comment on column nightdesk.claims.path is 'Its file, relative to the work root.';
comment on column nightdesk.claims.start_char is 'Offset of the first character in the file, from 0, in code points.';
comment on column nightdesk.claims.end_char is 'Offset after the last character.';
comment on column nightdesk.claims.line_start is 'First line in the file, from 1.';
comment on column nightdesk.claims.line_end is 'Last line in the file.';
comment on column nightdesk.claims.quote is 'The words that stand there.';
comment on column nightdesk.claims.locator is 'Where in the file that is, as JSON: page, sheet and row, message, or the pointer of a JSON or YAML file; null where its lines say it, and of a table whose rows are not its lines.';
comment on column nightdesk.claims.other_places is
  'Of each other piece that it cites, where that says most of it, as a JSON list: number, path, start_char, end_char, line_start, line_end and locator. A piece that says too little of it is left out.';
comment on column nightdesk.claims.given_quote is 'What the model gave as the words that carry it; null where it gave none.';

create view nightdesk.field_bindings as
select j.job_id, f.run_id, j.batch_id, b.name as batch, j.custom_id, f.ordinal, f.pointer, f.value, f.state, f.reason, f.grade, f.judge_says, f.judge_detail, f.quote,
       f.number, f.path, f.start_char, f.end_char, f.line_start, f.line_end, f.locator,
       f.decision as review, f.correction, f.decision_reason, f.decided_by, f.decided_at
  from nightdesk_data.field_bindings f
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id;
comment on view nightdesk.field_bindings is 'One row a single value of the fields of an extraction, with the words of the document that carry it.';
comment on column nightdesk.field_bindings.job_id is 'Id of the job.';
comment on column nightdesk.field_bindings.run_id is 'Id of the run.';
comment on column nightdesk.field_bindings.batch_id is 'Id of the batch.';
comment on column nightdesk.field_bindings.batch is 'Name of the batch.';
comment on column nightdesk.field_bindings.custom_id is 'The job''s custom_id.';
comment on column nightdesk.field_bindings.ordinal is 'Place in the fields, from 0.';
comment on column nightdesk.field_bindings.pointer is 'Where it stands in the fields: a JSON pointer such as /items/0/price.';
comment on column nightdesk.field_bindings.value is 'The value as JSON; null where there is none.';
comment on column nightdesk.field_bindings.state is 'bound: the quote stands in the document and holds the value; unbound: no words were found that do; null: there is no value.';
comment on column nightdesk.field_bindings.reason is
  'Of an unbound one, and of a null that was put in place of one: no_quote, quote_not_found, quote_short (it says too little) or not_in_quote. Of a bound one that is in doubt: no_quote (its words were looked up), other_label (its line names something else), reading (its figure was not read for sure from a picture) or judge (an examined model does not find it there).';
comment on column nightdesk.field_bindings.grade is 'supported: a line that names it holds it, and no judge says otherwise; unconfirmed: it is in doubt; unsupported: no words carry it. Null where there is no value.';
comment on column nightdesk.field_bindings.judge_says is 'What a judge said: yes, no or unclear; null where none was asked. Also of a value that was left out.';
comment on column nightdesk.field_bindings.judge_detail is 'The same in words, with the name of the model.';
comment on column nightdesk.field_bindings.quote is 'The words that carry it; null unless it is bound.';
comment on column nightdesk.field_bindings.number is 'Number of the piece of evidence that holds them.';
comment on column nightdesk.field_bindings.path is 'Its file, relative to the work root.';
comment on column nightdesk.field_bindings.start_char is 'Offset of the first character in the file, from 0, in code points.';
comment on column nightdesk.field_bindings.end_char is 'Offset after the last character.';
comment on column nightdesk.field_bindings.line_start is 'First line in the file, from 1.';
comment on column nightdesk.field_bindings.line_end is 'Last line in the file.';
comment on column nightdesk.field_bindings.locator is 'Where in the file that is, as JSON: page, sheet and row, message, or the pointer of a JSON or YAML file; null where its lines say it.';
comment on column nightdesk.field_bindings.review is 'What a person said of the value: accepted, corrected or rejected; null where nobody has decided on it.';
comment on column nightdesk.field_bindings.correction is 'What the person gave in place of the value, as JSON; null unless corrected.';
comment on column nightdesk.field_bindings.decision_reason is 'Why, in the words of the person.';
comment on column nightdesk.field_bindings.decided_by is 'Who decided.';
comment on column nightdesk.field_bindings.decided_at is 'When.';

create view nightdesk.summary_parts as
select j.job_id, p.run_id, j.batch_id, j.custom_id, p.path, p.level, p.ordinal, p.start_char, p.end_char,
       p.line_start, p.line_end, p.summary
  from nightdesk_data.summary_parts p
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id);
comment on view nightdesk.summary_parts is 'One row a part of a long file that was summarised by itself, and a summary of such summaries.';
comment on column nightdesk.summary_parts.job_id is 'Id of the job.';
comment on column nightdesk.summary_parts.run_id is 'Id of the run.';
comment on column nightdesk.summary_parts.batch_id is 'Id of the batch.';
comment on column nightdesk.summary_parts.custom_id is 'The job''s custom_id.';
comment on column nightdesk.summary_parts.path is 'The file, relative to the work root.';
comment on column nightdesk.summary_parts.level is '0 for parts of the file, 1 for summaries of their summaries, and so on.';
comment on column nightdesk.summary_parts.ordinal is 'Place within the level, from 0.';
comment on column nightdesk.summary_parts.start_char is 'Offset of the first character that it covers, from 0, in code points.';
comment on column nightdesk.summary_parts.end_char is 'Offset after the last character.';
comment on column nightdesk.summary_parts.line_start is 'First line that it covers, from 1.';
comment on column nightdesk.summary_parts.line_end is 'Last line that it covers.';
comment on column nightdesk.summary_parts.summary is 'What was said of it.';

create view nightdesk.classifications as
select j.job_id, r.run_id, j.batch_id, b.name as batch, j.custom_id, e.path, e.sha256,
       r.summary->>'label' as label, r.summary->>'priority' as priority, r.summary->>'reason' as reason,
       r.summary->>'quote' as quote, q.class as quote_class, q.line_start, q.line_end,
       coalesce(r.model_second, r.model_first) as model, j.finished_at
  from nightdesk_data.jobs j
  join nightdesk_data.batches b using (batch_id)
  join nightdesk_data.runs r on r.run_id = j.run_id and r.state = 'succeeded'
  left join nightdesk_data.evidence e on e.run_id = r.run_id and e.ordinal = 0
  left join nightdesk_data.quotes q on q.run_id = r.run_id and q.ordinal = 0
 where j.kind = 'extract' and j.input->>'preset' = 'classify';
comment on view nightdesk.classifications is 'One row a file that was classified (extract with preset classify).';
comment on column nightdesk.classifications.job_id is 'Id of the job.';
comment on column nightdesk.classifications.run_id is 'Id of the run.';
comment on column nightdesk.classifications.batch_id is 'Id of the batch.';
comment on column nightdesk.classifications.batch is 'Name of the batch.';
comment on column nightdesk.classifications.custom_id is 'The job''s custom_id.';
comment on column nightdesk.classifications.path is 'The file, relative to the work root.';
comment on column nightdesk.classifications.sha256 is 'SHA-256 of the file''s bytes.';
comment on column nightdesk.classifications.label is 'The one of the labels that was chosen.';
comment on column nightdesk.classifications.priority is 'high, normal or low.';
comment on column nightdesk.classifications.reason is 'Why that label.';
comment on column nightdesk.classifications.quote is 'The passage that shows it.';
comment on column nightdesk.classifications.quote_class is 'verbatim, normalised, elided, stitched or not_found.';
comment on column nightdesk.classifications.line_start is 'First line of the passage, from 1.';
comment on column nightdesk.classifications.line_end is 'Last line of the passage.';
comment on column nightdesk.classifications.model is 'The model that chose.';
comment on column nightdesk.classifications.finished_at is 'When the job ended.';

-- Quotes are stored in the order of the fields, so that the place of an item is the place of its quote.
create view nightdesk.action_items as
select j.job_id, r.run_id, j.batch_id, b.name as batch, j.custom_id, e.path, e.sha256, (item.place - 1)::integer as ordinal,
       item.fields->>'action' as action, item.fields->>'owner' as owner, item.fields->>'due' as due,
       (item.fields->>'due_date')::date as due_date, item.fields->>'quote' as quote, q.class as quote_class,
       q.line_start, q.line_end, coalesce(r.model_second, r.model_first) as model, j.finished_at
  from nightdesk_data.jobs j
  join nightdesk_data.batches b using (batch_id)
  join nightdesk_data.runs r on r.run_id = j.run_id and r.state = 'succeeded'
 cross join lateral jsonb_array_elements(r.summary->'actions') with ordinality as item (fields, place)
  left join nightdesk_data.evidence e on e.run_id = r.run_id and e.ordinal = 0
  left join nightdesk_data.quotes q on q.run_id = r.run_id and q.ordinal = item.place - 1
 where j.kind = 'extract' and j.input->>'preset' = 'actions';
comment on view nightdesk.action_items is 'One row a thing that somebody has to do (extract with preset actions).';
comment on column nightdesk.action_items.job_id is 'Id of the job.';
comment on column nightdesk.action_items.run_id is 'Id of the run.';
comment on column nightdesk.action_items.batch_id is 'Id of the batch.';
comment on column nightdesk.action_items.batch is 'Name of the batch.';
comment on column nightdesk.action_items.custom_id is 'The job''s custom_id.';
comment on column nightdesk.action_items.path is 'The file, relative to the work root.';
comment on column nightdesk.action_items.sha256 is 'SHA-256 of the file''s bytes.';
comment on column nightdesk.action_items.ordinal is 'Place in the file, from 0.';
comment on column nightdesk.action_items.action is 'What is to be done.';
comment on column nightdesk.action_items.owner is 'Who has to do it, as the file spells it; null where it does not say.';
comment on column nightdesk.action_items.due is 'Until when, as the file spells it; null where it does not say.';
comment on column nightdesk.action_items.due_date is 'The same as a date, where it is one day with its year.';
comment on column nightdesk.action_items.quote is 'The passage that says so.';
comment on column nightdesk.action_items.quote_class is 'verbatim, normalised, elided, stitched or not_found.';
comment on column nightdesk.action_items.line_start is 'First line of the passage, from 1.';
comment on column nightdesk.action_items.line_end is 'Last line of the passage.';
comment on column nightdesk.action_items.model is 'The model that found it.';
comment on column nightdesk.action_items.finished_at is 'When the job ended.';

create view nightdesk.people_and_dates as
select j.job_id, r.run_id, j.batch_id, b.name as batch, j.custom_id, e.path, e.sha256, item.ordinal, item.kind,
       item.fields->>'name' as name, item.fields->>'role' as role, item.fields->>'date' as date,
       (item.fields->>'day')::date as day, item.fields->>'what' as what, item.fields->>'quote' as quote,
       q.class as quote_class, q.line_start, q.line_end, coalesce(r.model_second, r.model_first) as model, j.finished_at
  from nightdesk_data.jobs j
  join nightdesk_data.batches b using (batch_id)
  join nightdesk_data.runs r on r.run_id = j.run_id and r.state = 'succeeded'
 cross join lateral (
   select 'person' as kind, fields, (place - 1)::integer as ordinal, 0 as before
     from jsonb_array_elements(r.summary->'people') with ordinality as people (fields, place)
    union all
   select 'date', fields, (place - 1)::integer, jsonb_array_length(r.summary->'people')
     from jsonb_array_elements(r.summary->'dates') with ordinality as dates (fields, place)) item
  left join nightdesk_data.evidence e on e.run_id = r.run_id and e.ordinal = 0
  left join nightdesk_data.quotes q on q.run_id = r.run_id and q.ordinal = item.before + item.ordinal
 where j.kind = 'extract' and j.input->>'preset' = 'people';
comment on view nightdesk.people_and_dates is 'One row a person or a date that a file names (extract with preset people).';
comment on column nightdesk.people_and_dates.job_id is 'Id of the job.';
comment on column nightdesk.people_and_dates.run_id is 'Id of the run.';
comment on column nightdesk.people_and_dates.batch_id is 'Id of the batch.';
comment on column nightdesk.people_and_dates.batch is 'Name of the batch.';
comment on column nightdesk.people_and_dates.custom_id is 'The job''s custom_id.';
comment on column nightdesk.people_and_dates.path is 'The file, relative to the work root.';
comment on column nightdesk.people_and_dates.sha256 is 'SHA-256 of the file''s bytes.';
comment on column nightdesk.people_and_dates.ordinal is 'Place among the people, or among the dates, of the file, from 0.';
comment on column nightdesk.people_and_dates.kind is 'person or date.';
comment on column nightdesk.people_and_dates.name is 'Of a person: the name, as the file spells it.';
comment on column nightdesk.people_and_dates.role is 'Of a person: what the file says that they are; null where it does not say.';
comment on column nightdesk.people_and_dates.date is 'Of a date: as the file spells it.';
comment on column nightdesk.people_and_dates.day is 'Of a date: the same as a date, where it is one day with its year.';
comment on column nightdesk.people_and_dates.what is 'Of a date: what happens then.';
comment on column nightdesk.people_and_dates.quote is 'The passage that names it.';
comment on column nightdesk.people_and_dates.quote_class is 'verbatim, normalised, elided, stitched or not_found.';
comment on column nightdesk.people_and_dates.line_start is 'First line of the passage, from 1.';
comment on column nightdesk.people_and_dates.line_end is 'Last line of the passage.';
comment on column nightdesk.people_and_dates.model is 'The model that found it.';
comment on column nightdesk.people_and_dates.finished_at is 'When the job ended.';

create view nightdesk.batch_progress as
select b.batch_id, b.name as batch,
       case when b.state <> 'open' then b.state when b.hold_reason is not null then 'held'
            when c.queued = c.total then 'queued' else 'running' end as state,
       b.hold_reason, c.total, c.queued, c.running, c.parked, c.succeeded, c.refused, c.failed, c.cancelled, c.expired,
       b.created_at, b.finished_at, b.hold_until, b.deadline_at, b.pinned, coalesce(o.bytes, 0) as output_bytes,
       coalesce(o.cut, 0) as outputs_cut
  from nightdesk_data.batches b
  left join nightdesk_data.batch_outputs o using (batch_id)
 cross join lateral (
   select coalesce(sum(total), 0)::bigint as total, coalesce(sum(queued), 0)::bigint as queued,
          coalesce(sum(running), 0)::bigint as running, coalesce(sum(parked), 0)::bigint as parked,
          coalesce(sum(succeeded), 0)::bigint as succeeded, coalesce(sum(refused), 0)::bigint as refused,
          coalesce(sum(failed), 0)::bigint as failed, coalesce(sum(cancelled), 0)::bigint as cancelled,
          coalesce(sum(expired), 0)::bigint as expired
     from nightdesk_data.batch_counts n where n.batch_id = b.batch_id) c
 where b.parent_id is null;
comment on view nightdesk.batch_progress is 'One row a batch: counts by state, which add up to the total.';
comment on column nightdesk.batch_progress.batch_id is 'Id of the batch.';
comment on column nightdesk.batch_progress.batch is 'Name of the batch.';
comment on column nightdesk.batch_progress.state is 'loading, queued, running, held, completed, cancelled or expired.';
comment on column nightdesk.batch_progress.hold_reason is 'Why it is held: paused, approvals, window, budget or host.';
comment on column nightdesk.batch_progress.total is 'Jobs in the batch; the sum of the states.';
comment on column nightdesk.batch_progress.queued is 'Jobs that wait.';
comment on column nightdesk.batch_progress.running is 'Jobs in hand.';
comment on column nightdesk.batch_progress.parked is 'Jobs that wait for a host that is down or busy, or for a person.';
comment on column nightdesk.batch_progress.succeeded is 'Jobs with an answer.';
comment on column nightdesk.batch_progress.refused is 'Jobs with a typed refusal: a correct result.';
comment on column nightdesk.batch_progress.failed is 'Jobs ended by a fault of the machinery.';
comment on column nightdesk.batch_progress.cancelled is 'Jobs that somebody cancelled.';
comment on column nightdesk.batch_progress.expired is 'Jobs whose deadline passed.';
comment on column nightdesk.batch_progress.created_at is 'When the batch was created.';
comment on column nightdesk.batch_progress.finished_at is 'When its last job ended.';
comment on column nightdesk.batch_progress.hold_until is 'When it goes on by itself, if that is known.';
comment on column nightdesk.batch_progress.deadline_at is 'When what has not finished expires.';
comment on column nightdesk.batch_progress.pinned is 'always or until_exported: retention leaves it alone till then; null: it may be deleted for its age.';
comment on column nightdesk.batch_progress.output_bytes is
  'Bytes of what tools gave that are kept for its jobs; tools.limits.batch_artifact_mb is the most.';
comment on column nightdesk.batch_progress.outputs_cut is 'Outputs of which head and tail alone were kept, for want of room.';

create view nightdesk.batch_holds as
select h.batch_id, b.name as batch, h.reason, h.detail, h.began_at, h.ended_at, h.times,
       (extract(epoch from h.held + case when h.ended_at is null then greatest('0', clock_timestamp() - h.since) else '0' end)
         * 1000)::bigint as held_ms
  from nightdesk_data.hold_history h
  join nightdesk_data.batches b using (batch_id);
comment on view nightdesk.batch_holds is
  'One row a span in which a batch was held: what comes again for the same reason within a minute is one span.';
comment on column nightdesk.batch_holds.batch_id is 'Id of the batch.';
comment on column nightdesk.batch_holds.batch is 'Name of the batch.';
comment on column nightdesk.batch_holds.reason is 'paused, approvals, window, budget or host.';
comment on column nightdesk.batch_holds.detail is
  'The host that was down, the windows, or what was used up, like calls of the batch; null where it is not known, and for paused.';
comment on column nightdesk.batch_holds.began_at is 'When it was first held.';
comment on column nightdesk.batch_holds.ended_at is 'When it last went on, or was held for another reason, or ended; null while it is held.';
comment on column nightdesk.batch_holds.times is 'How often it was held in this span.';
comment on column nightdesk.batch_holds.held_ms is 'Milliseconds for which it was held, without those between the times. Those of a batch add up.';

-- The calls that were made, each with the stage of its answer. What was taken over from earlier ones costs nothing.
create view nightdesk_data.staged_calls as
select m.job_id, m.run_id, j.kind, j.batch_id, m.model, m.prompt_tokens, m.completion_tokens, m.duration_ms,
       case when j.kind = 'check' then 'check' when m.pass in ('decompose', 'audit', 'grade') then m.pass
            when m.prompt->'violations' ?| array['CHECK_CONTRADICTS', 'CHECK_UNKNOWN', 'AUDITOR_CORRECTS'] then 'revise'
            else 'draft' end as stage
  from nightdesk_data.model_calls m
  join nightdesk_data.jobs j using (job_id)
 where m.cached_from is null;

create view nightdesk.throughput as
with ended as (
  select date_trunc('hour', r.finished_at) as hour, j.kind, coalesce(r.model_second, r.model_first) as model,
         r.state in ('succeeded', 'refused', 'failed', 'drafted') as is_counted, r.*
    from nightdesk_data.runs r
    join nightdesk_data.jobs j using (job_id)
   where r.finished_at is not null and j.kind <> 'notify'),
by_stage as (
  select e.hour, e.kind, e.model, c.stage, count(*) as calls, sum(c.prompt_tokens + c.completion_tokens) as tokens,
         sum(c.duration_ms) as model_ms
    from ended e join nightdesk_data.staged_calls c using (run_id)
   group by 1, 2, 3, 4),
staged as (
  select hour, kind, model, sum(calls)::bigint as calls,
         jsonb_object_agg(stage, jsonb_build_object('calls', calls, 'tokens', tokens, 'model_ms', round(model_ms))) as stages
    from by_stage group by 1, 2, 3)
select e.hour, e.kind, e.model, e.jobs, e.prompt_tokens, e.completion_tokens, e.run_ms_p50, e.run_ms_p95,
       coalesce(s.calls, 0) as calls, coalesce(s.stages, '{}') as stages
  from (select hour, kind, model, count(*) filter (where is_counted and state <> 'drafted') as jobs,
               coalesce(sum(prompt_tokens) filter (where is_counted), 0)::bigint as prompt_tokens,
               coalesce(sum(completion_tokens) filter (where is_counted), 0)::bigint as completion_tokens,
               percentile_cont(0.5) within group (order by run_ms) filter (where is_counted) as run_ms_p50,
               percentile_cont(0.95) within group (order by run_ms) filter (where is_counted) as run_ms_p95,
               bool_or(is_counted) as is_counted
          from ended group by 1, 2, 3) e
  left join staged s on s.hour = e.hour and s.kind = e.kind and s.model is not distinct from e.model
 where e.is_counted or s.calls > 0;
comment on view nightdesk.throughput is 'Work done by hour, kind and model.';
comment on column nightdesk.throughput.hour is 'Start of the hour in which the runs ended.';
comment on column nightdesk.throughput.kind is 'Kind of the jobs.';
comment on column nightdesk.throughput.model is 'Model that answered; null where none was asked.';
comment on column nightdesk.throughput.jobs is 'Runs that came to an end; what drafts have cost that wait for their checks is in the sums.';
comment on column nightdesk.throughput.prompt_tokens is 'Tokens of their prompts.';
comment on column nightdesk.throughput.completion_tokens is 'Tokens of their replies.';
comment on column nightdesk.throughput.run_ms_p50 is 'Median milliseconds of a run.';
comment on column nightdesk.throughput.run_ms_p95 is '95th percentile of the same.';
comment on column nightdesk.throughput.calls is 'Calls of models, of runs that were parked, escalated or handed back as well.';
comment on column nightdesk.throughput.stages is 'The same by stage (draft, grade, decompose, check, audit, revise), as JSON: calls, tokens and model_ms of each.';

create view nightdesk.documents as
select d.source, d.path, d.sha256, d.bytes, d.chars,
       (select count(*) from nightdesk_data.chunks c where c.doc_id = d.doc_id) as chunks,
       d.metadata_state, d.metadata, d.indexed_at, d.language, d.metadata_problem, d.extractor,
       coalesce(d.day, (to_timestamp(d.mtime_ns / 1e9) at time zone 'UTC')::date) as day,
       coalesce(d.day_until, (to_timestamp(d.mtime_ns / 1e9) at time zone 'UTC')::date) as day_until,
       coalesce(d.day_source, 'file_time') as day_source, d.dates, d.mail, d.attachments, d.secrets,
       d.left_out, exists (select from nightdesk_data.contents c where c.sha256 = d.sha256) as is_kept,
       case when d.is_over_quota then 'STORE_FULL' end as not_kept_code
  from nightdesk_data.documents d;
comment on view nightdesk.documents is 'One row an indexed file, or an attachment of a mail.';
comment on column nightdesk.documents.source is 'Name of the configured source that holds the file.';
comment on column nightdesk.documents.path is 'Path of the file, relative to the work root, as spelled on disk; of an attachment below the path of its mail.';
comment on column nightdesk.documents.sha256 is 'SHA-256 of the bytes of the file when it was indexed; sha256sum confirms it.';
comment on column nightdesk.documents.bytes is 'Size of the file in bytes when it was indexed.';
comment on column nightdesk.documents.chars is 'Size of the file in Unicode code points, a byte order mark included.';
comment on column nightdesk.documents.chunks is 'How many chunks the file was cut into; 0 for an empty file.';
comment on column nightdesk.documents.metadata_state is 'absent: no frontmatter. unknown: frontmatter that can not be read as a mapping. present: read.';
comment on column nightdesk.documents.metadata is 'The frontmatter as JSON; null unless metadata_state is present.';
comment on column nightdesk.documents.indexed_at is 'When the chunks of the file were last written.';
comment on column nightdesk.documents.language is 'Text search configuration that the words of the file were indexed with.';
comment on column nightdesk.documents.metadata_problem is 'Why the frontmatter can''t be read; null unless metadata_state is unknown.';
comment on column nightdesk.documents.day is 'First day that the document is of: what --since and --until go by.';
comment on column nightdesk.documents.day_until is 'Last day that it is of: of a month or a year its end; the same as day where a day is named.';
comment on column nightdesk.documents.day_source is 'Where that date stands: frontmatter, mail_header, html_meta, file_name, text, properties, or file_time where nothing says one and it is the last change of the file (UTC).';
comment on column nightdesk.documents.dates is 'All dates that were found, the most trusted first, as JSON: source and date.';
comment on column nightdesk.documents.extractor is 'What made text of the bytes of the file, with its version; utf-8 for a text file.';
comment on column nightdesk.documents.mail is 'Of an attachment the path of the file of its mail or mailbox; null for a file.';
comment on column nightdesk.documents.attachments is 'How many of the files that a mail holds are of formats that are read, as documents of their own; those of mails in it are counted there.';
comment on column nightdesk.documents.secrets is 'Kinds of keys and tokens that its text holds: aws_key, gcp_key, github_token, jwt, private_key; empty where none was found.';
comment on column nightdesk.documents.is_kept is 'Whether the database holds its bytes, so that workers without the files can read it, or its text, as documents.keep says.';
comment on column nightdesk.documents.not_kept_code is 'STORE_FULL where its bytes were to be kept and would have gone over documents.quota; else null.';
comment on column nightdesk.documents.left_out is 'What a person would see in the file and its text does not hold, as JSON: how many of each kind, such as pictures or hidden sheets; {} where nothing is known to be left out.';

create view nightdesk.watched_files as
select w.source, w.path, m.path as mail, w.sha256, w.bytes, w.seen_at, w.job_id, j.batch_id, j.state, w.label, w.label_job_id,
       l.state as label_state, w.label_problem, w.moved_to, w.move_problem
  from nightdesk_data.watched_files w
  left join nightdesk_data.jobs j using (job_id)
  left join nightdesk_data.jobs l on l.job_id = w.label_job_id
  left join nightdesk_data.watched_files m on m.source = w.source and m.sha256 = w.mail_sha256;
comment on view nightdesk.watched_files is 'One row a file of a watched folder, or an attachment that a rule may be for, by what it holds.';
comment on column nightdesk.watched_files.mail is 'Of an attachment the path of the file of its mail; null for a file.';
comment on column nightdesk.watched_files.source is 'Name of the configured source that is watched.';
comment on column nightdesk.watched_files.path is 'Where it was found, relative to the work root.';
comment on column nightdesk.watched_files.sha256 is 'SHA-256 of its bytes: a file of the same bytes is not queued again.';
comment on column nightdesk.watched_files.bytes is 'Its size in bytes.';
comment on column nightdesk.watched_files.seen_at is 'When it was taken.';
comment on column nightdesk.watched_files.job_id is 'The job that a rule made of it; null where no rule is for it, or the job was deleted.';
comment on column nightdesk.watched_files.batch_id is 'Batch of that job.';
comment on column nightdesk.watched_files.state is 'State of that job.';
comment on column nightdesk.watched_files.label is 'What its newest classification gave when the rules for labels were last asked; null where it has none.';
comment on column nightdesk.watched_files.label_job_id is 'The job that a rule for its label made of it, or a rule for files without one; null where there is none, or the job was deleted.';
comment on column nightdesk.watched_files.label_state is 'State of that job.';
comment on column nightdesk.watched_files.label_problem is 'Why the rules for labels passed it over; null where they did not.';
comment on column nightdesk.watched_files.moved_to is 'Where it was moved to by its rule; null where it lies where it was found.';
comment on column nightdesk.watched_files.move_problem is 'Why it could not be moved; null where it could, or is not to be.';

create view nightdesk.watches as
select source, looked_at, files, restless, problem from nightdesk_data.watches;
comment on view nightdesk.watches is 'One row a watched folder: the last look of a worker at it.';
comment on column nightdesk.watches.source is 'Name of the configured source.';
comment on column nightdesk.watches.looked_at is 'When a worker last looked.';
comment on column nightdesk.watches.files is 'Files that lay there.';
comment on column nightdesk.watches.restless is 'Of them, those that were written too lately to be taken.';
comment on column nightdesk.watches.problem is 'Why it could not be looked at; null where it could.';

create view nightdesk.chunks as
select c.chunk_key, d.source, d.path, c.ordinal, c.heading_path, c.start_char, c.end_char, c.line_start, c.line_end,
       c.text,
       array(select distinct e.model from nightdesk_data.embeddings e where e.chunk_id = c.chunk_id order by e.model)
         as embedded_models,
       c.locator
  from nightdesk_data.chunks c
  join nightdesk_data.documents d using (doc_id);
comment on view nightdesk.chunks is 'One row a chunk: an exact slice of an indexed file.';
comment on column nightdesk.chunks.chunk_key is 'Key that citations name: the same while source, path, headings and text stay the same.';
comment on column nightdesk.chunks.source is 'Name of the configured source that holds the file.';
comment on column nightdesk.chunks.path is 'Path of the file, relative to the work root, as spelled on disk.';
comment on column nightdesk.chunks.ordinal is 'Place of the chunk in its file, from 0.';
comment on column nightdesk.chunks.heading_path is 'Headings that the chunk stands under, from the outermost, joined by " > "; null when there is none.';
comment on column nightdesk.chunks.start_char is 'Offset of the first character in the file, in code points from 0.';
comment on column nightdesk.chunks.end_char is 'Offset after the last character in the file, in code points.';
comment on column nightdesk.chunks.line_start is 'First line of the chunk in the file, from 1.';
comment on column nightdesk.chunks.line_end is 'Last line of the chunk in the file, from 1, itself included.';
comment on column nightdesk.chunks.text is 'The slice of the file, character for character.';
comment on column nightdesk.chunks.embedded_models is 'Models that a vector of the chunk is stored for, in order.';
comment on column nightdesk.chunks.locator is 'Where in the file the chunk begins, as JSON: page, sheet and row (with last_row, that of its last line, and row_breaks, pairs of a line from 0 and its row, where its lines are not the rows one by one), message, or the pointer of a JSON or YAML file; null where its lines say it.';
comment on column nightdesk.evidence.title is 'Of a web page: what it calls itself; null where it does not, and for anything else.';
comment on column nightdesk.evidence.retrieved_at is 'Of a web page: when it was fetched; null for anything else.';

create view nightdesk.memory as
select memory_id, type, source, content, chunk_keys,
       (select coalesce(array_agg(key order by key), '{}') from unnest(m.chunk_keys) as named (key)
         where not exists (select from nightdesk_data.chunks c where c.chunk_key = named.key)) as dangling_keys,
       created_at
  from nightdesk_data.memory m;
comment on view nightdesk.memory is 'One row a durable note.';
comment on column nightdesk.memory.memory_id is 'Id of the note.';
comment on column nightdesk.memory.type is 'preference, project_state, constraint, workflow_rule or user_fact.';
comment on column nightdesk.memory.source is 'manual, or derived_from_evidence.';
comment on column nightdesk.memory.content is 'The note.';
comment on column nightdesk.memory.chunk_keys is 'Passages of the index that it rests on.';
comment on column nightdesk.memory.dangling_keys is 'Those of them that are no longer in the index.';
comment on column nightdesk.memory.created_at is 'When it was written.';

create view nightdesk.hosts as
select h.host, h.provider, h.capacity, h.capacity_reason,
       -- Not has_its_job: a function in a view runs with the rights of who asks, who has none on the tables.
       (select count(*) from nightdesk_data.host_slots s join nightdesk_data.jobs j using (run_id)
         where s.host = h.host and j.state = 'running' and j.lease_until > clock_timestamp()) as in_use,
       (select count(*) from nightdesk_data.host_waiters w join nightdesk_data.jobs j using (run_id)
         where w.host = h.host and j.state = 'running' and j.lease_until > clock_timestamp()) as waiting,
       h.state, h.failures, h.error_code, h.error_message, h.failed_at, h.opened_at, h.next_probe_at as next_try_at,
       h.name, h.priority, h.requests_per_minute, h.tokens_per_minute,
       nullif(greatest(h.paused_until, case when h.provider <> 'web' then h.next_call_at end, h.tokens_free_at, now()), now())
         as next_call_at
  from nightdesk_data.hosts h;
comment on view nightdesk.hosts is 'One row a model host, or a host of the web: how many calls it gets at once, and whether it answers.';
comment on column nightdesk.hosts.host is 'Base URL, scheme://host[:port][/path]; web pages for all of them together.';
comment on column nightdesk.hosts.provider is 'ollama or openai-compatible; transformers for the models in processes of the workers, which only budgets count; web for a search provider and for pages.';
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

comment on column nightdesk.hosts.name is 'Of the list hosts of the configuration; null for one that is not in it.';
comment on column nightdesk.hosts.priority is 'Lower comes first; hosts with the same one share the work.';
comment on column nightdesk.hosts.requests_per_minute is 'Calls that may begin in a minute, of all workers together; null: no limit.';
comment on column nightdesk.hosts.tokens_per_minute is 'Tokens that calls may read and write in a minute; null: no limit.';
comment on column nightdesk.hosts.next_call_at is 'When the next call may begin, for its limits or because it asked for a pause; null: now.';

create view nightdesk.host_nights as
select n.host, h.name, n.night, n.calls, n.tokens, n.money
  from nightdesk_data.host_nights n join nightdesk_data.hosts h using (host);
comment on view nightdesk.host_nights is 'What calls of the hosts of the configuration''s list have cost: one row a host and a night.';
comment on column nightdesk.host_nights.host is 'Base URL, scheme://host[:port][/path].';
comment on column nightdesk.host_nights.name is 'Of the list hosts of the configuration.';
comment on column nightdesk.host_nights.night is 'The day on whose evening the night begins.';
comment on column nightdesk.host_nights.calls is 'Calls that have ended.';
comment on column nightdesk.host_nights.tokens is 'Tokens that were read and written, as the host reports them.';
comment on column nightdesk.host_nights.money is 'What they cost by the prices of the configuration, in its currency.';

create view nightdesk.host_models as
select host, model, digest, server_version, window_tokens, features, seen_at from nightdesk_data.host_models;
comment on view nightdesk.host_models is 'What a model host was found to have: one row a host and a model that was asked for.';
comment on column nightdesk.host_models.host is 'Base URL, scheme://host[:port][/path].';
comment on column nightdesk.host_models.model is 'Name that the model has there.';
comment on column nightdesk.host_models.digest is 'SHA-256 of its weights as the host reports it; null where it reports none.';
comment on column nightdesk.host_models.server_version is 'Version of the server; null where it tells none.';
comment on column nightdesk.host_models.window_tokens is 'Tokens that prompt and reply share; null where nobody knows.';
comment on column nightdesk.host_models.features is 'What it can do, as JSON: tools (native, schema or text), counts_tokens (chat, tokenize or none), ignores_schemas.';
comment on column nightdesk.host_models.seen_at is 'When a worker last looked.';

create view nightdesk.ocr_pages as
select p.sha256, p.page, d.path, p.record is not null as is_read, p.unreadable, (p.record->>'confidence')::real as confidence,
       (p.record->>'leftInk')::real as left_ink, f.words, f.by_two, f.by_one, f.doubtful, (p.record->>'turned')::int as turned,
       p.record->>'engine' as engine, p.settings, p.read_at, p.job_id, p.record
  from nightdesk_data.ocr_pages p
  left join lateral (
    select count(*) as words, count(*) filter (where word->>'figure' = 'two') as by_two,
           count(*) filter (where word->>'figure' = 'one') as by_one,
           count(*) filter (where word->>'figure' = 'doubtful') as doubtful
      from jsonb_path_query(p.record, '$.lines[*].words[*]') word) f on p.record is not null
  left join lateral (select path from nightdesk_data.documents where sha256 = p.sha256 order by path limit 1) d on true;
comment on view nightdesk.ocr_pages is 'What was read of the pictures of pages: one row a page of a file, and settings it was read with.';
comment on column nightdesk.ocr_pages.sha256 is 'SHA-256 of the file.';
comment on column nightdesk.ocr_pages.page is 'From 1: page of a PDF, frame of a TIFF.';
comment on column nightdesk.ocr_pages.path is 'A document of these bytes; null while there is none.';
comment on column nightdesk.ocr_pages.is_read is 'false where the picture could not be read.';
comment on column nightdesk.ocr_pages.unreadable is 'Why not; null where it was.';
comment on column nightdesk.ocr_pages.confidence is 'Mean of its words by the engine, 0 to 100.';
comment on column nightdesk.ocr_pages.left_ink is 'Share of the shapes of letters that lie in no word, 0 to 1: above 0.05 words are missing.';
comment on column nightdesk.ocr_pages.words is 'How many words.';
comment on column nightdesk.ocr_pages.by_two is 'Figures that two models read alike.';
comment on column nightdesk.ocr_pages.by_one is 'Figures that one of them read, or that only one was asked of.';
comment on column nightdesk.ocr_pages.doubtful is 'Figures of which neither was sure.';
comment on column nightdesk.ocr_pages.turned is 'Degrees, clockwise, that the page was turned by before it was read.';
comment on column nightdesk.ocr_pages.engine is 'Engine and models.';
comment on column nightdesk.ocr_pages.settings is 'Fingerprint of index.ocr.';
comment on column nightdesk.ocr_pages.read_at is 'When it was read.';
comment on column nightdesk.ocr_pages.job_id is 'The job that read it.';
comment on column nightdesk.ocr_pages.record is 'Words with their boxes in pixels, as JSON.';

create view nightdesk.doubtful_figures as
select left(p.sha256, 8) || '.' || p.page || '.' || (f.box->>0) || '.' || (f.box->>1) as figure, d.path, p.page, f.first_read,
       f.second_read, f.confidence, f.certainty, c.chosen, c.chosen_by, c.chosen_at, f.box, p.sha256
  from (select distinct on (sha256, page) sha256, page, record from nightdesk_data.ocr_pages
         where record is not null order by sha256, page, read_at desc) p
  cross join lateral (
    select w.box, string_agg(w.word->>'text', ' ' order by w.n) as first_read, max(w.word->>'other') as second_read,
           min((w.word->>'confidence')::real) as confidence,
           case when bool_or(w.word->>'figure' = 'doubtful') then 'doubtful' else 'by_one' end as certainty
      from (select word, n, coalesce(word->'place', word->'box') as box
              from jsonb_path_query(p.record, '$.lines[*].words[*]') with ordinality found (word, n)) w
     group by w.box having bool_or(w.word->>'figure' in ('one', 'doubtful'))) f
  left join lateral (select path from nightdesk_data.documents where sha256 = p.sha256 order by path limit 1) d on true
  left join lateral (
    select chosen, chosen_by, chosen_at from nightdesk_data.ocr_choices c
     where c.sha256 = p.sha256 and c.page = p.page
       and ((f.box->>0)::real + (f.box->>2)::real) / 2 between (c.box->>0)::real and (c.box->>2)::real
       and ((f.box->>1)::real + (f.box->>3)::real) / 2 between (c.box->>1)::real and (c.box->>3)::real
     order by chosen_at desc limit 1) c on true;
comment on view nightdesk.doubtful_figures is 'Figures in pictures of pages that two models did not read alike, or were not sure of, by the last reading of each page.';
comment on column nightdesk.doubtful_figures.figure is 'Its name: of the file, the page and the place.';
comment on column nightdesk.doubtful_figures.path is 'A document of these bytes; null while there is none.';
comment on column nightdesk.doubtful_figures.page is 'From 1: page of a PDF, frame of a TIFF.';
comment on column nightdesk.doubtful_figures.first_read is 'What the first model read.';
comment on column nightdesk.doubtful_figures.second_read is 'What the second model read, where that is something else.';
comment on column nightdesk.doubtful_figures.confidence is 'Of the engine, 0 to 100.';
comment on column nightdesk.doubtful_figures.certainty is 'by_one: one of the two models read it, or only one was asked. doubtful: neither was sure, or they read different things.';
comment on column nightdesk.doubtful_figures.chosen is 'What a person read; null where nobody was asked.';
comment on column nightdesk.doubtful_figures.chosen_by is 'Who that was.';
comment on column nightdesk.doubtful_figures.chosen_at is 'When.';
comment on column nightdesk.doubtful_figures.box is 'Left, top, right and bottom in pixels of the picture as it was read, as JSON.';
comment on column nightdesk.doubtful_figures.sha256 is 'SHA-256 of the file.';

create view nightdesk.remote_files as
select f.source, f.remote_id as name, f.path, f.fate, f.reason, f.origin, f.version, f.bytes, f.sha256, f.fetched_at, f.listed_version,
       f.listed_bytes, f.changed_at, s.kind, s.address, s.listed_at, f.description
  from nightdesk_data.remote_files f join nightdesk_data.remote_sources s using (source);
comment on view nightdesk.remote_files is 'Files of places that sources mirror: one row a file, as it was listed last and as it was fetched.';
comment on column nightdesk.remote_files.source is 'Name of the source.';
comment on column nightdesk.remote_files.name is 'What the place calls it: folders and name, percent-encoded.';
comment on column nightdesk.remote_files.path is 'Where it lies here, relative to the work root; null before it was fetched.';
comment on column nightdesk.remote_files.fate is 'What the last sync did: fetched; unchanged; skipped; waiting: left to the next run; deleted; held: gone there, and kept here until somebody accepts the deletion.';
comment on column nightdesk.remote_files.reason is 'Why it was skipped or is held.';
comment on column nightdesk.remote_files.origin is 'URL of the version that was fetched.';
comment on column nightdesk.remote_files.version is 'What the place called that version: of WebDAV its ETag, or size and time, of a mail UIDVALIDITY and UID, of paperless the time of its last change.';
comment on column nightdesk.remote_files.bytes is 'Of what lies here.';
comment on column nightdesk.remote_files.sha256 is 'SHA-256 of what lies here.';
comment on column nightdesk.remote_files.fetched_at is 'When it was fetched.';
comment on column nightdesk.remote_files.listed_version is 'The version that the last listing named.';
comment on column nightdesk.remote_files.listed_bytes is 'Its size by the last listing; null where that does not say.';
comment on column nightdesk.remote_files.changed_at is 'When its fate changed, or it was fetched.';
comment on column nightdesk.remote_files.kind is 'Kind of the place: webdav, imap, s3 or paperless.';
comment on column nightdesk.remote_files.address is 'Address of the place, without user and secret.';
comment on column nightdesk.remote_files.listed_at is 'When the place was last listed to its end.';
comment on column nightdesk.remote_files.description is 'What the place says of it, as JSON: of paperless title, correspondent, document_type, tags, created, added and custom_fields; null of any other.';

create view nightdesk.write_backs as
select w.write_id, w.batch_id, b.name as batch, w.job_id, j.custom_id, w.source, w.remote_id, f.path, w.kind, w.name, w.pointer, w.value,
       w.state, w.reason, w.before, w.after, w.sha256, w.noted_at, w.written_at, w.undone_at,
       case when w.is_waiting then 'waiting' else w.decision end as review, w.asked_at, w.correction, w.decision_reason, w.decided_by,
       w.decided_at
  from nightdesk_data.write_backs w
  join nightdesk_data.batches b using (batch_id)
  join nightdesk_data.jobs j using (job_id)
  left join nightdesk_data.remote_files f on f.source = w.source and f.remote_id = w.remote_id;
comment on view nightdesk.write_backs is 'Values of extractions that nightdesk write-back wrote to the place of their file, or withheld: one row a thing of a document.';
comment on column nightdesk.write_backs.write_id is 'Number of the row.';
comment on column nightdesk.write_backs.batch_id is 'Id of the batch.';
comment on column nightdesk.write_backs.batch is 'Name of the batch.';
comment on column nightdesk.write_backs.job_id is 'Id of the job.';
comment on column nightdesk.write_backs.custom_id is 'The job''s custom_id.';
comment on column nightdesk.write_backs.source is 'Name of the source.';
comment on column nightdesk.write_backs.remote_id is 'What the place calls the file: of paperless the number of the document and the ending of its original.';
comment on column nightdesk.write_backs.path is 'Where the file lies here, relative to the work root; null once it is in no mirror.';
comment on column nightdesk.write_backs.kind is 'correspondent, document_type, tag or custom_field.';
comment on column nightdesk.write_backs.name is 'Name of the tag or custom field; of the others correspondent or document_type.';
comment on column nightdesk.write_backs.pointer is 'Where the value stands in the fields: a JSON pointer such as /amount, as in field_bindings.';
comment on column nightdesk.write_backs.value is 'The value of the extraction as JSON.';
comment on column nightdesk.write_backs.state is 'withheld: not written. intended: about to be written, or sent and not seen there yet; the next write-back looks. written. undone: it is again as it was. kept: not undone, because somebody has changed it since.';
comment on column nightdesk.write_backs.reason is 'Why it was withheld or kept.';
comment on column nightdesk.write_backs.before is 'What stood there, as JSON: of a correspondent, type or tag id and name, of a custom field value; null where nothing did.';
comment on column nightdesk.write_backs.after is 'What was written, in the same form.';
comment on column nightdesk.write_backs.sha256 is 'SHA-256 of the file that the value was read from.';
comment on column nightdesk.write_backs.noted_at is 'When a write-back of the batch last came to its end, or changed the row.';
comment on column nightdesk.write_backs.written_at is 'When it was seen there.';
comment on column nightdesk.write_backs.undone_at is 'When it was undone, or found changed when it was to be.';
comment on column nightdesk.write_backs.review is 'waiting: a person is asked about the value. accepted or corrected: the next write-back writes it. rejected: it is never written. Null where nobody was asked.';
comment on column nightdesk.write_backs.asked_at is 'Since when a person is, or was, asked.';
comment on column nightdesk.write_backs.correction is 'What the person wants written instead; null unless corrected.';
comment on column nightdesk.write_backs.decision_reason is 'What the person said beside the decision.';
comment on column nightdesk.write_backs.decided_by is 'Who decided.';
comment on column nightdesk.write_backs.decided_at is 'When.';

create view nightdesk.exams as
select model, form, case when dismissed_at is not null then 'dismissed' else state end as state, wrong_asked, wrong_confirmed,
       right_asked, right_confirmed, yes_from, calls, parts, own, examined_at, controls, dismissed_at, identity, prompt, exam, job_id
  from nightdesk_data.exams;
comment on view nightdesk.exams is 'What judges of statements are worth: one row a model and form that was examined.';
comment on column nightdesk.exams.model is 'Name of the model.';
comment on column nightdesk.exams.form is 'How it is asked: list, yes_no or nli.';
comment on column nightdesk.exams.state is 'passed: its yes counts. weak, failed, useless (it confirms under 60 % of right statements) and dismissed (its controls took its word): it is not asked.';
comment on column nightdesk.exams.wrong_asked is 'Wrong statements that it was asked of.';
comment on column nightdesk.exams.wrong_confirmed is 'Of these those that it called right.';
comment on column nightdesk.exams.right_asked is 'Right statements that it was asked of.';
comment on column nightdesk.exams.right_confirmed is 'Of these those that it called right.';
comment on column nightdesk.exams.yes_from is 'Of form nli: from which score on it confirms a statement, as the exam found it. Null of the others.';
comment on column nightdesk.exams.calls is 'Calls that the exam took.';
comment on column nightdesk.exams.parts is 'The same by kind of statement and language, as JSON: kind, language, is_wrong, asked, confirmed.';
comment on column nightdesk.exams.own is 'What it confirmed of statements over your own documents, as JSON: by machine (sentences that were changed in one place, or left) and by person (what people rejected or accepted) wrong and right, in each asked and confirmed. Null where nobody asked (nightdesk models examine --own). It decides nothing.';
comment on column nightdesk.exams.examined_at is 'When the exam ended.';
comment on column nightdesk.exams.controls is 'Control statements of later calls that it was asked of.';
comment on column nightdesk.exams.dismissed_at is 'Since when its word does not count, because of what it said of controls; null while it does.';
comment on column nightdesk.exams.identity is 'Digest of its weights, or of host, name and version where its host reports none.';
comment on column nightdesk.exams.prompt is 'Version of what it is asked.';
comment on column nightdesk.exams.exam is 'Version of the statements of the exam.';
comment on column nightdesk.exams.job_id is 'The job that examined it.';

create view nightdesk.budgets as
select 'batch' as scope, b.batch_id, b.name as batch, null::date as night, u.tokens_limit, u.tokens_used, u.tokens_reserved,
       u.calls_limit, u.calls_used, u.calls_reserved, u.seconds_limit, u.seconds_used, u.refused_at is not null as is_used_up,
       u.money_limit, u.money_used, u.money_reserved
  from nightdesk_data.batch_budgets u join nightdesk_data.batches b using (batch_id)
 union all
select 'night', null, null, n.night, n.tokens_limit, n.tokens_used, n.tokens_reserved, n.calls_limit, n.calls_used,
       n.calls_reserved, n.seconds_limit, n.seconds_used,
       n.tokens_used >= n.tokens_limit is true or n.calls_used >= n.calls_limit is true
         or n.seconds_used >= n.seconds_limit is true or n.money_used >= n.money_limit is true,
       n.money_limit, n.money_used, n.money_reserved
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
comment on column nightdesk.budgets.money_limit is 'Money that may be spent, by the prices of hosts; null: no limit.';
comment on column nightdesk.budgets.money_used is 'What calls have cost, by the prices of hosts.';
comment on column nightdesk.budgets.money_reserved is 'What calls in flight may cost.';
comment on column nightdesk.budgets.is_used_up is 'Of a batch: a call was refused, and it is held. Of a night: a limit is reached.';

create view nightdesk.workers as
select worker_id, host, pid, version, concurrency, started_at, heartbeat_at,
       heartbeat_at > clock_timestamp() - interval '15 seconds' as is_alive, config_file,
       array(select a.key from nightdesk_data.applied_config a
              where a.sha256 <> w.shared_config ->> a.key order by a.key collate "C") as differs_in, documents_from
  from nightdesk_data.workers w;
comment on view nightdesk.workers is 'One row a worker that did not say goodbye.';
comment on column nightdesk.workers.worker_id is 'Id of the worker; another at each start.';
comment on column nightdesk.workers.host is 'Name of its machine.';
comment on column nightdesk.workers.pid is 'Its process on that machine.';
comment on column nightdesk.workers.version is 'Its version.';
comment on column nightdesk.workers.concurrency is 'Jobs that it runs at once, at most.';
comment on column nightdesk.workers.started_at is 'When it started.';
comment on column nightdesk.workers.heartbeat_at is 'When it last said that it is alive; every 5 s.';
comment on column nightdesk.workers.is_alive is 'Whether that was in the last 15 s.';
comment on column nightdesk.workers.config_file is 'Configuration that it read when it started, on its machine.';
comment on column nightdesk.workers.documents_from is 'files, or store for a worker that reads documents from the database and takes no jobs that need files.';
comment on column nightdesk.workers.differs_in is
  'Keys of its configuration that hold for all workers and differ from what is in force; empty: it agrees.';

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
select j.seq as call_id, b.batch_id, b.name as batch, j.input->>'event' as event, j.input->>'target' as target,
       case when j.finished_at is null then 'pending' when j.state <> 'succeeded' then 'failed'
            when r.summary->>'end' = 'superseded' then 'superseded' else 'done' end as state,
       j.attempt as tries,
       (select (e.detail->>'status')::integer from nightdesk_data.runs tried join nightdesk_data.run_events e using (run_id)
         where tried.job_id = j.job_id and e.step = 'notify' order by tried.started_at desc limit 1) as status,
       j.error_message as error, (j.input->>'at')::timestamptz as happened_at, j.due_at, j.finished_at as ended_at
  from nightdesk_data.batches s
  join nightdesk_data.batches b on b.batch_id = s.parent_id
  join nightdesk_data.jobs j on j.batch_id = s.batch_id
  left join nightdesk_data.runs r on r.run_id = j.run_id
 where s.origin = 'system';
comment on view nightdesk.hooks is 'One row a command or webhook that is told of the end of a batch, or that it waits for a person, and one a write-back that its end starts.';
comment on column nightdesk.hooks.call_id is 'Number of the call.';
comment on column nightdesk.hooks.batch_id is 'Id of the batch.';
comment on column nightdesk.hooks.batch is 'Name of the batch.';
comment on column nightdesk.hooks.event is 'batch_end, or approval_needed: a job of it waits for a person, told once a batch.';
comment on column nightdesk.hooks.target is 'command, webhook, or write_back: what is written to the sources of its files when the batch ends.';
comment on column nightdesk.hooks.state is 'pending, done, failed or superseded (the batch was opened again, or the person had answered, before it was told).';
comment on column nightdesk.hooks.tries is 'How often it was tried.';
comment on column nightdesk.hooks.status is 'Exit status or HTTP status of the last try; null where it gave none.';
comment on column nightdesk.hooks.error is 'Why the last try failed.';
comment on column nightdesk.hooks.happened_at is 'When the batch ended, or first waited for a person.';
comment on column nightdesk.hooks.due_at is 'When it is tried next; while pending.';
comment on column nightdesk.hooks.ended_at is 'When it came to its end; null while pending.';

create view nightdesk.reviews as
select v.job_id, j.batch_id, b.name as batch, j.custom_id, j.kind, v.run_id, v.state, v.why, v.draft, v.correction, v.facts,
       v.reason, v.requested_at, v.decided_by, v.decided_at
  from nightdesk_data.draft_reviews v
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id;
comment on view nightdesk.reviews is 'One row an answer that a person is asked, or was asked, to accept, correct or reject.';
comment on column nightdesk.reviews.job_id is 'Id of the job.';
comment on column nightdesk.reviews.batch_id is 'Id of its batch.';
comment on column nightdesk.reviews.batch is 'Name of its batch.';
comment on column nightdesk.reviews.custom_id is 'The job''s custom_id.';
comment on column nightdesk.reviews.kind is 'Kind of the job.';
comment on column nightdesk.reviews.run_id is 'The run that wrote the answer: its statements and evidence stand under this id.';
comment on column nightdesk.reviews.state is 'waiting, accepted, corrected or rejected; waiting also where the job has ended otherwise since.';
comment on column nightdesk.reviews.why is 'Why nobody else could settle it.';
comment on column nightdesk.reviews.draft is 'The answer that is looked at.';
comment on column nightdesk.reviews.correction is 'The answer in the person''s own words; null unless corrected.';
comment on column nightdesk.reviews.facts is 'What a right answer holds, as the person said: nightdesk reviews export makes questions for nightdesk eval of it.';
comment on column nightdesk.reviews.reason is 'Why it was rejected, or what was said beside another decision.';
comment on column nightdesk.reviews.requested_at is 'Since when somebody is asked.';
comment on column nightdesk.reviews.decided_by is 'Who decided.';
comment on column nightdesk.reviews.decided_at is 'When.';

create view nightdesk.stage_costs as
select b.batch_id, b.name as batch, c.kind, c.stage, c.model, count(*) as calls, count(distinct c.job_id) as jobs,
       sum(c.prompt_tokens)::bigint as prompt_tokens, sum(c.completion_tokens)::bigint as completion_tokens,
       sum(c.duration_ms) as model_ms
  from nightdesk_data.batches b
  join nightdesk_data.batches own on own.batch_id = b.batch_id or own.parent_id = b.batch_id and own.origin = 'verify'
  join nightdesk_data.staged_calls c on c.batch_id = own.batch_id
 where b.parent_id is null
 group by 1, 2, 3, 4, 5;
comment on view nightdesk.stage_costs is 'What models were asked for a batch, by stage: drafts, and the verification of their answers.';
comment on column nightdesk.stage_costs.batch_id is 'Id of the batch.';
comment on column nightdesk.stage_costs.batch is 'Name of the batch.';
comment on column nightdesk.stage_costs.kind is 'Kind of the jobs; check for the checks of its answers, examine for the exam of their judge.';
comment on column nightdesk.stage_costs.stage is 'draft, grade (a judge is asked of its statements), decompose (which questions to ask), check, audit or revise.';
comment on column nightdesk.stage_costs.model is 'The model that was asked.';
comment on column nightdesk.stage_costs.calls is 'Calls that were made; what was taken over from earlier ones costs nothing.';
comment on column nightdesk.stage_costs.jobs is 'Jobs that they were made for.';
comment on column nightdesk.stage_costs.prompt_tokens is 'Tokens of their prompts.';
comment on column nightdesk.stage_costs.completion_tokens is 'Tokens of their replies.';
comment on column nightdesk.stage_costs.model_ms is 'Milliseconds that they took.';

create view nightdesk.checks as
select c.job_id, j.batch_id, b.name as batch, j.custom_id, c.round, c.ordinal, c.claim, c.question, c.expects, c.how, c.rule,
       c.state, c.detail, c.reason, c.evidence, c.check_job_id, r.run_id as check_run_id, r.prompt_tokens,
       r.completion_tokens, r.run_ms
  from nightdesk_data.checks c
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id
  left join nightdesk_data.jobs q on q.job_id = c.check_job_id
  left join nightdesk_data.runs r on r.run_id = q.run_id;
comment on view nightdesk.checks is 'One row a yes-or-no question about a statement of an answer, settled by a rule or by a job of kind check.';
comment on column nightdesk.checks.job_id is 'Id of the job whose answer is checked.';
comment on column nightdesk.checks.batch_id is 'Id of its batch.';
comment on column nightdesk.checks.batch is 'Name of its batch.';
comment on column nightdesk.checks.custom_id is 'The job''s custom_id.';
comment on column nightdesk.checks.round is '0 for the first draft, 1 for its revision.';
comment on column nightdesk.checks.ordinal is 'Place among the checks of the round, from 0.';
comment on column nightdesk.checks.claim is 'The statement.';
comment on column nightdesk.checks.question is 'What was asked about it.';
comment on column nightdesk.checks.expects is 'yes or no: what the answer is if the statement is right.';
comment on column nightdesk.checks.how is 'rule or model.';
comment on column nightdesk.checks.rule is 'The rule that settled it, or that asked for somebody to look; null where the auditor asked.';
comment on column nightdesk.checks.state is 'open, yes, no or unknown. Another one than expects speaks against the statement.';
comment on column nightdesk.checks.detail is 'What was found, in words.';
comment on column nightdesk.checks.reason is 'Of an unknown one: source_missing, sources_disagree, out_of_budget, stagnated, blocked_by_approval or auditor_failed.';
comment on column nightdesk.checks.evidence is 'Places that it rests on, as a JSON list of path, line_start, line_end and quote.';
comment on column nightdesk.checks.check_job_id is 'The job that looked; null for a rule.';
comment on column nightdesk.checks.check_run_id is 'Its last run: steps, evidence and calls of it stand under this id.';
comment on column nightdesk.checks.prompt_tokens is 'Tokens of the prompts of that run.';
comment on column nightdesk.checks.completion_tokens is 'Tokens of its replies.';
comment on column nightdesk.checks.run_ms is 'Milliseconds that it took.';

create view nightdesk.audits as
select g.job_id, j.batch_id, b.name as batch, j.custom_id, g.round, g.score, g.given, g.caps, g.corrections, g.readable
  from nightdesk_data.audits g
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id;
comment on view nightdesk.audits is 'One row a round of verification: what the auditor made of the checks.';
comment on column nightdesk.audits.job_id is 'Id of the job whose answer is scored.';
comment on column nightdesk.audits.batch_id is 'Id of its batch.';
comment on column nightdesk.audits.batch is 'Name of its batch.';
comment on column nightdesk.audits.custom_id is 'The job''s custom_id.';
comment on column nightdesk.audits.round is '0 for the first draft, 1 for its revision.';
comment on column nightdesk.audits.score is '1 to 4, of which 3 passes; null where no auditor could be had, or read.';
comment on column nightdesk.audits.given is 'The same before caps.';
comment on column nightdesk.audits.caps is 'What keeps the score at 2 or below: unknown_check, contradicted_check, no_coverage, unchecked_doubt, one_source.';
comment on column nightdesk.audits.corrections is 'What the auditor wants changed, as a JSON list of claim, where and change.';
comment on column nightdesk.audits.readable is 'Whether the auditor could be read.';

create view nightdesk.constraints as
select c.constraint_id, c.job_id, j.batch_id, b.name as batch, j.custom_id, c.what, c.needed, c.reason, c.created_at,
       c.resolved_at
  from nightdesk_data.constraints c
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id;
comment on view nightdesk.constraints is 'One row a question that an UNRESOLVED answer leaves open, with what it takes to settle it.';
comment on column nightdesk.constraints.constraint_id is 'Number of the row.';
comment on column nightdesk.constraints.job_id is 'Id of the job.';
comment on column nightdesk.constraints.batch_id is 'Id of its batch.';
comment on column nightdesk.constraints.batch is 'Name of its batch.';
comment on column nightdesk.constraints.custom_id is 'The job''s custom_id.';
comment on column nightdesk.constraints.what is 'What is open.';
comment on column nightdesk.constraints.needed is 'What would settle it.';
comment on column nightdesk.constraints.reason is 'source_missing, sources_disagree, out_of_budget, stagnated, blocked_by_approval or auditor_failed.';
comment on column nightdesk.constraints.created_at is 'Since when.';
comment on column nightdesk.constraints.resolved_at is 'When the job, or one that repeats it, succeeded; null while it is open.';

create view nightdesk.coverage as
select v.job_id, j.batch_id, b.name as batch, j.custom_id, v.round, v.claim, v.set_query, v.members, v.read
  from nightdesk_data.coverage v
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id;
comment on view nightdesk.coverage is 'One row a statement that nothing of a set is so: how many files are in the set, and how many of them were read.';
comment on column nightdesk.coverage.job_id is 'Id of the job.';
comment on column nightdesk.coverage.batch_id is 'Id of its batch.';
comment on column nightdesk.coverage.batch is 'Name of its batch.';
comment on column nightdesk.coverage.custom_id is 'The job''s custom_id.';
comment on column nightdesk.coverage.round is '0 for the first draft, 1 for its revision.';
comment on column nightdesk.coverage.claim is 'The statement.';
comment on column nightdesk.coverage.set_query is 'What the set is: a folder, or names of files in it.';
comment on column nightdesk.coverage.members is 'Files in it.';
comment on column nightdesk.coverage.read is 'Files of it that were read.';

create view nightdesk.moves as
select s.job_id, j.batch_id, b.name as batch, j.custom_id, s.run_id, s.ordinal as step, t.name as tool,
       coalesce(s.detail ->> 'move', 'other') as type, coalesce(jsonb_array_length(s.detail -> 'evidence'), 0) as evidence,
       coalesce((s.detail ->> 'found')::integer, 0) as found, s.started_at as at
  from nightdesk_data.steps s
  join nightdesk_data.tool_calls t on t.job_id = s.job_id and t.step = s.ordinal
  join nightdesk_data.jobs j on j.job_id = s.job_id
  join nightdesk_data.batches b on b.batch_id = j.batch_id
 where s.state <> 'skipped';
comment on view nightdesk.moves is 'One row a call of a tool in an investigation or a check, by what kind of step of a search it was. A call that was lost and made again is there once.';
comment on column nightdesk.moves.job_id is 'Id of the job.';
comment on column nightdesk.moves.batch_id is 'Id of its batch.';
comment on column nightdesk.moves.batch is 'Name of its batch.';
comment on column nightdesk.moves.custom_id is 'The job''s custom_id.';
comment on column nightdesk.moves.run_id is 'Id of the run that made it.';
comment on column nightdesk.moves.step is 'Place among the steps of the job, from 0.';
comment on column nightdesk.moves.tool is 'Name of the tool.';
comment on column nightdesk.moves.type is
  'search, open (a file, a page or an earlier output), compare (values are reckoned with), count (a set is listed), verify (a check opens what its statement rests on), note or other.';
comment on column nightdesk.moves.evidence is 'Pieces of evidence that it gave.';
comment on column nightdesk.moves.found is 'Those of them that no earlier call of the job gave.';
comment on column nightdesk.moves.at is 'When it began.';

create view nightdesk.queries as
select s.job_id, j.batch_id, b.name as batch, j.custom_id, s.ordinal as step, t.name as tool,
       t.args ->> (s.detail ->> 'query_argument') as query, s.detail ->> 'family' as family,
       (s.detail ->> 'novel')::boolean as novel, (s.detail ->> 'hits')::bigint as hits
  from nightdesk_data.steps s
  join nightdesk_data.tool_calls t on t.job_id = s.job_id and t.step = s.ordinal
  join nightdesk_data.jobs j on j.job_id = s.job_id
  join nightdesk_data.batches b on b.batch_id = j.batch_id
 where s.state <> 'skipped' and s.detail ? 'query_argument';
comment on view nightdesk.queries is 'One row a search that an investigation or a check made, of the index, of files or of the web.';
comment on column nightdesk.queries.job_id is 'Id of the job.';
comment on column nightdesk.queries.batch_id is 'Id of its batch.';
comment on column nightdesk.queries.batch is 'Name of its batch.';
comment on column nightdesk.queries.custom_id is 'The job''s custom_id.';
comment on column nightdesk.queries.step is 'Place among the steps of the job, from 0.';
comment on column nightdesk.queries.tool is 'Name of the tool.';
comment on column nightdesk.queries.query is 'The words as the model wrote them.';
comment on column nightdesk.queries.family is
  'Stems of the words that carry its subject, in order of the alphabet, the same for queries that differ in form alone; null where it has no words.';
comment on column nightdesk.queries.novel is 'Whether no earlier query of the job was of this family.';
comment on column nightdesk.queries.hits is
  'Passages, lines or results that the tool counted, those that it did not show among them; null where it gave an error.';

create view nightdesk.operator_actions as
select a.action_id, a.at, a.actor, a.action, a.batch_id, b.name as batch, a.job_id, a.detail, a.outcome, a.said, a.ended_at
  from nightdesk_data.operator_actions a
  left join nightdesk_data.batches b using (batch_id);
comment on view nightdesk.operator_actions is 'One row a change that somebody made on the pages of the dashboard, or about the tokens of programs, and that a program made.';
comment on column nightdesk.operator_actions.action_id is 'Rises with each action.';
comment on column nightdesk.operator_actions.at is 'When it was asked for.';
comment on column nightdesk.operator_actions.actor is
  'The user whom a trusted proxy named, token for one who gave the token, else the user of the system who runs the dashboard or the command; program and the name of its token for a program.';
comment on column nightdesk.operator_actions.action is 'pause, resume, cancel, retry, approve, deny, accept, correct, reject, resolve, choose, start, save-query, remove-query, switch-schedule, run-schedule, create-token, revoke-token, send-file, delete-file, queue, ask or forget.';
comment on column nightdesk.operator_actions.batch_id is 'Batch that it was done to, which may be gone since.';
comment on column nightdesk.operator_actions.batch is 'Name of that batch; null where it is gone.';
comment on column nightdesk.operator_actions.job_id is 'Job that it was done to.';
comment on column nightdesk.operator_actions.detail is 'What was chosen, such as scope, reason or files.';
comment on column nightdesk.operator_actions.outcome is 'begun, done or failed; begun for ever where the dashboard ended in between.';
comment on column nightdesk.operator_actions.said is 'What came of it, in a sentence.';
comment on column nightdesk.operator_actions.ended_at is 'When that was known.';

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

-- Without advisory locks the role of `nightdesk sql` can't fill the table of locks, which all share, and without
-- pg_logical_emit_message it can't write to the server's log of changes, which a read-only transaction allows. PostgreSQL
-- grants both to everybody. Only a superuser can revoke that; where the role that migrates is none, doctor says so, and the
-- statement is refused by its words.
do $$
declare
  called regprocedure;
begin
  for called in
    select oid from pg_proc
     where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_((try_)?advisory_|logical_emit_message$)'
  loop
    execute format('grant execute on function %s to %I', called, current_user);
    execute format('revoke execute on function %s from public', called);
  end loop;
exception when insufficient_privilege then
  null;
end $$;
