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
import type { ApprovalNeed, Permit, Tool, ToolOutput, ToolReach } from "../../tools/tool.ts";
import type { ToolSettings } from "./open-grant.ts";
import { describeMove, hitsOf } from "./moves.ts";
import { BAD_ARGUMENTS, CALL_LIMIT } from "./policies.ts";
import { storedOutput, writeStep } from "./record.ts";
import { callsOf } from "./policy.ts";
import type { InvestigationRecord } from "./record.ts";
import type { StepLog } from "./step-log.ts";

/** What the calls of an investigation need. */
export type ToolUse = {
  readonly grant: Grant;
  /** Those that the grant allows. */
  readonly tools: readonly Tool[];
  readonly reach: ToolReach;
  /** Files that the statement of a check rests on. */
  readonly checked?: readonly string[];
  readonly record: InvestigationRecord;
  readonly log: StepLog;
  readonly settings: Pick<ToolSettings, "unattended" | "approval_hours">;
  readonly trace: Pick<RunTrace, "mayTake">;
  readonly signal: AbortSignal;
};

type Call = { readonly name: string; readonly args: Readonly<Record<string, unknown>> };

/** A call whose arguments its tool takes. */
export type ValidCall = { readonly tool: Tool; readonly args: object };

/**
 * One call of a tool. What the grant does not allow, and what can't be carried out, the model is told; it may try something
 * else. A call that a person has to approve parks the run.
 *
 * @returns a refusal of the job, where it can't go on
 * @throws Failure APPROVAL_PENDING
 */
export async function useTool(use: ToolUse, call: Call): Promise<Refusal | null> {
  const tool = use.tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const told = unknownTool(call.name, use.tools).message;
    return tell(use, { rule: "not_granted", tool: nameOf(call), denied: true, told });
  }
  const read = parseArgs(tool, call.args);
  if (read.kind === "refused")
    return tell(use, { rule: BAD_ARGUMENTS, tool: tool.name, told: read.message });
  const most = tool.limits.callsPerRun;
  if (callsOf(use.record.steps).filter((step) => step.tool?.name === tool.name).length >= most) {
    const told = `${tool.name} may be called ${most} times in one investigation, and was. Call another tool, or end.`;
    return tell(use, { rule: CALL_LIMIT, tool: tool.name, told });
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
    return tell(use, { rule: begun, tool: name, denied: true, told });
  }
  if (request instanceof Failure) return leaveUncertain(use, ordinal, request);
  return request === null ? makeCall(use, ordinal, valid) : askPerson(use, ordinal, valid, request);
}

/** Nobody knows what it would have done: a person looks. @throws the Failure */
async function leaveUncertain(
  { log }: Pick<ToolUse, "log">,
  ordinal: number,
  failure: Failure,
): Promise<never> {
  await log.settleOpen(ordinal, "uncertain");
  throw failure;
}

/** What a person is asked about a call; null where nobody has to be asked. */
type CallRequest = (ApprovalNeed & { readonly fingerprint: string }) | null;

/**
 * It is found out anew each time: an approval holds for exactly what was asked then.
 *
 * @returns REVIEW_PENDING where what the call would go on from is gone
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
 * Goes on with a call whose step waits, as far as somebody has answered.
 *
 * @param approved fingerprint of what a person approved; undefined where nobody was asked yet
 */
export async function goOnWaiting(
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
  return endDenied(use, ordinal, call, "What was approved is not what would be done now.");
}

/** Nobody approves what nobody was shown. */
const tooLong = (chars: number): string =>
  `Somebody has to approve this call, and it takes ${chars} characters to show, of which ${MOST_PREVIEW_CHARS} are shown. Make it shorter.`;

/** What one decision answers: the same call of the same tool by the same executor under the same preset, in the same folders; 64 hex. */
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
  if (chars > MOST_PREVIEW_CHARS) return endDenied(use, ordinal, call, tooLong(chars));
  const { unattended, approval_hours: hours } = use.settings;
  if (unattended !== "park") {
    await endDenied(use, ordinal, call, nobodyThere(need, use.tools));
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
  return endDenied(use, ordinal, call, deniedBecause(answer.reason));
}

