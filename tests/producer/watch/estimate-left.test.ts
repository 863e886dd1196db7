import { describe, expect, test } from "@jest/globals";
import {
  createCountdown,
  createRateMeter,
  secondsLeft,
} from "../../../src/producer/watch/estimate-left.ts";
import type { WorkLeft, WorkSpent } from "../../../src/shared/store/jobs/waiting.ts";

/** A made-up night: jobs whose times follow from their kind and size, with chance in it, on several workers. */
type Night = {
  readonly name: string;
  readonly workers: number;
  readonly seed: number;
  readonly kinds: readonly Kind[];
  /** Whether a night of the same kinds was before, by how much slower its machine was; null for none. */
  readonly before: number | null;
};
type Kind = {
  readonly kind: string;
  readonly jobs: number;
  /** Smallest and largest file, bytes; most are small. */
  readonly bytes: readonly [number, number];
  readonly secondsPerJob: number;
  readonly secondsPerKilobyte: number;
};
type SimulatedJob = { readonly kind: string; readonly work: number; readonly seconds: number };
type Ended = SimulatedJob & { readonly at: number };

const EMBED: Kind = {
  kind: "embed",
  jobs: 400,
  bytes: [100, 2_000],
  secondsPerJob: 0.05,
  secondsPerKilobyte: 0,
};
const ASK: Kind = {
  kind: "ask",
  jobs: 150,
  bytes: [0, 0],
  secondsPerJob: 8,
  secondsPerKilobyte: 0,
};
const NOTES: Kind = {
  kind: "summarize",
  jobs: 300,
  bytes: [500, 60_000],
  secondsPerJob: 6,
  secondsPerKilobyte: 0.4,
};
const BOOKS: Kind = {
  kind: "extract",
  jobs: 60,
  bytes: [50_000, 2_000_000],
  secondsPerJob: 10,
  secondsPerKilobyte: 0.5,
};

const NIGHTS: readonly Night[] = [
  {
    name: "quick embeddings, then summaries",
    kinds: [EMBED, NOTES],
    workers: 1,
    seed: 1,
    before: null,
  },
  { name: "the same on four workers", kinds: [EMBED, NOTES], workers: 4, seed: 2, before: null },
  {
    name: "questions, and then long files",
    kinds: [ASK, BOOKS],
    workers: 2,
    seed: 3,
    before: null,
  },
  {
    name: "all kinds, known from a night before",
    kinds: [EMBED, ASK, NOTES, BOOKS],
    workers: 4,
    seed: 4,
    before: 1,
  },
  {
    name: "all kinds, after a night that was twice as slow",
    kinds: [EMBED, ASK, NOTES, BOOKS],
    workers: 2,
    seed: 5,
    before: 2,
  },
  { name: "large files alone", kinds: [BOOKS], workers: 4, seed: 6, before: null },
  {
    name: "files whose time goes by their size alone",
    kinds: [{ ...NOTES, secondsPerJob: 0.1, secondsPerKilobyte: 1 }],
    workers: 2,
    seed: 7,
    before: null,
  },
  {
    name: "files whose size tells nothing",
    kinds: [{ ...NOTES, secondsPerKilobyte: 0 }],
    workers: 2,
    seed: 8,
    before: null,
  },
];

/** Numbers from 0 to 1, the same at each call. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function jobsOf(
  { kind, jobs, bytes: [least, most], ...costs }: Kind,
  random: () => number,
): SimulatedJob[] {
  return Array.from({ length: jobs }, () => {
    const size = least * (most / Math.max(1, least)) ** (random() ** 2);
    const normal = Math.sqrt(-2 * Math.log(random() + 1e-9)) * Math.cos(2 * Math.PI * random());
    const seconds = costs.secondsPerJob + (costs.secondsPerKilobyte * size) / 1_000;
    return { kind, work: 1_200 + size, seconds: seconds * Math.exp(0.4 * normal) };
  });
}

/** When each job ended: nine of ten by size, one by age, as the dispatcher places them. */
function work(jobs: readonly SimulatedJob[], workers: number): Ended[] {
  const bySize = [...jobs].sort((one, other) => one.work - other.work);
  const byAge = [...jobs];
  const begun = new Set<SimulatedJob>();
  const next = (from: SimulatedJob[]): SimulatedJob | undefined => {
    while (from[0] !== undefined && begun.has(from[0])) from.shift();
    return from.shift();
  };
  const free = Array.from({ length: workers }, () => 0);
  const ended: Ended[] = [];
  for (let place = 0; place < jobs.length; place += 1) {
    const job = (place % 10 === 9 ? next(byAge) : next(bySize)) ?? next(bySize) ?? next(byAge);
    if (job === undefined) break;
    begun.add(job);
    const worker = free.indexOf(Math.min(...free));
    const at = (free[worker] ?? 0) + 0.03 + job.seconds;
    free[worker] = at;
    ended.push({ ...job, at });
  }
  return ended.sort((one, other) => one.at - other.at);
}

