import { append } from "../../shared/group-by.ts";
import { onceEach } from "../../shared/once.ts";
import { wordFile } from "../../shared/text/word-lists.ts";

/** The languages whose words are known by lists. */
export const LISTED_LANGUAGES = ["english", "german", "french", "spanish"] as const;

export type ListedLanguage = (typeof LISTED_LANGUAGES)[number];

/** For the stem of a word, the stems of all its irregular forms, its own included. */
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

/** Makes a function that gives a value per language, and computes each at its first use. */
export const byLanguage = <T, Language extends string = ListedLanguage>(
  make: (language: Language) => T,
): ((language: Language) => T) => onceEach(make);
