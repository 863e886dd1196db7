import type { Candidate } from "./candidates.ts";
import { ANYTHING, expectedAnswer } from "../../question/expected-answer.ts";
import type { ExpectedAnswer } from "../../question/expected-answer.ts";
import {
  contentStems,
  questionLanguage,
  stemWord,
  subjectWordsOf,
  withoutFunctionWords,
  wordsOf,
} from "../../text/content-words.ts";
import { detectLanguage } from "../../text/detect-language.ts";
import type { ListedLanguage } from "../../text/word-forms.ts";
import { groupBy } from "../../../shared/group-by.ts";

/** The subject of a question, and what would answer it. */
export type Question = {
  readonly text: string;
  readonly kind: "fact" | "account";
  readonly language: ListedLanguage;
  /** The stems of its words with their weights. */
  readonly terms: ReadonlyMap<string, number>;
  /** Words that are adjacent in the question; only for a fact. */
  readonly pairs: readonly (readonly [string, string])[];
  readonly expected: ExpectedAnswer;
  /** Factor for the least share of the question's words that a sentence must have; 1 is strict. */
  readonly leniency: number;
};

/** A question in a script without blanks becomes pairs of letters, some of which cross two words and occur nowhere. */
const UNSPACED_LENIENCY = 0.5;
/**
 * In a language with more inflection, some words of a longer question occur in the text in an unknown form. A question with
 * fewer words gets no leniency, because it would leave too little to match.
 */
const INFLECTED_LENIENCY = 0.8;
const FEWEST_INFLECTED = 4;

/** @param evidence its language determines how many words of the question can occur in it */
export function parseQuestion(text: string, evidence: readonly Candidate[]): Question {
  const terms = questionTerms(text);
  const language = questionLanguage(text);
  const leniency = leniencyFor(text, language, terms.size, evidence);
  if (asksForAccount(text))
    return { text, kind: "account", language, terms, pairs: [], expected: ANYTHING, leniency };
  const pairs = questionPairs(text, terms);
  return { text, kind: "fact", language, terms, pairs, expected: expectedAnswer(text), leniency };
}

function leniencyFor(
  question: string,
  language: ListedLanguage,
  terms: number,
  evidence: readonly Candidate[],
): number {
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(question))
    return UNSPACED_LENIENCY;
  if (language === "english" || terms < FEWEST_INFLECTED) return 1;
  const said = evidence.map(({ text }) => text).join("\n");
  return detectLanguage(said) === language ? INFLECTED_LENIENCY : 1;
}

/** The weight of a name, a number or an abbreviation: they identify the subject of a question. */
export const NAME_WEIGHT = 2;
/** Words that an answer often omits, unlike the subject: "cost" in "What does a bell cost?" */
const ASKED_FOR = new Set(
  contentStems(
    "cost price pay number count time day date week month year hour minute amount limit rate place way kind",
  ),
);
const ASKED_FOR_WEIGHT = 0.5;

/** A question with more words is a text; the rest is ignored. */
const MOST_TERMS = 64;

/**
 * Stems of the question with their weights. "Colour" in "Which colour is the door?" gets the low weight of the requested thing,
 * and so does the first "day" in "Which day is pay day?"
 */
