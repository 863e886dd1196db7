-- The index: documents, chunks that are exact slices of them, their postings and their vectors.

-- What documents can be filtered by is their frontmatter in one spelling, worked out by the database, which so can't
-- disagree with what was read.
--
-- Every key of the frontmatter in lower case, with the list of its values in lower case: `{"tag": ["ops", "rail"]}`.
-- `tags` and `keywords` are `tag`, `aliases` is `alias`. A tag loses its `#`, and a string of tags is a list of words.
-- A value that is a mapping, or longer than 500 characters, is left out; of a list the first 100 are taken.
-- plpgsql keeps the plan of its query for the session, which a function in SQL makes anew for each document.
create function nightdesk_data.facets_of(metadata jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
begin
  if metadata is null or jsonb_typeof(metadata) <> 'object' or metadata = '{}'::jsonb then
    return '{}'::jsonb;
  end if;
  return (
    select coalesce(jsonb_object_agg(name, facet), '{}'::jsonb)
      from (select name, jsonb_agg(distinct spelled) as facet
              from (select case lower(key) when 'tags' then 'tag' when 'keywords' then 'tag' when 'aliases' then 'alias'
                                else lower(key) end as name, value
                      from jsonb_each(metadata) where length(key) <= 200) named,
                   jsonb_array_elements(case jsonb_typeof(value) when 'array' then value
                                             else jsonb_build_array(value) end)
                     with ordinality as given (item, place),
                   unnest(case when name = 'tag' and jsonb_typeof(value) = 'string'
                               then regexp_split_to_array(left(item #>> '{}', 5000), '[,[:space:]]+')
                               else array[item #>> '{}'] end) as word,
                   lower(btrim(case name when 'tag' then ltrim(word, '# ') else word end)) as spelled
             where place <= 100 and jsonb_typeof(item) in ('string', 'number', 'boolean')
               and spelled <> '' and length(spelled) <= 500
             group by name) listed);
end $$;

create table nightdesk_data.documents (
  doc_id bigint generated always as identity primary key,
  source text not null check (source <> ''),
  -- Relative to the work root, with `/`, as spelled on disk.
  path text not null check (path <> '' and path !~ '^/'),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Version of the extractor that made text of the bytes: another one may make another text of the same bytes.
  extractor text not null default 'utf-8' check (extractor <> ''),
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
  facets jsonb not null generated always as (nightdesk_data.facets_of(metadata)) stored,
  -- First and last day that the document is of (of March 2025, the first and the last of that month), where that is
  -- written, and all dates that were found, the most trusted first. Null of a document that says none: what there is then
  -- is the time of its last change.
  day date,
  day_until date,
  day_source text check (day_source in ('frontmatter', 'mail_header', 'html_meta', 'file_name', 'text', 'properties')),
  dates jsonb not null default '[]' check (jsonb_typeof(dates) = 'array'),
  -- MinHash of its text, 128 values of 32 bits, the least significant byte first; null of a text that is too short.
  sketch bytea check (octet_length(sketch) = 512),
  -- What it shares with its other versions: its folder and its name without year, version and stage; null of a name
  -- without words.
  family text,
  -- Paths of documents that it says it is a newer version of, as they may be meant.
  supersedes text[] not null default '{}',
  -- Kinds of keys and tokens that its text holds.
  secrets text[] not null default '{}',
  -- What a person would see in the file and its text does not hold, counted by kind.
  left_out jsonb not null default '{}' check (jsonb_typeof(left_out) = 'object'),
  -- A text search configuration of Postgres.
  language text not null default 'english' check (language ~ '^[a-z]+$'),
  -- What it was cut into, proved beside it: a chunk that is lost or changed afterwards, or a document that changes without
  -- its chunks, no longer fits. SHA-256 of lines of ASCII, joined by LF, as hex: the document's sha256, then
  -- `ordinal start_char end_char sha256` of each chunk in order of ordinal, decimal, one blank between.
  -- src/shared/store/index/totals.ts is the same formula. A row that is written without a proof has one that fits nothing,
  -- and doctor finds it.
  chunks_sha256 text not null default repeat('0', 64) check (chunks_sha256 ~ '^[0-9a-f]{64}$'),
  -- Why frontmatter can't be read.
  metadata_problem text,
  -- Of an attachment the path of the file of its mail or mailbox, whose facts it has but for its own bytes; null of a file.
  mail text,
  -- How many documents were to be made of what it holds itself. Where the sums of both are not the same for the documents
  -- of one mail, one is missing, and the mail is read again.
  attachments integer not null default 0 check (attachments >= 0),
  -- Its bytes were to be kept, and would have gone over documents.quota.
  is_over_quota boolean not null default false,
  unique (source, path),
  constraint an_attachment_lies_below_its_mail check (mail is null or starts_with(path, mail || '/')),
  -- What is packed may hold more.
  constraint a_character_takes_a_byte check (chars <= bytes or extractor <> 'utf-8'),
  constraint only_present_metadata_is_stored check ((metadata_state = 'present') = (metadata is not null)),
  constraint metadata_is_a_mapping check (metadata is null or jsonb_typeof(metadata) = 'object'),
  constraint a_day_has_an_end_and_a_source
    check ((day is null) = (day_until is null) and (day is null) = (day_source is null) and day <= day_until),
  constraint only_unknown_metadata_has_a_problem check (metadata_problem is null or metadata_state = 'unknown')
);
create index documents_by_mail on nightdesk_data.documents (mail, path) where mail is not null;
create index documents_by_sha256 on nightdesk_data.documents (sha256);
create index documents_by_path on nightdesk_data.documents (path text_pattern_ops);
create index documents_by_facet on nightdesk_data.documents using gin (facets jsonb_path_ops);
create index documents_by_day on nightdesk_data.documents (day) where day is not null;
create index documents_by_family on nightdesk_data.documents (family);
create index documents_that_supersede on nightdesk_data.documents (path) where supersedes <> '{}';

-- Documents by what they hold: their bytes, for workers that have no files, and for evidence whose file is gone; or for such
-- evidence their text alone.
create table nightdesk_data.contents (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint not null check (bytes >= 0),
  content bytea not null,
  -- What made its text, where content is that, as JSON of UTF-8: {"text", "places", "leftOut"}. Null where it is the bytes.
  extractor text check (extractor <> ''),
  stored_at timestamptz not null default clock_timestamp(),
  -- When a document last came to have these bytes, or ceased to: what began before may still be reading them.
  used_at timestamptz not null default clock_timestamp(),
  constraint contents_are_as_long_as_they_say check (length(content) = bytes)
);

create function nightdesk_data.note_former_content() returns trigger language plpgsql as $$
begin
  update nightdesk_data.contents set used_at = clock_timestamp() where sha256 = old.sha256;
  return null;
end $$;
create trigger documents_change_their_content after update of sha256 on nightdesk_data.documents
  for each row when (old.sha256 <> new.sha256) execute function nightdesk_data.note_former_content();
create trigger documents_leave_their_content after delete on nightdesk_data.documents
  for each row execute function nightdesk_data.note_former_content();

create table nightdesk_data.chunks (
  chunk_id bigint generated always as identity primary key,
  doc_id bigint not null references nightdesk_data.documents on delete cascade,
  chunk_key text not null unique check (chunk_key ~ '^[0-9a-f]{32}$'),
  ordinal integer not null check (ordinal >= 0),
  heading_path text check (heading_path <> ''),
  -- Where in the file it begins: page, sheet, row, message or pointer; null where its lines say it.
  locator jsonb check (jsonb_typeof(locator) = 'object'),
  start_char integer not null check (start_char >= 0),
  end_char integer not null,
  line_start integer not null check (line_start >= 1),
  line_end integer not null,
  text text not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Distinct words that search knows of the chunk, its title, headings and file name among them.
  terms integer not null check (terms >= 0),
  -- Beside the document's, because a document is gone by the time its chunks are counted out.
  language text not null default 'english' check (language ~ '^[a-z]+$'),
  unique (doc_id, ordinal) deferrable,
  constraint chunks_run_forward check (end_char > start_char and line_end >= line_start),
  constraint text_fills_the_span check (char_length(text) = end_char - start_char)
);

-- Postings in segments: one row a (term, portion of documents). A segment is never changed: chunks that are gone
-- stay in it, listed in dead_chunks, until it is merged into another one.
create table nightdesk_data.segments (
  segment_id bigint generated always as identity primary key,
  chunk_ids bigint[] not null check (cardinality(chunk_ids) > 0),
  -- While postings move to another segment, term by term, the id that it will have. Its chunks are those of all segments
  -- that are merged into it, but for those that were dead when it began, whose postings do not move.
  merged_into bigint check (merged_into > segment_id),
  dropped bigint[] not null default '{}',
  constraint only_a_merge_drops_chunks check (merged_into is not null or dropped = '{}')
);

create table nightdesk_data.postings (
  term text collate "C" not null,
  segment_id bigint not null,
  -- chunk_id << 24 | times in the chunk (10 bits) << 14 | distinct words of the chunk (14 bits): one
  -- array is aggregated and unnested twice as fast as three.
  entries bigint[] not null check (cardinality(entries) > 0),
  -- Of a common term the entries are stored apart and compressed, and counting them would read them all.
  chunks integer not null generated always as (cardinality(entries)) stored,
  primary key (term, segment_id)
);
create index postings_by_segment on nightdesk_data.postings (segment_id, term);

create table nightdesk_data.dead_chunks (chunk_id bigint primary key);

-- How many chunks live and how many distinct words each, summed: what BM25 needs of the whole. It weighs a word by the
-- chunks of its own language: in a hundred German chunks among ten thousand English ones, every German word would seem
-- rare. Kept by triggers in up to 16 rows a language, so that two writers do not queue for one; a row may be negative, the
-- sums are not.
create table nightdesk_data.chunk_counts (
  shard smallint not null,
  chunks bigint not null,
  terms bigint not null,
  language text not null default 'english',
  primary key (shard, language)
);
-- The planner takes a table that nobody analyzed for a thousand rows, as many languages, and a search for worth compiling,
-- which costs more than the search.
insert into nightdesk_data.chunk_counts (shard, language, chunks, terms) values (0, 'english', 0, 0);
analyze nightdesk_data.chunk_counts;

create function nightdesk_data.count_chunks() returns trigger language plpgsql as $$
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

create trigger count_added_chunks after insert on nightdesk_data.chunks
  referencing new table as added for each statement execute function nightdesk_data.count_chunks();
create trigger count_removed_chunks after delete on nightdesk_data.chunks
  referencing old table as removed for each statement execute function nightdesk_data.count_chunks();

create table nightdesk_data.embeddings (
  chunk_id bigint not null references nightdesk_data.chunks on delete cascade,
  model text not null check (model <> ''),
  -- Everything that decides the numbers: model, files, dimensions, preprocessing, normalisation, precision.
  signature text not null check (signature ~ '^[0-9a-f]{32}$'),
  dims integer not null check (dims > 0),
  -- Numbers of 4 bytes, or of 2: all vectors of a signature have the same.
  embedding vector,
  half_embedding halfvec,
  embedded_at timestamptz not null default now(),
  -- Those of another embedder are made beside, until there is one for every chunk.
  primary key (chunk_id, signature),
  constraint vectors_have_one_precision check (num_nonnulls(embedding, half_embedding) = 1),
  constraint vectors_have_their_dims check (coalesce(vector_dims(embedding), vector_dims(half_embedding)) = dims)
);

-- Whose vectors are searched: of the embedder that was the last to have one of every chunk.
create table nightdesk_data.searched_vectors (
  singleton boolean primary key default true check (singleton),
  model text not null check (model <> ''),
  signature text not null check (signature ~ '^[0-9a-f]{32}$'),
  -- Of embed.*, what is needed to embed a question in the same way.
  settings jsonb not null check (jsonb_typeof(settings) = 'object'),
  since timestamptz not null default now()
);

-- Files that could not be indexed; a row goes when its file becomes good or is gone.
create table nightdesk_data.document_failures (
  source text not null check (source <> ''),
  path text not null check (path <> ''),
  error_code text not null check (error_code <> ''),
  error_message text not null check (error_message <> ''),
  at timestamptz not null default now(),
  -- What a failure rests on that the same bytes meet again: the file that it is of or lies in, that file's facts as
  -- documents have them, and a fingerprint of the extractors and their limits. Null of one that may pass.
  file text check (file <> ''),
  bytes bigint check (bytes >= 0),
  mtime_ns bigint,
  ctime_ns bigint,
  inode bigint,
  settled boolean,
  reader text check (reader ~ '^[0-9a-f]{32}$'),
  -- Of a limit that a busy machine may have met: how often in a row it was met. Null of what lasts, and of what may pass.
  tries integer check (tries > 0),
  primary key (source, path),
  constraint what_a_failure_rests_on_is_whole check (
    num_nulls(file, bytes, mtime_ns, ctime_ns, inode, settled, reader) in (0, 7)),
  constraint tries_are_of_a_file check (tries is null or file is not null)
);

-- What was read of the pictures of pages, by the bytes of their file.
create table nightdesk_data.ocr_pages (
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  page integer not null check (page > 0),
  -- First digits of a fingerprint of index.ocr: read by another, it is read again.
  settings text not null check (settings ~ '^[0-9a-f]{8}$'),
  -- Words with their boxes and how sure each is; null where the picture can't be read.
  record jsonb check (jsonb_typeof(record) = 'object'),
  unreadable text check (unreadable <> ''),
  read_at timestamptz not null default clock_timestamp(),
  -- The job may be deleted before.
  job_id uuid not null,
  primary key (sha256, page, settings),
  constraint a_page_is_read_or_given_up check (num_nonnulls(record, unreadable) = 1)
);

-- What a person read where the models were not sure, by the bytes of the file: a page that is read again keeps it.
create table nightdesk_data.ocr_choices (
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  page integer not null check (page > 0),
  -- Left, top, right and bottom in pixels of the picture as it was read.
  box jsonb not null check (jsonb_typeof(box) = 'array' and jsonb_array_length(box) = 4),
  first_read text not null,
  -- Null where the second model read nothing else.
  second_read text,
  chosen text not null check (btrim(chosen) <> '' and length(chosen) <= 100),
  chosen_by text not null check (chosen_by <> ''),
  chosen_at timestamptz not null default clock_timestamp(),
  primary key (sha256, page, box)
);

-- A source that is a mirror of another place, and the run that works on it or did last.
create table nightdesk_data.remote_sources (
  source text primary key check (source ~ '^[a-z0-9][a-z0-9_-]*$'),
  kind text not null check (kind in ('webdav', 's3', 'imap', 'paperless')),
  -- Without user and secret.
  address text not null check (address !~ '://[^/]*@'),
  run_id uuid not null,
  began_at timestamptz not null default clock_timestamp(),
  -- When a listing was last read to its end.
  listed_at timestamptz
);

-- A file of such a place: as it was listed last, and as it was fetched.
create table nightdesk_data.remote_files (
  source text not null references nightdesk_data.remote_sources on delete cascade,
  -- As the place names it, percent-encoded; of a longer name its beginning and a hash.
  remote_id text not null check (octet_length(remote_id) between 1 and 2000),
  listed_version text not null,
  listed_bytes bigint check (listed_bytes >= 0),
  seen_by uuid not null,
  -- Relative to the work root, from the first try to fetch it on.
  path text,
  -- The path in one case and one form of Unicode, by which some file systems tell names apart; free again when it is deleted.
  path_key text,
  -- Of the bytes that lie at the path; null where there are none.
  version text,
  bytes bigint,
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  origin text,
  fetched_at timestamptz,
  -- Of the content whose beginning may lie beside the path.
  part_etag text,
  fate text not null check (fate in ('waiting', 'fetched', 'unchanged', 'skipped', 'deleted', 'held')),
  reason text,
  changed_at timestamptz not null default clock_timestamp(),
  -- What the place says of it beside its bytes (title, tags, dates), and since when it says that.
  description jsonb check (jsonb_typeof(description) = 'object'),
  described_at timestamptz not null default clock_timestamp(),
  primary key (source, remote_id),
  unique (source, path_key),
  constraint a_mirrored_file_is_whole check (
    num_nonnulls(version, bytes, sha256, origin, fetched_at) in (0, 5) and (sha256 is null or path_key is not null)),
  constraint a_key_is_of_a_path check (path_key is null or path is not null),
  constraint a_deleted_file_is_gone check (fate <> 'deleted' or num_nonnulls(sha256, path_key) = 0),
  constraint a_reason_is_given check (fate not in ('skipped', 'held') or reason <> '')
);

-- Where bytes came from that lay at a path once: evidence keeps its origin when the file changes.
create table nightdesk_data.remote_versions (
  path text not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  origin text not null,
  fetched_at timestamptz not null default clock_timestamp(),
  primary key (path, sha256)
);

-- Values of extractions that are written to the place that their file was mirrored from, one row a thing of a document: written down
-- before it is sent, so that a crash leaves no write that nobody knows of.
create table nightdesk_data.write_backs (
  write_id bigint generated always as identity primary key,
  batch_id uuid not null references nightdesk_data.batches on delete cascade,
  job_id uuid not null references nightdesk_data.jobs on delete cascade,
  source text not null,
  -- As remote_files has it.
  remote_id text not null,
  kind text not null check (kind in ('correspondent', 'document_type', 'tag', 'custom_field')),
  -- Of the tag or custom field; of the others what they are.
  name text not null check (name <> ''),
  -- Where the value stands in the fields of the extraction, and what it is there.
  pointer text not null,
  value jsonb not null,
  -- withheld: not to be written, for the reason. intended: about to be sent, or sent and not seen there yet. kept: not undone, because
  -- somebody has changed it since.
  state text not null check (state in ('withheld', 'intended', 'written', 'undone', 'kept')),
  reason text,
  -- What stood there before and what was sent; null where nothing stood there.
  before jsonb,
  after jsonb,
  -- SHA-256 of the bytes that the value was read from.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  noted_at timestamptz not null default clock_timestamp(),
  written_at timestamptz,
  undone_at timestamptz,
  -- Since when a person is asked about the value; null where a person's word would not help.
  asked_at timestamptz,
  decision text check (decision in ('accepted', 'corrected', 'rejected')),
  -- What is to be written instead, in the person's own words.
  correction text check (btrim(correction) <> ''),
  decision_reason text check (btrim(decision_reason) <> ''),
  decided_by text check (decided_by <> ''),
  decided_at timestamptz,
  -- A value that can't be written as it was decided is asked about anew.
  is_waiting boolean not null generated always as (
    state = 'withheld' and asked_at is not null and (decided_at is null or decided_at < asked_at)) stored,
  unique (batch_id, source, remote_id, kind, name),
  constraint values_that_were_decided_say_by_whom check (num_nonnulls(decision, decided_by, decided_at) in (0, 3)),
  constraint only_what_was_asked_is_decided check (decision is null or asked_at is not null),
  constraint only_corrected_values_have_a_correction check ((decision is not distinct from 'corrected') = (correction is not null)),
  constraint only_decisions_have_a_reason check (decision_reason is null or decision is not null),
  constraint nothing_is_not_accepted check (decision is distinct from 'accepted' or value <> 'null'),
  constraint what_is_rejected_is_not_written check (decision is distinct from 'rejected' or state = 'withheld'),
  constraint what_is_left_has_a_reason check ((state in ('withheld', 'kept')) = (reason is not null)),
  constraint what_was_written_has_a_time check (state <> 'written' or written_at is not null),
  constraint what_is_sent_has_a_value check (state = 'withheld' or (after is not null and sha256 is not null))
);
create index write_backs_by_file on nightdesk_data.write_backs (source, remote_id);
create index write_backs_by_job on nightdesk_data.write_backs (job_id);
create index write_backs_waiting on nightdesk_data.write_backs (batch_id) where is_waiting;

-- Who writes to a document now: of two that looked before either wrote, the second would write over the first.
create table nightdesk_data.write_claims (
  source text not null,
  remote_id text not null,
  claim uuid not null,
  expires_at timestamptz not null,
  primary key (source, remote_id)
);
