import { onceEach } from "../../../shared/once.ts";
import { wordFile } from "../../../shared/text/word-lists.ts";
import { byLanguage } from "../../text/word-forms.ts";
import { otherForms } from "../claims/other-forms.ts";
import { areRelated, readTerms, stemIn } from "../claims/terms.ts";
import type { ClaimLanguage, Term } from "../claims/terms.ts";

/** Returns the indexes of the wanted words that a text holds, in any form or as a synonym. */
export type WordScan = (text: string) => ReadonlySet<number>;

/** The shortest word that is also found inside a German compound: "Strafe" in "Vertragsstrafe". */
const SHORTEST_WITHIN = 5;
const WORD = /[\p{L}\p{M}]{1,200}/gu;

/** Makes a scan for many texts, which looks up each distinct word once. Linear in the text. */
export function openWordScan(wanted: readonly Term[], language: ClaimLanguage | null): WordScan {
  const stems = wanted.map(({ stem }) => [
    stem,
    ...otherForms(stem, language),
    ...synonymsOf(stem, language),
  ]);
  const meets = (stem: string): number[] =>
    stems.flatMap((forms, at) => (forms.some((form) => isForm(stem, form, language)) ? [at] : []));
  const metBy = onceEach((word: string) =>
    readTerms(word, language).flatMap(({ stem }) => meets(stem)),
  );
  return (text) => {
    if (language === "japanese")
      return new Set(readTerms(text, language).flatMap(({ word }) => metBy(word)));
    return new Set([...new Set(text.match(WORD))].flatMap(metBy));
  };
}

const synonymsIn = byLanguage((language) =>
  wordFile(language).synonyms.map((group) =>
    group.split(" ").map((word) => stemIn(word, language)),
  ),
);

/** Synonyms contradict a denial too: "staff" for "employee". */
const synonymsOf = (stem: string, language: ClaimLanguage | null): readonly string[] =>
  language === "japanese"
    ? []
    : synonymsIn(language ?? "english").flatMap((group) => (group.includes(stem) ? group : []));

const isForm = (stem: string, form: string, language: ClaimLanguage | null): boolean =>
  areRelated(stem, form) ||
  (language === "german" && form.length >= SHORTEST_WITHIN && stem.includes(form));

const MOST_SLICE_CHARS = 16_000;

/** Cuts a text into slices of a bounded length, between words. */
export function* slicesOf(text: string, mostChars = MOST_SLICE_CHARS): Generator<string> {
  for (let from = 0; from < text.length;) {
    const end = Math.min(text.length, from + mostChars);
    const blank =
      end === text.length ? end : Math.max(text.lastIndexOf("\n", end), text.lastIndexOf(" ", end));
    const to = blank > from ? blank : end;
    yield text.slice(from, to);
    from = to;
  }
}
