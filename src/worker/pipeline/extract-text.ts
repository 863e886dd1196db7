import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ModelChoice } from "../../shared/route-models.ts";
import type { AnswerChecks, Citation } from "../../shared/run-result.ts";
import { charsIn, DECLINED } from "../model/model.ts";
import type { Model } from "../model/model.ts";
import type { CallParts } from "./call-model.ts";
import type { Policy } from "./check-answer.ts";
import { askFields } from "./fields/ask-fields.ts";
import type { CheckFields } from "./fields/check-fields.ts";
import { citeQuotes } from "./fields/cite-quotes.ts";
import type { Extraction } from "./fields/extraction.ts";
import type { Fields } from "./fields/fields.ts";
import { findFieldQuotes } from "./fields/find-field-quotes.ts";
import type { FieldQuote } from "./fields/find-field-quotes.ts";
import { LOOK_UP } from "./fields/judge-fields.ts";
import type { PartVote } from "./fields/vote-on-label.ts";
import { aboutFile, isOverflow } from "./parts/condense-groups.ts";
import { evidenceOf, halve, leavesOf, merge, recordOf } from "./parts/part-node.ts";
import type { PartNode } from "./parts/part-node.ts";
import { FEWEST_ROOM, roomForEvidence } from "./parts/room-for-evidence.ts";
import type { Reading } from "./pipeline-dependencies.ts";

export type ExtractRun = {
  readonly extraction: Extraction;
  readonly check: CheckFields;
  /** For the fields of a part. */
  readonly checkPart: CheckFields;
  readonly reading: Reading;
  readonly title: string;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly quotes: Policy;
  /** The operator's durable notes, as the prompt shows them. */
  readonly notes: string;
  readonly fenceKey: Buffer;
  readonly parts: CallParts;
};

export type Extracted = {
  readonly kind: "extracted";
  readonly fields: Fields;
  /** Of how many parts of the file they were put together. */
  readonly parts: number;
  /** Where their quotes stand. */
  readonly citations: readonly Citation[];
};

/** Without a window: what rules find in so much text is a reply that can be read. */
const MOST_WITHOUT_WINDOW = 16_000;

/**
 * The fields of a text: at once where it fits the model's window, else of each part, in order and with nothing left out,
 * and put together by rules and not by a model. The whole is held against the full schema and the words of the file.
 */
export async function extractText(run: ExtractRun): Promise<Extracted | Refusal> {
  const { reading, model, choice, extraction, notes } = run;
  const beside = [notes, run.title, JSON.stringify(extraction.schema), extraction.task];
  const room = Math.max(roomForEvidence(model, choice, beside), FEWEST_ROOM);
  const leaves = leavesOf(
    reading,
    Math.min(room, model.facts.windowTokens === null ? MOST_WITHOUT_WINDOW : room),
  );
  const [only] = leaves;
  if (only !== undefined && leaves.length === 1) {
    const asked = await askFields(run, evidenceOf(leaves, aboutFile(run)), "second");
    const halves = isOverflow(asked) ? halve(leaves) : null;
    if (halves === null) {
      return asked.kind === "refused"
        ? asked
        : conclude(run, [{ node: only, fields: asked.value }]);
    }
    return inParts(run, halves.flat());
  }
  return inParts(run, leaves);
}

type PartFields = { readonly node: PartNode; readonly fields: Fields | null };

async function inParts(run: ExtractRun, leaves: readonly PartNode[]): Promise<Extracted | Refusal> {
  const parts: PartFields[] = [];
  const refusal = await extractParts(run, leaves, parts);
  if (refusal !== null) return refusal;
  for (const [ordinal, { node, fields }] of parts.entries()) {
    const words = fields === null ? null : JSON.stringify(fields);
    run.parts.trace.part(recordOf(merge([node], words), ordinal, DECLINED));
  }
  return conclude(run, parts);
}

async function extractParts(
  run: ExtractRun,
  leaves: readonly PartNode[],
  parts: PartFields[],
): Promise<Refusal | null> {
  for (const leaf of leaves) {
    const refusal = await extractPart(run, leaf, parts);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** Adds the fields of a part; one that does not fit is halved, and one that gives nothing is a part without fields. */
async function extractPart(
  run: ExtractRun,
  leaf: PartNode,
  parts: PartFields[],
): Promise<Refusal | null> {
  const asked = await askFields(run, evidenceOf([leaf], aboutFile(run)), "part");
  if (asked.kind === "kept") {
    parts.push({ node: leaf, fields: asked.value });
    return null;
  }
  const halves = isOverflow(asked) ? halve([leaf]) : null;
  if (halves !== null) return extractParts(run, halves.flat(), parts);
  if (asked.code === "EVIDENCE_NOT_ACQUIRED") {
    parts.push({ node: leaf, fields: null });
    return null;
  }
  const { lineStart, lineEnd } = leaf;
  const place = `Lines ${lineStart} to ${lineEnd} of ${run.reading.path}`;
  return { ...asked, message: `${place}: ${asked.message}` };
}

async function conclude(
  run: ExtractRun,
  parts: readonly PartFields[],
): Promise<Extracted | Refusal> {
  const { extraction, reading } = run;
  const given = parts.flatMap(({ node, fields }): PartVote[] =>
    fields === null ? [] : [{ fields, chars: node.endChar - node.startChar }],
  );
  const [first] = given;
  if (first === undefined) return nothingIn(run, parts.length);
  const fields = parts.length === 1 ? first.fields : extraction.merge(given);
  const { faults, quotes } = await run.check(fields, run.parts.signal);
  const [fault] = faults;
  if (fault !== undefined) {
    return refuse(
      "SECOND_PASS_FORMAT_VIOLATION",
      `What ${parts.length} parts of ${reading.path} give together does not fit the schema: ${fault.path}: ` +
        `${fault.message}. Raise model.num_ctx so that the file is read at once, or let the field be null.`,
    );
  }
  const finished = extraction.finish(fields);
  // What a preset adds or leaves out at the end moves its quotes.
  const found = finished === fields ? quotes : findFieldQuotes(finished, extraction.schema);
  const checks = await lookUpInWhole(run, found);
  return {
    kind: "extracted",
    fields: finished,
    parts: parts.length,
    citations: citeQuotes(checks.quotes),
  };
}

/** The quotes of all parts in their order, with the places that they have in the file. */
async function lookUpInWhole(run: ExtractRun, found: readonly FieldQuote[]): Promise<AnswerChecks> {
  const { reading, quotes: policy } = run;
  const whole = leavesOf(reading, Number.POSITIVE_INFINITY);
  const { sources } = evidenceOf(whole, aboutFile(run));
  const { aside, signal } = run.parts;
  const limits = { chars: charsIn(sources), signal };
  const wanted = policy === "off" ? [] : found;
  const quotes = await aside(LOOK_UP, { quotes: wanted, evidence: sources }, limits);
  const checks = { quotes, figures: [], sentences: [] };
  run.parts.trace.checks(checks);
  return checks;
}

const nothingIn = ({ reading }: ExtractRun, parts: number): Refusal =>
  refuse(
    "EVIDENCE_NOT_ACQUIRED",
    `The model found nothing to go by in any of the ${parts} parts of ${reading.path}.`,
  );
