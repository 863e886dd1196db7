import type { QuoteRecord } from "../../shared/job/run-result.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { detectLanguage } from "../text/detect-language.ts";
import { foldedWords } from "../text/fold-words.ts";
import type { TextSpan } from "../text/spans.ts";
import { isDenial } from "./elided-quotes.ts";
import { checkFigures } from "./figures.ts";

/** The texts that explain quotation marks which claim no words of a document. */
export type QuoteContext = {
  readonly evidence: readonly CitableBlock[];
  readonly question: string;
};

type Surroundings = {
  readonly quote: string;
  /** The folded words of the quote, without marks. */
  readonly words: readonly string[];
  /** The text of the same sentence before the quote. */
  readonly before: string;
  readonly after: string;
};

/**
 * The class of a quote that is not in the evidence and does not claim to be: words of the question (`asked`), a translation
 * that is marked as one, in another language than the evidence (`translated`), a term of at most three words (`term`); else
 * null.
 */
export function unclaimedClass(
  text: string,
  span: TextSpan,
  context: QuoteContext,
): Extract<QuoteRecord["class"], "asked" | "translated" | "term"> | null {
  const around = surroundingsOf(text, span);
  if (around.words.length === 0) return null;
  if (isAsked(around, context.question)) return "asked";
  if (isTranslation(around, context.evidence)) return "translated";
  return isTerm(around) ? "term" : null;
}

const FURTHEST = 200;

function surroundingsOf(text: string, { start, end }: TextSpan): Surroundings {
  const front = text.slice(Math.max(0, start - FURTHEST), Math.max(0, start - 1));
  const quote = text.slice(start, end).trim();
  return {
    quote,
    words: foldedWords(quote),
    before: /(?:[^.!?\n]|[.!?](?!\s))*$/u.exec(front)?.[0] ?? "",
    after: /^(?:[^.!?\n]|[.!?](?!\s))*/u.exec(text.slice(end + 1, end + FURTHEST))?.[0] ?? "",
  };
}

const alternatives = (...lines: readonly string[]): string => lines.join(" ").replaceAll(" ", "|");

/** Verbs of speech, in English, German, French and Spanish. */
const SPEAKS = alternatives(
  "says? said saying states? stated writes? wrote writing notes? noted claims? claimed declares? declared explains?",
  "explained announces? announced promises? promised reports? reported replied replies answer(?:s|ed)? answering",
  "sagt sagte schreibt schrieb erklärt erklärte meint meinte vermerkt antwortet",
  "dit disait disent écrit écrivait indique précise déclare affirme stipule explique répond",
  "dice dicen dijo escribe escribió indica señala afirma explica responde declara",
);
const STANDS = alternatives(
  "reads? heißt steht stand laut lautet gemäß geschrieben selon según pone reza",
);
const wholeWord = (choices: string): string => `(?<!\\p{L})(?:${choices})(?!\\p{L})`;
const SAYS = wholeWord(`${SPEAKS}|${STANDS}`);
const SAYS_BEFORE = new RegExp(SAYS, "iu");
/** A verb of speech or a colon before the quote, with at most three words between. */
const SAYS_JUST_BEFORE = new RegExp(`(?:${SAYS}(?:[\\s,]+\\p{L}+){0,3}|:)[\\s,:(]*$`, "iu");
const SAYS_AFTER = new RegExp(
  `^["”“»'’]?\\s*,?\\s*(?:(?:\\p{L}+\\s+){0,2}?${wholeWord(SPEAKS)}|heißt es)`,
  "iu",
);

/** Whether the quote is from the question, and not presented as words of a document. */
function isAsked({ words: quoted, before, after }: Surroundings, question: string): boolean {
  if (SAYS_JUST_BEFORE.test(before) || SAYS_AFTER.test(after)) return false;
  return ` ${foldedWords(question).join(" ")} `.includes(` ${quoted.join(" ")} `);
}

/** Words that make the following quote a term, whoever says it. */
const NAMES =
  /(?:so[- ]called|known as|called|named|(?:kind|sort) of(?: an?)?|in effect an?|so ?genannte[nrsm]?|genannt|art(?: von)?|quasi(?: eine?)?|sozusagen|soi-disant|appelée?s?|(?:une|de) sorte de|llamad[oa]s?|denominad[oa]s?|especie de)\s*$/iu;
const MOST_WORDS = 3;
const MOST_CHARS = 40;
const FEWEST_AROUND = 2;

/** Whether the quote is a term of the answer itself, and not presented as somebody's words. */
function isTerm({ quote, words: quoted, before, after }: Surroundings): boolean {
  if (quoted.length > MOST_WORDS || quote.length > MOST_CHARS) return false;
  if (quoted.some((word) => /\p{N}/u.test(word) || isDenial(word))) return false;
  if (/[.!?:]$/u.test(quote)) return false;
  if (NAMES.test(before)) return true;
  if (/:\s*$/u.test(before) || SAYS_BEFORE.test(before) || SAYS_AFTER.test(after)) return false;
  return foldedWords(before).length + foldedWords(after).length >= FEWEST_AROUND;
}

const TRANSLATED =
  /translat|übersetz|traduc|traduit|tradui|(?<!\p{L})(?:in (?:English|German|French|Spanish)|auf (?:Deutsch|Englisch|Französisch|Spanisch)|en (?:anglais|allemand|français|espagnol|inglés|alemán|francés|español))(?!\p{L})|翻訳|[和英]訳|译/iu;
const ORIGINAL_BEHIND = /^\P{L}*(?:(?:im |en (?:el )?)?original|orig\.|texte original)/iu;
/** A translation shares names and figures with its original, so some common words are allowed. */
const MOST_SHARED = 0.5;

/** Whether the quote is marked as a translation, in another language than the evidence, without new figures. */
function isTranslation(
  { quote, words: quoted, before, after }: Surroundings,
  evidence: readonly CitableBlock[],
): boolean {
  if (!TRANSLATED.test(before) && !TRANSLATED.test(after) && !ORIGINAL_BEHIND.test(after)) {
    return false;
  }
  const language = detectLanguage(quote);
  const theirs = evidence.map(({ text }) => ({ text, language: detectLanguage(text) }));
  const sources = language === null ? theirs : theirs.filter((one) => one.language !== language);
  const held = new Set(sources.flatMap(({ text }) => foldedWords(text)));
  const shared = quoted.filter((word) => held.has(word)).length / quoted.length;
  if (sources.length === 0 || shared > MOST_SHARED) return false;
  return checkFigures(quote, "", evidence, () => []).every(({ flagged }) => !flagged);
}
