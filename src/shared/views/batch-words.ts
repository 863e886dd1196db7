import { FINAL_STATES, JOB_STATES } from "../job/job.ts";
import { formatInZone } from "../schedules/time.ts";
import type { HoldReason, PastHold } from "../store/jobs/holds.ts";
import type { ShownCall } from "../store/schedules/hook-calls.ts";
import type { BatchProgress } from "./batches.ts";
import { countOf, formatMoment, formatCount, formatDuration } from "./quantity.ts";
import { duration, joinTexts, state, time } from "./section.ts";
import type { Piece, Text } from "./section.ts";
import { quoteForShell } from "../terminal/styled-text.ts";

/** A batch as `--json` gives it. */
export const batchJson = (batch: BatchProgress): Record<string, unknown> => ({
  batch_id: batch.batchId,
  batch: batch.name,
  origin: batch.origin,
  state: batch.state,
  hold_reason: batch.holdReason,
  hold_until: batch.holdUntil,
  paused_at: batch.pausedAt,
  windows: batch.windows ?? batch.deskWindows,
  deadline_at: batch.deadlineAt,
  priority: batch.priority,
  total: batch.total,
  ...batch.counts,
  created_at: batch.createdAt,
  finished_at: batch.finishedAt,
});

/** Jobs that have ended. */
export const doneOf = ({ counts }: BatchProgress): number =>
  FINAL_STATES.reduce((sum, state) => sum + counts[state], 0);

/** `48 succeeded, 12 refused`: every state that has jobs. */
export const formatCounts = (batch: BatchProgress): string =>
  statesOf(batch)
    .map(({ text }) => text)
    .join(", ") || NO_JOBS;

/** The same as pieces of a text, so that each count is styled by its state. */
export function countsText(batch: BatchProgress): Text {
  const parts = statesOf(batch).map(({ name, text }) => state(name, text));
  return parts.length === 0
    ? NO_JOBS
    : parts.flatMap((part, at) => (at === 0 ? [part] : [", ", part]));
}

const NO_JOBS = "no jobs";

const statesOf = ({ counts }: BatchProgress) =>
  JOB_STATES.filter((name) => counts[name] > 0).map((name) => ({
    name,
    text: `${formatCount(counts[name])} ${name}`,
  }));

/** `held: window, until 2026-11-21 22:00 CET (2026-11-21 21:00:00Z)`, or the state alone. */
export const formatState = (batch: BatchProgress): string =>
  batch.holdReason === null ? batch.state : formatHold(batch);

export const stateText = (batch: BatchProgress): Piece => state(batch.state, formatState(batch));

export type HeldBatch = {
  readonly name: string;
  readonly holdReason: HoldReason | null;
  readonly holdUntil: Date | null;
};

/** `held: window, until 2026-11-21 22:00 CET (2026-11-21 21:00:00Z)`. A time that has passed reads `ended at`. */
export function formatHold({ holdReason, holdUntil }: Omit<HeldBatch, "name">): string {
  const reason = `held: ${holdReason ?? ""}`;
  if (holdUntil === null) return reason;
  const moment = formatMoment(holdUntil);
  return holdUntil.getTime() > Date.now()
    ? `${reason}, until ${moment}`
    : `${reason}, ended at ${moment}: it goes on when a worker looks`;
}

/** The same in the timezone of a page, which names the zone once: `held: window, until 22:00`, with the day if it is another. */
export function formatStateOn(
  { state, holdReason, holdUntil }: Pick<BatchProgress, "state" | "holdReason" | "holdUntil">,
  zone: string,
  now = new Date(),
): string {
  if (holdReason === null) return state;
  const reason = `held: ${CAUSES[holdReason]}`;
  if (holdUntil === null) return reason;
  if (holdUntil <= now) return `${reason}; it goes on when a worker looks`;
  const [day = "", time = ""] = formatInZone(holdUntil, zone).split(" ");
  return `${reason}, until ${formatInZone(now, zone).startsWith(day) ? time : `${day} ${time}`}`;
}

