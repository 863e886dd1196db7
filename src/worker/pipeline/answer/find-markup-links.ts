import type { TextSpan } from "../text/split-spans.ts";

/** A link or an image as markdown writes it: `[label](target)`. */
export type MarkupLink = {
  readonly target: string;
  /** From `]` to the end of the link. */
  readonly tail: TextSpan;
};

const LONGEST_TARGET = 4_000;
const DEEPEST = 200;
/** No definition is a line with words behind the target, or whose target is a word: "[1]: The tank is full. [2]: Closed." */
const DEFINITION =
  /^[ \t>*+-]{0,12}\[[^[\]\n]{1,300}(\]:[ \t]{0,20}\n?[ \t]{0,20}(?![\p{L}\p{N}'’-]{1,80}[.,;!?]?[ \t]*$)<?([^\s>]{1,4000})>?)(?=[ \t]{0,20}(?:$|["'(]))/gmu;

/**
 * The inline links, images and definitions of links of a text, in order. What is no link for markdown because its
 * target never ends is none here either; its address stands bare. Linear: targets are bounded.
 */
export function findMarkupLinks(text: string): MarkupLink[] {
  const links: MarkupLink[] = [];
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "\\") at += 1;
    else if (char === "[") {
      if (open.length >= DEEPEST) open.shift();
      open.push(at);
    } else if (char === "]") {
      const isLabel = open.pop() !== undefined && text.charAt(at + 1) === "(";
      const link = isLabel ? readTarget(text, at) : null;
      if (link !== null) links.push(link);
    }
  }
  return [...links, ...definitionsIn(text)].sort((one, other) => one.tail.start - other.tail.start);
}

const IN_ANGLES = /\(\s{0,50}<([^<>\n]{0,4000})>/y;
const AFTER_TARGET = /\s{0,50}(?:"[^"]{0,500}"|'[^']{0,500}'|\([^()]{0,500}\))?\s{0,50}\)/y;

/** @param at of the `]` before the bracket */
function readTarget(text: string, at: number): MarkupLink | null {
  IN_ANGLES.lastIndex = at + 1;
  const angled = IN_ANGLES.exec(text);
  const from = at + 2 + (/^\s{0,50}/.exec(text.slice(at + 2, at + 52))?.[0].length ?? 0);
  const to = angled === null ? endOfTarget(text, from) : IN_ANGLES.lastIndex;
  AFTER_TARGET.lastIndex = to;
  if (AFTER_TARGET.exec(text) === null) return null;
  const target = angled?.[1] ?? text.slice(from, to);
  return { target, tail: { start: at, end: AFTER_TARGET.lastIndex } };
}

/** Up to a blank or the bracket that closes what it did not open. */
function endOfTarget(text: string, from: number): number {
  let depth = 0;
  const limit = Math.min(text.length, from + LONGEST_TARGET);
  let at = from;
  for (; at < limit && depth <= 32; at += 1) {
    const char = text.charAt(at);
    if (/\s/.test(char) || (char === ")" && depth === 0)) break;
    if (char === "(") depth += 1;
    else if (char === ")") depth -= 1;
  }
  return at;
}

const definitionsIn = (text: string): MarkupLink[] =>
  [...text.matchAll(DEFINITION)].map(({ 0: whole, 1: rest = "", 2: target = "", index }) => {
    const end = index + whole.length;
    return { target, tail: { start: end - rest.length, end } };
  });
