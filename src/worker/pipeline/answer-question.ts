import type { Refusal } from "../../shared/failure.ts";
import type { AskInput } from "../../shared/job.ts";
import type { Outcome } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { answerFromEvidence } from "./answer-from-evidence.ts";
import type { AskRun, Answerers, Found } from "./ask-run.ts";
import { modelOf, modelUse } from "./call-model.ts";
import { classifyQuestion } from "./question/classify-question.ts";
import type { Classification } from "./question/classify-question.ts";
import { firstPass } from "./first-pass.ts";
import type { Selection } from "./first-pass.ts";
import { gateEvidence, nothingAllowed, nothingFound } from "./gate-evidence.ts";
import { notesFor } from "./notes-for.ts";
import type { PipelineDependencies } from "./pipeline-dependencies.ts";
import { readSelected, refuseNamedFile } from "./read-selected.ts";
import { recordEvidence } from "./record-evidence.ts";
import { limitsOf, retrieve } from "./retrieve.ts";
import type { Snapshot } from "./retrieve.ts";
import { routeModels } from "../../shared/route-models.ts";

/**
 * The two-pass gated answer: classify (a named file that can't be read ends it), retrieve, pass 1, tool call, gate, pass 2, check. Persisting the outcome
 * and the trace is the caller's.
 *
 * Returns a refusal as a value, with any code of the steps; throws Failure for a fault of the machinery and the
 * signal's reason after an abort.
 */
export async function answerQuestion(
  job: { readonly jobId: string; readonly input: AskInput },
  deps: PipelineDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Outcome> {
  const run: AskRun = { ...job, deps, trace, signal };
  const classification = await trace.step("classify", () => classify(run));
  const barred = await refuseNamedFile(run, classification);
  if (barred !== null) return barred;
  const snapshot = await trace.step("retrieve", () => retrieveSnapshot(run));
  const found = { classification, snapshot };
  if (classification.need === "passages" && snapshot.passages.length === 0) {
    return refuseWithoutPassages(run);
  }

  const answerers = await chooseModels(run);
  const selection = await trace.step("first_pass", () => selectTool(run, found, answerers));
  if (selection.kind === "refused") return withoutEvidence(run, found, selection);

  const reading = await readSelected(run, found, { selection, answerers });
  if (reading?.kind === "refused") return withoutEvidence(run, found, reading);

  const evidence = await trace.step("gate", () => gateEvidence({ ...found, reading }));
  recordEvidence(run, { ...found, reading }, evidence);
  if (evidence.kind === "refused") return evidence;

  return answerFromEvidence(run, evidence, answerers);
}

async function classify({ input, deps, trace }: AskRun): Promise<Classification> {
  const { ask, security } = deps.settings;
  const settings = {
    allowedExts: security.allowed_exts,
    summaryTriggers: ask.summary_triggers,
    fullTriggers: ask.read_full_on_thorough ? ask.full_evidence_triggers : [],
    extent: input.options?.full === true ? "full" : "as_needed",
  } as const;
  const classification = await classifyQuestion(input.question, settings, deps.knownFiles);
  const { need, namedFiles, wholeBecause, knownFiles } = classification;
  trace.detail("classify", {
    need,
    named_files: namedFiles,
    whole_because: wholeBecause,
    known_files: knownFiles,
  });
  return classification;
}

async function retrieveSnapshot({ input, deps, trace, signal }: AskRun): Promise<Snapshot> {
  const snapshot = await retrieve(input, deps, signal);
  const { passages, hash } = snapshot;
  trace.detail("retrieve", {
    passages: passages.length,
    files: new Set(passages.map(({ path }) => path)).size,
    snapshot: hash,
    scores: passages.map(({ score }) => score),
  });
  return snapshot;
}

/** That nothing fits the question is said only where there is something that it could have fitted. */
async function refuseWithoutPassages({ input, deps, trace }: AskRun): Promise<Refusal> {
  const holdsAny = await deps.holdsAny(limitsOf(input.options));
  trace.detail("retrieve", { holds_any: holdsAny });
  return holdsAny ? nothingFound() : nothingAllowed(input.options);
}

async function chooseModels({ input, deps, trace, signal }: AskRun): Promise<Answerers> {
  const route = routeModels(input.question, deps.settings.model, {
    route: input.options?.route,
    model: input.options?.model,
  });
  const first = await modelOf(route.first, deps.models, signal);
  const second = await modelOf(route.second, deps.models, signal);
  trace.models([modelUse("first", first, route.first), modelUse("second", second, route.second)]);
  return { route, first, second, notes: await notesFor(second, deps, trace) };
}

const selectTool = (
  { input, deps, trace, signal }: AskRun,
  found: Found,
  { route, first }: Answerers,
): Promise<Selection | Refusal> => {
  const { question } = input;
  const { fenceKey, calls, aside } = deps;
  const plan = { question, ...found, model: first, choice: route.first, fenceKey };
  return firstPass(plan, { calls, aside, trace, signal });
};

/** A refusal before the gate: what was found goes on record as not admitted. */
function withoutEvidence(run: AskRun, found: Found, refusal: Refusal): Refusal {
  recordEvidence(run, { ...found, reading: null }, refusal);
  return refusal;
}
