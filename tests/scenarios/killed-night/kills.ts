import type { Boundary, Stop } from "../../support/killed-worker/boundaries.ts";
import type { NightJob } from "./scenarios.ts";

/** Jobs whose runs are stopped in one worker, which is killed when all of them stand still. */
export type Kills = ReadonlyMap<NightJob, Stop>;

const at = (boundary: Boundary, passing = 1): Stop => ({ boundary, passing });

/** What a run passes that reads. */
const READING: readonly Stop[] = [
  at("before the row of a model call"),
  at("after the row of a model call", 2),
  at("before the reply is kept"),
  at("after the reply is kept", 2),
  at("after the end of a model call"),
  at("before the row of a tool call"),
  at("after the row of a tool call"),
  at("after the end of a tool call"),
  at("after the row of the end"),
  at("at settlement"),
];
/** What the second call of a run passes, which appends a line. */
const STAMPING: readonly Stop[] = [
  at("before the row of a tool call", 2),
  at("after the row of a tool call", 2),
  at("before the effect"),
  at("after the effect"),
  at("after the end of a tool call", 2),
];
/** The same where somebody has to allow it. */
const ASKING: readonly Stop[] = [
  at("after the row of a tool call", 2),
  at("after the request"),
  at("while it parks"),
];
/** What a run passes that goes on as somebody said, in a worker that has just started. */
const RESUMING: readonly Stop[] = [
  at("before the resume"),
  at("after the resume"),
  at("before the effect"),
  at("after the effect"),
  at("after the end of a tool call"),
];

const from = (jobs: readonly NightJob[], ...names: readonly string[]): readonly NightJob[] =>
  jobs.filter(({ scenario }) => names.includes(scenario.name));
const eachAt = (jobs: readonly NightJob[], stops: readonly Stop[]): [NightJob, Stop][] =>
  stops.map((stop, n) => {
    const job = jobs[n];
    if (job === undefined) throw new Error(`no job is left to be stopped ${stop.boundary}`);
    return [job, stop];
  });

/**
 * Which runs are killed where: in the evening, in a longer night once more, and when people have decided. Each time each
 * stop has a job.
 */
export function planKills(jobs: readonly NightJob[]): {
  readonly evening: Kills;
  readonly midnight: Kills;
  readonly morning: Kills;
} {
  const readers = from(jobs, "plain", "planted");
  const stamping = from(jobs, "stamps");
  const asking = from(jobs, "writes");
  const lost = from(jobs, "lost");
  const [R, S, A] = [READING.length, STAMPING.length, ASKING.length];
  const isTwice = readers.length > R;
  return {
    evening: new Map([
      ...eachAt(readers, READING),
      ...eachAt(stamping, STAMPING),
      ...eachAt(asking, ASKING),
      ...lost.map((job): [NightJob, Stop] => [job, at("after the row of a model call")]),
    ]),
    midnight: new Map([
      ...(isTwice ? eachAt(readers.slice(R), READING) : []),
      ...(isTwice ? eachAt(stamping.slice(S), STAMPING) : []),
      ...lost.map((job): [NightJob, Stop] => [job, at("after the effect")]),
    ]),
    morning: new Map(eachAt(asking.slice(A), RESUMING)),
  };
}
