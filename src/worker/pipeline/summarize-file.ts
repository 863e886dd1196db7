import type { SummarizeInput } from "../../shared/job.ts";
import type { Outcome } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { modelOf, modelUse } from "./call-model.ts";
import type { CallParts } from "./call-model.ts";
import { notesFor } from "./notes-for.ts";
import { titleOf } from "./number-evidence.ts";
import type { PipelineDependencies, Reading } from "./pipeline-dependencies.ts";
import { readWholeFile } from "./read-whole-file.ts";
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
  const reading = await readWholeFile(job.input.path, deps, trace);
  if (reading.kind === "refused") return reading;
  const run = await summaryRun(job, reading, deps, {
    calls: deps.calls,
    aside: deps.aside,
    trace,
    signal,
  });
  const summary = await summarizeText(run);
  if (summary.kind === "refused") return summary;
  const { answer, rules } = summary;
  const citations = citationsOf(answer, rules);
  return { kind: "succeeded", answer: answer.text, scope: rules.footer, citations, summary: null };
}

const SENTENCES = { short: 2, medium: 5, long: 10 } as const;

async function summaryRun(
  { input }: SummarizeJob,
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
