import type { TextSpan } from "../text/spans.ts";

/** An address or a path in a text that a reader or a terminal would follow. */
type BareLink = TextSpan & { readonly kind: "link" | "path"; readonly target: string };

/** Top-level domains from which programs make a link without a scheme. */
const TLDS =
  "com|org|net|edu|gov|mil|info|biz|dev|app|io|xyz|online|cloud|eu|de|uk|ch|fr|es|nl|pl|se|dk|fi|ru|cn|jp|br|au|ca|onion|example|test|invalid|local|internal";
/** Top-level domains that are words: an address only before a slash, else a full stop without a space would make one. */
const WORD_TLDS = "ai|co|me|tv|top|site|shop|club|page|link|us|at|it|be|no|in|is|to|so|do|my|int";
/** Extensions of files that an answer may name. */
const EXTENSIONS =
  "md|markdown|txt|json|jsonl|ya?ml|csv|tsv|pdf|docx?|xlsx?|pptx?|html?|xml|sh|bash|py|exe|bat|ps1|env|conf|cfg|ini|toml|log|sql|db|sqlite|key|pem|crt|zip|tar|gz|tgz|bak|rtf|odt|png|jpe?g|gif|svg";
const STOPS = "\\s<>\"'`“”«»„‹›|\\\\^{}\\[\\]";
const LABEL = "[\\p{L}\\p{N}](?:[\\p{L}\\p{N}_-]{0,62})";

const LINKS: readonly RegExp[] = [
  // Programs find these even in the middle of a word.
  new RegExp(`(?:https?://|(?:java|vb)script:)[^${STOPS}]{1,4000}`, "giu"),
  new RegExp(`(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}://[^${STOPS}]{1,4000}`, "giu"),
  new RegExp(`(?<![a-z0-9])www\\.[^${STOPS}]{3,4000}`, "giu"),
  new RegExp(
    `(?<![a-z0-9])(?:mailto|data|file|tel|sms|blob|about|view-source|ssh|magnet):[^${STOPS}]{1,4000}`,
    "giu",
  ),
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,400}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}/giu,
  new RegExp(`(?<=[\\s"'=(]|^)//(?:${LABEL}\\.){1,8}\\p{L}{2,24}[^${STOPS}]{0,2000}`, "gimu"),
  new RegExp(
    `(?<![\\p{L}\\p{N}.@/\\\\_-])(?:(?:${LABEL}\\.){1,8}(?:(?:${TLDS})(?![\\p{L}\\p{N}_-])|(?:${WORD_TLDS})(?=/))(?:[:/?#][^${STOPS}]{0,4000})?|(?:\\d{1,3}\\.){3}\\d{1,3}[:/][^${STOPS}]{1,2000})`,
    "giu",
  ),
];
const PATHS: readonly RegExp[] = [
  // Paths from a root, a home, a drive or a share, or that lead up.
  new RegExp(
    `(?<![\\p{L}\\p{N}/\\\\.:~<])(?:~|\\.{1,2})?/(?:[^${STOPS}/,;]{1,255}/){0,40}[^${STOPS}/,;]{1,255}`,
    "giu",
  ),
  /(?<![\p{L}\p{N}])(?:[a-z]:\\|\\\\)[^\s<>"'`|?*]{1,400}/giu,
  new RegExp(
    `(?<![\\p{L}\\p{N}./\\\\_-])(?:[\\p{L}\\p{N}._-]{1,100}[/\\\\]){0,40}[\\p{L}\\p{N}._-]{0,100}\\.(?:${EXTENSIONS})(?![\\p{L}\\p{N}_-])`,
    "giu",
  ),
];

/** Finds addresses with a scheme or a known domain, mail addresses and file paths, in order. Every pattern is bounded. */
export function findBareLinks(text: string): BareLink[] {
  const found: BareLink[] = [];
  for (const [kind, patterns] of [["link", LINKS] as const, ["path", PATHS] as const]) {
    for (const pattern of patterns) {
      for (const { 0: spelled, index } of text.matchAll(pattern)) {
        const target = trimTail(spelled);
        if (target !== "") found.push({ kind, start: index, end: index + target.length, target });
      }
    }
  }
  return mergeOverlapping(text, found);
}

/** Removes punctuation at the end, and a closing bracket that the target did not open. */
function trimTail(target: string): string {
  let end = target.length;
  for (; end > 0; end -= 1) {
    const last = target.charAt(end - 1);
    if (last === ")" && target.slice(0, end - 1).includes("(")) break;
    if (!".,;:!?)*_~…".includes(last)) break;
  }
  return target.slice(0, end);
}

/** Merges links that overlap, so that no rest of one remains. */
function mergeOverlapping(text: string, found: readonly BareLink[]): BareLink[] {
  const links: BareLink[] = [];
  for (const link of [...found].sort((one, other) => one.start - other.start)) {
    const last = links.at(-1);
    if (last === undefined || link.start >= last.end) links.push(link);
    else {
      const kind = last.kind === "link" ? "link" : link.kind;
      const end = Math.max(last.end, link.end);
      links[links.length - 1] = {
        kind,
        start: last.start,
        end,
        target: text.slice(last.start, end),
      };
    }
  }
  return links;
}

/** A link or an image in markdown: `[label](target)`. */
type MarkupLink = {
  readonly target: string;
  /** The range from `]` to the end of the link. */
  readonly tail: TextSpan;
};

const LONGEST_TARGET = 4_000;
const DEEPEST = 200;
/** A link definition. A line with words behind the target, or with a word as target, is none: "[1]: The tank is full." */
const DEFINITION =
  /^[ \t>*+-]{0,12}\[[^[\]\n]{1,300}(\]:[ \t]{0,20}\n?[ \t]{0,20}(?![\p{L}\p{N}'’-]{1,80}[.,;!?]?[ \t]*$)<?([^\s>]{1,4000})>?)(?=[ \t]{0,20}(?:$|["'(]))/gmu;

/**
 * Finds the inline links, images and link definitions of a text, in order. As in markdown, a target that never ends makes no
 * link; its address counts as bare. Linear: targets are bounded.
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
      const link = isLabel ? parseTarget(text, at) : null;
      if (link !== null) links.push(link);
    }
  }
  return [...links, ...definitionsIn(text)].sort((one, other) => one.tail.start - other.tail.start);
}

const IN_ANGLES = /\(\s{0,50}<([^<>\n]{0,4000})>/y;
const AFTER_TARGET = /\s{0,50}(?:"[^"]{0,500}"|'[^']{0,500}'|\([^()]{0,500}\))?\s{0,50}\)/y;

/** @param at offset of the `]` before the bracket */
function parseTarget(text: string, at: number): MarkupLink | null {
  IN_ANGLES.lastIndex = at + 1;
  const angled = IN_ANGLES.exec(text);
  const from = at + 2 + (/^\s{0,50}/.exec(text.slice(at + 2, at + 52))?.[0].length ?? 0);
  const to = angled === null ? endOfTarget(text, from) : IN_ANGLES.lastIndex;
  AFTER_TARGET.lastIndex = to;
  if (AFTER_TARGET.exec(text) === null) return null;
  const target = angled?.[1] ?? text.slice(from, to);
  return { target, tail: { start: at, end: AFTER_TARGET.lastIndex } };
}

/** The end of a target: a space, or a closing bracket that the target did not open. */
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
