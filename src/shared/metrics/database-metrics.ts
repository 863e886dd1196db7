import { HOLD_REASONS } from "../store/jobs/holds.ts";
import type { DatabaseGauges } from "../views/database-gauges.ts";
import type { Definition, Definitions, GaugeGroup, Sample } from "./metrics.ts";

const gauge = (help: string, ...labels: readonly string[]): Definition => ({
  kind: "gauge",
  help,
  labels,
});

/** Metrics of the database: every process reports the same values. */
export const DATABASE_METRICS: Definitions = {
  nightdesk_jobs: gauge("Jobs of open batches by state.", "state"),
  nightdesk_jobs_in_queue: gauge("Jobs that were given to the queue and not begun."),
  nightdesk_oldest_job_age_seconds: gauge(
    "Age of the job that has waited longest in a batch that is not held; 0 where none waits.",
  ),
  nightdesk_batches_held: gauge("Open batches that are held, by reason.", "reason"),
  nightdesk_jobs_parked: gauge("Parked jobs by what they wait for.", "waiting_for"),
  nightdesk_approvals_waiting: gauge("Calls of tools that wait for somebody."),
  nightdesk_workers: gauge("Workers with a heartbeat in the last 15 seconds."),
  nightdesk_worker_places: gauge("Jobs that those workers run at once."),
  nightdesk_host_up: gauge(
    "1 while calls go to a model host, 0 while its breaker is open.",
    "host",
  ),
  nightdesk_host_slots: gauge("Calls that a host gets at once.", "host"),
  nightdesk_host_slots_in_use: gauge("Calls that a host has.", "host"),
  nightdesk_night_money: gauge("What calls of this night have cost, by the prices of hosts."),
  nightdesk_budget_used_ratio: gauge(
    "Share of a limit that is used: of the night, and of the open batch that has used most of its own; left out without a limit.",
    "scope",
    "limit",
  ),
  nightdesk_schedule_last_run_age_seconds: gauge(
    "Since a schedule that is switched on last ran; left out where it never did.",
    "schedule",
  ),
  nightdesk_schedule_runs_missed: gauge("Runs of schedules that came late within a day."),
  nightdesk_documents: gauge("Documents in the index."),
  nightdesk_document_failures: gauge("Files that could not be indexed."),
  nightdesk_index_age_seconds: gauge(
    "Since the index last read a document; left out where it has none.",
  ),
};

/** How long a reading is reused. */
const FRESH_MS = 5_000;

/**
 * Gauges of the database, read at most every five seconds, however many clients there are.
 * @param read `selectDatabaseGauges` on the database
 */
export function databaseGauges(
  read: () => Promise<DatabaseGauges>,
  now: () => number = performance.now.bind(performance),
): GaugeGroup {
  let last: { readonly at: number; readonly samples: Promise<readonly Sample[]> } | undefined;
  return {
    name: "desk",
    definitions: DATABASE_METRICS,
    read() {
      if (last === undefined || now() - last.at >= FRESH_MS) {
        last = { at: now(), samples: read().then(samplesOf) };
      }
      return last.samples;
    },
  };
}

function samplesOf(desk: DatabaseGauges): readonly Sample[] {
  const { parked, parked_host: host, waiting_exam: exam } = desk;
  const { waiting_approval: approval, waiting_review: review } = desk;
  const of = (name: string, value: number | null): readonly Sample[] =>
    value === null ? [] : [{ name, value }];
  const by = (name: string, label: string, values: Readonly<Record<string, number>>) =>
    Object.entries(values).map(([value, jobs]) => ({
      name,
      labels: { [label]: value },
      value: jobs,
    }));
  return [
    ...by("nightdesk_jobs", "state", {
      queued: desk.queued,
      running: desk.running,
      parked,
    }),
    ...of("nightdesk_jobs_in_queue", desk.dispatched),
    ...of("nightdesk_oldest_job_age_seconds", desk.oldest_s ?? 0),
    ...by(
      "nightdesk_batches_held",
      "reason",
      Object.fromEntries(HOLD_REASONS.map((reason) => [reason, desk.held[reason] ?? 0])),
    ),
    ...by("nightdesk_jobs_parked", "waiting_for", {
      host,
      approval,
      review,
      exam,
      time: Math.max(0, parked - host - approval - review - exam),
    }),
    ...of("nightdesk_approvals_waiting", desk.approvals),
    ...of("nightdesk_workers", desk.workers),
    ...of("nightdesk_worker_places", desk.places),
    ...desk.hosts.flatMap(hostSamples),
    ...of("nightdesk_night_money", desk.night_money),
    ...desk.budgets.flatMap(budgetSamples),
    ...desk.schedules.flatMap(({ name: schedule, last_s: value }) =>
      value === null
        ? []
        : [{ name: "nightdesk_schedule_last_run_age_seconds", labels: { schedule }, value }],
    ),
    ...of("nightdesk_schedule_runs_missed", desk.schedules_missed),
    ...of("nightdesk_documents", desk.documents),
    ...of("nightdesk_document_failures", desk.document_failures),
    ...of("nightdesk_index_age_seconds", desk.indexed_s),
  ];
}

const budgetSamples = ({
  scope,
  ...shares
}: DatabaseGauges["budgets"][number]): readonly Sample[] =>
  Object.entries(shares).flatMap(([limit, value]) =>
    value === null
      ? []
      : [{ name: "nightdesk_budget_used_ratio", labels: { scope, limit }, value }],
  );

const hostSamples = ({
  host,
  state,
  capacity,
  in_use: inUse,
}: DatabaseGauges["hosts"][number]): readonly Sample[] => [
  { name: "nightdesk_host_up", labels: { host }, value: state === "open" ? 0 : 1 },
  { name: "nightdesk_host_slots", labels: { host }, value: capacity },
  { name: "nightdesk_host_slots_in_use", labels: { host }, value: inUse },
];
