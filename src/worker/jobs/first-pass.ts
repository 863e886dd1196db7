import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ModelChoice } from "../../shared/route-models.ts";
import { ReplyUnreadable, ToolCallUnreadable } from "../models/model.ts";
import type { Model, ModelFacts, ModelReply } from "../models/model.ts";
import { callModel } from "../answer/call-model.ts";
import type { CallParts, ModelCall } from "../answer/call-model.ts";
import { fenceBoundary, fenceEvidence } from "../evidence/fence.ts";
import { numberEvidence } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { renderPrompt } from "../answer/prompt.ts";
import type { Prompt } from "../answer/prompt.ts";
import {
  SELECT_TOOL_BY_SCHEMA,
  SELECT_TOOL_BY_TEXT,
  SELECT_TOOL_NATIVELY,
  SELECT_TOOL_SCHEMA,
} from "../answer/select-tool-prompt.ts";
import type { Snapshot } from "../evidence/retrieve.ts";
import { cleanText, firstCodePoints } from "../text/clean-text.ts";
import { READ_WHOLE_FILE } from "../tools/read-text-file.ts";
import { fromNativeCalls } from "../tools/parse-tool-call.ts";
import type { ToolCall } from "../tools/parse-tool-call.ts";
import { malformed } from "../tools/envelope.ts";
import type { MalformedCall } from "../tools/envelope.ts";
import type { Classification } from "../question/classify-question.ts";

/** direct: the model wrote something else than a call. That is kept in the record and never returned. */
export type Selection =
  { readonly kind: "call"; readonly call: ToolCall } | { readonly kind: "direct" };

type FirstPass = {
  readonly question: string;
  readonly classification: Classification;
  readonly snapshot: Snapshot;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly fenceKey: Buffer;
};

type Protocol = ModelFacts["toolProtocol"];

/** Enough of a passage to see what its document is about. */
const PASSAGE_CHARS = 400;

const TEMPLATES = {
  native: SELECT_TOOL_NATIVELY,
  schema: SELECT_TOOL_BY_SCHEMA,
  text: SELECT_TOOL_BY_TEXT,
} as const;

const { name, description, parameters } = READ_WHOLE_FILE;
const OFFERED = { name, description, parameters };

/** Only a read admits an answer about files that are named: nothing but a call is of use then. */
function overridesFor(
  protocol: Protocol,
  { need }: Classification,
): NonNullable<ModelCall["overrides"]> {
  switch (protocol) {
    case "native":
      return { tools: [OFFERED], ...(need === "passages" ? {} : { toolChoice: "required" }) };
    case "schema":
      return { format: SELECT_TOOL_SCHEMA };
    case "text":
      return {};
  }
}

/**
 * The model picks the file to read, or leaves it at the passages. It is asked by the best protocol that its host
 * has, and once more in words where the host could not read its call. Refusals: those of the model, and
 * INVALID_ARGS for a call that can't be read.
 */
export async function firstPass(plan: FirstPass, parts: CallParts): Promise<Selection | Refusal> {
  const { toolProtocol } = plan.model.facts;
  const reply =
    (await askReadably(toolProtocol, plan, parts)) ?? (await askReadably("text", plan, parts));
  if (reply === null) return selectionOf(malformed(null, "its host could not read it"), parts);
  if (reply.kind === "refused") return reply;
  return selectionOf(fromNativeCalls(reply.toolCalls, reply.text), parts);
}

/** The reply; null where the host could not read it. */
async function askReadably(
  protocol: Protocol,
  plan: FirstPass,
  parts: CallParts,
): Promise<ModelReply | Refusal | null> {
  try {
    return await askBy(protocol, plan, parts);
  } catch (error) {
    if (!(error instanceof ReplyUnreadable)) throw error;
    const isCall = error instanceof ToolCallUnreadable;
    parts.trace.detail(
      "first_pass",
      isCall ? { unreadable_call: true } : { unreadable_reply: true },
    );
    return null;
  }
}

function selectionOf(
  call: ToolCall | MalformedCall | null,
  { trace }: CallParts,
): Selection | Refusal {
  trace.detail("first_pass", { selected: call?.kind ?? "direct" });
  if (call === null) return { kind: "direct" };
  if (call.kind === "call") return { kind: "call", call };
  const message = `The model's tool call can't be carried out: ${call.reason}.`;
  trace.toolCall({
    name: call.name === null ? "unknown" : cleanText(call.name),
    args: {},
    errorCode: "INVALID_ARGS",
    errorMessage: message,
    result: null,
    trailingText: null,
    durationMs: 0,
  });
  return refuse("INVALID_ARGS", message);
}

async function askBy(
  protocol: Protocol,
  plan: FirstPass,
  parts: CallParts,
): Promise<ModelReply | Refusal> {
  const { question, classification, snapshot, model, choice } = plan;
  const evidence = beginningsOf(snapshot);
  const prompt = selectToolPrompt(protocol, plan, evidence);
  parts.trace.detail("first_pass", {
    model: model.name,
    why: choice.why,
    protocol,
    prompt_version: prompt.record.template,
    prompt_sha256: prompt.record.sha256,
  });
  const { namedFiles } = classification;
  const task = { purpose: "select_tool", question, namedFiles, evidence } as const;
  const overrides = overridesFor(protocol, classification);
  return callModel({ pass: "first", model, choice, prompt, task, overrides }, parts);
}

/** All files that are named are read when the model calls for one of them. */
function namesFor({ namedFiles }: Classification): string {
  const names = namedFiles.map((name) => JSON.stringify(name)).join(", ");
  if (namedFiles.length <= 1) return names === "" ? "none" : names;
  return `${names} (call the tool for one of them, and all are read)`;
}

const beginningsOf = ({ passages, hash }: Snapshot): CitableBlock[] =>
  numberEvidence({ kind: "admitted", files: [], passages, snapshotHash: hash }).map((block) => {
    const text = firstCodePoints(block.text, PASSAGE_CHARS);
    return { ...block, text, endChar: Math.min(block.endChar, block.startChar + PASSAGE_CHARS) };
  });

function selectToolPrompt(
  protocol: Protocol,
  { question, classification, snapshot, fenceKey }: FirstPass,
  evidence: readonly CitableBlock[],
): Prompt {
  const boundary = fenceBoundary(TEMPLATES[protocol].version, [snapshot.hash], fenceKey);
  return renderPrompt(TEMPLATES[protocol], {
    values: {
      question,
      files: namesFor(classification),
      shown: evidence.length === 0 ? "none" : String(evidence.length),
    },
    boundary,
    evidence: { text: fenceEvidence(evidence, boundary), shown: evidence },
  });
}
