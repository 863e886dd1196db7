import { FENCE_CHARS } from "../evidence/fence.ts";
import { hash } from "node:crypto";
import { groupToFit } from "../../shared/group-by.ts";
import type { Kind } from "../../shared/job/job.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import type { LeftOut } from "../../shared/store/jobs/dependencies.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { countLines } from "../evidence/piece.ts";
import { countCodePoints, visibleText } from "../text/clean-text.ts";
import { withoutCitations } from "../verify/citations.ts";
import { splitFooters } from "../verify/reply.ts";

/** One input of a digest: the answer of a child job, or a line about several of them. */
export type DigestItem = {
  readonly text: string;
  readonly path: string;
  /** Numbers of the children that the item represents, ascending. */
  readonly children: readonly number[];
  /** 0: the answer of a child. 1: a line about answers, and so on up. */
  readonly level: number;
};

/** The items as numbered evidence, from 1. No field depends on job ids or times: equal answers make equal prompts. */
export const blocksOf = (items: readonly DigestItem[]): CitableBlock[] =>
  items.map(({ text, path, level }, index) => ({
    number: index + 1,
    path,
    text,
    sha256: sha256Of(text),
    title: null,
    headingPath: null,
    chunkKey: null,
    startChar: 0,
    endChar: countCodePoints(text),
    lineStart: 1,
    lineEnd: countLines(text),
    summaryLevel: level,
  }));

export const sha256Of = (text: string): string => hash("sha256", text);

/** UTF-16 units that the items take in one prompt. */
export const promptLength = (items: readonly DigestItem[]): number =>
  items.reduce((total, { text, path }) => total + text.length + path.length + FENCE_CHARS, 0);

/** Groups neighbours, as many as fit one prompt; an item that does not fit alone is shortened. */
export const groupItems = (items: readonly DigestItem[], room: number): DigestItem[][] =>
  groupToFit(
    items.map((item) => cutToFit(item, room)),
    room,
    (item) => promptLength([item]),
  );

/** Most answers are short, but an extraction may be long: its first lines represent it. */
function cutToFit(item: DigestItem, room: number): DigestItem {
  const most = Math.max(0, room - item.path.length - FENCE_CHARS);
  if (item.text.length <= most) return item;
  const end = item.text.lastIndexOf("\n", most);
  return {
    ...item,
    text: item.text.slice(0, end > 0 ? end : most).replace(/[\uD800-\uDBFF]$/, ""),
  };
}

/** A child job of a digest, as it ended. */
export type DigestChild = {
  readonly jobId: string;
  readonly kind: Kind;
  readonly state: string;
  readonly errorCode: string | null;
  /** The file, or the title of a digest. */
  readonly path: string;
  /** Its answer without footer and citations; null unless it succeeded. */
  readonly words: string | null;
  /** For a digest: what it had to leave out. */
  readonly leftOut: readonly LeftOut[];
};

/**
 * The words of an answer as a digest shows them: without its footer, its list of what was left out, our notes below it, and
 * its citations, whose numbers belong to another prompt.
 */
export function answerWords(answer: string): string {
  const { body, footers } = splitFooters(answer);
  const end = body.indexOf(`\n${LEFT_OUT_HEADING}\n`);
  const words = end === -1 ? body : body.slice(0, end);
  return withoutCitations(words.replace(OUR_NOTES, ""), piecesIn(footers.at(-1) ?? "")).trim();
}

/** `leftOutNote` and `missingNote` at the end of an answer. */
const OUR_NOTES =
  /(?:\n\((?:1 statement was|\d{1,9} statements were) left out: the evidence does not carry (?:it|them)\.\)|\n\(The question asks for: [^\n]{1,200}\. No statement of this answer holds such a thing\.\)|\s)+$/;

/** How many pieces an answer rests on, according to its footer; 0 if the footer does not say. */
const piecesIn = (footer: string): number =>
  Number(/\b(\d{1,9}) (?:answer|passage)s? /.exec(footer)?.[1] ?? 0);

/** The fields of an extraction in words, a line each; an item of a list is a line of its own. */
export function fieldWords(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .filter(([name]) => name !== "quote")
    .flatMap(([name, value]) => {
      if (!Array.isArray(value)) return [`${name}: ${formatValue(value)}`];
      return value.map((item) => `${name}: ${formatValue(item)}`);
    })
    .join("\n");
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return value.map(formatValue).join(", ");
  if (!isRecord(value)) return typeof value === "string" ? value : JSON.stringify(value);
  return Object.entries(value)
    .filter(([name, member]) => name !== "quote" && member !== null)
    .map(([name, member]) => `${name} ${formatValue(member)}`)
    .join(", ");
}

/** The heading above the jobs that a digest leaves out. Nightdesk writes these lines; no model changes them. */
const LEFT_OUT_HEADING = "Not in this digest:";

/** The rest is only counted; the digest's `summary` holds all. */
const MOST_NAMED = 200;

/** The children without an answer, and what the digests among them left out, in the order of the children. */
export const leftOutOf = (children: readonly DigestChild[]): LeftOut[] =>
  children.flatMap(({ jobId, path, kind, state, errorCode, words, leftOut }) =>
    words === null
      ? [{ path, kind, state, error_code: errorCode, job_id: jobId }, ...leftOut]
      : leftOut,
  );

/** The lines that name what was left out; no lines when nothing was. */
export function leftOutLines(leftOut: readonly LeftOut[]): string[] {
  if (leftOut.length === 0) return [];
  const more = leftOut.length - MOST_NAMED;
  return [
    LEFT_OUT_HEADING,
    ...leftOut.slice(0, MOST_NAMED).map(leftOutLine),
    ...(more > 0 ? [`- … and ${String(more)} more`] : []),
  ];
}

const leftOutLine = ({ path, kind, state, error_code: code }: LeftOut): string => {
  const what = kind === "digest" ? " (digest)" : "";
  return `- ${visibleText(path).replaceAll("\n", " ")}${what}: ${state}${code === null ? "" : `, ${code}`}`;
};
