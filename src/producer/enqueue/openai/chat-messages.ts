import { isRecord } from "../../../shared/json-value.ts";

type ChatMessage = {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
};

/** `developer` is what newer models call `system`. */
const ROLES: ReadonlyMap<unknown, ChatMessage["role"]> = new Map([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["assistant", "assistant"],
]);

/**
 * Messages as a chat job takes them: texts alone, the text parts of one message joined by line feeds.
 * @returns the messages, or which of them is none and why
 */
export function readMessages(value: unknown): readonly ChatMessage[] | string {
  if (!Array.isArray(value) || value.length === 0)
    return "body.messages must be a list of messages";
  const messages: ChatMessage[] = [];
  for (const [index, item] of value.entries()) {
    const read = readMessage(item);
    if (typeof read === "string") return `body.messages.${index}${read}`;
    messages.push(read);
  }
  return messages;
}

function readMessage(value: unknown): ChatMessage | string {
  if (!isRecord(value)) return " must be an object with role and content";
  const role = ROLES.get(value["role"]);
  if (role === undefined) return ".role must be system, developer, user or assistant";
  const extra = Object.entries(value).find(([key, member]) => !isKnown(key) && member !== null);
  if (extra !== undefined) return ` holds more than role and content: ${extra[0].slice(0, 60)}`;
  const content = readContent(value["content"]);
  return typeof content === "string" ? { role, content } : content.reason;
}

const isKnown = (key: string): boolean => key === "role" || key === "content";

function readContent(value: unknown): string | { readonly reason: string } {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return { reason: ".content must be a text or a list of text parts" };
  const texts: string[] = [];
  for (const [index, part] of value.entries()) {
    const type: unknown = isRecord(part) ? part["type"] : undefined;
    const text: unknown = isRecord(part) ? part["text"] : undefined;
    if (type !== "text" || typeof text !== "string") {
      return {
        reason: `.content.${index} ${describePart(type)}; a chat job takes text parts only`,
      };
    }
    texts.push(text);
  }
  return texts.join("\n");
}

function describePart(type: unknown): string {
  switch (type) {
    case "image_url":
      return "is an image";
    case "input_audio":
      return "is sound";
    case "file":
      return "is a file";
    default:
      return "is no text";
  }
}