type Spent = { -readonly [Key in keyof WorkSpent]: WorkSpent[Key] };

/** What `selectWorkSpent` gives of these runs. */
function spentOf(ended: readonly Ended[], own: boolean): WorkSpent[] {
  const spent = new Map<string, Spent>();
  for (const [place, { kind, work, seconds, at }] of ended.slice(1).entries()) {
    const gap = Math.min(at - (ended[place]?.at ?? 0), seconds + 1);
    const row = spent.get(kind) ?? { ...NOTHING, kind, own };
    spent.set(kind, row);
    row.jobs += 1;
    row.work += work;
    row.per_work += 1 / work;
    row.seconds += gap;
    row.seconds_per_work += gap / work;
  }
  return [...spent.values()];
}
const NOTHING = { affinity: "", jobs: 0, work: 0, per_work: 0, seconds: 0, seconds_per_work: 0 };

function leftOf(jobs: readonly SimulatedJob[]): WorkLeft[] {
  return [...new Set(jobs.map(({ kind }) => kind))].map((kind) => {
    const rows = jobs.filter((job) => job.kind === kind);
    return {
      kind,
      affinity: "",
      jobs: rows.length,
      work: rows.reduce((sum, row) => sum + row.work, 0),
    };
  });
}

type Shown = {
  readonly at: number;
  readonly shown: number;
  readonly truly: number;
  readonly jobs: number;
};

/** What a terminal shows every two seconds of such a night. */
function watch({ kinds, workers, seed, before }: Night): readonly Shown[] {
  const random = chance(seed);
  const ended = work(
    kinds.flatMap((kind) => jobsOf(kind, random)),
    workers,
  );
  const earlier =
    before === null
      ? []
      : work(
          kinds.flatMap((kind) => jobsOf(kind, random)),
          workers,
        );
  const prior = spentOf(earlier, false).map((row) => ({
    ...row,
    seconds: row.seconds * (before ?? 1),
    seconds_per_work: row.seconds_per_work * (before ?? 1),
  }));
  const end = ended.at(-1)?.at ?? 0;
  let now = 0;
  const countdown = createCountdown(() => now * 1_000);
  const seen: Shown[] = [];
  let jobs = -1;
  let estimate: number | undefined;
  for (; now < end; now += 2) {
    const done = ended.findIndex(({ at }) => at > now);
    // Between two ends nothing is known anew.
    if (jobs !== ended.length - done) {
      jobs = ended.length - done;
      const spent = [...spentOf(ended.slice(0, done), true), ...prior];
      estimate = secondsLeft(leftOf(ended.slice(done)), spent);
    }
    const shown = countdown.show(estimate);
    if (shown !== undefined) seen.push({ at: now, shown, truly: end - now, jobs });
  }
  return seen;
}

/**
 * The bounds, written down before anything was measured. Of the last jobs, two a worker, nothing is promised: what is left of those that
 * run can't be known.
 */
const MOST_OFF = 3;
const MOST_JUMP = 2;

describe.each(NIGHTS)("the time left of a night of $name", (night) => {
  const seen = watch(night);
  const judged = seen.filter(({ jobs, truly }) => jobs > 2 * night.workers && truly > 30);

  test("is shown, and never off by more than a factor of 3", () => {
    expect(judged.length).toBeGreaterThan(50);
    const off = judged.map(({ shown, truly }) => Math.max(shown / truly, truly / shown));
    expect(Math.max(...off)).toBeLessThan(MOST_OFF);
  });

  test("does not jump by more than a factor of 2 from one print to the next", () => {
    const jumps = judged.slice(1).map(({ shown, at }, place) => {
      const before = judged[place];
      const expected = Math.max(1, (before?.shown ?? 0) - (at - (before?.at ?? 0)));
      return Math.max(shown / expected, expected / shown);
    });
    expect(Math.max(...jumps)).toBeLessThan(MOST_JUMP);
  });

  test("is shown at once where the kinds are known", () => {
    if (night.before !== null) expect(seen[0]?.at).toBe(0);
    else expect(seen[0]?.at).toBeGreaterThan(0);
  });
});

