import { foldWord } from "../../../shared/text/normalise-text.ts";
import { wordFile } from "../../../shared/text/word-lists.ts";
import type { CueWords } from "../../../shared/text/word-lists.ts";
import { once } from "../../../shared/once.ts";
import type { TextSpan } from "../../text/spans.ts";
import { byLanguage } from "../../text/word-forms.ts";
import type { ListedLanguage } from "../../text/word-forms.ts";
import type { ClaimLanguage, Term } from "./terms.ts";
import { append } from "../../../shared/group-by.ts";

/**
 * The meaning of a cue for its clause. Names are the same in all languages, because claim and sentence may differ in language.
 */
export type CueClass = keyof CueWords;

/** A cue of a text, with its range. */
export type Cue = TextSpan & { readonly name: CueClass; readonly word: string };

type Phrase = { readonly name: CueClass; readonly words: readonly string[] };

const entriesOf = (language: ClaimLanguage): [CueClass, readonly string[]][] =>
  Object.entries(wordFile(language).cues) as [CueClass, readonly string[]][];

function phrasesOf(language: ListedLanguage): ReadonlyMap<string, readonly Phrase[]> {
  const byFirst = new Map<string, Phrase[]>();
  for (const [name, phrases] of entriesOf(language)) {
    for (const phrase of phrases) {
      const words = phrase.split(" ").map(foldWord);
      const [first = ""] = words;
      append(byFirst, first, { name, words });
    }
  }
  return byFirst;
}

const phrasesIn = byLanguage(phrasesOf);
const IN_JAPANESE = once(() => entriesOf("japanese"));

/** Finds the cues of a text, by its terms. Where one phrase contains another, the longer one counts. */
export function findCues(
  text: string,
  terms: readonly Term[],
  language: ClaimLanguage | null,
): Cue[] {
  if (language === "japanese") return findSubstrings(text);
  const phrases = phrasesIn(language ?? "english");
  const framed = FRAMED[language ?? "english"];
  const spelledAt = ({ start, end }: Term): string => text.slice(start, end).normalize();
  const found = terms.flatMap((term, at) =>
    (phrases.get(term.word) ?? [])
      .filter(({ words }) => words.every((word, offset) => terms[at + offset]?.word === word))
      .filter(({ name, words }) => words.length > 1 || isFramed(framed, name, terms, at))
      .filter(() => !MONTH.test(text.slice(term.start, term.end)))
      .filter(() => !isBeforeNumber(text, term))
      .filter(({ name }) => !SPELLED_OTHERWISE[language ?? "english"][name]?.test(spelledAt(term)))
      .filter(({ name, words }) => name !== "plan" || !isOfPastModal(words, terms, at))
      .map(({ name, words }): Cue => {
        const end = terms[at + words.length - 1]?.end ?? term.end;
        return { name, word: words.join(" "), start: term.start, end };
      }),
  );
  const long = found.filter(({ word }) => word.includes(" "));
  return found.filter(
    (cue) =>
      cue.name !== "neutral" &&
      !long.some((other) => isTakenBy(cue, other)) &&
      !isDeniedAny(cue, found),
  );
}

/** "Without any decision": a denied "any" is no cue. */
const isDeniedAny = ({ word, start }: Cue, all: readonly Cue[]): boolean =>
  word === "any" &&
  all.some(({ name, end }) => name === "not" && end < start && start - end <= MOST_TO_ANY);
const MOST_TO_ANY = 20;

/** "May" with a capital letter is the month, and permits nothing. */
const MONTH = /^May$/;

/** "No. 12" numbers an invoice and denies nothing. */
export const NUMBER_SIGN = String.raw`(?:No\.?|no\.)(?=[ \u00A0\u202F]?#?\d)`;
/** And "compte 12 places" counts seats. */
const NUMBERING = new RegExp(
  String.raw`^(?:${NUMBER_SIGN}|(?:[Cc]ompt(?:e|ent|ait|aient)|[Cc]uenta(?:n)? con)[ \u00A0\u202F]?#?\d)`,
  "u",
);
const MOST_NUMBERING_CHARS = 14;

