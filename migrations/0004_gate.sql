-- What a run needs to be explained, taken up again and repeated: each model call, what the words of an answer were
-- found to be, the parts of long summaries, and the operator's durable notes.

-- Every call of a model, committed as it returns. A later attempt of the job takes the reply to the same request.
create table nightdesk_data.model_calls (
  call_id bigint generated always as identity primary key,
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  -- The run that made it; it may have been lost since.
  run_id uuid not null,
  pass text not null check (pass in ('first', 'second', 'retry', 'chat', 'part')),
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
  done_reason text check (done_reason in ('stop', 'length', 'window')),
  error_code text,
  error_message text,
  prompt_tokens integer not null default 0 check (prompt_tokens >= 0),
  completion_tokens integer not null default 0 check (completion_tokens >= 0),
  load_ms double precision not null default 0 check (load_ms >= 0),
  duration_ms double precision not null check (duration_ms >= 0),
  created_at timestamptz not null default clock_timestamp(),
  unique (job_id, request_sha256),
  constraint calls_have_a_reply_or_a_code check ((reply is null) = (error_code is not null)),
  constraint replies_say_why_they_ended check ((reply is null) = (done_reason is null)),
  constraint call_codes_have_a_message check ((error_code is null) = (error_message is null))
);

-- The calls that a run used, in order: asked by itself, or taken over from an earlier attempt of its job.
create table nightdesk_data.run_calls (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  pass text not null check (pass in ('first', 'second', 'retry', 'chat', 'part')),
  call_id bigint not null references nightdesk_data.model_calls on delete cascade,
  origin text not null check (origin in ('asked', 'reused')),
  primary key (run_id, ordinal)
);
create index run_calls_by_call on nightdesk_data.run_calls (call_id);
drop table nightdesk_data.replies;

alter table nightdesk_data.runs
  add column version text,
  add column config_sha256 text check (config_sha256 ~ '^[0-9a-f]{64}$'),
  add column models jsonb not null default '[]' check (jsonb_typeof(models) = 'array'),
  add column memory_ids uuid[] not null default '{}';

-- The model that will answer, where it is known beforehand. Within a priority of a batch, jobs of one model are worked one
-- after another, so that a host does not load models back and forth.
alter table nightdesk_data.jobs add column affinity text not null default '';
drop index nightdesk_data.jobs_to_dispatch;
create index jobs_to_dispatch on nightdesk_data.jobs (batch_id, priority desc, affinity, seq)
  where state in ('queued', 'parked') and dispatched_at is null;

-- When a step began, counted from the start of its run.
alter table nightdesk_data.run_events add column at_ms double precision not null default 0 check (at_ms >= 0);

