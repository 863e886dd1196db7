import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { parseJobInput } from "../../../shared/job/job.ts";
import type { ExamineInput } from "../../../shared/job/job.ts";
import type { Outcome } from "../../../shared/job/run-result.ts";
import { updateOwnCounts, upsertExam } from "../../../shared/store/hosts/exams.ts";
import type { ExamPart, OwnCounts } from "../../../shared/store/hosts/exams.ts";
import { selectSamples } from "../../../shared/store/index/samples.ts";
import { selectDecidedStatements } from "../../../shared/store/jobs/draft-reviews.ts";
import { selectDecidedValues } from "../../../shared/store/jobs/field-reviews.ts";
import type { DecidedValue } from "../../../shared/store/jobs/field-reviews.ts";
import { modelUse } from "../../answer/call-model.ts";
import type { CallParts } from "../../answer/call-model.ts";
import {
  decideExam,
  examSentence,
  ownSentences,
  yesLimit,
} from "../../verify/judge/exam-sequence.ts";
import type { ExamCounts } from "../../verify/judge/exam-sequence.ts";
import { examCalls, shuffled } from "../../verify/judge/exam-pairs.ts";
import type { ExamPair } from "../../verify/judge/exam-pairs.ts";
import { fieldValues } from "../../verify/bindings/quoted-fields.ts";
import { OWN_PAIRS } from "../../verify/judge/own-pairs.ts";
import type { DecidedField, OwnPair } from "../../verify/judge/own-pairs.ts";
import { extractionOf } from "../extraction.ts";
import { MOST_STATEMENTS } from "./judge-call.ts";
import { auditorOf, examineeFor, keyOf, statementOf, withLimit } from "./open-judge.ts";
import type { JudgeSettings } from "./open-judge.ts";
import type { Examinee } from "./examinee.ts";
import { groupBy } from "../../../shared/group-by.ts";

type Examination = JudgeSettings & { readonly input: ExamineInput; readonly parts: CallParts };

/**
 * Asks a model about labelled statements, call by call, until it is clear whether its "yes" is reliable, and records the
 * result. A model that fails has been examined all the same: the job succeeds and reports the failure.
 *
 * Refusals: MODEL_UNSUPPORTED for a model that reads no prompts, and those of its host.
 */
export async function examineModel(examination: Examination): Promise<Outcome> {
  const { input, parts } = examination;
  const auditor = await auditorOf(input.model, examination, parts.signal);
  const examinee = examineeFor(examination, auditor);
  if (examinee === null) {
    return refuse(
      "MODEL_UNSUPPORTED",
      "No model is configured that could judge statements: set model.provider and model.name, or verify.judge.model.",
    );
  }
  if (auditor !== null) {
    parts.trace.models([modelUse("second", auditor.model, auditor.choice)]);
  }
  const sat = await runExam(examinee, examination);
  if ("kind" in sat) return sat;
  const { counts, state, asked, yesFrom } = sat;
  const turned = state === "passed" ? await askReversed(examinee, asked, parts) : NOT_REVERSED;
  if ("kind" in turned) return turned;
  const calls = sat.calls + turned.calls;
  await upsertExam(examination.database, keyOf(examinee), {
    ...{ model: examinee.name, isKnown: examinee.isKnown, state, calls, jobId: examination.jobId },
    ...{ wrongAsked: counts.wrong.asked, wrongConfirmed: counts.wrong.confirmed },
    ...{ rightAsked: counts.right.asked, rightConfirmed: counts.right.confirmed },
    yesFrom,
    parts: countByKind(asked),
  });
  const own = await askOwn(withLimit(examinee, yesFrom), examination);
  if (own !== null && "kind" in own) return own;
  if (own !== null) await updateOwnCounts(examination.database, keyOf(examinee), own);
  const { flips, of } = turned;
  const sentences = [
    `${examSentence(examinee.name, counts)}. ${MEANS[state]}`,
    ...(yesFrom === null ? [] : [`It says yes from a score of ${yesFrom} on.`]),
    ...(of === 0 ? [] : [`In the reverse order it said otherwise of ${flips} of ${of}.`]),
    ...(own === null ? [] : reportOwn(own)),
  ];
  const order = of === 0 ? {} : { order: { flips, of } };
  return {
    ...{ kind: "succeeded", answer: sentences.join(" "), scope: null, citations: [] },
    summary: {
      ...{ model: examinee.name, form: examinee.form, state, calls, ...counts, ...order },
      ...(yesFrom === null ? {} : { yes_from: yesFrom }),
      ...(own === null ? {} : { own }),
    },
  };
}

