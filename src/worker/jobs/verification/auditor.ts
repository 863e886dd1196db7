import { z } from "zod";
import type { ReplyRecord } from "../../../shared/job/run-result.ts";
import type { CheckRecord } from "../../../shared/job/verification.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { callForText } from "../../answer/call-model.ts";
import type { CallParts, ModelCall } from "../../answer/call-model.ts";
import { schemaOverride } from "../../answer/repair-loop.ts";
import { correctionOf, NO_CORRECTION, renderPrompt } from "../../answer/prompt.ts";
import type { Correction, Prompt, PromptTemplate } from "../../answer/prompt.ts";
import { fenceBoundary, fenceEvidence, quoteName } from "../../evidence/fence.ts";
import type { Auditor } from "../../evidence/types.ts";
import type { EvidenceBlock } from "../../models/model.ts";
import { cleanText, firstCodePoints } from "../../text/clean-text.ts";
import { neutraliseDraft, neutraliseText } from "../../text/neutralise-text.ts";
import { MOST_CHECKS } from "../../verify/checks/rule-checks.ts";
import { parseObject } from "../../verify/validate-fields.ts";
import { DECOMPOSE_PROMPT, DECOMPOSE_SCHEMA, AUDIT_PROMPT, AUDIT_SCHEMA } from "./prompts.ts";
import type { Statement } from "./draft.ts";

/** The input of the auditor: the task, and the statements with their quotes. Nothing else of the run. */
type Audit = Auditor & {
  readonly task: string;
  readonly statements: readonly Statement[];
  readonly fenceKey: Buffer;
};

const MOST_QUESTION_CHARS = 1_000;
const MOST_STATEMENTS = 40;
const MOST_STATEMENT_CHARS = 600;

const line = z.string().transform((text) => firstCodePoints(oneLine(text), MOST_QUESTION_CHARS));
const oneLine = (text: string): string => cleanText(text).replace(/\s+/g, " ").trim();

const decomposedSchema = z.object({
  checks: z.array(
    z.object({ claim: z.int(), question: line, expects: z.enum(["yes", "no"]).default("yes") }),
  ),
});

export type AskedCheck = Pick<CheckRecord, "claimNumber" | "question" | "expects">;

/** Asks the auditor which statements to check, and the question about each; empty if the reply can't be read. */
export async function decompose(audit: Audit, parts: CallParts): Promise<readonly AskedCheck[]> {
  const reply = await askAuditor("decompose", DECOMPOSE_PROMPT, audit, {
    values: { task: quoteName(audit.task) },
    format: DECOMPOSE_SCHEMA,
    parts,
  });
  const read = decomposedSchema.safeParse(reply);
  if (!read.success) return [];
  const numbers = new Set(audit.statements.map(({ number }) => number));
  return read.data.checks
    .filter(({ claim, question }) => numbers.has(claim) && question !== "")
    .slice(0, MOST_CHECKS)
    .map(({ claim, question, expects }) => ({ claimNumber: claim, question, expects }));
}

const auditSchema = z.object({
  score: z.int().min(1).max(4),
  corrections: z.array(z.object({ claim: z.int(), where: line, change: line })).default([]),
});

export type AuditReply = z.infer<typeof auditSchema>;

/** The auditor's score of an answer after its checks; null if it can't be read: a number in prose is no score. */
export async function scoreAnswer(
  audit: Audit,
  checks: readonly CheckRecord[],
  parts: CallParts,
): Promise<AuditReply | null> {
  const reply = await askAuditor("audit", AUDIT_PROMPT, audit, {
    values: { task: quoteName(audit.task), checks: checks.map(describeCheck).join("\n") },
    format: AUDIT_SCHEMA,
    parts,
  });
  const read = auditSchema.safeParse(reply);
  if (!read.success) return null;
  // A correction without a place or a change is useless.
  const corrections = read.data.corrections.filter(
    ({ where, change }) => where !== "" && change !== "",
  );
  return { ...read.data, corrections: corrections.slice(0, MOST_CHECKS) };
}

