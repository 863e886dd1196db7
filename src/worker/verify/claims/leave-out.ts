import { applyEdits } from "../../text/clean-text.ts";
import type { TextSpan } from "../../text/spans.ts";

type Placed = TextSpan & {
  readonly cites: readonly number[];
  /** Its numbers stand elsewhere, in what may be left out. */
  readonly isInherited: boolean;
};

/** Stands for what is gone while its line is put in order; no answer holds it. */
const GONE = "\0";

/**
 * An answer without some of its statements: what joined them to others goes with them, as do lines that said nothing
 * else. Of the others those that cited with one that is gone cite for themselves. Linear.
 */
export function leaveOut<T extends Placed>(
  answer: string,
  statements: readonly T[],
  isLeftOut: (statement: T) => boolean,
): string {
  const edits: Edit[] = [];
  // Whether the citation that stands behind a statement, at the end of its sentence, goes with another.
  let isCitationGone = false;
  for (const statement of statements.toReversed()) {
    const { start, end, isInherited } = statement;
    const isGone = isLeftOut(statement);
    if (answer.slice(start, end).includes("[")) isCitationGone = isGone;
    const lacksOne = isInherited || (isCitationGone && !isGone);
    edits.push({ start, end, text: isGone ? GONE : citing(answer, statement, lacksOne) });
  }
  const lines = applyEdits(answer, edits.reverse()).split("\n").flatMap(withoutGaps);
  return withoutOpenEnd(lines).join("\n").trim();
}

type Edit = TextSpan & { readonly text: string };

const citing = (answer: string, { start, end, cites }: Placed, lacksOne: boolean): string => {
  const words = answer.slice(start, end);
  return lacksOne && cites.length > 0 ? `${words} [${cites.join(", ")}]` : words;
};

const JOINTS =
  "and|but|yet|while|whereas|und|aber|doch|während|wohingegen|et|mais|tandis que|alors que|y|pero|mientras(?: que)?|e";
const JOINT_BEFORE = new RegExp(
  `[,;:–—\\s]{0,8}(?<!\\p{L})(?:(?:${JOINTS})\\s{1,4})?${GONE}|[,;–—\\s]{1,8}${GONE}`,
  "giu",
);
const JOINT_AFTER = new RegExp(`${GONE}[,;–—\\s]{0,8}(?:(?:${JOINTS})\\s{1,4})?`, "giu");
const MARK = /^(?:[ \t>]*(?:[-*+•]|\d{1,3}[.)])?[ \t]*)/;

/** A line of which something is gone; none where nothing is left. */
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

/** What is left of a sentence begins and ends as one. */
function asSentence(part: string): string {
  const first = String.fromCodePoint(part.codePointAt(0) ?? 0);
  const opened = first.toUpperCase() + part.slice(first.length);
  return ENDS.test(opened) ? opened : `${opened}.`;
}

/** Headings and lead-ins at the end, under which nothing is left. */
function withoutOpenEnd(lines: readonly string[]): readonly string[] {
  let end = lines.length;
  while (end > 0 && /^[\s>]*$|^ {0,3}#{1,6}\s|[:：][*_]{0,3}\s*$/.test(lines[end - 1] ?? ""))
    end -= 1;
  return lines.slice(0, end);
}
