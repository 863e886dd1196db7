-- Which hosts a worker calls, so that a host that is down keeps nobody from work who does not need it.
alter table nightdesk_data.workers
  -- Base URLs, as in hosts; null where its model, or its embedder, needs none.
  add column model_host text,
  add column embedder_host text;

-- Which kinds of jobs wait in a batch, without looking at each of a million.
create index jobs_waiting_by_kind on nightdesk_data.jobs (batch_id, kind) where state in ('queued', 'parked');
