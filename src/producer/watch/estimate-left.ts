import { WORK_WITHOUT_BYTES } from "../../shared/store/jobs/waiting.ts";
import type { WorkLeft, WorkSpent } from "../../shared/store/jobs/waiting.ts";

/** Ended jobs of a kind and model that an estimate for it needs. */
const LEAST_RUNS = 5;
/** The most weight of runs of other batches, in runs: they may be of another night, on a busier machine. */
const MOST_EARLIER_RUNS = 10;
/** The largest share of jobs, and of work, of unknown kinds that an estimate may have. */
const MOST_UNKNOWN = 0.05;

/**
 * Estimates the seconds left of a batch; undefined while too few jobs have ended. Each kind and model
 * has its own costs, because a batch runs them one after another: the rate of quick embeddings says nothing about
 * summaries.
 */
export function secondsLeft(
  left: readonly WorkLeft[],
  spent: readonly WorkSpent[],
): number | undefined {
  const total = { jobs: sumOf(left, "jobs"), work: sumOf(left, "work") };
  const isKnown = (of: WorkLeft) => isInformative(sumRuns(spent, of), of.work / of.jobs);
  const unknown = left.filter((of) => !isKnown(of));
  const isEstimable =
    sumOf(unknown, "jobs") <= MOST_UNKNOWN * total.jobs &&
    sumOf(unknown, "work") <= MOST_UNKNOWN * total.work;
  if (total.jobs === 0 || !isEstimable) return undefined;
  return left.reduce((seconds, of) => {
    const sums = sumRuns(spent, isKnown(of) ? of : undefined);
    const { perJob, perWork } = costsOf(withGuess(sums, of.work / of.jobs));
    return seconds + of.jobs * perJob + of.work * perWork;
  }, 0);
}

type Group = { readonly kind: string; readonly affinity: string };
type Sums = Omit<WorkSpent, "kind" | "affinity" | "own">;

/** The sums of the runs of a group, or of all; runs of other batches weigh at most MOST_EARLIER_RUNS. */
function sumRuns(spent: readonly WorkSpent[], of: Group | undefined): Sums {
  const rows = spent.filter(
    ({ kind, affinity }) => of === undefined || (kind === of.kind && affinity === of.affinity),
  );
  const earlier = sumOf(
    rows.filter(({ own }) => !own),
    "jobs",
  );
  const weight = Math.min(1, MOST_EARLIER_RUNS / Math.max(1, earlier));
  const weightedSum = (key: keyof Sums) =>
    rows.reduce((sum, row) => sum + row[key] * (row.own ? 1 : weight), 0);
  return {
    jobs: weightedSum("jobs"),
    work: weightedSum("work"),
    per_work: weightedSum("per_work"),
    seconds: weightedSum("seconds"),
    seconds_per_work: weightedSum("seconds_per_work"),
  };
}

/** A guess of a job's fixed cost, in units of work, until runs of different sizes show it. */
const FIXED_WORK = 5_000;
/** The weight of that guess, in runs. */
const GUESSED_RUNS = 3;

/** How many times larger than that guess an estimate purely by bytes may be. */
const MOST_WRONG = 3;

/** Whether enough jobs have ended, of sizes near enough to those that are left. */
function isInformative({ jobs, work }: Sums, workOfOne: number): boolean {
  if (jobs < LEAST_RUNS) return false;
  const mean = work / jobs;
  const guess = (FIXED_WORK + workOfOne) / (FIXED_WORK + mean);
  const byBytes = (workOfOne - WORK_WITHOUT_BYTES) / (mean - WORK_WITHOUT_BYTES);
  return !(byBytes > MOST_WRONG * guess);
}

/**
 * Adds a guess for jobs of the size that is left. Small files come first, and a line through them alone would give a random
 * time for the large ones.
 */
function withGuess(sums: Sums, workOfOne: number): Sums {
  const { jobs, work, seconds } = sums;
  const guess = ((seconds / jobs) * (FIXED_WORK + workOfOne)) / (FIXED_WORK + work / jobs);
  return {
    jobs: jobs + GUESSED_RUNS,
    work: work + GUESSED_RUNS * workOfOne,
    per_work: sums.per_work + GUESSED_RUNS / workOfOne,
    seconds: seconds + GUESSED_RUNS * guess,
    seconds_per_work: sums.seconds_per_work + (GUESSED_RUNS * guess) / workOfOne,
  };
}

type Costs = { readonly perJob: number; readonly perWork: number };

/**
 * A line through the runs by least squares, each weighted by 1/work, because large files would otherwise dominate. Its sum
 * over the runs equals their time. No cost is below zero.
 */
function costsOf({ jobs, work, per_work, seconds, seconds_per_work }: Sums): Costs {
  const determinant = per_work * work - jobs * jobs;
  const proportional = { perJob: 0, perWork: seconds / work };
  // Runs of one size define no line.
  if (determinant <= 1e-6 * jobs * jobs) return proportional;
  const perJob = (seconds_per_work * work - jobs * seconds) / determinant;
  const perWork = (per_work * seconds - jobs * seconds_per_work) / determinant;
  if (perJob < 0) return proportional;
  return perWork < 0 ? { perJob: seconds / jobs, perWork: 0 } : { perJob, perWork };
}

