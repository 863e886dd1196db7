import type { TextSpan } from "../text/split-spans.ts";

/** An address or a path where it stands in a text, as a reader or a terminal would follow it. */
export type BareLink = TextSpan & { readonly kind: "link" | "path"; readonly target: string };

/** Endings of hosts that programs make a link of without being told. */
const TLDS =
  "com|org|net|edu|gov|mil|info|biz|dev|app|io|xyz|online|cloud|eu|de|uk|ch|fr|es|nl|pl|se|dk|fi|ru|cn|jp|br|au|ca|onion|example|test|invalid|local|internal";
/** Those that are words: an address only before a slash, or a full stop without a blank would make one. */
const WORD_TLDS = "ai|co|me|tv|top|site|shop|club|page|link|us|at|it|be|no|in|is|to|so|do|my|int";
/** Endings of files that an answer may name. */
const EXTENSIONS =
  "md|markdown|txt|json|jsonl|ya?ml|csv|tsv|pdf|docx?|xlsx?|pptx?|html?|xml|sh|bash|py|exe|bat|ps1|env|conf|cfg|ini|toml|log|sql|db|sqlite|key|pem|crt|zip|tar|gz|tgz|bak|rtf|odt|png|jpe?g|gif|svg";
const STOPS = "\\s<>\"'`“”«»„‹›|\\\\^{}\\[\\]";
const LABEL = "[\\p{L}\\p{N}](?:[\\p{L}\\p{N}_-]{0,62})";

const LINKS: readonly RegExp[] = [
  // Programs find these also in the middle of a word.
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
  // From a root, a home, a drive or a share, or climbing.
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

/** Addresses with a scheme or a known ending, mail addresses and file paths, in order. Every pattern is bounded. */
export function findBareLinks(text: string): BareLink[] {
  const found: BareLink[] = [];
  for (const [kind, patterns] of [["link", LINKS] as const, ["path", PATHS] as const]) {
    for (const pattern of patterns) {
      for (const { 0: spelled, index } of text.matchAll(pattern)) {
        const target = withoutTail(spelled);
        if (target !== "") found.push({ kind, start: index, end: index + target.length, target });
      }
    }
  }
  return merged(text, found);
}

/** Without the punctuation of the sentence, and a bracket that it did not open. */
function withoutTail(target: string): string {
  let end = target.length;
  for (; end > 0; end -= 1) {
    const last = target.charAt(end - 1);
    if (last === ")" && target.slice(0, end - 1).includes("(")) break;
    if (!".,;:!?)*_~…".includes(last)) break;
  }
  return target.slice(0, end);
}

/** Those that overlap as one, so that no rest of one stays behind. */
function merged(text: string, found: readonly BareLink[]): BareLink[] {
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
