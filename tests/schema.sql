-- What the migrations make of an empty database. Written by scripts/dump-schema.js; never edited by hand.

schema nightdesk

schema nightdesk_data

table nightdesk_data.applied_config
  column key text not null
  column sha256 text not null
  column host text not null
  column applied_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.approvals
  column approval_id uuid not null default gen_random_uuid()
  column job_id uuid not null
  column step integer not null
  column fingerprint text not null
  column tool text not null
  column executor text not null
  column args jsonb not null
  column risks text[] not null default '{}'::text[]
  column preview text not null
  column state text not null default 'waiting'::text
  column requested_at timestamp with time zone not null default clock_timestamp()
  column expires_at timestamp with time zone not null
  column decision_id uuid
  column decided_at timestamp with time zone

table nightdesk_data.artifact_uses
  column job_id uuid not null
  column step integer not null
  column stream text not null
  column sha256 text not null
  column bytes bigint not null
  column class text not null
  column expires_at timestamp with time zone
  column removed_at timestamp with time zone
  column kept_sha256 text generated always as (
CASE
    WHEN (removed_at IS NULL) THEN sha256
    ELSE NULL::text
END) stored

table nightdesk_data.artifacts
  column sha256 text not null
  column bytes bigint not null
  column content bytea not null
  column created_at timestamp with time zone not null default clock_timestamp()
  column used_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.audits
  column job_id uuid not null
  column round integer not null
  column score integer
  column given integer
  column caps text[] not null default '{}'::text[]
  column corrections jsonb not null default '[]'::jsonb
  column readable boolean not null

table nightdesk_data.batch_budgets
  column batch_id uuid not null
  column own text[] not null default '{}'::text[]
  column tokens_limit bigint
  column calls_limit bigint
  column seconds_limit double precision
  column money_limit double precision
  column tokens_used bigint not null default 0
  column calls_used bigint not null default 0
  column seconds_used double precision not null default 0
  column money_used double precision not null default 0
  column tokens_reserved bigint not null default 0
  column calls_reserved bigint not null default 0
  column money_reserved double precision not null default 0
  column tokens_needed bigint
  column money_needed double precision
  column refused_by text
  column refused_at timestamp with time zone

table nightdesk_data.batch_counts
  column batch_id uuid not null
  column shard smallint not null
  column total bigint not null default 0
  column queued bigint not null default 0
  column running bigint not null default 0
  column parked bigint not null default 0
  column succeeded bigint not null default 0
  column refused bigint not null default 0
  column failed bigint not null default 0
  column cancelled bigint not null default 0
  column expired bigint not null default 0

table nightdesk_data.batch_end_hook
  column singleton boolean not null default true
  column targets text[] not null
  column origins text[] not null

table nightdesk_data.batch_outputs
  column batch_id uuid not null
  column bytes bigint not null
  column cut integer not null default 0

table nightdesk_data.batches
  column batch_id uuid not null default gen_random_uuid()
  column name text not null
  column state text not null default 'loading'::text
  column origin text not null default 'file'::text
  column parent_id uuid
  column hold_reason text
  column hold_until timestamp with time zone
  column created_at timestamp with time zone not null default now()
  column finished_at timestamp with time zone
  column paused_at timestamp with time zone
  column windows text[]
  column deadline_at timestamp with time zone
  column format text not null default 'native'::text
  column priority smallint not null default 0
  column closes_at timestamp with time zone
  column closing boolean not null default false
  column pinned text
  column exported_at timestamp with time zone
  column trace_context text
  column load_id uuid
  column load_until timestamp with time zone

table nightdesk_data.call_reasoning
  column call_id bigint not null
  column run_id uuid not null
  column reasoning text not null
  column chars integer not null
  column expires_at timestamp with time zone

table nightdesk_data.checks
  column job_id uuid not null
  column round integer not null
  column ordinal integer not null
  column draft_sha256 text not null
  column claim_number integer not null
  column claim text not null
  column question text not null
  column expects text not null
  column how text not null
  column rule text
  column state text not null
  column detail text not null default ''::text
  column reason text
  column check_job_id uuid
  column evidence jsonb not null default '[]'::jsonb

table nightdesk_data.chunk_counts
  column shard smallint not null
  column chunks bigint not null
  column terms bigint not null
  column language text not null default 'english'::text

table nightdesk_data.chunks
  column chunk_id bigint not null generated always as identity
  column doc_id bigint not null
  column chunk_key text not null
  column ordinal integer not null
  column heading_path text
  column locator jsonb
  column start_char integer not null
  column end_char integer not null
  column line_start integer not null
  column line_end integer not null
  column text text not null
  column sha256 text not null
  column terms integer not null
  column language text not null default 'english'::text

table nightdesk_data.claim_checks
  column run_id uuid not null
  column draft integer not null
  column claim integer not null
  column ordinal integer not null
  column rule text not null
  column verdict text not null
  column detail text not null

table nightdesk_data.claims
  column run_id uuid not null
  column draft integer not null
  column ordinal integer not null
  column text text not null
  column cites integer[] not null default '{}'::integer[]
  column quote text
  column grade text not null
  column fate text not null
  column reason text not null
  column stands boolean not null
  column arithmetic text
  column number integer
  column path text
  column start_char integer
  column end_char integer
  column line_start integer
  column line_end integer
  column carrier text
  column locator jsonb
  column other_places jsonb not null default '[]'::jsonb

table nightdesk_data.constraints
  column constraint_id bigint not null generated always as identity
  column job_id uuid not null
  column ordinal integer not null
  column what text not null
  column needed text not null
  column reason text not null
  column created_at timestamp with time zone not null default clock_timestamp()
  column resolved_at timestamp with time zone

table nightdesk_data.contents
  column sha256 text not null
  column bytes bigint not null
  column content bytea not null
  column extractor text
  column stored_at timestamp with time zone not null default clock_timestamp()
  column used_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.coverage
  column job_id uuid not null
  column round integer not null
  column claim_number integer not null
  column claim text not null
  column set_query text not null
  column members integer not null
  column read integer not null

table nightdesk_data.dead_chunks
  column chunk_id bigint not null

table nightdesk_data.decisions
  column decision_id uuid not null default gen_random_uuid()
  column fingerprint text
  column verdict text not null
  column scope text not null
  column job_id uuid
  column batch_id uuid
  column rule jsonb
  column reason text
  column decided_by text not null
  column decided_at timestamp with time zone not null default clock_timestamp()
  column expires_at timestamp with time zone
  column revoked_at timestamp with time zone
  column hits integer not null default 0

table nightdesk_data.document_failures
  column source text not null
  column path text not null
  column error_code text not null
  column error_message text not null
  column at timestamp with time zone not null default now()
  column file text
  column bytes bigint
  column mtime_ns bigint
  column ctime_ns bigint
  column inode bigint
  column settled boolean
  column reader text
  column tries integer

table nightdesk_data.documents
  column doc_id bigint not null generated always as identity
  column source text not null
  column path text not null
  column sha256 text not null
  column extractor text not null default 'utf-8'::text
  column bytes bigint not null
  column chars integer not null
  column mtime_ns bigint not null
  column ctime_ns bigint not null
  column inode bigint not null
  column device bigint not null
  column settled boolean not null
  column scanned_at timestamp with time zone not null default now()
  column title text
  column metadata_state text not null
  column metadata jsonb
  column chunk_settings text not null
  column indexed_at timestamp with time zone not null default now()
  column facets jsonb not null generated always as (nightdesk_data.facets_of(metadata)) stored
  column day date
  column day_until date
  column day_source text
  column dates jsonb not null default '[]'::jsonb
  column sketch bytea
  column family text
  column supersedes text[] not null default '{}'::text[]
  column secrets text[] not null default '{}'::text[]
  column left_out jsonb not null default '{}'::jsonb
  column language text not null default 'english'::text
  column chunks_sha256 text not null default repeat('0'::text, 64)
  column metadata_problem text
  column mail text
  column attachments integer not null default 0
  column is_over_quota boolean not null default false

table nightdesk_data.draft_reviews
  column job_id uuid not null
  column run_id uuid not null
  column draft_sha256 text not null
  column draft text not null
  column why text not null
  column state text not null default 'waiting'::text
  column correction text
  column facts text[] not null default '{}'::text[]
  column reason text
  column requested_at timestamp with time zone not null default clock_timestamp()
  column decided_by text
  column decided_at timestamp with time zone

table nightdesk_data.embeddings
  column chunk_id bigint not null
  column model text not null
  column signature text not null
  column dims integer not null
  column embedding public.vector
  column half_embedding public.halfvec
  column embedded_at timestamp with time zone not null default now()

table nightdesk_data.evidence
  column evidence_id bigint not null generated always as identity
  column run_id uuid not null
  column ordinal integer not null
  column kind text not null
  column admitted boolean not null
  column rejected_reason text
  column path text not null
  column source text
  column sha256 text not null
  column text_sha256 text not null
  column extractor text not null default 'utf-8'::text
  column chars_full integer not null
  column chars_returned integer not null
  column truncated boolean not null
  column chunk_key text
  column heading_path text
  column locator jsonb
  column left_out jsonb not null default '{}'::jsonb
  column start_char integer not null
  column end_char integer not null
  column line_start integer not null
  column line_end integer not null
  column score double precision
  column preview text not null
  column title text
  column retrieved_at timestamp with time zone

table nightdesk_data.exams
  column identity text not null
  column form text not null
  column prompt text not null
  column exam text not null
  column model text not null
  column is_known boolean not null
  column state text not null
  column wrong_asked integer not null
  column wrong_confirmed integer not null
  column right_asked integer not null
  column right_confirmed integer not null
  column yes_from double precision
  column calls integer not null
  column parts jsonb not null default '[]'::jsonb
  column own jsonb
  column examined_at timestamp with time zone not null default clock_timestamp()
  column job_id uuid
  column nodding double precision not null default 0
  column nodding_since timestamp with time zone not null default clock_timestamp()
  column sleeping double precision not null default 0
  column sleeping_since timestamp with time zone not null default clock_timestamp()
  column controls integer not null default 0
  column dismissed_at timestamp with time zone

table nightdesk_data.field_bindings
  column run_id uuid not null
  column ordinal integer not null
  column pointer text not null
  column value jsonb not null
  column state text not null
  column reason text
  column grade text
  column judge_says text
  column judge_detail text
  column quote text
  column number integer
  column path text
  column start_char integer
  column end_char integer
  column line_start integer
  column line_end integer
  column locator jsonb
  column decision text
  column correction jsonb
  column decision_reason text
  column decided_by text
  column decided_at timestamp with time zone

table nightdesk_data.figures
  column run_id uuid not null
  column ordinal integer not null
  column kind text not null
  column figure text not null
  column stands_in text not null
  column flagged boolean not null
  column number integer
  column path text
  column start_char integer
  column end_char integer
  column line_start integer
  column line_end integer

table nightdesk_data.grants
  column grant_id uuid not null default gen_random_uuid()
  column job_id uuid not null
  column preset text not null
  column preset_sha256 text not null
  column tools text[] not null
  column roots text[] not null
  column limits jsonb not null
  column created_at timestamp with time zone not null default clock_timestamp()
  column ended_at timestamp with time zone

table nightdesk_data.hold_history
  column hold_id bigint not null generated always as identity
  column batch_id uuid not null
  column reason text not null
  column detail text
  column began_at timestamp with time zone not null
  column since timestamp with time zone not null
  column ended_at timestamp with time zone
  column times integer not null default 1
  column held interval not null default '00:00:00'::interval

table nightdesk_data.host_choices
  column run_id uuid not null
  column host text not null
  column expires_at timestamp with time zone not null

table nightdesk_data.host_models
  column host text not null
  column model text not null
  column digest text
  column server_version text
  column window_tokens integer
  column features jsonb not null default '{}'::jsonb
  column seen_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.host_nights
  column host text not null
  column night date not null
  column calls bigint not null default 0
  column tokens bigint not null default 0
  column money double precision not null default 0

table nightdesk_data.host_slots
  column host text not null
  column slot integer not null
  column ticket uuid
  column run_id uuid
  column taken_at timestamp with time zone
  column in_use integer

table nightdesk_data.host_waiters
  column ticket uuid not null
  column host text not null
  column run_id uuid not null
  column since timestamp with time zone not null default clock_timestamp()

table nightdesk_data.hosts
  column host text not null
  column provider text not null
  column capacity integer not null
  column capacity_reason text not null
  column capacity_changed_at timestamp with time zone not null default clock_timestamp()
  column sizing text not null
  column most integer not null
  column full_calls integer not null default 0
  column full_tokens bigint not null default 0
  column full_seconds double precision not null default 0
  column rate_before double precision
  column raise_after timestamp with time zone not null default '-infinity'::timestamp with time zone
  column state text not null default 'closed'::text
  column failures integer not null default 0
  column error_code text
  column error_message text
  column failed_at timestamp with time zone
  column opened_at timestamp with time zone
  column next_probe_at timestamp with time zone
  column trial jsonb
  column probes integer not null default 0
  column prober uuid
  column probing_until timestamp with time zone
  column next_call_at timestamp with time zone
  column name text
  column priority integer not null default 0
  column requests_per_minute integer
  column tokens_per_minute integer
  column tokens_free_at timestamp with time zone
  column paused_until timestamp with time zone

table nightdesk_data.installation
  column installed_at timestamp with time zone not null default now()
  column singleton boolean not null default true
  column evidence_key bytea not null default (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
  column windows text[] not null default '{}'::text[]

table nightdesk_data.job_dependencies
  column parent_id uuid not null
  column child_id uuid not null

table nightdesk_data.job_progress
  column job_id uuid not null
  column run_id uuid not null
  column progress jsonb not null

table nightdesk_data.job_vectors
  column job_id uuid not null
  column ordinal integer not null
  column model text not null
  column embedding public.vector not null

table nightdesk_data.jobs
  column job_id uuid not null default gen_random_uuid()
  column seq bigint not null generated always as identity
  column batch_id uuid not null
  column custom_id text not null
  column kind text not null
  column input jsonb not null
  column input_sha256 text not null
  column priority smallint not null default 0
  column state text not null default 'queued'::text
  column due_at timestamp with time zone not null default now()
  column dispatch integer not null default 0
  column dispatched_at timestamp with time zone
  column attempt integer not null default 0
  column max_attempts integer not null default 3
  column parks integer not null default 0
  column losses integer not null default 0
  column tier smallint not null default 0
  column run_id uuid
  column worker_id uuid
  column lease_until timestamp with time zone
  column cancel_requested boolean not null default false
  column error_code text
  column error_message text
  column created_at timestamp with time zone not null default now()
  column started_at timestamp with time zone
  column finished_at timestamp with time zone
  column affinity text not null default ''::text
  column size bigint not null default 0
  column waits_for integer not null default 0
  column waiting_for text
  column parked_host text
  column broken_calls integer not null default 0
  column rerun_of uuid
  column duplicate_of uuid

table nightdesk_data.locks
  column name text not null

table nightdesk_data.memory
  column memory_id uuid not null default gen_random_uuid()
  column seq bigint not null generated always as identity
  column type text not null
  column source text not null
  column content text not null
  column chunk_keys text[] not null default '{}'::text[]
  column created_at timestamp with time zone not null default now()

table nightdesk_data.model_calls
  column call_id bigint not null generated always as identity
  column job_id uuid not null
  column run_id uuid not null
  column pass text not null
  column request_sha256 text not null
  column model text not null
  column model_digest text
  column prompt_template text not null
  column prompt_sha256 text not null
  column prompt jsonb not null
  column reply text
  column tool_calls jsonb not null default '[]'::jsonb
  column done_reason text
  column error_code text
  column error_message text
  column prompt_tokens integer not null default 0
  column completion_tokens integer not null default 0
  column load_ms double precision not null default 0
  column duration_ms double precision not null
  column created_at timestamp with time zone not null default clock_timestamp()
  column cached_from uuid

table nightdesk_data.nights
  column night date not null
  column ends_at timestamp with time zone not null
  column tokens_limit bigint
  column calls_limit bigint
  column seconds_limit double precision
  column money_limit double precision
  column tokens_used bigint not null default 0
  column calls_used bigint not null default 0
  column seconds_used double precision not null default 0
  column money_used double precision not null default 0
  column tokens_reserved bigint not null default 0
  column calls_reserved bigint not null default 0
  column money_reserved double precision not null default 0

table nightdesk_data.ocr_choices
  column sha256 text not null
  column page integer not null
  column box jsonb not null
  column first_read text not null
  column second_read text
  column chosen text not null
  column chosen_by text not null
  column chosen_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.ocr_pages
  column sha256 text not null
  column page integer not null
  column settings text not null
  column record jsonb
  column unreadable text
  column read_at timestamp with time zone not null default clock_timestamp()
  column job_id uuid not null

table nightdesk_data.operator_actions
  column action_id bigint not null generated always as identity
  column at timestamp with time zone not null default clock_timestamp()
  column actor text not null
  column action text not null
  column batch_id uuid
  column job_id uuid
  column detail jsonb not null default '{}'::jsonb
  column outcome text not null default 'begun'::text
  column said text
  column ended_at timestamp with time zone

table nightdesk_data.postings
  column term text not null
  column segment_id bigint not null
  column entries bigint[] not null
  column chunks integer not null generated always as (cardinality(entries)) stored

table nightdesk_data.program_batches
  column program_batch_id uuid not null default gen_random_uuid()
  column seq bigint not null generated always as identity
  column token_id uuid not null
  column batch_id uuid
  column file_id uuid
  column endpoint text not null
  column completion_window text not null
  column metadata jsonb not null
  column request_sha256 text not null
  column idempotency_key text
  column created_at timestamp with time zone not null default clock_timestamp()
  column failed_at timestamp with time zone
  column errors jsonb
  column output_bytes bigint
  column error_bytes bigint
  column counted_at timestamp with time zone
  column output_read_at timestamp with time zone
  column error_read_at timestamp with time zone

table nightdesk_data.program_file_parts
  column file_id uuid not null
  column ordinal integer not null
  column content bytea not null

table nightdesk_data.program_files
  column file_id uuid not null default gen_random_uuid()
  column seq bigint not null generated always as identity
  column token_id uuid not null
  column name text not null
  column bytes bigint not null
  column sha256 text not null
  column created_at timestamp with time zone not null default clock_timestamp()
  column expires_at timestamp with time zone not null
  column deleted_at timestamp with time zone

table nightdesk_data.quotes
  column run_id uuid not null
  column ordinal integer not null
  column quote text not null
  column class text not null
  column number integer
  column path text
  column start_char integer
  column end_char integer
  column line_start integer
  column line_end integer

table nightdesk_data.remote_files
  column source text not null
  column remote_id text not null
  column listed_version text not null
  column listed_bytes bigint
  column seen_by uuid not null
  column path text
  column path_key text
  column version text
  column bytes bigint
  column sha256 text
  column origin text
  column fetched_at timestamp with time zone
  column part_etag text
  column fate text not null
  column reason text
  column changed_at timestamp with time zone not null default clock_timestamp()
  column description jsonb
  column described_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.remote_sources
  column source text not null
  column kind text not null
  column address text not null
  column run_id uuid not null
  column began_at timestamp with time zone not null default clock_timestamp()
  column listed_at timestamp with time zone

table nightdesk_data.remote_versions
  column path text not null
  column sha256 text not null
  column origin text not null
  column fetched_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.reservations
  column ticket uuid not null
  column run_id uuid not null
  column batch_id uuid not null
  column night date not null
  column tokens bigint not null
  column money double precision not null default 0
  column made_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.run_calls
  column run_id uuid not null
  column ordinal integer not null
  column pass text not null
  column call_id bigint not null
  column origin text not null

table nightdesk_data.run_events
  column event_id bigint not null generated always as identity
  column run_id uuid not null
  column ordinal integer not null
  column step text not null
  column duration_ms double precision not null
  column detail jsonb not null default '{}'::jsonb
  column at_ms double precision not null default 0

table nightdesk_data.runs
  column run_id uuid not null
  column job_id uuid not null
  column attempt integer not null
  column worker_id uuid not null
  column state text not null default 'running'::text
  column answer text
  column scope text
  column citations jsonb not null default '[]'::jsonb
  column summary jsonb
  column error_code text
  column error_message text
  column model_first text
  column model_second text
  column prompt_tokens integer not null default 0
  column completion_tokens integer not null default 0
  column queued_ms double precision not null default 0
  column model_ms double precision not null default 0
  column run_ms double precision
  column started_at timestamp with time zone not null default now()
  column finished_at timestamp with time zone
  column version text
  column config_sha256 text
  column models jsonb not null default '[]'::jsonb
  column memory_ids uuid[] not null default '{}'::uuid[]
  column cached_from uuid
  column regraded_at timestamp with time zone
  column config_file text
  column roots jsonb
  column grade text
  column verification text not null default 'off'::text
  column claims_dropped integer not null default 0

table nightdesk_data.saved_queries
  column name text not null
  column statement text not null
  column saved_by text not null
  column saved_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.schedule_runs
  column schedule text not null
  column planned_at timestamp with time zone not null
  column batch_id uuid
  column cause text not null
  column made_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.schedules
  column name text not null
  column origin text not null
  column cron text not null
  column timezone text not null
  column command text[] not null
  column catch_up text not null
  column enabled boolean not null
  column switched boolean
  column since timestamp with time zone not null default clock_timestamp()

table nightdesk_data.schema_faults
  column build_sha256 text not null
  column model text not null
  column model_digest text
  column server_version text
  column noticed_at timestamp with time zone not null default clock_timestamp()

table nightdesk_data.searched_vectors
  column singleton boolean not null default true
  column model text not null
  column signature text not null
  column settings jsonb not null
  column since timestamp with time zone not null default now()

table nightdesk_data.segments
  column segment_id bigint not null generated always as identity
  column chunk_ids bigint[] not null
  column merged_into bigint
  column dropped bigint[] not null default '{}'::bigint[]

table nightdesk_data.steps
  column job_id uuid not null
  column ordinal integer not null
  column run_id uuid not null
  column kind text not null
  column effect text
  column request_sha256 text
  column state text not null default 'started'::text
  column detail jsonb not null default '{}'::jsonb
  column started_at timestamp with time zone not null default clock_timestamp()
  column ended_at timestamp with time zone

table nightdesk_data.summary_parts
  column run_id uuid not null
  column path text not null
  column level integer not null
  column ordinal integer not null
  column start_char integer not null
  column end_char integer not null
  column line_start integer not null
  column line_end integer not null
  column summary text not null

table nightdesk_data.tokens
  column token_id uuid not null default gen_random_uuid()
  column name text not null
  column secret_sha256 text not null
  column scopes text[] not null
  column kinds text[] not null
  column presets text[] not null
  column sources text[] not null
  column models text[] not null
  column created_at timestamp with time zone not null default clock_timestamp()
  column expires_at timestamp with time zone not null
  column last_used_at timestamp with time zone
  column revoked_at timestamp with time zone

table nightdesk_data.tool_calls
  column run_id uuid not null
  column ordinal integer not null
  column name text not null
  column args jsonb not null
  column error_code text
  column error_message text
  column result jsonb
  column trailing_text text
  column duration_ms double precision not null
  column job_id uuid
  column step integer
  column grant_id uuid
  column args_sha256 text

table nightdesk_data.watched_files
  column source text not null
  column sha256 text not null
  column path text not null
  column bytes bigint not null
  column inode bigint not null
  column mtime_ns bigint not null
  column seen_at timestamp with time zone not null default now()
  column mail_sha256 text
  column job_id uuid
  column classified_at timestamp with time zone
  column label text
  column label_job_id uuid
  column label_problem text
  column move_to text
  column moved_to text
  column move_problem text

table nightdesk_data.watches
  column source text not null
  column looked_at timestamp with time zone not null
  column files integer not null
  column restless integer not null
  column problem text

table nightdesk_data.workers
  column worker_id uuid not null
  column host text not null
  column pid integer not null
  column version text not null
  column concurrency integer not null
  column config_file text not null
  column shared_config jsonb not null
  column started_at timestamp with time zone not null default now()
  column heartbeat_at timestamp with time zone not null default now()
  column model_hosts text[] not null default '{}'::text[]
  column embedder_hosts text[] not null default '{}'::text[]
  column documents_from text not null default 'files'::text

table nightdesk_data.write_backs
  column write_id bigint not null generated always as identity
  column batch_id uuid not null
  column job_id uuid not null
  column source text not null
  column remote_id text not null
  column kind text not null
  column name text not null
  column pointer text not null
  column value jsonb not null
  column state text not null
  column reason text
  column before jsonb
  column after jsonb
  column sha256 text
  column noted_at timestamp with time zone not null default clock_timestamp()
  column written_at timestamp with time zone
  column undone_at timestamp with time zone
  column asked_at timestamp with time zone
  column decision text
  column correction text
  column decision_reason text
  column decided_by text
  column decided_at timestamp with time zone
  column is_waiting boolean not null generated always as (((state = 'withheld'::text) AND (asked_at IS NOT NULL) AND ((decided_at IS NULL) OR (decided_at < asked_at)))) stored

table nightdesk_data.write_claims
  column source text not null
  column remote_id text not null
  column claim uuid not null
  column expires_at timestamp with time zone not null

constraint applied_config_pkey on nightdesk_data.applied_config PRIMARY KEY (key)

constraint applied_config_sha256_check on nightdesk_data.applied_config CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint approvals_args_check on nightdesk_data.approvals CHECK ((jsonb_typeof(args) = 'object'::text))

constraint approvals_decision_id_fkey on nightdesk_data.approvals FOREIGN KEY (decision_id) REFERENCES nightdesk_data.decisions(decision_id) ON DELETE SET NULL

constraint approvals_executor_check on nightdesk_data.approvals CHECK ((executor <> ''::text))

constraint approvals_fingerprint_check on nightdesk_data.approvals CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text))

constraint approvals_job_id_step_fkey on nightdesk_data.approvals FOREIGN KEY (job_id, step) REFERENCES nightdesk_data.steps(job_id, ordinal) ON DELETE CASCADE

constraint approvals_job_id_step_key on nightdesk_data.approvals UNIQUE (job_id, step)

constraint approvals_pkey on nightdesk_data.approvals PRIMARY KEY (approval_id)

constraint approvals_preview_check on nightdesk_data.approvals CHECK ((length(preview) <= 4000))

constraint approvals_state_check on nightdesk_data.approvals CHECK ((state = ANY (ARRAY['waiting'::text, 'approved'::text, 'denied'::text, 'expired'::text, 'withdrawn'::text])))

constraint approvals_tool_check on nightdesk_data.approvals CHECK ((tool <> ''::text))

constraint only_answers_have_a_decision on nightdesk_data.approvals CHECK (((decision_id IS NULL) OR (state = ANY (ARRAY['approved'::text, 'denied'::text]))))

constraint what_was_decided_has_a_time on nightdesk_data.approvals CHECK (((state = 'waiting'::text) = (decided_at IS NULL)))

constraint artifact_uses_bytes_check on nightdesk_data.artifact_uses CHECK ((bytes >= 0))

constraint artifact_uses_class_check on nightdesk_data.artifact_uses CHECK ((class = ANY (ARRAY['evidence'::text, 'output'::text, 'state'::text])))

constraint artifact_uses_job_id_step_fkey on nightdesk_data.artifact_uses FOREIGN KEY (job_id, step) REFERENCES nightdesk_data.steps(job_id, ordinal) ON DELETE CASCADE

constraint artifact_uses_kept_sha256_fkey on nightdesk_data.artifact_uses FOREIGN KEY (kept_sha256) REFERENCES nightdesk_data.artifacts(sha256)

constraint artifact_uses_pkey on nightdesk_data.artifact_uses PRIMARY KEY (job_id, step, stream)

constraint artifact_uses_sha256_check on nightdesk_data.artifact_uses CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint artifact_uses_stream_check on nightdesk_data.artifact_uses CHECK ((stream <> ''::text))

constraint evidence_is_kept_with_its_job on nightdesk_data.artifact_uses CHECK (((class <> 'evidence'::text) OR (num_nonnulls(expires_at, removed_at) = 0)))

constraint artifacts_are_as_long_as_they_say on nightdesk_data.artifacts CHECK ((length(content) = bytes))

constraint artifacts_bytes_check on nightdesk_data.artifacts CHECK ((bytes >= 0))

constraint artifacts_pkey on nightdesk_data.artifacts PRIMARY KEY (sha256)

constraint artifacts_sha256_check on nightdesk_data.artifacts CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint audits_corrections_check on nightdesk_data.audits CHECK ((jsonb_typeof(corrections) = 'array'::text))

constraint audits_given_check on nightdesk_data.audits CHECK (((given >= 1) AND (given <= 4)))

constraint audits_job_id_fkey on nightdesk_data.audits FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint audits_pkey on nightdesk_data.audits PRIMARY KEY (job_id, round)

constraint audits_round_check on nightdesk_data.audits CHECK ((round >= 0))

constraint audits_score_check on nightdesk_data.audits CHECK (((score >= 1) AND (score <= 4)))

constraint capped_scores_do_not_pass on nightdesk_data.audits CHECK (((caps = '{}'::text[]) OR (score <= 2) OR (NOT readable)))

constraint caps_only_lower on nightdesk_data.audits CHECK ((score <= given))

constraint what_can_be_read_has_a_score on nightdesk_data.audits CHECK (((readable = (score IS NOT NULL)) AND (readable = (given IS NOT NULL))))

constraint batch_budgets_batch_id_fkey on nightdesk_data.batch_budgets FOREIGN KEY (batch_id) REFERENCES nightdesk_data.batches(batch_id) ON DELETE CASCADE

constraint batch_budgets_calls_limit_check on nightdesk_data.batch_budgets CHECK ((calls_limit > 0))

constraint batch_budgets_calls_reserved_check on nightdesk_data.batch_budgets CHECK ((calls_reserved >= 0))

constraint batch_budgets_calls_used_check on nightdesk_data.batch_budgets CHECK ((calls_used >= 0))

constraint batch_budgets_money_limit_check on nightdesk_data.batch_budgets CHECK ((money_limit > (0)::double precision))

constraint batch_budgets_money_used_check on nightdesk_data.batch_budgets CHECK ((money_used >= (0)::double precision))

constraint batch_budgets_own_check on nightdesk_data.batch_budgets CHECK ((own <@ ARRAY['tokens'::text, 'calls'::text, 'seconds'::text, 'money'::text]))

constraint batch_budgets_pkey on nightdesk_data.batch_budgets PRIMARY KEY (batch_id)

constraint batch_budgets_refused_by_check on nightdesk_data.batch_budgets CHECK ((refused_by = ANY (ARRAY['batch'::text, 'night'::text])))

constraint batch_budgets_seconds_limit_check on nightdesk_data.batch_budgets CHECK ((seconds_limit > (0)::double precision))

constraint batch_budgets_seconds_used_check on nightdesk_data.batch_budgets CHECK ((seconds_used >= (0)::double precision))

constraint batch_budgets_tokens_limit_check on nightdesk_data.batch_budgets CHECK ((tokens_limit > 0))

constraint batch_budgets_tokens_reserved_check on nightdesk_data.batch_budgets CHECK ((tokens_reserved >= 0))

constraint batch_budgets_tokens_used_check on nightdesk_data.batch_budgets CHECK ((tokens_used >= 0))

constraint refusals_say_what_was_needed on nightdesk_data.batch_budgets CHECK ((num_nulls(tokens_needed, refused_by, refused_at) = ANY (ARRAY[0, 3])))

constraint batch_counts_batch_id_fkey on nightdesk_data.batch_counts FOREIGN KEY (batch_id) REFERENCES nightdesk_data.batches(batch_id) ON DELETE CASCADE

constraint batch_counts_pkey on nightdesk_data.batch_counts PRIMARY KEY (batch_id, shard)

constraint states_add_up_to_the_total on nightdesk_data.batch_counts CHECK (((((((((queued + running) + parked) + succeeded) + refused) + failed) + cancelled) + expired) = total))

constraint batch_end_hook_pkey on nightdesk_data.batch_end_hook PRIMARY KEY (singleton)

constraint batch_end_hook_singleton_check on nightdesk_data.batch_end_hook CHECK (singleton)

constraint batch_end_hook_targets_check on nightdesk_data.batch_end_hook CHECK ((targets <@ ARRAY['command'::text, 'webhook'::text, 'write_back'::text]))

constraint batch_outputs_batch_id_fkey on nightdesk_data.batch_outputs FOREIGN KEY (batch_id) REFERENCES nightdesk_data.batches(batch_id) ON DELETE CASCADE

constraint batch_outputs_bytes_check on nightdesk_data.batch_outputs CHECK ((bytes >= 0))

constraint batch_outputs_cut_check on nightdesk_data.batch_outputs CHECK ((cut >= 0))

constraint batch_outputs_pkey on nightdesk_data.batch_outputs PRIMARY KEY (batch_id)

constraint batches_format_check on nightdesk_data.batches CHECK ((format = ANY (ARRAY['native'::text, 'openai'::text])))

constraint batches_hold_reason_check on nightdesk_data.batches CHECK ((hold_reason = ANY (ARRAY['paused'::text, 'window'::text, 'budget'::text, 'host'::text, 'approvals'::text])))

constraint batches_name_check on nightdesk_data.batches CHECK (((name <> ''::text) AND (length(name) <= 200)))

constraint batches_name_key on nightdesk_data.batches UNIQUE (name)

constraint batches_origin_check on nightdesk_data.batches CHECK ((origin = ANY (ARRAY['file'::text, 'ad_hoc'::text, 'schedule'::text, 'system'::text, 'verify'::text])))

constraint batches_parent_id_fkey on nightdesk_data.batches FOREIGN KEY (parent_id) REFERENCES nightdesk_data.batches(batch_id) ON DELETE CASCADE

constraint batches_pinned_check on nightdesk_data.batches CHECK ((pinned = ANY (ARRAY['always'::text, 'until_exported'::text])))

constraint batches_pkey on nightdesk_data.batches PRIMARY KEY (batch_id)

constraint batches_priority_check on nightdesk_data.batches CHECK (((priority >= '-100'::integer) AND (priority <= 100)))

constraint batches_state_check on nightdesk_data.batches CHECK ((state = ANY (ARRAY['loading'::text, 'open'::text, 'completed'::text, 'cancelled'::text, 'expired'::text])))