const REVERSED_CALLS = 2;
const NOT_REVERSED = { flips: 0, of: 0, calls: 0 };

/** Repeats two of the calls in reverse order: a verdict that depends on the position of a statement changes then. */
async function askReversed(
  examinee: Examinee,
  asked: readonly ExamAnswer[],
  parts: CallParts,
): Promise<typeof NOT_REVERSED | Refusal> {
  // In the other forms each call holds one statement.
  if (examinee.form !== "list") return NOT_REVERSED;
  let [flips, of] = [0, 0];
  for (let call = 0; call < REVERSED_CALLS; call += 1) {
    const some = asked.slice(call * MOST_STATEMENTS, (call + 1) * MOST_STATEMENTS).reverse();
    const statements = some.map(({ pair }) => statementOf(pair));
    const given = await parts.trace.step("examine", () => examinee.ask(statements, parts));
    if ("kind" in given) return given;
    of += some.length;
    flips += some.filter(
      ({ isConfirmed }, at) => isConfirmed !== (given[at]?.says === "yes"),
    ).length;
  }
  return { flips, of, calls: REVERSED_CALLS };
}

/** Asks about statements from the operator's index, if the job wants that. The result decides nothing: a machine labels them. */
async function askOwn(
  examinee: Examinee,
  { input: { own: most }, database, deps, parts }: Examination,
): Promise<OwnCounts | Refusal | null> {
  if (most === undefined) return null;
  const decided = await selectDecidedStatements(database, most);
  const fields = (await selectDecidedValues(database, most)).flatMap(fieldOf);
  const passages = await selectSamples(database, most);
  const drawn = { decided, fields, passages, most, seed: deps.fenceKey.toString("hex") };
  const chars = [...decided, ...fields, ...passages].reduce(
    (sum, { text }) => sum + text.length,
    0,
  );
  const pairs = await parts.offload(OWN_PAIRS, drawn, { chars, signal: parts.signal });
  const mixed = shuffled(pairs, drawn.seed, ({ statement }) => statement.text);
  const asked: (OwnPair & { readonly isConfirmed: boolean })[] = [];
  for (let at = 0; at < mixed.length; at += MOST_STATEMENTS) {
    const some = mixed.slice(at, at + MOST_STATEMENTS);
    const statements = some.map(({ statement }) => statement);
    const given = await parts.trace.step("examine", () => examinee.ask(statements, parts));
    if ("kind" in given) return given;
    asked.push(
      ...some.map((pair, place) => ({ ...pair, isConfirmed: given[place]?.says === "yes" })),
    );
    parts.trace.detail("examine", { own: asked.length, of: mixed.length });
  }
  const countsBy = (who: OwnPair["by"]): ExamCounts => {
    const of = (isWrong: boolean) =>
      countConfirmed(asked.filter((one) => one.by === who && one.isWrong === isWrong));
    return { wrong: of(true), right: of(false) };
  };
  return { machine: countsBy("machine"), person: countsBy("person") };
}