const sumOf = <K extends string>(rows: readonly Readonly<Record<K, number>>[], key: K): number =>
  rows.reduce((sum, row) => sum + row[key], 0);

export type Countdown = {
  /** The seconds to show for an estimate; undefined, which also resets the countdown, if there is no estimate. */
  show(seconds: number | undefined): number | undefined;
};

/** Half of a difference is corrected in so many seconds. */
const HALF_SECONDS = 10;
/** Between two calls a shown estimate changes at most by this factor. */
const MOST_JUMP = 1.5;

/** Shows an estimate that counts down and follows new estimates smoothly. @param now monotonic clock, milliseconds */
export function createCountdown(now: () => number): Countdown {
  let last: { readonly seconds: number; readonly at: number } | undefined;
  return {
    show(seconds) {
      if (seconds === undefined) last = undefined;
      else if (last === undefined) last = { seconds, at: now() };
      else {
        const passed = (now() - last.at) / 1_000;
        // An estimate that was too short does not count down: near its end the clock would outrun the correction.
        const expected =
          seconds > last.seconds ? Math.max(1, last.seconds) : Math.max(1, last.seconds - passed);
        const rest = 2 ** (-passed / HALF_SECONDS);
        const factor = (Math.max(1, seconds) / expected) ** (1 - rest);
        const bounded = Math.min(MOST_JUMP, Math.max(1 / MOST_JUMP, factor));
        last = { seconds: expected * bounded, at: now() };
      }
      return last?.seconds;
    },
  };
}

/** Rounded to the precision of the estimate: `about 40 s left`, `about 7 min left`, `about 2 h 10 min left`. */
export function formatLeft(seconds: number): string {
  if (seconds < 55) return `about ${Math.max(5, Math.round(seconds / 5) * 5)} s left`;
  if (seconds < 3_570) return `about ${Math.round(seconds / 60)} min left`;
  const tens = Math.round(seconds / 600);
  return `about ${Math.floor(tens / 6)} h ${(tens % 6) * 10} min left`;
}

/** The current rate, 0 without progress. `secondsLeft` is undefined while unknown. */
type Rate = { readonly perSecond: number; readonly secondsLeft: number | undefined };

export type RateMeter = {
  /** @returns undefined until enough was observed @param total undefined if unknown yet */
  read(done: number, total: number | undefined): Rate | undefined;
};

/** Older steps weigh like those of other batches: they may have been faster, like unchanged documents. */
const RECENT_MS = 30_000;
/** The shortest observation that an estimate needs. */
const LEAST_SEEN_MS = 2_000;

type Step = { readonly units: number; readonly seconds: number; readonly at: number };

/**
 * Measures the rate and the time left of documents or chunks, which all count the same. @param now monotonic clock,
 * milliseconds
 */
export function createRateMeter(now: () => number): RateMeter {
  const countdown = createCountdown(now);
  let last: { readonly done: number; readonly at: number } | undefined;
  let recent: Step[] = [];
  let earlier = { units: 0, seconds: 0 };
  return {
    read(done, total) {
      const at = now();
      // A restarted job counts from 0.
      if (last === undefined || done < last.done) {
        [last, recent, earlier] = [{ done, at }, [], { units: 0, seconds: 0 }];
        countdown.show(undefined);
        return undefined;
      }
      recent.push({ units: done - last.done, seconds: (at - last.at) / 1_000, at });
      last = { done, at };
      const past = recent.filter((step) => at - step.at >= RECENT_MS);
      earlier = {
        units: earlier.units + sumOf(past, "units"),
        seconds: earlier.seconds + sumOf(past, "seconds"),
      };
      recent = recent.slice(past.length);
      const seen = { units: sumOf(recent, "units"), seconds: sumOf(recent, "seconds") };
      if (seen.seconds + earlier.seconds < LEAST_SEEN_MS / 1_000) return undefined;
      if (seen.units + earlier.units === 0) return undefined;
      const left = total === undefined ? 0 : total - done;
      const seconds = secondsLeft(
        [{ ...UNITS, jobs: left, work: left }],
        [spentOn(seen, true), spentOn(earlier, false)],
      );
      return { perSecond: seen.units / seen.seconds, secondsLeft: countdown.show(seconds) };
    },
  };
}

const UNITS: Group = { kind: "unit", affinity: "" };

/** Units with work 1 each, so that only their number matters. */
const spentOn = (
  { units, seconds }: { readonly units: number; readonly seconds: number },
  own: boolean,
): WorkSpent => ({
  ...UNITS,
  own,
  jobs: units,
  work: units,
  per_work: units,
  seconds,
  seconds_per_work: seconds,
});
