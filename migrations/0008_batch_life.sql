-- The life of a batch: when its jobs may start, how it ends, and in which order its jobs are taken.

alter table nightdesk_data.batches
  -- Added to the priority that a job has of its own.
  add column priority smallint not null default 0 check (priority between -100 and 100),
  -- No job of it starts at this time or later: the end of the window that is open, or infinity. Null with windows in
  -- force: no keeper has looked yet, and nothing starts.
  add column closes_at timestamptz,
  -- Cancelled or expired, and jobs that waited are still being ended, a slice at a time.
  add column closing boolean not null default false,
  add constraint only_closed_batches_are_closing check (not closing or state in ('cancelled', 'expired'));
create index closing_batches on nightdesk_data.batches (finished_at) where closing;

-- Times in which jobs of batches without windows of their own may run: those of the worker that started last.
alter table nightdesk_data.installation add column windows text[] not null default '{}';

-- Jobs that are held back while their file is read are due at infinity. A million of them are not to be looked through.
drop index nightdesk_data.jobs_to_dispatch;
create index jobs_to_dispatch on nightdesk_data.jobs (batch_id, priority desc, affinity, size, seq)
  where state in ('queued', 'parked') and dispatched_at is null and waits_for = 0 and due_at < 'infinity';
-- The job that has waited longest gets its turn, too, whatever its priority, model and size.
create index jobs_to_dispatch_by_age on nightdesk_data.jobs (batch_id, created_at, seq)
  where state in ('queued', 'parked') and dispatched_at is null and waits_for = 0 and due_at < 'infinity';
