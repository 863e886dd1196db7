import type { PromptTemplate } from "./prompt.ts";
import { UNTRUSTED_EVIDENCE } from "./untrusted-evidence.ts";

/** A summary of one file, of a part of it, or of summaries of its parts. */
export const SUMMARIZE_PROMPT: PromptTemplate<
  "boundary" | "path" | "subject" | "evidence" | "footer" | "sentences" | "style" | "correction"
> = {
  version: "summarize/1",
  slots: ["boundary", "path", "subject", "evidence", "footer", "sentences", "style", "correction"],
  system: `You summarise {{subject}}, and say only what stands in it.

Rules:
- At most {{sentences}} sentences, as {{style}}. The most important things first.
- Names, numbers and dates exactly as they stand there.
- Put text in quotation marks only when it stands there word for word.
- No tool calls, no markdown tables, no opening like "This document".
- The last line of the reply is exactly: {{footer}}

${UNTRUSTED_EVIDENCE}`,
  user: `{{evidence}}

Summarise {{subject}} {{path}}.
{{correction}}
The last line must be exactly:
{{footer}}`,
};
