import type { Config } from "../../shared/config/schema.ts";
import { hasWeights } from "../../shared/config/providers.ts";
import { judgeName } from "../../shared/job/route-models.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectExamOf } from "../../shared/store/hosts/exams.ts";
import { examSentence, ownSentences } from "../verify/judge/exam-sequence.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** The configured judges of statements; empty if no language model is set. */
export function judgesOf({ verify: { judge, entailment }, model }: Config): readonly string[] {
  if (judge.model === "off") return [];
  if (judge.form === "nli") return [entailment.model_id];
  const names = [judge.model].flat();
  return names.flatMap((name) =>
    name === "same" && !hasWeights(model.provider) ? [] : (judgeName(name, model) ?? []),
  );
}

/** Reports the exams of the judges; empty if no judge is configured, or no language model is set. */
export async function checkJudge(config: Config, database: Database): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const name of judgesOf(config)) checks.push(await checkExam(name, config, database));
  return checks;
}

async function checkExam(name: string, { verify }: Config, database: Database): Promise<Check> {
  const exam = await selectExamOf(database, name, verify.judge.form);
  if (exam === undefined) {
    return warn(
      "DOCTOR_JUDGE_NOT_EXAMINED",
      `${name} has passed no exam as a judge: statements in other words stay unconfirmed.`,
      `Run nightdesk models examine ${name}, or wait for the first batch, which has it examined.`,
    );
  }
  const { state, wrongAsked, wrongConfirmed, rightAsked, rightConfirmed, own } = exam;
  const sentence = examSentence(name, {
    wrong: { asked: wrongAsked, confirmed: wrongConfirmed },
    right: { asked: rightAsked, confirmed: rightConfirmed },
  });
  const report = [`${sentence}.`, ...(own === null ? [] : ownSentences(own))].join(" ");
  return state === "passed"
    ? ok("DOCTOR_JUDGE_OK", report)
    : warn(
        "DOCTOR_JUDGE_NOT_PASSED",
        `${report} It is ${state}, and not asked.`,
        "Name another model in verify.judge.model, or off.",
      );
}
