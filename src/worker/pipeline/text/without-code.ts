/**
 * The text with fenced blocks and inline code blanked, character for character, so that every offset stays; what
 * stands in code is no markup. A fence that nothing closes hides nothing, nor does code that is a citation and nothing
 * else: models write `[1]` between backticks.
 */
export function withoutCode(text: string): string {
  const lines = text.split("\n");
  let open: { readonly fence: string; readonly line: number } | null = null;
  const fenced = new Set<number>();
  lines.forEach((line, index) => {
    if (open === null) {
      const fence = OPENING.exec(line)?.[1];
      if (fence !== undefined) open = { fence, line: index };
    } else if (CLOSING.exec(line)?.[1]?.startsWith(open.fence) === true) {
      for (let inside = open.line; inside <= index; inside += 1) fenced.add(inside);
      open = null;
    }
  });
  const shown = lines.map((line, index) => (fenced.has(index) ? blank(line) : line));
  return shown.join("\n").replace(/`[^`\n]*`/g, withoutSpan);
}

const withoutSpan = (code: string): string => (CITATION.test(code) ? code : blank(code));

const CITATION = /^`[[(][\d,; –-]{1,4000}[\])]`$/;
const OPENING = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const CLOSING = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;

/** As many blanks, with the line breaks where they were. */
export const blank = (text: string): string => text.replace(/[^\n]/g, " ");
