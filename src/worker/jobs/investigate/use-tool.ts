import { inToolSpan } from "../../../shared/metrics/traces.ts";
import { hash } from "node:crypto";
import { Failure, refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { hashJson } from "../../../shared/schema/json-value.ts";
import { REST_MS } from "../../run-trace.ts";
import type { RunTrace } from "../../run-trace.ts";
import { MOST_PREVIEW_CHARS } from "../../../shared/store/investigations/approvals.ts";
import type { Grant } from "../../../shared/store/investigations/grants.ts";
import type { NewArtifact, StepDetail } from "../../../shared/store/investigations/steps.ts";
import { showHidden } from "../../../shared/terminal/styled-text.ts";
import {
  cleanRecord,
  cleanText,
  countCodePoints,
  firstCodePoints,
  sliceCodePoints,
} from "../../text/clean-text.ts";
import { parseArgs, unknownTool } from "../../tools/tool.ts";
import type { ApprovalNeed, Permit, Tool, ToolOutput, ToolAccess } from "../../tools/tool.ts";
import type { ToolSettings } from "./open-grant.ts";
import { describeMove, hitsOf } from "./moves.ts";
import { BAD_ARGUMENTS, CALL_LIMIT } from "./policies.ts";
import { serializeOutput, writeStep } from "./record.ts";
import { callsOf } from "./policy.ts";
import type { InvestigationRecord } from "./record.ts";
import type { StepLog } from "./step-log.ts";

/** The parts that the calls of an investigation use. */
export type ToolUse = {
  readonly grant: Grant;
  /** The tools that the grant allows. */
  readonly tools: readonly Tool[];
  readonly reach: ToolAccess;
  /** Files that the statement of a check rests on. */
  readonly checked?: readonly string[];
  readonly record: InvestigationRecord;
  readonly log: StepLog;
  readonly settings: Pick<ToolSettings, "unattended" | "approval_hours">;
  readonly trace: Pick<RunTrace, "mayTake">;
  readonly signal: AbortSignal;
};

type Call = { readonly name: string; readonly args: Readonly<Record<string, unknown>> };

/** A call whose arguments its tool accepts. */
export type ValidCall = { readonly tool: Tool; readonly args: object };

/**
 * Makes one call of a tool. A call that the grant does not allow, or that can't be carried out, becomes a step that the next
 * prompt shows, so that the model can try something else. A call that a person has to approve parks the run.
 *
 * @returns a refusal of the job if it can't continue
 * @throws Failure APPROVAL_PENDING
 */
export async function useTool(use: ToolUse, call: Call): Promise<Refusal | null> {
  const tool = use.tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const told = unknownTool(call.name, use.tools).message;
    return recordRejection(use, { rule: "not_granted", tool: nameOf(call), denied: true, told });
  }
  const read = parseArgs(tool, call.args);
  if (read.kind === "refused")
    return recordRejection(use, { rule: BAD_ARGUMENTS, tool: tool.name, told: read.message });
  const most = tool.limits.callsPerRun;
  if (callsOf(use.record.steps).filter((step) => step.tool?.name === tool.name).length >= most) {
    const told = `${tool.name} may be called ${most} times in one investigation, and was. Call another tool, or end.`;
    return recordRejection(use, { rule: CALL_LIMIT, tool: tool.name, told });
  }
  const ordinal = use.record.nextOrdinal;
  const args = cleanRecord(read.args);
  const { name, effect } = tool;
  const valid = { tool, args: read.args };
  const request = await requestFor(use, valid);
  const isHeld = request !== null && !(request instanceof Failure);
  const begun = await use.log.beginTool({
    ordinal,
    name,
    effect,
    state: isHeld ? "waiting" : "started",
    args,
    argsSha256: hashJson(args),
    detail: describeMove(tool, args, use.record.steps, use.checked),
  });
  if (begun !== "begun") {
    const told = `${name} is not allowed any more (${begun.replaceAll("_", " ")}).`;
    return recordRejection(use, { rule: begun, tool: name, denied: true, told });
  }
  if (request instanceof Failure) return leaveUncertain(use, ordinal, request);
  return request === null ? makeCall(use, ordinal, valid) : askPerson(use, ordinal, valid, request);
}