/** The command or setting that releases a held batch; undefined when waiting is the only remedy. */
export function holdRemedy({ name, holdReason, holdUntil }: HeldBatch): string | undefined {
  const quoted = quoteForShell(name);
  switch (holdReason) {
    case "paused":
      return `to go on: nightdesk batch resume ${quoted}`;
    case "approvals":
      return `more than a quarter of it waits for somebody: nightdesk approvals review --batch ${quoted}`;
    case "window":
      return `to run it now: nightdesk batch set ${quoted} --no-windows`;
    case "budget":
      // Only the budget of a night has an end; that of a batch does not.
      return holdUntil === null
        ? `to see and raise its budget: nightdesk batch budget ${quoted}`
        : "it goes on then; or raise budgets.night and start the workers again";
    case "host":
      return "it goes on when its model host is back: nightdesk doctor";
    case null:
      return undefined;
  }
}

/** The remedy for a batch that makes no progress. An interrupted load looks like one that still runs. */
export const remedyOf = (batch: BatchProgress): string | undefined =>
  batch.state === "loading"
    ? "it begins when all of its file is read; if the enqueue that loads it was cut off, run the same command again"
    : holdRemedy(batch);

/** The command that runs again what failed or expired. Without a flag it takes only what failed. */
export const retryCommand = ({ batchId, counts: { failed, expired } }: BatchProgress): string =>
  `nightdesk batch retry ${batchId}${failed > 0 && expired > 0 ? " --failed" : ""}${expired > 0 ? " --expired" : ""}`;

/** Spans that are listed one by one: the last ones. */
const SHOWN = 5;

/** When and why a batch was held, one span a line, then the total if there are several. */
export function pastHoldLines(holds: readonly PastHold[]): readonly Text[] {
  const lines = holds.slice(-SHOWN).map(holdLine);
  if (holds.length < 2) return lines;
  const before = holds.length - lines.length;
  const earlier = before === 0 ? "" : `, with ${countOf(before, "span")} before these`;
  return [...lines, `${formatDuration(heldMs(holds))} in all${earlier}`];
}

const holdLine = (hold: PastHold): Text => [
  { kind: "span", from: hold.began_at, to: hold.ended_at },
  ", ",
  duration(hold.held_ms),
  `: ${formatCause(hold)}`,
];

/** Why a batch was held, with a count if the reason recurred: `host down: http://models:11434, 3 times`. */
export function formatCause({ reason, detail, times }: PastHold): string {
  const what = detail === null ? "" : `: ${detail}`;
  return `${CAUSES[reason]}${what}${times === 1 ? "" : `, ${countOf(times, "time")}`}`;
}

export const CAUSES: Readonly<Record<PastHold["reason"], string>> = {
  paused: "paused",
  approvals: "waiting for approval",
  window: "window closed",
  budget: "no room in the budget",
  host: "host down",
};

/** Milliseconds for which a batch was held. */
export const heldMs = (holds: readonly PastHold[]): number =>
  holds.reduce((total, { held_ms }) => total + held_ms, 0);

/** The state of each webhook call, one a line, newest first: `webhook: told at 2026-11-22 05:12:09Z (200)`. */
export const hookCallLines = (calls: readonly ShownCall[]): readonly Text[] =>
  calls.map((call) =>
    call.target === "write_back"
      ? joinTexts("write-back: ", writeBackText(call))
      : joinTexts(`${call.target}${OF_EVENTS[call.event]}: `, hookCallText(call)),
  );

/** The state of the write-back that the end of a batch starts. */
function writeBackText({ state: of, error, ended_at: endedAt }: ShownCall): Text {
  const why = error === null ? "" : `: ${error}`;
  switch (of) {
    case "done":
      return ["done", ...(endedAt === null ? [] : [" at ", time(endedAt)])];
    case "failed":
      return `failed${why}`;
    case "superseded":
      return "not done: the batch was opened again first";
    case "pending":
      return `not done yet${why}${error === null ? "" : "; tried again"}`;
  }
}

const OF_EVENTS: Readonly<Record<ShownCall["event"], string>> = {
  batch_end: "",
  approval_needed: ", that it waits for somebody",
};

function hookCallText(call: ShownCall): Text {
  const { status, error, tries, ended_at: endedAt } = call;
  const why = error === null ? "" : `: ${error}`;
  switch (call.state) {
    case "done":
      return [
        "told",
        ...(endedAt === null ? [] : [" at ", time(endedAt)]),
        ` (${status ?? "no status"})`,
      ];
    case "failed":
      return `not told${why}`;
    case "superseded":
      return call.event === "batch_end"
        ? "not told: the batch was opened again first"
        : "not told: somebody had answered first";
    case "pending":
      return tries === 0 ? "not told yet" : `not told after ${tries} of 3 tries${why}; tried again`;
  }
}
