import type { Refusal } from "../../../shared/failure.ts";
import { callModel } from "../../answer/call-model.ts";
import type { CallParts, ModelCall } from "../../answer/call-model.ts";
import { ReplyUnreadable } from "../../models/model.ts";
import { parseObject } from "../../verify/validate-fields.ts";

/** One call whose reply has to be an object. */
export async function askForObject(
  call: ModelCall,
  parts: CallParts,
): Promise<AskedObject | Refusal> {
  const reply = await callModel(call, parts).catch((error: unknown) => {
    if (!(error instanceof ReplyUnreadable)) throw error;
    return null;
  });
  if (reply?.kind === "refused") return reply;
  const parsed = parseObject(reply?.text ?? "");
  return { kind: "object", fields: parsed.kind === "fields" ? parsed.fields : null };
}

/** Not checked against any schema; `fields` is null where the reply is no object, or its host could not read it. */
type AskedObject = {
  readonly kind: "object";
  readonly fields: Readonly<Record<string, unknown>> | null;
};
