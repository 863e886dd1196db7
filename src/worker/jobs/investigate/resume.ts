import { Failure, refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { parseArgs } from "../../tools/tool.ts";
import type { RecordedStep } from "./record.ts";
import {
  approvalPending,
  denialMessage,
  denyCall,
  resumeWaiting,
  makeCall,
  requestFor,
} from "./use-tool.ts";
import type { ToolUse, ValidCall } from "./use-tool.ts";

/**
 * Settles the step that an earlier run left open. A call that changes nothing is skipped, and the model requests it again if
 * it wants it. A call that may have had an effect waits until a person reports its outcome. A call that needed approval
 * continues as the person decided.
 *
 * @returns a refusal of the job: APPROVAL_EXPIRED
 * @throws Failure APPROVAL_PENDING or REVIEW_PENDING while a person has not decided
 */
export async function settleLastStep(use: ToolUse): Promise<Refusal | null> {
  const last = use.record.steps.at(-1);
  if (last?.state === "started") return settleStarted(use, last);
  if (last?.state === "waiting") return settleWaiting(use, last);
  if (last?.state === "uncertain") throw reviewPending(last);
  return null;
}

async function settleStarted(use: ToolUse, step: RecordedStep): Promise<null> {
  const tool = use.tools.find(({ name }) => name === step.tool?.name);
  const changesNothing =
    step.kind !== "tool" || tool?.effect === "none" || tool?.isRepeatable === true;
  const state = changesNothing ? "skipped" : "uncertain";
  await use.log.settleOpen(step.ordinal, state);
  use.record.add({ ...step, state });
  if (!changesNothing) throw reviewPending(step);
  return null;
}

const reviewPending = ({ ordinal, tool }: RecordedStep): Failure =>
  new Failure(
    "REVIEW_PENDING",
    `A worker was lost during step ${ordinal}, a call of ${tool?.name ?? "a tool"} that may have had its effect. ` +
      "Look, and say what became of it: nightdesk approvals list --uncertain.",
  );

async function settleWaiting(use: ToolUse, step: RecordedStep): Promise<Refusal | null> {
  const name = step.tool?.name ?? "";
  const answer = await use.log.approvalOf(step.ordinal);
  if (answer?.state === "expired")
    return refuse(
      "APPROVAL_EXPIRED",
      `Nobody answered within ${use.settings.approval_hours} h whether ${name} may be called. Run the job again to ask again.`,
    );
  if (answer?.state === "waiting") return settleByRule(use, step);
  if (answer?.state === "withdrawn") throw approvalPending(name);
  const call = callOf(use, step);
  if (call === null) {
    const gone = { tool: { name }, args: step.tool?.args ?? {} };
    await denyCall(use, step.ordinal, gone, `${name} can't be called like this any more.`);
    return null;
  }
  if (answer?.state === "denied") {
    await denyCall(use, step.ordinal, call, denialMessage(answer.reason));
    return null;
  }
  // Without an answer the worker was lost before it could request the approval.
  return resumeWaiting(use, step.ordinal, call, answer?.fingerprint);
}

/** The call of a step; null if the registry has changed since and no longer accepts it. */
function callOf({ tools }: ToolUse, { tool: called }: RecordedStep): ValidCall | null {
  const tool = tools.find(({ name }) => name === called?.name);
  if (tool === undefined) return null;
  const read = parseArgs(tool, called?.args);
  return read.kind === "refused" ? null : { tool, args: read.args };
}

/** Makes an unanswered call if a rule that was added since allows it. A call that no tool accepts any more keeps waiting. */
async function settleByRule(use: ToolUse, step: RecordedStep): Promise<Refusal | null> {
  const call = callOf(use, step);
  const isAnswered =
    call !== null &&
    (await requestFor(use, call)) === null &&
    (await use.log.withdrawRequest(step.ordinal));
  if (!isAnswered) throw approvalPending(step.tool?.name ?? "");
  return makeCall(use, step.ordinal, call);
}
