import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ExtractInput } from "../../shared/job/job.ts";
import type { SchemaCompiler } from "../json-schema.ts";
import { isRecord, parseJson } from "../../shared/schema/json-value.ts";
import type {
  Citation,
  ClaimRecord,
  FieldBinding,
  Outcome,
  PartRecord,
} from "../../shared/job/run-result.ts";
import type { RunTrace } from "../run-trace.ts";
import type { RunEnd } from "../../shared/job/settlement.ts";
import type { Offload } from "../offload/offload.ts";
import type { JudgeVerdict, PipelineDependencies, Reading } from "../evidence/types.ts";
import { charsIn } from "../models/model.ts";
import { callParts } from "../answer/call-model.ts";
import type { CallParts } from "../answer/call-model.ts";
import { quoteName } from "../evidence/fence.ts";
import { askAgain, askWithRepair } from "../answer/repair-loop.ts";
import type { AcceptedReply, RepairPlan } from "../answer/repair-loop.ts";
import { checkByPreset, checkByUser, findFieldQuotes } from "../verify/check-fields.ts";
import type { CheckedFields, CheckFields } from "../verify/check-fields.ts";
import { gradeField, isCarried } from "../verify/bindings/grade-field.ts";
import {
  fieldValues,
  isChosen,
  plainFields,
  wrapSchema,
} from "../verify/bindings/quoted-fields.ts";
import type { FieldValue } from "../verify/bindings/quoted-fields.ts";
import { enforcedSchema } from "../verify/fields-schema.ts";
import type { Fields, FieldsSchema } from "../verify/fields-schema.ts";
import { selectAnswerer } from "./ask-run.ts";
import type { Answerer } from "./ask-run.ts";
import { extractionOf, MERGE } from "./extraction.ts";
import type { Extraction } from "./extraction.ts";
import { examplesForPrompt } from "./nearest-examples.ts";
import {
  bindValues,
  leaveOutUnsupported,
  LOOK_UP,
  validateFields,
} from "../verify/validate-fields.ts";
import type { GivenFields } from "../verify/validate-fields.ts";
import { titleOf } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import {
  fileFacts,
  condenseGroups,
  FEWEST_ROOM,
  isOverflow,
  refuseEmptyParts,
  roomForEvidence,
  wholeFooter,
} from "../answer/map-reduce.ts";
import { evidenceOf, halve, leavesOf, spansOf } from "../answer/parts.ts";
import type { PartEvidence, PartNode } from "../answer/parts.ts";
import {
  EXTRACT_BY_EXAMPLES_PROMPT,
  EXTRACT_PROMPT,
  PART_OF_FILE,
  WHOLE_FILE,
} from "../answer/prompts.ts";
import { fencePieces } from "../answer/prompt.ts";
import { readWholeFile } from "../evidence/read.ts";
import type { Draft } from "./verification/draft.ts";
import { endOf, verify } from "./verification/verify.ts";

type ExtractDependencies = PipelineDependencies & {
  readonly compileSchema: SchemaCompiler;
  /** Runs schemas that users wrote, in a thread of its own with little memory. */
  readonly offloadSchema: Offload;
};

/**
 * Extracts fields from a whole file: reads and gates it, asks for the fields at once or part by part, checks them by their
 * schema and the words of the file, verifies them. The answer is the fields as JSON, with a footer that states the coverage;
 * `summary` holds the fields.
 *
 * Refusals: those of the read, FILE_EMPTY, EVIDENCE_TRUNCATED, MODEL_UNSUPPORTED (the built-in model without language, with
 * a schema of the user), and those of `askWithRepair`.
 */
