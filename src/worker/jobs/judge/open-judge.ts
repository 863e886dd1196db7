import { createHash, hash } from "node:crypto";
import type { Config } from "../../../shared/config/schema.ts";
import { Failure } from "../../../shared/failure.ts";
import { routeModels } from "../../../shared/job/route-models.ts";
import { hasWeights } from "../../../shared/config/providers.ts";
import type { Database } from "../../../shared/store/connection/database.ts";
import {
  mayAwaitExam,
  recordControl,
  requestExam,
  selectExam,
} from "../../../shared/store/hosts/exams.ts";
import type { ExamKey } from "../../../shared/store/hosts/exams.ts";
import { modelOf } from "../../answer/call-model.ts";
import type {
  AskedStatement,
  AskJudge,
  Auditor,
  CompareClaims,
  JudgeVerdict,
  PipelineDependencies,
} from "../../evidence/types.ts";
import { CONTROL_LIMIT, controlStep } from "../../verify/judge/controls.ts";
import { drawNames, EXAM_VERSION, readExamPairs, shuffled } from "../../verify/judge/exam-pairs.ts";
import type { ExamPair } from "../../verify/judge/exam-pairs.ts";
import { nearestOf } from "../../verify/judge/judged-lines.ts";
import { agreedVerdict } from "../../verify/judge/verdicts.ts";
import type { Verdict } from "../../verify/judge/verdicts.ts";
import { comparingExaminee, examineeOf } from "./examinee.ts";
import type { Examinee } from "./examinee.ts";
import { MOST_STATEMENTS } from "./judge-call.ts";

export type JudgeSettings = {
  readonly config: Pick<Config, "verify" | "model">;
  readonly database: Database;
  readonly jobId: string;
  /** Whether an earlier run of the job may have asked about the same statements. */
  readonly isRepeated?: boolean;
  readonly deps: Pick<PipelineDependencies, "models" | "fenceKey"> & {
    readonly compareClaims: CompareClaims | undefined;
  };
};

/** Leaves two places in each call, for a wrong and a right control statement. */
const MOST_BESIDE_CONTROLS = MOST_STATEMENTS - 2;

/** The judges of the configuration. A judge is asked after it has passed its exam; a missing exam is requested first. */
export function openJudge(settings: JudgeSettings): AskJudge {
  const { database, deps, isRepeated = false } = settings;
  return async (statements, answerer, parts) => {
    const judges: (JudgeRun | null)[] = [];
    for (const examinee of await judgesOf(settings, answerer, parts.signal)) {
      const passed = examinee === null ? null : await passedExam(settings, examinee);
      judges.push(passed && { ...passed, database, deps, isRepeated, parts });
    }
    const given: (readonly JudgeVerdict[] | null)[] = [];
    for (const judge of judges) given.push(judge && (await askAll(statements, judge)));
    return statements.map((_, at) => agreedVerdict(given.map((one) => one?.[at] ?? null)));
  };
}

/** Null if the judge has not passed its exam. @throws Failure EXAM_PENDING */
async function passedExam(
  settings: JudgeSettings,
  examinee: Examinee,
): Promise<Pick<JudgeRun, "examinee" | "key"> | null> {
  const key = keyOf(examinee);
  const exam = await selectExam(settings.database, key);
  if (exam === undefined) await awaitExam(settings, examinee);
  return exam?.state === "passed" ? { key, examinee: withLimit(examinee, exam.yesFrom) } : null;
}

/** Sets the score from which on a judge with scores says yes, as its exam found it. */
export const withLimit = (examinee: Examinee, yesFrom: number | null): Examinee =>
  (yesFrom === null ? undefined : examinee.from?.(yesFrom)) ?? examinee;

async function askAll(
  statements: readonly AskedStatement[],
  asking: JudgeRun,
): Promise<readonly JudgeVerdict[]> {
  const verdicts: JudgeVerdict[] = [];
  for (let at = 0; at < statements.length; at += MOST_BESIDE_CONTROLS) {
    const some = statements.slice(at, at + MOST_BESIDE_CONTROLS);
    verdicts.push(...(await askWithControls(some, asking)));
  }
  return verdicts;
}

/** The key of an exam: results of another prompt or another exam do not count. */
export const keyOf = ({ identity, form, prompt }: Examinee): ExamKey => ({
  identity,
  form,
  prompt,
  exam: EXAM_VERSION,
});

