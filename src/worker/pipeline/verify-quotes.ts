import { neutraliseText } from "./neutralise-text.ts";

/** No honest answer quotes more often; beyond it nothing is looked up, and nothing found. */
const MOST_QUOTES = 300;

/**
 * Looks each quote up in the evidence as the model saw it. White space and the shape of quote marks and
 * apostrophes do not count, nor does the punctuation that closes a quote; every letter does.
 */
export function verifyQuotes(
  quotes: readonly string[],
  evidence: readonly { readonly number: number; readonly text: string }[],
): { readonly quote: string; readonly foundIn: number | null }[] {
  if (quotes.length === 0) return [];
  const texts = evidence.map(({ number, text }) => ({ number, text: comparable(text) }));
  return quotes.map((quote, index) => {
    if (index >= MOST_QUOTES) return { quote, foundIn: null };
    const wanted = withoutStop(comparable(quote).trim());
    return { quote, foundIn: texts.find(({ text }) => text.includes(wanted))?.number ?? null };
  });
}

const comparable = (text: string): string =>
  neutraliseText(text)
    .replace(/[“”„‟«»‹›「」『』＂]/g, '"')
    .replace(/[‘’‚]/g, "'")
    .replace(/\s+/g, " ");

const withoutStop = (text: string): string => text.replace(/(?<![.,;:!?…])[.,;:!?…]{1,3}$/, "");
