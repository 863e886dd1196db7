import type { TextSpan } from "../text/split-spans.ts";

const QUOTED = /^[ \t]{0,8}(?:[-*+][ \t]{1,4})?>[ \t>]*/;
/** An alert of GitHub, who is quoted, a table: no words of the quotation. */
const NO_QUOTE = /^(?:\[![A-Z]+\]|[—–―-]{1,2}[ \t]*\S|\|)/;

/**
 * The paragraphs that stand after `>`, which claim to be quoted. One that opens with a quote mark is left to that, as
 * are the line that says who is quoted, alerts and tables.
 */
export function findBlockQuotes(text: string, marked: readonly TextSpan[]): TextSpan[] {
  const quotes: TextSpan[] = [];
  const opened = new Set(marked.map(({ start }) => start - 1));
  let open: { start: number; end: number } | null = null;
  let at = 0;
  for (const line of text.split("\n")) {
    const mark = QUOTED.exec(line)?.[0];
    const words = mark === undefined ? "" : line.slice(mark.length).trim();
    if (mark === undefined || words === "" || NO_QUOTE.test(words)) open = null;
    else {
      const start = at + mark.length;
      if (open === null) quotes.push((open = { start, end: start }));
      open.end = at + line.trimEnd().length;
    }
    at += line.length + 1;
  }
  return quotes.filter(({ start }) => !opened.has(start));
}
