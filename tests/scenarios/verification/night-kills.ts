import type { Database } from "../../../src/shared/store/connection/database.ts";
import type { Stop, Stops } from "../../support/killed-worker/boundaries.ts";
import { rowsOf } from "../night/accounts.ts";

/** What a job did in a night in which nobody was killed. */
type Course = {
  readonly custom_id: string;
  readonly kind: string;
  /** Passes of which it asked its model. */
  readonly passes: readonly string[];
  /** Place of a check that was a job, among those of its first answer; null without one. */
  readonly check: number | null;
};

/** A place between two stages of a job, at which its worker is killed. */
export type Stage = {
  readonly name: string;
  readonly stop: Stop;
  readonly isCheck: boolean;
  /** Whether the model has replied and nobody knows it any more: it is asked again. */
  readonly losesReply: boolean;
  readonly comesBy: (course: Course) => boolean;
};

export type Kill = { readonly customId: string; readonly check: number; readonly stage: Stage };

const isChecked = ({ check }: Course): boolean => check !== null;
const isRevised = ({ check, passes }: Course): boolean =>
  check !== null && passes.includes("judge") && passes.includes("retry");

const stage = (
  name: string,
  boundary: Stop["boundary"],
  {
    modelPass,
    isCheck = false,
    comesBy = isChecked,
  }: { readonly modelPass?: string } & Partial<Pick<Stage, "isCheck" | "comesBy">> = {},
): Stage => ({
  ...{ name, isCheck, comesBy },
  stop: { boundary, passing: 1, modelPass },
  losesReply: boundary === "before the reply is kept",
});

const EVENING: readonly Stage[] = [
  stage("the questions are asked", "after the reply is kept", {
    modelPass: "decompose",
    comesBy: (course) => isChecked(course) && course.passes.includes("decompose"),
  }),
  stage("the draft is not settled", "while it parks"),
];
const MIDNIGHT: readonly Stage[] = [
  stage("the draft is settled, its check begins", "as it begins", { isCheck: true }),
  stage("a verdict is not kept", "before the reply is kept", {
    modelPass: "verdict",
    isCheck: true,
  }),
  stage("a verdict is kept", "after the reply is kept", { modelPass: "verdict", isCheck: true }),
  stage("the result of a check is not written", "at settlement", { isCheck: true }),
  stage("the checks have ended", "as it goes on after its checks"),
  stage("what the judge says is not kept", "before the reply is kept", {
    modelPass: "judge",
    comesBy: (course) => isChecked(course) && course.passes.includes("judge"),
  }),
  stage("what the judge says is kept, and the answer is to be revised", "after the reply is kept", {
    modelPass: "judge",
    comesBy: isRevised,
  }),
  stage("the result is not written", "at settlement"),
];

/** Which jobs lose their worker at which stage: at each stage those of different kinds first, and each job once. */
export async function planKills(
  quiet: Database,
  batchId: string,
  each: number,
): Promise<{ readonly evening: readonly Kill[]; readonly midnight: readonly Kill[] }> {
  const courses = await coursesOf(quiet, batchId);
  const taken = new Set<Course>();
  const plan = (at: Stage): readonly Kill[] => {
    const able = courses.filter((course) => !taken.has(course) && at.comesBy(course));
    const chosen = inTurns(able).slice(0, each);
    for (const course of chosen) taken.add(course);
    return chosen.map(({ custom_id, check }) => {
      return { customId: custom_id, check: check ?? 0, stage: at };
    });
  };
  // Few answers are revised: the jobs of this stage are chosen first.
  const scarce = new Map(
    [...MIDNIGHT, ...EVENING]
      .sort((a, b) => Number(b.comesBy === isRevised) - Number(a.comesBy === isRevised))
      .map((at) => [at, plan(at)]),
  );
  const of = (stages: readonly Stage[]) => stages.flatMap((at) => scarce.get(at) ?? []);
  return { evening: of(EVENING), midnight: of(MIDNIGHT) };
}

export const STAGES: readonly Stage[] = [...EVENING, ...MIDNIGHT];

/** One of each kind, then a second one of each. */
function inTurns(courses: readonly Course[]): readonly Course[] {
  const turnOf = (course: Course): number =>
    courses.filter(({ kind }) => kind === course.kind).indexOf(course);
  return [...courses].sort((a, b) => turnOf(a) - turnOf(b));
}

const coursesOf = (db: Database, batchId: string): Promise<readonly Course[]> =>
  rowsOf<Course>(
    db,
    `select j.custom_id, j.kind,
            (select coalesce(array_agg(distinct m.pass), '{}') from nightdesk_data.model_calls m
              where m.job_id = j.job_id) as passes,
            (select min(c.ordinal)::int from nightdesk_data.checks c
              where c.job_id = j.job_id and c.round = 0 and c.check_job_id is not null) as check
       from nightdesk_data.jobs j where j.batch_id = $1 order by j.seq`,
    [batchId],
  );

/** @param idOf the id of a job in the night in which it is killed */
export const stopsOf = (kills: readonly Kill[], idOf: (customId: string) => string): Stops =>
  Object.fromEntries(
    kills.map(({ customId, check, stage: { isCheck, stop } }) => [
      isCheck ? `${idOf(customId)}.0.${check}` : idOf(customId),
      stop,
    ]),
  );