-- Spans in quotation marks of an answer, looked up in its evidence.
create table nightdesk_data.quotes (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  quote text not null check (quote <> ''),
  class text not null check (class in ('verbatim', 'normalised', 'misattributed', 'stitched', 'not_found')),
  number integer check (number >= 1),
  path text,
  start_char integer check (start_char >= 0),
  end_char integer,
  line_start integer check (line_start >= 1),
  line_end integer,
  primary key (run_id, ordinal),
  constraint quotes_stand_somewhere_or_nowhere check (num_nulls(number, path, start_char, end_char, line_start, line_end) in (0, 6)),
  -- Words of a heading or a title are found, and stand in no span of the text.
  constraint quotes_not_found_have_no_place check (class <> 'not_found' or path is null),
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

-- Sentences of an answer, each with the span of the evidence that carries it best.
create table nightdesk_data.support (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
  ordinal integer not null check (ordinal >= 0),
  sentence text not null check (sentence <> ''),
  score double precision not null check (score between 0 and 1),
  number integer check (number >= 1),
  path text,
  start_char integer check (start_char >= 0),
  end_char integer,
  line_start integer check (line_start >= 1),
  line_end integer,
  primary key (run_id, ordinal),
  constraint support_stands_somewhere_or_nowhere check (num_nulls(number, path, start_char, end_char, line_start, line_end) in (0, 6)),
  constraint support_has_a_place check (score = 0 or path is not null),
  constraint support_spans_run_forward check (end_char >= start_char and line_end >= line_start)
);

-- Inner nodes of a tree of summaries: what each says, and the span of the file that it covers.
create table nightdesk_data.summary_parts (
  run_id uuid not null references nightdesk_data.runs on delete cascade,
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

create view nightdesk.model_calls as
select c.call_id, c.job_id, c.run_id, j.batch_id, j.custom_id, c.pass, c.model, c.model_digest, c.prompt_template,
       c.prompt_sha256, c.request_sha256, c.prompt, c.reply, c.done_reason, c.error_code, c.prompt_tokens,
       c.completion_tokens, c.load_ms, c.duration_ms, c.created_at
  from nightdesk_data.model_calls c
  join nightdesk_data.jobs j using (job_id);

comment on view nightdesk.model_calls is 'One row a call of a model, committed as it returned.';
comment on column nightdesk.model_calls.call_id is 'Id of the call.';
comment on column nightdesk.model_calls.job_id is 'Id of the job.';
comment on column nightdesk.model_calls.run_id is 'Id of the run that made the call.';
comment on column nightdesk.model_calls.batch_id is 'Id of the batch.';
comment on column nightdesk.model_calls.custom_id is 'The job''s custom_id.';
comment on column nightdesk.model_calls.pass is 'first, second, retry (after a violation), part (of a long file) or chat.';
comment on column nightdesk.model_calls.model is 'The model that was asked.';
comment on column nightdesk.model_calls.model_digest is 'SHA-256 of its weights, as its host reports it.';
comment on column nightdesk.model_calls.prompt_template is 'Name and version of the prompt.';
comment on column nightdesk.model_calls.prompt_sha256 is 'SHA-256 of the messages that were sent.';
comment on column nightdesk.model_calls.request_sha256 is 'SHA-256 of all that decides the reply.';
comment on column nightdesk.model_calls.prompt is 'What filled the template; evidence as path, sha256 and span.';
comment on column nightdesk.model_calls.reply is 'What the model wrote, without thinking; null when its host refused.';
comment on column nightdesk.model_calls.done_reason is 'stop, length (max_tokens) or window (num_ctx).';
comment on column nightdesk.model_calls.error_code is 'Why the host refused; null when it replied.';
comment on column nightdesk.model_calls.prompt_tokens is 'Tokens of the prompt, as the host counts.';
comment on column nightdesk.model_calls.completion_tokens is 'Tokens of the reply.';
comment on column nightdesk.model_calls.load_ms is 'Milliseconds until the model was loaded.';
comment on column nightdesk.model_calls.duration_ms is 'Milliseconds of the whole call.';
comment on column nightdesk.model_calls.created_at is 'When the reply was stored.';

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
comment on column nightdesk.quotes.class is 'verbatim, normalised, misattributed, stitched or not_found.';
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

create view nightdesk.support as
select j.job_id, s.run_id, j.batch_id, j.custom_id, s.ordinal, s.sentence, s.score, s.number, s.path, s.start_char, s.end_char,
       s.line_start, s.line_end
  from nightdesk_data.support s
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id);

comment on view nightdesk.support is 'One row a sentence of the last draft of an answer, with the place that carries it best.';
comment on column nightdesk.support.job_id is 'Id of the job.';
comment on column nightdesk.support.run_id is 'Id of the run.';
comment on column nightdesk.support.batch_id is 'Id of the batch.';
comment on column nightdesk.support.custom_id is 'The job''s custom_id.';
comment on column nightdesk.support.ordinal is 'Place in the answer, from 0.';
comment on column nightdesk.support.sentence is 'The sentence, without its citations.';
comment on column nightdesk.support.score is 'Share of its words that the place holds, weighted by how rare they are: 0 to 1.';
comment on column nightdesk.support.number is 'Number of the piece of evidence; null when nothing is in common.';
comment on column nightdesk.support.path is 'The file, relative to the work root.';
comment on column nightdesk.support.start_char is 'Offset of the first character in the file, from 0, in code points.';
comment on column nightdesk.support.end_char is 'Offset after the last character.';
comment on column nightdesk.support.line_start is 'First line in the file, from 1.';
comment on column nightdesk.support.line_end is 'Last line in the file.';

create view nightdesk.summary_parts as
select j.job_id, p.run_id, j.batch_id, j.custom_id, j.input->>'path' as path, p.level, p.ordinal, p.start_char, p.end_char,
       p.line_start, p.line_end, p.summary
  from nightdesk_data.summary_parts p
  join nightdesk_data.runs r using (run_id)
  join nightdesk_data.jobs j using (job_id);

comment on view nightdesk.summary_parts is 'One row a part of a long file that was summarised by itself, and a summary of such summaries.';
comment on column nightdesk.summary_parts.job_id is 'Id of the job.';
comment on column nightdesk.summary_parts.run_id is 'Id of the run.';
comment on column nightdesk.summary_parts.batch_id is 'Id of the batch.';
comment on column nightdesk.summary_parts.custom_id is 'The job''s custom_id.';
comment on column nightdesk.summary_parts.path is 'The file as the job names it.';
comment on column nightdesk.summary_parts.level is '0 for parts of the file, 1 for summaries of their summaries, and so on.';
comment on column nightdesk.summary_parts.ordinal is 'Place within the level, from 0.';
comment on column nightdesk.summary_parts.start_char is 'Offset of the first character that it covers, from 0, in code points.';
comment on column nightdesk.summary_parts.end_char is 'Offset after the last character.';
comment on column nightdesk.summary_parts.line_start is 'First line that it covers, from 1.';
comment on column nightdesk.summary_parts.line_end is 'Last line that it covers.';
comment on column nightdesk.summary_parts.summary is 'What was said of it.';

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
