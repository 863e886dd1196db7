import { append } from "../../shared/group-by.ts";
import { wordFile } from "../../shared/text/word-lists.ts";

/** The languages whose words are known by lists. */
export const LISTED_LANGUAGES = ["english", "german", "french", "spanish"] as const;

export type ListedLanguage = (typeof LISTED_LANGUAGES)[number];

/** By the stem of a word, those of all words that are forms of it without sharing a beginning, its own among them. */
export function formsByStem(
  language: ListedLanguage,
  stemOf: (word: string) => string,
): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const group of wordFile(language).forms) {
    const stems = group.split(" ").map(stemOf);
    for (const stem of stems) for (const form of stems) append(groups, stem, form);
  }
  return groups;
}

/** A value of each language, made when it is first asked for. */
export function byLanguage<T, Language extends string = ListedLanguage>(
  make: (language: Language) => T,
): (language: Language) => T {
  const made = new Map<Language, T>();
  return (language) => {
    const known = made.get(language) ?? make(language);
    made.set(language, known);
    return known;
  };
}
