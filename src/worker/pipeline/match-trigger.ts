/** A measure, not a wish for depth: "how long", "how deep". */
const MEASURE = "how";

/**
 * The first trigger that stands in the text as whole words, or null: "deep" is not in "deepest", and "long" not
 * in "belong" nor in "how long".
 */
export function matchTrigger(text: string, triggers: readonly string[]): string | null {
  const words = wordsIn(text);
  return (
    triggers.find((trigger) => {
      const wanted = wordsIn(trigger);
      return wanted.length > 0 && words.some((_, start) => standsAt(words, start, wanted));
    }) ?? null
  );
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

const standsAt = (words: readonly string[], start: number, wanted: readonly string[]): boolean =>
  words[start - 1] !== MEASURE && wanted.every((word, offset) => words[start + offset] === word);
