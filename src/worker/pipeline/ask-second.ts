import type { Refusal } from "../../shared/failure.ts";
import type { ModelReply } from "../model/model.ts";
import { callModel } from "./call-model.ts";
import type { CallParts, ModelCall } from "./call-model.ts";

/** One call of pass 2, as a step of the trace. */
export async function askSecond(call: ModelCall, parts: CallParts): Promise<ModelReply | Refusal> {
  const { trace } = parts;
  const reply = await trace.step("second_pass", () => callModel(call, parts));
  const { record } = call.prompt;
  trace.detail("second_pass", {
    pass: call.pass,
    model: call.model.name,
    why: call.choice.why,
    prompt_version: record.template,
    prompt_sha256: record.sha256,
    ...(reply.kind === "refused" ? { refused: reply.code } : { done_reason: reply.doneReason }),
  });
  return reply;
}
