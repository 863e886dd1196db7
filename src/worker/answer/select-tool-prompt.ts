import type { Tool } from "../models/model.ts";
import { UNTRUSTED_EVIDENCE } from "./prompt.ts";
import type { PromptTemplate } from "./prompt.ts";

type SelectToolTemplate = PromptTemplate<"question" | "files" | "shown">;

const TASK =
  "You choose what has to be read before a question can be answered. You do not answer it.";

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

${instruction}`;

const SLOTS = ["question", "files", "shown"] as const;

/** Pass 1 in words alone: the call is a JSON object, or the word ENOUGH says that the passages are enough. */
export const SELECT_TOOL_BY_TEXT: SelectToolTemplate = {
  version: "select-tool-text/2",
  slots: SLOTS,
  system: `${TASK}

There is one tool, read_text_file, which reads a whole text file. To call it, reply with exactly this JSON object and nothing else:
{"type":"tool_call","name":"read_text_file","args":{"path":"the path"}}
Rules:
${rulesFor("the one word ENOUGH")}

${UNTRUSTED_EVIDENCE}`,
  user: userFor("Reply with the tool call, or with ENOUGH."),
};

/** The same where the host holds the reply to SELECT_TOOL_SCHEMA. */
export const SELECT_TOOL_BY_SCHEMA: SelectToolTemplate = {
  version: "select-tool-schema/1",
  slots: SLOTS,
  system: `${TASK}

There is one tool, read_text_file, which reads a whole text file. To call it, reply with this JSON object:
{"type":"tool_call","name":"read_text_file","args":{"path":"the path"}}
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
        name: { const: "read_text_file" },
        args: {
          type: "object",
          properties: { path: { type: "string" } },
          required: ["path"],
          additionalProperties: false,
        },
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

/** The same where the host has a protocol of its own for tool calls. */
export const SELECT_TOOL_NATIVELY: SelectToolTemplate = {
  version: "select-tool-native/1",
  slots: SLOTS,
  system: `${TASK}

There is one tool, read_text_file, which reads a whole text file.
Rules:
${rulesFor("the one word ENOUGH")}

${UNTRUSTED_EVIDENCE}`,
  user: userFor("Call the tool, or reply with ENOUGH."),
};

export const READ_TEXT_FILE: Tool = {
  name: "read_text_file",
  description: "Reads a whole text file.",
  parameters: {
    type: "object",
    properties: {
      path: {
        type: "string",
        description: "The file, spelled as the question or the passage spells it.",
      },
    },
    required: ["path"],
    additionalProperties: false,
  },
};
