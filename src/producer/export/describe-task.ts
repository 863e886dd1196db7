import type { Kind } from "../../shared/job.ts";
import { isRecord } from "../../shared/json-value.ts";

const MOST_CHARS = 300;

/** What a job was asked for, in a line: its question, file, title or first words. */
export function describeTask(kind: Kind, input: Readonly<Record<string, unknown>>): string {
  const text = taskOf(kind, input);
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text;
}

function taskOf(kind: Kind, input: Readonly<Record<string, unknown>>): string {
  switch (kind) {
    case "ask":
      return textAt(input, "question");
    case "summarize":
    case "extract":
      return textAt(input, "path");
    case "digest":
      return textAt(input, "title");
    case "chat":
      return textAt(input, "prompt") || lastMessage(input["messages"]);
    case "embed":
      return "chunks" in input ? "chunks of the index" : firstText(input["text"]);
    case "command":
      return Array.isArray(input["command"]) ? input["command"].join(" ") : "";
    case "index":
      return "";
  }
}

function textAt(input: Readonly<Record<string, unknown>>, key: string): string {
  const value = input[key];
  return typeof value === "string" ? value : "";
}

function lastMessage(messages: unknown): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  return isRecord(last) ? textAt(last, "content") : "";
}

function firstText(text: unknown): string {
  const first: unknown = Array.isArray(text) ? text[0] : text;
  return typeof first === "string" ? first : "";
}
