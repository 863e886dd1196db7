import { FOOTER_LABEL, FOOTER_MARK, holdsFooter } from "../scope-footer.ts";
import { foldLookAlikes } from "../text/look-alikes.ts";

/** A reply without the scope footers at its end, or what tries to be one; and those. */
export type SplitReply = { readonly body: string; readonly footers: readonly string[] };

/** No honest reply ends with more; what stands before them counts as a scope in the wrong place. */
const MOST_FOOTERS = 20;

/** A last line that opens with "Scope:" and is no footer of ours belongs to the answer. */
export function splitFooters(text: string): SplitReply {
  const footers: string[] = [];
  const folded = foldLookAlikes(text);
  const from = text.length - text.trimStart().length;
  let end = text.trimEnd().length;
  while (footers.length < MOST_FOOTERS) {
    const start = startOfFooter(folded.slice(from, end));
    if (start === null) break;
    footers.unshift(text.slice(from + start, end).trim());
    end = from + text.slice(from, from + start).trimEnd().length;
  }
  return { body: text.slice(from, end), footers };
}

function startOfFooter(text: string): number | null {
  const lineStart = text.lastIndexOf("\n") + 1;
  const line = text.slice(lineStart);
  if (OPENS_FOOTER.test(line) && holdsFooter(line)) return lineStart;
  const from = Math.max(0, text.length - LONGEST_CHARS);
  const found = FOOTER_AT_END.exec(text.slice(from));
  return found === null ? null : from + found.index;
}

const LONGEST_CHARS = 600;
const LABEL = `(?:(?:evidence|answer|final|true)\\s{1,4})?${FOOTER_LABEL}`;
const OPENS_FOOTER = new RegExp(
  `^[\\s>*_\`#|+•([{"'“„«<!-]{0,40}(?:\\d{1,3}[.)]\\s)?${LABEL}`,
  "iu",
);
/**
 * A whole footer behind other words of its line, over several lines, or in code, quotes, brackets or a comment: from the
 * blank before it to the end of the text.
 */
const FOOTER_AT_END = new RegExp(
  "(?:^|\\s)\\s{0,8}(?:`{3,8}\\w{0,12}\\s)?[([{\"'“„«*_`~<!-]{0,8}\\s?" +
    `${LABEL}${FOOTER_MARK}[*_\`]{0,3}\\s{0,4}(?:full|partial|\\d{1,9}\\s)[^\\n]{0,200}\\n?[^\\n]{0,200}` +
    "(?:sha-?256|snapshot)\\s?=\\s?[0-9a-f]{8,64}(?:, parts=\\d{1,9})?[)\\]}\"'”“»*_`~.!>\\s-]{0,16}$",
  "iu",
);