/** Leaves the step to a person, because the effect of the call is unknown. @throws the Failure */
async function leaveUncertain(
  { log }: Pick<ToolUse, "log">,
  ordinal: number,
  failure: Failure,
): Promise<never> {
  await log.settleOpen(ordinal, "uncertain");
  throw failure;
}

/** The request for approval of a call; null if nobody has to approve it. */
type CallRequest = (ApprovalNeed & { readonly fingerprint: string }) | null;

/**
 * Computes the request again each time: an approval covers exactly the call as it was shown.
 *
 * @returns REVIEW_PENDING if the state that the call would continue from is lost
 */
export async function requestFor(
  { reach, grant }: Pick<ToolUse, "reach" | "grant">,
  { tool, args }: ValidCall,
): Promise<CallRequest | Failure> {
  try {
    const need = (await tool.approval?.(args, reach)) ?? null;
    return need && { ...need, fingerprint: fingerprintOf(tool, args, need.executor, grant) };
  } catch (error) {
    if (isStateLost(error)) return error;
    throw error;
  }
}

const isStateLost = (error: unknown): error is Failure =>
  error instanceof Failure && error.code === "REVIEW_PENDING";

/**
 * Continues a call whose step waits, as far as it has been decided.
 *
 * @param approved fingerprint of the approved call; undefined if no request was made yet
 */
export async function resumeWaiting(
  use: ToolUse,
  ordinal: number,
  call: ValidCall,
  approved: string | undefined,
): Promise<Refusal | null> {
  const request = await requestFor(use, call);
  if (request instanceof Failure) return leaveUncertain(use, ordinal, request);
  if (request === null || request.fingerprint === approved) {
    await use.log.start(ordinal);
    return makeCall(use, ordinal, call, request === null ? undefined : "approved");
  }
  if (approved === undefined) return askPerson(use, ordinal, call, request);
  return denyCall(use, ordinal, call, "What was approved is not what would be done now.");
}

/** Nobody can approve a part of a call that is not shown. */
const tooLongMessage = (chars: number): string =>
  `Somebody has to approve this call, and it takes ${chars} characters to show, of which ${MOST_PREVIEW_CHARS} are shown. Make it shorter.`;

/** What one decision covers: the same call by the same executor under the same preset, in the same folders; 64 hex digits. */
const fingerprintOf = (
  { name }: Pick<Tool, "name">,
  args: object,
  executor: string,
  { presetSha256, roots }: Pick<Grant, "presetSha256" | "roots">,
): string => hashJson([name, args, executor, presetSha256, [...roots].sort()]);

async function askPerson(
  use: ToolUse,
  ordinal: number,
  call: ValidCall,
  need: NonNullable<CallRequest>,
): Promise<Refusal | null> {
  const { executor, risks, fingerprint } = need;
  const { tool, args } = call;
  const preview = showHidden(need.preview);
  const chars = countCodePoints(preview);
  if (chars > MOST_PREVIEW_CHARS) return denyCall(use, ordinal, call, tooLongMessage(chars));
  const { unattended, approval_hours: hours } = use.settings;
  if (unattended !== "park") {
    await denyCall(use, ordinal, call, unattendedMessage(need, use.tools));
    if (unattended === "deny") return null;
    return refuse(
      "APPROVAL_DENIED",
      `The model wants to call ${tool.name}, which somebody has to approve, and tools.unattended is fail.`,
    );
  }
  const answer = await use.log.requestApproval({
    step: ordinal,
    fingerprint,
    tool: tool.name,
    executor,
    args: cleanRecord(args),
    risks,
    preview,
    expiresInSeconds: hours * 3_600,
  });
  if (answer === "waiting") throw approvalPending(tool.name);
  if (answer.verdict === "approve") return makeCall(use, ordinal, call, "approved");
  return denyCall(use, ordinal, call, denialMessage(answer.reason));
}