export function questionTerms(question: string): Map<string, number> {
  const terms = asksForAccount(question) ? accountTerms(question) : factTerms(question);
  for (const name of question
    .slice(1)
    .match(/(?<=[^.!?\s] ["“'(]?)\p{Lu}[\p{L}\p{N}-]*|\p{N}+/gu) ?? []) {
    for (const stem of contentStems(name)) if (terms.has(stem)) terms.set(stem, NAME_WEIGHT);
  }
  return terms;
}

const subjectStems = (question: string): string[] =>
  withoutFunctionWords(subjectWordsOf(question)).map(stemWord);

/** Abstract nouns and verb forms are the asker's wording; the subject has a plainer name. */
const ABSTRACT = /.{3}(?:ed|ing|ings|tions?|sions?|ments?|ness|ity|ities|[ae]nces?|ly|isms?)$/;
const ABSTRACT_WEIGHT = 0.6;

/** For an account, words that only ask are removed, unless no other words are left. */
function accountTerms(question: string): Map<string, number> {
  const all = withoutFunctionWords(subjectWordsOf(question));
  const subject = all.filter((word) => !FRAME.has(stemWord(word)));
  const words = subject.length === 0 ? all : subject;
  return new Map(
    words
      .slice(0, MOST_TERMS)
      .map((word) => [stemWord(word), ABSTRACT.test(word) ? ABSTRACT_WEIGHT : 1]),
  );
}

function factTerms(question: string): Map<string, number> {
  const [, asked = ""] = /\b(?:which|what)\s+([\p{L}-]+)/iu.exec(question) ?? [];
  const askedFor = new Set([...ASKED_FOR, ...contentStems(asked)]);
  const terms = new Map<string, number>();
  for (const stem of subjectStems(question).slice(0, MOST_TERMS)) {
    terms.set(stem, askedFor.has(stem) && !terms.has(stem) ? ASKED_FOR_WEIGHT : 1);
  }
  return terms;
}

/** Pairs of adjacent words in the question: "pay day" is more than "pay" and "day" apart. */
function questionPairs(question: string, terms: ReadonlyMap<string, number>): [string, string][] {
  const stems = subjectStems(question);
  return stems
    .flatMap((stem, index): [string, string][] => {
      const next = stems[index + 1];
      return next !== undefined && next !== stem && terms.has(stem) && terms.has(next)
        ? [[stem, next]]
        : [];
    })
    .slice(0, MOST_TERMS);
}

/** A sentence of two or three words seldom says anything, unless it is of the requested kind. */
const SLIGHT_STEMS = 3;
const SLIGHT_FACTOR = 0.6;
/** A table row consists mostly of labels, and would win over a sentence that says the same. */
const LINE_FACTOR = 0.75;
/** A question in the text is no answer, and neither is a repetition of the asker's words. */
const ASKING_FACTOR = 0.5;
const ECHO_FACTOR = 0.3;

/** A factor for how well the form of a sentence suits an answer, independent of the words that it shares. */
export function answerForm(
  { text, kind, label, shownStems }: Candidate,
  { terms, expected, kind: asked }: Question,
): number {
  const isSlight =
    kind === "sentence" && shownStems.length <= SLIGHT_STEMS && expected.fit(text) <= 1;
  const isEcho = asked === "fact" && shownStems.every((stem) => terms.has(stem));
  return (
    (label === null && isSlight ? SLIGHT_FACTOR : 1) *
    (label === null && isEcho ? ECHO_FACTOR : 1) *
    (kind === "sentence" ? 1 : LINE_FACTOR) *
    (text.endsWith("?") ? ASKING_FACTOR : 1)
  );
}

const splitWords = (words: string): string[] => words.trim().split(/\s+/);

/** Words by which a question asks what people said and thought, or how things stand. */
const ACCOUNT = splitWords(`
  summarize summarise summary describe description explain elaborate outline discuss discussed discussion discussions
  debate debated think thought opinion opinions view views attitude say said talk talked comment comments commented
  respond responded response react reaction introduce introduced conclude concluded conclusion conclusions decide decided
  decision decisions agree agreed disagree disagreed recommend recommended suggest suggested propose proposed argue argued
  impact effect effects consequences controversy policy solution solutions future about
`);
/** Further words of such questions. */
const AROUND = splitWords(`
  discussing talking presenting presentation presented present group team meeting mate mates member members people problem
  problems issue issues topic topics reason reasons put forward brief mainly regard regarding related towards toward feel
  felt believe believed consider considered current status plan learn learned suggestion proposal questioning
`);
const ASKING = new Set(ACCOUNT);

/** Stems of words that ask for an account; no sentence has to contain them. */
const FRAME: ReadonlySet<string> = new Set([...ACCOUNT, ...AROUND].map(stemWord));

/** "How did" and "how would" ask for an account, "how many" for a fact. */
const MANNER = / how (?:is|are|was|were|do|does|did|will|would|can|could|should|has|have|had) /;
const FACT = / (?:how (?:many|much|long|often|far|quickly|soon)|within (?:which|what)) /;

/**
 * Whether a question asks for an account ("What did she think of the bell?", "Summarize…") rather than for
 * a fact that stands in one sentence.
 */
export function asksForAccount(question: string): boolean {
  const list = wordsOf(question);
  const words = ` ${list.join(" ")} `;
  return !FACT.test(words) && (MANNER.test(words) || list.some((word) => ASKING.has(word)));
}

/** The least shares, by weight, of the question's words and of its names that must occur in the evidence. */
const LEAST_FOUND = { fact: 0.5, account: 0.5 } as const;
const LEAST_NAMES_FOUND = { fact: 0.5, account: 0 } as const;

/** Whether enough of the important words of a question occur anywhere in the evidence. */
export function isSubjectFound(
  { kind, terms, leniency }: Question,
  candidates: readonly Candidate[],
): boolean {
  const found = foundIn(candidates);
  const names = new Map([...terms].filter(([, weight]) => weight === NAME_WEIGHT));
  return (
    weightOf(terms, found) >= leniency * LEAST_FOUND[kind] * weightOf(terms) &&
    weightOf(names, found) >= leniency * LEAST_NAMES_FOUND[kind] * weightOf(names)
  );
}

/** The least share of the names and numbers of a question for a fact that a block must contain to answer it. */
const LEAST_NAMES_IN_PIECE = 0.5;

/** Numbers of the blocks of evidence with enough of the names in a question; for an account all blocks. */
export function piecesOnSubject(
  { kind, terms, leniency }: Question,
  candidates: readonly Candidate[],
): ReadonlySet<number> {
  const names = new Map([...terms].filter(([, weight]) => weight === NAME_WEIGHT));
  const pieces = groupBy(candidates, ({ number }) => number);
  const isOnSubject = (piece: readonly Candidate[]): boolean =>
    kind === "account" ||
    weightOf(names, foundIn(piece)) >= leniency * LEAST_NAMES_IN_PIECE * weightOf(names);
  return new Set([...pieces].flatMap(([number, piece]) => (isOnSubject(piece) ? [number] : [])));
}

function foundIn(candidates: readonly Candidate[]): ReadonlySet<string> {
  const found = new Set<string>();
  const around = new Set<Iterable<string>>();
  for (const { stems, contextStems, speakerStems } of candidates) {
    for (const stem of stems) found.add(stem);
    around.add(contextStems).add(speakerStems);
  }
  for (const stems of around) for (const stem of stems) found.add(stem);
  return found;
}

function weightOf(terms: ReadonlyMap<string, number>, found?: ReadonlySet<string>): number {
  let total = 0;
  for (const [stem, weight] of terms) if (found?.has(stem) !== false) total += weight;
  return total;
}

/** Fewer paragraphs than this under one name are a list of labels and no conversation. */
const FEWEST_TURNS = 2;

/** Names of speakers, as joined `speakerStems`, all of whose words occur in the question. */
export function namedSpeakers(
  candidates: readonly Candidate[],
  terms: ReadonlyMap<string, number>,
): ReadonlySet<string> {
  const turns = new Map<string, number>();
  let before: readonly string[] = [];
  for (const { speakerStems } of candidates) {
    if (speakerStems !== before && speakerStems.every((stem) => terms.has(stem))) {
      const name = nameOf(speakerStems);
      turns.set(name, (turns.get(name) ?? 0) + 1);
    }
    before = speakerStems;
  }
  const named = [...turns].filter(([name, count]) => name !== "" && count >= FEWEST_TURNS);
  return new Set(named.map(([name]) => name));
}

export const nameOf = (speakerStems: readonly string[]): string => speakerStems.join(" ");
