import type { Language } from "../../../shared/text/language.ts";
import { wordFile } from "../../../shared/text/word-lists.ts";
import { detectLanguage } from "../../text/detect-language.ts";
import { byLanguage, LISTED_LANGUAGES } from "../../text/word-forms.ts";
import { READ_TOOL } from "../../../shared/config/tool-presets.ts";
import type { Frame } from "../../text/units/frames.ts";
import { saidWithLabel } from "../../text/units/cut-units.ts";
import { isQuestion } from "../../text/units/questions.ts";
import type { EvidenceBlock } from "../model.ts";
import { splitSentences } from "./sentences.ts";
import type { Sentence } from "./sentences.ts";
import { contentStems, stemReader, stemWord, wordsOf } from "../../text/content-words.ts";

/** A sentence that may be part of an answer, with the words that it is scored by. */
export type Candidate = {
  readonly text: string;
  readonly kind: "sentence" | "line" | "header";
  /** The number of its block of evidence. */
  readonly number: number;
  readonly path: string;
  /** Its index in the whole evidence, from 0. */
  readonly position: number;
  readonly stems: readonly string[];
  /** Stems of the headings, title and path above it; sentences under the same heading share one set. */
  readonly contextStems: ReadonlySet<string>;
  /** Stems of the name of the speaker of its paragraph; all sentences of the paragraph share one array. */
  readonly speakerStems: readonly string[];
  /** Whether it opens, after the name of its speaker, with a pronoun that refers to the words of another speaker. */
  readonly answersAnother: boolean;
  /** The two highest headings above it. */
  readonly section: string;
  /** Its paragraph, and its offset in it. */
  readonly block: string;
  readonly start: number;
  /** `frame`: why it does not state its content, as a question; null if it does. `label`: the text to show before it, or null. */
  readonly frame: Frame | null;
  readonly label: string | null;
  /** The offset in the paragraph to show it from, with the sentences that it needs; null if these are too far away. */
  readonly shownFrom: number | null;
  /** The number of sentences that are shown for it, including itself, and the stems of them all. */
  readonly sentences: number;
  readonly shownStems: readonly string[];
};

/** All sentences of the evidence that could be shown, in order; a repeated sentence only once. */
export function candidatesOf(evidence: readonly EvidenceBlock[]): Candidate[] {
  const seen = new Set<string>();
  const stemsOf = stemReader();
  let count = 0;
  return evidence
    .flatMap((block) => {
      const found = candidatesIn(block, count, stemsOf);
      count += found.length;
      return found;
    })
    .filter(({ text }) => isShowable(text) && !seen.has(text) && seen.add(text));
}

/** @param before number of sentences in earlier blocks */
function candidatesIn(
  { number, path, title, headingPath, text }: EvidenceBlock,
  before: number,
  stemsOf: (text: string) => string[],
): Candidate[] {
  const around = `${title ?? ""} ${headingPath ?? ""} ${fileWords(path)}`;
  const contextOf = memoize((context) => new Set(contentStems(`${around} ${context}`)));
  const sentences = splitSentences(text, headingPath?.split(" > ").at(-1) ?? null);
  const language = detectLanguage(text);
  const stems = sentences.map((sentence) =>
    stemsOf(isAnswer(sentence) ? saidWithLabel(sentence) : sentence.text),
  );
  const needsBefore = sentences.map((sentence, at) => {
    const { kind, text: said, context } = sentence;
    if (isAnswer(sentence)) return continuesAnswer(sentence, sentences[at - 1]);
    return kind === "sentence" && needsSentenceBefore(said, contextOf(context), language);
  });
  let speakerStems: readonly string[] = [];
  return sentences.map((sentence, index) => {
    const contextStems = contextOf(sentence.context);
    if (sentence.start === 0) speakerStems = contentStems(speakerOf(sentence.block) ?? "");
    const lead = leadIn(sentences, index, needsBefore);
    const answersAnother = opensTurnWithPronoun(sentence, contextStems, language);
    const own = stems[index] ?? [];
    const shownStems =
      lead.sentences === 1 ? own : stems.slice(index + 1 - lead.sentences, index + 1).flat();
    const place = { number, path, position: before + index, contextStems, speakerStems };
    return { ...sentence, ...place, ...lead, answersAnother, stems: own, shownStems };
  });
}

