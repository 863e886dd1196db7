import { DECLINED } from "../../model/model.ts";
import type { PromptTemplate } from "./prompt.ts";
import { UNTRUSTED_EVIDENCE } from "./untrusted-evidence.ts";

/** Pass 2: answer from the evidence alone, with citations and the scope footer. */
export const ANSWER_PROMPT: PromptTemplate<"question" | "footer" | "notes"> = {
  version: "answer/2",
  slots: ["question", "footer", "notes"],
  system: `You answer a question from numbered pieces of evidence, and from nothing else.

Rules:
- Say only what the evidence says. What you know from elsewhere does not count.
- After each statement cite the piece that carries it by its number in square brackets: [1].
- If the evidence does not answer the question, reply with the one word ${DECLINED}.
- Put text in quotation marks only when it stands in the evidence word for word.
- No tool calls, no markdown tables. Few, plain sentences.
- The last line of the reply is exactly: {{footer}}

${UNTRUSTED_EVIDENCE}{{notes}}`,
  user: `{{evidence}}

Question: {{question}}
{{correction}}
Answer with citations. The last line must be exactly:
{{footer}}`,
};