/** Null for a judge that reads no prompts. */
export function examineeFor(
  { config, deps }: Pick<JudgeSettings, "config" | "deps">,
  auditor: Auditor | null,
): Examinee | null {
  const { judge, entailment } = config.verify;
  if (judge.form === "nli") {
    const { compareClaims } = deps;
    if (compareClaims === undefined) return null;
    const { model_id: name, dtype, digest } = entailment;
    const identity = digest ?? hash("sha256", `${name} ${dtype}`);
    return comparingExaminee({ name, identity }, compareClaims);
  }
  if (auditor === null) return null;
  const { form, supported_means: supportedMeans } = judge;
  return examineeOf(auditor, { form, supportedMeans, fenceKey: deps.fenceKey });
}

/** The configured judges, by default the model that wrote the answer; null for one without prompts, and for a repeated one. */
async function judgesOf(
  settings: JudgeSettings,
  answerer: Auditor,
  signal: AbortSignal,
): Promise<readonly (Examinee | null)[]> {
  const { form, model } = settings.config.verify.judge;
  const judges: (Examinee | null)[] = [];
  const known = new Set<string>();
  for (const name of form === "nli" ? ["same"] : [model].flat()) {
    const auditor = name === "same" ? answerer : await auditorOf(name, settings, signal);
    const examinee = examineeFor(settings, auditor);
    judges.push(examinee === null || known.has(examinee.identity) ? null : examinee);
    if (examinee !== null) known.add(examinee.identity);
  }
  return judges;
}

/** The model to examine: the named one, else the configured judge. Null if the form is nli, or no language model is set. */
export async function auditorOf(
  name: string | undefined,
  { config: { model: settings, verify }, deps }: Pick<JudgeSettings, "config" | "deps">,
  signal: AbortSignal,
): Promise<Auditor | null> {
  const { form, model } = verify.judge;
  if (form === "nli") return null;
  const named = name ?? [model].flat().find((one) => one !== "same" && one !== "off");
  if (named === undefined && !hasWeights(settings.provider)) return null;
  const choice = routeModels("", settings, { model: named }).second;
  return { model: await modelOf(choice, deps.models, signal), choice };
}

/**
 * Requests the exam, which is a job of its own: the first job that meets a new model requests it. Meanwhile the answer that
 * needs the exam is parked and takes no slot; its next run reaches the same statements by the stored replies.
 * @throws Failure EXAM_PENDING
 */
async function awaitExam(
  { database, jobId, config: { verify } }: JudgeSettings,
  { name }: Examinee,
): Promise<void> {
  await requestExam(database, jobId, name);
  const seconds = verify.judge.exam_wait_s;
  if (await mayAwaitExam(database, { jobId, model: name, seconds })) {
    throw new Failure(
      "EXAM_PENDING",
      `${name} is to judge its statements, and sits its exam first: ${seconds} s at most are waited for that (verify.judge.exam_wait_s).`,
    );
  }
}

type JudgeRun = {
  readonly examinee: Examinee;
  readonly key: ExamKey;
  readonly database: Database;
  readonly deps: Pick<PipelineDependencies, "fenceKey">;
  readonly isRepeated: boolean;
  readonly parts: Parameters<AskJudge>[2];
};

/**
 * Adds control statements of the exam to each call: a wrong one always, a right one to every third. If the judge says yes to the
 * wrong one, the call does not count. It is repeated once, with only the nearest lines; after that the statements stay unclear.
 */
async function askWithControls(
  statements: readonly AskedStatement[],
  asking: JudgeRun,
): Promise<readonly JudgeVerdict[]> {
  const { examinee } = asking;
  const first = await askOnce(statements, 0, asking);
  if (first !== "void") return first;
  const nearer = statements.map(({ text, lines }) => ({
    text,
    lines: nearestOf(text, lines, FEW_LINES),
  }));
  const second = await askOnce(nearer, 1, asking);
  if (second !== "void") return second;
  const detail = `${examinee.name}: it calls a wrong control statement right, twice`;
  return statements.map(() => ({ says: "unclear", detail }));
}

const FEW_LINES = 4;

