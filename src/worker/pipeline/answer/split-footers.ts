import { holdsFooter } from "../scope-footer.ts";

/** A reply without the scope footers at its end, or what tries to be one; and those. */
export type SplitReply = { readonly body: string; readonly footers: readonly string[] };

/** No honest reply ends with more; what stands before them counts as a scope in the wrong place. */
const MOST_FOOTERS = 20;

/** A last line that opens with "Scope:" and is no footer of ours belongs to the answer. */
export function splitFooters(text: string): SplitReply {
  const footers: string[] = [];
  let body = text.trim();
  while (footers.length < MOST_FOOTERS) {
    const start = startOfFooter(body);
    if (start === null) break;
    footers.unshift(body.slice(start).trim());
    body = body.slice(0, start).trimEnd();
  }
  return { body, footers };
}

function startOfFooter(text: string): number | null {
  const lineStart = text.lastIndexOf("\n") + 1;
  const line = text.slice(lineStart);
  if (/^[\s>*_`#-]*Scope/i.test(line) && holdsFooter(line)) return lineStart;
  const from = Math.max(0, text.length - LONGEST_CHARS);
  const found = FOOTER_AT_END.exec(text.slice(from));
  return found === null ? null : from + found.index;
}

const LONGEST_CHARS = 600;
/**
 * A whole footer behind other words of its line, over several lines, or in code, quotes, brackets or a comment: from the
 * blank before it to the end of the text.
 */
const FOOTER_AT_END =
  /(?:^|\s)\s{0,8}(?:`{3,8}\w{0,12}\s)?[([{"'“„«*_`~<!-]{0,8}\s?Scope[*_]{0,3}:[*_`]{0,3}\s{0,4}(?:full|partial|\d{1,9}\s)[^\n]{0,200}\n?[^\n]{0,200}\b(?:sha256|snapshot)=[0-9a-f]{8,64}(?:, parts=\d{1,9})?[)\]}"'”“»*_`~.!>\s-]{0,16}$/i;
