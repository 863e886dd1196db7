import type { Refusal } from "../../shared/failure.ts";
import { ToolCallUnreadable } from "../model/model.ts";
import type { ModelReply } from "../model/model.ts";
import { callModel } from "./call-model.ts";
import type { CallParts, ModelCall } from "./call-model.ts";

/**
 * One call of pass 2, as a step of the trace. A tool call that the host could not read is a tool call all the same, and
 * none is allowed here: the reply holds it, and the rules of the answer refuse it.
 */
export async function askSecond(call: ModelCall, parts: CallParts): Promise<ModelReply | Refusal> {
  const { trace } = parts;
  const reply = await trace.step("second_pass", () =>
    callModel(call, parts).catch((error: unknown) => {
      if (!(error instanceof ToolCallUnreadable)) throw error;
      trace.detail("second_pass", { unreadable_call: true });
      return UNREADABLE_CALL;
    }),
  );
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

const UNREADABLE_CALL: ModelReply = {
  kind: "reply",
  text: "",
  toolCalls: [{ name: "unreadable", args: {} }],
  promptTokens: 0,
  completionTokens: 0,
  loadMs: 0,
  doneReason: "stop",
};
