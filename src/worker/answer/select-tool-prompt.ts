import { READ_WHOLE_FILE } from "../tools/read-text-file.ts";
import { textOfCall } from "../text/model-json.ts";
import { UNTRUSTED_EVIDENCE } from "./prompt.ts";
import type { PromptTemplate } from "./prompt.ts";

type SelectToolTemplate = PromptTemplate<"question" | "files" | "shown">;

const TASK =
  "You choose what has to be read before a question can be answered. You do not answer it.";

const { name, description, parameters } = READ_WHOLE_FILE;
const ONE_TOOL = `There is one tool, ${name}, which ${description.charAt(0).toLowerCase()}${description.slice(1)}`;
const EXAMPLE = textOfCall(name, { path: "the path" });

const rulesFor = (
  enough: string,
): string => `- If the question names a file, call the tool with that name, spelled as in the question.
- Otherwise, if the passages below are enough, reply with ${enough}.
- Otherwise call the tool with the path of one of the passages' documents. No other path can be read.
- At most one call.`;

const userFor = (instruction: string): string => `Question: {{question}}

Files that the question names: {{files}}

Passages found (beginnings only): {{shown}}
{{evidence}}
{{correction}}
${instruction}`;

const SLOTS = ["question", "files", "shown"] as const;

/** Pass 1 in plain text: the reply is a JSON object that calls the tool, or the word ENOUGH where the passages are enough. */
export const SELECT_TOOL_BY_TEXT: SelectToolTemplate = {
  version: "select-tool-text/3",
  slots: SLOTS,
  system: `${TASK}

${ONE_TOOL} To call it, reply with exactly this JSON object and nothing else:
${EXAMPLE}
Rules:
${rulesFor("the one word ENOUGH")}

${UNTRUSTED_EVIDENCE}`,
  user: userFor("Reply with the tool call, or with ENOUGH."),
};

/** Pass 1 where the host enforces SELECT_TOOL_SCHEMA. */
export const SELECT_TOOL_BY_SCHEMA: SelectToolTemplate = {
  version: "select-tool-schema/2",
  slots: SLOTS,
  system: `${TASK}

${ONE_TOOL} To call it, reply with this JSON object:
${EXAMPLE}
Rules:
${rulesFor(`the JSON object {"type":"enough"}`)}

${UNTRUSTED_EVIDENCE}`,
  user: userFor(`Reply with the tool call, or with {"type":"enough"}.`),
};

export const SELECT_TOOL_SCHEMA = {
  anyOf: [
    {
      type: "object",
      properties: {
        type: { const: "tool_call" },
        name: { const: name },
        args: parameters,
      },
      required: ["type", "name", "args"],
      additionalProperties: false,
    },
    {
      type: "object",
      properties: { type: { const: "enough" } },
      required: ["type"],
      additionalProperties: false,
    },
  ],
} as const;

/** Pass 1 where the host has its own protocol for tool calls. */
export const SELECT_TOOL_NATIVELY: SelectToolTemplate = {
  version: "select-tool-native/2",
  slots: SLOTS,
  system: `${TASK}

${ONE_TOOL}
Rules:
${rulesFor("the one word ENOUGH")}

${UNTRUSTED_EVIDENCE}`,
  user: userFor("Call the tool, or reply with ENOUGH."),
};