async function askOnce(
  statements: readonly AskedStatement[],
  attempt: number,
  { examinee, key, database, deps, isRepeated, parts }: JudgeRun,
): Promise<readonly JudgeVerdict[] | "void"> {
  const { name } = examinee;
  const seed = createHash("sha256")
    .update(deps.fenceKey)
    .update(JSON.stringify([attempt, statements.map(({ text }) => text)]))
    .digest();
  const controls = controlsFor(seed, deps.fenceKey);
  const asked = [...statements, ...controls.map(statementOf)];
  const order = shuffled([...asked.keys()], seed.toString("hex"), String);
  const watched = watchCalls(parts, isRepeated);
  const given = await examinee.ask(
    order.flatMap((at) => asked[at] ?? []),
    watched.parts,
  );
  if ("kind" in given) {
    return statements.map(() => ({
      says: "unclear",
      detail: `${name}: it could not be asked: ${given.code}`,
    }));
  }
  const verdictAt = (at: number): Verdict | undefined => given[order.indexOf(at)];
  const said = controls.map((control, at) => ({
    control,
    isYes: verdictAt(statements.length + at)?.says === "yes",
  }));
  for (const { control, isYes } of watched.isTakenOver() ? [] : said) {
    const of = control.isWrong ? "nodding" : "sleeping";
    const step = controlStep(isYes, control.isWrong ? "wrong" : "right");
    const regraded = await recordControl(database, key, { of, step, limit: CONTROL_LIMIT });
    if (regraded !== null) parts.trace.detail("check", { judge_dismissed: name, regraded });
  }
  if (said.some(({ control, isYes }) => control.isWrong && isYes)) return "void";
  return statements.map((statement, at) => toJudgeVerdict(name, statement, verdictAt(at)));
}

/**
 * Detects whether all verdicts are those of earlier calls: their controls were counted at that time. A judge that makes no
 * calls gives the same scores in each run.
 */
function watchCalls(
  parts: JudgeRun["parts"],
  isRepeated: boolean,
): {
  readonly parts: JudgeRun["parts"];
  readonly isTakenOver: () => boolean;
} {
  const { calls } = parts;
  const counts = { recalled: 0, asked: 0 };
  const watched: JudgeRun["parts"]["calls"] = {
    ...calls,
    async recall(...request) {
      const earlier = await calls.recall(...request);
      if (earlier === undefined) counts.asked += 1;
      else counts.recalled += 1;
      return earlier;
    },
  };
  return {
    parts: { ...parts, calls: watched },
    isTakenOver: () => counts.asked === 0 && (counts.recalled > 0 || isRepeated),
  };
}

/** Draws controls by the words of the statements: equal statements get equal controls, so a repeated run sends the same call. */
function controlsFor(seed: Buffer, fenceKey: Buffer): readonly ExamPair[] {
  const pairs = readExamPairs();
  const pick = (isWrong: boolean, at: number): readonly ExamPair[] => {
    const some = pairs.filter((pair) => pair.isWrong === isWrong);
    const pair = some[seed.readUInt32BE(at) % Math.max(1, some.length)];
    return pair === undefined ? [] : [drawNames(pair, fenceKey.toString("hex"))];
  };
  return [...pick(true, 0), ...(seed.readUInt8(8) % 3 === 0 ? pick(false, 4) : [])];
}

/** A pair of the exam as a statement with its lines. */
export const statementOf = ({ id, heading, lines, statement }: ExamPair): AskedStatement => ({
  text: statement,
  lines: lines.map((text) => ({
    source: [`notes/${hash("sha256", id).slice(0, 6)}.md`, heading ?? ""]
      .filter((name) => name !== "")
      .join(" > "),
    text,
  })),
});

/** "qwen3:8b: its lines do not say it (date); 4 lines were shown" */
function toJudgeVerdict(
  name: string,
  { lines }: AskedStatement,
  verdict: Verdict | undefined,
): JudgeVerdict {
  const { says = "unclear", differs = null } = verdict ?? {};
  const words = {
    yes: "its lines say it",
    no: "its lines do not say it",
    unclear: "nobody can tell",
  };
  const why = differs === null || differs === "nothing" ? "" : ` (${differs.replaceAll("_", " ")})`;
  return {
    says,
    detail: `${name}: ${words[says]}${why}; ${String(lines.length)} lines were shown`,
  };
}
