// The operating characteristic of a judge's exam, by simulation: of judges that confirm a known share of the wrong statements,
// how many pass, are weak, fail and are useless, and after how many calls of five and five. Errors are independent, or
// cluster within a call (beta-binomial, intraclass correlation .1). Then how soon controls see a judge that went bad. Beside
// it stand the figures that the exam was planned with, of another bound (90 %, errors independent).
// node --import ./bench/register.js bench/exam.ts [--runs 10000] [--right 0.9] [--json]
import { parseArgs } from "node:util";
import type { ControlKind } from "../src/worker/verify/judge/controls.ts";
import { addControl, hasFailed } from "../tests/support/control-sums.ts";
import { decideExam, MOST_PAIRS } from "../src/worker/verify/judge/exam-sequence.ts";
import type { ExamVerdict } from "../src/worker/verify/judge/exam-sequence.ts";

const { values: flags } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    right: { type: "string", default: "0.9" },
    json: { type: "boolean", default: false },
  },
});
const RUNS = Number(flags.runs);
const RIGHT = Number(flags.right);

const CALL = 5;
const CLUSTERED = 0.1;

/** Share of wrong statements that are confirmed; mean calls, their 90th percentile and the share that passes as planned. */
const PLANNED: readonly (readonly [number, string, string])[] = [
  [0.01, "12 (12)", "100"],
  [0.03, "14 (20)", "100"],
  [0.05, "20 (38)", "91"],
  [0.07, "27 (40)", "59"],
  [0.1, "30 (40)", "14"],
  [0.15, "17 (40)", "1"],
  [0.2, "7 (15)", ""],
  [0.3, "4 (5)", ""],
  [1, "3", ""],
];

/** The same numbers in each run of the bench (xorshift32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(20_261_129);

/** Of a gamma distribution with a shape of a half or more, by G. Marsaglia and W. Tsang (2000); a smaller one is lifted. */
function gamma(shape: number): number {
  if (shape < 1) return gamma(shape + 1) * random() ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** The share of one call, where errors of a call are alike. */
function shareOfCall(share: number, correlation: number): number {
  if (correlation === 0 || share === 0 || share === 1) return share;
  const size = 1 / correlation - 1;
  const [one, other] = [gamma(share * size), gamma((1 - share) * size)];
  return one / (one + other);
}

function hitsOfCall(share: number, correlation: number): number {
  const own = shareOfCall(share, correlation);
  return Array.from({ length: CALL }, random).filter((one) => one < own).length;
}

type Sat = { readonly verdict: ExamVerdict; readonly calls: number };

function sitExam(ofWrong: number, ofRight: number, correlation: number): Sat {
  const wrong = { asked: 0, confirmed: 0 };
  const right = { asked: 0, confirmed: 0 };
  for (let calls = 1; ; calls += 1) {
    wrong.asked += CALL;
    wrong.confirmed += hitsOfCall(ofWrong, correlation);
    right.asked += CALL;
    right.confirmed += hitsOfCall(ofRight, correlation);
    const verdict = decideExam({ wrong, right }, wrong.asked >= MOST_PAIRS);
    if (verdict !== "open") return { verdict, calls };
  }
}

const VERDICTS: readonly ExamVerdict[] = ["passed", "weak", "failed", "useless"];

function characteristicOf(ofWrong: number, ofRight: number, correlation: number) {
  const sat = Array.from({ length: RUNS }, () => sitExam(ofWrong, ofRight, correlation));
  const calls = sat.map((one) => one.calls).sort((one, other) => one - other);
  return {
    confirmsWrong: ofWrong,
    confirmsRight: ofRight,
    correlation,
    meanCalls: calls.reduce((sum, one) => sum + one, 0) / RUNS,
    ninetieth: calls[Math.floor(RUNS * 0.9)] ?? 0,
    shares: VERDICTS.map((verdict) => sat.filter((one) => one.verdict === verdict).length / RUNS),
  };
}

type Characteristic = ReturnType<typeof characteristicOf>;

function rowOf({ confirmsWrong, confirmsRight, meanCalls, ninetieth, shares }: Characteristic) {
  const percent = (share: number): string => (100 * share).toFixed(1).padStart(7);
  return [
    `${percent(confirmsWrong)} ${percent(confirmsRight)}`,
    `${meanCalls.toFixed(1).padStart(7)} (${ninetieth})`.padEnd(14),
    ...shares.map(percent),
  ].join(" ");
}

const HEAD = `  wrong   right   calls (p90)    ${VERDICTS.map((one) => one.padStart(7)).join(" ")}`;

/** How many controls until a judge is seen: the mean, the median and the share that is seen within 10. */
function seenAfter(kind: ControlKind, errs: number, runs: number) {
  const seen = Array.from({ length: runs }, () => {
    let sum = 0;
    for (let controls = 1; ; controls += 1) {
      const isError = random() < errs;
      sum = addControl(sum, isError === (kind === "wrong"), kind);
      if (hasFailed(sum)) return controls;
    }
  }).sort((one, other) => one - other);
  return {
    kind,
    errs,
    mean: seen.reduce((sum, one) => sum + one, 0) / runs,
    median: seen[Math.floor(runs / 2)] ?? 0,
    inTen: seen.filter((one) => one <= 10).length / runs,
  };
}

const exams = [0, CLUSTERED].map((correlation) =>
  PLANNED.map(([ofWrong]) => characteristicOf(ofWrong, RIGHT, correlation)),
);
const sleepers = [0.3, 0.5, 0.55, 0.65, 0.75, 0.85].map((right) =>
  characteristicOf(0.03, right, CLUSTERED),
);
const controls = [
  ...[0.05, 0.1, 0.2, 0.3, 0.5, 1].map((errs) => seenAfter("wrong", errs, RUNS / 10)),
  ...[0.15, 0.25, 0.4, 0.6, 1].map((errs) => seenAfter("right", errs, RUNS / 10)),
];

if (flags.json) console.log(JSON.stringify({ exams, sleepers, controls }));
else {
  exams.forEach((rows, at) => {
    console.log(
      `\n${at === 0 ? "errors independent" : `errors alike in a call (${CLUSTERED})`}, %`,
    );
    console.log(`${HEAD}   planned: passed, calls`);
    rows.forEach((row, nth) => {
      const [, calls = "", passed = ""] = PLANNED[nth] ?? [];
      console.log(`${rowOf(row)}   ${passed.padStart(4)}   ${calls}`);
    });
  });
  console.log(`\nconfirms few of the right ones (errors alike in a call), %\n${HEAD}`);
  for (const row of sleepers) console.log(rowOf(row));
  console.log("\ncontrols    errs, %   mean   median   in ten, %");
  for (const { kind, errs, mean, median, inTen } of controls) {
    const columns = [(100 * errs).toFixed(0).padStart(9), mean.toFixed(1).padStart(9)];
    console.log(
      `${kind.padEnd(8)} ${columns.join("")} ${String(median).padStart(6)} ${(100 * inTen).toFixed(1).padStart(9)}`,
    );
  }
}
