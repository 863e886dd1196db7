-- What extractions gave, as rows: a view for each preset that ships with Nightdesk.

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
comment on column nightdesk.classifications.quote_class is 'verbatim, normalised, stitched or not_found; null with ask.quotes off.';
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
comment on column nightdesk.action_items.quote_class is 'verbatim, normalised, stitched or not_found; null with ask.quotes off.';
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
comment on column nightdesk.people_and_dates.quote_class is 'verbatim, normalised, stitched or not_found; null with ask.quotes off.';
comment on column nightdesk.people_and_dates.line_start is 'First line of the passage, from 1.';
comment on column nightdesk.people_and_dates.line_end is 'Last line of the passage.';
comment on column nightdesk.people_and_dates.model is 'The model that found it.';
comment on column nightdesk.people_and_dates.finished_at is 'When the job ended.';
