import { DECLINED } from "../../model/model.ts";
import type { PromptTemplate } from "./prompt.ts";
import { UNTRUSTED_EVIDENCE } from "./untrusted-evidence.ts";

/** Pass 2 where the file was too long for one prompt: answer from notes on its parts, which cover all of it. */
export const ANSWER_FROM_NOTES_PROMPT: PromptTemplate<"question" | "footer" | "notes"> = {
  version: "answer-from-notes/1",
  slots: ["question", "footer", "notes"],
  system: `You answer a question from numbered notes on the parts of a file, and from nothing else. The notes stand in the
order of the file and cover all of it; parts without a note hold nothing on the question. Passages of other files may follow.

Rules:
- Say only what the notes say. What you know from elsewhere does not count.
- After each statement cite the note that carries it by its number in square brackets: [1].
- If the notes do not answer the question, reply with the one word ${DECLINED}.
- Put text in quotation marks only when a note has it in quotation marks.
- No tool calls, no markdown tables. Few, plain sentences.
- The last line of the reply is exactly: {{footer}}

${UNTRUSTED_EVIDENCE}{{notes}}`,
  user: `{{evidence}}

Question: {{question}}
{{correction}}
Answer with citations. The last line must be exactly:
{{footer}}`,
};
