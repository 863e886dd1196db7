import type { Config } from "../../shared/config/schema.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import type { Model } from "../models/model.ts";
import { fail, ok, warn, wordsOf } from "./check.ts";
import type { Check } from "./check.ts";

/** No text has more than eight characters per token, so such a prompt exceeds the window with every tokenizer. */
const CHARS_PER_TOKEN = 9;
const WORD = "berth ";

/**
 * Sends a model a prompt that exceeds its window, as a worker would: the reply must be CONTEXT_OVERFLOW. A host that cuts the
 * prompt silently would answer only a part of it. The host loads the model for this.
 */
export async function probeWindow(model: Model, { model: settings }: Config): Promise<Check> {
  const { name, facts } = model;
  const windowTokens = facts.windowTokens ?? settings.num_ctx;
  const content = WORD.repeat(Math.ceil((windowTokens * CHARS_PER_TOKEN) / WORD.length));
  const asked = `a prompt of ${formatCount(content.length)} characters, which ${formatCount(windowTokens)} tokens can't hold`;
  try {
    const timeoutMs = settings.timeout_s * 1_000;
    const answer = await model.complete(
      { messages: [{ role: "user", content }], task: { purpose: "chat" }, maxTokens: 1, timeoutMs },
      AbortSignal.timeout(timeoutMs),
    );
    if (answer.kind === "reply") {
      return fail(
        "DOCTOR_MODEL_WINDOW_CUT",
        `Model ${name} answered ${asked}: its host cuts prompts and does not say so.`,
        "Use another host, or lower model.num_ctx to the window that the host really has.",
      );
    }
    return answer.code === "CONTEXT_OVERFLOW"
      ? ok("DOCTOR_MODEL_WINDOW_OK", `Model ${name} refused ${asked}: ${answer.message}`)
      : windowUnknown(name, answer.message);
  } catch (error) {
    return windowUnknown(name, wordsOf(error));
  }
}

const windowUnknown = (name: string, why: string): Check =>
  warn(
    "DOCTOR_MODEL_WINDOW_UNPROBED",
    `What model ${name} does with a prompt that is too long is not known: ${why}`,
    "Mend that, then run again: nightdesk doctor --probe-window",
  );
