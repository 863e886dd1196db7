import { areRelated, readTerms } from "../claims/terms.ts";
import type { ClaimLanguage } from "../claims/terms.ts";

/** What a line opens with before its figure, and what follows; such a line has few other words. */
const LABELLED = /^[\s|*_#>-]{0,8}(\p{L}[^\d:|=]{0,39})([^\p{L}\d]?.*\d.*)$/su;
const MOST_OTHER_WORDS = 2;

/** Words as they are compared. */
type Stems = readonly string[];

/** The stems of the label of a line: of "VAT 20 % 149.32 GBP" those of "VAT"; null of any other sentence. */
export function readLabel(line: string, language: ClaimLanguage | null): Stems | null {
  const [, label = "", rest = ""] = LABELLED.exec(line) ?? [];
  const others = rest.match(/\p{L}+/gu) ?? [];
  if (label === "" || others.length > MOST_OTHER_WORDS) return null;
  const stems = stemsOf(label, language);
  return stems.length === 0 ? null : stems;
}

/** The stems of the name of a field: of `amountDue` those of "amount due". */
export const readFieldName = (name: string, language: ClaimLanguage | null): Stems =>
  stemsOf(name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replace(/[_-]+/gu, " "), language);

const stemsOf = (text: string, language: ClaimLanguage | null): Stems =>
  readTerms(text, language).map(({ stem }) => stem);

export const shareWord = (one: Stems, other: Stems): boolean =>
  one.some((stem) => other.some((of) => areRelated(stem, of)));
