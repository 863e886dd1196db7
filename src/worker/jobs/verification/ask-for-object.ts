import type { Refusal } from "../../../shared/failure.ts";
import { callModel } from "../../answer/call-model.ts";
import type { CallParts, ModelCall } from "../../answer/call-model.ts";
import { correctionOf, NO_CORRECTION } from "../../answer/prompt.ts";
import type { Correction } from "../../answer/prompt.ts";
import { firstCodePoints } from "../../text/clean-text.ts";
import { neutraliseDraft } from "../../text/neutralise-text.ts";
import { ReplyUnreadable } from "../../models/model.ts";
import { parseObject } from "../../verify/validate-fields.ts";

const MOST_DRAFT_CHARS = 2_000;

/** A call whose reply has to be an object. One that is none is asked for once more, with what was wrong with it. */
export async function askForObject(
  { boundary, callWith }: ObjectPlan,
  parts: CallParts,
): Promise<AskedObject | Refusal> {
  const first = await askOnce(callWith(NO_CORRECTION), parts);
  if (first.kind === "refused" || first.fields !== null) return first;
  const draft = neutraliseDraft(firstCodePoints(first.text, MOST_DRAFT_CHARS));
  const fault = { code: "NO_JSON", message: `It is no JSON object: ${first.reason}.` };
  return askOnce(callWith(correctionOf(boundary, draft, [fault])), parts);
}

/** How it is asked for, with what was wrong with an earlier reply. */
type ObjectPlan = {
  readonly boundary: string;
  readonly callWith: (correction: Correction) => ModelCall;
};

async function askOnce(call: ModelCall, parts: CallParts): Promise<AskedObject | Refusal> {
  const reply = await callModel(call, parts).catch((error: unknown) => {
    if (!(error instanceof ReplyUnreadable)) throw error;
    return null;
  });
  if (reply?.kind === "refused") return reply;
  const text = reply?.text ?? "";
  const parsed = parseObject(text);
  return parsed.kind === "fields"
    ? { kind: "object", fields: parsed.fields }
    : { kind: "object", fields: null, text, reason: parsed.reason };
}

/** Not checked against any schema; `fields` is null where the reply is no object, or its host could not read it. */
type AskedObject =
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, unknown>> }
  | {
      readonly kind: "object";
      readonly fields: null;
      readonly text: string;
      /** A clause about the reply, without its words. */
      readonly reason: string;
    };
