import { z } from "zod";
import { cleanText, withoutCode } from "../text/clean-text.ts";
import { objectSchema } from "../text/model-json.ts";
import { detectToolCall } from "../tools/parse-tool-call.ts";
import type { CheckableReply } from "./check-answer.ts";
import { findCitations, withoutCitations } from "./citations.ts";
import type { PlacedClaim } from "./claims/answer-claims.ts";
import { lettersOf, openAnswer } from "./reply.ts";
import { parseObject } from "./validate-fields.ts";

/** The parts of a claim beside its text, and the layout of the composed answer. */
export type ClaimsForm = {
  /** Sentences of one paragraph, or one line for each claim. */
  readonly layout: "prose" | "list";
  /** Whether a claim has a quote: only evidence that was shown word for word can be quoted. */
  readonly quotes: boolean;
  /** Whether a claim cites pieces by number: a summary of one file need not. */
  readonly cites: boolean;
};

/**
 * The schema that a host enforces for a reply. The way to decline comes first, and the quote before the text that rests on it.
 * It has no lengths: hosts refuse long ones, and some loop.
 */
export function claimsSchemaFor({
  quotes,
  cites,
}: Omit<ClaimsForm, "layout">): Readonly<Record<string, unknown>> {
  const properties = {
    ...(quotes ? { quote: { type: ["string", "null"] } } : {}),
    text: { type: "string" },
    ...(cites ? { cites: { type: "array", items: { type: "integer" } } } : {}),
  };
  return objectSchema({
    declined: { type: "boolean" },
    missing: { type: ["string", "null"] },
    claims: { type: "array", items: objectSchema(properties) },
  });
}

/** The form of an answer from evidence that was shown word for word. */
export const ANSWER_CLAIMS: ClaimsForm = { layout: "prose", quotes: true, cites: true };

/** Only the fields of a reply that are used. */
const claimsSchema = z.object({
  declined: z.boolean().default(false),
  claims: z.array(
    z.object({
      text: z.string(),
      cites: z.array(z.number().int().nonnegative()).default([]),
      quote: z.string().nullish(),
    }),
  ),
});

export type ClaimsReply =
  | { readonly kind: "claims"; readonly text: string; readonly claims: readonly PlacedClaim[] }
  | { readonly kind: "declined" }
  /** Words, or a tool call: both are checked as a reply in prose. */
  | { readonly kind: "prose" | "call" }
  /** cut: it ended at a limit. ignored: its host did not enforce the schema. */
  | { readonly kind: "formless"; readonly why: "cut" | "ignored" };

/**
 * Reads a reply to a request for claims, and composes the answer from its claims, with our own numbers and layout. It checks
 * the schema itself, even if a host promises to enforce it. A list without claims declines. Pure.
 *
 * @param pieces the number of pieces that can be cited, numbered from 1
 */
export function readClaimsReply(
  { text, toolCalls, doneReason }: CheckableReply,
  pieces: number,
  form: ClaimsForm,
): ClaimsReply {
  if (toolCalls.length > 0) return { kind: "call" };
  const parsed = parseObject(text);
  const reply = claimsSchema.safeParse(parsed.kind === "fields" ? parsed.fields : null);
  if (reply.success) {
    const { declined, claims } = reply.data;
    return declined || claims.length === 0
      ? { kind: "declined" }
      : { kind: "claims", ...layOut(claims, pieces, form) };
  }
  if (detectToolCall(text)) return { kind: "call" };
  if (doneReason !== "stop") return { kind: "formless", why: "cut" };
  const isProse = lettersOf(text) !== "" && !/^\s*(?:`{3}\w*\s*)?[{[]\s*["{}\]]/.test(text);
  return isProse ? { kind: "prose" } : { kind: "formless", why: "ignored" };
}

type GivenClaim = z.infer<typeof claimsSchema>["claims"][number];

function layOut(
  given: readonly GivenClaim[],
  pieces: number,
  { layout, quotes, cites }: ClaimsForm,
): Pick<Extract<ClaimsReply, { kind: "claims" }>, "text" | "claims"> {
  let text = "";
  const claims: PlacedClaim[] = [];
  for (const claim of given) {
    const sentence = sentenceOf(claim, pieces, cites);
    if (sentence === "") continue;
    if (text !== "") text += layout === "list" ? "\n" : " ";
    if (layout === "list") text += "- ";
    const start = text.length;
    text += sentence;
    const quote = quotes ? (claim.quote?.trim() ?? "") : "";
    claims.push({ start, end: text.length, quote: quote === "" ? undefined : quote });
  }
  return { text, claims };
}

/** Marks of a heading, an item, a quotation or a row, which would turn a sentence into another block. */
const BLOCK_MARK = /^(?:[-*+•>|]\s+|#{1,6}\s+|\|)+/;
const STOP = /(?<=[\p{L}\p{N}%°)])[.!。！]$/u;

/** Writes a claim as one line, with its numbers before its stop; empty where it has no words. */
function sentenceOf({ text, cites }: GivenClaim, pieces: number, isCited: boolean): string {
  const line = openAnswer(cleanText(text)).body.replace(/\s+/g, " ").trim();
  const own = findCitations(withoutCode(line), pieces);
  const words = withoutCitations(line, pieces).trim().replace(BLOCK_MARK, "");
  if (lettersOf(words) === "") return "";
  const given = isCited ? [...cites, ...own.flatMap((found) => found.numbers)] : [];
  const numbers = [...new Set(given)];
  const stop = STOP.exec(words)?.[0] ?? (/[.!?。！？…:;]["'”’»)]*$/u.test(words) ? "" : ".");
  const unstopped = words.endsWith(stop) ? words.slice(0, words.length - stop.length) : words;
  const mark = numbers.length === 0 ? "" : ` [${numbers.join(", ")}]`;
  return `${unstopped}${mark}${stop}`;
}
