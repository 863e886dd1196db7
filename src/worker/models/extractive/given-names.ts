import { foldWord } from "../../../shared/text/normalise-text.ts";
import { once } from "../../../shared/once.ts";
import { readAsset } from "../../../shared/text/word-lists.ts";

/**
 * Given names that are common in Europe, the Americas, Africa or Asia, without accents. The list omits names that are as often
 * a month, a day, a place, a thing or a verb: April, Bill, Domingo, Florence, Grace, Mark, Paris, Rose, Will.
 */
const givenNames = once(() => new Set(readAsset("names", "given.txt").trim().split(/\s+/)));

/** Whether a word of a text is a common given name, or two of them joined by a hyphen. */
export const isGivenName = (word: string): boolean => {
  const parts = word.split("-");
  return parts.length <= 2 && parts.every((part) => givenNames().has(foldWord(part)));
};