/** A sentence after a question answers it: words of the question count for it too. */
const isAnswer = ({ label }: Pick<Sentence, "label">): boolean =>
  label !== null && isQuestion(label);

/** Whether a sentence continues an answer, which is shown from its beginning. */
const continuesAnswer = (sentence: Sentence, before: Sentence | undefined): boolean =>
  before?.paragraph === sentence.paragraph && before.label === sentence.label;

/** Folders and file name without the extension count as words: a note in "closing/" is about closing. */
const fileWords = (path: string): string => path.replace(/\.[^./]*$/, "");

function memoize<T>(compute: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}

/** Limits of what is shown for one sentence. */
const MOST_SENTENCES = 4;
const MOST_CHARS = 700;
/** Sentences are separated by a blank, or by the name below a quotation; a wider gap means that text was left out. */
const WIDEST_GAP = 70;

/**
 * Finds where to begin to show a sentence: at itself, or at the nearest earlier sentence of its paragraph from which on every
 * pronoun and connective is explained. `shownFrom` is null if there is none near enough.
 *
 * @param needsBefore for each sentence, whether it needs the one before it
 */
function leadIn(
  sentences: readonly Sentence[],
  index: number,
  needsBefore: readonly boolean[],
): Pick<Candidate, "shownFrom" | "sentences"> {
  let first = index;
  while (needsBefore[first] === true) {
    if (index - first + 2 > MOST_SENTENCES || !follows(sentences, first)) return NONE;
    first -= 1;
  }
  const [from, last] = [sentences[first], sentences[index]];
  if (from === undefined || last === undefined) return NONE;
  const end = last.start + last.text.length;
  const isOne = first === index;
  if (!isOne && (end - from.start > MOST_CHARS || !isShowable(last.block.slice(from.start, end))))
    return NONE;
  return { shownFrom: from.start, sentences: index - first + 1 };
}

const NONE = { shownFrom: null, sentences: 1 } as const;

function follows(sentences: readonly Sentence[], index: number): boolean {
  const [before, sentence] = [sentences[index - 1], sentences[index]];
  return (
    before !== undefined &&
    before.paragraph === sentence?.paragraph &&
    sentence.start - (before.start + before.text.length) <= WIDEST_GAP
  );
}

type Cues = ReturnType<typeof cuesOf>;

/** The words of a language by which the opening of a sentence refers back. */
const cuesOf = byLanguage((language) => {
  const { phrases, of_itself: ofItself, ...lists } = wordFile(language).openings;
  const set = (key: keyof typeof lists): ReadonlySet<string> =>
    new Set(wordsOf(lists[key].join(" ")));
  return {
    ...{ phrases: phrases.map(wordsOf), ofItself: new Set(ofItself) },
    ...{ pronouns: set("pronouns"), empty: set("empty"), be: set("be") },
    ...{ emptyBefore: set("empty_before"), emptyBehindBe: set("empty_before_behind_be") },
    ...{ demonstratives: set("demonstratives"), times: set("times"), relatives: set("relatives") },
    ...{ connectives: set("connectives"), complements: set("complements") },
    ...{ portions: set("portions"), verbs: set("verbs") },
    ...{ leading: set("leading"), places: set("places") },
  };
});

/** English if the language is unknown; null if there are no lists for it. */
function cuesIn(language: Language | null): Cues | null {
  const listed = LISTED_LANGUAGES.find((one) => one === (language ?? "english"));
  return listed === undefined ? null : cuesOf(listed);
}

/** Only this many characters of an opening are examined. */
const OPENING_CHARS = 120;

/**
 * Whether a sentence opens with a word that refers to the sentence before it: a pronoun, a connective, or a demonstrative
 * whose noun is not among the known ones.
 *
 * @param known stems of the title and headings above, which the reader sees
 * @param language of the text; null is treated as English
 */