const isBeforeNumber = (text: string, { start }: Term): boolean =>
  NUMBERING.test(text.slice(start, start + MOST_NUMBERING_CHARS));

type Spellings = Readonly<Partial<Record<CueClass, RegExp>>>;
/** Words that differ from a cue only by accents: "sí" (yes) and "si" (if), "wurde" (happened) and "würde" (would). */
const SPELLED_OTHERWISE: Readonly<Record<ListedLanguage, Spellings>> = {
  english: {},
  german: {
    maybe: /^(?:konnten?|durften?|wurden?|hatten?|waren?|mussten?)$/iu,
    plan: /^mochten?$/iu,
  },
  french: {},
  spanish: { condition: /^sí$/iu },
};

const PAST_MODAL = /^(?:konn|muss)ten?$/u;
const MOST_TO_MODAL = 10;

/** "Konnte geliefert werden" and "geliefert werden musste" are done; "muss geliefert werden" is still to come. */
const isOfPastModal = ([word]: readonly string[], terms: readonly Term[], at: number): boolean =>
  word === "werden" &&
  [...terms.slice(Math.max(0, at - MOST_TO_MODAL), at), ...terms.slice(at + 1, at + 2)].some(
    (term) => PAST_MODAL.test(term.word),
  );

/** Cues inside a phrase of these classes count too: "more than". */
const OPEN: ReadonlySet<CueClass> = new Set(["not", "over", "under", "after", "before"]);

const isTakenBy = (inner: Cue, outer: Cue): boolean =>
  (inner.name === outer.name || !OPEN.has(outer.name)) &&
  outer.start <= inner.start &&
  inner.end <= outer.end &&
  outer.end - outer.start > inner.end - inner.start;

type Frame = { readonly name: CueClass; readonly before: RegExp; readonly butNot?: RegExp };
type Frames = Readonly<Record<string, Frame>>;

/** Words that are a cue only shortly behind another word: "plus … que". */
const FRAMED: Readonly<Record<ListedLanguage, readonly Frames[]>> = {
  english: [],
  german: [
    {
      als: {
        name: "than",
        before: /^(?:mehr|weniger|anders|anderes|andere|so|ebenso|doppelt|\p{L}{3,}ere?[nrsm]?)$/u,
      },
    },
  ],
  french: [
    {
      que: {
        name: "than",
        before: /^(?:plus|moins|aussi|autant|tant|meilleure?s?|pire|meme|autre)$/u,
      },
    },
    { que: { name: "only", before: /^n(?:e)?$/u } },
    { plus: { name: "not", before: /^n(?:e)?$/u, butNot: /^pas$/u } },
  ],
  spanish: [
    {
      que: {
        name: "than",
        before:
          /^(?:mas|menos|mayor|menor|mejor|peor|tan|tanto|antes|despues|igual|otro|otra|mismo|misma)$/u,
      },
    },
  ],
};
const MOST_BETWEEN = 6;

function isFramed(
  frames: readonly Frames[],
  name: CueClass,
  terms: readonly Term[],
  at: number,
): boolean {
  const word = terms[at]?.word ?? "";
  const frame = frames.find((one) => one[word]?.name === name)?.[word];
  if (frame === undefined) return true;
  const before = terms.slice(Math.max(0, at - MOST_BETWEEN), at);
  const holds = (pattern: RegExp | undefined): boolean =>
    pattern !== undefined && before.some((term) => pattern.test(term.word));
  return holds(frame.before) && !holds(frame.butNot);
}

const findSubstrings = (text: string): Cue[] =>
  IN_JAPANESE().flatMap(([name, words]) =>
    words.flatMap((word): Cue[] => {
      const start = startOf(word, text);
      return start === -1 ? [] : [{ name, word, start, end: start + word.length }];
    }),
  );

/** 少ない means "few" and 危ない "dangerous": their ない denies nothing. */
const NOT_DENIED = /[少危]$/u;

function startOf(word: string, text: string): number {
  let start = text.indexOf(word);
  while (start > 0 && word.startsWith("な") && NOT_DENIED.test(text.slice(start - 1, start)))
    start = text.indexOf(word, start + 1);
  return start;
}
