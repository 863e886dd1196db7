-- Why frontmatter can't be read, and where a run looked for files.
alter table nightdesk_data.documents
  add column metadata_problem text,
  add constraint only_unknown_metadata_has_a_problem check (metadata_problem is null or metadata_state = 'unknown');

create or replace view nightdesk.documents as
select d.source, d.path, d.sha256, d.bytes, d.chars,
       (select count(*) from nightdesk_data.chunks c where c.doc_id = d.doc_id) as chunks,
       d.metadata_state, d.metadata, d.indexed_at, d.language, d.metadata_problem
  from nightdesk_data.documents d;
comment on column nightdesk.documents.metadata_problem is 'Why the frontmatter can''t be read; null unless metadata_state is unknown.';

alter table nightdesk_data.runs
  -- The configuration's file, absolute, and {"workroot", "allowed", "sources"}: what a path of the run is below.
  add column config_file text,
  add column roots jsonb check (jsonb_typeof(roots) = 'object');
