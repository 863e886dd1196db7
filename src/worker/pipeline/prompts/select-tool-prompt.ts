import type { PromptTemplate } from "./prompt.ts";
import { UNTRUSTED_EVIDENCE } from "./untrusted-evidence.ts";

/** Pass 1: call the one tool, or say that the passages are enough. */
export const SELECT_TOOL_PROMPT: PromptTemplate<"boundary" | "question" | "files" | "passages"> = {
  version: "select-tool/1",
  slots: ["boundary", "question", "files", "passages"],
  system: `You choose what has to be read before a question can be answered. You do not answer it.

There is one tool, read_text_file, which reads a whole text file. To call it, reply with exactly this JSON object and nothing else:
{"type":"tool_call","name":"read_text_file","args":{"path":"the path"}}
Rules:
- If the question names a file, call the tool with that name, spelled as in the question.
- Otherwise, if the passages below are enough, reply with the one word ENOUGH.
- Otherwise call the tool with the path of one of the passages' documents. No other path can be read.
- At most one call.

${UNTRUSTED_EVIDENCE}`,
  user: `Question: {{question}}

Files that the question names: {{files}}

Passages found (beginnings only):
{{passages}}

Reply with the tool call, or with ENOUGH.`,
};
