import { wordFile } from "../../shared/text/word-lists.ts";
import { byLanguage } from "./word-forms.ts";
import type { ListedLanguage } from "./word-forms.ts";
import { append } from "../../shared/group-by.ts";

/** For each word of a language, folded, the words for its opposite. */
export const oppositesIn = byLanguage((language: ListedLanguage | "japanese") => {
  const opposites = new Map<string, string[]>();
  for (const pair of wordFile(language).opposites) {
    const [one = "", other = ""] = pair.split("/");
    append(opposites, one, other);
    append(opposites, other, one);
  }
  return opposites;
});