test("nothing is told while a kind that weighs has not begun", () => {
  const spent = spentOf(work(jobsOf(EMBED, chance(1)), 1), true);
  expect(secondsLeft(leftOf(jobsOf(EMBED, chance(2))), spent)).toBeGreaterThan(0);
  expect(
    secondsLeft(leftOf([EMBED, NOTES].flatMap((kind) => jobsOf(kind, chance(2)))), spent),
  ).toBeUndefined();
  expect(secondsLeft([], spent)).toBeUndefined();
});

test("a countdown runs down with the clock while nothing new is known, and begins anew after a hold", () => {
  let now = 0;
  const countdown = createCountdown(() => now);
  expect(countdown.show(600)).toBe(600);
  now = 10_000;
  expect(countdown.show(590)).toBeCloseTo(590);
  expect(countdown.show(undefined)).toBeUndefined();
  now = 7_200_000;
  expect(countdown.show(300)).toBe(300);
});

/** A made-up index or embed: so many units are counted at once, each portion after its time. */
type Series = {
  readonly name: string;
  readonly units: number;
  readonly portion: number;
  /** What a unit takes of itself; of most more or less by chance. */
  readonly secondsPerUnit: (place: number) => number;
  /** From which unit on it is judged: what nothing told of before can't be known. */
  readonly judgedFrom: number;
};

const SERIES: readonly Series[] = [
  {
    name: "notes that are indexed one by one",
    units: 3_000,
    portion: 1,
    secondsPerUnit: () => 0.05,
    judgedFrom: 0,
  },
  {
    name: "documents in portions",
    units: 20_000,
    portion: 64,
    secondsPerUnit: () => 0.01,
    judgedFrom: 0,
  },
  {
    name: "5,000 documents without a change, then 200 new ones",
    units: 5_200,
    portion: 1,
    secondsPerUnit: (place) => (place < 5_000 ? 0.0005 : 1),
    judgedFrom: 5_080,
  },
  {
    name: "chunks of a large model, 32 each eight seconds",
    units: 2_000,
    portion: 32,
    secondsPerUnit: () => 0.25,
    judgedFrom: 0,
  },
  {
    name: "chunks on a machine that somebody else begins to use",
    units: 60_000,
    portion: 16,
    secondsPerUnit: (place) => (place < 20_000 ? 0.005 : 0.015),
    judgedFrom: 26_000,
  },
];

function watchSeries({ units, portion, secondsPerUnit }: Series): readonly Shown[] {
  const random = chance(9);
  const portions: { readonly at: number; readonly done: number }[] = [];
  let at = 0;
  for (let done = 0; done < units;) {
    const next = Math.min(units, done + portion);
    for (; done < next; done += 1) at += secondsPerUnit(done) * (0.3 + 1.4 * random());
    portions.push({ at, done });
  }
  let now = 0;
  const meter = createRateMeter(() => now * 1_000);
  const seen: Shown[] = [];
  let done = 0;
  for (; now < at; now += 0.25) {
    while ((portions[0]?.at ?? Infinity) <= now) done = portions.shift()?.done ?? done;
    const shown = meter.read(done, units)?.secondsLeft;
    if (shown !== undefined) seen.push({ at: now, shown, truly: at - now, jobs: done });
  }
  return seen;
}

describe.each(SERIES)("the time left of $name", (series) => {
  const seen = watchSeries(series).filter(({ truly }) => truly > 10);

  test("is shown, and never off by more than a factor of 3 once it can be known", () => {
    const judged = seen.filter(({ jobs }) => jobs >= series.judgedFrom);
    expect(judged.length).toBeGreaterThan(50);
    const off = judged.map(({ shown, truly }) => Math.max(shown / truly, truly / shown));
    expect(Math.max(...off)).toBeLessThan(MOST_OFF);
  });

  test("does not jump by more than a factor of 2 within two seconds", () => {
    const jumps = seen.slice(8).map(({ shown, at }, place) => {
      const before = seen[place] ?? { shown, at };
      // Nothing below five seconds is shown; to stand still is no jump.
      const most = Math.max(5, before.shown);
      const least = Math.max(5, before.shown - (at - before.at));
      return Math.max(shown / most, least / Math.max(5, shown));
    });
    expect(Math.max(...jumps)).toBeLessThan(MOST_JUMP);
  });
});

test("a job that begins anew is told for anew", () => {
  let now = 0;
  const meter = createRateMeter(() => now);
  meter.read(0, 1_000);
  now = 10_000;
  expect(meter.read(500, 1_000)).toEqual({ perSecond: 50, secondsLeft: 10 });
  now = 11_000;
  expect(meter.read(0, 1_000)).toBeUndefined();
  now = 21_000;
  expect(meter.read(100, 1_000)).toEqual({ perSecond: 10, secondsLeft: 90 });
});