export const approvalPending = (tool: string): Failure =>
  new Failure(
    "APPROVAL_PENDING",
    `Somebody has to approve a call of ${tool}: nightdesk approvals review.`,
  );

/** What the model is told where nobody can be asked: why somebody would have to be, and what runs without. */
function nobodyThere({ why, instead }: ApprovalNeed, tools: readonly Tool[]): string {
  const free = tools.filter((tool) => tool.approval === undefined).map(({ name }) => name);
  const runs = [...(instead === undefined ? [] : [instead]), ...free].join(", ");
  return `Somebody has to approve this call, because ${why}, and nobody is there. Do not ask for it again. What runs without asking: ${runs === "" ? "nothing" : runs}.`;
}

/** What the model is told of a denial. */
export const deniedBecause = (reason: string | null): string =>
  reason === null
    ? "It was denied."
    : `It was denied: ${firstCodePoints(reason, MOST_ERROR_CHARS)}`;

/** Ends a step as denied; the model is told why, and may go on. */
export async function endDenied(
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

/** A tool that has no limit of its own. */
const CALL_MS = 5 * 60_000;

/** A tool that breaks is no fault of the job: the model is told, and may try something else. */
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
    (one: Attempted) => (one.kind === "broke" ? one.code : null),
    () => attempt(use, ordinal, call, permit),
  );
  use.trace.mayTake(REST_MS);
  const durationMs = performance.now() - startedAt;
  if (given.kind === "broke" && given.code === "TOOL_DENIED")
    return endDenied(use, ordinal, call, cleanText(given.message));
  const { output, kept, cut } = await fitOutputs(use.log, given.kind === "output" ? given : null);
  const error =
    given.kind === "output"
      ? null
      : { code: given.code, message: cleanText(firstCodePoints(given.message, MOST_ERROR_CHARS)) };
  const stored = output === null ? null : storedOutput(output);
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
    // Numbers of its pieces among the evidence of the run, and how many of them it was the first to find.
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

/** Characters of the head, and of the tail, of an output for which there is no room. */
const END_CHARS = 4_000;
/** What is shorter is kept whole, whatever is kept already. */
const CUT_BEYOND_CHARS = 2 * END_CHARS + 1_000;

type Kept = NonNullable<ToolOutput["kept"]>;
type FittedOutputs = {
  readonly output: ToolOutput | null;
  readonly kept: Kept;
  /** What was cut, and how long it was. */
  readonly cut: readonly string[];
};

/**
 * What is kept of what a tool gave: all of it while the batch has room; beyond that head and tail of what no answer may rest
 * on. The model is shown what is kept, so that a run that goes on later shows it the same.
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

/** What a model is shown of an error, and a row keeps of it. */
const MOST_ERROR_CHARS = 500;

type Attempted = ToolOutput | { kind: "broke"; code: string; message: string };

async function attempt(
  { reach, signal, log }: ToolUse,
  ordinal: number,
  { tool, args }: ValidCall,
  permit: Permit | undefined,
): Promise<Attempted> {
  try {
    const given = await tool.run(args, reach, permit);
    signal.throwIfAborted();
    return given.kind === "output" ? given : { ...given, kind: "broke" };
  } catch (error) {
    signal.throwIfAborted();
    if (isStateLost(error)) await leaveUncertain({ log }, ordinal, error);
    // A service that is away parks the job, which goes on where it stopped.
    if (error instanceof Failure && error.code !== "TOOL_ERROR") throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "broke", code: "TOOL_ERROR", message: `${tool.name} broke: ${message}` };
  }
}

/** A rule that acted on what the model wrote; the model is told. */
async function tell(
  use: Pick<ToolUse, "record" | "log">,
  detail: StepDetail & { readonly told: string },
): Promise<null> {
  const told = cleanText(firstCodePoints(detail.told, MOST_ERROR_CHARS));
  await writeStep(use, "policy", { ...detail, told });
  return null;
}

const nameOf = ({ name }: Call): string => cleanText(firstCodePoints(name, 100));