export const approvalPending = (tool: string): Failure =>
  new Failure(
    "APPROVAL_PENDING",
    `Somebody has to approve a call of ${tool}: nightdesk approvals review.`,
  );

/** The message to the model when nobody can approve: the reason why approval is needed, and the tools that need none. */
function unattendedMessage({ why, instead }: ApprovalNeed, tools: readonly Tool[]): string {
  const free = tools.filter((tool) => tool.approval === undefined).map(({ name }) => name);
  const runs = [...(instead === undefined ? [] : [instead]), ...free].join(", ");
  return `Somebody has to approve this call, because ${why}, and nobody is there. Do not ask for it again. What runs without asking: ${runs === "" ? "nothing" : runs}.`;
}

/** The message to the model about a denial. */
export const denialMessage = (reason: string | null): string =>
  reason === null
    ? "It was denied."
    : `It was denied: ${firstCodePoints(reason, MOST_ERROR_CHARS)}`;

/** Ends a step as denied; the next prompt shows the model the reason, and it may continue. */
export async function denyCall(
  { record, log }: Pick<ToolUse, "record" | "log">,
  ordinal: number,
  { tool, args }: { readonly tool: Pick<Tool, "name">; readonly args: object },
  why: string,
): Promise<null> {
  const error = { code: "TOOL_DENIED", message: why };
  const detail = { denied: true };
  await log.endTool(ordinal, {
    state: "denied",
    result: null,
    error,
    durationMs: 0,
    detail,
    artifacts: [],
    cut: 0,
  });
  record.add({
    ordinal,
    kind: "tool",
    state: "denied",
    detail,
    activeMs: 0,
    tokens: 0,
    tool: { name: tool.name, args: cleanRecord(args), output: null, error },
  });
  return null;
}

/** The time limit of a tool that has none of its own. */
const CALL_MS = 5 * 60_000;

/** Makes the call. A failed tool does not fail the job: the next prompt shows the error, and the model may try another. */
export async function makeCall(
  use: ToolUse,
  ordinal: number,
  call: ValidCall,
  permit?: Permit,
): Promise<null> {
  const { tool, args } = call;
  const startedAt = performance.now();
  use.trace.mayTake(CALL_MS + REST_MS);
  const given = await inToolSpan(
    tool.name,
    (one: ToolResult) => (one.kind === "broke" ? one.code : null),
    () => runTool(use, ordinal, call, permit),
  );
  use.trace.mayTake(REST_MS);
  const durationMs = performance.now() - startedAt;
  if (given.kind === "broke" && given.code === "TOOL_DENIED")
    return denyCall(use, ordinal, call, cleanText(given.message));
  const { output, kept, cut } = await fitOutputs(use.log, given.kind === "output" ? given : null);
  const error =
    given.kind === "output"
      ? null
      : { code: given.code, message: cleanText(firstCodePoints(given.message, MOST_ERROR_CHARS)) };
  const stored = output === null ? null : serializeOutput(output);
  const state = output === null ? "failed" : "done";
  const artifacts: NewArtifact[] = [
    ...(stored === null ? [] : [stored]),
    ...kept.map(({ stream, content }) => ({
      stream,
      content,
      sha256: hash("sha256", content),
      class: stream === "state" ? ("state" as const) : ("output" as const),
    })),
  ];
  const called = { name: tool.name, args: cleanRecord(args), output, error };
  const earlier = use.record.steps.filter((step) => step.ordinal < ordinal);
  const { tool: action } = use.record.add({
    ordinal,
    kind: "tool",
    state,
    detail: describeMove(tool, called.args, earlier, use.checked),
    activeMs: durationMs,
    tokens: 0,
    tool: called,
  });
  await use.log.endTool(ordinal, {
    state,
    result:
      output === null
        ? null
        : {
            ...cleanRecord(output.facts),
            chars: output.text.length,
            evidence: output.evidence.length,
            output_sha256: stored?.sha256 ?? null,
          },
    error,
    durationMs,
    // The numbers of the pieces among the evidence of the run, and how many of them are new.
    detail: {
      ...(action === null ? {} : { evidence: action.evidence, found: action.found }),
      ...hitsOf(tool, output),
      ...(cut.length === 0
        ? {}
        : {
            cut: `${cut.join(", ")}: head and tail kept, tools.limits.batch_artifact_mb is used up`,
          }),
    },
    artifacts,
    cut: cut.length,
  });
  return null;
}

