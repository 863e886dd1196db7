import { isRecord, parseJson } from "../../../shared/json-value.ts";
import { endOfJson } from "../tool-call/end-of-json.ts";
import { findUnstorable } from "../tool-call/find-unstorable.ts";
import { openReply } from "../tool-call/open-reply.ts";
import type { Fields } from "./fields.ts";

export type ReadFields =
  | { readonly kind: "fields"; readonly fields: Fields }
  /** `reason` is a clause about the reply, without its words. */
  | { readonly kind: "none"; readonly reason: string };

const none = (reason: string): ReadFields => ({ kind: "none", reason });

/** Where an object begins behind words: at the start of a line, be it in a fence. */
const OBJECT_BEHIND_WORDS = /(?:^|\n)[ \t]{0,8}\{/;

/**
 * The JSON object of a reply: behind thinking, in a code fence, or behind a sentence that announces it. What follows it
 * is left out. At most 65,536 characters and 32 levels. Pure, linear in the reply.
 */
export function readFields(reply: string): ReadFields {
  const { text } = openReply(reply);
  const start = text.startsWith("{") ? 0 : (OBJECT_BEHIND_WORDS.exec(text)?.index ?? -1);
  if (start === -1) return none("it held no JSON object");
  const json = text.slice(text.indexOf("{", start));
  const span = endOfJson(json);
  if (span.kind === "open") return none(span.reason);
  const value = parseJson(json.slice(0, span.end));
  if (!isRecord(value)) return none("its JSON is not valid");
  const unstorable = findUnstorable(value);
  return unstorable === null ? { kind: "fields", fields: value } : none(unstorable);
}
