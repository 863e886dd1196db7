import { isRecord } from "../../../shared/json-value.ts";
import { findCitations } from "../answer/find-citations.ts";
import { splitFooters } from "../answer/split-footers.ts";
import { applyEdits } from "../text/apply-edits.ts";
import { LEFT_OUT_HEADING } from "./name-left-out.ts";

/**
 * What an answer said, as a digest shows it: without its footer, its list of what was left out, and its citations, which
 * are those of another prompt.
 */
export function answerWords(answer: string): string {
  const { body } = splitFooters(answer);
  const end = body.indexOf(`\n${LEFT_OUT_HEADING}\n`);
  return withoutCitations(end === -1 ? body : body.slice(0, end)).trim();
}

export function withoutCitations(text: string): string {
  const cuts = findCitations(text).map(({ start, end }) => ({ start, end, text: "" }));
  return applyEdits(text, cuts).replace(/ {1,8}(?=[.,;:!?\n]|$)/g, "");
}

/** The fields of an extraction in words, a line each; an item of a list is a line of its own. */
export function fieldWords(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .filter(([name]) => name !== "quote")
    .flatMap(([name, value]) => {
      if (!Array.isArray(value)) return [`${name}: ${inWords(value)}`];
      return value.map((item) => `${name}: ${inWords(item)}`);
    })
    .join("\n");
}

function inWords(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return value.map(inWords).join(", ");
  if (!isRecord(value)) return typeof value === "string" ? value : JSON.stringify(value);
  return Object.entries(value)
    .filter(([name, member]) => name !== "quote" && member !== null)
    .map(([name, member]) => `${name} ${inWords(member)}`)
    .join(", ");
}