/** One line. It contains words of documents and models, which can't open or close anything in the prompt. */
const describeCheck = (check: CheckRecord): string => {
  const found = check.evidence.map(
    ({ path, line_start: at, quote }) =>
      `${path}:${String(at)}${quote === null ? "" : ` says ${JSON.stringify(quote)}`}`,
  );
  const detail = [check.detail, ...found].filter((text) => text !== "").join("; ");
  const said = `- Statement ${String(check.claimNumber)}: ${check.question} Expected: ${check.expects}. Found: ${check.state}.`;
  return neutraliseText(oneLine(`${said} ${firstCodePoints(detail, MOST_QUESTION_CHARS)}`));
};

type CheckPrompt<Slot extends string> = {
  readonly values: Readonly<Record<Slot, string>>;
  readonly format: Readonly<Record<string, unknown>>;
  readonly parts: CallParts;
};

/** The object in the reply; null if it holds none, or the host refused the call. */
async function askAuditor<Slot extends string>(
  pass: Extract<ReplyRecord["pass"], "decompose" | "audit">,
  template: PromptTemplate<Slot>,
  { model, choice, task, statements, fenceKey }: Audit,
  { values, format, parts }: CheckPrompt<Slot>,
): Promise<unknown> {
  const blocks = statements.slice(0, MOST_STATEMENTS).map(blockOf);
  const boundary = fenceBoundary(
    template.version,
    [task, ...blocks.map(({ text }) => text)],
    fenceKey,
  );
  const evidence = { text: fenceEvidence(blocks, boundary), shown: [] };
  const prompt = (correction: Correction) =>
    renderPrompt(template, { values, boundary, evidence, correction });
  const asked = { pass, model, choice, boundary, prompt, format };
  const reply = await parts.trace.step(pass, () => askForObject(asked, parts));
  const detail =
    reply.kind === "refused"
      ? { refused: reply.code }
      : { model: model.name, is_readable: reply.fields !== null };
  parts.trace.detail(pass, detail);
  return reply.kind === "refused" ? null : reply.fields;
}

/** A statement as a block of the prompt: its number, its source, and the words that support it. */
function blockOf({ number, claim }: Statement): EvidenceBlock {
  const { text, span, carrier, grade } = claim;
  const place = span === null ? "no place" : `${span.path}:${String(span.lineStart)}`;
  const carried =
    carrier === null
      ? "No words carry it."
      : `Carried by ${place}: ${JSON.stringify(firstCodePoints(oneLine(carrier), MOST_STATEMENT_CHARS))}`;
  return {
    number,
    path: "statement",
    title: null,
    headingPath: null,
    text: `${firstCodePoints(oneLine(text), MOST_STATEMENT_CHARS)}\n${carried}\nThe rules call it ${grade}.`,
  };
}

const MOST_DRAFT_CHARS = 2_000;

/** A call whose reply must be an object. */
type ObjectCall = Pick<ModelCall, "pass" | "model" | "choice"> & {
  readonly boundary: string;
  readonly prompt: (correction: Correction) => Prompt;
  /** A schema, for a host that enforces one. */
  readonly format: Readonly<Record<string, unknown>>;
};

/** Repeats the call once, with the fault, if the reply is no object. */
export async function askForObject(
  { boundary, prompt, format, ...call }: ObjectCall,
  parts: CallParts,
): Promise<ObjectReply | Refusal> {
  const overrides = schemaOverride(call.model, format);
  const ask = (correction: Correction) =>
    askOnce({ ...call, task: { purpose: "chat" }, overrides, prompt: prompt(correction) }, parts);
  const first = await ask(NO_CORRECTION);
  if (first.kind === "refused" || first.fields !== null) return first;
  const draft = neutraliseDraft(firstCodePoints(first.text, MOST_DRAFT_CHARS));
  const fault = { code: "NO_JSON", message: `It is no JSON object: ${first.reason}.` };
  return ask(correctionOf(boundary, draft, [fault]));
}

async function askOnce(call: ModelCall, parts: CallParts): Promise<ObjectReply | Refusal> {
  const reply = await callForText(call, parts);
  if (reply.kind === "refused") return reply;
  const { text } = reply;
  const parsed = parseObject(text);
  return parsed.kind === "fields"
    ? { kind: "object", fields: parsed.fields }
    : { kind: "object", fields: null, text, reason: parsed.reason };
}

/** Not validated by a schema; `fields` is null if the reply is no object. */
type ObjectReply =
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, unknown>> }
  | {
      readonly kind: "object";
      readonly fields: null;
      readonly text: string;
      /** The reason as a clause, which quotes nothing of the reply. */
      readonly reason: string;
    };