export function needsSentenceBefore(
  text: string,
  known: ReadonlySet<string>,
  language: Language | null,
): boolean {
  const cues = cuesIn(language);
  if (cues === null) return false;
  const words = wordsOf(text.slice(0, OPENING_CHARS));
  const [first = "", second = ""] = words;
  if (cues.connectives.has(first)) return !cues.complements.has(second);
  if (cues.phrases.some((phrase) => phrase.every((word, at) => words[at] === word))) return true;
  if (cues.leading.has(first))
    return cues.places.has(second) || pointsBack(cues, words.slice(1), known);
  return pointsBack(cues, words, known);
}

function pointsBack(cues: Cues, words: readonly string[], known: ReadonlySet<string>): boolean {
  const [first = "", second = ""] = words;
  if (cues.pronouns.has(first)) return !cues.empty.has(first) || !isEmpty(cues, words);
  if (cues.portions.has(first)) return cues.verbs.has(second);
  return (
    cues.demonstratives.has(first) &&
    !cues.times.has(second) &&
    !cues.ofItself.has(`${first} ${second}`) &&
    !cues.relatives.has(second) &&
    !known.has(stemWord(second))
  );
}

/** Whether "it" refers to nothing: "It rains", "it takes an hour", "it is important that". */
function isEmpty(
  { emptyBefore, emptyBehindBe, be }: Cues,
  [, second = "", ...rest]: readonly string[],
): boolean {
  if (emptyBefore.has(second)) return true;
  const [said = ""] = be.has(second) ? rest.filter((word) => !be.has(word)) : [];
  return emptyBehindBe.has(said);
}

/** "Marta Lind:" in front of a paragraph. */
const SPEAKER =
  /^[*_]{0,3}(\p{Lu}[\p{L}\p{N}.'’-]{0,24}(?: [\p{L}\p{N}(][\p{L}\p{N}.'’)-]{0,24}){0,4}):[*_]{0,3} /u;

/** The name of the speaker; null if the paragraph opens otherwise. */
const speakerOf = (paragraph: string): string | null => SPEAKER.exec(paragraph)?.[1] ?? null;

/** "Marta Lind: It was late." A turn that begins with "So" or "But" needs no sentence before it. */
function opensTurnWithPronoun(
  { start, text }: Sentence,
  known: ReadonlySet<string>,
  language: Language | null,
): boolean {
  if (start !== 0 || speakerOf(text) === null) return false;
  const words = wordsOf(text.replace(SPEAKER, "").slice(0, OPENING_CHARS));
  const cues = cuesIn(language);
  return cues !== null && pointsBack(cues, words, known);
}

/**
 * False for text that the check of an answer would misread: a citation of its own, an unpaired quotation mark or backtick, or
 * a mark of the protocol.
 */
const isShowable = (text: string): boolean =>
  !OWN_CITATION.test(text) &&
  !PROTOCOL.test(text) &&
  ['"', "`"].every((mark) => countMark(text, mark) % 2 === 0) &&
  PAIRS.every(([open, close]) => countMark(text, open) === countMark(text, close)) &&
  areCurlyClosed(text);

/** Also "[^1]", "[Source 1]" and "【1†…】", which models write and the check recognizes. */
const OWN_CITATION =
  /[[【［][\s,;–—-]{0,8}(?:\^|\p{L}{1,12}[\s:#]{1,4})?\p{Nd}[\p{Nd}\s,;，；、–—-]{0,400}(?:†[^[\]【】]{0,100})?[\]】］]/u;
const PROTOCOL = new RegExp(
  String.raw`tool_call|${READ_TOOL}|insufficient[_ ]evidence|\bscope[*_\s]{0,8}[:：]`,
  "i",
);
const PAIRS = ["«»", "‹›", "「」", "『』"].map((pair) => [pair.charAt(0), pair.charAt(1)] as const);

/** “English” or „German“ and „Polish”. */
function areCurlyClosed(text: string): boolean {
  const [low, left, right] = ["„", "“", "”"].map((mark) => countMark(text, mark));
  return low === 0 ? left === right : low === (left ?? 0) + (right ?? 0);
}

const countMark = (text: string, mark: string): number =>
  text.includes(mark) ? text.split(mark).length - 1 : 0;
