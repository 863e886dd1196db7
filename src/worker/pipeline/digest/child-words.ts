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
  const { body, footers } = splitFooters(answer);
  const end = body.indexOf(`\n${LEFT_OUT_HEADING}\n`);
  const words = end === -1 ? body : body.slice(0, end);
  return withoutCitations(words, piecesIn(footers.at(-1) ?? "")).trim();
}

/** How many pieces an answer rests on, as its footer tells; 0 where it does not. */
const piecesIn = (footer: string): number =>
  Number(/\b(\d{1,9}) (?:answer|passage)s? /.exec(footer)?.[1] ?? 0);

/** @param pieces how many the text can cite, numbered from 1; 0 where nobody knows */
export function withoutCitations(text: string, pieces: number): string {
  const cuts = findCitations(text, pieces).map(({ start, end }) => ({ start, end, text: "" }));
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
