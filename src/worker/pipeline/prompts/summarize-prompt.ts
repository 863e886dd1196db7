import type { PromptTemplate } from "./prompt.ts";
import { UNTRUSTED_EVIDENCE } from "./untrusted-evidence.ts";

/** A summary of one file, of a part of it, or of summaries of its parts. */
export const SUMMARIZE_PROMPT: PromptTemplate<
  "path" | "subject" | "quotable" | "footer" | "sentences" | "style" | "notes"
> = {
  version: "summarize/3",
  slots: ["path", "subject", "quotable", "footer", "sentences", "style", "notes"],
  system: `You summarise {{subject}}, and say only what stands in it.

Rules:
- At most {{sentences}} sentences, as {{style}}. The most important things first.
- Names, numbers and dates exactly as they stand there.
- Put text in quotation marks only when {{quotable}}.
- No tool calls, no markdown tables, no opening like "This document".
- The last line of the reply is exactly: {{footer}}

${UNTRUSTED_EVIDENCE}{{notes}}`,
  user: `{{evidence}}

Summarise {{subject}} {{path}}.
{{correction}}
The last line must be exactly:
{{footer}}`,
};

/** What `subject` and `quotable` say of the words of the file, and of summaries that stand for them. */
export const OF_FILE = {
  whole: "the file",
  part: "this part of a file,",
  quotable: "it stands there word for word",
} as const;
export const OF_SUMMARIES = {
  whole: "these summaries of the parts of a file, in order,",
  part: "these summaries of neighbouring parts of a file, in order,",
  quotable: "one of the summaries has it in quotation marks",
} as const;
