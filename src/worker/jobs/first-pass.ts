import { isAbsolute } from "node:path";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ModelChoice } from "../../shared/job/route-models.ts";
import { ReplyUnreadable, ToolCallUnreadable } from "../models/model.ts";
import type { Model, ModelFacts, ModelReply } from "../models/model.ts";
import { callModel, callParts } from "../answer/call-model.ts";
import type { CallParts, ModelCall } from "../answer/call-model.ts";
import { fenceBoundary, fenceEvidence } from "../evidence/fence.ts";
import { numberEvidence } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { correctionOf, NO_CORRECTION, renderPrompt } from "../answer/prompt.ts";
import type { Correction, Prompt } from "../answer/prompt.ts";
import {
  SELECT_TOOL_BY_SCHEMA,
  SELECT_TOOL_BY_TEXT,
  SELECT_TOOL_NATIVELY,
  SELECT_TOOL_SCHEMA,
} from "../answer/select-tool-prompt.ts";
import type { Snapshot } from "../evidence/retrieve.ts";
import { cleanText, firstCodePoints } from "../text/clean-text.ts";
import { neutraliseDraft } from "../text/neutralise-text.ts";
import { checkToolCallPath } from "../tools/check-tool-call-path.ts";
import { READ_WHOLE_FILE } from "../tools/read-text-file.ts";
import { fromNativeCalls, malformed } from "../tools/parse-tool-call.ts";
import type { MalformedCall, ToolCall } from "../tools/parse-tool-call.ts";
import type { Classification } from "../question/classify-question.ts";
import { filesOfJob } from "./ask-run.ts";
import type { Answerers, AskRun, RetrievedContext } from "./ask-run.ts";

/** direct: the model wrote something other than a call. The record keeps that text; no answer returns it. */
export type Selection =
  { readonly kind: "call"; readonly call: ToolCall } | { readonly kind: "direct" };

type FirstPass = Pick<RetrievedContext, "classification" | "meant" | "snapshot"> & {
  readonly question: string;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly fenceKey: Buffer;
};

type CorrectedPass = FirstPass & { readonly correction: Correction };
type Protocol = ModelFacts["toolProtocol"];

/** This much of a passage shows what its document is about. */
const PASSAGE_CHARS = 400;

const TEMPLATES = {
  native: SELECT_TOOL_NATIVELY,
  schema: SELECT_TOOL_BY_SCHEMA,
  text: SELECT_TOOL_BY_TEXT,
} as const;

const { name, description, parameters } = READ_WHOLE_FILE;
const OFFERED_TOOL = { name, description, parameters };

/** Requires a call when the question names files: only a read admits an answer about named files. */
function overridesFor(
  protocol: Protocol,
  { need }: Classification,
): NonNullable<ModelCall["overrides"]> {
  switch (protocol) {
    case "native":
      return { tools: [OFFERED_TOOL], ...(need === "passages" ? {} : { toolChoice: "required" }) };
    case "schema":
      return { format: SELECT_TOOL_SCHEMA };
    case "text":
      return {};
  }
}

/** The first pass. When the job gives files, no model is asked which to read, and no prompt of this pass holds their paths. */
export const firstPass = (
  { deps, trace, signal, ...asked }: AskRun,
  found: RetrievedContext,
  { route, first }: Answerers,
): Promise<Selection | Refusal> =>
  trace.step("first_pass", async () => {
    const { question } = asked.input;
    const [path] = filesOfJob(asked);
    if (path === undefined) {
      const plan = { question, ...found, model: first, choice: route.first };
      return selectTool({ ...plan, fenceKey: deps.fenceKey }, callParts(deps, { trace, signal }));
    }
    trace.detail("first_pass", { selected: "path" });
    const call = { kind: "call", name: READ_WHOLE_FILE.name, args: { path } } as const;
    return { kind: "call", call: { ...call, trailingText: "" } };
  });

/**
 * Lets the model pick the file to read, or answer from the passages, by the best protocol of its host. A call that can't be
 * carried out as written is requested once more: in words if the host could not read it, else by a schema if the host
 * enforces one. Refusals: those of the model, and INVALID_ARGS for a second call that can't be read either.
 */
async function selectTool(plan: FirstPass, parts: CallParts): Promise<Selection | Refusal> {
  const { toolProtocol } = plan.model.facts;
  const first = await askForChoice(
    { protocol: toolProtocol, correction: NO_CORRECTION },
    plan,
    parts,
  );
  const again = first.kind === "refused" ? null : secondRequest(first, plan);
  if (again === null) return selectionOf(first, parts);
  parts.trace.detail("first_pass", { asked_again: again.protocol });
  return selectionOf(await askForChoice(again, plan, parts), parts);
}

