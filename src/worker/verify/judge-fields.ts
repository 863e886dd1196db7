import { refuse } from "../../shared/failure.ts";
import { isRecord, parseJson } from "../../shared/json-value.ts";
import type { QuoteRecord } from "../../shared/run-result.ts";
import type { Fault, Judged } from "../evidence/judged.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { charsIn } from "../models/model.ts";
import type { ModelReply } from "../models/model.ts";
import type { Offload, PureWork } from "../offload/offload.ts";
import { endOfJson, openReply } from "../tools/envelope.ts";
import { findUnstorable } from "../tools/find-unstorable.ts";
import { parseToolCall } from "../tools/parse-tool-call.ts";
import type { Policy } from "./check-answer.ts";
import type { CheckFields, FieldQuote, Fields } from "./check-fields.ts";
import { holdsDecline, isDeclined } from "./reply.ts";
import { verifyQuotes } from "./verify-quotes.ts";

/** What fields are held against. */
type FieldRules = {
  readonly check: CheckFields;
  /** The words of the document that quotes must stand in. */
  readonly evidence: readonly CitableBlock[];
  readonly quotes: Policy;
  readonly offload: Offload;
  readonly signal: AbortSignal;
};

const UNCHECKED = { quotes: [], figures: [], sentences: [] };

/**
 * Holds a reply against the schema of an extraction, and each quote in it against the document. A fault names the place
 * in the reply and the rule, and nothing that stands in either.
 *
 * Refusal: EVIDENCE_NOT_ACQUIRED where the model says that the document does not give the fields.
 */
export async function judgeFields(
  { text, toolCalls, doneReason }: FieldsReply,
  rules: FieldRules,
): Promise<Judged<Fields>> {
  const { evidence, offload, signal } = rules;
  const reply = { text, toolCalls, doneReason };
  const limits = { chars: text.length + charsIn(evidence), replyChars: text.length, signal };
  const opened = await offload(OPEN, { reply, evidence }, limits);
  return opened.kind === "opened" ? judgeOpened(opened.fields, rules) : opened;
}

type FieldsReply = Pick<ModelReply, "text" | "toolCalls" | "doneReason">;

type Openable = { readonly reply: FieldsReply; readonly evidence: readonly CitableBlock[] };

type Opened = { readonly kind: "opened"; readonly fields: Fields } | Judged<never>;

/** The fields in a reply, or why there are none. */
export function openFields({ reply, evidence }: Openable): Opened {
  const { text, toolCalls, doneReason } = reply;
  if (toolCalls.length > 0 || parseToolCall(text) !== null) {
    return violated(
      fault("TOOL_CALL", "It called a tool. Tools can't be used; reply with the JSON object."),
    );
  }
  if (doneReason !== "stop") {
    return violated(fault("CUT_SHORT", "It was cut off because it was too long. Be shorter."));
  }
  if (holdsDecline(text, evidence)) return declined();
  const read = readFields(text);
  if (read.kind === "fields") return { kind: "opened", fields: read.fields };
  if (isDeclined(text, { question: "", evidence })) return declined();
  return violated(fault("NO_JSON", `It is no JSON object that can be read: ${read.reason}.`));
}

/** The same for a reply and a document of any length. */
const OPEN: PureWork<Openable, Opened> = { home: import.meta.url, run: openFields };

async function judgeOpened(
  fields: Fields,
  { check, evidence, quotes, offload, signal }: FieldRules,
): Promise<Judged<Fields>> {
  const checked = await check(fields, signal);
  const faults = checked.faults.map(({ path, message }) => fault("SCHEMA", `${path}: ${message}.`));
  if (faults.length > 0) return { kind: "violated", faults, checks: UNCHECKED };
  if (quotes === "off") return { kind: "passed", value: fields, checks: UNCHECKED };
  const found = checked.quotes;
  const blank = found.filter(({ quote }) => quote.trim() === "");
  if (blank.length > 0) {
    const asked = blank.map(({ path }) =>
      fault("SCHEMA", `${path}: must hold words of the document.`),
    );
    return { kind: "violated", faults: asked, checks: UNCHECKED };
  }
  const chars = charsIn(evidence) + found.reduce((sum, { quote }) => sum + quote.length, 0);
  const records = await offload(LOOK_UP, { quotes: found, evidence }, { chars, signal });
  const checks = { ...UNCHECKED, quotes: records };
  const unverified = quotes === "require" ? unverifiedIn(found, records) : [];
  return unverified.length === 0
    ? { kind: "passed", value: fields, checks }
    : { kind: "violated", faults: unverified, checks };
}

type Quoted = {
  readonly quotes: readonly FieldQuote[];
  readonly evidence: readonly CitableBlock[];
};

/** The quotes of fields, each with where it stands, in the order of the fields: a register of people may have many. */
export const lookUpAll = ({ quotes, evidence }: Quoted): QuoteRecord[] =>
  verifyQuotes(
    quotes.map(({ quote }) => ({ quote, cited: [] })),
    evidence,
    quotes.length,
  );

/** The same for evidence of any length. */
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

const declined = (): Judged<never> =>
  refuse(
    "EVIDENCE_NOT_ACQUIRED",
    "The document does not give the fields that are asked for. Ask for others, or let them be null.",
  );

const fault = (code: string, message: string): Fault => ({ code, message, told: message });
const violated = (one: Fault): Judged<never> => ({
  kind: "violated",
  faults: [one],
  checks: UNCHECKED,
});

type ReadFields =
  | { readonly kind: "fields"; readonly fields: Fields }
  /** `reason` is a clause about the reply, without its words. */
  | { readonly kind: "none"; readonly reason: string };

const none = (reason: string): ReadFields => ({ kind: "none", reason });

/** Where an object begins behind words: at the start of a line, be it in a fence. */
const OBJECT_BEHIND_WORDS = /(?:^|\n)[ \t]{0,8}\{/;

/**
 * The JSON object of a reply: behind thinking, in a code fence, or behind a sentence that announces it. What follows it
 * is left out. At most 65,536 characters and 32 levels. Pure, linear in the reply.
 */
function readFields(reply: string): ReadFields {
  const { text } = openReply(reply);
  const start = text.startsWith("{") ? 0 : (OBJECT_BEHIND_WORDS.exec(text)?.index ?? -1);
  if (start === -1) return none("it held no JSON object");
  const json = text.slice(text.indexOf("{", start));
  const span = endOfJson(json);
  if (span.kind === "open") return none(span.reason);
  const value = parseJson(json.slice(0, span.end));
  if (!isRecord(value)) return none("its JSON is not valid");
  const unstorable = findUnstorable(value);
  return unstorable === null ? { kind: "fields", fields: value } : none(unstorable);
}
