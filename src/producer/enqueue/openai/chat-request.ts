import { parseJobInput } from "../../../shared/job.ts";
import type { JobInput } from "../../../shared/job.ts";
import { findUnsupportedField } from "./body-fields.ts";
import { readMessages } from "./chat-messages.ts";

type Body = Readonly<Record<string, unknown>>;

const TAKEN = [
  "model",
  "messages",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "seed",
  "stop",
  "response_format",
];

/** The body of a chat completion as the input of a chat job, or what is wrong with it. @param model without its alias */
export function parseChatRequest(body: Body, model: string): JobInput | string {
  const unsupported = findUnsupportedField(body, "chat", TAKEN);
  if (unsupported !== undefined) return unsupported;
  const messages = readMessages(body["messages"]);
  if (typeof messages === "string") return messages;
  const { stop, response_format: format } = body;
  const parsed = parseJobInput(
    withoutNulls({
      kind: "chat",
      messages,
      model,
      max_tokens: body["max_completion_tokens"] ?? body["max_tokens"],
      temperature: body["temperature"],
      top_p: body["top_p"],
      seed: body["seed"],
      stop: typeof stop === "string" ? [stop] : isEmptyList(stop) ? undefined : stop,
      response_format: isPlainText(format) ? undefined : format,
    }),
  );
  return parsed.ok ? parsed.input : `body.${parsed.reason}`;
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const isPlainText = (format: unknown): boolean =>
  typeof format === "object" && format !== null && "type" in format && format.type === "text";

/** Null says the same as nothing in OpenAI's requests. */
const withoutNulls = (values: Body): Body =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  );
