import type { Refusal } from "../../shared/failure.ts";
import type { SummarizeInput } from "../../shared/job.ts";
import type { Outcome } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { modelOf, modelUse } from "./call-model.ts";
import type { CallParts } from "./call-model.ts";
import { ADMITTED, filePiece, rejected } from "./evidence-piece.ts";
import { gateReading } from "./gate-evidence.ts";
import { notesFor } from "./notes-for.ts";
import { titleOf } from "./number-evidence.ts";
import type { PipelineDependencies, Reading } from "./pipeline-dependencies.ts";
import { readEvidence } from "./read-evidence.ts";
import { routeModels } from "../../shared/route-models.ts";
import { citationsOf } from "./second-pass.ts";
import { summarizeText } from "./summarize-text.ts";
import type { SummaryRun } from "./summarize-text.ts";

type SummarizeJob = { readonly jobId: string; readonly input: SummarizeInput };

/**
 * A summary of a whole file: read through the sandbox, gated, summarised at once or in parts that cover it
 * completely, with a footer that states the coverage.
 *
 * Refusals: those of the read, FILE_EMPTY, EVIDENCE_TRUNCATED (over ask.max_chars_full_read), and those of
 * pass 2.
 */
export async function summarizeFile(
  job: SummarizeJob,
  deps: PipelineDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Outcome> {
  const reading = await trace.step("tool_call", () => readWhole(job, deps, trace));
  if (reading.kind === "refused") return reading;
  const refusal = await trace.step("gate", () => gate(reading, deps, trace));
  if (refusal !== null) return refusal;
  const run = await summaryRun(job, reading, deps, { calls: deps.calls, trace, signal });
  const summary = await summarizeText(run);
  if (summary.kind === "refused") return summary;
  const { answer, rules } = summary;
  const citations = citationsOf(answer, rules);
  return { kind: "succeeded", answer: answer.text, scope: rules.footer, citations, summary: null };
}

const readWhole = (
  { input: { path } }: SummarizeJob,
  { settings, readTextFile }: PipelineDependencies,
  trace: RunTrace,
): Promise<Reading | Refusal> =>
  readEvidence(
    {
      path,
      args: { path },
      trailingText: "",
      firstReadChars: settings.ask.max_chars_full_read,
      fullReadChars: null,
    },
    readTextFile,
    trace,
  );

function gate(reading: Reading, deps: PipelineDependencies, trace: RunTrace): Refusal | null {
  const refusal = gateReading(reading, "whole_file");
  const verdict = refusal === null ? ADMITTED : rejected(refusal.code);
  trace.evidence([filePiece(reading, verdict, deps.previewChars)]);
  trace.detail("gate", { verdict: refusal?.code ?? "admitted", file: refusal === null });
  return refusal;
}

const SENTENCES = { short: 2, medium: 5, long: 10 } as const;

async function summaryRun(
  { jobId, input }: SummarizeJob,
  reading: Reading,
  deps: PipelineDependencies,
  parts: CallParts,
): Promise<SummaryRun> {
  const { settings, models, fenceKey } = deps;
  const { options } = input;
  const route = routeModels("", settings.model, { route: options?.route, model: options?.model });
  const model = await modelOf(route.second, models, parts.signal);
  parts.trace.models([modelUse("second", model, route.second)]);
  const notes = await notesFor(model, deps, parts.trace);
  parts.trace.memory(notes.ids);
  return {
    jobId,
    fenceKey,
    settings: settings.ask,
    reading,
    parts,
    model,
    choice: route.second,
    notes: notes.text,
    title: titleOf(reading.text) ?? reading.path,
    sentences: SENTENCES[options?.length ?? "medium"],
    style: options?.bullets === true ? "bullets" : "prose",
  };
}
