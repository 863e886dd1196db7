import { refuse } from "../../shared/failure.ts";
import { isRecord, parseJson } from "../../shared/schema/json-value.ts";
import type { FieldBinding, QuoteRecord } from "../../shared/job/run-result.ts";
import type { Fault, Validated } from "../evidence/validated.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { charsIn } from "../models/model.ts";
import type { ModelReply } from "../models/model.ts";
import type { Offload, PureWork } from "../offload/offload.ts";
import { endOfJson, findUnstorable } from "../text/model-json.ts";
import { openReply } from "../text/open-reply.ts";
import { parseToolCall } from "../tools/parse-tool-call.ts";
import { BIND_FIELDS } from "./bindings/bind-fields.ts";
import { isCarried } from "./bindings/grade-field.ts";
import { isChosen, withoutValues } from "./bindings/quoted-fields.ts";
import type { FieldValue } from "./bindings/quoted-fields.ts";
import type { CheckedFields, CheckFields, FieldQuote } from "./check-fields.ts";
import type { Fields } from "./fields-schema.ts";
import { holdsDecline, isDeclined } from "./reply.ts";
import { verifyQuotes } from "./verify-quotes.ts";

/** The rules and texts that fields are checked against. */
export type FieldRules = {
  readonly check: CheckFields;
  /** The document, which must hold the quotes. */
  readonly evidence: readonly CitableBlock[];
  /** After the first attempt an unsupported value is requested again; after the last it is left out if the schema allows it. */
  readonly attempt: "first" | "last";
  readonly offload: Offload;
  readonly signal: AbortSignal;
};

/** Fields with the quotes beside their values. */
export type GivenFields = {
  readonly paired: Fields;
  /** The values that were left out, and why. */
  readonly dropped: Dropped;
};

/** The fields that remain without some of their values. */
type LeftFields = GivenFields & Pick<CheckedFields, "values">;

/** By JSON pointer. */
type Dropped = ReadonlyMap<string, DroppedValue>;
type DroppedValue = Pick<FieldBinding, "reason" | "judged"> & { readonly isChosen: boolean };

const UNCHECKED = { quotes: [], figures: [] };

/**
 * Checks a reply against the schema of an extraction, and each quote and value in it against the document. A fault names the
 * place in the reply and the rule, and holds no words of the reply or the document.
 *
 * Refusal: EVIDENCE_NOT_ACQUIRED where the model declines.
 */
export async function validateFields(
  { text, toolCalls, doneReason }: FieldsReply,
  rules: FieldRules,
): Promise<Validated<GivenFields>> {
  const { evidence, offload, signal } = rules;
  const reply = { text, toolCalls, doneReason };
  const limits = { chars: text.length + charsIn(evidence), replyChars: text.length, signal };
  const opened = await offload(OPEN, { reply, evidence }, limits);
  return opened.kind === "opened" ? validateOpened(opened.fields, rules) : opened;
}

type FieldsReply = Pick<ModelReply, "text" | "toolCalls" | "doneReason">;

type Openable = { readonly reply: FieldsReply; readonly evidence: readonly CitableBlock[] };

type Opened = { readonly kind: "opened"; readonly fields: Fields } | Validated<never>;

/** The fields of a reply, or why there are none. */
export function openFields({ reply, evidence }: Openable): Opened {
  const { text, toolCalls, doneReason } = reply;
  if (toolCalls.length > 0 || parseToolCall(text) !== null) {
    return violatedBy(
      fault("TOOL_CALL", "It called a tool. Tools can't be used; reply with the JSON object."),
    );
  }
  if (doneReason !== "stop") {
    return violatedBy(fault("CUT_SHORT", "It was cut off because it was too long. Be shorter."));
  }
  if (holdsDecline(text, evidence)) return refuseDeclined();
  const read = parseObject(text);
  if (read.kind === "fields") return { kind: "opened", fields: read.fields };
  if (isDeclined(text, { question: "", evidence })) return refuseDeclined();
  return violatedBy(fault("NO_JSON", `It is no JSON object that can be read: ${read.reason}.`));
}

/** `openFields` in a thread, for replies and documents of any length. */
const OPEN: PureWork<Openable, Opened> = { home: import.meta.url, run: openFields };

async function validateOpened(given: Fields, rules: FieldRules): Promise<Validated<GivenFields>> {
  const { check, evidence, attempt, offload, signal } = rules;
  const checked = await check(given, signal);
  const blank = checked.quotes.filter(({ quote }) => quote.trim() === "");
  const faults = [
    ...checked.faults.map(({ path, message }) => fault("SCHEMA", `${path}: ${message}.`)),
    ...blank.map(({ path }) => fault("SCHEMA", `${path}: must hold words of the document.`)),
  ];
  if (faults.length > 0) return { kind: "violated", faults, checks: UNCHECKED };
  const found = checked.quotes;
  const chars = charsIn(evidence) + found.reduce((sum, { quote }) => sum + quote.length, 0);
  const records = await offload(LOOK_UP, { quotes: found, evidence }, { chars, signal });
  const checks = { ...UNCHECKED, quotes: records };
  const bindings = await bindValues(checked.values, rules);
  const unbound = bindings.filter(({ state }) => state === "unbound");
  const facts = { values: bindings.length, unbound: unbound.length };
  const wrong = [
    ...unverifiedIn(found, records),
    ...(attempt === "first" ? unboundFaults(checked.values, bindings) : []),
  ];
  if (wrong.length > 0) return { kind: "violated", faults: wrong, checks, facts };
  return {
    kind: "passed",
    value: await leaveOutUnsupported(checked, bindings, rules),
    checks,
    facts,
  };
}

