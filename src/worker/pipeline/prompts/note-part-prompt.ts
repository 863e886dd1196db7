import { DECLINED } from "../../model/model.ts";
import type { PromptTemplate } from "./prompt.ts";
import { UNTRUSTED_EVIDENCE } from "./untrusted-evidence.ts";

/** Notes for a question on a part of a file that is too long to be shown at once, or on notes of such parts. */
export const NOTE_PART_PROMPT: PromptTemplate<"question" | "subject" | "footer" | "notes"> = {
  version: "note-part/1",
  slots: ["question", "subject", "footer", "notes"],
  system: `A question is to be answered from a file that is too long to be read at once. You are shown {{subject}}, and
write down what in it bears on the question. Somebody else answers, from your notes alone.

Rules:
- Say only what stands there: facts, names, numbers and dates exactly as they stand.
- After each statement cite the piece that carries it by its number in square brackets: [1].
- Leave out what does not bear on the question. If nothing does, reply with the one word ${DECLINED}.
- Put text in quotation marks only when it stands there word for word.
- No tool calls, no markdown tables. Few, plain sentences.
- The last line of the reply is exactly: {{footer}}

${UNTRUSTED_EVIDENCE}{{notes}}`,
  user: `{{evidence}}

The question that others will answer: {{question}}
{{correction}}
Write down what bears on it. The last line must be exactly:
{{footer}}`,
};

/** What `subject` says of the words of the file, and of notes that stand for them. */
export const OF_FILE = "one part of it";
export const OF_NOTES = "notes on neighbouring parts of it, in order";
