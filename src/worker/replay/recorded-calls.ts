import { createHash } from "node:crypto";
import type { StoredCall } from "../../shared/store/jobs/model-calls.ts";
import type { ReplyRecord } from "../../shared/run-result.ts";
import type { Message, ModelReply } from "../model/model.ts";
import type { CallLog, RecordedReply } from "../evidence/types.ts";
import { UNPACED } from "../models/pace.ts";
import { recordedReply } from "../delivery/call-log.ts";
import { NotOnRecord } from "./not-on-record.ts";

/** A call of the repetition that a reply on record answered. */
export type RepeatedCall = {
  readonly pass: ReplyRecord["pass"];
  readonly template: string;
  readonly promptSha256: string;
  /** differs: the prompt is the same, but the model's options or its room for the reply are not. */
  readonly request: "same" | "differs";
};

export type RecordedCalls = {
  readonly log: CallLog;
  /** What the same messages gave then; undefined where they were never sent. */
  replyTo(messages: readonly Message[]): RecordedReply | undefined;
  /** Which calls were answered so far, in order. */
  readonly repeated: readonly RepeatedCall[];
};

/** The calls of a job as the log of its repetition. A call that was never made throws NotOnRecord. */
export function recordedCalls(stored: readonly StoredCall[]): RecordedCalls {
  const byRequest = new Map(stored.map((call) => [call.requestSha256, call]));
  const byPrompt = new Map(stored.map((call) => [call.prompt.sha256, call]));
  const repeated: RepeatedCall[] = [];
  const answer = (call: StoredCall, request: RepeatedCall["request"]) => {
    const { pass, prompt } = call;
    repeated.push({ pass, template: prompt.template, promptSha256: prompt.sha256, request });
  };
  return {
    repeated,
    log: {
      pace: UNPACED,
      async recall(requestSha256) {
        const call = byRequest.get(requestSha256);
        if (call === undefined) return undefined;
        answer(call, "same");
        return recordedReply(call);
      },
      // Only here is the prompt told with what filled it.
      async commit({ pass, prompt }) {
        const call = byPrompt.get(prompt.sha256);
        if (call === undefined) throw new NotOnRecord({ kind: "call", pass, prompt });
        answer(call, "differs");
      },
    },
    replyTo(messages) {
      const sha256 = createHash("sha256").update(JSON.stringify(messages)).digest("hex");
      const call = byPrompt.get(sha256);
      return call === undefined ? undefined : recordedReply(call);
    },
  };
}

/** Stands for a reply that there is none of, until the log ends the repetition. */
export const NO_REPLY: ModelReply = {
  kind: "reply",
  text: "",
  toolCalls: [],
  promptTokens: 0,
  completionTokens: 0,
  loadMs: 0,
  doneReason: "stop",
};