/** The choice of a model, as it wrote it. */
type ToolChoice = {
  readonly kind: "chosen";
  readonly text: string;
  /** Null for a reply that is no call. */
  readonly call: ToolCall | MalformedCall | null;
  /** Set when the host could not read the reply. */
  readonly unread?: true;
};

type ToolRequest = { readonly protocol: Protocol; readonly correction: Correction };

async function askForChoice(
  { protocol, correction }: ToolRequest,
  plan: FirstPass,
  parts: CallParts,
): Promise<ToolChoice | Refusal> {
  const reply = await askUnlessUnreadable(protocol, { ...plan, correction }, parts);
  if (reply === null) {
    const call = malformed(null, "its host could not read it");
    return { kind: "chosen", text: "", call, unread: true };
  }
  if (reply.kind === "refused") return reply;
  const { text, toolCalls } = reply;
  return { kind: "chosen", text, call: fromNativeCalls(toolCalls, text) };
}

/** The second request; null for a choice that can be carried out, or that rules forbid however it is written. */
function secondRequest({ call, text, unread }: ToolChoice, plan: FirstPass): ToolRequest | null {
  if (unread === true) return { protocol: "text", correction: NO_CORRECTION };
  const fault = call === null ? null : faultOf(call, plan);
  if (fault === null) return null;
  const { toolProtocol } = plan.model.facts;
  const protocol = toolProtocol === "text" ? "text" : "schema";
  const written = text === "" ? JSON.stringify(call) : text;
  const draft = neutraliseDraft(firstCodePoints(written, MOST_DRAFT_CHARS));
  const told = { code: "TOOL_CALL", message: fault };
  return { protocol, correction: correctionOf(boundaryFor(protocol, plan), draft, [told]) };
}

const MOST_DRAFT_CHARS = 1_000;

/** The fault in how a call is written. Its text is ours alone: it quotes nothing of the model. */
function faultOf(call: ToolCall | MalformedCall, plan: FirstPass): string | null {
  if (call.kind === "malformed") return malformedMessage(call);
  const checked = checkToolCallPath(call, readablePaths(plan));
  if (checked.kind === "allowed") return null;
  if (checked.code === "INVALID_ARGS") return NOT_THE_TOOL;
  const { path } = call.args;
  return typeof path === "string" && isAbsolute(path)
    ? "Its path begins at the root of a disk: spell the file as the question or the passage spells it."
    : null;
}

const NOT_THE_TOOL = `The one tool is ${name}, and its one argument is the path.`;

const malformedMessage = ({ reason }: MalformedCall): string =>
  `The model's tool call can't be carried out: ${reason}.`;

/** The paths that a call may name: names of the question, as spelled and as on the disk, and documents of the passages. */
export const readablePaths = ({
  classification,
  meant,
  snapshot,
}: Pick<RetrievedContext, "classification" | "meant" | "snapshot">): Parameters<
  typeof checkToolCallPath
>[1] => ({
  namedFiles: [...classification.namedFiles, ...meant],
  snapshotPaths: snapshot.passages.map(({ path }) => path),
});

/** The reply; null if the host could not read it. */
async function askUnlessUnreadable(
  protocol: Protocol,
  plan: CorrectedPass,
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

function selectionOf(chosen: ToolChoice | Refusal, { trace }: CallParts): Selection | Refusal {
  if (chosen.kind === "refused") return chosen;
  const { call } = chosen;
  trace.detail("first_pass", { selected: call?.kind ?? "direct" });
  if (call === null) return { kind: "direct" };
  if (call.kind === "call") return { kind: "call", call };
  const message = malformedMessage(call);
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
  plan: CorrectedPass,
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

/** When the model calls for one of the named files, all of them are read. */
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

const boundaryFor = (protocol: Protocol, { snapshot, fenceKey }: FirstPass): string =>
  fenceBoundary(TEMPLATES[protocol].version, [snapshot.hash], fenceKey);

function selectToolPrompt(
  protocol: Protocol,
  plan: CorrectedPass,
  evidence: readonly CitableBlock[],
): Prompt {
  const { question, classification, correction } = plan;
  const boundary = boundaryFor(protocol, plan);
  return renderPrompt(TEMPLATES[protocol], {
    values: {
      question,
      files: namesFor(classification),
      shown: evidence.length === 0 ? "none" : String(evidence.length),
    },
    boundary,
    evidence: { text: fenceEvidence(evidence, boundary), shown: evidence },
    correction,
  });
}
