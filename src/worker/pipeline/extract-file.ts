import type { ExtractInput } from "../../shared/job.ts";
import type { SchemaCompiler } from "../../shared/json-schema.ts";
import { routeModels } from "../../shared/route-models.ts";
import type { Outcome } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import type { Aside } from "../aside/aside.ts";
import { modelOf, modelUse } from "./call-model.ts";
import type { CallParts } from "./call-model.ts";
import { extractText } from "./extract-text.ts";
import type { ExtractRun } from "./extract-text.ts";
import { checkByPreset, checkByUser } from "./fields/check-fields.ts";
import type { CheckFields } from "./fields/check-fields.ts";
import { extractionOf } from "./fields/extraction.ts";
import type { Extraction } from "./fields/extraction.ts";
import type { FieldsSchema } from "./fields/fields.ts";
import { notesFor } from "./notes-for.ts";
import { titleOf } from "./number-evidence.ts";
import { wholeFooter } from "./parts/part-footer.ts";
import type { PipelineDependencies, Reading } from "./pipeline-dependencies.ts";
import { readWholeFile } from "./read-whole-file.ts";

type ExtractJob = { readonly input: ExtractInput };
type ExtractDependencies = PipelineDependencies & {
  readonly compileSchema: SchemaCompiler;
  /** For schemas that somebody wrote: a thread of their own, with little memory. */
  readonly offloadSchema: Aside;
};

/**
 * Fields of a whole file: read through the sandbox, gated, taken out at once or part by part, held against their
 * schema and the words of the file. The answer is the fields as JSON, with a footer that states the coverage; `summary`
 * holds them as they are.
 *
 * Refusals: those of the read, FILE_EMPTY, EVIDENCE_TRUNCATED, MODEL_UNSUPPORTED (a model without language, and a schema
 * of the user), and those of `askTwice`.
 */
export async function extractFile(
  { input }: ExtractJob,
  deps: ExtractDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Outcome> {
  const reading = await readWholeFile(input.path, deps, trace);
  if (reading.kind === "refused") return reading;
  const run = await extractRun(input, reading, deps, {
    calls: deps.calls,
    aside: deps.aside,
    trace,
    signal,
  });
  const extracted = await extractText(run);
  if (extracted.kind === "refused") return extracted;
  const { fields, parts, citations } = extracted;
  const scope = wholeFooter({ file: reading, parts, passages: [], snapshotHash: "" });
  const answer = `${JSON.stringify(fields)}\n${scope}`;
  return { kind: "succeeded", answer, scope, citations, summary: fields };
}

async function extractRun(
  input: ExtractInput,
  reading: Reading,
  deps: ExtractDependencies,
  parts: CallParts,
): Promise<ExtractRun> {
  const { settings, models, fenceKey } = deps;
  const { second: choice } = routeModels("", settings.model, input.options ?? {});
  const model = await modelOf(choice, models, parts.signal);
  parts.trace.models([modelUse("second", model, choice)]);
  const notes = await notesFor(model, deps, parts.trace);
  parts.trace.memory(notes.ids);
  const extraction = extractionOf(input);
  return {
    extraction,
    check: await checkBy(extraction.schema, extraction, deps),
    checkPart: await checkBy(extraction.partSchema, extraction, deps),
    reading,
    title: titleOf(reading.text) ?? reading.path,
    model,
    choice,
    quotes: settings.ask.quotes,
    notes: notes.text,
    fenceKey,
    parts,
  };
}

const checkBy = async (
  schema: FieldsSchema,
  { preset }: Extraction,
  { compileSchema, offloadSchema }: ExtractDependencies,
): Promise<CheckFields> =>
  preset === null ? checkByUser(schema, offloadSchema) : checkByPreset(schema, compileSchema);