export async function extractFile(
  { input }: { readonly input: ExtractInput },
  deps: ExtractDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<RunEnd> {
  const reading = await readWholeFile(input.path, deps, trace);
  if (reading.kind === "refused") return reading;
  const run = await extractRun(input, reading, deps, callParts(deps, { trace, signal }));
  const given = await secondPass(run);
  if ("kind" in given) return given;
  const checked = await check(run, given);
  if (checked.kind === "refused") return checked;
  return endOf(await verify(draftOf(run, checked), run.parts), (value) =>
    extractOutcome(run, value),
  );
}

function extractOutcome({ reading }: ExtractRun, { fields, parts, citations }: Extracted): Outcome {
  const scope = wholeFooter({ files: [reading], parts, passages: [], snapshotHash: "" });
  const answer = `${JSON.stringify(fields)}\n${scope}`;
  return { kind: "succeeded", answer, scope, citations, summary: fields };
}

/** The fields as an answer whose statements are their values. Fields of a file that was read in parts are not revised. */
function draftOf(run: ExtractRun, extracted: Extracted): Draft<Extracted> {
  const { reading, model, choice, parts } = run;
  const leaves = leavesOf(reading, Number.POSITIVE_INFINITY);
  const evidence = evidenceOf(leaves, fileFacts(run));
  const text = JSON.stringify(extracted.fields);
  return {
    ...{ kind: "draft", value: extracted, text, model, choice },
    claims: extracted.bindings.flatMap(claimOf),
    states: "values",
    task: `Take fields out of the file ${reading.path}`,
    evidence: evidence.sources,
    async revise(faults) {
      if (extracted.parts !== 1) return null;
      // An auditor asks once: there is no further attempt that could give what this one lacks.
      const request = await fieldsPlan(run, evidence, "second", "last");
      const again = await askAgain(request, text, { faults, earlier: [] }, parts);
      const [node] = leaves;
      if (again === null || node === undefined) return null;
      const checked = await check(run, [{ node, given: again.value }]);
      return checked.kind === "refused" ? null : draftOf(run, checked);
    },
    withNote: () => extracted,
    withCorrection(correction) {
      const fields = parseJson(correction);
      if (!isRecord(fields)) return null;
      parts.trace.bindings([]);
      return { ...extracted, fields, citations: [] };
    },
  };
}

/** The value of a field as a statement: `/total is 1250`. */
function claimOf(binding: FieldBinding): readonly ClaimRecord[] {
  const { pointer, value, grade, quote, span } = binding;
  if (grade === null) return [];
  const isBound = grade === "supported";
  return [
    {
      draft: 0,
      text: `${pointer} is ${JSON.stringify(value)}`,
      cites: [1],
      quote,
      grade,
      reason: isBound ? "verbatim" : "quote",
      fate: isBound ? "kept" : grade === "unsupported" ? "flagged" : "marked",
      stands: true,
      arithmetic: null,
      span,
      otherSpans: [],
      carrier: quote,
      checks: [],
    },
  ];
}

async function extractRun(
  input: ExtractInput,
  reading: Reading,
  deps: ExtractDependencies,
  parts: CallParts,
): Promise<ExtractRun> {
  const answerer = await selectAnswerer(input.options, deps, parts);
  const extraction = extractionOf(input);
  const title = titleOf(reading.text) ?? reading.path;
  const otherText = [answerer.notes, title, JSON.stringify(extraction.schema), extraction.task];
  const room = roomForEvidence(answerer.model, answerer.choice, otherText);
  const asked = { ...extraction, text: reading.text };
  const examples = await examplesForPrompt(asked, room, parts);
  return {
    ...answerer,
    extraction,
    examples,
    room: Math.max(room - examples.length, FEWEST_ROOM),
    check: await createCheck(extraction.schema, extraction, deps),
    checkPart: await createCheck(extraction.partSchema, extraction, deps),
    reading,
    title,
  };
}

const createCheck = async (
  schema: FieldsSchema,
  { preset, judged }: Extraction,
  { compileSchema, offloadSchema }: ExtractDependencies,
): Promise<CheckFields> =>
  preset === null
    ? checkByUser(schema, offloadSchema)
    : checkByPreset(schema, compileSchema, judged);

type ExtractRun = Answerer & {
  readonly extraction: Extraction;
  /** Labelled texts as the prompt shows them; empty if there are none. */
  readonly examples: string;
  /** UTF-16 units of evidence that fit one prompt; Infinity without a window. */
  readonly room: number;
  readonly check: CheckFields;
  /** The check of the fields of one part. */
  readonly checkPart: CheckFields;
  readonly reading: Reading;
  readonly title: string;
};

type Extracted = {
  readonly kind: "extracted";
  readonly fields: Fields;
  /** How many parts of the file gave these fields. */
  readonly parts: number;
  /** The places of their quotes. */
  readonly citations: readonly Citation[];
  readonly bindings: readonly FieldBinding[];
};

/** The most UTF-16 units per reply of a model without a window: the reply of rules about more text gets too long to read. */
const MOST_WITHOUT_WINDOW = 16_000;

/** Asks for the fields of a text: at once if it fits the model's window, else of all parts, in order. */
async function secondPass(run: ExtractRun): Promise<readonly PartFields[] | Refusal> {
  const { reading, model, room } = run;
  const leaves = leavesOf(
    reading,
    Math.min(room, model.facts.windowTokens === null ? MOST_WITHOUT_WINDOW : room),
  );
  const [only] = leaves;
  if (only === undefined || leaves.length > 1) {
    return askInParts(
      run,
      leaves.map((leaf) => [leaf]),
    );
  }
  const asked = await askFields(run, evidenceOf(leaves, fileFacts(run)), "second");
  const halves = isOverflow(asked) ? halve(leaves) : null;
  if (halves !== null) return askInParts(run, halves);
  return asked.kind === "refused" ? asked : [{ node: only, given: asked.value }];
}

type PartFields = { readonly node: PartNode; readonly given: GivenFields | null };

/** Asks for the fields of each part; a part without a result has null. All parts are recorded together at the end. */
async function askInParts(
  run: ExtractRun,
  groups: readonly (readonly PartNode[])[],
): Promise<readonly PartFields[] | Refusal> {
  const given: GivenFields[] = [];
  const records: PartRecord[] = [];
  const nodes = await condenseGroups(
    {
      reading: run.reading,
      title: run.title,
      trace: { part: (part) => void records.push(part) },
      async askPart(part) {
        const asked = await askFields(run, part, "part");
        if (asked.kind === "refused") return asked;
        given.push(asked.value);
        return { kind: "passed", words: JSON.stringify(plainFields(asked.value.paired)) };
      },
    },
    groups,
  );
  if ("kind" in nodes) return nodes;
  for (const record of records) run.parts.trace.part(record);
  const inOrder = given.values();
  return nodes.map((node) => ({
    node,
    given: node.words === null ? null : (inOrder.next().value ?? null),
  }));
}

/** Merges the fields of parts by rules, and checks the result by the full schema and the words of the file. */
async function check(run: ExtractRun, parts: readonly PartFields[]): Promise<Extracted | Refusal> {
  const { reading } = run;
  const given = parts.flatMap(({ node, given: one }) =>
    one === null ? [] : [{ ...one, chars: node.endChar - node.startChar }],
  );
  const [first] = given;
  if (first === undefined) return refuseEmptyParts(run, parts.length);
  const paired = parts.length === 1 ? first.paired : await mergeGiven(run, given);
  const checked = await run.check(paired, run.parts.signal);
  const [fault] = checked.faults;
  if (fault !== undefined) {
    return refuse(
      "SECOND_PASS_FORMAT_VIOLATION",
      `What ${parts.length} parts of ${reading.path} give together does not fit the schema: ${fault.path}: ` +
        `${fault.message}. Raise model.num_ctx so that the file is read at once, or let the field be null.`,
    );
  }
  const dropped = new Map(given.flatMap((one) => [...one.dropped]));
  return bindMerged(run, checked, { parts: parts.length, dropped });
}

/** Binds the values of all parts to words of the whole file, and removes those that no words support. */
async function bindMerged(
  run: ExtractRun,
  checked: CheckedFields,
  { parts, dropped: before }: Pick<GivenFields, "dropped"> & { readonly parts: number },
): Promise<Extracted | Refusal> {
  const { extraction, check, reading } = run;
  const whole = leavesOf(reading, Number.POSITIVE_INFINITY);
  const { sources: evidence } = evidenceOf(whole, fileFacts(run));
  const rules = { check, evidence, offload: run.parts.offload, signal: run.parts.signal };
  const bound = await bindValues(checked.values, rules);
  const verdicts = await askJudge(run, checked.values, bound, evidence);
  const found = applyVerdicts(checked.values, bound, verdicts);
  const left = await leaveOutUnsupported(checked, found, rules);
  const dropped = new Map([...before, ...left.dropped]);
  const refusal = refuseUnsupported(checked.values, found, dropped, reading.path);
  if (refusal !== null) return refusal;
  const paired =
    extraction.preset === null ? left.paired : extraction.finish(plainFields(left.paired));
  // A preset adds or removes fields at the end, which moves its values.
  const values =
    extraction.preset === null
      ? left.values
      : fieldValues(paired, extraction.schema, extraction.judged);
  const rebound = applyVerdicts(values, await bindValues(values, rules), verdicts);
  const bindings = addDropped(rebound, dropped, parts);
  const fields = plainFields(paired);
  const quotes = findFieldQuotes(fields, extraction.schema);
  const records = await run.parts.offload(
    LOOK_UP,
    { quotes, evidence },
    { chars: charsIn(evidence), signal: rules.signal },
  );
  run.parts.trace.checks({ quotes: records, figures: [] });
  run.parts.trace.bindings(bindings);
  const citations = citeQuotes([...records, ...bindings]);
  return { kind: "extracted", fields, parts, citations, bindings };
}

type Verdicts = ReadonlyMap<string, JudgeVerdict>;

async function askJudge(
  { model, choice, parts }: ExtractRun,
  values: readonly FieldValue[],
  bindings: readonly FieldBinding[],
  evidence: readonly CitableBlock[],
): Promise<Verdicts> {
  if (parts.judge === undefined) return new Map();
  const { judgeFields } = await import("./judge/judge-fields.ts");
  return judgeFields({ values, bindings, evidence }, { model, choice }, parts);
}

/** Grades the values again with the verdict of a judge, by pointer. */
const applyVerdicts = (
  values: readonly FieldValue[],
  bindings: readonly FieldBinding[],
  verdicts: Verdicts,
): readonly FieldBinding[] =>
  bindings.map((binding, at) => {
    const field = values[at];
    const verdict = verdicts.get(binding.pointer);
    return field === undefined || verdict === undefined
      ? binding
      : gradeField(field, binding, verdict);
  });

/**
 * Adds to the bindings the reason why values are null or missing. For a file in parts it adds only values that no part gave:
 * one part may have lost a value that another part has. An item that left its list stands behind those that moved up.
 */
function addDropped(
  bindings: readonly FieldBinding[],
  dropped: GivenFields["dropped"],
  parts: number,
): readonly FieldBinding[] {
  const there = new Map(bindings.map(({ pointer, state }) => [pointer, state]));
  const placeOf = (pointer: string): string =>
    parts === 1 && there.has(pointer) && ITEM.test(pointer)
      ? placeOf(pointer.replace(ITEM, (at) => String(Number(at) + 1)))
      : pointer;
  const withheld = [...dropped].flatMap(([given, { reason, judged }]) => {
    const nothing = { value: null, state: "null", grade: null, quote: null, span: null } as const;
    const pointer = there.get(given) === "null" ? given : placeOf(given);
    if (there.has(pointer)) return [];
    there.set(pointer, "bound");
    return [{ pointer, reason, judged, ...nothing }];
  });
  const told = bindings.map((binding) => {
    if (binding.state !== "null") return binding;
    const { reason = null, judged = null } = dropped.get(binding.pointer) ?? {};
    return { ...binding, reason, judged };
  });
  return [...told, ...withheld];
}

const ITEM = /(?<=\/)\d+$/;

/** Refuses the result when no remaining value is supported, though the model gave values that need support. */
function refuseUnsupported(
  values: readonly FieldValue[],
  bindings: readonly FieldBinding[],
  dropped: GivenFields["dropped"],
  path: string,
): Refusal | null {
  if (bindings.some(isCarried)) return null;
  const lost = values.flatMap((field, at) =>
    bindings[at]?.state === "null" || isChosen(field) ? [] : [field.pointer],
  );
  const before = [...dropped].flatMap(([pointer, one]) => (one.isChosen ? [] : [pointer]));
  const pointers = [...new Set([...lost, ...before])];
  if (pointers.length === 0) return null;
  return refuse(
    "ANSWER_UNSUPPORTED",
    `No value was found in words of ${path}: ${pointers.slice(0, MOST_NAMED).join(", ")} is carried by no quote. ` +
      "`nightdesk runs show` has the replies. Describe the fields, or set another model.",
  );
}

const MOST_NAMED = 5;

async function mergeGiven(
  { extraction: { preset }, parts: { offload, signal } }: ExtractRun,
  given: readonly (GivenFields & { readonly chars: number })[],
): Promise<Fields> {
  const parts = given.map(({ paired, chars }) => ({ json: JSON.stringify(paired), chars }));
  const chars = parts.reduce((sum, { json }) => sum + json.length, 0);
  return JSON.parse(await offload(MERGE, { preset, parts }, { chars, signal })) as Fields;
}

/** The places of the quotes of fields and values, each once, in their order. */
function citeQuotes(quotes: readonly Pick<FieldBinding, "quote" | "span">[]): Citation[] {
  const cited = new Map<string, Citation>();
  for (const { quote, span } of quotes) {
    if (span === null || quote === null) continue;
    const { path, lineStart, lineEnd, startChar, endChar } = span;
    const key = `${String(startChar)}-${String(endChar)}`;
    if (cited.has(key)) continue;
    cited.set(key, { path, heading: null, chunkKey: null, lineStart, lineEnd, quote });
  }
  return [...cited.values()];
}

/** Asks for the fields of a whole file (`second`) or of a part of it, from the evidence that the model sees. */
const askFields = async (
  run: ExtractRun,
  evidence: PartEvidence,
  pass: "second" | "part",
): Promise<AcceptedReply<GivenFields> | Refusal> =>
  askWithRepair(await fieldsPlan(run, evidence, pass), run.parts);

async function fieldsPlan(
  run: ExtractRun,
  { shown, sources }: PartEvidence,
  pass: "second" | "part",
  // The built-in rules reply the same again: a second attempt is useless.
  first: "first" | "last" = run.model.facts.readsPrompts ? "first" : "last",
): Promise<RepairPlan<GivenFields>> {
  const { reading, extraction, examples, model, choice, notes, fenceKey } = run;
  const { preset, labels } = extraction;
  const template = examples === "" ? EXTRACT_PROMPT : EXTRACT_BY_EXAMPLES_PROMPT;
  const schema = pass === "part" ? extraction.partSchema : extraction.schema;
  const check = pass === "part" ? run.checkPart : run.check;
  const { offload, signal } = run.parts;
  const hashes = [reading.sha256, ...spansOf(shown)];
  const mark = { version: template.version, hashes };
  const { boundary, promptOf } = await fencePieces(shown, mark, { fenceKey, ...run.parts });
  const values = {
    path: quoteName(reading.path),
    subject: pass === "part" ? PART_OF_FILE : WHOLE_FILE,
    task: extraction.task,
    schema: JSON.stringify(schema),
    values: extraction.values,
    notes,
    examples,
  };
  const held = preset === null ? wrapSchema(schema) : schema;
  let attempt = first;
  const unheld: RepairPlan<GivenFields> = {
    pass,
    model,
    choice,
    boundary,
    task: { purpose: "extract", preset, labels, examples: extraction.examples, evidence: shown },
    prompt: promptOf(template, values),
    judge(reply) {
      const rules = { check, evidence: sources, attempt, offload, signal };
      attempt = "last";
      return validateFields(reply, rules);
    },
  };
  if (model.facts.toolProtocol === "text") return unheld;
  // A host that can enforce a schema gets it; the reply is checked all the same. The prompt has the schema as well, for a host
  // that refuses to take one.
  const overrides = { format: enforcedSchema(held) };
  return model.facts.readsPrompts
    ? { ...unheld, overrides, otherwise: unheld }
    : { ...unheld, overrides };
}
