import { stemWord, wordsOf } from "../../text/content-words.ts";
import type { Candidate } from "./candidates.ts";

/** "Not" and its kin in English, German, French and Spanish, folded as `wordsOf` folds. */
const DENIALS = new Set(
  `not never cannot unable nt no nicht nie niemals kein keine keinen keinem keiner pas jamais nunca jamas`.split(
    " ",
  ),
);
/** Words and beginnings of words by which a sentence may say the same as such a word. */
const DENYING = new Set(
  `without neither nor none nobody nothing fail fails failed failing lack lacks lacked lacking refuse refuses refused few hardly
   instead rather only except unlike little absence ohne weder noch niemand nichts fehlt sans ni aucun aucune rien personne sin
   tampoco ningun ninguna ninguno nada nadie excepto excepcion salvo carece carecen carecia carecian`
    .trim()
    .split(/\s+/),
);
const DENYING_BEGINNING = /^(?:un|non|dis|anti)\p{L}{3,}/u;
/** What is denied up to a time, or alone, did happen. */
const NOT_A_DENIAL = new Set(["only", "until", "till", "just", "nur", "bis", "solo", "hasta"]);
/** Ordinals of rulers behind a name, and words for large numbers: one exchanged is another thing. */
const EXACT =
  /(?<=[^.?!] \p{Lu}\p{Ll}{2,20} )[IVX]{1,5}(?![\p{L}\p{N}])|(?<!\p{L})(?:hundred|thousand|million|billion)(?!\p{L})/gu;

/**
 * What keeps a sentence from answering a question although it shares its words: the question says "not" and the sentence does
 * not, or the sentence denies a word of a question that does not; or "II" behind a name or "thousand" of the question stands
 * nowhere in the piece of evidence.
 *
 * @param terms stems of the question
 */
export function contradictionsOf(
  question: string,
  terms: ReadonlySet<string>,
): (candidate: Candidate, piece: string) => boolean {
  const isDenied = denies(question);
  const exact = question.match(EXACT) ?? [];
  return ({ text }, piece) =>
    (isDenied ? !mayDeny(text) : deniesTerm(text, terms)) ||
    exact.some((figure) => !holdsExactly(piece, figure));
}

/** "Isn't" is "is not", and "No. 5" denies nothing. */
const deniable = (text: string): string[] =>
  wordsOf(text.replace(/n['’]t(?!\p{L})/gu, " not").replace(/(?<!\p{L})no\.? ?(?=\p{N})/giu, ""));

const denies = (text: string): boolean => deniable(text).some((word) => DENIALS.has(word));

const mayDeny = (text: string): boolean =>
  deniable(text).some(
    (word) => DENIALS.has(word) || DENYING.has(word) || DENYING_BEGINNING.test(word),
  );

/** The word behind "not" is what is denied: in "does not kill it" the killing. */
function deniesTerm(text: string, terms: ReadonlySet<string>): boolean {
  const words = deniable(text);
  if (words.some((word) => NOT_A_DENIAL.has(word))) return false;
  return words.some((word, at) => word === "not" && terms.has(stemWord(words[at + 1] ?? "")));
}

const holdsExactly = (piece: string, figure: string): boolean =>
  new RegExp(`(?<![\\p{L}\\p{N}])${figure}(?![\\p{L}\\p{N}])`, "u").test(piece);
