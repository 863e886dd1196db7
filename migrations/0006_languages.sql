-- Several languages in one index. A language is a text search configuration of Postgres; what was indexed before
-- was English.

alter table nightdesk_data.documents
  add column language text not null default 'english' check (language ~ '^[a-z]+$');

-- Beside the document's, because a document is gone by the time its chunks are counted out.
alter table nightdesk_data.chunks
  add column language text not null default 'english' check (language ~ '^[a-z]+$');

-- BM25 weighs a word by the chunks of its own language: in a hundred German chunks among ten thousand English ones,
-- every German word would seem rare.
alter table nightdesk_data.chunk_counts
  add column language text not null default 'english',
  drop constraint chunk_counts_pkey,
  add primary key (shard, language);

create or replace function nightdesk_data.count_chunks() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into nightdesk_data.chunk_counts as c (shard, language, chunks, terms)
    select pg_backend_pid() % 16, language, count(*), sum(terms) from added group by language order by language
    on conflict (shard, language) do update
       set chunks = c.chunks + excluded.chunks, terms = c.terms + excluded.terms;
  else
    insert into nightdesk_data.chunk_counts as c (shard, language, chunks, terms)
    select pg_backend_pid() % 16, language, -count(*), -sum(terms) from removed group by language order by language
    on conflict (shard, language) do update
       set chunks = c.chunks + excluded.chunks, terms = c.terms + excluded.terms;
    insert into nightdesk_data.dead_chunks select chunk_id from removed where terms > 0;
  end if;
  return null;
end $$;

-- The planner takes a table that nobody analyzed for a thousand rows, as many languages, and a search for worth compiling,
-- which costs more than the search.
insert into nightdesk_data.chunk_counts (shard, language, chunks, terms) values (0, 'english', 0, 0)
on conflict do nothing;
analyze nightdesk_data.chunk_counts;

create or replace view nightdesk.documents as
select d.source, d.path, d.sha256, d.bytes, d.chars,
       (select count(*) from nightdesk_data.chunks c where c.doc_id = d.doc_id) as chunks,
       d.metadata_state, d.metadata, d.indexed_at, d.language
  from nightdesk_data.documents d;
comment on column nightdesk.documents.language is 'Text search configuration that the words of the file were indexed with.';