constraint batches_trace_context_check on nightdesk_data.batches CHECK ((trace_context ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'::text))

constraint finished_batches_have_a_time on nightdesk_data.batches CHECK (((finished_at IS NOT NULL) = (state = ANY (ARRAY['completed'::text, 'cancelled'::text, 'expired'::text]))))

constraint hold_until_needs_a_reason on nightdesk_data.batches CHECK (((hold_until IS NULL) OR (hold_reason IS NOT NULL)))

constraint loads_have_a_time on nightdesk_data.batches CHECK (((load_id IS NULL) = (load_until IS NULL)))

constraint only_closed_batches_are_closing on nightdesk_data.batches CHECK (((NOT closing) OR (state = ANY (ARRAY['cancelled'::text, 'expired'::text]))))

constraint only_open_batches_are_held on nightdesk_data.batches CHECK (((hold_reason IS NULL) OR (state = 'open'::text)))

constraint own_batches_have_a_parent on nightdesk_data.batches CHECK (((origin = ANY (ARRAY['system'::text, 'verify'::text])) = (parent_id IS NOT NULL)))

constraint call_reasoning_call_id_fkey on nightdesk_data.call_reasoning FOREIGN KEY (call_id) REFERENCES nightdesk_data.model_calls(call_id) ON DELETE CASCADE

constraint call_reasoning_chars_check on nightdesk_data.call_reasoning CHECK ((chars > 0))

constraint call_reasoning_pkey on nightdesk_data.call_reasoning PRIMARY KEY (call_id)

constraint call_reasoning_reasoning_check on nightdesk_data.call_reasoning CHECK (((reasoning <> ''::text) AND (char_length(reasoning) <= 65000)))

constraint checks_check_job_id_fkey on nightdesk_data.checks FOREIGN KEY (check_job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE SET NULL

constraint checks_claim_check on nightdesk_data.checks CHECK ((claim <> ''::text))

constraint checks_claim_number_check on nightdesk_data.checks CHECK ((claim_number >= 1))

constraint checks_draft_sha256_check on nightdesk_data.checks CHECK ((draft_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint checks_evidence_check on nightdesk_data.checks CHECK ((jsonb_typeof(evidence) = 'array'::text))

constraint checks_expects_check on nightdesk_data.checks CHECK ((expects = ANY (ARRAY['yes'::text, 'no'::text])))

constraint checks_how_check on nightdesk_data.checks CHECK ((how = ANY (ARRAY['rule'::text, 'model'::text])))

constraint checks_job_id_fkey on nightdesk_data.checks FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint checks_ordinal_check on nightdesk_data.checks CHECK ((ordinal >= 0))

constraint checks_pkey on nightdesk_data.checks PRIMARY KEY (job_id, round, ordinal)

constraint checks_question_check on nightdesk_data.checks CHECK ((question <> ''::text))

constraint checks_reason_check on nightdesk_data.checks CHECK ((reason = ANY (ARRAY['source_missing'::text, 'sources_disagree'::text, 'out_of_budget'::text, 'stagnated'::text, 'blocked_by_approval'::text, 'auditor_failed'::text])))

constraint checks_round_check on nightdesk_data.checks CHECK ((round >= 0))

constraint checks_state_check on nightdesk_data.checks CHECK ((state = ANY (ARRAY['open'::text, 'yes'::text, 'no'::text, 'unknown'::text])))

constraint only_unknown_checks_have_a_reason on nightdesk_data.checks CHECK (((state = 'unknown'::text) = (reason IS NOT NULL)))

constraint rules_ask_no_job on nightdesk_data.checks CHECK (((how = 'model'::text) OR ((check_job_id IS NULL) AND (rule IS NOT NULL))))

constraint chunk_counts_pkey on nightdesk_data.chunk_counts PRIMARY KEY (shard, language)

constraint chunks_chunk_key_check on nightdesk_data.chunks CHECK ((chunk_key ~ '^[0-9a-f]{32}$'::text))

constraint chunks_chunk_key_key on nightdesk_data.chunks UNIQUE (chunk_key)

constraint chunks_doc_id_fkey on nightdesk_data.chunks FOREIGN KEY (doc_id) REFERENCES nightdesk_data.documents(doc_id) ON DELETE CASCADE

constraint chunks_doc_id_ordinal_key on nightdesk_data.chunks UNIQUE (doc_id, ordinal) DEFERRABLE

constraint chunks_heading_path_check on nightdesk_data.chunks CHECK ((heading_path <> ''::text))

constraint chunks_language_check on nightdesk_data.chunks CHECK ((language ~ '^[a-z]+$'::text))

constraint chunks_line_start_check on nightdesk_data.chunks CHECK ((line_start >= 1))

constraint chunks_locator_check on nightdesk_data.chunks CHECK ((jsonb_typeof(locator) = 'object'::text))

constraint chunks_ordinal_check on nightdesk_data.chunks CHECK ((ordinal >= 0))

constraint chunks_pkey on nightdesk_data.chunks PRIMARY KEY (chunk_id)

constraint chunks_run_forward on nightdesk_data.chunks CHECK (((end_char > start_char) AND (line_end >= line_start)))

constraint chunks_sha256_check on nightdesk_data.chunks CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint chunks_start_char_check on nightdesk_data.chunks CHECK ((start_char >= 0))

constraint chunks_terms_check on nightdesk_data.chunks CHECK ((terms >= 0))

constraint text_fills_the_span on nightdesk_data.chunks CHECK ((char_length(text) = (end_char - start_char)))

constraint claim_checks_ordinal_check on nightdesk_data.claim_checks CHECK ((ordinal >= 0))

constraint claim_checks_pkey on nightdesk_data.claim_checks PRIMARY KEY (run_id, draft, claim, ordinal)

constraint claim_checks_rule_check on nightdesk_data.claim_checks CHECK ((rule <> ''::text))

constraint claim_checks_run_id_draft_claim_fkey on nightdesk_data.claim_checks FOREIGN KEY (run_id, draft, claim) REFERENCES nightdesk_data.claims(run_id, draft, ordinal) ON DELETE CASCADE

constraint claim_checks_verdict_check on nightdesk_data.claim_checks CHECK ((verdict = ANY (ARRAY['pass'::text, 'fail'::text, 'unknown'::text])))

constraint claim_spans_run_forward on nightdesk_data.claims CHECK (((end_char >= start_char) AND (line_end >= line_start)))

constraint claims_draft_check on nightdesk_data.claims CHECK ((draft >= 0))

constraint claims_fate_check on nightdesk_data.claims CHECK ((fate = ANY (ARRAY['kept'::text, 'marked'::text, 'repaired'::text, 'dropped'::text, 'flagged'::text])))

constraint claims_grade_check on nightdesk_data.claims CHECK ((grade = ANY (ARRAY['supported'::text, 'unconfirmed'::text, 'unsupported'::text])))

constraint claims_have_a_place_or_none on nightdesk_data.claims CHECK ((num_nulls(number, path, start_char, end_char, line_start, line_end) = ANY (ARRAY[0, 6])))

constraint claims_line_start_check on nightdesk_data.claims CHECK ((line_start >= 1))

constraint claims_locator_check on nightdesk_data.claims CHECK ((jsonb_typeof(locator) = 'object'::text))

constraint claims_number_check on nightdesk_data.claims CHECK ((number >= 1))

constraint claims_ordinal_check on nightdesk_data.claims CHECK ((ordinal >= 0))

constraint claims_other_places_check on nightdesk_data.claims CHECK ((jsonb_typeof(other_places) = 'array'::text))

constraint claims_pkey on nightdesk_data.claims PRIMARY KEY (run_id, draft, ordinal)

constraint claims_reason_check on nightdesk_data.claims CHECK ((reason = ANY (ARRAY['verbatim'::text, 'computed'::text, 'confirmed'::text, 'uncited'::text, 'not_admitted'::text, 'quote'::text, 'figure'::text, 'name'::text, 'polarity'::text, 'opposite'::text, 'anchor'::text, 'subject'::text, 'frame'::text, 'label'::text, 'reading'::text, 'judge'::text, 'unclear'::text, 'not_asked'::text])))

constraint claims_run_id_fkey on nightdesk_data.claims FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint claims_start_char_check on nightdesk_data.claims CHECK ((start_char >= 0))

constraint claims_text_check on nightdesk_data.claims CHECK ((text <> ''::text))

constraint claims_without_a_place_have_no_locator on nightdesk_data.claims CHECK (((locator IS NULL) OR (path IS NOT NULL)))

constraint supported_claims_are_carried_somewhere on nightdesk_data.claims CHECK (((grade <> 'supported'::text) OR ((path IS NOT NULL) AND (reason = ANY (ARRAY['verbatim'::text, 'computed'::text, 'confirmed'::text])))))

constraint supported_claims_are_kept on nightdesk_data.claims CHECK (((grade = 'supported'::text) = (fate = 'kept'::text)))

constraint unconfirmed_claims_are_marked on nightdesk_data.claims CHECK (((grade = 'unconfirmed'::text) = (fate = 'marked'::text)))

constraint what_was_left_out_does_not_stand on nightdesk_data.claims CHECK (((NOT stands) OR (fate = ANY (ARRAY['kept'::text, 'marked'::text, 'flagged'::text]))))

constraint constraints_job_id_fkey on nightdesk_data.constraints FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint constraints_job_id_ordinal_key on nightdesk_data.constraints UNIQUE (job_id, ordinal)

constraint constraints_needed_check on nightdesk_data.constraints CHECK ((needed <> ''::text))

constraint constraints_ordinal_check on nightdesk_data.constraints CHECK ((ordinal >= 0))

constraint constraints_pkey on nightdesk_data.constraints PRIMARY KEY (constraint_id)

constraint constraints_reason_check on nightdesk_data.constraints CHECK ((reason = ANY (ARRAY['source_missing'::text, 'sources_disagree'::text, 'out_of_budget'::text, 'stagnated'::text, 'blocked_by_approval'::text, 'auditor_failed'::text])))

constraint constraints_what_check on nightdesk_data.constraints CHECK ((what <> ''::text))

constraint contents_are_as_long_as_they_say on nightdesk_data.contents CHECK ((length(content) = bytes))

constraint contents_bytes_check on nightdesk_data.contents CHECK ((bytes >= 0))

constraint contents_extractor_check on nightdesk_data.contents CHECK ((extractor <> ''::text))

constraint contents_pkey on nightdesk_data.contents PRIMARY KEY (sha256)

constraint contents_sha256_check on nightdesk_data.contents CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint coverage_claim_number_check on nightdesk_data.coverage CHECK ((claim_number >= 1))

constraint coverage_job_id_fkey on nightdesk_data.coverage FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint coverage_members_check on nightdesk_data.coverage CHECK ((members >= 0))

constraint coverage_pkey on nightdesk_data.coverage PRIMARY KEY (job_id, round, claim_number)

constraint coverage_read_check on nightdesk_data.coverage CHECK ((read >= 0))

constraint coverage_round_check on nightdesk_data.coverage CHECK ((round >= 0))

constraint coverage_set_query_check on nightdesk_data.coverage CHECK ((set_query <> ''::text))

constraint no_more_is_read_than_there_is on nightdesk_data.coverage CHECK ((read <= members))

constraint dead_chunks_pkey on nightdesk_data.dead_chunks PRIMARY KEY (chunk_id)

constraint decisions_are_about_something on nightdesk_data.decisions CHECK (((fingerprint IS NOT NULL) OR (rule IS NOT NULL)))

constraint decisions_batch_id_fkey on nightdesk_data.decisions FOREIGN KEY (batch_id) REFERENCES nightdesk_data.batches(batch_id) ON DELETE CASCADE

constraint decisions_decided_by_check on nightdesk_data.decisions CHECK ((decided_by <> ''::text))

constraint decisions_fingerprint_check on nightdesk_data.decisions CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text))

constraint decisions_for_a_batch_name_it on nightdesk_data.decisions CHECK (((scope = 'batch'::text) = (batch_id IS NOT NULL)))

constraint decisions_for_a_job_name_it on nightdesk_data.decisions CHECK (((scope = 'job'::text) = (job_id IS NOT NULL)))

constraint decisions_hits_check on nightdesk_data.decisions CHECK ((hits >= 0))

constraint decisions_job_id_fkey on nightdesk_data.decisions FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint decisions_pkey on nightdesk_data.decisions PRIMARY KEY (decision_id)

constraint decisions_rule_check on nightdesk_data.decisions CHECK ((jsonb_typeof(rule) = 'object'::text))

constraint decisions_scope_check on nightdesk_data.decisions CHECK ((scope = ANY (ARRAY['once'::text, 'job'::text, 'batch'::text, 'rule'::text])))

constraint decisions_verdict_check on nightdesk_data.decisions CHECK ((verdict = ANY (ARRAY['approve'::text, 'deny'::text])))

constraint denials_have_a_reason on nightdesk_data.decisions CHECK (((verdict <> 'deny'::text) OR (btrim(reason) <> ''::text)))

constraint rules_expire on nightdesk_data.decisions CHECK (((scope <> 'rule'::text) OR (expires_at IS NOT NULL) OR ((verdict = 'deny'::text) AND (rule IS NOT NULL))))

constraint rules_stand on nightdesk_data.decisions CHECK (((rule IS NULL) OR (scope <> 'once'::text)))

constraint document_failures_bytes_check on nightdesk_data.document_failures CHECK ((bytes >= 0))

constraint document_failures_error_code_check on nightdesk_data.document_failures CHECK ((error_code <> ''::text))

constraint document_failures_error_message_check on nightdesk_data.document_failures CHECK ((error_message <> ''::text))

constraint document_failures_file_check on nightdesk_data.document_failures CHECK ((file <> ''::text))

constraint document_failures_path_check on nightdesk_data.document_failures CHECK ((path <> ''::text))

constraint document_failures_pkey on nightdesk_data.document_failures PRIMARY KEY (source, path)

constraint document_failures_reader_check on nightdesk_data.document_failures CHECK ((reader ~ '^[0-9a-f]{32}$'::text))

constraint document_failures_source_check on nightdesk_data.document_failures CHECK ((source <> ''::text))

constraint document_failures_tries_check on nightdesk_data.document_failures CHECK ((tries > 0))

constraint tries_are_of_a_file on nightdesk_data.document_failures CHECK (((tries IS NULL) OR (file IS NOT NULL)))

constraint what_a_failure_rests_on_is_whole on nightdesk_data.document_failures CHECK ((num_nulls(file, bytes, mtime_ns, ctime_ns, inode, settled, reader) = ANY (ARRAY[0, 7])))

constraint a_character_takes_a_byte on nightdesk_data.documents CHECK (((chars <= bytes) OR (extractor <> 'utf-8'::text)))

constraint a_day_has_an_end_and_a_source on nightdesk_data.documents CHECK ((((day IS NULL) = (day_until IS NULL)) AND ((day IS NULL) = (day_source IS NULL)) AND (day <= day_until)))

constraint an_attachment_lies_below_its_mail on nightdesk_data.documents CHECK (((mail IS NULL) OR starts_with(path, (mail || '/'::text))))

constraint documents_attachments_check on nightdesk_data.documents CHECK ((attachments >= 0))

constraint documents_bytes_check on nightdesk_data.documents CHECK ((bytes >= 0))

constraint documents_chars_check on nightdesk_data.documents CHECK ((chars >= 0))

constraint documents_chunk_settings_check on nightdesk_data.documents CHECK ((chunk_settings <> ''::text))

constraint documents_chunks_sha256_check on nightdesk_data.documents CHECK ((chunks_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint documents_dates_check on nightdesk_data.documents CHECK ((jsonb_typeof(dates) = 'array'::text))

constraint documents_day_source_check on nightdesk_data.documents CHECK ((day_source = ANY (ARRAY['frontmatter'::text, 'mail_header'::text, 'html_meta'::text, 'file_name'::text, 'text'::text, 'properties'::text])))

constraint documents_extractor_check on nightdesk_data.documents CHECK ((extractor <> ''::text))

constraint documents_language_check on nightdesk_data.documents CHECK ((language ~ '^[a-z]+$'::text))

constraint documents_left_out_check on nightdesk_data.documents CHECK ((jsonb_typeof(left_out) = 'object'::text))

constraint documents_metadata_state_check on nightdesk_data.documents CHECK ((metadata_state = ANY (ARRAY['absent'::text, 'unknown'::text, 'present'::text])))

constraint documents_path_check on nightdesk_data.documents CHECK (((path <> ''::text) AND (path !~ '^/'::text)))

constraint documents_pkey on nightdesk_data.documents PRIMARY KEY (doc_id)

constraint documents_sha256_check on nightdesk_data.documents CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint documents_sketch_check on nightdesk_data.documents CHECK ((octet_length(sketch) = 512))

constraint documents_source_check on nightdesk_data.documents CHECK ((source <> ''::text))

constraint documents_source_path_key on nightdesk_data.documents UNIQUE (source, path)

constraint metadata_is_a_mapping on nightdesk_data.documents CHECK (((metadata IS NULL) OR (jsonb_typeof(metadata) = 'object'::text)))

constraint only_present_metadata_is_stored on nightdesk_data.documents CHECK (((metadata_state = 'present'::text) = (metadata IS NOT NULL)))

constraint only_unknown_metadata_has_a_problem on nightdesk_data.documents CHECK (((metadata_problem IS NULL) OR (metadata_state = 'unknown'::text)))

constraint draft_reviews_decided_by_check on nightdesk_data.draft_reviews CHECK ((decided_by <> ''::text))

constraint draft_reviews_draft_sha256_check on nightdesk_data.draft_reviews CHECK ((draft_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint draft_reviews_job_id_fkey on nightdesk_data.draft_reviews FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint draft_reviews_pkey on nightdesk_data.draft_reviews PRIMARY KEY (job_id)

constraint draft_reviews_run_id_fkey on nightdesk_data.draft_reviews FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint draft_reviews_state_check on nightdesk_data.draft_reviews CHECK ((state = ANY (ARRAY['waiting'::text, 'accepted'::text, 'corrected'::text, 'rejected'::text])))

constraint draft_reviews_why_check on nightdesk_data.draft_reviews CHECK ((why <> ''::text))

constraint only_corrections_have_words on nightdesk_data.draft_reviews CHECK (((state = 'corrected'::text) = (correction IS NOT NULL)))

constraint rejections_have_a_reason on nightdesk_data.draft_reviews CHECK (((state <> 'rejected'::text) OR (btrim(reason) <> ''::text)))

constraint reviews_that_were_decided_say_by_whom on nightdesk_data.draft_reviews CHECK ((((state = 'waiting'::text) = (decided_at IS NULL)) AND ((decided_at IS NULL) = (decided_by IS NULL))))

constraint embeddings_chunk_id_fkey on nightdesk_data.embeddings FOREIGN KEY (chunk_id) REFERENCES nightdesk_data.chunks(chunk_id) ON DELETE CASCADE

constraint embeddings_dims_check on nightdesk_data.embeddings CHECK ((dims > 0))

constraint embeddings_model_check on nightdesk_data.embeddings CHECK ((model <> ''::text))

constraint embeddings_pkey on nightdesk_data.embeddings PRIMARY KEY (chunk_id, signature)

constraint embeddings_signature_check on nightdesk_data.embeddings CHECK ((signature ~ '^[0-9a-f]{32}$'::text))

constraint vectors_have_one_precision on nightdesk_data.embeddings CHECK ((num_nonnulls(embedding, half_embedding) = 1))

constraint vectors_have_their_dims on nightdesk_data.embeddings CHECK ((COALESCE(public.vector_dims(embedding), public.vector_dims(half_embedding)) = dims))

constraint a_file_is_truncated_or_whole on nightdesk_data.evidence CHECK (((kind <> 'file'::text) OR (truncated = (chars_returned < chars_full))))

constraint chunks_have_a_key on nightdesk_data.evidence CHECK (((kind = 'chunk'::text) = (chunk_key IS NOT NULL)))

constraint evidence_chars_full_check on nightdesk_data.evidence CHECK ((chars_full >= 0))

constraint evidence_chars_returned_check on nightdesk_data.evidence CHECK ((chars_returned >= 0))

constraint evidence_extractor_check on nightdesk_data.evidence CHECK ((extractor <> ''::text))

constraint evidence_kind_check on nightdesk_data.evidence CHECK ((kind = ANY (ARRAY['file'::text, 'chunk'::text, 'web'::text, 'output'::text])))

constraint evidence_left_out_check on nightdesk_data.evidence CHECK ((jsonb_typeof(left_out) = 'object'::text))

constraint evidence_line_start_check on nightdesk_data.evidence CHECK ((line_start >= 1))

constraint evidence_locator_check on nightdesk_data.evidence CHECK ((jsonb_typeof(locator) = 'object'::text))

constraint evidence_ordinal_check on nightdesk_data.evidence CHECK ((ordinal >= 0))

constraint evidence_path_check on nightdesk_data.evidence CHECK ((path <> ''::text))

constraint evidence_pkey on nightdesk_data.evidence PRIMARY KEY (evidence_id)

constraint evidence_run_id_fkey on nightdesk_data.evidence FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint evidence_run_id_ordinal_key on nightdesk_data.evidence UNIQUE (run_id, ordinal)

constraint evidence_sha256_check on nightdesk_data.evidence CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint evidence_start_char_check on nightdesk_data.evidence CHECK ((start_char >= 0))

constraint evidence_text_sha256_check on nightdesk_data.evidence CHECK ((text_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint rejected_evidence_has_a_reason on nightdesk_data.evidence CHECK ((admitted = (rejected_reason IS NULL)))

constraint spans_run_forward on nightdesk_data.evidence CHECK (((end_char >= start_char) AND (line_end >= line_start)))

constraint web_pages_have_a_time on nightdesk_data.evidence CHECK ((((kind = 'web'::text) = (retrieved_at IS NOT NULL)) AND ((kind = 'web'::text) OR (title IS NULL))))

constraint exams_calls_check on nightdesk_data.exams CHECK ((calls > 0))

constraint exams_check on nightdesk_data.exams CHECK (((wrong_confirmed >= 0) AND (wrong_confirmed <= wrong_asked)))

constraint exams_check1 on nightdesk_data.exams CHECK (((right_confirmed >= 0) AND (right_confirmed <= right_asked)))

constraint exams_check2 on nightdesk_data.exams CHECK (((yes_from IS NULL) OR ((form = 'nli'::text) AND ((yes_from >= (0)::double precision) AND (yes_from <= (1)::double precision)))))

constraint exams_controls_check on nightdesk_data.exams CHECK ((controls >= 0))

constraint exams_exam_check on nightdesk_data.exams CHECK ((exam <> ''::text))

constraint exams_form_check on nightdesk_data.exams CHECK ((form = ANY (ARRAY['list'::text, 'yes_no'::text, 'nli'::text])))

constraint exams_identity_check on nightdesk_data.exams CHECK ((identity ~ '^[0-9a-f]{64}$'::text))

constraint exams_model_check on nightdesk_data.exams CHECK ((model <> ''::text))

constraint exams_nodding_check on nightdesk_data.exams CHECK ((nodding >= (0)::double precision))

constraint exams_own_check on nightdesk_data.exams CHECK ((own ?& ARRAY['machine'::text, 'person'::text]))

constraint exams_parts_check on nightdesk_data.exams CHECK ((jsonb_typeof(parts) = 'array'::text))

constraint exams_pkey on nightdesk_data.exams PRIMARY KEY (identity, form, prompt, exam)

constraint exams_prompt_check on nightdesk_data.exams CHECK ((prompt <> ''::text))

constraint exams_right_asked_check on nightdesk_data.exams CHECK ((right_asked >= 0))

constraint exams_sleeping_check on nightdesk_data.exams CHECK ((sleeping >= (0)::double precision))

constraint exams_state_check on nightdesk_data.exams CHECK ((state = ANY (ARRAY['passed'::text, 'weak'::text, 'failed'::text, 'useless'::text])))

constraint exams_wrong_asked_check on nightdesk_data.exams CHECK ((wrong_asked >= 0))

constraint binding_spans_run_forward on nightdesk_data.field_bindings CHECK (((end_char >= start_char) AND (line_end >= line_start)))

constraint bindings_have_a_place_or_none on nightdesk_data.field_bindings CHECK ((num_nulls(number, path, start_char, end_char, line_start, line_end) = ANY (ARRAY[0, 6])))

constraint bound_values_have_words_at_a_place on nightdesk_data.field_bindings CHECK ((((state = 'bound'::text) = (quote IS NOT NULL)) AND ((quote IS NULL) = (path IS NULL))))

constraint bound_values_may_be_in_doubt on nightdesk_data.field_bindings CHECK (((state <> 'bound'::text) OR COALESCE((reason = ANY (ARRAY['no_quote'::text, 'other_label'::text, 'reading'::text, 'judge'::text])), true)))

constraint field_bindings_correction_check on nightdesk_data.field_bindings CHECK ((jsonb_typeof(correction) = ANY (ARRAY['string'::text, 'number'::text, 'boolean'::text])))

constraint field_bindings_decided_by_check on nightdesk_data.field_bindings CHECK ((decided_by <> ''::text))

constraint field_bindings_decision_check on nightdesk_data.field_bindings CHECK ((decision = ANY (ARRAY['accepted'::text, 'corrected'::text, 'rejected'::text])))

constraint field_bindings_decision_reason_check on nightdesk_data.field_bindings CHECK ((btrim(decision_reason) <> ''::text))

constraint field_bindings_grade_check on nightdesk_data.field_bindings CHECK ((grade = ANY (ARRAY['supported'::text, 'unconfirmed'::text, 'unsupported'::text])))

constraint field_bindings_judge_says_check on nightdesk_data.field_bindings CHECK ((judge_says = ANY (ARRAY['yes'::text, 'no'::text, 'unclear'::text])))

constraint field_bindings_line_start_check on nightdesk_data.field_bindings CHECK ((line_start >= 1))

constraint field_bindings_locator_check on nightdesk_data.field_bindings CHECK ((jsonb_typeof(locator) = 'object'::text))

constraint field_bindings_number_check on nightdesk_data.field_bindings CHECK ((number >= 1))

constraint field_bindings_ordinal_check on nightdesk_data.field_bindings CHECK ((ordinal >= 0))

constraint field_bindings_pkey on nightdesk_data.field_bindings PRIMARY KEY (run_id, ordinal)

constraint field_bindings_reason_check on nightdesk_data.field_bindings CHECK ((reason = ANY (ARRAY['no_quote'::text, 'quote_not_found'::text, 'quote_short'::text, 'not_in_quote'::text, 'other_label'::text, 'reading'::text, 'judge'::text])))

constraint field_bindings_run_id_fkey on nightdesk_data.field_bindings FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint field_bindings_start_char_check on nightdesk_data.field_bindings CHECK ((start_char >= 0))

constraint field_bindings_state_check on nightdesk_data.field_bindings CHECK ((state = ANY (ARRAY['bound'::text, 'unbound'::text, 'null'::text])))

constraint field_bindings_value_check on nightdesk_data.field_bindings CHECK ((jsonb_typeof(value) <> ALL (ARRAY['object'::text, 'array'::text])))

constraint fields_that_were_decided_say_by_whom on nightdesk_data.field_bindings CHECK ((num_nonnulls(decision, decided_by, decided_at) = ANY (ARRAY[0, 3])))

constraint judges_say_it_in_words on nightdesk_data.field_bindings CHECK (((judge_says IS NULL) = (judge_detail IS NULL)))

constraint no_value_is_not_accepted on nightdesk_data.field_bindings CHECK (((decision IS DISTINCT FROM 'accepted'::text) OR (state <> 'null'::text)))

constraint only_corrected_fields_have_a_correction on nightdesk_data.field_bindings CHECK (((NOT (decision IS DISTINCT FROM 'corrected'::text)) = (correction IS NOT NULL)))

constraint only_decided_fields_have_a_reason on nightdesk_data.field_bindings CHECK (((decision_reason IS NULL) OR (decision IS NOT NULL)))

constraint unbound_values_have_a_reason on nightdesk_data.field_bindings CHECK (((state <> 'unbound'::text) OR (reason IS NOT NULL)))

constraint values_have_a_grade on nightdesk_data.field_bindings CHECK (((state = 'null'::text) = (grade IS NULL)))

constraint what_is_null_has_no_value on nightdesk_data.field_bindings CHECK (((state = 'null'::text) = (jsonb_typeof(value) = 'null'::text)))

constraint figure_spans_run_forward on nightdesk_data.figures CHECK (((end_char >= start_char) AND (line_end >= line_start)))

constraint figures_figure_check on nightdesk_data.figures CHECK ((figure <> ''::text))

constraint figures_have_a_place_in_evidence on nightdesk_data.figures CHECK (((path IS NULL) OR (stands_in = ANY (ARRAY['evidence'::text, 'both'::text]))))

constraint figures_kind_check on nightdesk_data.figures CHECK ((kind = ANY (ARRAY['number'::text, 'date'::text, 'link'::text, 'path'::text])))

constraint figures_line_start_check on nightdesk_data.figures CHECK ((line_start >= 1))

constraint figures_number_check on nightdesk_data.figures CHECK ((number >= 1))

constraint figures_ordinal_check on nightdesk_data.figures CHECK ((ordinal >= 0))

constraint figures_pkey on nightdesk_data.figures PRIMARY KEY (run_id, ordinal)

constraint figures_run_id_fkey on nightdesk_data.figures FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint figures_stand_somewhere_or_nowhere on nightdesk_data.figures CHECK ((num_nulls(number, path, start_char, end_char, line_start, line_end) = ANY (ARRAY[0, 6])))

constraint figures_stands_in_check on nightdesk_data.figures CHECK ((stands_in = ANY (ARRAY['evidence'::text, 'question'::text, 'both'::text, 'neither'::text])))

constraint figures_start_char_check on nightdesk_data.figures CHECK ((start_char >= 0))

constraint grants_job_id_fkey on nightdesk_data.grants FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint grants_job_id_key on nightdesk_data.grants UNIQUE (job_id)

constraint grants_limits_check on nightdesk_data.grants CHECK ((jsonb_typeof(limits) = 'object'::text))

constraint grants_pkey on nightdesk_data.grants PRIMARY KEY (grant_id)

constraint grants_preset_check on nightdesk_data.grants CHECK ((preset <> ''::text))

constraint grants_preset_sha256_check on nightdesk_data.grants CHECK ((preset_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint hold_history_batch_id_fkey on nightdesk_data.hold_history FOREIGN KEY (batch_id) REFERENCES nightdesk_data.batches(batch_id) ON DELETE CASCADE

constraint hold_history_pkey on nightdesk_data.hold_history PRIMARY KEY (hold_id)

constraint hold_history_reason_check on nightdesk_data.hold_history CHECK ((reason = ANY (ARRAY['paused'::text, 'window'::text, 'budget'::text, 'host'::text, 'approvals'::text])))

constraint hold_history_times_check on nightdesk_data.hold_history CHECK ((times >= 1))

constraint spans_go_forward on nightdesk_data.hold_history CHECK (((began_at <= since) AND (since <= ended_at)))

constraint host_choices_host_fkey on nightdesk_data.host_choices FOREIGN KEY (host) REFERENCES nightdesk_data.hosts(host) ON DELETE CASCADE

constraint host_choices_pkey on nightdesk_data.host_choices PRIMARY KEY (run_id, host)

constraint host_models_digest_check on nightdesk_data.host_models CHECK ((digest ~ '^[0-9a-f]{64}$'::text))

constraint host_models_features_check on nightdesk_data.host_models CHECK ((jsonb_typeof(features) = 'object'::text))

constraint host_models_model_check on nightdesk_data.host_models CHECK ((model <> ''::text))

constraint host_models_pkey on nightdesk_data.host_models PRIMARY KEY (host, model)

constraint host_models_window_tokens_check on nightdesk_data.host_models CHECK ((window_tokens > 0))

constraint host_nights_calls_check on nightdesk_data.host_nights CHECK ((calls >= 0))

constraint host_nights_host_fkey on nightdesk_data.host_nights FOREIGN KEY (host) REFERENCES nightdesk_data.hosts(host) ON DELETE CASCADE

constraint host_nights_money_check on nightdesk_data.host_nights CHECK ((money >= (0)::double precision))

constraint host_nights_pkey on nightdesk_data.host_nights PRIMARY KEY (host, night)

constraint host_nights_tokens_check on nightdesk_data.host_nights CHECK ((tokens >= 0))

constraint host_slots_host_fkey on nightdesk_data.host_slots FOREIGN KEY (host) REFERENCES nightdesk_data.hosts(host) ON DELETE CASCADE

constraint host_slots_in_use_check on nightdesk_data.host_slots CHECK ((in_use >= 1))

constraint host_slots_pkey on nightdesk_data.host_slots PRIMARY KEY (host, slot)

constraint host_slots_slot_check on nightdesk_data.host_slots CHECK (((slot >= 1) AND (slot <= 64)))

constraint host_slots_ticket_key on nightdesk_data.host_slots UNIQUE (ticket)

constraint taken_slots_are_taken_whole on nightdesk_data.host_slots CHECK ((num_nulls(ticket, run_id, taken_at, in_use) = ANY (ARRAY[0, 4])))

constraint host_waiters_host_fkey on nightdesk_data.host_waiters FOREIGN KEY (host) REFERENCES nightdesk_data.hosts(host) ON DELETE CASCADE

constraint host_waiters_pkey on nightdesk_data.host_waiters PRIMARY KEY (ticket)

constraint capacity_is_within_bounds on nightdesk_data.hosts CHECK ((capacity <= most))

constraint errors_come_with_a_time on nightdesk_data.hosts CHECK (((error_code IS NULL) = (failed_at IS NULL)))

constraint hosts_capacity_check on nightdesk_data.hosts CHECK ((capacity >= 1))

constraint hosts_failures_check on nightdesk_data.hosts CHECK ((failures >= 0))

constraint hosts_host_check on nightdesk_data.hosts CHECK ((host <> ''::text))

constraint hosts_most_check on nightdesk_data.hosts CHECK ((most <= 64))

constraint hosts_pkey on nightdesk_data.hosts PRIMARY KEY (host)

constraint hosts_probes_check on nightdesk_data.hosts CHECK ((probes >= 0))

constraint hosts_provider_check on nightdesk_data.hosts CHECK ((provider = ANY (ARRAY['ollama'::text, 'openai-compatible'::text, 'transformers'::text, 'web'::text])))

constraint hosts_requests_per_minute_check on nightdesk_data.hosts CHECK ((requests_per_minute > 0))

constraint hosts_sizing_check on nightdesk_data.hosts CHECK ((sizing = ANY (ARRAY['configured'::text, 'found'::text])))

constraint hosts_state_check on nightdesk_data.hosts CHECK ((state = ANY (ARRAY['closed'::text, 'open'::text])))

constraint hosts_tokens_per_minute_check on nightdesk_data.hosts CHECK ((tokens_per_minute > 0))

constraint only_open_hosts_are_probed on nightdesk_data.hosts CHECK (((prober IS NULL) OR (state = 'open'::text)))

constraint open_hosts_have_times on nightdesk_data.hosts CHECK ((((state = 'open'::text) = (opened_at IS NOT NULL)) AND ((state = 'open'::text) = (next_probe_at IS NOT NULL))))

constraint probes_have_an_end on nightdesk_data.hosts CHECK (((prober IS NULL) = (probing_until IS NULL)))

constraint installation_pkey on nightdesk_data.installation PRIMARY KEY (singleton)

constraint installation_singleton_check on nightdesk_data.installation CHECK (singleton)

constraint job_dependencies_child_id_fkey on nightdesk_data.job_dependencies FOREIGN KEY (child_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint job_dependencies_parent_id_fkey on nightdesk_data.job_dependencies FOREIGN KEY (parent_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint job_dependencies_pkey on nightdesk_data.job_dependencies PRIMARY KEY (parent_id, child_id)

constraint no_job_waits_for_itself on nightdesk_data.job_dependencies CHECK ((parent_id <> child_id))

constraint job_progress_job_id_fkey on nightdesk_data.job_progress FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint job_progress_pkey on nightdesk_data.job_progress PRIMARY KEY (job_id)

constraint job_progress_progress_check on nightdesk_data.job_progress CHECK (((jsonb_typeof(progress) = 'object'::text) AND (length((progress)::text) <= 20000)))

constraint job_vectors_job_id_fkey on nightdesk_data.job_vectors FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint job_vectors_ordinal_check on nightdesk_data.job_vectors CHECK ((ordinal >= 0))

constraint job_vectors_pkey on nightdesk_data.job_vectors PRIMARY KEY (job_id, ordinal)

constraint cancel_is_asked_of_running_jobs on nightdesk_data.jobs CHECK (((NOT cancel_requested) OR (state = ANY (ARRAY['running'::text, 'cancelled'::text, 'expired'::text]))))

constraint duplicates_are_not_worked on nightdesk_data.jobs CHECK (((duplicate_of IS NULL) OR ((state = 'cancelled'::text) AND (run_id IS NULL) AND (duplicate_of <> job_id))))

constraint duplicates_name_another_job on nightdesk_data.jobs CHECK (((NOT (error_code IS DISTINCT FROM 'DUPLICATE'::text)) = (duplicate_of IS NOT NULL)))

constraint ended_jobs_have_a_time on nightdesk_data.jobs CHECK (((finished_at IS NOT NULL) = (state = ANY (ARRAY['succeeded'::text, 'refused'::text, 'failed'::text, 'cancelled'::text, 'expired'::text]))))

constraint failures_have_a_code on nightdesk_data.jobs CHECK (((error_code IS NOT NULL) OR (state <> ALL (ARRAY['refused'::text, 'failed'::text, 'cancelled'::text, 'expired'::text, 'parked'::text]))))

constraint jobs_attempt_check on nightdesk_data.jobs CHECK ((attempt >= 0))

constraint jobs_batch_id_fkey on nightdesk_data.jobs FOREIGN KEY (batch_id) REFERENCES nightdesk_data.batches(batch_id) ON DELETE CASCADE

constraint jobs_broken_calls_check on nightdesk_data.jobs CHECK ((broken_calls >= 0))

constraint jobs_custom_id_batch_id_key on nightdesk_data.jobs UNIQUE (custom_id, batch_id)

constraint jobs_custom_id_check on nightdesk_data.jobs CHECK (((custom_id <> ''::text) AND (length(custom_id) <= 512)))

constraint jobs_dispatch_check on nightdesk_data.jobs CHECK ((dispatch >= 0))

constraint jobs_duplicate_of_fkey on nightdesk_data.jobs FOREIGN KEY (duplicate_of) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint jobs_input_check on nightdesk_data.jobs CHECK ((jsonb_typeof(input) = 'object'::text))

constraint jobs_input_sha256_check on nightdesk_data.jobs CHECK ((input_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint jobs_kind_check on nightdesk_data.jobs CHECK ((kind = ANY (ARRAY['ask'::text, 'summarize'::text, 'extract'::text, 'digest'::text, 'investigate'::text, 'check'::text, 'examine'::text, 'embed'::text, 'sync'::text, 'index'::text, 'ocr'::text, 'chat'::text, 'command'::text, 'notify'::text])))

constraint jobs_losses_check on nightdesk_data.jobs CHECK ((losses >= 0))

constraint jobs_max_attempts_check on nightdesk_data.jobs CHECK ((max_attempts >= 1))

constraint jobs_name_their_run on nightdesk_data.jobs FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) DEFERRABLE INITIALLY DEFERRED

constraint jobs_parks_check on nightdesk_data.jobs CHECK ((parks >= 0))

constraint jobs_pkey on nightdesk_data.jobs PRIMARY KEY (job_id)

constraint jobs_rerun_of_fkey on nightdesk_data.jobs FOREIGN KEY (rerun_of) REFERENCES nightdesk_data.jobs(job_id) ON DELETE SET NULL

constraint jobs_seq_key on nightdesk_data.jobs UNIQUE (seq)

constraint jobs_size_check on nightdesk_data.jobs CHECK ((size >= 0))

constraint jobs_state_check on nightdesk_data.jobs CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'parked'::text, 'succeeded'::text, 'refused'::text, 'failed'::text, 'cancelled'::text, 'expired'::text])))

constraint jobs_tier_check on nightdesk_data.jobs CHECK ((tier >= 0))

constraint jobs_waiting_for_check on nightdesk_data.jobs CHECK ((waiting_for = ANY (ARRAY['host'::text, 'approval'::text, 'review'::text, 'exam'::text, 'time'::text])))

constraint jobs_waits_for_check on nightdesk_data.jobs CHECK ((waits_for >= 0))

constraint messages_come_with_a_code on nightdesk_data.jobs CHECK (((error_code IS NULL) = (error_message IS NULL)))

constraint only_jobs_that_wait_for_a_host_name_it on nightdesk_data.jobs CHECK (((parked_host IS NULL) OR (NOT (waiting_for IS DISTINCT FROM 'host'::text))))

constraint only_queued_jobs_wait_for_others on nightdesk_data.jobs CHECK (((waits_for = 0) OR (state = ANY (ARRAY['queued'::text, 'cancelled'::text, 'expired'::text]))))

constraint only_waiting_jobs_are_dispatched on nightdesk_data.jobs CHECK (((dispatched_at IS NULL) OR (state = ANY (ARRAY['queued'::text, 'parked'::text]))))

constraint parked_jobs_wait_for_something on nightdesk_data.jobs CHECK (((state = 'parked'::text) = (waiting_for IS NOT NULL)))

constraint results_come_from_a_run on nightdesk_data.jobs CHECK (((state <> ALL (ARRAY['succeeded'::text, 'refused'::text])) OR (run_id IS NOT NULL)))

constraint running_jobs_have_a_run on nightdesk_data.jobs CHECK (((state <> 'running'::text) OR ((run_id IS NOT NULL) AND (worker_id IS NOT NULL) AND (started_at IS NOT NULL))))

constraint running_jobs_hold_a_lease on nightdesk_data.jobs CHECK (((state = 'running'::text) = (lease_until IS NOT NULL)))

constraint successes_have_no_code on nightdesk_data.jobs CHECK (((state <> 'succeeded'::text) OR (error_code IS NULL)))

constraint what_waits_for_others_is_never_due on nightdesk_data.jobs CHECK (((waiting_for IS NULL) OR (waiting_for = ANY (ARRAY['host'::text, 'time'::text])) OR (due_at = 'infinity'::timestamp with time zone)))

constraint locks_pkey on nightdesk_data.locks PRIMARY KEY (name)

constraint derived_notes_name_their_chunks on nightdesk_data.memory CHECK (((source <> 'derived_from_evidence'::text) OR (cardinality(chunk_keys) > 0)))

constraint memory_content_check on nightdesk_data.memory CHECK (((btrim(content) <> ''::text) AND (length(content) <= 4000)))

constraint memory_pkey on nightdesk_data.memory PRIMARY KEY (memory_id)

constraint memory_seq_key on nightdesk_data.memory UNIQUE (seq)

constraint memory_source_check on nightdesk_data.memory CHECK ((source = ANY (ARRAY['manual'::text, 'derived_from_evidence'::text])))

constraint memory_type_check on nightdesk_data.memory CHECK ((type = ANY (ARRAY['preference'::text, 'project_state'::text, 'constraint'::text, 'workflow_rule'::text, 'user_fact'::text])))

constraint call_codes_have_a_message on nightdesk_data.model_calls CHECK (((error_code IS NULL) = (error_message IS NULL)))

constraint calls_have_a_reply_or_a_code on nightdesk_data.model_calls CHECK (((reply IS NULL) = (error_code IS NOT NULL)))

constraint model_calls_completion_tokens_check on nightdesk_data.model_calls CHECK ((completion_tokens >= 0))

constraint model_calls_done_reason_check on nightdesk_data.model_calls CHECK ((done_reason = ANY (ARRAY['stop'::text, 'length'::text, 'window'::text, 'thought'::text])))

constraint model_calls_duration_ms_check on nightdesk_data.model_calls CHECK ((duration_ms >= (0)::double precision))

constraint model_calls_job_id_fkey on nightdesk_data.model_calls FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint model_calls_job_id_request_sha256_key on nightdesk_data.model_calls UNIQUE (job_id, request_sha256)

constraint model_calls_load_ms_check on nightdesk_data.model_calls CHECK ((load_ms >= (0)::double precision))

constraint model_calls_model_check on nightdesk_data.model_calls CHECK ((model <> ''::text))

constraint model_calls_model_digest_check on nightdesk_data.model_calls CHECK ((model_digest ~ '^[0-9a-f]{64}$'::text))

constraint model_calls_pass_check on nightdesk_data.model_calls CHECK ((pass = ANY (ARRAY['first'::text, 'second'::text, 'retry'::text, 'chat'::text, 'part'::text, 'step'::text, 'decompose'::text, 'verdict'::text, 'audit'::text, 'grade'::text])))

constraint model_calls_pkey on nightdesk_data.model_calls PRIMARY KEY (call_id)

constraint model_calls_prompt_check on nightdesk_data.model_calls CHECK ((jsonb_typeof(prompt) = 'object'::text))

constraint model_calls_prompt_sha256_check on nightdesk_data.model_calls CHECK ((prompt_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint model_calls_prompt_template_check on nightdesk_data.model_calls CHECK ((prompt_template <> ''::text))

constraint model_calls_prompt_tokens_check on nightdesk_data.model_calls CHECK ((prompt_tokens >= 0))

constraint model_calls_request_sha256_check on nightdesk_data.model_calls CHECK ((request_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint model_calls_tool_calls_check on nightdesk_data.model_calls CHECK ((jsonb_typeof(tool_calls) = 'array'::text))

constraint replies_say_why_they_ended on nightdesk_data.model_calls CHECK (((reply IS NULL) = (done_reason IS NULL)))

constraint nights_calls_limit_check on nightdesk_data.nights CHECK ((calls_limit > 0))

constraint nights_calls_reserved_check on nightdesk_data.nights CHECK ((calls_reserved >= 0))

constraint nights_calls_used_check on nightdesk_data.nights CHECK ((calls_used >= 0))

constraint nights_money_limit_check on nightdesk_data.nights CHECK ((money_limit > (0)::double precision))

constraint nights_money_used_check on nightdesk_data.nights CHECK ((money_used >= (0)::double precision))

constraint nights_pkey on nightdesk_data.nights PRIMARY KEY (night)

constraint nights_seconds_limit_check on nightdesk_data.nights CHECK ((seconds_limit > (0)::double precision))

constraint nights_seconds_used_check on nightdesk_data.nights CHECK ((seconds_used >= (0)::double precision))

constraint nights_tokens_limit_check on nightdesk_data.nights CHECK ((tokens_limit > 0))

constraint nights_tokens_reserved_check on nightdesk_data.nights CHECK ((tokens_reserved >= 0))

constraint nights_tokens_used_check on nightdesk_data.nights CHECK ((tokens_used >= 0))

constraint ocr_choices_box_check on nightdesk_data.ocr_choices CHECK (((jsonb_typeof(box) = 'array'::text) AND (jsonb_array_length(box) = 4)))

constraint ocr_choices_chosen_by_check on nightdesk_data.ocr_choices CHECK ((chosen_by <> ''::text))

constraint ocr_choices_chosen_check on nightdesk_data.ocr_choices CHECK (((btrim(chosen) <> ''::text) AND (length(chosen) <= 100)))

constraint ocr_choices_page_check on nightdesk_data.ocr_choices CHECK ((page > 0))

constraint ocr_choices_pkey on nightdesk_data.ocr_choices PRIMARY KEY (sha256, page, box)

constraint ocr_choices_sha256_check on nightdesk_data.ocr_choices CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint a_page_is_read_or_given_up on nightdesk_data.ocr_pages CHECK ((num_nonnulls(record, unreadable) = 1))

constraint ocr_pages_page_check on nightdesk_data.ocr_pages CHECK ((page > 0))

constraint ocr_pages_pkey on nightdesk_data.ocr_pages PRIMARY KEY (sha256, page, settings)

constraint ocr_pages_record_check on nightdesk_data.ocr_pages CHECK ((jsonb_typeof(record) = 'object'::text))

constraint ocr_pages_settings_check on nightdesk_data.ocr_pages CHECK ((settings ~ '^[0-9a-f]{8}$'::text))

constraint ocr_pages_sha256_check on nightdesk_data.ocr_pages CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint ocr_pages_unreadable_check on nightdesk_data.ocr_pages CHECK ((unreadable <> ''::text))

constraint actions_that_ended_have_a_time on nightdesk_data.operator_actions CHECK (((ended_at IS NOT NULL) = (outcome <> 'begun'::text)))

constraint actions_that_ended_say_what_came_of_them on nightdesk_data.operator_actions CHECK (((said IS NOT NULL) = (outcome <> 'begun'::text)))

constraint operator_actions_action_check on nightdesk_data.operator_actions CHECK ((action <> ''::text))

constraint operator_actions_actor_check on nightdesk_data.operator_actions CHECK (((actor <> ''::text) AND (length(actor) <= 200)))

constraint operator_actions_detail_check on nightdesk_data.operator_actions CHECK ((jsonb_typeof(detail) = 'object'::text))

constraint operator_actions_outcome_check on nightdesk_data.operator_actions CHECK ((outcome = ANY (ARRAY['begun'::text, 'done'::text, 'failed'::text])))

constraint operator_actions_pkey on nightdesk_data.operator_actions PRIMARY KEY (action_id)

constraint postings_entries_check on nightdesk_data.postings CHECK ((cardinality(entries) > 0))

constraint postings_pkey on nightdesk_data.postings PRIMARY KEY (term, segment_id)

constraint bytes_are_counted_together on nightdesk_data.program_batches CHECK ((num_nulls(output_bytes, error_bytes, counted_at) = ANY (ARRAY[0, 3])))

constraint program_batches_batch_id_fkey on nightdesk_data.program_batches FOREIGN KEY (batch_id) REFERENCES nightdesk_data.batches(batch_id) ON DELETE CASCADE

constraint program_batches_batch_id_key on nightdesk_data.program_batches UNIQUE (batch_id)

constraint program_batches_endpoint_check on nightdesk_data.program_batches CHECK ((endpoint = ANY (ARRAY['/v1/chat/completions'::text, '/v1/embeddings'::text, '/v1/nightdesk/jobs'::text])))

constraint program_batches_error_bytes_check on nightdesk_data.program_batches CHECK ((error_bytes >= 0))

constraint program_batches_errors_check on nightdesk_data.program_batches CHECK ((jsonb_typeof(errors) = 'array'::text))

constraint program_batches_idempotency_key_check on nightdesk_data.program_batches CHECK (((length(idempotency_key) >= 1) AND (length(idempotency_key) <= 255)))

constraint program_batches_metadata_check on nightdesk_data.program_batches CHECK ((jsonb_typeof(metadata) = 'object'::text))

constraint program_batches_output_bytes_check on nightdesk_data.program_batches CHECK ((output_bytes >= 0))

constraint program_batches_pkey on nightdesk_data.program_batches PRIMARY KEY (program_batch_id)

constraint program_batches_request_sha256_check on nightdesk_data.program_batches CHECK ((request_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint program_batches_seq_key on nightdesk_data.program_batches UNIQUE (seq)

constraint program_batches_token_id_fkey on nightdesk_data.program_batches FOREIGN KEY (token_id) REFERENCES nightdesk_data.tokens(token_id) ON DELETE CASCADE

constraint refused_requests_have_errors_and_no_batch on nightdesk_data.program_batches CHECK ((((failed_at IS NULL) = (errors IS NULL)) AND ((failed_at IS NULL) OR (batch_id IS NULL))))

constraint program_file_parts_content_check on nightdesk_data.program_file_parts CHECK ((length(content) > 0))

constraint program_file_parts_file_id_fkey on nightdesk_data.program_file_parts FOREIGN KEY (file_id) REFERENCES nightdesk_data.program_files(file_id) ON DELETE CASCADE

constraint program_file_parts_ordinal_check on nightdesk_data.program_file_parts CHECK ((ordinal >= 0))

constraint program_file_parts_pkey on nightdesk_data.program_file_parts PRIMARY KEY (file_id, ordinal)

constraint files_expire_later on nightdesk_data.program_files CHECK ((expires_at > created_at))

constraint program_files_bytes_check on nightdesk_data.program_files CHECK ((bytes > 0))

constraint program_files_name_check on nightdesk_data.program_files CHECK (((name <> ''::text) AND (length(name) <= 255)))

constraint program_files_pkey on nightdesk_data.program_files PRIMARY KEY (file_id)

constraint program_files_seq_key on nightdesk_data.program_files UNIQUE (seq)

constraint program_files_sha256_check on nightdesk_data.program_files CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint program_files_token_id_fkey on nightdesk_data.program_files FOREIGN KEY (token_id) REFERENCES nightdesk_data.tokens(token_id) ON DELETE CASCADE

constraint quote_spans_run_forward on nightdesk_data.quotes CHECK (((end_char >= start_char) AND (line_end >= line_start)))

constraint quotes_class_check on nightdesk_data.quotes CHECK ((class = ANY (ARRAY['verbatim'::text, 'normalised'::text, 'elided'::text, 'misattributed'::text, 'stitched'::text, 'asked'::text, 'translated'::text, 'term'::text, 'not_found'::text])))

constraint quotes_line_start_check on nightdesk_data.quotes CHECK ((line_start >= 1))

constraint quotes_not_found_have_no_place on nightdesk_data.quotes CHECK (((class <> ALL (ARRAY['asked'::text, 'translated'::text, 'term'::text, 'not_found'::text])) OR (path IS NULL)))

constraint quotes_number_check on nightdesk_data.quotes CHECK ((number >= 1))

constraint quotes_ordinal_check on nightdesk_data.quotes CHECK ((ordinal >= 0))

constraint quotes_pkey on nightdesk_data.quotes PRIMARY KEY (run_id, ordinal)

constraint quotes_quote_check on nightdesk_data.quotes CHECK ((quote <> ''::text))

constraint quotes_run_id_fkey on nightdesk_data.quotes FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint quotes_stand_somewhere_or_nowhere on nightdesk_data.quotes CHECK ((num_nulls(number, path, start_char, end_char, line_start, line_end) = ANY (ARRAY[0, 6])))

constraint quotes_start_char_check on nightdesk_data.quotes CHECK ((start_char >= 0))

constraint a_deleted_file_is_gone on nightdesk_data.remote_files CHECK (((fate <> 'deleted'::text) OR (num_nonnulls(sha256, path_key) = 0)))

constraint a_key_is_of_a_path on nightdesk_data.remote_files CHECK (((path_key IS NULL) OR (path IS NOT NULL)))

constraint a_mirrored_file_is_whole on nightdesk_data.remote_files CHECK (((num_nonnulls(version, bytes, sha256, origin, fetched_at) = ANY (ARRAY[0, 5])) AND ((sha256 IS NULL) OR (path_key IS NOT NULL))))

constraint a_reason_is_given on nightdesk_data.remote_files CHECK (((fate <> ALL (ARRAY['skipped'::text, 'held'::text])) OR (reason <> ''::text)))

constraint remote_files_description_check on nightdesk_data.remote_files CHECK ((jsonb_typeof(description) = 'object'::text))

constraint remote_files_fate_check on nightdesk_data.remote_files CHECK ((fate = ANY (ARRAY['waiting'::text, 'fetched'::text, 'unchanged'::text, 'skipped'::text, 'deleted'::text, 'held'::text])))

constraint remote_files_listed_bytes_check on nightdesk_data.remote_files CHECK ((listed_bytes >= 0))

constraint remote_files_pkey on nightdesk_data.remote_files PRIMARY KEY (source, remote_id)

constraint remote_files_remote_id_check on nightdesk_data.remote_files CHECK (((octet_length(remote_id) >= 1) AND (octet_length(remote_id) <= 2000)))

constraint remote_files_sha256_check on nightdesk_data.remote_files CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint remote_files_source_fkey on nightdesk_data.remote_files FOREIGN KEY (source) REFERENCES nightdesk_data.remote_sources(source) ON DELETE CASCADE

constraint remote_files_source_path_key_key on nightdesk_data.remote_files UNIQUE (source, path_key)

constraint remote_sources_address_check on nightdesk_data.remote_sources CHECK ((address !~ '://[^/]*@'::text))

constraint remote_sources_kind_check on nightdesk_data.remote_sources CHECK ((kind = ANY (ARRAY['webdav'::text, 's3'::text, 'imap'::text, 'paperless'::text])))

constraint remote_sources_pkey on nightdesk_data.remote_sources PRIMARY KEY (source)

constraint remote_sources_source_check on nightdesk_data.remote_sources CHECK ((source ~ '^[a-z0-9][a-z0-9_-]*$'::text))

constraint remote_versions_pkey on nightdesk_data.remote_versions PRIMARY KEY (path, sha256)

constraint remote_versions_sha256_check on nightdesk_data.remote_versions CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint reservations_money_check on nightdesk_data.reservations CHECK ((money >= (0)::double precision))

constraint reservations_pkey on nightdesk_data.reservations PRIMARY KEY (ticket)

constraint reservations_tokens_check on nightdesk_data.reservations CHECK ((tokens >= 0))

constraint run_calls_call_id_fkey on nightdesk_data.run_calls FOREIGN KEY (call_id) REFERENCES nightdesk_data.model_calls(call_id) ON DELETE CASCADE

constraint run_calls_ordinal_check on nightdesk_data.run_calls CHECK ((ordinal >= 0))

constraint run_calls_origin_check on nightdesk_data.run_calls CHECK ((origin = ANY (ARRAY['asked'::text, 'reused'::text, 'cached'::text])))

constraint run_calls_pass_check on nightdesk_data.run_calls CHECK ((pass = ANY (ARRAY['first'::text, 'second'::text, 'retry'::text, 'chat'::text, 'part'::text, 'step'::text, 'decompose'::text, 'verdict'::text, 'audit'::text, 'grade'::text])))

constraint run_calls_pkey on nightdesk_data.run_calls PRIMARY KEY (run_id, ordinal)

constraint run_calls_run_id_fkey on nightdesk_data.run_calls FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint run_events_at_ms_check on nightdesk_data.run_events CHECK ((at_ms >= (0)::double precision))

constraint run_events_detail_check on nightdesk_data.run_events CHECK ((jsonb_typeof(detail) = 'object'::text))

constraint run_events_duration_ms_check on nightdesk_data.run_events CHECK ((duration_ms >= (0)::double precision))

constraint run_events_ordinal_check on nightdesk_data.run_events CHECK ((ordinal >= 0))

constraint run_events_pkey on nightdesk_data.run_events PRIMARY KEY (event_id)

constraint run_events_run_id_fkey on nightdesk_data.run_events FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint run_events_run_id_ordinal_key on nightdesk_data.run_events UNIQUE (run_id, ordinal)

constraint run_events_step_check on nightdesk_data.run_events CHECK ((step <> ''::text))

constraint codes_tell_why on nightdesk_data.runs CHECK (((error_code IS NOT NULL) = (state = ANY (ARRAY['refused'::text, 'failed'::text, 'parked'::text, 'cancelled'::text, 'expired'::text, 'lost'::text]))))

constraint drafts_wait_for_checks on nightdesk_data.runs CHECK (((state = 'drafted'::text) = (verification = 'pending'::text)))

constraint ended_runs_have_a_duration on nightdesk_data.runs CHECK (((state = ANY (ARRAY['running'::text, 'lost'::text])) OR (run_ms IS NOT NULL)))

constraint ended_runs_have_a_time on nightdesk_data.runs CHECK (((finished_at IS NOT NULL) = (state <> 'running'::text)))

constraint only_answers_are_graded on nightdesk_data.runs CHECK (((state = 'succeeded'::text) OR ((claims_dropped = 0) AND ((grade IS NULL) OR (grade = 'unresolved'::text)))))

constraint only_successes_have_an_answer on nightdesk_data.runs CHECK (((answer IS NULL) OR (state = 'succeeded'::text)))

constraint run_messages_come_with_a_code on nightdesk_data.runs CHECK (((error_code IS NULL) = (error_message IS NULL)))

constraint runs_attempt_check on nightdesk_data.runs CHECK ((attempt >= 1))

constraint runs_citations_check on nightdesk_data.runs CHECK ((jsonb_typeof(citations) = 'array'::text))

constraint runs_claims_dropped_check on nightdesk_data.runs CHECK ((claims_dropped >= 0))

constraint runs_completion_tokens_check on nightdesk_data.runs CHECK ((completion_tokens >= 0))

constraint runs_config_sha256_check on nightdesk_data.runs CHECK ((config_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint runs_grade_check on nightdesk_data.runs CHECK ((grade = ANY (ARRAY['verified'::text, 'supported'::text, 'unconfirmed'::text, 'unsupported'::text, 'unresolved'::text])))

constraint runs_job_id_fkey on nightdesk_data.runs FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint runs_models_check on nightdesk_data.runs CHECK ((jsonb_typeof(models) = 'array'::text))

constraint runs_pkey on nightdesk_data.runs PRIMARY KEY (run_id)

constraint runs_prompt_tokens_check on nightdesk_data.runs CHECK ((prompt_tokens >= 0))

constraint runs_roots_check on nightdesk_data.runs CHECK ((jsonb_typeof(roots) = 'object'::text))

constraint runs_state_check on nightdesk_data.runs CHECK ((state = ANY (ARRAY['running'::text, 'succeeded'::text, 'refused'::text, 'failed'::text, 'parked'::text, 'cancelled'::text, 'expired'::text, 'lost'::text, 'handed_back'::text, 'drafted'::text, 'escalated'::text])))

constraint runs_verification_check on nightdesk_data.runs CHECK ((verification = ANY (ARRAY['off'::text, 'pending'::text, 'passed'::text, 'failed'::text, 'unverified'::text])))

constraint what_is_unresolved_is_refused on nightdesk_data.runs CHECK (((NOT (grade IS DISTINCT FROM 'unresolved'::text)) = (NOT (error_code IS DISTINCT FROM 'UNRESOLVED'::text))))

constraint what_is_verified_has_passed on nightdesk_data.runs CHECK (((grade IS DISTINCT FROM 'verified'::text) OR (verification = 'passed'::text)))

constraint saved_queries_name_check on nightdesk_data.saved_queries CHECK (((btrim(name) <> ''::text) AND (length(name) <= 100)))

constraint saved_queries_pkey on nightdesk_data.saved_queries PRIMARY KEY (name)

constraint saved_queries_saved_by_check on nightdesk_data.saved_queries CHECK (((saved_by <> ''::text) AND (length(saved_by) <= 200)))

constraint saved_queries_statement_check on nightdesk_data.saved_queries CHECK (((btrim(statement) <> ''::text) AND (length(statement) <= 20000)))

constraint schedule_runs_batch_id_fkey on nightdesk_data.schedule_runs FOREIGN KEY (batch_id) REFERENCES nightdesk_data.batches(batch_id) ON DELETE SET NULL

constraint schedule_runs_cause_check on nightdesk_data.schedule_runs CHECK ((cause = ANY (ARRAY['tick'::text, 'missed'::text, 'by_hand'::text])))

constraint schedule_runs_pkey on nightdesk_data.schedule_runs PRIMARY KEY (schedule, planned_at)

constraint schedules_catch_up_check on nightdesk_data.schedules CHECK ((catch_up <> ''::text))

constraint schedules_command_check on nightdesk_data.schedules CHECK ((cardinality(command) >= 1))

constraint schedules_cron_check on nightdesk_data.schedules CHECK ((cron <> ''::text))

constraint schedules_name_check on nightdesk_data.schedules CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'::text))

constraint schedules_origin_check on nightdesk_data.schedules CHECK ((origin = ANY (ARRAY['file'::text, 'set'::text])))

constraint schedules_pkey on nightdesk_data.schedules PRIMARY KEY (name)

constraint schedules_timezone_check on nightdesk_data.schedules CHECK ((timezone <> ''::text))

constraint schema_faults_build_sha256_check on nightdesk_data.schema_faults CHECK ((build_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint schema_faults_model_check on nightdesk_data.schema_faults CHECK ((model <> ''::text))

constraint schema_faults_model_digest_check on nightdesk_data.schema_faults CHECK ((model_digest ~ '^[0-9a-f]{64}$'::text))

constraint schema_faults_pkey on nightdesk_data.schema_faults PRIMARY KEY (build_sha256)

constraint searched_vectors_model_check on nightdesk_data.searched_vectors CHECK ((model <> ''::text))

constraint searched_vectors_pkey on nightdesk_data.searched_vectors PRIMARY KEY (singleton)

constraint searched_vectors_settings_check on nightdesk_data.searched_vectors CHECK ((jsonb_typeof(settings) = 'object'::text))

constraint searched_vectors_signature_check on nightdesk_data.searched_vectors CHECK ((signature ~ '^[0-9a-f]{32}$'::text))

constraint searched_vectors_singleton_check on nightdesk_data.searched_vectors CHECK (singleton)

constraint only_a_merge_drops_chunks on nightdesk_data.segments CHECK (((merged_into IS NOT NULL) OR (dropped = '{}'::bigint[])))

constraint segments_check on nightdesk_data.segments CHECK ((merged_into > segment_id))

constraint segments_chunk_ids_check on nightdesk_data.segments CHECK ((cardinality(chunk_ids) > 0))

constraint segments_pkey on nightdesk_data.segments PRIMARY KEY (segment_id)

constraint calls_of_models_have_a_request on nightdesk_data.steps CHECK (((kind = 'model'::text) OR (request_sha256 IS NULL)))

constraint calls_of_tools_have_an_effect on nightdesk_data.steps CHECK (((kind = 'tool'::text) = (effect IS NOT NULL)))

constraint only_calls_of_tools_wait on nightdesk_data.steps CHECK (((kind = 'tool'::text) OR (state <> ALL (ARRAY['waiting'::text, 'uncertain'::text, 'denied'::text]))))

constraint steps_detail_check on nightdesk_data.steps CHECK ((jsonb_typeof(detail) = 'object'::text))

constraint steps_effect_check on nightdesk_data.steps CHECK ((effect = ANY (ARRAY['none'::text, 'local-write'::text, 'exec'::text, 'network'::text])))

constraint steps_job_id_fkey on nightdesk_data.steps FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint steps_kind_check on nightdesk_data.steps CHECK ((kind = ANY (ARRAY['model'::text, 'tool'::text, 'compaction'::text, 'policy'::text, 'end'::text])))

constraint steps_ordinal_check on nightdesk_data.steps CHECK ((ordinal >= 0))

constraint steps_pkey on nightdesk_data.steps PRIMARY KEY (job_id, ordinal)

constraint steps_request_sha256_check on nightdesk_data.steps CHECK ((request_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint steps_run_id_fkey on nightdesk_data.steps FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint steps_state_check on nightdesk_data.steps CHECK ((state = ANY (ARRAY['started'::text, 'waiting'::text, 'uncertain'::text, 'done'::text, 'failed'::text, 'denied'::text, 'skipped'::text])))

constraint steps_that_ended_have_a_time on nightdesk_data.steps CHECK (((ended_at IS NOT NULL) = (state = ANY (ARRAY['done'::text, 'failed'::text, 'denied'::text, 'skipped'::text]))))

constraint part_spans_run_forward on nightdesk_data.summary_parts CHECK (((end_char > start_char) AND (line_end >= line_start)))

constraint summary_parts_level_check on nightdesk_data.summary_parts CHECK ((level >= 0))

constraint summary_parts_line_start_check on nightdesk_data.summary_parts CHECK ((line_start >= 1))

constraint summary_parts_ordinal_check on nightdesk_data.summary_parts CHECK ((ordinal >= 0))

constraint summary_parts_path_check on nightdesk_data.summary_parts CHECK ((path <> ''::text))

constraint summary_parts_pkey on nightdesk_data.summary_parts PRIMARY KEY (run_id, level, ordinal)

constraint summary_parts_run_id_fkey on nightdesk_data.summary_parts FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint summary_parts_start_char_check on nightdesk_data.summary_parts CHECK ((start_char >= 0))

constraint summary_parts_summary_check on nightdesk_data.summary_parts CHECK ((summary <> ''::text))

constraint tokens_expire_later on nightdesk_data.tokens CHECK ((expires_at > created_at))

constraint tokens_kinds_check on nightdesk_data.tokens CHECK (((cardinality(kinds) > 0) AND (kinds <@ ARRAY['ask'::text, 'summarize'::text, 'extract'::text, 'investigate'::text, 'embed'::text, 'chat'::text])))

constraint tokens_name_check on nightdesk_data.tokens CHECK (((btrim(name) <> ''::text) AND (length(name) <= 100)))

constraint tokens_pkey on nightdesk_data.tokens PRIMARY KEY (token_id)

constraint tokens_scopes_check on nightdesk_data.tokens CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['files:write'::text, 'batches:write'::text, 'batches:read'::text])))

constraint tokens_secret_sha256_check on nightdesk_data.tokens CHECK ((secret_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint tokens_secret_sha256_key on nightdesk_data.tokens UNIQUE (secret_sha256)

constraint tokens_that_investigate_name_presets on nightdesk_data.tokens CHECK ((('investigate'::text = ANY (kinds)) = (cardinality(presets) > 0)))

constraint tokens_that_read_name_sources on nightdesk_data.tokens CHECK (((NOT (kinds && ARRAY['ask'::text, 'summarize'::text, 'extract'::text, 'investigate'::text])) OR (cardinality(sources) > 0)))

constraint call_errors_have_a_message on nightdesk_data.tool_calls CHECK (((error_code IS NULL) = (error_message IS NULL)))

constraint calls_have_a_result_or_an_error on nightdesk_data.tool_calls CHECK (((num_nonnulls(result, error_code) = 1) OR ((step IS NOT NULL) AND (num_nonnulls(result, error_code) = 0))))

constraint calls_of_steps_come_with_their_grant on nightdesk_data.tool_calls CHECK ((num_nulls(job_id, step, grant_id, args_sha256) = ANY (ARRAY[0, 4])))

constraint tool_calls_args_check on nightdesk_data.tool_calls CHECK ((jsonb_typeof(args) = 'object'::text))

constraint tool_calls_args_sha256_check on nightdesk_data.tool_calls CHECK ((args_sha256 ~ '^[0-9a-f]{64}$'::text))

constraint tool_calls_duration_ms_check on nightdesk_data.tool_calls CHECK ((duration_ms >= (0)::double precision))

constraint tool_calls_grant_id_fkey on nightdesk_data.tool_calls FOREIGN KEY (grant_id) REFERENCES nightdesk_data.grants(grant_id) ON DELETE CASCADE

constraint tool_calls_job_id_step_fkey on nightdesk_data.tool_calls FOREIGN KEY (job_id, step) REFERENCES nightdesk_data.steps(job_id, ordinal) ON DELETE CASCADE

constraint tool_calls_ordinal_check on nightdesk_data.tool_calls CHECK ((ordinal >= 0))

constraint tool_calls_pkey on nightdesk_data.tool_calls PRIMARY KEY (run_id, ordinal)

constraint tool_calls_run_id_fkey on nightdesk_data.tool_calls FOREIGN KEY (run_id) REFERENCES nightdesk_data.runs(run_id) ON DELETE CASCADE

constraint tool_calls_trailing_text_check on nightdesk_data.tool_calls CHECK ((length(trailing_text) <= 200))

constraint files_are_moved_and_not_attachments on nightdesk_data.watched_files CHECK (((mail_sha256 IS NULL) OR (move_to IS NULL)))

constraint labels_come_from_a_classification on nightdesk_data.watched_files CHECK (((classified_at IS NOT NULL) OR ((label IS NULL) AND (label_job_id IS NULL) AND (label_problem IS NULL))))

constraint moved_or_kept on nightdesk_data.watched_files CHECK (((moved_to IS NULL) OR (move_problem IS NULL)))

constraint only_what_is_to_be_moved_is on nightdesk_data.watched_files CHECK (((move_to IS NOT NULL) OR ((moved_to IS NULL) AND (move_problem IS NULL))))

constraint queued_by_its_label_or_passed_over on nightdesk_data.watched_files CHECK (((label_job_id IS NULL) OR (label_problem IS NULL)))

constraint watched_files_bytes_check on nightdesk_data.watched_files CHECK ((bytes >= 0))

constraint watched_files_job_id_fkey on nightdesk_data.watched_files FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE SET NULL

constraint watched_files_label_check on nightdesk_data.watched_files CHECK ((label <> ''::text))

constraint watched_files_label_job_id_fkey on nightdesk_data.watched_files FOREIGN KEY (label_job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE SET NULL

constraint watched_files_move_to_check on nightdesk_data.watched_files CHECK ((move_to <> ''::text))

constraint watched_files_moved_to_check on nightdesk_data.watched_files CHECK ((moved_to <> ''::text))

constraint watched_files_path_check on nightdesk_data.watched_files CHECK (((path <> ''::text) AND (path !~ '^/'::text)))

constraint watched_files_pkey on nightdesk_data.watched_files PRIMARY KEY (source, sha256)

constraint watched_files_sha256_check on nightdesk_data.watched_files CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint watched_files_source_check on nightdesk_data.watched_files CHECK ((source <> ''::text))

constraint watched_files_source_mail_sha256_fkey on nightdesk_data.watched_files FOREIGN KEY (source, mail_sha256) REFERENCES nightdesk_data.watched_files(source, sha256) ON DELETE CASCADE

constraint watches_files_check on nightdesk_data.watches CHECK ((files >= 0))

constraint watches_pkey on nightdesk_data.watches PRIMARY KEY (source)

constraint watches_restless_check on nightdesk_data.watches CHECK ((restless >= 0))

constraint watches_source_check on nightdesk_data.watches CHECK ((source <> ''::text))

constraint workers_concurrency_check on nightdesk_data.workers CHECK ((concurrency > 0))

constraint workers_documents_from_check on nightdesk_data.workers CHECK ((documents_from = ANY (ARRAY['files'::text, 'store'::text])))

constraint workers_pkey on nightdesk_data.workers PRIMARY KEY (worker_id)

constraint nothing_is_not_accepted on nightdesk_data.write_backs CHECK (((decision IS DISTINCT FROM 'accepted'::text) OR (value <> 'null'::jsonb)))

constraint only_corrected_values_have_a_correction on nightdesk_data.write_backs CHECK (((NOT (decision IS DISTINCT FROM 'corrected'::text)) = (correction IS NOT NULL)))

constraint only_decisions_have_a_reason on nightdesk_data.write_backs CHECK (((decision_reason IS NULL) OR (decision IS NOT NULL)))

constraint only_what_was_asked_is_decided on nightdesk_data.write_backs CHECK (((decision IS NULL) OR (asked_at IS NOT NULL)))

constraint values_that_were_decided_say_by_whom on nightdesk_data.write_backs CHECK ((num_nonnulls(decision, decided_by, decided_at) = ANY (ARRAY[0, 3])))

constraint what_is_left_has_a_reason on nightdesk_data.write_backs CHECK (((state = ANY (ARRAY['withheld'::text, 'kept'::text])) = (reason IS NOT NULL)))

constraint what_is_rejected_is_not_written on nightdesk_data.write_backs CHECK (((decision IS DISTINCT FROM 'rejected'::text) OR (state = 'withheld'::text)))

constraint what_is_sent_has_a_value on nightdesk_data.write_backs CHECK (((state = 'withheld'::text) OR ((after IS NOT NULL) AND (sha256 IS NOT NULL))))

constraint what_was_written_has_a_time on nightdesk_data.write_backs CHECK (((state <> 'written'::text) OR (written_at IS NOT NULL)))

constraint write_backs_batch_id_fkey on nightdesk_data.write_backs FOREIGN KEY (batch_id) REFERENCES nightdesk_data.batches(batch_id) ON DELETE CASCADE

constraint write_backs_batch_id_source_remote_id_kind_name_key on nightdesk_data.write_backs UNIQUE (batch_id, source, remote_id, kind, name)

constraint write_backs_correction_check on nightdesk_data.write_backs CHECK ((btrim(correction) <> ''::text))

constraint write_backs_decided_by_check on nightdesk_data.write_backs CHECK ((decided_by <> ''::text))

constraint write_backs_decision_check on nightdesk_data.write_backs CHECK ((decision = ANY (ARRAY['accepted'::text, 'corrected'::text, 'rejected'::text])))

constraint write_backs_decision_reason_check on nightdesk_data.write_backs CHECK ((btrim(decision_reason) <> ''::text))

constraint write_backs_job_id_fkey on nightdesk_data.write_backs FOREIGN KEY (job_id) REFERENCES nightdesk_data.jobs(job_id) ON DELETE CASCADE

constraint write_backs_kind_check on nightdesk_data.write_backs CHECK ((kind = ANY (ARRAY['correspondent'::text, 'document_type'::text, 'tag'::text, 'custom_field'::text])))

constraint write_backs_name_check on nightdesk_data.write_backs CHECK ((name <> ''::text))

constraint write_backs_pkey on nightdesk_data.write_backs PRIMARY KEY (write_id)

constraint write_backs_sha256_check on nightdesk_data.write_backs CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))

constraint write_backs_state_check on nightdesk_data.write_backs CHECK ((state = ANY (ARRAY['withheld'::text, 'intended'::text, 'written'::text, 'undone'::text, 'kept'::text])))

constraint write_claims_pkey on nightdesk_data.write_claims PRIMARY KEY (source, remote_id)

CREATE INDEX approvals_by_decision ON nightdesk_data.approvals USING btree (decision_id) WHERE (decision_id IS NOT NULL)

CREATE INDEX approvals_by_expiry ON nightdesk_data.approvals USING btree (expires_at) WHERE (state = 'waiting'::text)

CREATE INDEX approvals_waiting ON nightdesk_data.approvals USING btree (fingerprint, requested_at) WHERE (state = 'waiting'::text)

CREATE INDEX artifact_uses_by_content ON nightdesk_data.artifact_uses USING btree (kept_sha256)

CREATE INDEX artifact_uses_by_expiry ON nightdesk_data.artifact_uses USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (removed_at IS NULL))

CREATE INDEX artifact_uses_of_states ON nightdesk_data.artifact_uses USING btree (job_id) WHERE ((class = 'state'::text) AND (removed_at IS NULL))

CREATE INDEX batches_by_finish ON nightdesk_data.batches USING btree (finished_at) WHERE (finished_at IS NOT NULL)

CREATE INDEX batches_by_parent ON nightdesk_data.batches USING btree (parent_id) WHERE (parent_id IS NOT NULL)

CREATE INDEX call_reasoning_by_expiry ON nightdesk_data.call_reasoning USING btree (expires_at) WHERE (expires_at IS NOT NULL)

CREATE INDEX checks_by_job ON nightdesk_data.checks USING btree (check_job_id) WHERE (check_job_id IS NOT NULL)

CREATE INDEX closing_batches ON nightdesk_data.batches USING btree (finished_at) WHERE closing

CREATE INDEX decisions_by_batch ON nightdesk_data.decisions USING btree (batch_id) WHERE (batch_id IS NOT NULL)

CREATE INDEX decisions_by_fingerprint ON nightdesk_data.decisions USING btree (fingerprint) WHERE (fingerprint IS NOT NULL)

CREATE INDEX decisions_by_job ON nightdesk_data.decisions USING btree (job_id) WHERE (job_id IS NOT NULL)

CREATE INDEX documents_by_day ON nightdesk_data.documents USING btree (day) WHERE (day IS NOT NULL)

CREATE INDEX documents_by_facet ON nightdesk_data.documents USING gin (facets jsonb_path_ops)

CREATE INDEX documents_by_family ON nightdesk_data.documents USING btree (family)

CREATE INDEX documents_by_mail ON nightdesk_data.documents USING btree (mail, path) WHERE (mail IS NOT NULL)

CREATE INDEX documents_by_path ON nightdesk_data.documents USING btree (path text_pattern_ops)

CREATE INDEX documents_by_sha256 ON nightdesk_data.documents USING btree (sha256)

CREATE INDEX documents_that_supersede ON nightdesk_data.documents USING btree (path) WHERE (supersedes <> '{}'::text[])

CREATE INDEX draft_reviews_by_run ON nightdesk_data.draft_reviews USING btree (run_id)

CREATE INDEX draft_reviews_waiting ON nightdesk_data.draft_reviews USING btree (requested_at) WHERE (state = 'waiting'::text)

CREATE INDEX evidence_by_path ON nightdesk_data.evidence USING btree ("left"(path, 200) text_pattern_ops)

CREATE INDEX evidence_by_sha256 ON nightdesk_data.evidence USING btree (sha256)

CREATE INDEX field_bindings_decided ON nightdesk_data.field_bindings USING btree (decided_at) WHERE (decision IS NOT NULL)

CREATE INDEX hold_history_by_batch ON nightdesk_data.hold_history USING btree (batch_id, began_at)

CREATE UNIQUE INDEX holds_that_last ON nightdesk_data.hold_history USING btree (batch_id) WHERE (ended_at IS NULL)

CREATE INDEX host_choices_by_host ON nightdesk_data.host_choices USING btree (host)

CREATE INDEX host_waiters_in_order ON nightdesk_data.host_waiters USING btree (host, since, ticket)

CREATE INDEX job_dependencies_by_child ON nightdesk_data.job_dependencies USING btree (child_id)

CREATE INDEX jobs_by_batch ON nightdesk_data.jobs USING btree (batch_id, seq)

CREATE INDEX jobs_by_batch_state ON nightdesk_data.jobs USING btree (batch_id, state)

CREATE INDEX jobs_by_duplicate ON nightdesk_data.jobs USING btree (duplicate_of) WHERE (duplicate_of IS NOT NULL)

CREATE INDEX jobs_by_finish ON nightdesk_data.jobs USING btree (finished_at)

CREATE INDEX jobs_by_lease ON nightdesk_data.jobs USING btree (lease_until) WHERE (state = 'running'::text)

CREATE INDEX jobs_by_parked_host ON nightdesk_data.jobs USING btree (parked_host) WHERE (parked_host IS NOT NULL)

CREATE INDEX jobs_by_rerun ON nightdesk_data.jobs USING btree (rerun_of) WHERE (rerun_of IS NOT NULL)

CREATE UNIQUE INDEX jobs_by_run ON nightdesk_data.jobs USING btree (run_id) WHERE (run_id IS NOT NULL)

CREATE INDEX jobs_held_back ON nightdesk_data.jobs USING btree (batch_id) WHERE ((state = 'queued'::text) AND (due_at = 'infinity'::timestamp with time zone))

CREATE INDEX jobs_in_lanes ON nightdesk_data.jobs USING btree (kind, due_at, seq) WHERE ((kind = ANY (ARRAY['command'::text, 'notify'::text])) AND (state = ANY (ARRAY['queued'::text, 'parked'::text])))

CREATE INDEX jobs_in_the_queue ON nightdesk_data.jobs USING btree (dispatched_at) WHERE (dispatched_at IS NOT NULL)

CREATE INDEX jobs_never_due ON nightdesk_data.jobs USING btree (waiting_for, batch_id) WHERE (waiting_for = ANY (ARRAY['approval'::text, 'review'::text, 'exam'::text]))

CREATE INDEX jobs_that_classified ON nightdesk_data.jobs USING btree (md5((input ->> 'path'::text)), finished_at) WHERE ((kind = 'extract'::text) AND ((input ->> 'preset'::text) = 'classify'::text) AND (state = 'succeeded'::text))

CREATE INDEX jobs_that_examine ON nightdesk_data.jobs USING btree (finished_at) WHERE (kind = 'examine'::text)

CREATE INDEX jobs_to_dispatch ON nightdesk_data.jobs USING btree (batch_id, priority DESC, affinity, size, seq) WHERE ((state = ANY (ARRAY['queued'::text, 'parked'::text])) AND (dispatched_at IS NULL) AND (waits_for = 0) AND (due_at < 'infinity'::timestamp with time zone))

CREATE INDEX jobs_to_dispatch_by_age ON nightdesk_data.jobs USING btree (batch_id, created_at, seq) WHERE ((state = ANY (ARRAY['queued'::text, 'parked'::text])) AND (dispatched_at IS NULL) AND (waits_for = 0) AND (due_at < 'infinity'::timestamp with time zone))

CREATE INDEX jobs_waiting_by_kind ON nightdesk_data.jobs USING btree (batch_id, kind) WHERE (state = ANY (ARRAY['queued'::text, 'parked'::text]))

CREATE INDEX jobs_with_problems ON nightdesk_data.jobs USING btree (batch_id, state, error_code, seq) WHERE (error_code IS NOT NULL)

CREATE INDEX jobs_with_results ON nightdesk_data.jobs USING btree (input_sha256, finished_at) WHERE (((state = 'succeeded'::text) OR (duplicate_of IS NOT NULL)) AND (kind = ANY (ARRAY['summarize'::text, 'extract'::text])))

CREATE INDEX model_calls_to_take_over ON nightdesk_data.model_calls USING btree (request_sha256, call_id) WHERE ((reply IS NOT NULL) AND (model <> 'extractive'::text))

CREATE UNIQUE INDEX one_open_step_at_a_time ON nightdesk_data.steps USING btree (job_id) WHERE (state = ANY (ARRAY['started'::text, 'waiting'::text, 'uncertain'::text]))

CREATE UNIQUE INDEX one_result_a_job ON nightdesk_data.runs USING btree (job_id) WHERE (state = ANY (ARRAY['succeeded'::text, 'refused'::text]))

CREATE UNIQUE INDEX one_run_at_a_time ON nightdesk_data.runs USING btree (job_id) WHERE (state = 'running'::text)

CREATE INDEX open_batches ON nightdesk_data.batches USING btree (created_at) WHERE (state = 'open'::text)

CREATE INDEX operator_actions_by_batch ON nightdesk_data.operator_actions USING btree (batch_id) WHERE (batch_id IS NOT NULL)

CREATE INDEX postings_by_segment ON nightdesk_data.postings USING btree (segment_id, term)

CREATE INDEX program_batches_being_read ON nightdesk_data.program_batches USING btree (created_at) WHERE ((batch_id IS NULL) AND (failed_at IS NULL))

CREATE INDEX program_batches_by_token ON nightdesk_data.program_batches USING btree (token_id, seq)

CREATE INDEX program_files_by_expiry ON nightdesk_data.program_files USING btree (expires_at)

CREATE INDEX program_files_by_token ON nightdesk_data.program_files USING btree (token_id, seq)

CREATE INDEX refused_budgets ON nightdesk_data.batch_budgets USING btree (refused_at) WHERE (refused_at IS NOT NULL)

CREATE INDEX run_calls_by_call ON nightdesk_data.run_calls USING btree (call_id)

CREATE INDEX runs_by_finish ON nightdesk_data.runs USING btree (finished_at) WHERE (finished_at IS NOT NULL)

CREATE INDEX runs_by_job ON nightdesk_data.runs USING btree (job_id, started_at)

CREATE INDEX schedule_runs_by_batch ON nightdesk_data.schedule_runs USING btree (batch_id) WHERE (batch_id IS NOT NULL)

CREATE INDEX steps_by_run ON nightdesk_data.steps USING btree (run_id)

CREATE UNIQUE INDEX tokens_by_name ON nightdesk_data.tokens USING btree (name) WHERE (revoked_at IS NULL)

CREATE INDEX tool_calls_by_grant ON nightdesk_data.tool_calls USING btree (grant_id) WHERE (grant_id IS NOT NULL)

CREATE UNIQUE INDEX tool_calls_by_step ON nightdesk_data.tool_calls USING btree (job_id, step) WHERE (step IS NOT NULL)

CREATE INDEX watched_files_by_job ON nightdesk_data.watched_files USING btree (job_id) WHERE (job_id IS NOT NULL)

CREATE INDEX watched_files_by_label_job ON nightdesk_data.watched_files USING btree (label_job_id) WHERE (label_job_id IS NOT NULL)

CREATE INDEX watched_files_by_mail ON nightdesk_data.watched_files USING btree (source, mail_sha256) WHERE (mail_sha256 IS NOT NULL)

CREATE INDEX watched_files_by_moved_path ON nightdesk_data.watched_files USING btree (source, md5(moved_to)) WHERE (moved_to IS NOT NULL)

CREATE INDEX watched_files_by_path ON nightdesk_data.watched_files USING btree (source, md5(path))

CREATE INDEX watched_files_by_time ON nightdesk_data.watched_files USING btree (source, seen_at)

CREATE INDEX write_backs_by_file ON nightdesk_data.write_backs USING btree (source, remote_id)

CREATE INDEX write_backs_by_job ON nightdesk_data.write_backs USING btree (job_id)

CREATE INDEX write_backs_waiting ON nightdesk_data.write_backs USING btree (batch_id) WHERE is_waiting

view nightdesk.action_items (job_id, run_id, batch_id, batch, custom_id, path, sha256, ordinal, action, owner, due, due_date, quote, quote_class, line_start, line_end, model, finished_at) as
 SELECT j.job_id,
    r.run_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    e.path,
    e.sha256,
    (item.place - 1)::integer AS ordinal,
    item.fields ->> 'action'::text AS action,
    item.fields ->> 'owner'::text AS owner,
    item.fields ->> 'due'::text AS due,
    (item.fields ->> 'due_date'::text)::date AS due_date,
    item.fields ->> 'quote'::text AS quote,
    q.class AS quote_class,
    q.line_start,
    q.line_end,
    COALESCE(r.model_second, r.model_first) AS model,
    j.finished_at
   FROM nightdesk_data.jobs j
     JOIN nightdesk_data.batches b USING (batch_id)
     JOIN nightdesk_data.runs r ON r.run_id = j.run_id AND r.state = 'succeeded'::text
     CROSS JOIN LATERAL jsonb_array_elements(r.summary -> 'actions'::text) WITH ORDINALITY item(fields, place)
     LEFT JOIN nightdesk_data.evidence e ON e.run_id = r.run_id AND e.ordinal = 0
     LEFT JOIN nightdesk_data.quotes q ON q.run_id = r.run_id AND q.ordinal = (item.place - 1)
  WHERE j.kind = 'extract'::text AND (j.input ->> 'preset'::text) = 'actions'::text;

view nightdesk.approvals (approval_id, job_id, batch_id, batch, custom_id, step, fingerprint, tool, executor, args, risks, preview, state, requested_at, expires_at, decided_at, decision_id, scope, reason, decided_by) as
 SELECT a.approval_id,
    a.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    a.step,
    a.fingerprint,
    a.tool,
    a.executor,
    a.args,
    a.risks,
    a.preview,
    a.state,
    a.requested_at,
    a.expires_at,
    a.decided_at,
    a.decision_id,
    d.scope,
    d.reason,
    d.decided_by
   FROM nightdesk_data.approvals a
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b USING (batch_id)
     LEFT JOIN nightdesk_data.decisions d USING (decision_id);

view nightdesk.artifacts (job_id, batch_id, custom_id, step, stream, sha256, bytes, class, expires_at, created_at, removed_at) as
 SELECT u.job_id,
    j.batch_id,
    j.custom_id,
    u.step,
    u.stream,
    u.sha256,
    u.bytes,
    u.class,
    u.expires_at,
    a.created_at,
    u.removed_at
   FROM nightdesk_data.artifact_uses u
     LEFT JOIN nightdesk_data.artifacts a ON a.sha256 = u.kept_sha256
     JOIN nightdesk_data.jobs j USING (job_id);

view nightdesk.audits (job_id, batch_id, batch, custom_id, round, score, given, caps, corrections, readable) as
 SELECT g.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    g.round,
    g.score,
    g.given,
    g.caps,
    g.corrections,
    g.readable
   FROM nightdesk_data.audits g
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b ON b.batch_id = j.batch_id;

view nightdesk.batch_holds (batch_id, batch, reason, detail, began_at, ended_at, times, held_ms) as
 SELECT h.batch_id,
    b.name AS batch,
    h.reason,
    h.detail,
    h.began_at,
    h.ended_at,
    h.times,
    (EXTRACT(epoch FROM h.held +
        CASE
            WHEN h.ended_at IS NULL THEN GREATEST('00:00:00'::interval, clock_timestamp() - h.since)
            ELSE '00:00:00'::interval
        END) * 1000::numeric)::bigint AS held_ms
   FROM nightdesk_data.hold_history h
     JOIN nightdesk_data.batches b USING (batch_id);

view nightdesk.batch_progress (batch_id, batch, state, hold_reason, total, queued, running, parked, succeeded, refused, failed, cancelled, expired, created_at, finished_at, hold_until, deadline_at, pinned, output_bytes, outputs_cut) as
 SELECT b.batch_id,
    b.name AS batch,
        CASE
            WHEN b.state <> 'open'::text THEN b.state
            WHEN b.hold_reason IS NOT NULL THEN 'held'::text
            WHEN c.queued = c.total THEN 'queued'::text
            ELSE 'running'::text
        END AS state,
    b.hold_reason,
    c.total,
    c.queued,
    c.running,
    c.parked,
    c.succeeded,
    c.refused,
    c.failed,
    c.cancelled,
    c.expired,
    b.created_at,
    b.finished_at,
    b.hold_until,
    b.deadline_at,
    b.pinned,
    COALESCE(o.bytes, 0::bigint) AS output_bytes,
    COALESCE(o.cut, 0) AS outputs_cut
   FROM nightdesk_data.batches b
     LEFT JOIN nightdesk_data.batch_outputs o USING (batch_id)
     CROSS JOIN LATERAL ( SELECT COALESCE(sum(n.total), 0::numeric)::bigint AS total,
            COALESCE(sum(n.queued), 0::numeric)::bigint AS queued,
            COALESCE(sum(n.running), 0::numeric)::bigint AS running,
            COALESCE(sum(n.parked), 0::numeric)::bigint AS parked,
            COALESCE(sum(n.succeeded), 0::numeric)::bigint AS succeeded,
            COALESCE(sum(n.refused), 0::numeric)::bigint AS refused,
            COALESCE(sum(n.failed), 0::numeric)::bigint AS failed,
            COALESCE(sum(n.cancelled), 0::numeric)::bigint AS cancelled,
            COALESCE(sum(n.expired), 0::numeric)::bigint AS expired
           FROM nightdesk_data.batch_counts n
          WHERE n.batch_id = b.batch_id) c
  WHERE b.parent_id IS NULL;

view nightdesk.budgets (scope, batch_id, batch, night, tokens_limit, tokens_used, tokens_reserved, calls_limit, calls_used, calls_reserved, seconds_limit, seconds_used, is_used_up, money_limit, money_used, money_reserved) as
 SELECT 'batch'::text AS scope,
    b.batch_id,
    b.name AS batch,
    NULL::date AS night,
    u.tokens_limit,
    u.tokens_used,
    u.tokens_reserved,
    u.calls_limit,
    u.calls_used,
    u.calls_reserved,
    u.seconds_limit,
    u.seconds_used,
    u.refused_at IS NOT NULL AS is_used_up,
    u.money_limit,
    u.money_used,
    u.money_reserved
   FROM nightdesk_data.batch_budgets u
     JOIN nightdesk_data.batches b USING (batch_id)
UNION ALL
 SELECT 'night'::text AS scope,
    NULL::uuid AS batch_id,
    NULL::text AS batch,
    n.night,
    n.tokens_limit,
    n.tokens_used,
    n.tokens_reserved,
    n.calls_limit,
    n.calls_used,
    n.calls_reserved,
    n.seconds_limit,
    n.seconds_used,
    (n.tokens_used >= n.tokens_limit) IS TRUE OR (n.calls_used >= n.calls_limit) IS TRUE OR (n.seconds_used >= n.seconds_limit) IS TRUE OR (n.money_used >= n.money_limit) IS TRUE AS is_used_up,
    n.money_limit,
    n.money_used,
    n.money_reserved
   FROM nightdesk_data.nights n;

view nightdesk.checks (job_id, batch_id, batch, custom_id, round, ordinal, claim, question, expects, how, rule, state, detail, reason, evidence, check_job_id, check_run_id, prompt_tokens, completion_tokens, run_ms) as
 SELECT c.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    c.round,
    c.ordinal,
    c.claim,
    c.question,
    c.expects,
    c.how,
    c.rule,
    c.state,
    c.detail,
    c.reason,
    c.evidence,
    c.check_job_id,
    r.run_id AS check_run_id,
    r.prompt_tokens,
    r.completion_tokens,
    r.run_ms
   FROM nightdesk_data.checks c
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b ON b.batch_id = j.batch_id
     LEFT JOIN nightdesk_data.jobs q ON q.job_id = c.check_job_id
     LEFT JOIN nightdesk_data.runs r ON r.run_id = q.run_id;

view nightdesk.chunks (chunk_key, source, path, ordinal, heading_path, start_char, end_char, line_start, line_end, text, embedded_models, locator) as
 SELECT c.chunk_key,
    d.source,
    d.path,
    c.ordinal,
    c.heading_path,
    c.start_char,
    c.end_char,
    c.line_start,
    c.line_end,
    c.text,
    ARRAY( SELECT DISTINCT e.model
           FROM nightdesk_data.embeddings e
          WHERE e.chunk_id = c.chunk_id
          ORDER BY e.model) AS embedded_models,
    c.locator
   FROM nightdesk_data.chunks c
     JOIN nightdesk_data.documents d USING (doc_id);

view nightdesk.claims (job_id, run_id, batch_id, batch, custom_id, draft, ordinal, stands, claim, grade, reason, fate, cites, arithmetic, number, path, start_char, end_char, line_start, line_end, quote, given_quote, locator, other_places) as
 SELECT j.job_id,
    c.run_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    c.draft,
    c.ordinal,
    c.stands,
    c.text AS claim,
    c.grade,
    c.reason,
    c.fate,
    c.cites,
    c.arithmetic,
    c.number,
    c.path,
    c.start_char,
    c.end_char,
    c.line_start,
    c.line_end,
    c.carrier AS quote,
    c.quote AS given_quote,
    c.locator,
    c.other_places
   FROM nightdesk_data.claims c
     JOIN nightdesk_data.runs r USING (run_id)
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b ON b.batch_id = j.batch_id;

view nightdesk.classifications (job_id, run_id, batch_id, batch, custom_id, path, sha256, label, priority, reason, quote, quote_class, line_start, line_end, model, finished_at) as
 SELECT j.job_id,
    r.run_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    e.path,
    e.sha256,
    r.summary ->> 'label'::text AS label,
    r.summary ->> 'priority'::text AS priority,
    r.summary ->> 'reason'::text AS reason,
    r.summary ->> 'quote'::text AS quote,
    q.class AS quote_class,
    q.line_start,
    q.line_end,
    COALESCE(r.model_second, r.model_first) AS model,
    j.finished_at
   FROM nightdesk_data.jobs j
     JOIN nightdesk_data.batches b USING (batch_id)
     JOIN nightdesk_data.runs r ON r.run_id = j.run_id AND r.state = 'succeeded'::text
     LEFT JOIN nightdesk_data.evidence e ON e.run_id = r.run_id AND e.ordinal = 0
     LEFT JOIN nightdesk_data.quotes q ON q.run_id = r.run_id AND q.ordinal = 0
  WHERE j.kind = 'extract'::text AND (j.input ->> 'preset'::text) = 'classify'::text;

view nightdesk.constraints (constraint_id, job_id, batch_id, batch, custom_id, what, needed, reason, created_at, resolved_at) as
 SELECT c.constraint_id,
    c.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    c.what,
    c.needed,
    c.reason,
    c.created_at,
    c.resolved_at
   FROM nightdesk_data.constraints c
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b ON b.batch_id = j.batch_id;

view nightdesk.coverage (job_id, batch_id, batch, custom_id, round, claim, set_query, members, read) as
 SELECT v.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    v.round,
    v.claim,
    v.set_query,
    v.members,
    v.read
   FROM nightdesk_data.coverage v
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b ON b.batch_id = j.batch_id;

view nightdesk.documents (source, path, sha256, bytes, chars, chunks, metadata_state, metadata, indexed_at, language, metadata_problem, extractor, day, day_until, day_source, dates, mail, attachments, secrets, left_out, is_kept, not_kept_code) as
 SELECT source,
    path,
    sha256,
    bytes,
    chars,
    ( SELECT count(*) AS count
           FROM nightdesk_data.chunks c
          WHERE c.doc_id = d.doc_id) AS chunks,
    metadata_state,
    metadata,
    indexed_at,
    language,
    metadata_problem,
    extractor,
    COALESCE(day, (to_timestamp((mtime_ns::numeric / '1000000000'::numeric)::double precision) AT TIME ZONE 'UTC'::text)::date) AS day,
    COALESCE(day_until, (to_timestamp((mtime_ns::numeric / '1000000000'::numeric)::double precision) AT TIME ZONE 'UTC'::text)::date) AS day_until,
    COALESCE(day_source, 'file_time'::text) AS day_source,
    dates,
    mail,
    attachments,
    secrets,
    left_out,
    (EXISTS ( SELECT
           FROM nightdesk_data.contents c
          WHERE c.sha256 = d.sha256)) AS is_kept,
        CASE
            WHEN is_over_quota THEN 'STORE_FULL'::text
            ELSE NULL::text
        END AS not_kept_code
   FROM nightdesk_data.documents d;

view nightdesk.doubtful_figures (figure, path, page, first_read, second_read, confidence, certainty, chosen, chosen_by, chosen_at, box, sha256) as
 SELECT ((((("left"(p.sha256, 8) || '.'::text) || p.page) || '.'::text) || (f.box ->> 0)) || '.'::text) || (f.box ->> 1) AS figure,
    d.path,
    p.page,
    f.first_read,
    f.second_read,
    f.confidence,
    f.certainty,
    c.chosen,
    c.chosen_by,
    c.chosen_at,
    f.box,
    p.sha256
   FROM ( SELECT DISTINCT ON (ocr_pages.sha256, ocr_pages.page) ocr_pages.sha256,
            ocr_pages.page,
            ocr_pages.record
           FROM nightdesk_data.ocr_pages
          WHERE ocr_pages.record IS NOT NULL
          ORDER BY ocr_pages.sha256, ocr_pages.page, ocr_pages.read_at DESC) p
     CROSS JOIN LATERAL ( SELECT w.box,
            string_agg(w.word ->> 'text'::text, ' '::text ORDER BY w.n) AS first_read,
            max(w.word ->> 'other'::text) AS second_read,
            min((w.word ->> 'confidence'::text)::real) AS confidence,
                CASE
                    WHEN bool_or((w.word ->> 'figure'::text) = 'doubtful'::text) THEN 'doubtful'::text
                    ELSE 'by_one'::text
                END AS certainty
           FROM ( SELECT found.word,
                    found.n,
                    COALESCE(found.word -> 'place'::text, found.word -> 'box'::text) AS box
                   FROM jsonb_path_query(p.record, '$."lines"[*]."words"[*]'::jsonpath) WITH ORDINALITY found(word, n)) w
          GROUP BY w.box
         HAVING bool_or((w.word ->> 'figure'::text) = ANY (ARRAY['one'::text, 'doubtful'::text]))) f
     LEFT JOIN LATERAL ( SELECT documents.path
           FROM nightdesk_data.documents
          WHERE documents.sha256 = p.sha256
          ORDER BY documents.path
         LIMIT 1) d ON true
     LEFT JOIN LATERAL ( SELECT c_1.chosen,
            c_1.chosen_by,
            c_1.chosen_at
           FROM nightdesk_data.ocr_choices c_1
          WHERE c_1.sha256 = p.sha256 AND c_1.page = p.page AND ((((f.box ->> 0)::real) + ((f.box ->> 2)::real)) / 2::double precision) >= ((c_1.box ->> 0)::real) AND ((((f.box ->> 0)::real) + ((f.box ->> 2)::real)) / 2::double precision) <= ((c_1.box ->> 2)::real) AND ((((f.box ->> 1)::real) + ((f.box ->> 3)::real)) / 2::double precision) >= ((c_1.box ->> 1)::real) AND ((((f.box ->> 1)::real) + ((f.box ->> 3)::real)) / 2::double precision) <= ((c_1.box ->> 3)::real)
          ORDER BY c_1.chosen_at DESC
         LIMIT 1) c ON true;

view nightdesk.evidence (evidence_id, job_id, run_id, batch_id, batch, custom_id, kind, admitted, rejected_reason, path, source, sha256, chars_full, chars_returned, truncated, chunk_key, heading_path, start_char, end_char, line_start, line_end, score, text_sha256, extractor, locator, left_out, title, retrieved_at, is_outdated, is_kept, origin) as
 SELECT e.evidence_id,
    j.job_id,
    e.run_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    e.kind,
    e.admitted,
    e.rejected_reason,
    e.path,
    e.source,
    e.sha256,
    e.chars_full,
    e.chars_returned,
    e.truncated,
    e.chunk_key,
    e.heading_path,
    e.start_char,
    e.end_char,
    e.line_start,
    e.line_end,
    e.score,
    e.text_sha256,
    e.extractor,
    e.locator,
    e.left_out,
    e.title,
    e.retrieved_at,
    (e.kind = ANY (ARRAY['file'::text, 'chunk'::text])) AND (EXISTS ( SELECT
           FROM nightdesk_data.documents d
          WHERE d.path = e.path AND d.sha256 <> e.sha256)) AS is_outdated,
    (EXISTS ( SELECT
           FROM nightdesk_data.contents c
          WHERE c.sha256 = e.sha256)) AS is_kept,
    COALESCE(( SELECT v.origin
           FROM nightdesk_data.remote_versions v
          WHERE v.path = e.path AND v.sha256 = e.sha256), ( SELECT min(v.origin) AS min
           FROM nightdesk_data.remote_versions v
          WHERE v.path = "substring"(e.path, '^(.*?[.](?:eml|mbox|zip))/(?:messages/[0-9]+/)?attachments/'::text)
         HAVING count(*) = 1)) AS origin
   FROM nightdesk_data.evidence e
     JOIN nightdesk_data.runs r USING (run_id)
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b USING (batch_id);

view nightdesk.exams (model, form, state, wrong_asked, wrong_confirmed, right_asked, right_confirmed, yes_from, calls, parts, own, examined_at, controls, dismissed_at, identity, prompt, exam, job_id) as
 SELECT model,
    form,
        CASE
            WHEN dismissed_at IS NOT NULL THEN 'dismissed'::text
            ELSE state
        END AS state,
    wrong_asked,
    wrong_confirmed,
    right_asked,
    right_confirmed,
    yes_from,
    calls,
    parts,
    own,
    examined_at,
    controls,
    dismissed_at,
    identity,
    prompt,
    exam,
    job_id
   FROM nightdesk_data.exams;

view nightdesk.failures (origin, job_id, batch_id, custom_id, kind, state, path, error_code, error_message, attempts, at) as
 SELECT 'job'::text AS origin,
    j.job_id,
    j.batch_id,
    j.custom_id,
    j.kind,
    j.state,
    COALESCE(j.input ->> 'path'::text, ( SELECT t.args ->> 'path'::text
           FROM nightdesk_data.tool_calls t
          WHERE t.run_id = j.run_id
          ORDER BY (t.error_code IS NULL), t.ordinal
         LIMIT 1)) AS path,
    j.error_code,
    j.error_message,
    j.attempt AS attempts,
    COALESCE(j.finished_at, j.due_at) AS at
   FROM nightdesk_data.jobs j
  WHERE j.error_code IS NOT NULL AND j.state <> 'running'::text AND (j.kind <> ALL (ARRAY['notify'::text, 'check'::text]))
UNION ALL
 SELECT 'document'::text AS origin,
    NULL::uuid AS job_id,
    NULL::uuid AS batch_id,
    NULL::text AS custom_id,
    'index'::text AS kind,
    'refused'::text AS state,
    d.path,
    d.error_code,
    d.error_message,
    COALESCE(d.tries, 1) AS attempts,
    d.at
   FROM nightdesk_data.document_failures d;

view nightdesk.field_bindings (job_id, run_id, batch_id, batch, custom_id, ordinal, pointer, value, state, reason, grade, judge_says, judge_detail, quote, number, path, start_char, end_char, line_start, line_end, locator, review, correction, decision_reason, decided_by, decided_at) as
 SELECT j.job_id,
    f.run_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    f.ordinal,
    f.pointer,
    f.value,
    f.state,
    f.reason,
    f.grade,
    f.judge_says,
    f.judge_detail,
    f.quote,
    f.number,
    f.path,
    f.start_char,
    f.end_char,
    f.line_start,
    f.line_end,
    f.locator,
    f.decision AS review,
    f.correction,
    f.decision_reason,
    f.decided_by,
    f.decided_at
   FROM nightdesk_data.field_bindings f
     JOIN nightdesk_data.runs r USING (run_id)
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b ON b.batch_id = j.batch_id;

view nightdesk.figures (job_id, run_id, batch_id, custom_id, ordinal, kind, figure, stands_in, flagged, number, path, start_char, end_char, line_start, line_end) as
 SELECT j.job_id,
    f.run_id,
    j.batch_id,
    j.custom_id,
    f.ordinal,
    f.kind,
    f.figure,
    f.stands_in,
    f.flagged,
    f.number,
    f.path,
    f.start_char,
    f.end_char,
    f.line_start,
    f.line_end
   FROM nightdesk_data.figures f
     JOIN nightdesk_data.runs r USING (run_id)
     JOIN nightdesk_data.jobs j USING (job_id);

view nightdesk.grants (grant_id, job_id, batch_id, custom_id, preset, preset_sha256, tools, roots, limits, created_at, ended_at) as
 SELECT g.grant_id,
    g.job_id,
    j.batch_id,
    j.custom_id,
    g.preset,
    g.preset_sha256,
    g.tools,
    g.roots,
    g.limits,
    g.created_at,
    g.ended_at
   FROM nightdesk_data.grants g
     JOIN nightdesk_data.jobs j USING (job_id);

view nightdesk.hooks (call_id, batch_id, batch, event, target, state, tries, status, error, happened_at, due_at, ended_at) as
 SELECT j.seq AS call_id,
    b.batch_id,
    b.name AS batch,
    j.input ->> 'event'::text AS event,
    j.input ->> 'target'::text AS target,
        CASE
            WHEN j.finished_at IS NULL THEN 'pending'::text
            WHEN j.state <> 'succeeded'::text THEN 'failed'::text
            WHEN (r.summary ->> 'end'::text) = 'superseded'::text THEN 'superseded'::text
            ELSE 'done'::text
        END AS state,
    j.attempt AS tries,
    ( SELECT (e.detail ->> 'status'::text)::integer AS int4
           FROM nightdesk_data.runs tried
             JOIN nightdesk_data.run_events e USING (run_id)
          WHERE tried.job_id = j.job_id AND e.step = 'notify'::text
          ORDER BY tried.started_at DESC
         LIMIT 1) AS status,
    j.error_message AS error,
    (j.input ->> 'at'::text)::timestamp with time zone AS happened_at,
    j.due_at,
    j.finished_at AS ended_at
   FROM nightdesk_data.batches s
     JOIN nightdesk_data.batches b ON b.batch_id = s.parent_id
     JOIN nightdesk_data.jobs j ON j.batch_id = s.batch_id
     LEFT JOIN nightdesk_data.runs r ON r.run_id = j.run_id
  WHERE s.origin = 'system'::text;

view nightdesk.host_models (host, model, digest, server_version, window_tokens, features, seen_at) as
 SELECT host,
    model,
    digest,
    server_version,
    window_tokens,
    features,
    seen_at
   FROM nightdesk_data.host_models;

view nightdesk.host_nights (host, name, night, calls, tokens, money) as
 SELECT n.host,
    h.name,
    n.night,
    n.calls,
    n.tokens,
    n.money
   FROM nightdesk_data.host_nights n
     JOIN nightdesk_data.hosts h USING (host);

view nightdesk.hosts (host, provider, capacity, capacity_reason, in_use, waiting, state, failures, error_code, error_message, failed_at, opened_at, next_try_at, name, priority, requests_per_minute, tokens_per_minute, next_call_at) as
 SELECT host,
    provider,
    capacity,
    capacity_reason,
    ( SELECT count(*) AS count
           FROM nightdesk_data.host_slots s
             JOIN nightdesk_data.jobs j USING (run_id)
          WHERE s.host = h.host AND j.state = 'running'::text AND j.lease_until > clock_timestamp()) AS in_use,
    ( SELECT count(*) AS count
           FROM nightdesk_data.host_waiters w
             JOIN nightdesk_data.jobs j USING (run_id)
          WHERE w.host = h.host AND j.state = 'running'::text AND j.lease_until > clock_timestamp()) AS waiting,
    state,
    failures,
    error_code,
    error_message,
    failed_at,
    opened_at,
    next_probe_at AS next_try_at,
    name,
    priority,
    requests_per_minute,
    tokens_per_minute,
    NULLIF(GREATEST(paused_until,
        CASE
            WHEN provider <> 'web'::text THEN next_call_at
            ELSE NULL::timestamp with time zone
        END, tokens_free_at, now()), now()) AS next_call_at
   FROM nightdesk_data.hosts h;

view nightdesk.memory (memory_id, type, source, content, chunk_keys, dangling_keys, created_at) as
 SELECT memory_id,
    type,
    source,
    content,
    chunk_keys,
    ( SELECT COALESCE(array_agg(named.key ORDER BY named.key), '{}'::text[]) AS "coalesce"
           FROM unnest(m.chunk_keys) named(key)
          WHERE NOT (EXISTS ( SELECT
                   FROM nightdesk_data.chunks c
                  WHERE c.chunk_key = named.key))) AS dangling_keys,
    created_at
   FROM nightdesk_data.memory m;

view nightdesk.model_calls (call_id, job_id, run_id, batch_id, batch, custom_id, pass, model, model_digest, prompt_template, prompt_sha256, request_sha256, prompt, reply, done_reason, error_code, prompt_tokens, completion_tokens, load_ms, duration_ms, created_at, cached_from) as
 SELECT c.call_id,
    c.job_id,
    c.run_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    c.pass,
    c.model,
    c.model_digest,
    c.prompt_template,
    c.prompt_sha256,
    c.request_sha256,
    c.prompt,
    c.reply,
    c.done_reason,
    c.error_code,
    c.prompt_tokens,
    c.completion_tokens,
    c.load_ms,
    c.duration_ms,
    c.created_at,
    c.cached_from
   FROM nightdesk_data.model_calls c
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b USING (batch_id);

view nightdesk.moves (job_id, batch_id, batch, custom_id, run_id, step, tool, type, evidence, found, at) as
 SELECT s.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    s.run_id,
    s.ordinal AS step,
    t.name AS tool,
    COALESCE(s.detail ->> 'move'::text, 'other'::text) AS type,
    COALESCE(jsonb_array_length(s.detail -> 'evidence'::text), 0) AS evidence,
    COALESCE((s.detail ->> 'found'::text)::integer, 0) AS found,
    s.started_at AS at
   FROM nightdesk_data.steps s
     JOIN nightdesk_data.tool_calls t ON t.job_id = s.job_id AND t.step = s.ordinal
     JOIN nightdesk_data.jobs j ON j.job_id = s.job_id
     JOIN nightdesk_data.batches b ON b.batch_id = j.batch_id
  WHERE s.state <> 'skipped'::text;

view nightdesk.ocr_pages (sha256, page, path, is_read, unreadable, confidence, left_ink, words, by_two, by_one, doubtful, turned, engine, settings, read_at, job_id, record) as
 SELECT p.sha256,
    p.page,
    d.path,
    p.record IS NOT NULL AS is_read,
    p.unreadable,
    (p.record ->> 'confidence'::text)::real AS confidence,
    (p.record ->> 'leftInk'::text)::real AS left_ink,
    f.words,
    f.by_two,
    f.by_one,
    f.doubtful,
    (p.record ->> 'turned'::text)::integer AS turned,
    p.record ->> 'engine'::text AS engine,
    p.settings,
    p.read_at,
    p.job_id,
    p.record
   FROM nightdesk_data.ocr_pages p
     LEFT JOIN LATERAL ( SELECT count(*) AS words,
            count(*) FILTER (WHERE (word.word ->> 'figure'::text) = 'two'::text) AS by_two,
            count(*) FILTER (WHERE (word.word ->> 'figure'::text) = 'one'::text) AS by_one,
            count(*) FILTER (WHERE (word.word ->> 'figure'::text) = 'doubtful'::text) AS doubtful
           FROM jsonb_path_query(p.record, '$."lines"[*]."words"[*]'::jsonpath) word(word)) f ON p.record IS NOT NULL
     LEFT JOIN LATERAL ( SELECT documents.path
           FROM nightdesk_data.documents
          WHERE documents.sha256 = p.sha256
          ORDER BY documents.path
         LIMIT 1) d ON true;

view nightdesk.operator_actions (action_id, at, actor, action, batch_id, batch, job_id, detail, outcome, said, ended_at) as
 SELECT a.action_id,
    a.at,
    a.actor,
    a.action,
    a.batch_id,
    b.name AS batch,
    a.job_id,
    a.detail,
    a.outcome,
    a.said,
    a.ended_at
   FROM nightdesk_data.operator_actions a
     LEFT JOIN nightdesk_data.batches b USING (batch_id);

view nightdesk.people_and_dates (job_id, run_id, batch_id, batch, custom_id, path, sha256, ordinal, kind, name, role, date, day, what, quote, quote_class, line_start, line_end, model, finished_at) as
 SELECT j.job_id,
    r.run_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    e.path,
    e.sha256,
    item.ordinal,
    item.kind,
    item.fields ->> 'name'::text AS name,
    item.fields ->> 'role'::text AS role,
    item.fields ->> 'date'::text AS date,
    (item.fields ->> 'day'::text)::date AS day,
    item.fields ->> 'what'::text AS what,
    item.fields ->> 'quote'::text AS quote,
    q.class AS quote_class,
    q.line_start,
    q.line_end,
    COALESCE(r.model_second, r.model_first) AS model,
    j.finished_at
   FROM nightdesk_data.jobs j
     JOIN nightdesk_data.batches b USING (batch_id)
     JOIN nightdesk_data.runs r ON r.run_id = j.run_id AND r.state = 'succeeded'::text
     CROSS JOIN LATERAL ( SELECT 'person'::text AS kind,
            people.fields,
            (people.place - 1)::integer AS ordinal,
            0 AS before
           FROM jsonb_array_elements(r.summary -> 'people'::text) WITH ORDINALITY people(fields, place)
        UNION ALL
         SELECT 'date'::text,
            dates.fields,
            (dates.place - 1)::integer AS int4,
            jsonb_array_length(r.summary -> 'people'::text) AS jsonb_array_length
           FROM jsonb_array_elements(r.summary -> 'dates'::text) WITH ORDINALITY dates(fields, place)) item
     LEFT JOIN nightdesk_data.evidence e ON e.run_id = r.run_id AND e.ordinal = 0
     LEFT JOIN nightdesk_data.quotes q ON q.run_id = r.run_id AND q.ordinal = (item.before + item.ordinal)
  WHERE j.kind = 'extract'::text AND (j.input ->> 'preset'::text) = 'people'::text;

view nightdesk.queries (job_id, batch_id, batch, custom_id, step, tool, query, family, novel, hits) as
 SELECT s.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    s.ordinal AS step,
    t.name AS tool,
    t.args ->> (s.detail ->> 'query_argument'::text) AS query,
    s.detail ->> 'family'::text AS family,
    (s.detail ->> 'novel'::text)::boolean AS novel,
    (s.detail ->> 'hits'::text)::bigint AS hits
   FROM nightdesk_data.steps s
     JOIN nightdesk_data.tool_calls t ON t.job_id = s.job_id AND t.step = s.ordinal
     JOIN nightdesk_data.jobs j ON j.job_id = s.job_id
     JOIN nightdesk_data.batches b ON b.batch_id = j.batch_id
  WHERE s.state <> 'skipped'::text AND s.detail ? 'query_argument'::text;

view nightdesk.quotes (job_id, run_id, batch_id, custom_id, ordinal, quote, class, number, path, start_char, end_char, line_start, line_end) as
 SELECT j.job_id,
    q.run_id,
    j.batch_id,
    j.custom_id,
    q.ordinal,
    q.quote,
    q.class,
    q.number,
    q.path,
    q.start_char,
    q.end_char,
    q.line_start,
    q.line_end
   FROM nightdesk_data.quotes q
     JOIN nightdesk_data.runs r USING (run_id)
     JOIN nightdesk_data.jobs j USING (job_id);

view nightdesk.reasoning (call_id, job_id, run_id, batch_id, custom_id, pass, model, chars, reasoning, created_at, expires_at) as
 SELECT c.call_id,
    c.job_id,
    c.run_id,
    j.batch_id,
    j.custom_id,
    c.pass,
    c.model,
    t.chars,
    t.reasoning,
    c.created_at,
    t.expires_at
   FROM nightdesk_data.call_reasoning t
     JOIN nightdesk_data.model_calls c USING (call_id, run_id)
     JOIN nightdesk_data.jobs j USING (job_id);

view nightdesk.remote_files (source, name, path, fate, reason, origin, version, bytes, sha256, fetched_at, listed_version, listed_bytes, changed_at, kind, address, listed_at, description) as
 SELECT f.source,
    f.remote_id AS name,
    f.path,
    f.fate,
    f.reason,
    f.origin,
    f.version,
    f.bytes,
    f.sha256,
    f.fetched_at,
    f.listed_version,
    f.listed_bytes,
    f.changed_at,
    s.kind,
    s.address,
    s.listed_at,
    f.description
   FROM nightdesk_data.remote_files f
     JOIN nightdesk_data.remote_sources s USING (source);

view nightdesk.results (job_id, batch_id, batch, custom_id, kind, state, error_code, error_message, input, answer, scope, model, prompt_tokens, completion_tokens, queued_ms, run_ms, evidence_count, created_at, finished_at, output, cached_from, rerun_of, waiting_for, grade, claims_dropped, verification, duplicate_of, path) as
 SELECT j.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    j.kind,
    j.state,
    j.error_code,
    j.error_message,
    j.input,
    r.answer,
    r.scope,
    COALESCE(r.model_second, r.model_first) AS model,
    r.prompt_tokens,
    r.completion_tokens,
    r.queued_ms,
    r.run_ms,
    ( SELECT count(*) AS count
           FROM nightdesk_data.evidence e
          WHERE e.run_id = r.run_id AND e.admitted) AS evidence_count,
    j.created_at,
    j.finished_at,
    r.summary AS output,
    r.cached_from,
    j.rerun_of,
    j.waiting_for,
    r.grade,
    r.claims_dropped,
    r.verification,
    j.duplicate_of,
    j.input ->> 'path'::text AS path
   FROM nightdesk_data.jobs j
     JOIN nightdesk_data.batches b USING (batch_id)
     LEFT JOIN nightdesk_data.runs r ON r.run_id = j.run_id
  WHERE j.kind <> ALL (ARRAY['notify'::text, 'check'::text]);

view nightdesk.reviews (job_id, batch_id, batch, custom_id, kind, run_id, state, why, draft, correction, facts, reason, requested_at, decided_by, decided_at) as
 SELECT v.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    j.kind,
    v.run_id,
    v.state,
    v.why,
    v.draft,
    v.correction,
    v.facts,
    v.reason,
    v.requested_at,
    v.decided_by,
    v.decided_at
   FROM nightdesk_data.draft_reviews v
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b ON b.batch_id = j.batch_id;

view nightdesk.run_events (event_id, run_id, job_id, batch_id, custom_id, ordinal, step, at_ms, duration_ms, detail) as
 SELECT e.event_id,
    e.run_id,
    r.job_id,
    j.batch_id,
    j.custom_id,
    e.ordinal,
    e.step,
    e.at_ms,
    e.duration_ms,
    e.detail
   FROM nightdesk_data.run_events e
     JOIN nightdesk_data.runs r USING (run_id)
     JOIN nightdesk_data.jobs j USING (job_id)
  WHERE j.kind <> 'notify'::text;

view nightdesk.runs (run_id, job_id, batch_id, batch, custom_id, kind, attempt, state, error_code, error_message, answer, scope, model_first, model_second, prompt_tokens, completion_tokens, queued_ms, model_ms, run_ms, started_at, finished_at, worker_id, version, config_sha256, config_file, roots, cached_from, grade, claims_dropped, verification, regraded_at) as
 SELECT r.run_id,
    r.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    j.kind,
    r.attempt,
    r.state,
    r.error_code,
    r.error_message,
    r.answer,
    r.scope,
    r.model_first,
    r.model_second,
    r.prompt_tokens,
    r.completion_tokens,
    r.queued_ms,
    r.model_ms,
    r.run_ms,
    r.started_at,
    r.finished_at,
    r.worker_id,
    r.version,
    r.config_sha256,
    r.config_file,
    r.roots,
    r.cached_from,
    r.grade,
    r.claims_dropped,
    r.verification,
    r.regraded_at
   FROM nightdesk_data.runs r
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b ON b.batch_id = j.batch_id
  WHERE j.kind <> 'notify'::text;

view nightdesk.schedules (name, origin, cron, timezone, command, catch_up, enabled, since, last_planned_at, last_cause, last_batch_id) as
 SELECT s.name,
    s.origin,
    s.cron,
    s.timezone,
    s.command,
    s.catch_up,
    COALESCE(s.switched, s.enabled) AS enabled,
    s.since,
    l.planned_at AS last_planned_at,
    l.cause AS last_cause,
    l.batch_id AS last_batch_id
   FROM nightdesk_data.schedules s
     LEFT JOIN LATERAL ( SELECT r.planned_at,
            r.cause,
            r.batch_id
           FROM nightdesk_data.schedule_runs r
          WHERE r.schedule = s.name
          ORDER BY r.planned_at DESC
         LIMIT 1) l ON true;

view nightdesk.stage_costs (batch_id, batch, kind, stage, model, calls, jobs, prompt_tokens, completion_tokens, model_ms) as
 SELECT b.batch_id,
    b.name AS batch,
    c.kind,
    c.stage,
    c.model,
    count(*) AS calls,
    count(DISTINCT c.job_id) AS jobs,
    sum(c.prompt_tokens) AS prompt_tokens,
    sum(c.completion_tokens) AS completion_tokens,
    sum(c.duration_ms) AS model_ms
   FROM nightdesk_data.batches b
     JOIN nightdesk_data.batches own ON own.batch_id = b.batch_id OR own.parent_id = b.batch_id AND own.origin = 'verify'::text
     JOIN nightdesk_data.staged_calls c ON c.batch_id = own.batch_id
  WHERE b.parent_id IS NULL
  GROUP BY b.batch_id, b.name, c.kind, c.stage, c.model;

view nightdesk.steps (job_id, run_id, batch_id, batch, custom_id, ordinal, kind, tool, effect, state, error_code, model, prompt_tokens, completion_tokens, detail, started_at, ended_at, duration_ms) as
 SELECT s.job_id,
    s.run_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    s.ordinal,
    s.kind,
    t.name AS tool,
    s.effect,
    s.state,
    COALESCE(t.error_code, c.error_code) AS error_code,
    c.model,
    c.prompt_tokens,
    c.completion_tokens,
    s.detail,
    s.started_at,
    s.ended_at,
    EXTRACT(epoch FROM s.ended_at - s.started_at) * 1000::numeric AS duration_ms
   FROM nightdesk_data.steps s
     JOIN nightdesk_data.jobs j USING (job_id)
     JOIN nightdesk_data.batches b USING (batch_id)
     LEFT JOIN nightdesk_data.tool_calls t ON t.job_id = s.job_id AND t.step = s.ordinal
     LEFT JOIN nightdesk_data.model_calls c ON c.job_id = s.job_id AND c.request_sha256 = s.request_sha256;

view nightdesk.summary_parts (job_id, run_id, batch_id, custom_id, path, level, ordinal, start_char, end_char, line_start, line_end, summary) as
 SELECT j.job_id,
    p.run_id,
    j.batch_id,
    j.custom_id,
    p.path,
    p.level,
    p.ordinal,
    p.start_char,
    p.end_char,
    p.line_start,
    p.line_end,
    p.summary
   FROM nightdesk_data.summary_parts p
     JOIN nightdesk_data.runs r USING (run_id)
     JOIN nightdesk_data.jobs j USING (job_id);

view nightdesk.throughput (hour, kind, model, jobs, prompt_tokens, completion_tokens, run_ms_p50, run_ms_p95, calls, stages) as
 WITH ended AS (
         SELECT date_trunc('hour'::text, r.finished_at) AS hour,
            j.kind,
            COALESCE(r.model_second, r.model_first) AS model,
            r.state = ANY (ARRAY['succeeded'::text, 'refused'::text, 'failed'::text, 'drafted'::text]) AS is_counted,
            r.run_id,
            r.job_id,
            r.attempt,
            r.worker_id,
            r.state,
            r.answer,
            r.scope,
            r.citations,
            r.summary,
            r.error_code,
            r.error_message,
            r.model_first,
            r.model_second,
            r.prompt_tokens,
            r.completion_tokens,
            r.queued_ms,
            r.model_ms,
            r.run_ms,
            r.started_at,
            r.finished_at,
            r.version,
            r.config_sha256,
            r.models,
            r.memory_ids,
            r.cached_from,
            r.regraded_at,
            r.config_file,
            r.roots,
            r.grade,
            r.verification,
            r.claims_dropped
           FROM nightdesk_data.runs r
             JOIN nightdesk_data.jobs j USING (job_id)
          WHERE r.finished_at IS NOT NULL AND j.kind <> 'notify'::text
        ), by_stage AS (
         SELECT e_1.hour,
            e_1.kind,
            e_1.model,
            c.stage,
            count(*) AS calls,
            sum(c.prompt_tokens + c.completion_tokens) AS tokens,
            sum(c.duration_ms) AS model_ms
           FROM ended e_1
             JOIN nightdesk_data.staged_calls c USING (run_id)
          GROUP BY e_1.hour, e_1.kind, e_1.model, c.stage
        ), staged AS (
         SELECT by_stage.hour,
            by_stage.kind,
            by_stage.model,
            sum(by_stage.calls)::bigint AS calls,
            jsonb_object_agg(by_stage.stage, jsonb_build_object('calls', by_stage.calls, 'tokens', by_stage.tokens, 'model_ms', round(by_stage.model_ms))) AS stages
           FROM by_stage
          GROUP BY by_stage.hour, by_stage.kind, by_stage.model
        )
 SELECT e.hour,
    e.kind,
    e.model,
    e.jobs,
    e.prompt_tokens,
    e.completion_tokens,
    e.run_ms_p50,
    e.run_ms_p95,
    COALESCE(s.calls, 0::bigint) AS calls,
    COALESCE(s.stages, '{}'::jsonb) AS stages
   FROM ( SELECT ended.hour,
            ended.kind,
            ended.model,
            count(*) FILTER (WHERE ended.is_counted AND ended.state <> 'drafted'::text) AS jobs,
            COALESCE(sum(ended.prompt_tokens) FILTER (WHERE ended.is_counted), 0::bigint) AS prompt_tokens,
            COALESCE(sum(ended.completion_tokens) FILTER (WHERE ended.is_counted), 0::bigint) AS completion_tokens,
            percentile_cont(0.5::double precision) WITHIN GROUP (ORDER BY ended.run_ms) FILTER (WHERE ended.is_counted) AS run_ms_p50,
            percentile_cont(0.95::double precision) WITHIN GROUP (ORDER BY ended.run_ms) FILTER (WHERE ended.is_counted) AS run_ms_p95,
            bool_or(ended.is_counted) AS is_counted
           FROM ended
          GROUP BY ended.hour, ended.kind, ended.model) e
     LEFT JOIN staged s ON s.hour = e.hour AND s.kind = e.kind AND NOT s.model IS DISTINCT FROM e.model
  WHERE e.is_counted OR s.calls > 0;

view nightdesk.tool_calls (run_id, job_id, batch_id, batch, custom_id, ordinal, name, args, error_code, error_message, result, trailing_text, duration_ms, step, grant_id, args_sha256) as
 SELECT t.run_id,
    r.job_id,
    j.batch_id,
    b.name AS batch,
    j.custom_id,
    t.ordinal,
    t.name,
    t.args,
    t.error_code,
    t.error_message,
    t.result,
    t.trailing_text,
    t.duration_ms,
    t.step,
    t.grant_id,
    t.args_sha256
   FROM nightdesk_data.tool_calls t
     JOIN nightdesk_data.runs r USING (run_id)
     JOIN nightdesk_data.jobs j ON j.job_id = r.job_id
     JOIN nightdesk_data.batches b USING (batch_id);

view nightdesk.watched_files (source, path, mail, sha256, bytes, seen_at, job_id, batch_id, state, label, label_job_id, label_state, label_problem, moved_to, move_problem) as
 SELECT w.source,
    w.path,
    m.path AS mail,
    w.sha256,
    w.bytes,
    w.seen_at,
    w.job_id,
    j.batch_id,
    j.state,
    w.label,
    w.label_job_id,
    l.state AS label_state,
    w.label_problem,
    w.moved_to,
    w.move_problem
   FROM nightdesk_data.watched_files w
     LEFT JOIN nightdesk_data.jobs j USING (job_id)
     LEFT JOIN nightdesk_data.jobs l ON l.job_id = w.label_job_id
     LEFT JOIN nightdesk_data.watched_files m ON m.source = w.source AND m.sha256 = w.mail_sha256;

view nightdesk.watches (source, looked_at, files, restless, problem) as
 SELECT source,
    looked_at,
    files,
    restless,
    problem
   FROM nightdesk_data.watches;

view nightdesk.workers (worker_id, host, pid, version, concurrency, started_at, heartbeat_at, is_alive, config_file, differs_in, documents_from) as
 SELECT worker_id,
    host,
    pid,
    version,
    concurrency,
    started_at,
    heartbeat_at,
    heartbeat_at > (clock_timestamp() - '00:00:15'::interval) AS is_alive,
    config_file,
    ARRAY( SELECT a.key
           FROM nightdesk_data.applied_config a
          WHERE a.sha256 <> (w.shared_config ->> a.key)
          ORDER BY (a.key COLLATE "C")) AS differs_in,
    documents_from
   FROM nightdesk_data.workers w;

view nightdesk.write_backs (write_id, batch_id, batch, job_id, custom_id, source, remote_id, path, kind, name, pointer, value, state, reason, before, after, sha256, noted_at, written_at, undone_at, review, asked_at, correction, decision_reason, decided_by, decided_at) as
 SELECT w.write_id,
    w.batch_id,
    b.name AS batch,
    w.job_id,
    j.custom_id,
    w.source,
    w.remote_id,
    f.path,
    w.kind,
    w.name,
    w.pointer,
    w.value,
    w.state,
    w.reason,
    w.before,
    w.after,
    w.sha256,
    w.noted_at,
    w.written_at,
    w.undone_at,
        CASE
            WHEN w.is_waiting THEN 'waiting'::text
            ELSE w.decision
        END AS review,
    w.asked_at,
    w.correction,
    w.decision_reason,
    w.decided_by,
    w.decided_at
   FROM nightdesk_data.write_backs w
     JOIN nightdesk_data.batches b USING (batch_id)
     JOIN nightdesk_data.jobs j USING (job_id)
     LEFT JOIN nightdesk_data.remote_files f ON f.source = w.source AND f.remote_id = w.remote_id;

view nightdesk_data.staged_calls (job_id, run_id, kind, batch_id, model, prompt_tokens, completion_tokens, duration_ms, stage) as
 SELECT m.job_id,
    m.run_id,
    j.kind,
    j.batch_id,
    m.model,
    m.prompt_tokens,
    m.completion_tokens,
    m.duration_ms,
        CASE
            WHEN j.kind = 'check'::text THEN 'check'::text
            WHEN m.pass = ANY (ARRAY['decompose'::text, 'audit'::text, 'grade'::text]) THEN m.pass
            WHEN (m.prompt -> 'violations'::text) ?| ARRAY['CHECK_CONTRADICTS'::text, 'CHECK_UNKNOWN'::text, 'AUDITOR_CORRECTS'::text] THEN 'revise'::text
            ELSE 'draft'::text
        END AS stage
   FROM nightdesk_data.model_calls m
     JOIN nightdesk_data.jobs j USING (job_id)
  WHERE m.cached_from IS NULL;

CREATE OR REPLACE FUNCTION nightdesk_data.choose_host(run uuid, candidates jsonb, tried text[], longest_wait_ms double precision)
 RETURNS TABLE(outcome text, detail jsonb)
 LANGUAGE plpgsql
AS $function$
declare
  found_host text;
  others jsonb;
begin
  -- A choice that a crash takes back was of a run that is lost with it.
  perform nightdesk_data.commit_later();
  delete from nightdesk_data.host_choices where run_id = run and host = any (tried);
  -- Who chooses at the same moment counts after this choice is there.
  perform from nightdesk_data.hosts
    where host in (select asked->>'host' from jsonb_array_elements(candidates) asked)
    order by host for no key update;
  select jsonb_agg(asked->'host') into others from jsonb_array_elements(candidates) asked
   where not exists (select from nightdesk_data.hosts where host = asked->>'host');
  if others is not null then
    return query select 'unknown', others;
    return;
  end if;

  -- One statement: a call that begins is counted as a choice or as a call.
  with asked as materialized (
    select place, host, priority, overflow
      from rows from (jsonb_to_recordset(candidates) as (host text, priority integer, overflow boolean))
           with ordinality as listed (host, priority, overflow, place)),
  standing as materialized (
    select a.*, h.state, h.error_message, h.next_probe_at, paused_ms, h.state = 'open' or paused_ms > longest_wait_ms as closed,
           paused_ms > longest_wait_ms
             or h.failures > 0 and h.failed_at > clock_timestamp() - interval '10 seconds' is true as behind,
           ((select count(*) from nightdesk_data.host_slots s
              where s.host = h.host and s.ticket is not null
                and (s.taken_at >= now() - interval '1 s' or nightdesk_data.has_its_job(s.run_id)))
            + (select count(*) from nightdesk_data.host_waiters w
                where w.host = h.host and nightdesk_data.has_its_job(w.run_id))
            + (select count(*) from nightdesk_data.host_choices c
                where c.host = h.host and c.run_id is distinct from run and c.expires_at > clock_timestamp()
                  and nightdesk_data.has_its_job(c.run_id)))::double precision / h.capacity as load
      from asked a join nightdesk_data.hosts h using (host),
           greatest(0, coalesce(extract(epoch from greatest(h.paused_until, h.tokens_free_at) - clock_timestamp()) * 1000, 0))
             as paused_ms),
  ranked as materialized (
    select *, row_number() over (order by behind, priority, load, place) as rank,
           -- Has a slot free, and is to be called while it has one.
           not closed and not behind and load < 1
             and (overflow or priority = min(priority) filter (where not closed and not behind) over ()) as helps
      from standing)
  select (select host from ranked where not closed order by helps desc, rank limit 1),
         (select jsonb_agg(jsonb_build_object('host', host, 'state', state, 'error_message', error_message,
                                              'next_probe_at', next_probe_at, 'paused_ms', paused_ms) order by rank)
            from ranked)
    into found_host, others;
  if found_host is null then
    return query select 'closed', others;
    return;
  end if;
  if run is not null then
    insert into nightdesk_data.host_choices (run_id, host, expires_at)
    values (run, found_host, clock_timestamp() + interval '30 seconds')
    on conflict (run_id, host) do update set expires_at = excluded.expires_at;
  end if;
  return query select 'chosen', to_jsonb(found_host);
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.commit_later()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if current_setting('fsync') = 'on' then
    perform set_config('synchronous_commit', 'off', true);
  end if;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.count_chunks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.count_jobs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  batch_ids uuid[];
  states text[];
  deltas bigint[];
  of_batch uuid;
  was text;
  became text;
begin
  case tg_op
    when 'INSERT' then
      select array_agg(batch_id), array_agg(state), array_agg(n) into batch_ids, states, deltas
        from (select batch_id, state, count(*) as n from added group by batch_id, state) moved;
    when 'DELETE' then
      select array_agg(batch_id), array_agg(state), array_agg(n) into batch_ids, states, deltas
        from (select batch_id, state, -count(*) as n from removed group by batch_id, state) moved;
    else
      -- A claim and a result move one job, and most often the row of its counts is there.
      if (select count(*) from added) = 1 then
        select a.batch_id, r.state, a.state into of_batch, was, became from added a join removed r using (job_id, batch_id);
        if was = became then
          return null;
        end if;
        update nightdesk_data.batch_counts
           set queued = queued + (became = 'queued')::int - (was = 'queued')::int,
               running = running + (became = 'running')::int - (was = 'running')::int,
               parked = parked + (became = 'parked')::int - (was = 'parked')::int,
               succeeded = succeeded + (became = 'succeeded')::int - (was = 'succeeded')::int,
               refused = refused + (became = 'refused')::int - (was = 'refused')::int,
               failed = failed + (became = 'failed')::int - (was = 'failed')::int,
               cancelled = cancelled + (became = 'cancelled')::int - (was = 'cancelled')::int,
               expired = expired + (became = 'expired')::int - (was = 'expired')::int
         where batch_id = of_batch and shard = pg_backend_pid() % 64;
        if found then
          return null;
        end if;
      end if;
      select array_agg(batch_id), array_agg(state), array_agg(n) into batch_ids, states, deltas
        from (select batch_id, state, sum(sign)::bigint as n
                from (select batch_id, state, 1 as sign from added
                      union all select batch_id, state, -1 from removed) signed
               group by batch_id, state having sum(sign) <> 0) moved;
  end case;
  if batch_ids is not null then
    perform nightdesk_data.move_counts(batch_ids, states, deltas);
  end if;
  return null;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.delete_jobs(ids uuid[])
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  name text;
  run_ids uuid[];
  call_ids bigint[];
  deleted bigint;
  may_rest boolean := current_setting('is_superuser') = 'on';
begin
  -- Before version 15 there is no such right, nor this function.
  if not may_rest and current_setting('server_version_num')::integer >= 150000 then
    may_rest := has_parameter_privilege('session_replication_role', 'set');
  end if;
  with recursive doomed as (
    select unnest(ids) as job_id
    union select j.job_id from nightdesk_data.jobs j join doomed d on j.duplicate_of = d.job_id)
  select array_agg(job_id) into ids from doomed;
  -- Left to the foreign key it is a statement a job, each of which prepares all checks and indexes of jobs again.
  update nightdesk_data.jobs set rerun_of = null where rerun_of = any (ids) and job_id <> all (ids);
  if may_rest then
    perform set_config('session_replication_role', 'replica', true);
  end if;

  delete from nightdesk_data.jobs where job_id = any (ids);
  get diagnostics deleted = row_count;
  update nightdesk_data.jobs set rerun_of = null where rerun_of = any (ids);
  update nightdesk_data.watched_files set job_id = null where job_id = any (ids);
  update nightdesk_data.watched_files set label_job_id = null where label_job_id = any (ids);
  with gone as (delete from nightdesk_data.runs where job_id = any (ids) returning run_id)
  select array_agg(run_id) into run_ids from gone;
  with gone as (delete from nightdesk_data.model_calls where job_id = any (ids) returning call_id)
  select array_agg(call_id) into call_ids from gone;
  delete from nightdesk_data.call_reasoning where call_id = any (call_ids);
  delete from nightdesk_data.run_calls where call_id = any (call_ids);
  delete from nightdesk_data.job_dependencies where parent_id = any (ids);
  delete from nightdesk_data.job_dependencies where child_id = any (ids);
  foreach name in array array['job_progress', 'grants', 'steps', 'decisions', 'approvals', 'artifact_uses', 'checks', 'audits',
      'constraints', 'coverage', 'draft_reviews', 'job_vectors', 'write_backs'] loop
    execute format('delete from nightdesk_data.%I where job_id = any ($1)', name) using ids;
  end loop;
  update nightdesk_data.checks set check_job_id = null where check_job_id = any (ids);
  foreach name in array array['run_events', 'tool_calls', 'run_calls', 'evidence', 'quotes', 'figures', 'claims', 'claim_checks',
      'field_bindings', 'summary_parts'] loop
    execute format('delete from nightdesk_data.%I where run_id = any ($1)', name) using run_ids;
  end loop;

  if may_rest then
    perform set_config('session_replication_role', 'origin', true);
  end if;
  return deleted;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.end_call(old_ticket uuid, answer text, calls integer, tokens bigint, seconds double precision, money double precision, pause_seconds double precision)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  s nightdesk_data.host_slots;
  r nightdesk_data.reservations;
  h nightdesk_data.hosts;
  at_host text;
  next_up text;
begin
  select * into s from nightdesk_data.host_slots where ticket = old_ticket for update;
  delete from nightdesk_data.host_waiters where ticket = old_ticket returning host into at_host;
  at_host := coalesce(s.host, at_host);
  -- Before the budgets, as in take_call: those who are about to wait are seen below, or see the slot.
  select * into h from nightdesk_data.hosts where host = at_host for no key update;
  if s.ticket is not null then
    update nightdesk_data.host_slots set ticket = null, run_id = null, taken_at = null, in_use = null
     where host = s.host and slot = s.slot;
  end if;
  delete from nightdesk_data.reservations where ticket = old_ticket returning * into r;
  if r.ticket is not null then
    update nightdesk_data.batch_budgets b
       set tokens_reserved = tokens_reserved - r.tokens, calls_reserved = calls_reserved - 1,
           money_reserved = money_reserved - r.money,
           tokens_used = tokens_used + end_call.tokens, calls_used = calls_used + calls,
           seconds_used = seconds_used + seconds, money_used = money_used + end_call.money
     where batch_id = r.batch_id;
    update nightdesk_data.nights
       set tokens_reserved = tokens_reserved - r.tokens, calls_reserved = calls_reserved - 1,
           money_reserved = money_reserved - r.money,
           tokens_used = tokens_used + end_call.tokens, calls_used = calls_used + calls,
           seconds_used = seconds_used + seconds, money_used = money_used + end_call.money
     where night = r.night;
    -- It was taken to cost more.
    update nightdesk_data.hosts
       set tokens_free_at = tokens_free_at - make_interval(secs => (r.tokens - end_call.tokens) * 60.0 / tokens_per_minute)
     where host = s.host and tokens_per_minute is not null and tokens_free_at > clock_timestamp();
  end if;
  if s.ticket is not null and h.name is not null and calls > 0 then
    insert into nightdesk_data.host_nights as kept (host, night, calls, tokens, money)
    select s.host, night, end_call.calls, end_call.tokens, end_call.money
      from nightdesk_data.nights where ends_at > clock_timestamp() order by ends_at limit 1
    on conflict (host, night) do update set calls = kept.calls + excluded.calls,
      tokens = kept.tokens + excluded.tokens, money = kept.money + excluded.money;
  end if;
  if s.ticket is not null and answer = 'busy' and pause_seconds > 0 then
    update nightdesk_data.hosts
       set paused_until = greatest(paused_until, clock_timestamp() + make_interval(secs => least(pause_seconds, 3600)))
     where host = s.host;
    answer := 'none';
  end if;
  if s.ticket is not null and answer <> 'none' then
    if answer = 'answered' and (h.failures > 0 or h.state = 'open' or h.probes > 0) then
      update nightdesk_data.hosts set probes = 0 where host = s.host;
      perform nightdesk_data.wake_host(s.host);
    end if;
    perform nightdesk_data.size_host(h, s, answer, tokens, seconds);
  end if;
  if exists (select from nightdesk_data.host_waiters where host = at_host) then
    -- As many as there is room for.
    select string_agg(ticket::text, ' ') into next_up
      from (select w.ticket from nightdesk_data.host_waiters w
             where w.host = at_host and nightdesk_data.has_its_job(w.run_id)
             order by w.since, w.ticket
             limit (select greatest(1, k.capacity - (select count(*) from nightdesk_data.host_slots o
                                                      where o.host = k.host and o.ticket is not null))
                      from nightdesk_data.hosts k where k.host = at_host)) first;
    if next_up is not null then
      perform pg_notify('nightdesk_slots', at_host || ' ' || next_up);
    end if;
  end if;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.end_investigation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update nightdesk_data.grants set ended_at = clock_timestamp() where job_id = new.job_id and ended_at is null;
  update nightdesk_data.approvals set state = 'withdrawn', decided_at = clock_timestamp()
   where job_id = new.job_id and state = 'waiting';
  -- One that may have had its effect is uncertain, and stays so: nobody knows.
  update nightdesk_data.steps set state = 'uncertain'
   where job_id = new.job_id and state = 'started' and effect <> 'none';
  update nightdesk_data.steps set state = 'skipped', ended_at = clock_timestamp()
   where job_id = new.job_id and state in ('started', 'waiting');
  return null;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.end_kept_call(run uuid, is_stored boolean, old_ticket uuid, answer text, calls integer, tokens bigint, seconds double precision, money double precision, pause_seconds double precision)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  is_unreserved boolean := is_stored and nightdesk_data.has_its_job(run)
    and not exists (select from nightdesk_data.reservations where ticket = old_ticket);
begin
  perform nightdesk_data.end_call(old_ticket, answer, calls, tokens, seconds, money, pause_seconds);
  if is_unreserved then
    insert into nightdesk_data.batch_budgets as b (batch_id, tokens_used, calls_used, seconds_used, money_used)
    select batch_id, end_kept_call.tokens, calls, seconds, end_kept_call.money from nightdesk_data.jobs where run_id = run
    on conflict (batch_id) do update set tokens_used = b.tokens_used + excluded.tokens_used,
      calls_used = b.calls_used + excluded.calls_used, seconds_used = b.seconds_used + excluded.seconds_used,
      money_used = b.money_used + excluded.money_used;
    update nightdesk_data.nights
       set tokens_used = tokens_used + end_kept_call.tokens, calls_used = calls_used + calls,
           seconds_used = seconds_used + seconds, money_used = money_used + end_kept_call.money
     where night = (select night from nightdesk_data.nights where ends_at > clock_timestamp() order by ends_at limit 1);
  end if;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.end_progress()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from nightdesk_data.job_progress where job_id = new.job_id;
  return null;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.end_web_call(old_ticket uuid, at_host text, answer text, message text, retry_after double precision, most_failures integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  h nightdesk_data.hosts;
  longest constant double precision := 3600;
begin
  select * into h from nightdesk_data.hosts where host = at_host for no key update;
  if h.host is null then
    return;
  end if;
  if answer = 'answered' then
    if h.failures > 0 or h.state = 'open' or h.probes > 0 then
      update nightdesk_data.hosts
         set state = 'closed', failures = 0, probes = 0, opened_at = null, next_probe_at = null,
             prober = null, probing_until = null
       where host = at_host;
    end if;
    return;
  end if;
  if h.state = 'open' and h.prober is distinct from old_ticket then
    return;
  end if;
  if h.state = 'open' or answer = 'busy' or h.failures + 1 >= most_failures then
    update nightdesk_data.hosts
       set state = 'open', failures = h.failures + 1, probes = h.probes + 1,
           error_code = 'WEB_UNAVAILABLE', error_message = end_web_call.message, failed_at = clock_timestamp(),
           opened_at = coalesce(h.opened_at, clock_timestamp()), prober = null, probing_until = null,
           next_probe_at = clock_timestamp()
             + make_interval(secs => case when retry_after is null then least(120, 5 * 2 ^ least(h.probes, 10))
                                          else least(longest, retry_after) end)
     where host = at_host;
  else
    update nightdesk_data.hosts
       set failures = h.failures + 1, error_code = 'WEB_UNAVAILABLE', error_message = end_web_call.message,
           failed_at = clock_timestamp()
     where host = at_host;
  end if;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.facets_of(metadata jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.follow_batch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update nightdesk_data.batches
     set paused_at = new.paused_at, windows = new.windows, deadline_at = new.deadline_at
   where parent_id = new.batch_id and origin = 'verify';
  if new.state in ('cancelled', 'expired') then
    update nightdesk_data.batches
       set state = new.state, finished_at = now(), closing = true, hold_reason = null, hold_until = null
     where parent_id = new.batch_id and origin = 'verify' and state = 'open';
  end if;
  return null;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.has_its_job(run uuid)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  return exists (select from nightdesk_data.jobs
                  where run_id = run and state = 'running' and lease_until > clock_timestamp());
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.hold_detail(b nightdesk_data.batches)
 RETURNS text
 LANGUAGE sql
AS $function$
  select case b.hold_reason
    when 'window' then
      (select array_to_string(coalesce(b.windows, i.windows), ', ') from nightdesk_data.installation i)
    when 'host' then
      (select string_agg(h.host, ', ' order by h.host) from nightdesk_data.hosts h
        where h.state = 'open'
          -- The batch is held before the job that met the host is parked, until the host is asked next.
          and (h.next_probe_at = b.hold_until
               or exists (select from nightdesk_data.jobs j where j.parked_host = h.host and j.batch_id = b.batch_id)))
    when 'budget' then coalesce(
      (select case when u.calls_used + u.calls_reserved + 1 > u.calls_limit then 'calls of the batch'
                   when u.tokens_used + u.tokens_reserved + u.tokens_needed > u.tokens_limit then 'tokens of the batch'
                   when u.seconds_used + 0.001 > u.seconds_limit then 'seconds of the batch'
                   when u.money_used + u.money_reserved + u.money_needed > u.money_limit then 'money of the batch' end
         from nightdesk_data.batch_budgets u where u.batch_id = b.batch_id),
      (select case when n.calls_used + n.calls_reserved + 1 > n.calls_limit then 'calls of the night'
                   when n.tokens_used + n.tokens_reserved + u.tokens_needed > n.tokens_limit then 'tokens of the night'
                   when n.seconds_used + 0.001 > n.seconds_limit then 'seconds of the night'
                   when n.money_used + n.money_reserved + u.money_needed > n.money_limit then 'money of the night' end
         from nightdesk_data.nights n, nightdesk_data.batch_budgets u
        where n.ends_at = b.hold_until and u.batch_id = b.batch_id))
  end
$function$

CREATE OR REPLACE FUNCTION nightdesk_data.keep_grant()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.ended_at is not null
     or row(new.grant_id, new.job_id, new.preset, new.preset_sha256, new.tools, new.roots, new.limits, new.created_at)
        is distinct from
        row(old.grant_id, old.job_id, old.preset, old.preset_sha256, old.tools, old.roots, old.limits, old.created_at) then
    raise exception 'a grant is never changed' using errcode = 'restrict_violation';
  end if;
  return new;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.keep_hold_history()
 RETURNS trigger
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  at timestamptz := clock_timestamp();
  lasting nightdesk_data.hold_history;
  why text := nightdesk_data.hold_detail(new);
begin
  select * into lasting from nightdesk_data.hold_history where batch_id = new.batch_id and ended_at is null;
  if lasting.reason = new.hold_reason and (why is null or lasting.detail is null or why = lasting.detail) then
    update nightdesk_data.hold_history set detail = why where hold_id = lasting.hold_id and detail is null;
    return null;
  end if;
  -- A clock that is set back ends nothing before it began.
  at := greatest(at, lasting.since);
  update nightdesk_data.hold_history set ended_at = at, held = held + (at - since) where hold_id = lasting.hold_id;
  if new.hold_reason is null then
    return null;
  end if;
  -- Beyond 500 spans no gap is too long, and no detail too different: the history of a batch has an end.
  update nightdesk_data.hold_history
     set ended_at = null, since = greatest(at, ended_at), times = times + 1, detail = coalesce(why, detail)
   where hold_id = (
     select hold_id from nightdesk_data.hold_history h
      where h.batch_id = new.batch_id and h.reason = new.hold_reason
        and (h.ended_at > at - interval '1 minute' and (why is null or h.detail is null or why = h.detail)
             or (select count(*) from nightdesk_data.hold_history n where n.batch_id = new.batch_id) >= 500)
      order by h.ended_at desc, h.hold_id desc limit 1);
  if not found then
    insert into nightdesk_data.hold_history (batch_id, reason, detail, began_at, since)
    values (new.batch_id, new.hold_reason, why, at, at);
  end if;
  return null;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.move_counts(batch_ids uuid[], states text[], deltas bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into nightdesk_data.batch_counts as c
    (batch_id, shard, total, queued, running, parked, succeeded, refused, failed, cancelled, expired)
  select batch_id, pg_backend_pid() % 64, sum(delta),
         coalesce(sum(delta) filter (where state = 'queued'), 0),
         coalesce(sum(delta) filter (where state = 'running'), 0),
         coalesce(sum(delta) filter (where state = 'parked'), 0),
         coalesce(sum(delta) filter (where state = 'succeeded'), 0),
         coalesce(sum(delta) filter (where state = 'refused'), 0),
         coalesce(sum(delta) filter (where state = 'failed'), 0),
         coalesce(sum(delta) filter (where state = 'cancelled'), 0),
         coalesce(sum(delta) filter (where state = 'expired'), 0)
    from unnest(batch_ids, states, deltas) as moved (batch_id, state, delta)
   -- A batch that is being deleted takes its counts along.
   where exists (select from nightdesk_data.batches b where b.batch_id = moved.batch_id)
   group by batch_id
   -- Statements that move jobs of several batches take the rows in one order, or they would wait for each other.
   order by batch_id
  on conflict (batch_id, shard) do update set
    total = c.total + excluded.total,
    queued = c.queued + excluded.queued,
    running = c.running + excluded.running,
    parked = c.parked + excluded.parked,
    succeeded = c.succeeded + excluded.succeeded,
    refused = c.refused + excluded.refused,
    failed = c.failed + excluded.failed,
    cancelled = c.cancelled + excluded.cancelled,
    expired = c.expired + excluded.expired;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.note_former_content()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update nightdesk_data.contents set used_at = clock_timestamp() where sha256 = old.sha256;
  return null;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.queue_notifications(about nightdesk_data.batches, event text, at timestamp with time zone, batch_name text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  hook nightdesk_data.batch_end_hook;
  told text[];
  notifying uuid;
begin
  select * into hook from nightdesk_data.batch_end_hook;
  told := case when about.origin = any(hook.origins) then array_remove(hook.targets, 'write_back') else '{}' end;
  -- Whoever made the batch: the source of its files wants it.
  if event = 'batch_end' and 'write_back' = any(hook.targets) and about.origin <> 'system' and exists (
       select from nightdesk_data.jobs j
         join nightdesk_data.remote_files f on f.path = j.input->>'path' and f.path_key is not null
         join nightdesk_data.remote_sources s on s.source = f.source and s.kind = 'paperless'
        where j.batch_id = about.batch_id and j.kind = 'extract') then
    told := array_append(told, 'write_back');
  end if;
  if cardinality(told) = 0 then
    return;
  end if;
  insert into nightdesk_data.batches (name, origin, state, windows, parent_id)
  values (batch_name, 'system', 'open', '{}', about.batch_id)
  on conflict (name) do nothing
  returning batch_id into notifying;
  if notifying is null then
    return;
  end if;
  insert into nightdesk_data.jobs (batch_id, custom_id, kind, input, input_sha256)
  select notifying, target, 'notify', input, encode(sha256(convert_to(input::text, 'UTF8')), 'hex')
    from unnest(told) as target cross join lateral jsonb_build_object(
           'kind', 'notify', 'event', event, 'batch_id', about.batch_id, 'target', target,
           'at', to_char(queue_notifications.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) as input;
  perform pg_notify('nightdesk_jobs', '');
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.release_parents()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  parents uuid[];
  ended integer[];
  n_due integer;
begin
  select array_agg(parent_id), array_agg(n) into parents, ended
    -- No join of the two: planned for a statement that moves one row, it would compare each of 5,000 with each.
    from (select d.parent_id, sum(sign)::integer as n
            from (select job_id, 1 as sign from added where finished_at is not null
                  union all select job_id, -1 from removed where finished_at is not null) signed
            join nightdesk_data.job_dependencies d on d.child_id = signed.job_id
           group by d.parent_id) moved
   where n <> 0;
  -- A statement that moves no row fires the trigger, too: without this it would go on for ever.
  if parents is null then
    return null;
  end if;
  perform from nightdesk_data.jobs where job_id = any(parents) order by job_id for no key update;
  -- A parent that has run already waits for its checks, and not again for a child that is repeated.
  with moved as (
    update nightdesk_data.jobs p
       set waits_for = greatest(0, waits_for - n), due_at = case when waits_for = n then now() else due_at end
      from unnest(parents, ended) as moved (parent_id, n)
     where p.job_id = moved.parent_id and p.state = 'queued' and (p.attempt = 0 or p.waits_for > 0)
    returning p.waits_for)
  select count(*) filter (where waits_for = 0) into n_due from moved;
  if n_due > 0 then
    perform pg_notify('nightdesk_jobs', '');
  end if;
  return null;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.reserve_budget(new_ticket uuid, run uuid, batch uuid, cost jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  c record;
  b nightdesk_data.batch_budgets;
  n nightdesk_data.nights;
  refused jsonb;
begin
  select * into c from jsonb_to_record(cost) as c (tokens bigint, night date, night_ends_at timestamptz,
         batch_tokens bigint, batch_calls bigint, batch_seconds double precision, batch_money double precision,
         night_tokens bigint, night_calls bigint, night_seconds double precision, night_money double precision,
         money double precision);
  -- Both rows are locked by this, always in this order.
  insert into nightdesk_data.batch_budgets as kept
         (batch_id, tokens_limit, calls_limit, seconds_limit, money_limit, tokens_reserved, calls_reserved, money_reserved)
  values (batch, c.batch_tokens, c.batch_calls, c.batch_seconds, c.batch_money, c.tokens, 1, c.money)
  on conflict (batch_id) do update set
    tokens_limit = case when 'tokens' = any (kept.own) then kept.tokens_limit else excluded.tokens_limit end,
    calls_limit = case when 'calls' = any (kept.own) then kept.calls_limit else excluded.calls_limit end,
    seconds_limit = case when 'seconds' = any (kept.own) then kept.seconds_limit else excluded.seconds_limit end,
    money_limit = case when 'money' = any (kept.own) then kept.money_limit else excluded.money_limit end,
    tokens_reserved = kept.tokens_reserved + c.tokens, calls_reserved = kept.calls_reserved + 1,
    money_reserved = kept.money_reserved + c.money
  returning * into b;
  insert into nightdesk_data.nights as kept
         (night, ends_at, tokens_limit, calls_limit, seconds_limit, money_limit,
          tokens_reserved, calls_reserved, money_reserved)
  values (c.night, c.night_ends_at, c.night_tokens, c.night_calls, c.night_seconds, c.night_money, c.tokens, 1, c.money)
  on conflict (night) do update set tokens_limit = excluded.tokens_limit, calls_limit = excluded.calls_limit,
    seconds_limit = excluded.seconds_limit, money_limit = excluded.money_limit,
    tokens_reserved = kept.tokens_reserved + c.tokens, calls_reserved = kept.calls_reserved + 1,
    money_reserved = kept.money_reserved + c.money
  returning * into n;
  insert into nightdesk_data.reservations (ticket, run_id, batch_id, night, tokens, money)
  values (new_ticket, run, batch, c.night, c.tokens, c.money);

  if num_nonnulls(b.tokens_limit, b.calls_limit, b.seconds_limit, b.money_limit,
                  n.tokens_limit, n.calls_limit, n.seconds_limit, n.money_limit) = 0 then
    -- A reservation that a crash takes back keeps nobody from anything.
    perform nightdesk_data.commit_later();
    return null;
  end if;
  select jsonb_build_object('by', by, 'what', what, 'limit', most, 'used', used, 'reserved', reserved, 'needed', needed)
    into refused
    from (values (1, 'batch', 'calls', b.calls_limit::double precision, b.calls_used::double precision, b.calls_reserved - 1, 1),
                 (2, 'batch', 'tokens', b.tokens_limit, b.tokens_used, b.tokens_reserved - c.tokens, c.tokens),
                 (3, 'batch', 'seconds', b.seconds_limit, b.seconds_used, 0, 0.001),
                 (4, 'batch', 'money', b.money_limit, b.money_used, b.money_reserved - c.money, c.money),
                 (5, 'night', 'calls', n.calls_limit, n.calls_used, n.calls_reserved - 1, 1),
                 (6, 'night', 'tokens', n.tokens_limit, n.tokens_used, n.tokens_reserved - c.tokens, c.tokens),
                 (7, 'night', 'seconds', n.seconds_limit, n.seconds_used, 0, 0.001),
                 (8, 'night', 'money', n.money_limit, n.money_used, n.money_reserved - c.money, c.money))
           as bounds (place, by, what, most, used, reserved, needed)
   where used + reserved + needed > most order by place limit 1;
  if refused is null then
    return null;
  end if;

  delete from nightdesk_data.reservations where ticket = new_ticket;
  update nightdesk_data.batch_budgets
     set tokens_reserved = tokens_reserved - c.tokens, calls_reserved = calls_reserved - 1,
         money_reserved = money_reserved - c.money,
         tokens_needed = least(tokens_needed, c.tokens), money_needed = least(money_needed, c.money), refused_by = refused->>'by',
         refused_at = coalesce(refused_at, clock_timestamp())
   where batch_id = batch;
  update nightdesk_data.nights
     set tokens_reserved = tokens_reserved - c.tokens, calls_reserved = calls_reserved - 1,
         money_reserved = money_reserved - c.money
   where night = c.night;
  update nightdesk_data.batches
     set hold_reason = 'budget', hold_until = case refused->>'by' when 'night' then n.ends_at end
   where batch_id = batch and state = 'open' and (hold_reason is null or hold_reason = 'host');
  return refused;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.resolve_constraints()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update nightdesk_data.constraints set resolved_at = clock_timestamp()
   where resolved_at is null and job_id = new.rerun_of;
  return null;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.size_host(h nightdesk_data.hosts, slot nightdesk_data.host_slots, answer text, tokens bigint, seconds double precision)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  speed double precision;
  -- Of what one more slot would give at best, so much has to show.
  gain constant double precision := 0.3;
begin
  if answer = 'busy' then
    -- Calls that began before the last change say nothing about it.
    if slot.taken_at > h.capacity_changed_at then
      update nightdesk_data.hosts
         set capacity = greatest(1, capacity / 2), capacity_changed_at = clock_timestamp(), rate_before = null,
             full_calls = 0, full_tokens = 0, full_seconds = 0, raise_after = clock_timestamp() + interval '1 minute',
             capacity_reason = format('halved: busy with %s at once', slot.in_use)
       where host = h.host;
    end if;
    return;
  end if;
  -- A call whose cost nobody counts, such as one for vectors, can't be compared with others.
  if tokens = 0 or slot.in_use < h.capacity or h.raise_after > clock_timestamp() or slot.taken_at < h.capacity_changed_at
     or h.capacity = h.most and h.rate_before is null then
    return;
  end if;
  if h.full_calls + 1 < greatest(8, 4 * h.capacity) then
    update nightdesk_data.hosts
       set full_calls = full_calls + 1, full_tokens = full_tokens + tokens,
           full_seconds = full_seconds + seconds
     where host = h.host;
    return;
  end if;
  speed := h.capacity * (h.full_tokens + tokens) / greatest(0.000001, h.full_seconds + seconds);
  if h.sizing = 'found' and speed < h.rate_before * (1 + gain / greatest(1, h.capacity - 1)) then
    update nightdesk_data.hosts
       set capacity = greatest(1, capacity - 1), capacity_changed_at = clock_timestamp(), rate_before = null,
           full_calls = 0, full_tokens = 0, full_seconds = 0, raise_after = clock_timestamp() + interval '30 minutes',
           capacity_reason = format('found: %s at once gave %s tokens/s, one fewer %s', h.capacity,
                                    round(speed::numeric, 1), round(h.rate_before::numeric, 1))
     where host = h.host;
  else
    update nightdesk_data.hosts
       set capacity = least(most, capacity + 1), capacity_changed_at = clock_timestamp(),
           rate_before = case when capacity < most then speed end, full_calls = 0, full_tokens = 0, full_seconds = 0,
           capacity_reason = format('raised: %s at once gave %s tokens/s', h.capacity, round(speed::numeric, 1))
     where host = h.host;
  end if;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.take_call(new_ticket uuid, run uuid, at_host text, cost jsonb)
 RETURNS TABLE(outcome text, detail jsonb)
 LANGUAGE plpgsql
AS $function$
declare
  h nightdesk_data.hosts;
  batch uuid;
  mine timestamptz;
  busy integer;
  draining integer;
  ahead integer;
  found_slot integer;
  is_locked boolean := false;
  is_stopping boolean;
  refused jsonb;
  -- Until when its limits, or a pause that it asked for, let no call begin.
  paced timestamptz;
begin
  -- Asked again, because the reply was lost with its connection.
  if exists (select from nightdesk_data.host_slots where ticket = new_ticket) then
    return query select 'taken', null::jsonb;
    return;
  end if;
  select batch_id, cancel_requested into batch, is_stopping from nightdesk_data.jobs where run_id = run and state = 'running';
  select * into h from nightdesk_data.hosts where host = at_host;
  if batch is null or h.host is null or h.state = 'open' then
    delete from nightdesk_data.host_waiters where ticket = new_ticket;
    return query select case when batch is null then 'lost' when h.host is null then 'unknown' else 'open' end,
                        to_jsonb(h);
    return;
  end if;

  select since into mine from nightdesk_data.host_waiters where ticket = new_ticket;
  paced := greatest(h.paused_until, h.next_call_at, h.tokens_free_at, '-infinity');
  loop
    -- Of a slot that was taken a moment ago, this transaction may not see the run that did: it is not looked for.
    select count(*), count(*) filter (where slot > h.capacity) into busy, draining
      from nightdesk_data.host_slots
     where host = at_host and ticket is not null
       and (taken_at >= now() - interval '1 s' or nightdesk_data.has_its_job(run_id));
    if busy < h.capacity and paced <= clock_timestamp() and not is_stopping then
      -- No more of those who came first are looked for than there is room for.
      select count(*) into ahead
        from (select from nightdesk_data.host_waiters w
               where w.host = at_host and w.ticket <> new_ticket
                 and (w.since, w.ticket) < (coalesce(mine, clock_timestamp()), new_ticket)
                 and nightdesk_data.has_its_job(w.run_id)
               limit h.capacity - busy) others;
      if ahead < h.capacity - busy then
        -- A slot beyond the capacity that is still in use counts for one below it.
        select slot into found_slot from nightdesk_data.host_slots
         where host = at_host and slot <= h.capacity - draining
           and (ticket is null or taken_at < now() - interval '1 s' and not nightdesk_data.has_its_job(run_id))
         order by slot limit 1 for update skip locked;
      end if;
    end if;
    exit when found_slot is not null or mine is not null or is_locked;
    -- A call that ends now would tell nobody. Who ends one has the host locked until those who wait can be seen.
    select * into h from nightdesk_data.hosts where host = at_host for no key update;
    is_locked := true;
  end loop;
  if found_slot is not null and num_nonnulls(h.requests_per_minute, h.tokens_per_minute) > 0 then
    -- Of those that come at the same moment one takes the turn.
    update nightdesk_data.hosts
       set next_call_at = clock_timestamp() + make_interval(secs => 60.0 / requests_per_minute),
           tokens_free_at = clock_timestamp()
             + make_interval(secs => coalesce((cost->>'tokens')::bigint, 0) * 60.0 / tokens_per_minute)
     where host = at_host and greatest(paused_until, next_call_at, tokens_free_at, '-infinity') <= clock_timestamp()
    returning greatest(next_call_at, tokens_free_at) into paced;
    if not found then
      found_slot := null;
      select greatest(paused_until, next_call_at, tokens_free_at) into paced
        from nightdesk_data.hosts where host = at_host;
    end if;
  end if;
  -- From here on it counts as a call, if only as one that waits.
  delete from nightdesk_data.host_choices where run_id = run and host = at_host;
  if found_slot is null then
    insert into nightdesk_data.host_waiters (ticket, host, run_id) values (new_ticket, at_host, run)
    on conflict (ticket) do nothing;
    perform nightdesk_data.commit_later();
    return query select 'wait', jsonb_build_object(
                     'since_us', (extract(epoch from since) * 1000000)::bigint,
                     'again_ms', case when paced > clock_timestamp()
                                      then ceil(extract(epoch from paced - clock_timestamp()) * 1000) end)
                   from nightdesk_data.host_waiters where ticket = new_ticket;
    return;
  end if;

  delete from nightdesk_data.host_waiters where ticket = new_ticket;
  if cost is null then
    perform nightdesk_data.commit_later();
  else
    refused := nightdesk_data.reserve_budget(new_ticket, run, batch, cost);
    if refused is not null then
      return query select 'budget', refused;
      return;
    end if;
  end if;
  update nightdesk_data.host_slots
     set ticket = new_ticket, run_id = run, taken_at = clock_timestamp(), in_use = busy + 1
   where host = at_host and slot = found_slot;
  return query select 'taken', null::jsonb;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.take_web_call(new_ticket uuid, at_host text, per_minute double precision, longest_wait double precision)
 RETURNS TABLE(outcome text, seconds double precision, message text)
 LANGUAGE plpgsql
AS $function$
declare
  h nightdesk_data.hosts;
  at timestamptz;
  turn timestamptz;
begin
  insert into nightdesk_data.hosts (host, provider, capacity, capacity_reason, sizing, most)
  values (at_host, 'web', 1, 'paced: so many calls a minute', 'configured', 1) on conflict do nothing;
  select * into h from nightdesk_data.hosts where host = at_host for no key update;
  at := clock_timestamp();
  if h.state = 'open' and greatest(h.next_probe_at, h.probing_until) > at then
    return query select 'open', extract(epoch from greatest(h.next_probe_at, h.probing_until) - at)::double precision,
                        h.error_message;
    return;
  end if;
  turn := greatest(at, h.next_call_at);
  if turn > at + make_interval(secs => longest_wait) then
    return query select 'busy', extract(epoch from turn - at)::double precision, null::text;
    return;
  end if;
  update nightdesk_data.hosts
     set next_call_at = turn + make_interval(secs => 60 / per_minute),
         prober = case when h.state = 'open' then new_ticket end,
         probing_until = case when h.state = 'open' then turn + interval '1 minute' end
   where host = at_host;
  return query select 'taken', extract(epoch from turn - at)::double precision, null::text;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.tell_end()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform nightdesk_data.queue_notifications(new, 'batch_end', new.finished_at, 'system ' || gen_random_uuid());
  return null;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.tell_waiting()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  about nightdesk_data.batches;
begin
  select * into about from nightdesk_data.batches where batch_id = new.batch_id;
  perform nightdesk_data.queue_notifications(
    about, 'approval_needed', clock_timestamp(), 'system approvals ' || new.batch_id);
  return null;
end $function$

CREATE OR REPLACE FUNCTION nightdesk_data.wake_host(back text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update nightdesk_data.hosts
     set state = 'closed', failures = 0, opened_at = null, next_probe_at = null, prober = null, probing_until = null
   where host = back;
  update nightdesk_data.batches b
     set hold_reason = null, hold_until = null
   where hold_reason = 'host'
     and not exists (select from nightdesk_data.jobs j join nightdesk_data.hosts h on h.host = j.parked_host
                      where j.batch_id = b.batch_id and h.state = 'open');
  with parked as materialized (
    select job_id from nightdesk_data.jobs where parked_host = back and state = 'parked' and due_at > now()
     order by seq for no key update)
  update nightdesk_data.jobs j set due_at = now() from parked where j.job_id = parked.job_id;
  perform pg_notify('nightdesk_jobs', '');
end $function$

CREATE TRIGGER checks_follow_their_batch AFTER UPDATE OF state, paused_at, windows, deadline_at ON nightdesk_data.batches FOR EACH ROW WHEN (((new.origin <> 'verify'::text) AND ((((old.state IS DISTINCT FROM new.state) OR (old.paused_at IS DISTINCT FROM new.paused_at)) OR (old.windows IS DISTINCT FROM new.windows)) OR (old.deadline_at IS DISTINCT FROM new.deadline_at)))) EXECUTE FUNCTION nightdesk_data.follow_batch()

CREATE TRIGGER keep_hold_history AFTER UPDATE OF hold_reason, hold_until ON nightdesk_data.batches FOR EACH ROW WHEN (((old.hold_reason IS DISTINCT FROM new.hold_reason) OR (old.hold_until IS DISTINCT FROM new.hold_until))) EXECUTE FUNCTION nightdesk_data.keep_hold_history()

CREATE TRIGGER tell_end AFTER UPDATE OF state ON nightdesk_data.batches FOR EACH ROW WHEN (((old.state <> new.state) AND (new.state = ANY (ARRAY['completed'::text, 'cancelled'::text, 'expired'::text])))) EXECUTE FUNCTION nightdesk_data.tell_end()

CREATE TRIGGER count_added_chunks AFTER INSERT ON nightdesk_data.chunks REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION nightdesk_data.count_chunks()

CREATE TRIGGER count_removed_chunks AFTER DELETE ON nightdesk_data.chunks REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION nightdesk_data.count_chunks()

CREATE TRIGGER documents_change_their_content AFTER UPDATE OF sha256 ON nightdesk_data.documents FOR EACH ROW WHEN ((old.sha256 <> new.sha256)) EXECUTE FUNCTION nightdesk_data.note_former_content()

CREATE TRIGGER documents_leave_their_content AFTER DELETE ON nightdesk_data.documents FOR EACH ROW EXECUTE FUNCTION nightdesk_data.note_former_content()

CREATE TRIGGER grants_stay BEFORE UPDATE ON nightdesk_data.grants FOR EACH ROW EXECUTE FUNCTION nightdesk_data.keep_grant()

CREATE TRIGGER count_added_jobs AFTER INSERT ON nightdesk_data.jobs REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION nightdesk_data.count_jobs()

CREATE TRIGGER count_moved_jobs AFTER UPDATE ON nightdesk_data.jobs REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION nightdesk_data.count_jobs()

CREATE TRIGGER count_removed_jobs AFTER DELETE ON nightdesk_data.jobs REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION nightdesk_data.count_jobs()

CREATE TRIGGER end_investigations AFTER UPDATE OF state ON nightdesk_data.jobs FOR EACH ROW WHEN (((new.kind = ANY (ARRAY['investigate'::text, 'check'::text])) AND (new.finished_at IS NOT NULL) AND (old.finished_at IS NULL))) EXECUTE FUNCTION nightdesk_data.end_investigation()

CREATE TRIGGER progress_ends_with_its_run AFTER UPDATE OF state ON nightdesk_data.jobs FOR EACH ROW WHEN (((old.state = 'running'::text) AND (new.state <> 'running'::text))) EXECUTE FUNCTION nightdesk_data.end_progress()

CREATE TRIGGER release_parents_of_ended_jobs AFTER UPDATE ON nightdesk_data.jobs REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION nightdesk_data.release_parents()

CREATE TRIGGER successes_resolve AFTER UPDATE OF state ON nightdesk_data.jobs FOR EACH ROW WHEN (((new.rerun_of IS NOT NULL) AND (new.state = 'succeeded'::text) AND (old.state <> 'succeeded'::text))) EXECUTE FUNCTION nightdesk_data.resolve_constraints()

CREATE TRIGGER tell_waiting AFTER UPDATE OF waiting_for ON nightdesk_data.jobs FOR EACH ROW WHEN (((new.waiting_for = ANY (ARRAY['approval'::text, 'review'::text])) AND (new.waiting_for IS DISTINCT FROM old.waiting_for))) EXECUTE FUNCTION nightdesk_data.tell_waiting()

comment on view nightdesk.action_items is 'One row a thing that somebody has to do (extract with preset actions).'

comment on view nightdesk.approvals is 'One row a call of a tool that a person is, or was, asked about.'

comment on view nightdesk.artifacts is 'One row an output of a tool. Equal ones are kept once.'

comment on view nightdesk.audits is 'One row a round of verification: what the auditor made of the checks.'

comment on view nightdesk.batch_holds is 'One row a span in which a batch was held: what comes again for the same reason within a minute is one span.'

comment on view nightdesk.batch_progress is 'One row a batch: counts by state, which add up to the total.'

comment on view nightdesk.budgets is 'What calls of models have cost, and may cost: one row a batch that made any, and one a night.'

comment on view nightdesk.checks is 'One row a yes-or-no question about a statement of an answer, settled by a rule or by a job of kind check.'

comment on view nightdesk.chunks is 'One row a chunk: an exact slice of an indexed file.'

comment on view nightdesk.claims is 'One row a statement of an answer, graded against the evidence that it cites; those of earlier drafts and those left out, too.'

comment on view nightdesk.classifications is 'One row a file that was classified (extract with preset classify).'

comment on view nightdesk.constraints is 'One row a question that an UNRESOLVED answer leaves open, with what it takes to settle it.'

comment on view nightdesk.coverage is 'One row a statement that nothing of a set is so: how many files are in the set, and how many of them were read.'

comment on view nightdesk.documents is 'One row an indexed file, or an attachment of a mail.'

comment on view nightdesk.doubtful_figures is 'Figures in pictures of pages that two models did not read alike, or were not sure of, by the last reading of each page.'

comment on view nightdesk.evidence is 'One row a piece of text that a run read, admitted or not.'

comment on view nightdesk.exams is 'What judges of statements are worth: one row a model and form that was examined.'

comment on view nightdesk.failures is 'What did not succeed: jobs that were refused, failed, parked, cancelled or expired, and documents that could not be indexed.'

comment on view nightdesk.field_bindings is 'One row a single value of the fields of an extraction, with the words of the document that carry it.'

comment on view nightdesk.figures is 'One row a number, date, link or path in the last draft of an answer.'

comment on view nightdesk.grants is 'One row an investigation: what it may use. A grant is never changed, and allows nothing once it has ended.'

comment on view nightdesk.hooks is 'One row a command or webhook that is told of the end of a batch, or that it waits for a person, and one a write-back that its end starts.'

comment on view nightdesk.host_models is 'What a model host was found to have: one row a host and a model that was asked for.'

comment on view nightdesk.host_nights is 'What calls of the hosts of the configuration''s list have cost: one row a host and a night.'

comment on view nightdesk.hosts is 'One row a model host, or a host of the web: how many calls it gets at once, and whether it answers.'

comment on view nightdesk.memory is 'One row a durable note.'

comment on view nightdesk.model_calls is 'One row a call of a model, committed as it returned, and one a reply that was taken over from another job.'

comment on view nightdesk.moves is 'One row a call of a tool in an investigation or a check, by what kind of step of a search it was. A call that was lost and made again is there once.'

comment on view nightdesk.ocr_pages is 'What was read of the pictures of pages: one row a page of a file, and settings it was read with.'

comment on view nightdesk.operator_actions is 'One row a change that somebody made on the pages of the dashboard, or about the tokens of programs, and that a program made.'

comment on view nightdesk.people_and_dates is 'One row a person or a date that a file names (extract with preset people).'

comment on view nightdesk.queries is 'One row a search that an investigation or a check made, of the index, of files or of the web.'

comment on view nightdesk.quotes is 'One row a quotation of 12 characters or more in the last draft of an answer.'

comment on view nightdesk.reasoning is 'One row a call whose model thought before it replied, as long as that is kept. It is in no result, export or report.'

comment on view nightdesk.remote_files is 'Files of places that sources mirror: one row a file, as it was listed last and as it was fetched.'

comment on view nightdesk.results is 'One row a job, with its result.'

comment on view nightdesk.reviews is 'One row an answer that a person is asked, or was asked, to accept, correct or reject.'

comment on view nightdesk.run_events is 'One row a step of a run that ended, as its code went through it.'

comment on view nightdesk.runs is 'One row an attempt at a job, ended or not.'

comment on view nightdesk.schedules is 'One row a schedule.'

comment on view nightdesk.stage_costs is 'What models were asked for a batch, by stage: drafts, and the verification of their answers.'

comment on view nightdesk.steps is 'One row a step of an investigation: a call of a model or of a tool, or what a rule did, written before and after.'

comment on view nightdesk.summary_parts is 'One row a part of a long file that was summarised by itself, and a summary of such summaries.'

comment on view nightdesk.throughput is 'Work done by hour, kind and model.'

comment on view nightdesk.tool_calls is 'One row a call of a tool.'

comment on view nightdesk.watched_files is 'One row a file of a watched folder, or an attachment that a rule may be for, by what it holds.'

comment on view nightdesk.watches is 'One row a watched folder: the last look of a worker at it.'

comment on view nightdesk.workers is 'One row a worker that did not say goodbye.'

comment on view nightdesk.write_backs is 'Values of extractions that nightdesk write-back wrote to the place of their file, or withheld: one row a thing of a document.'

comment on view column nightdesk.action_items.action is 'What is to be done.'

comment on view column nightdesk.action_items.batch is 'Name of the batch.'

comment on view column nightdesk.action_items.batch_id is 'Id of the batch.'

comment on view column nightdesk.action_items.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.action_items.due is 'Until when, as the file spells it; null where it does not say.'

comment on view column nightdesk.action_items.due_date is 'The same as a date, where it is one day with its year.'

comment on view column nightdesk.action_items.finished_at is 'When the job ended.'

comment on view column nightdesk.action_items.job_id is 'Id of the job.'

comment on view column nightdesk.action_items.line_end is 'Last line of the passage.'

comment on view column nightdesk.action_items.line_start is 'First line of the passage, from 1.'

comment on view column nightdesk.action_items.model is 'The model that found it.'

comment on view column nightdesk.action_items.ordinal is 'Place in the file, from 0.'

comment on view column nightdesk.action_items.owner is 'Who has to do it, as the file spells it; null where it does not say.'

comment on view column nightdesk.action_items.path is 'The file, relative to the work root.'

comment on view column nightdesk.action_items.quote is 'The passage that says so.'

comment on view column nightdesk.action_items.quote_class is 'verbatim, normalised, elided, stitched or not_found.'

comment on view column nightdesk.action_items.run_id is 'Id of the run.'

comment on view column nightdesk.action_items.sha256 is 'SHA-256 of the file''s bytes.'

comment on view column nightdesk.approvals.approval_id is 'Id of the request.'

comment on view column nightdesk.approvals.args is 'Its arguments.'

comment on view column nightdesk.approvals.batch is 'Name of the batch.'

comment on view column nightdesk.approvals.batch_id is 'Id of the batch.'

comment on view column nightdesk.approvals.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.approvals.decided_at is 'When it was answered, expired or was withdrawn.'

comment on view column nightdesk.approvals.decided_by is 'Who decided.'

comment on view column nightdesk.approvals.decision_id is 'Id of the decision that answered it.'

comment on view column nightdesk.approvals.executor is 'What would run it.'

comment on view column nightdesk.approvals.expires_at is 'Until when it waits; its job is refused with APPROVAL_EXPIRED then.'

comment on view column nightdesk.approvals.fingerprint is 'SHA-256 of tool, arguments, executor, preset and folders: one decision answers all requests that share it.'

comment on view column nightdesk.approvals.job_id is 'Id of the job that waits.'

comment on view column nightdesk.approvals.preview is 'What would be done, as people read it.'

comment on view column nightdesk.approvals.reason is 'Why it was denied, as the model was told.'

comment on view column nightdesk.approvals.requested_at is 'When it was asked.'

comment on view column nightdesk.approvals.risks is 'Labels: out_of_root, network, writes, deletes, credentials, privilege, project_code. They warn, and allow nothing.'

comment on view column nightdesk.approvals.scope is 'once, job, batch or rule.'

comment on view column nightdesk.approvals.state is 'waiting, approved, denied, expired, or withdrawn (its job ended otherwise, or a rule answers it).'

comment on view column nightdesk.approvals.step is 'Step of the investigation.'

comment on view column nightdesk.approvals.tool is 'Name of the tool.'

comment on view column nightdesk.artifacts.batch_id is 'Id of the batch.'

comment on view column nightdesk.artifacts.bytes is 'Its length.'

comment on view column nightdesk.artifacts.class is 'evidence (kept with its job), output (until it expires) or state (until its job has ended).'

comment on view column nightdesk.artifacts.created_at is 'When it was first made; null once it was removed.'

comment on view column nightdesk.artifacts.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.artifacts.expires_at is 'When it may be removed; null where it is kept with its job.'

comment on view column nightdesk.artifacts.job_id is 'Id of the job.'

comment on view column nightdesk.artifacts.removed_at is 'When its bytes were removed; null while they are kept.'

comment on view column nightdesk.artifacts.sha256 is 'SHA-256 of its bytes.'

comment on view column nightdesk.artifacts.step is 'Step of the investigation that made it.'

comment on view column nightdesk.artifacts.stream is 'result, stdout, stderr or state.'

comment on view column nightdesk.audits.batch is 'Name of its batch.'

comment on view column nightdesk.audits.batch_id is 'Id of its batch.'

comment on view column nightdesk.audits.caps is 'What keeps the score at 2 or below: unknown_check, contradicted_check, no_coverage, unchecked_doubt, one_source.'

comment on view column nightdesk.audits.corrections is 'What the auditor wants changed, as a JSON list of claim, where and change.'

comment on view column nightdesk.audits.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.audits.given is 'The same before caps.'

comment on view column nightdesk.audits.job_id is 'Id of the job whose answer is scored.'

comment on view column nightdesk.audits.readable is 'Whether the auditor could be read.'

comment on view column nightdesk.audits.round is '0 for the first draft, 1 for its revision.'

comment on view column nightdesk.audits.score is '1 to 4, of which 3 passes; null where no auditor could be had, or read.'

comment on view column nightdesk.batch_holds.batch is 'Name of the batch.'

comment on view column nightdesk.batch_holds.batch_id is 'Id of the batch.'

comment on view column nightdesk.batch_holds.began_at is 'When it was first held.'

comment on view column nightdesk.batch_holds.detail is 'The host that was down, the windows, or what was used up, like calls of the batch; null where it is not known, and for paused.'

comment on view column nightdesk.batch_holds.ended_at is 'When it last went on, or was held for another reason, or ended; null while it is held.'

comment on view column nightdesk.batch_holds.held_ms is 'Milliseconds for which it was held, without those between the times. Those of a batch add up.'

comment on view column nightdesk.batch_holds.reason is 'paused, approvals, window, budget or host.'

comment on view column nightdesk.batch_holds.times is 'How often it was held in this span.'

comment on view column nightdesk.batch_progress.batch is 'Name of the batch.'

comment on view column nightdesk.batch_progress.batch_id is 'Id of the batch.'

comment on view column nightdesk.batch_progress.cancelled is 'Jobs that somebody cancelled.'

comment on view column nightdesk.batch_progress.created_at is 'When the batch was created.'

comment on view column nightdesk.batch_progress.deadline_at is 'When what has not finished expires.'

comment on view column nightdesk.batch_progress.expired is 'Jobs whose deadline passed.'

comment on view column nightdesk.batch_progress.failed is 'Jobs ended by a fault of the machinery.'

comment on view column nightdesk.batch_progress.finished_at is 'When its last job ended.'

comment on view column nightdesk.batch_progress.hold_reason is 'Why it is held: paused, approvals, window, budget or host.'

comment on view column nightdesk.batch_progress.hold_until is 'When it goes on by itself, if that is known.'

comment on view column nightdesk.batch_progress.output_bytes is 'Bytes of what tools gave that are kept for its jobs; tools.limits.batch_artifact_mb is the most.'

comment on view column nightdesk.batch_progress.outputs_cut is 'Outputs of which head and tail alone were kept, for want of room.'

comment on view column nightdesk.batch_progress.parked is 'Jobs that wait for a host that is down or busy, or for a person.'

comment on view column nightdesk.batch_progress.pinned is 'always or until_exported: retention leaves it alone till then; null: it may be deleted for its age.'

comment on view column nightdesk.batch_progress.queued is 'Jobs that wait.'

comment on view column nightdesk.batch_progress.refused is 'Jobs with a typed refusal: a correct result.'

comment on view column nightdesk.batch_progress.running is 'Jobs in hand.'

comment on view column nightdesk.batch_progress.state is 'loading, queued, running, held, completed, cancelled or expired.'

comment on view column nightdesk.batch_progress.succeeded is 'Jobs with an answer.'

comment on view column nightdesk.batch_progress.total is 'Jobs in the batch; the sum of the states.'

comment on view column nightdesk.budgets.batch is 'Name of the batch; null for a night.'

comment on view column nightdesk.budgets.batch_id is 'Null for a night.'

comment on view column nightdesk.budgets.calls_limit is 'Calls that may be made; null: no limit.'

comment on view column nightdesk.budgets.calls_reserved is 'Calls in flight.'

comment on view column nightdesk.budgets.calls_used is 'Calls that have ended.'

comment on view column nightdesk.budgets.is_used_up is 'Of a batch: a call was refused, and it is held. Of a night: a limit is reached.'

comment on view column nightdesk.budgets.money_limit is 'Money that may be spent, by the prices of hosts; null: no limit.'

comment on view column nightdesk.budgets.money_reserved is 'What calls in flight may cost.'

comment on view column nightdesk.budgets.money_used is 'What calls have cost, by the prices of hosts.'

comment on view column nightdesk.budgets.night is 'The day on whose evening the night begins; null for a batch.'

comment on view column nightdesk.budgets.scope is 'batch or night.'

comment on view column nightdesk.budgets.seconds_limit is 'Seconds of model time that may pass; null: no limit.'

comment on view column nightdesk.budgets.seconds_used is 'Seconds that calls took, without waiting for a slot.'

comment on view column nightdesk.budgets.tokens_limit is 'Tokens that may be read and written; null: no limit.'

comment on view column nightdesk.budgets.tokens_reserved is 'Tokens that calls in flight may cost.'

comment on view column nightdesk.budgets.tokens_used is 'Tokens that were read and written, as the hosts report them.'

comment on view column nightdesk.checks.batch is 'Name of its batch.'

comment on view column nightdesk.checks.batch_id is 'Id of its batch.'

comment on view column nightdesk.checks.check_job_id is 'The job that looked; null for a rule.'

comment on view column nightdesk.checks.check_run_id is 'Its last run: steps, evidence and calls of it stand under this id.'

comment on view column nightdesk.checks.claim is 'The statement.'

comment on view column nightdesk.checks.completion_tokens is 'Tokens of its replies.'

comment on view column nightdesk.checks.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.checks.detail is 'What was found, in words.'

comment on view column nightdesk.checks.evidence is 'Places that it rests on, as a JSON list of path, line_start, line_end and quote.'

comment on view column nightdesk.checks.expects is 'yes or no: what the answer is if the statement is right.'

comment on view column nightdesk.checks.how is 'rule or model.'

comment on view column nightdesk.checks.job_id is 'Id of the job whose answer is checked.'

comment on view column nightdesk.checks.ordinal is 'Place among the checks of the round, from 0.'

comment on view column nightdesk.checks.prompt_tokens is 'Tokens of the prompts of that run.'

comment on view column nightdesk.checks.question is 'What was asked about it.'

comment on view column nightdesk.checks.reason is 'Of an unknown one: source_missing, sources_disagree, out_of_budget, stagnated, blocked_by_approval or auditor_failed.'

comment on view column nightdesk.checks.round is '0 for the first draft, 1 for its revision.'

comment on view column nightdesk.checks.rule is 'The rule that settled it, or that asked for somebody to look; null where the auditor asked.'

comment on view column nightdesk.checks.run_ms is 'Milliseconds that it took.'

comment on view column nightdesk.checks.state is 'open, yes, no or unknown. Another one than expects speaks against the statement.'

comment on view column nightdesk.chunks.chunk_key is 'Key that citations name: the same while source, path, headings and text stay the same.'

comment on view column nightdesk.chunks.embedded_models is 'Models that a vector of the chunk is stored for, in order.'

comment on view column nightdesk.chunks.end_char is 'Offset after the last character in the file, in code points.'

comment on view column nightdesk.chunks.heading_path is 'Headings that the chunk stands under, from the outermost, joined by " > "; null when there is none.'

comment on view column nightdesk.chunks.line_end is 'Last line of the chunk in the file, from 1, itself included.'

comment on view column nightdesk.chunks.line_start is 'First line of the chunk in the file, from 1.'

comment on view column nightdesk.chunks.locator is 'Where in the file the chunk begins, as JSON: page, sheet and row (with last_row, that of its last line, and row_breaks, pairs of a line from 0 and its row, where its lines are not the rows one by one), message, or the pointer of a JSON or YAML file; null where its lines say it.'

comment on view column nightdesk.chunks.ordinal is 'Place of the chunk in its file, from 0.'

comment on view column nightdesk.chunks.path is 'Path of the file, relative to the work root, as spelled on disk.'

comment on view column nightdesk.chunks.source is 'Name of the configured source that holds the file.'

comment on view column nightdesk.chunks.start_char is 'Offset of the first character in the file, in code points from 0.'

comment on view column nightdesk.chunks.text is 'The slice of the file, character for character.'

comment on view column nightdesk.claims.arithmetic is 'How its figure is reckoned from those of the evidence; null where it is not.'

comment on view column nightdesk.claims.batch is 'Name of the batch.'

comment on view column nightdesk.claims.batch_id is 'Id of the batch.'

comment on view column nightdesk.claims.cites is 'Numbers of the pieces of evidence that it cites.'

comment on view column nightdesk.claims.claim is 'The statement, without its citations.'

comment on view column nightdesk.claims.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.claims.draft is '0 for the first reply of the model, 1 for its repair.'

comment on view column nightdesk.claims.end_char is 'Offset after the last character.'

comment on view column nightdesk.claims.fate is 'kept, marked, repaired (the model was asked again), dropped (left out) or flagged (let stand).'

comment on view column nightdesk.claims.given_quote is 'What the model gave as the words that carry it; null where it gave none.'

comment on view column nightdesk.claims.grade is 'supported, unconfirmed or unsupported.'

comment on view column nightdesk.claims.job_id is 'Id of the job.'

comment on view column nightdesk.claims.line_end is 'Last line in the file.'

comment on view column nightdesk.claims.line_start is 'First line in the file, from 1.'

comment on view column nightdesk.claims.locator is 'Where in the file that is, as JSON: page, sheet and row, message, or the pointer of a JSON or YAML file; null where its lines say it, and of a table whose rows are not its lines.'

comment on view column nightdesk.claims.number is 'Number of the piece of evidence that carries it, or comes nearest; null when none does.'

comment on view column nightdesk.claims.ordinal is 'Place in the draft, from 0.'

comment on view column nightdesk.claims.other_places is 'Of each other piece that it cites, where that says most of it, as a JSON list: number, path, start_char, end_char, line_start, line_end and locator. A piece that says too little of it is left out.'

comment on view column nightdesk.claims.path is 'Its file, relative to the work root.'

comment on view column nightdesk.claims.quote is 'The words that stand there.'

comment on view column nightdesk.claims.reason is 'verbatim, computed (over a table) or confirmed (by a judge) for a supported one; else what speaks against it (uncited, not_admitted, quote, figure, name, polarity, opposite, anchor, subject, frame, label, reading), or what a judge says that does not confirm it (judge, unclear), or not_asked.'

comment on view column nightdesk.claims.run_id is 'Id of the run.'

comment on view column nightdesk.claims.stands is 'Whether the answer that was given holds it.'

comment on view column nightdesk.claims.start_char is 'Offset of the first character in the file, from 0, in code points.'

comment on view column nightdesk.classifications.batch is 'Name of the batch.'

comment on view column nightdesk.classifications.batch_id is 'Id of the batch.'

comment on view column nightdesk.classifications.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.classifications.finished_at is 'When the job ended.'

comment on view column nightdesk.classifications.job_id is 'Id of the job.'

comment on view column nightdesk.classifications.label is 'The one of the labels that was chosen.'

comment on view column nightdesk.classifications.line_end is 'Last line of the passage.'

comment on view column nightdesk.classifications.line_start is 'First line of the passage, from 1.'

comment on view column nightdesk.classifications.model is 'The model that chose.'

comment on view column nightdesk.classifications.path is 'The file, relative to the work root.'

comment on view column nightdesk.classifications.priority is 'high, normal or low.'

comment on view column nightdesk.classifications.quote is 'The passage that shows it.'

comment on view column nightdesk.classifications.quote_class is 'verbatim, normalised, elided, stitched or not_found.'

comment on view column nightdesk.classifications.reason is 'Why that label.'

comment on view column nightdesk.classifications.run_id is 'Id of the run.'

comment on view column nightdesk.classifications.sha256 is 'SHA-256 of the file''s bytes.'

comment on view column nightdesk.constraints.batch is 'Name of its batch.'

comment on view column nightdesk.constraints.batch_id is 'Id of its batch.'

comment on view column nightdesk.constraints.constraint_id is 'Number of the row.'

comment on view column nightdesk.constraints.created_at is 'Since when.'

comment on view column nightdesk.constraints.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.constraints.job_id is 'Id of the job.'

comment on view column nightdesk.constraints.needed is 'What would settle it.'

comment on view column nightdesk.constraints.reason is 'source_missing, sources_disagree, out_of_budget, stagnated, blocked_by_approval or auditor_failed.'

comment on view column nightdesk.constraints.resolved_at is 'When the job, or one that repeats it, succeeded; null while it is open.'

comment on view column nightdesk.constraints.what is 'What is open.'

comment on view column nightdesk.coverage.batch is 'Name of its batch.'

comment on view column nightdesk.coverage.batch_id is 'Id of its batch.'

comment on view column nightdesk.coverage.claim is 'The statement.'

comment on view column nightdesk.coverage.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.coverage.job_id is 'Id of the job.'

comment on view column nightdesk.coverage.members is 'Files in it.'

comment on view column nightdesk.coverage.read is 'Files of it that were read.'

comment on view column nightdesk.coverage.round is '0 for the first draft, 1 for its revision.'

comment on view column nightdesk.coverage.set_query is 'What the set is: a folder, or names of files in it.'

comment on view column nightdesk.documents.attachments is 'How many of the files that a mail holds are of formats that are read, as documents of their own; those of mails in it are counted there.'

comment on view column nightdesk.documents.bytes is 'Size of the file in bytes when it was indexed.'

comment on view column nightdesk.documents.chars is 'Size of the file in Unicode code points, a byte order mark included.'

comment on view column nightdesk.documents.chunks is 'How many chunks the file was cut into; 0 for an empty file.'

comment on view column nightdesk.documents.dates is 'All dates that were found, the most trusted first, as JSON: source and date.'

comment on view column nightdesk.documents.day is 'First day that the document is of: what --since and --until go by.'

comment on view column nightdesk.documents.day_source is 'Where that date stands: frontmatter, mail_header, html_meta, file_name, text, properties, or file_time where nothing says one and it is the last change of the file (UTC).'

comment on view column nightdesk.documents.day_until is 'Last day that it is of: of a month or a year its end; the same as day where a day is named.'

comment on view column nightdesk.documents.extractor is 'What made text of the bytes of the file, with its version; utf-8 for a text file.'

comment on view column nightdesk.documents.indexed_at is 'When the chunks of the file were last written.'

comment on view column nightdesk.documents.is_kept is 'Whether the database holds its bytes, so that workers without the files can read it, or its text, as documents.keep says.'

comment on view column nightdesk.documents.language is 'Text search configuration that the words of the file were indexed with.'

comment on view column nightdesk.documents.left_out is 'What a person would see in the file and its text does not hold, as JSON: how many of each kind, such as pictures or hidden sheets; {} where nothing is known to be left out.'

comment on view column nightdesk.documents.mail is 'Of an attachment the path of the file of its mail or mailbox; null for a file.'

comment on view column nightdesk.documents.metadata is 'The frontmatter as JSON; null unless metadata_state is present.'

comment on view column nightdesk.documents.metadata_problem is 'Why the frontmatter can''t be read; null unless metadata_state is unknown.'

comment on view column nightdesk.documents.metadata_state is 'absent: no frontmatter. unknown: frontmatter that can not be read as a mapping. present: read.'

comment on view column nightdesk.documents.not_kept_code is 'STORE_FULL where its bytes were to be kept and would have gone over documents.quota; else null.'

comment on view column nightdesk.documents.path is 'Path of the file, relative to the work root, as spelled on disk; of an attachment below the path of its mail.'

comment on view column nightdesk.documents.secrets is 'Kinds of keys and tokens that its text holds: aws_key, gcp_key, github_token, jwt, private_key; empty where none was found.'

comment on view column nightdesk.documents.sha256 is 'SHA-256 of the bytes of the file when it was indexed; sha256sum confirms it.'

comment on view column nightdesk.documents.source is 'Name of the configured source that holds the file.'

comment on view column nightdesk.doubtful_figures.box is 'Left, top, right and bottom in pixels of the picture as it was read, as JSON.'

comment on view column nightdesk.doubtful_figures.certainty is 'by_one: one of the two models read it, or only one was asked. doubtful: neither was sure, or they read different things.'

comment on view column nightdesk.doubtful_figures.chosen is 'What a person read; null where nobody was asked.'

comment on view column nightdesk.doubtful_figures.chosen_at is 'When.'

comment on view column nightdesk.doubtful_figures.chosen_by is 'Who that was.'

comment on view column nightdesk.doubtful_figures.confidence is 'Of the engine, 0 to 100.'

comment on view column nightdesk.doubtful_figures.figure is 'Its name: of the file, the page and the place.'

comment on view column nightdesk.doubtful_figures.first_read is 'What the first model read.'

comment on view column nightdesk.doubtful_figures.page is 'From 1: page of a PDF, frame of a TIFF.'

comment on view column nightdesk.doubtful_figures.path is 'A document of these bytes; null while there is none.'

comment on view column nightdesk.doubtful_figures.second_read is 'What the second model read, where that is something else.'

comment on view column nightdesk.doubtful_figures.sha256 is 'SHA-256 of the file.'

comment on view column nightdesk.evidence.admitted is 'Whether the answer may rest on it.'

comment on view column nightdesk.evidence.batch is 'Name of the batch.'

comment on view column nightdesk.evidence.batch_id is 'Id of the batch.'

comment on view column nightdesk.evidence.chars_full is 'Characters (code points) of the whole file.'

comment on view column nightdesk.evidence.chars_returned is 'Characters that were read.'

comment on view column nightdesk.evidence.chunk_key is 'Key of the passage; null for a file and for what a tool printed.'

comment on view column nightdesk.evidence.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.evidence.end_char is 'Offset after the last character.'

comment on view column nightdesk.evidence.evidence_id is 'Id of the piece.'

comment on view column nightdesk.evidence.extractor is 'What made text of the bytes of the file, with its version; utf-8 for a text file.'

comment on view column nightdesk.evidence.heading_path is 'Headings above the passage, outermost first.'

comment on view column nightdesk.evidence.is_kept is 'Whether the database holds the bytes that were read, or their text (documents.keep), so that they can be shown when the file is gone.'

comment on view column nightdesk.evidence.is_outdated is 'Whether the index has the file with other bytes by now than those that were read.'

comment on view column nightdesk.evidence.job_id is 'Id of the job.'

comment on view column nightdesk.evidence.kind is 'file: read by read_text_file. chunk: a passage of the index, or some lines of a file. web: a page that web_fetch fetched. output: what a tool printed.'

comment on view column nightdesk.evidence.left_out is 'What a person would see in the file and its text did not hold when it was read, as JSON: how many of each kind; {} where nothing is known to be left out.'

comment on view column nightdesk.evidence.line_end is 'Last line in the file.'

comment on view column nightdesk.evidence.line_start is 'First line in the file, from 1.'

comment on view column nightdesk.evidence.locator is 'Where in the file the piece begins, as JSON: page, sheet and row (with last_row, that of its last line, and row_breaks, pairs of a line from 0 and its row, where its lines are not the rows one by one), message, or the pointer of a JSON or YAML file; null where its lines say it.'

comment on view column nightdesk.evidence.origin is 'Of a file of a mirror: the URL of the version whose bytes these are, such as https://host/dav/a.pdf#etag, s3://bucket/key?versionId=1 or imap://host/INBOX;UIDVALIDITY=1/;UID=42; of an attachment that of its mail. Null for anything else.'

comment on view column nightdesk.evidence.path is 'The file, relative to the work root; of a web page its URL, as it was in the end; of what a tool printed the call, as "output of shell, step 4".'

comment on view column nightdesk.evidence.rejected_reason is 'Why not; null exactly when it was admitted.'

comment on view column nightdesk.evidence.retrieved_at is 'Of a web page: when it was fetched; null for anything else.'

comment on view column nightdesk.evidence.run_id is 'Id of the run that read it.'

comment on view column nightdesk.evidence.score is 'Score of the retrieval; null for a file.'

comment on view column nightdesk.evidence.sha256 is 'SHA-256 of the bytes of the file; sha256sum confirms it. Of a web page of the bytes that came, unpacked; of what a tool printed, of all of that.'

comment on view column nightdesk.evidence.source is 'The source of the index that the passage came from.'

comment on view column nightdesk.evidence.start_char is 'Offset of the first character in the file, from 0, in code points.'

comment on view column nightdesk.evidence.text_sha256 is 'SHA-256 of the text that was read, as UTF-8; of a text file that was read whole it is that of its bytes.'

comment on view column nightdesk.evidence.title is 'Of a web page: what it calls itself; null where it does not, and for anything else.'

comment on view column nightdesk.evidence.truncated is 'Whether the text was cut.'

comment on view column nightdesk.exams.calls is 'Calls that the exam took.'

comment on view column nightdesk.exams.controls is 'Control statements of later calls that it was asked of.'

comment on view column nightdesk.exams.dismissed_at is 'Since when its word does not count, because of what it said of controls; null while it does.'

comment on view column nightdesk.exams.exam is 'Version of the statements of the exam.'

comment on view column nightdesk.exams.examined_at is 'When the exam ended.'

comment on view column nightdesk.exams.form is 'How it is asked: list, yes_no or nli.'

comment on view column nightdesk.exams.identity is 'Digest of its weights, or of host, name and version where its host reports none.'

comment on view column nightdesk.exams.job_id is 'The job that examined it.'

comment on view column nightdesk.exams.model is 'Name of the model.'

comment on view column nightdesk.exams.own is 'What it confirmed of statements over your own documents, as JSON: by machine (sentences that were changed in one place, or left) and by person (what people rejected or accepted) wrong and right, in each asked and confirmed. Null where nobody asked (nightdesk models examine --own). It decides nothing.'

comment on view column nightdesk.exams.parts is 'The same by kind of statement and language, as JSON: kind, language, is_wrong, asked, confirmed.'

comment on view column nightdesk.exams.prompt is 'Version of what it is asked.'

comment on view column nightdesk.exams.right_asked is 'Right statements that it was asked of.'

comment on view column nightdesk.exams.right_confirmed is 'Of these those that it called right.'

comment on view column nightdesk.exams.state is 'passed: its yes counts. weak, failed, useless (it confirms under 60 % of right statements) and dismissed (its controls took its word): it is not asked.'

comment on view column nightdesk.exams.wrong_asked is 'Wrong statements that it was asked of.'

comment on view column nightdesk.exams.wrong_confirmed is 'Of these those that it called right.'

comment on view column nightdesk.exams.yes_from is 'Of form nli: from which score on it confirms a statement, as the exam found it. Null of the others.'

comment on view column nightdesk.failures.at is 'When it happened, or when it is tried again.'

comment on view column nightdesk.failures.attempts is 'Runs that were used up; of a document that met the limit of time or memory, how often in a row.'

comment on view column nightdesk.failures.batch_id is 'Id of the batch; null for a document.'

comment on view column nightdesk.failures.custom_id is 'The job''s custom_id; null for a document.'

comment on view column nightdesk.failures.error_code is 'Stable code.'

comment on view column nightdesk.failures.error_message is 'The same in words, with what to do.'

comment on view column nightdesk.failures.job_id is 'Id of the job; null for a document.'

comment on view column nightdesk.failures.kind is 'Kind of the job.'

comment on view column nightdesk.failures.origin is 'job, or document for a file that could not be indexed.'

comment on view column nightdesk.failures.path is 'The file concerned, if any, relative to the work root.'

comment on view column nightdesk.failures.state is 'State of the job; queued for one that waits for another try.'

comment on view column nightdesk.field_bindings.batch is 'Name of the batch.'

comment on view column nightdesk.field_bindings.batch_id is 'Id of the batch.'

comment on view column nightdesk.field_bindings.correction is 'What the person gave in place of the value, as JSON; null unless corrected.'

comment on view column nightdesk.field_bindings.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.field_bindings.decided_at is 'When.'

comment on view column nightdesk.field_bindings.decided_by is 'Who decided.'

comment on view column nightdesk.field_bindings.decision_reason is 'Why, in the words of the person.'

comment on view column nightdesk.field_bindings.end_char is 'Offset after the last character.'

comment on view column nightdesk.field_bindings.grade is 'supported: a line that names it holds it, and no judge says otherwise; unconfirmed: it is in doubt; unsupported: no words carry it. Null where there is no value.'

comment on view column nightdesk.field_bindings.job_id is 'Id of the job.'

comment on view column nightdesk.field_bindings.judge_detail is 'The same in words, with the name of the model.'

comment on view column nightdesk.field_bindings.judge_says is 'What a judge said: yes, no or unclear; null where none was asked. Also of a value that was left out.'

comment on view column nightdesk.field_bindings.line_end is 'Last line in the file.'

comment on view column nightdesk.field_bindings.line_start is 'First line in the file, from 1.'

comment on view column nightdesk.field_bindings.locator is 'Where in the file that is, as JSON: page, sheet and row, message, or the pointer of a JSON or YAML file; null where its lines say it.'

comment on view column nightdesk.field_bindings.number is 'Number of the piece of evidence that holds them.'

comment on view column nightdesk.field_bindings.ordinal is 'Place in the fields, from 0.'

comment on view column nightdesk.field_bindings.path is 'Its file, relative to the work root.'

comment on view column nightdesk.field_bindings.pointer is 'Where it stands in the fields: a JSON pointer such as /items/0/price.'

comment on view column nightdesk.field_bindings.quote is 'The words that carry it; null unless it is bound.'

comment on view column nightdesk.field_bindings.reason is 'Of an unbound one, and of a null that was put in place of one: no_quote, quote_not_found, quote_short (it says too little) or not_in_quote. Of a bound one that is in doubt: no_quote (its words were looked up), other_label (its line names something else), reading (its figure was not read for sure from a picture) or judge (an examined model does not find it there).'

comment on view column nightdesk.field_bindings.review is 'What a person said of the value: accepted, corrected or rejected; null where nobody has decided on it.'

comment on view column nightdesk.field_bindings.run_id is 'Id of the run.'

comment on view column nightdesk.field_bindings.start_char is 'Offset of the first character in the file, from 0, in code points.'

comment on view column nightdesk.field_bindings.state is 'bound: the quote stands in the document and holds the value; unbound: no words were found that do; null: there is no value.'

comment on view column nightdesk.field_bindings.value is 'The value as JSON; null where there is none.'

comment on view column nightdesk.figures.batch_id is 'Id of the batch.'

comment on view column nightdesk.figures.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.figures.end_char is 'Offset after its last character.'

comment on view column nightdesk.figures.figure is 'As the answer writes it.'

comment on view column nightdesk.figures.flagged is 'A number or date that stands nowhere; a link or path that only a document brought up.'

comment on view column nightdesk.figures.job_id is 'Id of the job.'

comment on view column nightdesk.figures.kind is 'number, date, link or path.'

comment on view column nightdesk.figures.line_end is 'Last line in the file.'

comment on view column nightdesk.figures.line_start is 'First line in the file, from 1.'

comment on view column nightdesk.figures.number is 'Number of the piece of evidence that holds it; null when none does.'

comment on view column nightdesk.figures.ordinal is 'Place in the answer, from 0.'

comment on view column nightdesk.figures.path is 'The file that holds it, relative to the work root.'

comment on view column nightdesk.figures.run_id is 'Id of the run.'

comment on view column nightdesk.figures.stands_in is 'evidence, question, both or neither.'

comment on view column nightdesk.figures.start_char is 'Offset of its first character in the file, from 0, in code points.'

comment on view column nightdesk.grants.batch_id is 'Id of the batch.'

comment on view column nightdesk.grants.created_at is 'When it was made.'

comment on view column nightdesk.grants.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.grants.ended_at is 'When the job ended, and the grant with it.'

comment on view column nightdesk.grants.grant_id is 'Id of the grant.'

comment on view column nightdesk.grants.job_id is 'Id of the job.'

comment on view column nightdesk.grants.limits is 'Steps, calls, tokens and time that the investigation may take, and when a rule against drift acts.'

comment on view column nightdesk.grants.preset is 'The preset that it was made from.'

comment on view column nightdesk.grants.preset_sha256 is 'SHA-256 of that preset as it was then.'

comment on view column nightdesk.grants.roots is 'Folders that its tools see, relative to the work root; none: all that may be read.'

comment on view column nightdesk.grants.tools is 'Tools that it allows.'

comment on view column nightdesk.hooks.batch is 'Name of the batch.'

comment on view column nightdesk.hooks.batch_id is 'Id of the batch.'

comment on view column nightdesk.hooks.call_id is 'Number of the call.'

comment on view column nightdesk.hooks.due_at is 'When it is tried next; while pending.'

comment on view column nightdesk.hooks.ended_at is 'When it came to its end; null while pending.'

comment on view column nightdesk.hooks.error is 'Why the last try failed.'

comment on view column nightdesk.hooks.event is 'batch_end, or approval_needed: a job of it waits for a person, told once a batch.'

comment on view column nightdesk.hooks.happened_at is 'When the batch ended, or first waited for a person.'

comment on view column nightdesk.hooks.state is 'pending, done, failed or superseded (the batch was opened again, or the person had answered, before it was told).'

comment on view column nightdesk.hooks.status is 'Exit status or HTTP status of the last try; null where it gave none.'

comment on view column nightdesk.hooks.target is 'command, webhook, or write_back: what is written to the sources of its files when the batch ends.'

comment on view column nightdesk.hooks.tries is 'How often it was tried.'

comment on view column nightdesk.host_models.digest is 'SHA-256 of its weights as the host reports it; null where it reports none.'

comment on view column nightdesk.host_models.features is 'What it can do, as JSON: tools (native, schema or text), counts_tokens (chat, tokenize or none), ignores_schemas.'

comment on view column nightdesk.host_models.host is 'Base URL, scheme://host[:port][/path].'

comment on view column nightdesk.host_models.model is 'Name that the model has there.'

comment on view column nightdesk.host_models.seen_at is 'When a worker last looked.'

comment on view column nightdesk.host_models.server_version is 'Version of the server; null where it tells none.'

comment on view column nightdesk.host_models.window_tokens is 'Tokens that prompt and reply share; null where nobody knows.'

comment on view column nightdesk.host_nights.calls is 'Calls that have ended.'

comment on view column nightdesk.host_nights.host is 'Base URL, scheme://host[:port][/path].'

comment on view column nightdesk.host_nights.money is 'What they cost by the prices of the configuration, in its currency.'

comment on view column nightdesk.host_nights.name is 'Of the list hosts of the configuration.'

comment on view column nightdesk.host_nights.night is 'The day on whose evening the night begins.'

comment on view column nightdesk.host_nights.tokens is 'Tokens that were read and written, as the host reports them.'

comment on view column nightdesk.hosts.capacity is 'Calls that it gets at once, of all workers together.'

comment on view column nightdesk.hosts.capacity_reason is 'Why so many: configured, or what was found.'

comment on view column nightdesk.hosts.error_code is 'Of its last failure.'

comment on view column nightdesk.hosts.error_message is 'Of its last failure.'

comment on view column nightdesk.hosts.failed_at is 'Of its last failure.'

comment on view column nightdesk.hosts.failures is 'Runs in a row that found it down or busy.'

comment on view column nightdesk.hosts.host is 'Base URL, scheme://host[:port][/path]; web pages for all of them together.'

comment on view column nightdesk.hosts.in_use is 'Calls that it has now.'

comment on view column nightdesk.hosts.name is 'Of the list hosts of the configuration; null for one that is not in it.'

comment on view column nightdesk.hosts.next_call_at is 'When the next call may begin, for its limits or because it asked for a pause; null: now.'

comment on view column nightdesk.hosts.next_try_at is 'When a worker asks next whether it is back; null while calls go through.'

comment on view column nightdesk.hosts.opened_at is 'Since when it is given up; null while calls go through.'

comment on view column nightdesk.hosts.priority is 'Lower comes first; hosts with the same one share the work.'

comment on view column nightdesk.hosts.provider is 'ollama or openai-compatible; transformers for the models in processes of the workers, which only budgets count; web for a search provider and for pages.'

comment on view column nightdesk.hosts.requests_per_minute is 'Calls that may begin in a minute, of all workers together; null: no limit.'

comment on view column nightdesk.hosts.state is 'closed: calls go through. open: it is down, and what is parked for it is held.'

comment on view column nightdesk.hosts.tokens_per_minute is 'Tokens that calls may read and write in a minute; null: no limit.'

comment on view column nightdesk.hosts.waiting is 'Calls that wait for it.'

comment on view column nightdesk.memory.chunk_keys is 'Passages of the index that it rests on.'

comment on view column nightdesk.memory.content is 'The note.'

comment on view column nightdesk.memory.created_at is 'When it was written.'

comment on view column nightdesk.memory.dangling_keys is 'Those of them that are no longer in the index.'

comment on view column nightdesk.memory.memory_id is 'Id of the note.'

comment on view column nightdesk.memory.source is 'manual, or derived_from_evidence.'

comment on view column nightdesk.memory.type is 'preference, project_state, constraint, workflow_rule or user_fact.'

comment on view column nightdesk.model_calls.batch is 'Name of the batch.'

comment on view column nightdesk.model_calls.batch_id is 'Id of the batch.'

comment on view column nightdesk.model_calls.cached_from is 'The run of another job that made the call; its tokens and times were spent there. Null for a call of its own.'

comment on view column nightdesk.model_calls.call_id is 'Id of the call.'

comment on view column nightdesk.model_calls.completion_tokens is 'Tokens of the reply.'

comment on view column nightdesk.model_calls.created_at is 'When the reply was stored.'

comment on view column nightdesk.model_calls.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.model_calls.done_reason is 'stop, length (max_tokens), window (num_ctx), or thought: all of it was thinking.'

comment on view column nightdesk.model_calls.duration_ms is 'Milliseconds of the whole call.'

comment on view column nightdesk.model_calls.error_code is 'Why the host refused; null when it replied.'

comment on view column nightdesk.model_calls.job_id is 'Id of the job.'

comment on view column nightdesk.model_calls.load_ms is 'Milliseconds until the model was loaded.'

comment on view column nightdesk.model_calls.model is 'The model that was asked.'

comment on view column nightdesk.model_calls.model_digest is 'SHA-256 of its weights, as its host reports it.'

comment on view column nightdesk.model_calls.pass is 'first, second, retry (after a violation), part (of a long file) or chat.'

comment on view column nightdesk.model_calls.prompt is 'What filled the template; evidence as path, sha256 and span.'

comment on view column nightdesk.model_calls.prompt_sha256 is 'SHA-256 of the messages that were sent.'

comment on view column nightdesk.model_calls.prompt_template is 'Name and version of the prompt.'

comment on view column nightdesk.model_calls.prompt_tokens is 'Tokens of the prompt, as the host counts.'

comment on view column nightdesk.model_calls.reply is 'What the model wrote, without thinking; null when its host refused.'

comment on view column nightdesk.model_calls.request_sha256 is 'SHA-256 of all that decides the reply.'

comment on view column nightdesk.model_calls.run_id is 'Id of the run that made the call, or took its reply over.'

comment on view column nightdesk.moves.at is 'When it began.'

comment on view column nightdesk.moves.batch is 'Name of its batch.'

comment on view column nightdesk.moves.batch_id is 'Id of its batch.'

comment on view column nightdesk.moves.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.moves.evidence is 'Pieces of evidence that it gave.'

comment on view column nightdesk.moves.found is 'Those of them that no earlier call of the job gave.'

comment on view column nightdesk.moves.job_id is 'Id of the job.'

comment on view column nightdesk.moves.run_id is 'Id of the run that made it.'

comment on view column nightdesk.moves.step is 'Place among the steps of the job, from 0.'

comment on view column nightdesk.moves.tool is 'Name of the tool.'

comment on view column nightdesk.moves.type is 'search, open (a file, a page or an earlier output), compare (values are reckoned with), count (a set is listed), verify (a check opens what its statement rests on), note or other.'

comment on view column nightdesk.ocr_pages.by_one is 'Figures that one of them read, or that only one was asked of.'

comment on view column nightdesk.ocr_pages.by_two is 'Figures that two models read alike.'

comment on view column nightdesk.ocr_pages.confidence is 'Mean of its words by the engine, 0 to 100.'

comment on view column nightdesk.ocr_pages.doubtful is 'Figures of which neither was sure.'

comment on view column nightdesk.ocr_pages.engine is 'Engine and models.'

comment on view column nightdesk.ocr_pages.is_read is 'false where the picture could not be read.'

comment on view column nightdesk.ocr_pages.job_id is 'The job that read it.'

comment on view column nightdesk.ocr_pages.left_ink is 'Share of the shapes of letters that lie in no word, 0 to 1: above 0.05 words are missing.'

comment on view column nightdesk.ocr_pages.page is 'From 1: page of a PDF, frame of a TIFF.'

comment on view column nightdesk.ocr_pages.path is 'A document of these bytes; null while there is none.'

comment on view column nightdesk.ocr_pages.read_at is 'When it was read.'

comment on view column nightdesk.ocr_pages.record is 'Words with their boxes in pixels, as JSON.'

comment on view column nightdesk.ocr_pages.settings is 'Fingerprint of index.ocr.'

comment on view column nightdesk.ocr_pages.sha256 is 'SHA-256 of the file.'

comment on view column nightdesk.ocr_pages.turned is 'Degrees, clockwise, that the page was turned by before it was read.'

comment on view column nightdesk.ocr_pages.unreadable is 'Why not; null where it was.'

comment on view column nightdesk.ocr_pages.words is 'How many words.'

comment on view column nightdesk.operator_actions.action is 'pause, resume, cancel, retry, approve, deny, accept, correct, reject, resolve, choose, start, save-query, remove-query, switch-schedule, run-schedule, create-token, revoke-token, send-file, delete-file, queue, ask or forget.'

comment on view column nightdesk.operator_actions.action_id is 'Rises with each action.'

comment on view column nightdesk.operator_actions.actor is 'The user whom a trusted proxy named, token for one who gave the token, else the user of the system who runs the dashboard or the command; program and the name of its token for a program.'

comment on view column nightdesk.operator_actions.at is 'When it was asked for.'

comment on view column nightdesk.operator_actions.batch is 'Name of that batch; null where it is gone.'

comment on view column nightdesk.operator_actions.batch_id is 'Batch that it was done to, which may be gone since.'

comment on view column nightdesk.operator_actions.detail is 'What was chosen, such as scope, reason or files.'

comment on view column nightdesk.operator_actions.ended_at is 'When that was known.'

comment on view column nightdesk.operator_actions.job_id is 'Job that it was done to.'

comment on view column nightdesk.operator_actions.outcome is 'begun, done or failed; begun for ever where the dashboard ended in between.'

comment on view column nightdesk.operator_actions.said is 'What came of it, in a sentence.'

comment on view column nightdesk.people_and_dates.batch is 'Name of the batch.'

comment on view column nightdesk.people_and_dates.batch_id is 'Id of the batch.'

comment on view column nightdesk.people_and_dates.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.people_and_dates.date is 'Of a date: as the file spells it.'

comment on view column nightdesk.people_and_dates.day is 'Of a date: the same as a date, where it is one day with its year.'

comment on view column nightdesk.people_and_dates.finished_at is 'When the job ended.'

comment on view column nightdesk.people_and_dates.job_id is 'Id of the job.'

comment on view column nightdesk.people_and_dates.kind is 'person or date.'

comment on view column nightdesk.people_and_dates.line_end is 'Last line of the passage.'

comment on view column nightdesk.people_and_dates.line_start is 'First line of the passage, from 1.'

comment on view column nightdesk.people_and_dates.model is 'The model that found it.'

comment on view column nightdesk.people_and_dates.name is 'Of a person: the name, as the file spells it.'

comment on view column nightdesk.people_and_dates.ordinal is 'Place among the people, or among the dates, of the file, from 0.'

comment on view column nightdesk.people_and_dates.path is 'The file, relative to the work root.'

comment on view column nightdesk.people_and_dates.quote is 'The passage that names it.'

comment on view column nightdesk.people_and_dates.quote_class is 'verbatim, normalised, elided, stitched or not_found.'

comment on view column nightdesk.people_and_dates.role is 'Of a person: what the file says that they are; null where it does not say.'

comment on view column nightdesk.people_and_dates.run_id is 'Id of the run.'

comment on view column nightdesk.people_and_dates.sha256 is 'SHA-256 of the file''s bytes.'

comment on view column nightdesk.people_and_dates.what is 'Of a date: what happens then.'

comment on view column nightdesk.queries.batch is 'Name of its batch.'

comment on view column nightdesk.queries.batch_id is 'Id of its batch.'

comment on view column nightdesk.queries.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.queries.family is 'Stems of the words that carry its subject, in order of the alphabet, the same for queries that differ in form alone; null where it has no words.'

comment on view column nightdesk.queries.hits is 'Passages, lines or results that the tool counted, those that it did not show among them; null where it gave an error.'

comment on view column nightdesk.queries.job_id is 'Id of the job.'

comment on view column nightdesk.queries.novel is 'Whether no earlier query of the job was of this family.'

comment on view column nightdesk.queries.query is 'The words as the model wrote them.'

comment on view column nightdesk.queries.step is 'Place among the steps of the job, from 0.'

comment on view column nightdesk.queries.tool is 'Name of the tool.'

comment on view column nightdesk.quotes.batch_id is 'Id of the batch.'

comment on view column nightdesk.quotes.class is 'verbatim, normalised, elided, misattributed, stitched, asked, translated, term or not_found.'

comment on view column nightdesk.quotes.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.quotes.end_char is 'Offset after its last character.'

comment on view column nightdesk.quotes.job_id is 'Id of the job.'

comment on view column nightdesk.quotes.line_end is 'Last line in the file.'

comment on view column nightdesk.quotes.line_start is 'First line in the file, from 1.'

comment on view column nightdesk.quotes.number is 'Number of the piece of evidence that holds it; null when none does.'

comment on view column nightdesk.quotes.ordinal is 'Place in the answer, from 0.'

comment on view column nightdesk.quotes.path is 'The file, relative to the work root.'

comment on view column nightdesk.quotes.quote is 'The words between the marks.'

comment on view column nightdesk.quotes.run_id is 'Id of the run.'

comment on view column nightdesk.quotes.start_char is 'Offset of its first character in the file, from 0, in code points.'

comment on view column nightdesk.reasoning.batch_id is 'Id of the batch.'

comment on view column nightdesk.reasoning.call_id is 'Id of the call, as in model_calls.'

comment on view column nightdesk.reasoning.chars is 'Characters that the model thought.'

comment on view column nightdesk.reasoning.created_at is 'When it was stored.'

comment on view column nightdesk.reasoning.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.reasoning.expires_at is 'When it may be removed; null where it is kept with its job.'

comment on view column nightdesk.reasoning.job_id is 'Id of the job.'

comment on view column nightdesk.reasoning.model is 'The model that was asked.'

comment on view column nightdesk.reasoning.pass is 'The pass of the call.'

comment on view column nightdesk.reasoning.reasoning is 'What it thought; of more than 64,000 characters the first 48,000 and the last 16,000.'

comment on view column nightdesk.reasoning.run_id is 'Id of the run that made the call.'

comment on view column nightdesk.remote_files.address is 'Address of the place, without user and secret.'

comment on view column nightdesk.remote_files.bytes is 'Of what lies here.'

comment on view column nightdesk.remote_files.changed_at is 'When its fate changed, or it was fetched.'

comment on view column nightdesk.remote_files.description is 'What the place says of it, as JSON: of paperless title, correspondent, document_type, tags, created, added and custom_fields; null of any other.'

comment on view column nightdesk.remote_files.fate is 'What the last sync did: fetched; unchanged; skipped; waiting: left to the next run; deleted; held: gone there, and kept here until somebody accepts the deletion.'

comment on view column nightdesk.remote_files.fetched_at is 'When it was fetched.'

comment on view column nightdesk.remote_files.kind is 'Kind of the place: webdav, imap, s3 or paperless.'

comment on view column nightdesk.remote_files.listed_at is 'When the place was last listed to its end.'

comment on view column nightdesk.remote_files.listed_bytes is 'Its size by the last listing; null where that does not say.'

comment on view column nightdesk.remote_files.listed_version is 'The version that the last listing named.'

comment on view column nightdesk.remote_files.name is 'What the place calls it: folders and name, percent-encoded.'

comment on view column nightdesk.remote_files.origin is 'URL of the version that was fetched.'

comment on view column nightdesk.remote_files.path is 'Where it lies here, relative to the work root; null before it was fetched.'

comment on view column nightdesk.remote_files.reason is 'Why it was skipped or is held.'

comment on view column nightdesk.remote_files.sha256 is 'SHA-256 of what lies here.'

comment on view column nightdesk.remote_files.source is 'Name of the source.'

comment on view column nightdesk.remote_files.version is 'What the place called that version: of WebDAV its ETag, or size and time, of a mail UIDVALIDITY and UID, of paperless the time of its last change.'

comment on view column nightdesk.results.answer is 'The answer, its last line the scope footer; null unless succeeded.'

comment on view column nightdesk.results.batch is 'Name of its batch.'

comment on view column nightdesk.results.batch_id is 'Id of its batch.'

comment on view column nightdesk.results.cached_from is 'The run whose replies were taken over, because nothing that decides them had changed.'

comment on view column nightdesk.results.claims_dropped is 'Statements that the evidence does not carry and that were left out of the answer.'

comment on view column nightdesk.results.completion_tokens is 'Tokens of all replies of the last run.'

comment on view column nightdesk.results.created_at is 'When it was queued.'

comment on view column nightdesk.results.custom_id is 'The id that the user gave, or line-<number>; unique in the batch.'

comment on view column nightdesk.results.duplicate_of is 'The job of its batch that is worked in its place, because their files are copies; it has the result. Null for any other.'

comment on view column nightdesk.results.error_code is 'Why it did not succeed, as a stable code; null when it did. A job that waits for another try shows the last one.'

comment on view column nightdesk.results.error_message is 'The same in words.'

comment on view column nightdesk.results.evidence_count is 'Pieces of evidence that were admitted.'

comment on view column nightdesk.results.finished_at is 'When it ended; null while it has not.'

comment on view column nightdesk.results.grade is 'verified: it passed its checks. supported or unconfirmed: of the worst claim of the answer, or unconfirmed where a field of an extraction is unbound; unsupported only where ask.unsupported lets it stand; unresolved of a refusal whose checks leave something open; null without claims and fields.'

comment on view column nightdesk.results.input is 'What was asked for, as it was queued.'

comment on view column nightdesk.results.job_id is 'Id of the job.'

comment on view column nightdesk.results.kind is 'ask, summarize, extract, digest, investigate, check, examine, embed, sync, index, ocr, chat, command or notify.'

comment on view column nightdesk.results.model is 'The model that wrote the answer.'

comment on view column nightdesk.results.output is 'What a job gave beside words: the fields of extract, the counters of index and embed.'

comment on view column nightdesk.results.path is 'The file that the job was queued for, relative to the work root; null where it was queued for none, as a question.'

comment on view column nightdesk.results.prompt_tokens is 'Tokens of all prompts of the last run.'

comment on view column nightdesk.results.queued_ms is 'Milliseconds between the time it was due and the start of the last run.'

comment on view column nightdesk.results.rerun_of is 'The job of an earlier batch that this one repeats.'

comment on view column nightdesk.results.run_ms is 'Milliseconds that the last run took.'

comment on view column nightdesk.results.scope is 'The scope footer: what the answer rests on.'

comment on view column nightdesk.results.state is 'queued, running, parked, succeeded, refused, failed, cancelled or expired.'

comment on view column nightdesk.results.verification is 'off: its answer was not verified. passed or failed: what its checks and their auditor came to. unverified: no auditor could be had, or read. Of a job that is queued, pending: its checks are under way.'

comment on view column nightdesk.results.waiting_for is 'What a parked job waits for: host, approval, review, exam (of its judge) or time; null unless it is parked.'

comment on view column nightdesk.reviews.batch is 'Name of its batch.'

comment on view column nightdesk.reviews.batch_id is 'Id of its batch.'

comment on view column nightdesk.reviews.correction is 'The answer in the person''s own words; null unless corrected.'

comment on view column nightdesk.reviews.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.reviews.decided_at is 'When.'

comment on view column nightdesk.reviews.decided_by is 'Who decided.'

comment on view column nightdesk.reviews.draft is 'The answer that is looked at.'

comment on view column nightdesk.reviews.facts is 'What a right answer holds, as the person said: nightdesk reviews export makes questions for nightdesk eval of it.'

comment on view column nightdesk.reviews.job_id is 'Id of the job.'

comment on view column nightdesk.reviews.kind is 'Kind of the job.'

comment on view column nightdesk.reviews.reason is 'Why it was rejected, or what was said beside another decision.'

comment on view column nightdesk.reviews.requested_at is 'Since when somebody is asked.'

comment on view column nightdesk.reviews.run_id is 'The run that wrote the answer: its statements and evidence stand under this id.'

comment on view column nightdesk.reviews.state is 'waiting, accepted, corrected or rejected; waiting also where the job has ended otherwise since.'

comment on view column nightdesk.reviews.why is 'Why nobody else could settle it.'

comment on view column nightdesk.run_events.at_ms is 'Milliseconds from the start of the run to its own.'

comment on view column nightdesk.run_events.batch_id is 'Id of the batch.'

comment on view column nightdesk.run_events.custom_id is 'Id of the line that queued the job; null where it had none.'

comment on view column nightdesk.run_events.detail is 'What it found and decided.'

comment on view column nightdesk.run_events.duration_ms is 'Milliseconds that it took.'

comment on view column nightdesk.run_events.event_id is 'Id of the step, in the order in which steps were written.'

comment on view column nightdesk.run_events.job_id is 'Id of its job.'

comment on view column nightdesk.run_events.ordinal is 'Place among the steps of the run.'

comment on view column nightdesk.run_events.run_id is 'Id of the run.'

comment on view column nightdesk.run_events.step is 'Name of the step.'

comment on view column nightdesk.runs.answer is 'The answer; null unless it succeeded.'

comment on view column nightdesk.runs.attempt is 'Number of the attempt, from 1.'

comment on view column nightdesk.runs.batch is 'Name of the batch.'

comment on view column nightdesk.runs.batch_id is 'Id of the batch.'

comment on view column nightdesk.runs.cached_from is 'Run whose result was taken over; null where it did the work.'

comment on view column nightdesk.runs.claims_dropped is 'Statements that were left out of the answer.'

comment on view column nightdesk.runs.completion_tokens is 'Tokens of all replies.'

comment on view column nightdesk.runs.config_file is 'The file that it was read from.'

comment on view column nightdesk.runs.config_sha256 is 'Fingerprint of its configuration.'

comment on view column nightdesk.runs.custom_id is 'Id of the line that queued the job; null where it had none.'

comment on view column nightdesk.runs.error_code is 'Why it did not succeed; null where it did, or runs.'

comment on view column nightdesk.runs.error_message is 'The same in words.'

comment on view column nightdesk.runs.finished_at is 'When it ended; null while it runs.'

comment on view column nightdesk.runs.grade is 'verified, or of the worst claim of the answer: supported, unconfirmed or unsupported; unresolved of a refusal whose checks leave something open; null without claims.'

comment on view column nightdesk.runs.job_id is 'Id of its job.'

comment on view column nightdesk.runs.kind is 'Kind of the job.'

comment on view column nightdesk.runs.model_first is 'Model of the first pass.'

comment on view column nightdesk.runs.model_ms is 'Milliseconds in model calls.'

comment on view column nightdesk.runs.model_second is 'Model of the second pass.'

comment on view column nightdesk.runs.prompt_tokens is 'Tokens of all prompts.'

comment on view column nightdesk.runs.queued_ms is 'Milliseconds between the time it was due and its start.'

comment on view column nightdesk.runs.regraded_at is 'When grades of it were taken back, because the judge that had given them lost its word; null where none were.'

comment on view column nightdesk.runs.roots is 'The folders that the worker might read.'

comment on view column nightdesk.runs.run_id is 'Id of the run.'

comment on view column nightdesk.runs.run_ms is 'Milliseconds from start to end; null while it runs, and where its worker was lost.'

comment on view column nightdesk.runs.scope is 'What the answer rests on.'

comment on view column nightdesk.runs.started_at is 'When it was claimed.'

comment on view column nightdesk.runs.state is 'running, succeeded, refused, failed, parked, cancelled, expired, lost, handed_back or drafted (its answer waits for checks).'

comment on view column nightdesk.runs.verification is 'off, pending (its answer waits for checks), passed, failed or unverified.'

comment on view column nightdesk.runs.version is 'Version of that worker.'

comment on view column nightdesk.runs.worker_id is 'Worker that ran it; of one that is gone, no row is left in workers.'

comment on view column nightdesk.schedules.catch_up is 'What is done about times that were missed.'

comment on view column nightdesk.schedules.command is 'What it runs, word by word.'

comment on view column nightdesk.schedules.cron is 'When it runs.'

comment on view column nightdesk.schedules.enabled is 'Whether it runs.'

comment on view column nightdesk.schedules.last_batch_id is 'Batch of that run: batch_progress and runs say what came of it; null where it was deleted.'

comment on view column nightdesk.schedules.last_cause is 'tick, missed or by_hand.'

comment on view column nightdesk.schedules.last_planned_at is 'Planned time of its last run; null before the first.'

comment on view column nightdesk.schedules.name is 'Name of the schedule.'

comment on view column nightdesk.schedules.origin is 'file: from the configuration; set: by schedule set.'

comment on view column nightdesk.schedules.since is 'Since when these times hold.'

comment on view column nightdesk.schedules.timezone is 'Zone of these times.'

comment on view column nightdesk.stage_costs.batch is 'Name of the batch.'

comment on view column nightdesk.stage_costs.batch_id is 'Id of the batch.'

comment on view column nightdesk.stage_costs.calls is 'Calls that were made; what was taken over from earlier ones costs nothing.'

comment on view column nightdesk.stage_costs.completion_tokens is 'Tokens of their replies.'

comment on view column nightdesk.stage_costs.jobs is 'Jobs that they were made for.'

comment on view column nightdesk.stage_costs.kind is 'Kind of the jobs; check for the checks of its answers, examine for the exam of their judge.'

comment on view column nightdesk.stage_costs.model is 'The model that was asked.'

comment on view column nightdesk.stage_costs.model_ms is 'Milliseconds that they took.'

comment on view column nightdesk.stage_costs.prompt_tokens is 'Tokens of their prompts.'

comment on view column nightdesk.stage_costs.stage is 'draft, grade (a judge is asked of its statements), decompose (which questions to ask), check, audit or revise.'

comment on view column nightdesk.steps.batch is 'Name of the batch.'

comment on view column nightdesk.steps.batch_id is 'Id of the batch.'

comment on view column nightdesk.steps.completion_tokens is 'Tokens of the reply.'

comment on view column nightdesk.steps.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.steps.detail is 'Which rule acted and why, what was shown in brief, what was asked.'

comment on view column nightdesk.steps.duration_ms is 'Milliseconds from its beginning to its end.'

comment on view column nightdesk.steps.effect is 'What the tool may change or reach: none, local-write, exec or network.'

comment on view column nightdesk.steps.ended_at is 'When it ended; null while it is open.'

comment on view column nightdesk.steps.error_code is 'Why the call gave nothing; null where it gave a result.'

comment on view column nightdesk.steps.job_id is 'Id of the job.'

comment on view column nightdesk.steps.kind is 'model, tool, compaction (older steps are shown in brief from here on), policy (a rule acted) or end.'

comment on view column nightdesk.steps.model is 'The model that was called.'

comment on view column nightdesk.steps.ordinal is 'Place among the steps of the job, from 0.'

comment on view column nightdesk.steps.prompt_tokens is 'Tokens of the prompt, as the host counted them.'

comment on view column nightdesk.steps.run_id is 'Id of the run that wrote it; a later run of the job goes on behind it.'

comment on view column nightdesk.steps.started_at is 'When it began.'

comment on view column nightdesk.steps.state is 'started, waiting (a person is asked), uncertain (its worker was lost, and it may have had its effect), done, failed, denied or skipped.'

comment on view column nightdesk.steps.tool is 'Name of the tool; null for any other step.'

comment on view column nightdesk.summary_parts.batch_id is 'Id of the batch.'

comment on view column nightdesk.summary_parts.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.summary_parts.end_char is 'Offset after the last character.'

comment on view column nightdesk.summary_parts.job_id is 'Id of the job.'

comment on view column nightdesk.summary_parts.level is '0 for parts of the file, 1 for summaries of their summaries, and so on.'

comment on view column nightdesk.summary_parts.line_end is 'Last line that it covers.'

comment on view column nightdesk.summary_parts.line_start is 'First line that it covers, from 1.'

comment on view column nightdesk.summary_parts.ordinal is 'Place within the level, from 0.'

comment on view column nightdesk.summary_parts.path is 'The file, relative to the work root.'

comment on view column nightdesk.summary_parts.run_id is 'Id of the run.'

comment on view column nightdesk.summary_parts.start_char is 'Offset of the first character that it covers, from 0, in code points.'

comment on view column nightdesk.summary_parts.summary is 'What was said of it.'

comment on view column nightdesk.throughput.calls is 'Calls of models, of runs that were parked, escalated or handed back as well.'

comment on view column nightdesk.throughput.completion_tokens is 'Tokens of their replies.'

comment on view column nightdesk.throughput.hour is 'Start of the hour in which the runs ended.'

comment on view column nightdesk.throughput.jobs is 'Runs that came to an end; what drafts have cost that wait for their checks is in the sums.'

comment on view column nightdesk.throughput.kind is 'Kind of the jobs.'

comment on view column nightdesk.throughput.model is 'Model that answered; null where none was asked.'

comment on view column nightdesk.throughput.prompt_tokens is 'Tokens of their prompts.'

comment on view column nightdesk.throughput.run_ms_p50 is 'Median milliseconds of a run.'

comment on view column nightdesk.throughput.run_ms_p95 is '95th percentile of the same.'

comment on view column nightdesk.throughput.stages is 'The same by stage (draft, grade, decompose, check, audit, revise), as JSON: calls, tokens and model_ms of each.'

comment on view column nightdesk.tool_calls.args is 'Its arguments, as the model gave them.'

comment on view column nightdesk.tool_calls.args_sha256 is 'Of an investigation: SHA-256 of its arguments as canonical JSON.'

comment on view column nightdesk.tool_calls.batch is 'Name of the batch.'

comment on view column nightdesk.tool_calls.batch_id is 'Id of the batch.'

comment on view column nightdesk.tool_calls.custom_id is 'Id of the line that queued the job; null where it had none.'

comment on view column nightdesk.tool_calls.duration_ms is 'Milliseconds that it took.'

comment on view column nightdesk.tool_calls.error_code is 'Why it gave nothing; null where it gave a result.'

comment on view column nightdesk.tool_calls.error_message is 'The same in words.'

comment on view column nightdesk.tool_calls.grant_id is 'Of an investigation: the grant that allowed it.'

comment on view column nightdesk.tool_calls.job_id is 'Id of its job.'

comment on view column nightdesk.tool_calls.name is 'Name of the tool.'

comment on view column nightdesk.tool_calls.ordinal is 'Place among the calls of the run.'

comment on view column nightdesk.tool_calls.result is 'What it gave, without the text.'

comment on view column nightdesk.tool_calls.run_id is 'Id of the run.'

comment on view column nightdesk.tool_calls.step is 'Of an investigation: its step; null for any other.'

comment on view column nightdesk.tool_calls.trailing_text is 'What the model wrote behind the call.'

comment on view column nightdesk.watched_files.batch_id is 'Batch of that job.'

comment on view column nightdesk.watched_files.bytes is 'Its size in bytes.'

comment on view column nightdesk.watched_files.job_id is 'The job that a rule made of it; null where no rule is for it, or the job was deleted.'

comment on view column nightdesk.watched_files.label is 'What its newest classification gave when the rules for labels were last asked; null where it has none.'

comment on view column nightdesk.watched_files.label_job_id is 'The job that a rule for its label made of it, or a rule for files without one; null where there is none, or the job was deleted.'

comment on view column nightdesk.watched_files.label_problem is 'Why the rules for labels passed it over; null where they did not.'

comment on view column nightdesk.watched_files.label_state is 'State of that job.'

comment on view column nightdesk.watched_files.mail is 'Of an attachment the path of the file of its mail; null for a file.'

comment on view column nightdesk.watched_files.move_problem is 'Why it could not be moved; null where it could, or is not to be.'

comment on view column nightdesk.watched_files.moved_to is 'Where it was moved to by its rule; null where it lies where it was found.'

comment on view column nightdesk.watched_files.path is 'Where it was found, relative to the work root.'

comment on view column nightdesk.watched_files.seen_at is 'When it was taken.'

comment on view column nightdesk.watched_files.sha256 is 'SHA-256 of its bytes: a file of the same bytes is not queued again.'

comment on view column nightdesk.watched_files.source is 'Name of the configured source that is watched.'

comment on view column nightdesk.watched_files.state is 'State of that job.'

comment on view column nightdesk.watches.files is 'Files that lay there.'

comment on view column nightdesk.watches.looked_at is 'When a worker last looked.'

comment on view column nightdesk.watches.problem is 'Why it could not be looked at; null where it could.'

comment on view column nightdesk.watches.restless is 'Of them, those that were written too lately to be taken.'

comment on view column nightdesk.watches.source is 'Name of the configured source.'

comment on view column nightdesk.workers.concurrency is 'Jobs that it runs at once, at most.'

comment on view column nightdesk.workers.config_file is 'Configuration that it read when it started, on its machine.'

comment on view column nightdesk.workers.differs_in is 'Keys of its configuration that hold for all workers and differ from what is in force; empty: it agrees.'

comment on view column nightdesk.workers.documents_from is 'files, or store for a worker that reads documents from the database and takes no jobs that need files.'

comment on view column nightdesk.workers.heartbeat_at is 'When it last said that it is alive; every 5 s.'

comment on view column nightdesk.workers.host is 'Name of its machine.'

comment on view column nightdesk.workers.is_alive is 'Whether that was in the last 15 s.'

comment on view column nightdesk.workers.pid is 'Its process on that machine.'

comment on view column nightdesk.workers.started_at is 'When it started.'

comment on view column nightdesk.workers.version is 'Its version.'

comment on view column nightdesk.workers.worker_id is 'Id of the worker; another at each start.'

comment on view column nightdesk.write_backs.after is 'What was written, in the same form.'

comment on view column nightdesk.write_backs.asked_at is 'Since when a person is, or was, asked.'

comment on view column nightdesk.write_backs.batch is 'Name of the batch.'

comment on view column nightdesk.write_backs.batch_id is 'Id of the batch.'

comment on view column nightdesk.write_backs.before is 'What stood there, as JSON: of a correspondent, type or tag id and name, of a custom field value; null where nothing did.'

comment on view column nightdesk.write_backs.correction is 'What the person wants written instead; null unless corrected.'

comment on view column nightdesk.write_backs.custom_id is 'The job''s custom_id.'

comment on view column nightdesk.write_backs.decided_at is 'When.'

comment on view column nightdesk.write_backs.decided_by is 'Who decided.'

comment on view column nightdesk.write_backs.decision_reason is 'What the person said beside the decision.'

comment on view column nightdesk.write_backs.job_id is 'Id of the job.'

comment on view column nightdesk.write_backs.kind is 'correspondent, document_type, tag or custom_field.'

comment on view column nightdesk.write_backs.name is 'Name of the tag or custom field; of the others correspondent or document_type.'

comment on view column nightdesk.write_backs.noted_at is 'When a write-back of the batch last came to its end, or changed the row.'

comment on view column nightdesk.write_backs.path is 'Where the file lies here, relative to the work root; null once it is in no mirror.'

comment on view column nightdesk.write_backs.pointer is 'Where the value stands in the fields: a JSON pointer such as /amount, as in field_bindings.'

comment on view column nightdesk.write_backs.reason is 'Why it was withheld or kept.'

comment on view column nightdesk.write_backs.remote_id is 'What the place calls the file: of paperless the number of the document and the ending of its original.'

comment on view column nightdesk.write_backs.review is 'waiting: a person is asked about the value. accepted or corrected: the next write-back writes it. rejected: it is never written. Null where nobody was asked.'

comment on view column nightdesk.write_backs.sha256 is 'SHA-256 of the file that the value was read from.'

comment on view column nightdesk.write_backs.source is 'Name of the source.'

comment on view column nightdesk.write_backs.state is 'withheld: not written. intended: about to be written, or sent and not seen there yet; the next write-back looks. written. undone: it is again as it was. kept: not undone, because somebody has changed it since.'

comment on view column nightdesk.write_backs.undone_at is 'When it was undone, or found changed when it was to be.'

comment on view column nightdesk.write_backs.value is 'The value of the extraction as JSON.'

comment on view column nightdesk.write_backs.write_id is 'Number of the row.'

comment on view column nightdesk.write_backs.written_at is 'When it was seen there.'

grant execute on function nightdesk_data.choose_host(uuid,jsonb,text[],double precision) to public

grant execute on function nightdesk_data.commit_later() to public

grant execute on function nightdesk_data.count_chunks() to public

grant execute on function nightdesk_data.count_jobs() to public

grant execute on function nightdesk_data.delete_jobs(uuid[]) to public

grant execute on function nightdesk_data.end_call(uuid,text,integer,bigint,double precision,double precision,double precision) to public

grant execute on function nightdesk_data.end_investigation() to public

grant execute on function nightdesk_data.end_kept_call(uuid,boolean,uuid,text,integer,bigint,double precision,double precision,double precision) to public

grant execute on function nightdesk_data.end_progress() to public

grant execute on function nightdesk_data.end_web_call(uuid,text,text,text,double precision,integer) to public

grant execute on function nightdesk_data.facets_of(jsonb) to public

grant execute on function nightdesk_data.follow_batch() to public

grant execute on function nightdesk_data.has_its_job(uuid) to public

grant execute on function nightdesk_data.hold_detail(nightdesk_data.batches) to public

grant execute on function nightdesk_data.keep_grant() to public

grant execute on function nightdesk_data.keep_hold_history() to public

grant execute on function nightdesk_data.move_counts(uuid[],text[],bigint[]) to public

grant execute on function nightdesk_data.note_former_content() to public

grant execute on function nightdesk_data.queue_notifications(nightdesk_data.batches,text,timestamp with time zone,text) to public

grant execute on function nightdesk_data.release_parents() to public

grant execute on function nightdesk_data.reserve_budget(uuid,uuid,uuid,jsonb) to public

grant execute on function nightdesk_data.resolve_constraints() to public

grant execute on function nightdesk_data.size_host(nightdesk_data.hosts,nightdesk_data.host_slots,text,bigint,double precision) to public

grant execute on function nightdesk_data.take_call(uuid,uuid,text,jsonb) to public

grant execute on function nightdesk_data.take_web_call(uuid,text,double precision,double precision) to public

grant execute on function nightdesk_data.tell_end() to public

grant execute on function nightdesk_data.tell_waiting() to public

grant execute on function nightdesk_data.wake_host(text) to public

grant select on relation nightdesk.action_items to nightdesk_reader

grant select on relation nightdesk.approvals to nightdesk_reader

grant select on relation nightdesk.artifacts to nightdesk_reader

grant select on relation nightdesk.audits to nightdesk_reader

grant select on relation nightdesk.batch_holds to nightdesk_reader

grant select on relation nightdesk.batch_progress to nightdesk_reader

grant select on relation nightdesk.budgets to nightdesk_reader

grant select on relation nightdesk.checks to nightdesk_reader

grant select on relation nightdesk.chunks to nightdesk_reader

grant select on relation nightdesk.claims to nightdesk_reader

grant select on relation nightdesk.classifications to nightdesk_reader

grant select on relation nightdesk.constraints to nightdesk_reader

grant select on relation nightdesk.coverage to nightdesk_reader

grant select on relation nightdesk.documents to nightdesk_reader

grant select on relation nightdesk.doubtful_figures to nightdesk_reader

grant select on relation nightdesk.evidence to nightdesk_reader

grant select on relation nightdesk.exams to nightdesk_reader

grant select on relation nightdesk.failures to nightdesk_reader

grant select on relation nightdesk.field_bindings to nightdesk_reader

grant select on relation nightdesk.figures to nightdesk_reader

grant select on relation nightdesk.grants to nightdesk_reader

grant select on relation nightdesk.hooks to nightdesk_reader

grant select on relation nightdesk.host_models to nightdesk_reader

grant select on relation nightdesk.host_nights to nightdesk_reader

grant select on relation nightdesk.hosts to nightdesk_reader

grant select on relation nightdesk.memory to nightdesk_reader

grant select on relation nightdesk.model_calls to nightdesk_reader

grant select on relation nightdesk.moves to nightdesk_reader

grant select on relation nightdesk.ocr_pages to nightdesk_reader

grant select on relation nightdesk.operator_actions to nightdesk_reader

grant select on relation nightdesk.people_and_dates to nightdesk_reader

grant select on relation nightdesk.queries to nightdesk_reader

grant select on relation nightdesk.quotes to nightdesk_reader

grant select on relation nightdesk.reasoning to nightdesk_reader

grant select on relation nightdesk.remote_files to nightdesk_reader

grant select on relation nightdesk.results to nightdesk_reader

grant select on relation nightdesk.reviews to nightdesk_reader

grant select on relation nightdesk.run_events to nightdesk_reader

grant select on relation nightdesk.runs to nightdesk_reader

grant select on relation nightdesk.schedules to nightdesk_reader

grant select on relation nightdesk.stage_costs to nightdesk_reader

grant select on relation nightdesk.steps to nightdesk_reader

grant select on relation nightdesk.summary_parts to nightdesk_reader

grant select on relation nightdesk.throughput to nightdesk_reader

grant select on relation nightdesk.tool_calls to nightdesk_reader

grant select on relation nightdesk.watched_files to nightdesk_reader

grant select on relation nightdesk.watches to nightdesk_reader

grant select on relation nightdesk.workers to nightdesk_reader

grant select on relation nightdesk.write_backs to nightdesk_reader

grant usage on schema nightdesk to nightdesk_reader
