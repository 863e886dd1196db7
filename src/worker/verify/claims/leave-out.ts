import { applyEdits } from "../../text/clean-text.ts";
import type { TextSpan } from "../../text/spans.ts";

type Placed = TextSpan & {
  readonly cites: readonly number[];
  /** Its citations are in another statement, which may be left out. */
  readonly isInherited: boolean;
};

/** Marks a removed statement while its line is repaired; no answer contains it. */
const GONE = "\0";

/**
 * Removes statements from an answer, with the words that joined them to others, and lines that hold nothing else. A remaining
 * statement whose citation was in a removed one gets its own citation. Linear.
 */
export function leaveOut<T extends Placed>(
  answer: string,
  statements: readonly T[],
  isLeftOut: (statement: T) => boolean,
): string {
  const edits: Edit[] = [];
  // Whether the next citation, which also covers the statements before it, is removed with its statement.
  let isCitationGone = false;
  for (const statement of statements.toReversed()) {
    const { start, end, isInherited } = statement;
    const isGone = isLeftOut(statement);
    if (HOLDS_CITATION.test(answer.slice(start, end))) isCitationGone = isGone;
    const lacksOne = isInherited || (isCitationGone && !isGone);
    edits.push({ start, end, text: isGone ? GONE : withCitation(answer, statement, lacksOne) });
  }
  const lines = applyEdits(answer, edits.reverse()).split("\n").map(withoutGaps);
  return withoutOpenEnd(withoutLeadIns(lines)).join("\n").trim();
}

const HOLDS_CITATION = /[[【［①-⓿❶-➓㉑-㊿]|\(\d{1,9}\)/u;

type Edit = TextSpan & { readonly text: string };

function withCitation(answer: string, { start, end, cites }: Placed, lacksOne: boolean): string {
  const words = answer.slice(start, end);
  // 0 is a citation of no known piece.
  const known = cites.filter((number) => number > 0);
  return lacksOne && known.length > 0 ? `${words} [${known.join(", ")}]` : words;
}

const JOINTS =
  "and|but|yet|while|whereas|und|aber|doch|während|wohingegen|et|mais|tandis que|alors que|y|pero|mientras(?: que)?|e";
const JOINT_BEFORE = new RegExp(
  `[,;:–—\\s]{0,8}(?<!\\p{L})(?:(?:${JOINTS})\\s{1,4})?${GONE}|[,;–—\\s]{1,8}${GONE}`,
  "giu",
);
const JOINT_AFTER = new RegExp(`${GONE}[,;–—\\s]{0,8}(?:(?:${JOINTS})\\s{1,4})?`, "giu");
const MARK = /^(?:[ \t>]*(?:[-*+•]|\d{1,3}[.)])?[ \t]*)/;

/** Repairs a line with removed statements; none where no statement is left. */
function withoutGaps(line: string): string[] {
  if (!line.includes(GONE)) return [line];
  const mark = MARK.exec(line)?.[0] ?? "";
  const parts = line
    .slice(mark.length)
    .replace(JOINT_BEFORE, GONE)
    .replace(JOINT_AFTER, GONE)
    .split(GONE)
    .map((part) => part.trim())
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
  if (parts.length === 0) return [];
  return [mark + parts.map(asSentence).join(" ")];
}

const ENDS = /[.!?…。！？:](?:["'”’»)\]*_]|\s?\[[^\]]{0,200}\]){0,8}$/u;

/** Gives the rest of a sentence a capital letter and a stop. */
function asSentence(part: string): string {
  const first = String.fromCodePoint(part.codePointAt(0) ?? 0);
  const opened = first.toUpperCase() + part.slice(first.length);
  return ENDS.test(opened) ? opened : `${opened}.`;
}

const LEAD_IN = /[:：][*_]{0,3}\s*$/;
const ITEM = /^[ \t]*(?:[-*+•]|\d{1,3}[.)])\s/;

/** Removes lead-ins of which nothing is left: "Not included:" would introduce the next paragraph. */
function withoutLeadIns(lines: readonly (readonly string[])[]): string[] {
  const left: string[] = [];
  let isNextGone = false;
  let next = "";
  for (const [line] of lines.toReversed()) {
    if (line === undefined) isNextGone = true;
    else if (!isNextGone || ITEM.test(next) || !LEAD_IN.test(line)) {
      left.push(line);
      if (line.trim() !== "") [isNextGone, next] = [false, line];
    }
  }
  return left.reverse();
}

/** Removes headings and lead-ins at the end, because nothing follows them. */
function withoutOpenEnd(lines: readonly string[]): readonly string[] {
  let end = lines.length;
  while (end > 0 && /^[\s>]*$|^ {0,3}#{1,6}\s|[:：][*_]{0,3}\s*$/.test(lines[end - 1] ?? ""))
    end -= 1;
  return lines.slice(0, end);
}
