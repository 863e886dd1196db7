import { byLanguage, formsByStem } from "../../text/word-forms.ts";
import { stemIn } from "./terms.ts";
import type { ClaimLanguage } from "./terms.ts";

const formsIn = byLanguage((language) => formsByStem(language, (word) => stemIn(word, language)));

/** The stems of a word's other forms, "go" of "went". */
export const otherForms = (stem: string, language: ClaimLanguage | null): readonly string[] =>
  language === "japanese" ? [] : (formsIn(language ?? "english").get(stem) ?? []);
