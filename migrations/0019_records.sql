-- Why frontmatter can't be read, where a run looked for files, and locks that the reader's role can't take.
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

-- What one worker at a time does: each takes the row. An advisory lock could be taken by whoever may run a statement.
create table nightdesk_data.locks (
  name text primary key
);
insert into nightdesk_data.locks (name) values ('dispatch'), ('retention'), ('vector_index'), ('compaction');

-- Without them the role of `nightdesk sql` can't fill the table of locks, which all share. PostgreSQL grants them to
-- everybody; only an administrator can take that back, and where the role that migrates is none, the statement is refused by its words.
do $$
declare
  called regprocedure;
begin
  for called in
    select oid from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_(try_)?advisory_'
  loop
    execute format('grant execute on function %s to %I', called, current_user);
    execute format('revoke execute on function %s from public', called);
  end loop;
exception when insufficient_privilege then
  null;
end $$;
