/** A shorter span in quote marks is a term, not a quote. */
const FEWEST_QUOTE_CHARS = 12;
const CLOSERS: Readonly<Record<string, string>> = {
  '"': '"',
  "“": "”",
  "”": "”",
  "‟": "”",
  "„": "“”",
  "«": "»",
  "»": "«",
  "‹": "›",
  "›": "‹",
  "「": "」",
  "『": "』",
};
/** Marks that also close, and so open only at the start of a word. */
const AMBIGUOUS = '"”»›';

/**
 * The spans in quote marks of any kind that claim to be quoted, without the marks. A straight mark opens only at
 * the start of a word, so that 5" is none; a blank line ends what nobody closed. Give it the text without code.
 */
export function findQuotes(text: string): string[] {
  const quotes = text
    .replaceAll("＂", '"')
    .split(/\n[ \t]*\n/)
    .flatMap(quotesIn);
  return quotes.filter((quote) => quote.trim().length >= FEWEST_QUOTE_CHARS);
}

function quotesIn(paragraph: string): string[] {
  const quotes: string[] = [];
  let start = -1;
  let closers = "";
  for (let index = 0; index < paragraph.length; index += 1) {
    const char = paragraph.charAt(index);
    if (start === -1) {
      const opens = CLOSERS[char];
      if (opens === undefined || (AMBIGUOUS.includes(char) && !opensWord(paragraph, index)))
        continue;
      start = index + 1;
      closers = opens;
    } else if (closers.includes(char)) {
      quotes.push(paragraph.slice(start, index));
      start = -1;
    }
  }
  return quotes;
}

const opensWord = (text: string, index: number): boolean =>
  index === 0 || /[\s([{—–:*_-]/.test(text.charAt(index - 1));
