import type { Refusal } from "../../shared/failure.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import type { Model } from "../model/model.ts";
import { callModel } from "./call-model.ts";
import type { Classification } from "./classify-question.ts";
import { firstCodePoints } from "./code-points.ts";
import { fenceBoundary, fenceEvidence } from "./fence-evidence.ts";
import { numberEvidence } from "./number-evidence.ts";
import { parseToolCall } from "./parse-tool-call.ts";
import type { ToolCall } from "./parse-tool-call.ts";
import { renderPrompt } from "./prompts/prompt.ts";
import type { Prompt } from "./prompts/prompt.ts";
import { SELECT_TOOL_PROMPT } from "./prompts/select-tool-prompt.ts";
import type { Snapshot } from "./retrieve.ts";
import type { ModelChoice } from "./route-models.ts";

/** direct: the model wrote something else than a call. That is kept in the record and never returned. */
export type Selection =
  { readonly kind: "call"; readonly call: ToolCall } | { readonly kind: "direct" };

export type FirstPass = {
  readonly jobId: string;
  readonly question: string;
  readonly classification: Classification;
  readonly snapshot: Snapshot;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly fenceKey: Buffer;
};

/** Enough of a passage to see what its document is about. */
const PASSAGE_CHARS = 400;

/** The model picks the file to read, or leaves it at the passages. Refusals: those of the model. */
export async function firstPass(
  plan: FirstPass,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Selection | Refusal> {
  const { question, classification, snapshot, model, choice } = plan;
  const evidence = beginningsOf(snapshot);
  const prompt = selectToolPrompt(plan, evidence);
  trace.detail("first_pass", {
    model: model.name,
    why: choice.why,
    prompt_version: prompt.version,
    prompt_sha256: prompt.sha256,
  });
  const { namedFiles } = classification;
  const task = { purpose: "select_tool", question, namedFiles, evidence } as const;
  const reply = await callModel({ pass: "first", model, choice, prompt, task }, trace, signal);
  if (reply.kind === "refused") return reply;
  const call = parseToolCall(reply.text);
  trace.detail("first_pass", { selected: call === null ? "direct" : "call" });
  return call === null ? { kind: "direct" } : { kind: "call", call };
}

const beginningsOf = ({ passages, hash }: Snapshot): ReturnType<typeof numberEvidence> =>
  numberEvidence({ kind: "admitted", file: null, passages, snapshotHash: hash }).map((block) => ({
    ...block,
    text: firstCodePoints(block.text, PASSAGE_CHARS),
  }));

function selectToolPrompt(
  { jobId, question, classification, snapshot, fenceKey }: FirstPass,
  evidence: ReturnType<typeof numberEvidence>,
): Prompt {
  const boundary = fenceBoundary(jobId, [snapshot.hash], fenceKey);
  const { namedFiles } = classification;
  return renderPrompt(SELECT_TOOL_PROMPT, {
    boundary,
    question,
    files:
      namedFiles.length === 0 ? "none" : namedFiles.map((name) => JSON.stringify(name)).join(", "),
    passages: evidence.length === 0 ? "none" : fenceEvidence(evidence, boundary),
  });
}
