-- The index: documents, chunks that are exact slices of them, their postings and their vectors.

create table nightdesk_data.documents (
  doc_id bigint generated always as identity primary key,
  source text not null check (source <> ''),
  -- Relative to the work root, with `/`, as spelled on disk.
  path text not null check (path <> '' and path !~ '^/'),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint not null check (bytes >= 0),
  chars integer not null check (chars >= 0),
  -- Facts of the file when it was read: while they stay the same, it is not read again.
  mtime_ns bigint not null,
  ctime_ns bigint not null,
  inode bigint not null,
  device bigint not null,
  -- False when it was read so soon after it was written that another write could have left the same facts.
  settled boolean not null,
  scanned_at timestamptz not null default now(),
  title text,
  metadata_state text not null check (metadata_state in ('absent', 'unknown', 'present')),
  metadata jsonb,
  -- Fingerprint of the settings that the chunks were cut with.
  chunk_settings text not null check (chunk_settings <> ''),
  indexed_at timestamptz not null default now(),
  unique (source, path),
  constraint a_character_takes_a_byte check (chars <= bytes),
  constraint only_present_metadata_is_stored check ((metadata_state = 'present') = (metadata is not null)),
  constraint metadata_is_a_mapping check (metadata is null or jsonb_typeof(metadata) = 'object')
);
create index documents_by_path on nightdesk_data.documents (path text_pattern_ops);

create table nightdesk_data.chunks (
  chunk_id bigint generated always as identity primary key,
  doc_id bigint not null references nightdesk_data.documents on delete cascade,
  chunk_key text not null unique check (chunk_key ~ '^[0-9a-f]{32}$'),
  ordinal integer not null check (ordinal >= 0),
  heading_path text check (heading_path <> ''),
  start_char integer not null check (start_char >= 0),
  end_char integer not null,
  line_start integer not null check (line_start >= 1),
  line_end integer not null,
  text text not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Distinct words that search knows of the chunk, its title, headings and file name among them.
  terms integer not null check (terms >= 0),
  unique (doc_id, ordinal) deferrable,
  constraint chunks_run_forward check (end_char > start_char and line_end >= line_start),
  constraint text_fills_the_span check (char_length(text) = end_char - start_char)
);

-- Postings in segments: one row a (term, portion of documents). A segment is never changed: chunks that are gone
-- stay in it, listed in dead_chunks, until it is rewritten.
create table nightdesk_data.segments (
  segment_id bigint generated always as identity primary key,
  chunk_ids bigint[] not null check (cardinality(chunk_ids) > 0)
);

create table nightdesk_data.postings (
  term text collate "C" not null,
  segment_id bigint not null,
  -- chunk_id << 24 | times in the chunk (10 bits) << 14 | distinct words of the chunk (14 bits): one
  -- array is aggregated and unnested twice as fast as three.
  entries bigint[] not null check (cardinality(entries) > 0),
  primary key (term, segment_id)
);
create index postings_by_segment on nightdesk_data.postings (segment_id);

create table nightdesk_data.dead_chunks (chunk_id bigint primary key);

-- How many chunks live and how many distinct words each, summed: what BM25 needs of the whole. Kept by triggers in up to 16
-- rows, so that two writers do not queue for one; a row may be negative, the sums are not.
create table nightdesk_data.chunk_counts (
  shard smallint primary key,
  chunks bigint not null,
  terms bigint not null
);

create function nightdesk_data.count_chunks() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into nightdesk_data.chunk_counts as c (shard, chunks, terms)
    select pg_backend_pid() % 16, count(*), sum(terms) from added having count(*) > 0
    on conflict (shard) do update set chunks = c.chunks + excluded.chunks, terms = c.terms + excluded.terms;
  else
    insert into nightdesk_data.chunk_counts as c (shard, chunks, terms)
    select pg_backend_pid() % 16, -count(*), -sum(terms) from removed having count(*) > 0
    on conflict (shard) do update set chunks = c.chunks + excluded.chunks, terms = c.terms + excluded.terms;
    insert into nightdesk_data.dead_chunks select chunk_id from removed where terms > 0;
  end if;
  return null;
end $$;

create trigger count_added_chunks after insert on nightdesk_data.chunks
  referencing new table as added for each statement execute function nightdesk_data.count_chunks();
create trigger count_removed_chunks after delete on nightdesk_data.chunks
  referencing old table as removed for each statement execute function nightdesk_data.count_chunks();

create table nightdesk_data.embeddings (
  chunk_id bigint not null references nightdesk_data.chunks on delete cascade,
  model text not null check (model <> ''),
  -- Everything that decides the numbers: model, files, dimensions, preprocessing, normalisation.
  signature text not null check (signature ~ '^[0-9a-f]{32}$'),
  dims integer not null check (dims > 0),
  embedding vector not null,
  embedded_at timestamptz not null default now(),
  primary key (chunk_id, model),
  constraint vectors_have_their_dims check (vector_dims(embedding) = dims)
);

-- Files that could not be indexed; a row goes when its file becomes good or is gone.
create table nightdesk_data.document_failures (
  source text not null check (source <> ''),
  path text not null check (path <> ''),
  error_code text not null check (error_code <> ''),
  error_message text not null check (error_message <> ''),
  at timestamptz not null default now(),
  primary key (source, path)
);

create view nightdesk.documents as
select d.source, d.path, d.sha256, d.bytes, d.chars,
       (select count(*) from nightdesk_data.chunks c where c.doc_id = d.doc_id) as chunks,
       d.metadata_state, d.metadata, d.indexed_at
  from nightdesk_data.documents d;
comment on view nightdesk.documents is 'One row an indexed file.';
comment on column nightdesk.documents.source is 'Name of the configured source that holds the file.';
comment on column nightdesk.documents.path is 'Path of the file, relative to the work root, as spelled on disk.';
comment on column nightdesk.documents.sha256 is 'SHA-256 of the bytes of the file when it was indexed; sha256sum confirms it.';
comment on column nightdesk.documents.bytes is 'Size of the file in bytes when it was indexed.';
comment on column nightdesk.documents.chars is 'Size of the file in Unicode code points, a byte order mark included.';
comment on column nightdesk.documents.chunks is 'How many chunks the file was cut into; 0 for an empty file.';
comment on column nightdesk.documents.metadata_state is 'absent: no frontmatter. unknown: frontmatter that can not be read as a mapping. present: read.';
comment on column nightdesk.documents.metadata is 'The frontmatter as JSON; null unless metadata_state is present.';
comment on column nightdesk.documents.indexed_at is 'When the chunks of the file were last written.';

create view nightdesk.chunks as
select c.chunk_key, d.source, d.path, c.ordinal, c.heading_path, c.start_char, c.end_char, c.line_start, c.line_end,
       c.text,
       array(select e.model from nightdesk_data.embeddings e where e.chunk_id = c.chunk_id order by e.model)
         as embedded_models
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