/** Binds each value to the words of the document that hold it. */
export async function bindValues(
  values: readonly FieldValue[],
  { evidence, offload, signal }: Pick<FieldRules, "evidence" | "offload" | "signal">,
): Promise<readonly FieldBinding[]> {
  const chars = charsIn(evidence) + values.length * CHARS_OF_A_VALUE;
  return offload(BIND_FIELDS, { values, evidence }, { chars, signal });
}

/** The cost of comparing a value with a document, in characters of a document. */
const CHARS_OF_A_VALUE = 400;

/**
 * Leaves unsupported values out of fields: null if the schema allows null, else omitted if not required. All values stay if the
 * schema refuses the rest.
 */
export async function leaveOutUnsupported(
  { paired, values }: CheckedFields,
  bindings: readonly FieldBinding[],
  { check, signal }: Pick<FieldRules, "check" | "signal">,
): Promise<LeftFields> {
  const left = new Map<string, "null" | "omitted">();
  const dropped = new Map<string, DroppedValue>();
  for (const [at, field] of values.entries()) {
    const { pointer, without, isJudged } = field;
    const binding = bindings[at];
    if (binding === undefined || binding.state === "null" || isCarried(binding)) continue;
    if (without === "kept" || isJudged) continue;
    left.set(pointer, without);
    const { reason, judged } = binding;
    dropped.set(pointer, { reason, judged, isChosen: isChosen(field) });
  }
  if (left.size === 0) return { paired, values, dropped };
  const rest = await check(withoutValues(paired, left), signal);
  return rest.faults.length === 0
    ? { paired: rest.paired, values: rest.values, dropped }
    : { paired, values, dropped: new Map() };
}

const UNBOUND_WORDS: Readonly<
  Record<Exclude<FieldBinding["reason"], null | "other_label" | "reading" | "judge">, string>
> = {
  no_quote:
    "it has no quote, and no one sentence of the document holds it; give the sentence or row that does",
  quote_not_found:
    "its quote does not stand in the document; copy the sentence or row that holds it",
  quote_short: "its quote says too little; copy the whole sentence or row that holds it",
  not_in_quote:
    "its quote does not hold it; give the value that the document says, and the sentence or row",
};
const INSTEAD: Readonly<Record<FieldValue["without"], string>> = {
  null: ", or null",
  omitted: ", or leave it out",
  kept: "",
};

const unboundFaults = (values: readonly FieldValue[], bindings: readonly FieldBinding[]): Fault[] =>
  values.flatMap(({ pointer, without, isJudged }, at) => {
    const { state, reason = null } = bindings[at] ?? {};
    if (state !== "unbound" || reason === null || isJudged) return [];
    if (reason === "other_label" || reason === "reading" || reason === "judge") return [];
    return [fault("VALUE_UNBOUND", `${pointer}: ${UNBOUND_WORDS[reason]}${INSTEAD[without]}.`)];
  });

type Quoted = {
  readonly quotes: readonly FieldQuote[];
  readonly evidence: readonly CitableBlock[];
};

/** Looks up all quotes of fields, in order: a register of people may have many. */
export const lookUpAll = ({ quotes, evidence }: Quoted): QuoteRecord[] =>
  verifyQuotes(
    quotes.map(({ quote }) => ({ quote, cited: [] })),
    evidence,
    quotes.length,
  );

/** `lookUpAll` in a thread, for evidence of any length. */
export const LOOK_UP: PureWork<Quoted, QuoteRecord[]> = { home: import.meta.url, run: lookUpAll };

const unverifiedIn = (quotes: readonly FieldQuote[], records: readonly QuoteRecord[]): Fault[] =>
  quotes.flatMap(({ path }, index) => {
    const { class: found } = records[index] ?? { class: "not_found" };
    if (found === "verbatim" || found === "normalised") return [];
    const why =
      found === "stitched"
        ? "its words stand apart in the document; copy one passage"
        : "it does not stand in the document; copy a passage word for word";
    return [fault("QUOTE_NOT_FOUND", `${path}: ${why}.`)];
  });

const refuseDeclined = (): Validated<never> =>
  refuse(
    "EVIDENCE_NOT_ACQUIRED",
    "The document does not give the fields that are asked for. Ask for others, or let them be null.",
  );

const fault = (code: string, message: string): Fault => ({ code, message, forRecord: message });
const violatedBy = (one: Fault): Validated<never> => ({
  kind: "violated",
  faults: [one],
  checks: UNCHECKED,
});

type ReadFields =
  | { readonly kind: "fields"; readonly fields: Fields }
  /** `reason` is a clause about the reply, without its words. */
  | { readonly kind: "none"; readonly reason: string };

const noFields = (reason: string): ReadFields => ({ kind: "none", reason });

/** The beginning of an object behind words: at the start of a line, also in a fence. */
const OBJECT_BEHIND_WORDS = /(?:^|\n)[ \t]{0,8}\{/;

/**
 * Finds the JSON object of a reply: behind thinking, in a code fence, or behind an introductory sentence. Text behind it is
 * ignored. At most 65,536 characters and 32 levels. Pure, linear in the reply.
 */
export function parseObject(reply: string): ReadFields {
  const { text } = openReply(reply);
  const start = text.startsWith("{") ? 0 : (OBJECT_BEHIND_WORDS.exec(text)?.index ?? -1);
  if (start === -1) return noFields("it held no JSON object");
  const json = text.slice(text.indexOf("{", start));
  const span = endOfJson(json);
  if (span.kind === "open") return noFields(span.reason);
  const value = parseJson(json.slice(0, span.end));
  if (!isRecord(value)) return noFields("its JSON is not valid");
  const unstorable = findUnstorable(value);
  return unstorable === null ? { kind: "fields", fields: value } : noFields(unstorable);
}
