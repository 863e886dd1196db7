import { DECLINED } from "../../model/model.ts";
import type { PromptTemplate } from "./prompt.ts";
import { UNTRUSTED_EVIDENCE } from "./untrusted-evidence.ts";

/** A digest of what jobs said about documents: each piece of evidence is the answer of one, or a line about some. */
export const DIGEST_PROMPT: PromptTemplate<"subject" | "lines" | "notes"> = {
  version: "digest/1",
  slots: ["subject", "lines", "notes"],
  system: `You tell in a few lines what numbered pieces of evidence say together. Each is what was said of one document of {{subject}},
or a line about several.

Rules:
- At most {{lines}} lines, each one sentence behind "- ". The most important things first; what belongs together in one line.
- Say only what the evidence says. Names, numbers and dates exactly as they stand there.
- Every line ends with the numbers of all the pieces that carry it, in square brackets: [1] or [2, 5].
- No heading, no line before or after the list, no tool calls, no markdown tables.
- Put text in quotation marks only when it stands in the evidence word for word.
- If the evidence says nothing at all, reply with the one word ${DECLINED}.

${UNTRUSTED_EVIDENCE}{{notes}}`,
  user: `{{evidence}}

Tell in at most {{lines}} lines what {{subject}} holds.
{{correction}}
Reply with the lines alone, each with its citations.`,
};
