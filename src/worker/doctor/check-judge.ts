import type { Config } from "../../shared/config/schema.ts";
import { hasWeights } from "../../shared/providers.ts";
import { routeModels } from "../../shared/route-models.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectExamOf } from "../../shared/store/hosts/exams.ts";
import { examSentence } from "../verify/judge/exam-sequence.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** What the judge of statements is worth; nothing where none is configured, or no model has words. */
export async function checkJudge(
  { verify: { judge, entailment }, model }: Config,
  database: Database,
): Promise<readonly Check[]> {
  const answerer = hasWeights(model.provider) ? routeModels("", model, {}).second.name : null;
  const named = judge.model === "same" ? answerer : judge.model;
  const name = judge.form === "nli" ? entailment.model_id : named;
  if (judge.model === "off" || name === null) return [];
  const exam = await selectExamOf(database, name, judge.form);
  if (exam === undefined) {
    return [
      warn(
        "DOCTOR_JUDGE_NOT_EXAMINED",
        `${name} has passed no exam as a judge: statements in other words stay unconfirmed.`,
        "Run nightdesk models examine, or wait for the first batch, which has it examined.",
      ),
    ];
  }
  const { state, wrongAsked, wrongConfirmed, rightAsked, rightConfirmed } = exam;
  const sentence = examSentence(name, {
    wrong: { asked: wrongAsked, confirmed: wrongConfirmed },
    right: { asked: rightAsked, confirmed: rightConfirmed },
  });
  return [
    state === "passed"
      ? ok("DOCTOR_JUDGE_OK", `${sentence}.`)
      : warn(
          "DOCTOR_JUDGE_NOT_PASSED",
          `${sentence}. It is ${state}, and not asked.`,
          "Name another model in verify.judge.model, or off.",
        ),
  ];
}
