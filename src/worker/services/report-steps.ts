import type { StepName } from "../../shared/job/run-result.ts";
import type { RunTrace } from "../run-trace.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { reportProgress } from "../../shared/store/jobs/claim-job.ts";
import { countOf } from "../../shared/views/quantity.ts";
import type { RunJob } from "../jobs/run-job.ts";

const EVERY_MS = 250;
const MOST_STEPS = 40;
const MOST_CHARS = 200;

/** The text for a waiting person when a step begins. Other steps are not reported. */
const WORDS: Partial<Record<StepName, string>> = {
  classify: "classifies the question",
  retrieve: "searches",
  first_pass: "chooses what to read",
  look_around: "looks around",
  second_pass: "writes",
  check: "checks",
  decompose: "verifies",
  rules: "verifies",
  audit: "verifies",
  revise: "writes again",
};

/** Only counts and paths: text that a model may have written must not leave the worker before its answer is checked. */
function factsInWords(step: StepName, facts: Readonly<Record<string, unknown>>) {
  const { passages, files, verdict, path } = facts;
  if (step === "retrieve" && typeof passages === "number" && typeof files === "number")
    return `found ${countOf(passages, "passage")} of ${countOf(files, "file")}`;
  if (step === "tool_call" && verdict === "allowed" && typeof path === "string")
    return `reads ${path}`;
  return undefined;
}

/** Reports the steps of each run in progress, at most four times a second. A report that fails is dropped. */
export const reportSteps =
  (run: RunJob, db: Queryable, onTold: () => void): RunJob =>
  async (job, trace, signal) => {
    const steps: string[] = [];
    const now = { isNew: false, isTelling: false };
    const add = (words: string | undefined): void => {
      if (words === undefined || words === steps.at(-1)) return;
      steps.push(words.slice(0, MOST_CHARS).toWellFormed());
      if (steps.length > MOST_STEPS) steps.shift();
      now.isNew = true;
    };
    const tell = (): void => {
      if (!now.isNew || now.isTelling) return;
      Object.assign(now, { isNew: false, isTelling: true });
      void reportProgress(db, job.runId, { step: steps.at(-1), steps })
        .then(onTold, () => undefined)
        .finally(() => {
          now.isTelling = false;
        });
    };
    const timer = setInterval(tell, EVERY_MS);
    const followed: RunTrace = {
      ...trace,
      step(name, body) {
        add(WORDS[name]);
        return trace.step(name, body);
      },
      detail(name, facts) {
        trace.detail(name, facts);
        add(factsInWords(name, facts));
      },
    };
    try {
      return await run(job, followed, signal);
    } finally {
      clearInterval(timer);
    }
  };