/** A decided value with its field in the schema; empty if the schema no longer yields that value. */
function fieldOf({ input, fields, value, ...decided }: DecidedValue): readonly DecidedField[] {
  const job = parseJobInput(input);
  if (!job.ok || job.input.kind !== "extract") return [];
  const values = fieldValues(fields, extractionOf(job.input).schema);
  const field = values.find(({ pointer }) => pointer === decided.pointer);
  return field === undefined ? [] : [{ ...decided, field: { ...field, value } }];
}

function reportOwn(own: OwnCounts): readonly string[] {
  const sentences = ownSentences(own);
  return sentences.length > 0
    ? sentences
    : ["Your index holds no statement that it could be asked of."];
}

const MEANS = {
  passed: "It has passed: what it confirms is supported.",
  weak: "That is too little to go by: it is not asked.",
  failed: "It has failed: it is not asked.",
  useless: "It has failed, for it confirms too few right statements: it is not asked.",
} as const;

type ExamAnswer = {
  readonly pair: ExamPair;
  readonly isConfirmed: boolean;
  readonly score?: number | undefined;
};

type ExamResult = {
  readonly counts: ExamCounts;
  readonly state: keyof typeof MEANS;
  readonly calls: number;
  readonly asked: readonly ExamAnswer[];
  /** The score from which on an answer counts as yes; null for a model that answers in words. */
  readonly yesFrom: number | null;
};

async function runExam(
  examinee: Examinee,
  { deps, parts }: Pick<Examination, "deps" | "parts">,
): Promise<ExamResult | Refusal> {
  const { trace } = parts;
  const calls = examCalls(deps.fenceKey.toString("hex"));
  const asked: ExamAnswer[] = [];
  for (const [at, pairs] of calls.entries()) {
    const given = await trace.step("examine", () => examinee.ask(pairs.map(statementOf), parts));
    if ("kind" in given) return given;
    asked.push(
      ...pairs.map((pair, place) => ({
        pair,
        isConfirmed: given[place]?.says === "yes",
        score: given[place]?.score,
      })),
    );
    const isLast = at === calls.length - 1;
    // The limit of a yes is computed from the scores of all calls.
    if (examinee.from !== undefined && !isLast) continue;
    const yesFrom = examinee.from === undefined ? null : limitOf(asked);
    const confirmed = yesFrom === null ? asked : asked.map((one) => atLimit(one, yesFrom));
    const counts = countsOf(confirmed);
    trace.detail("examine", { call: at + 1, of: calls.length, ...counts });
    const state = decideExam(counts, isLast);
    if (state !== "open") return { counts, state, calls: at + 1, asked: confirmed, yesFrom };
  }
  throw new Error("an exam ends with its last call");
}

const limitOf = (asked: readonly ExamAnswer[]): number =>
  yesLimit(asked.flatMap(({ pair, score = 0 }) => (pair.isWrong ? score : [])));

const atLimit = (one: ExamAnswer, yesFrom: number): ExamAnswer => ({
  ...one,
  isConfirmed: (one.score ?? 0) >= yesFrom,
});

const countsOf = (asked: readonly ExamAnswer[]): ExamCounts => ({
  wrong: countConfirmed(asked.filter(({ pair }) => pair.isWrong)),
  right: countConfirmed(asked.filter(({ pair }) => !pair.isWrong)),
});

const countConfirmed = (
  asked: readonly Pick<ExamAnswer, "isConfirmed">[],
): ExamCounts["wrong"] => ({
  asked: asked.length,
  confirmed: asked.filter(({ isConfirmed }) => isConfirmed).length,
});

/** Counts by kind and language, in the order of first occurrence. */
function countByKind(asked: readonly ExamAnswer[]): readonly ExamPart[] {
  const groups = groupBy(asked, ({ pair: { kind, language, isWrong } }) =>
    JSON.stringify([kind, language, isWrong]),
  );
  return [...groups.values()].flatMap((group): ExamPart[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { kind, language, isWrong } = first.pair;
    return [{ kind, language, is_wrong: isWrong, ...countConfirmed(group) }];
  });
}