/** Characters that are stored of the beginning, and of the end, of an output that does not fit. */
const END_CHARS = 4_000;
/** A shorter output is stored whole, even if the room is used up. */
const CUT_BEYOND_CHARS = 2 * END_CHARS + 1_000;

type Kept = NonNullable<ToolOutput["kept"]>;
type FittedOutputs = {
  readonly output: ToolOutput | null;
  readonly kept: Kept;
  /** The outputs that were cut, with their original lengths. */
  readonly cut: readonly string[];
};

/**
 * Cuts outputs to the room of the batch: everything is stored while there is room; after that only beginning and end of
 * outputs that no answer may rest on. The model sees exactly what is stored, so that a resumed run shows it the same.
 */
async function fitOutputs(
  log: Pick<StepLog, "outputRoom">,
  output: ToolOutput | null,
): Promise<FittedOutputs> {
  const kept = output?.kept ?? [];
  if (output === null) return { output, kept, cut: [] };
  const isText = output.evidence.length === 0 && output.text.length > CUT_BEYOND_CHARS;
  const long = kept.filter(
    ({ stream, content }) => stream !== "state" && content.length > CUT_BEYOND_CHARS,
  );
  if (!isText && long.length === 0) return { output, kept, cut: [] };
  const bytes =
    Buffer.byteLength(output.text) + kept.reduce((all, one) => all + one.content.length, 0);
  if (bytes <= (await log.outputRoom())) return { output, kept, cut: [] };
  return {
    output: isText ? { ...output, text: headAndTail(output.text) } : output,
    kept: kept.map((one) =>
      long.includes(one)
        ? { ...one, content: Buffer.from(headAndTail(one.content.toString("utf8"))) }
        : one,
    ),
    cut: [
      ...(isText ? [`result of ${output.text.length} characters`] : []),
      ...long.map(({ stream, content }) => `${stream} of ${content.length} bytes`),
    ],
  };
}

function headAndTail(text: string): string {
  const chars = countCodePoints(text);
  const [head, tail] = [
    sliceCodePoints(text, 0, END_CHARS),
    sliceCodePoints(text, Math.max(END_CHARS, chars - END_CHARS), chars),
  ];
  return `${head}\n… ${Math.max(0, chars - 2 * END_CHARS)} characters were not kept …\n${tail}`;
}

/** The most characters of an error in prompts and in rows. */
const MOST_ERROR_CHARS = 500;

type ToolResult = ToolOutput | { kind: "broke"; code: string; message: string };

async function runTool(
  { reach, signal, log }: ToolUse,
  ordinal: number,
  { tool, args }: ValidCall,
  permit: Permit | undefined,
): Promise<ToolResult> {
  try {
    const given = await tool.run(args, reach, permit);
    signal.throwIfAborted();
    return given.kind === "output" ? given : { ...given, kind: "broke" };
  } catch (error) {
    signal.throwIfAborted();
    if (isStateLost(error)) await leaveUncertain({ log }, ordinal, error);
    // A service that is not available parks the job, which later continues here.
    if (error instanceof Failure && error.code !== "TOOL_ERROR") throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "broke", code: "TOOL_ERROR", message: `${tool.name} broke: ${message}` };
  }
}

/** Records that a rule rejected a call; the next prompt shows the model the reason. */
async function recordRejection(
  use: Pick<ToolUse, "record" | "log">,
  detail: StepDetail & { readonly told: string },
): Promise<null> {
  const told = cleanText(firstCodePoints(detail.told, MOST_ERROR_CHARS));
  await writeStep(use, "policy", { ...detail, told });
  return null;
}

const nameOf = ({ name }: Call): string => cleanText(firstCodePoints(name, 100));
