import type { Language } from "../../../shared/text/language.ts";
import { detectLanguage } from "../../text/detect-language.ts";
import { READ_TOOL } from "../../../shared/config/tool-presets.ts";
import type { Frame } from "../../text/units/frames.ts";
import { saidWithLabel } from "../../text/units/cut-units.ts";
import { isQuestion } from "../../text/units/questions.ts";
import type { EvidenceBlock } from "../model.ts";
import { splitSentences } from "./sentences.ts";
import type { Sentence } from "./sentences.ts";
import { contentStems, stemReader, stemWord, wordsOf } from "../../text/content-words.ts";

/** A sentence that an answer may be made of, with the words to judge it by. */
export type Candidate = {
  readonly text: string;
  readonly kind: "sentence" | "line" | "header";
  /** Number of its piece of evidence. */
  readonly number: number;
  readonly path: string;
  /** Place in the evidence as a whole, from 0. */
  readonly position: number;
  readonly stems: readonly string[];
  /** Words of headings, title and path that it stands under; the same set for all that stand under them. */
  readonly contextStems: ReadonlySet<string>;
  /** Words of the name of the one who speaks its paragraph; the same array throughout it. */
  readonly speakerStems: readonly string[];
  /** Opens behind the name of its speaker with a pronoun, for something that another said. */
  readonly answersAnother: boolean;
  /** The two highest headings above it. */
  readonly section: string;
  /** Its paragraph, and where it stands in it. */
  readonly block: string;
  readonly start: number;
  /** Why it does not state what it says, and what is shown before it; null where it states it, and where nothing is. */
  readonly frame: Frame | null;
  readonly label: string | null;
  /** Where in the paragraph to begin to show it, with the sentences that it needs; null where they can't be had. */
  readonly shownFrom: number | null;
  /** Sentences that are shown for it, itself included, and the stems of them all. */
  readonly sentences: number;
  readonly shownStems: readonly string[];
};

/** All that could be shown from the evidence, in its order; a sentence that stands there twice comes once. */
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

/** @param before sentences of the evidence before this piece */
function candidatesIn(
  { number, path, title, headingPath, text }: EvidenceBlock,
  before: number,
  stemsOf: (text: string) => string[],
): Candidate[] {
  const around = `${title ?? ""} ${headingPath ?? ""} ${fileWords(path)}`;
  const contextOf = remembered((context) => new Set(contentStems(`${around} ${context}`)));
  const sentences = splitSentences(text, headingPath?.split(" > ").at(-1) ?? null);
  const language = detectLanguage(text);
  const stems = sentences.map((sentence) =>
    stemsOf(answers(sentence) ? saidWithLabel(sentence) : sentence.text),
  );
  const needsBefore = sentences.map((sentence, at) => {
    const { kind, text: said, context } = sentence;
    if (answers(sentence)) return goesOn(sentence, sentences[at - 1]);
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

/** What follows a question is one with it: what is asked in either is answered. */
const answers = ({ label }: Pick<Sentence, "label">): boolean =>
  label !== null && isQuestion(label);

/** An answer is shown from its beginning. */
const goesOn = (sentence: Sentence, before: Sentence | undefined): boolean =>
  before?.paragraph === sentence.paragraph && before.label === sentence.label;

/** Folders and file name, without the extension: a note in "closing/" is about closing. */
const fileWords = (path: string): string => path.replace(/\.[^./]*$/, "");

function remembered<T>(compute: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}

/** No more sentences, and no longer a stretch, is shown for the sake of one. */
const MOST_SENTENCES = 4;
const MOST_CHARS = 700;
/** Between two sentences of a paragraph stands a blank, or who signed the first; more than that was left out. */
const WIDEST_GAP = 70;

/**
 * Where to begin to show a sentence: at itself, or at the nearest sentence before it in its paragraph from which
 * on no pronoun or connective is left open. `shownFrom` is null where there is none near enough.
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

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

const PRONOUNS = wordSet("he she it they him his her hers them their theirs its");
const DEMONSTRATIVES = wordSet("this that these those such");
const CONNECTIVES = wordSet(
  `however therefore thus hence consequently accordingly moreover furthermore additionally nevertheless nonetheless
   otherwise instead meanwhile likewise similarly conversely also then afterwards besides and but so or nor yet`,
);
/** Openings of several words that point back. */
const POINTING_BACK = [
  "in addition",
  "for example",
  "for instance",
  "as a result",
  "after that",
  "after this",
  "before that",
  "because of this",
  "because of that",
  "for this reason",
  "for that reason",
  "in that case",
  "in this case",
  "on the other hand",
  "on the contrary",
  "even so",
  "of these",
  "of those",
  "one of them",
  "none of them",
  "both of them",
  "all of them",
  "most of them",
  "the former",
  "the latter",
  "the same",
  "the other one",
].map((words) => words.split(" "));

/** "It is important that", "it rains", "it takes an hour": this "it" stands for nothing before. */
const EMPTY_AFTER_IT = wordSet(
  "rains rained snows snowed freezes froze thaws seems seemed appears appeared takes took",
);
const EMPTY_AFTER_IT_IS = wordSet(
  `important possible impossible necessary likely unlikely clear true forbidden allowed hard easy best better safe
   dangerous useful common usual`,
);
const IS = wordSet("is was will would be been has had can could must should may might");
/** "Each has a number": each of what was said before; "each bell" names it. */
const PORTIONS = wordSet("each both neither none some all most many few another others either");
const VERBS = wordSet(
  "is are was were be has have had do does did will would can could shall should may might must",
);
/** "In it", "with them", "if it is not": what these lead to may be open as well. */
const LEADING = wordSet(
  `in on at of for from to with without by after before under over through between among if when once unless until
   because since while though although whether`,
);
const PLACES = wordSet("there here");
/** "This year" and "that evening" are told by the day on which they are read. */
const TIMES = wordSet(
  "year season month week weekend day morning afternoon evening night spring summer autumn winter time",
);
/** "This paper", "in this report": the text itself. */
const ITSELF = wordSet(
  "paper article report study document guide manual letter chapter thesis book work",
);
/** "Those who sign", "that which is left", "so far", "instead of a bell". */
const SELF_CONTAINED = wordSet("who whom whose which with without of far that long");

/** The words of another language that a sentence opens with when it points back. */
type Cues = {
  /** They stand for something that was said. */
  readonly pronouns: ReadonlySet<string>;
  readonly connectives: ReadonlySet<string>;
  /** What follows a connective that points at the rest of its own sentence: "después de la muerte", "alors que". */
  readonly complements: ReadonlySet<string>;
  /** Openings of several words. */
  readonly openings: readonly (readonly string[])[];
  /** They point back unless their noun is known, or is one of the times. */
  readonly demonstratives: ReadonlySet<string>;
  readonly times: ReadonlySet<string>;
};

const cuesOf = (words: Readonly<Record<keyof Cues, string>>): Cues => {
  const set = (key: keyof Cues) => new Set(wordsOf(words[key]));
  return {
    pronouns: set("pronouns"),
    connectives: set("connectives"),
    complements: set("complements"),
    openings: words.openings.split(/\s*,\s*/).map(wordsOf),
    demonstratives: set("demonstratives"),
    times: set("times"),
  };
};

/** Left out is what means something else as often: "es gibt", "Sie können", "damit die Tür schließt", "il y a", "el". */
const CUES: Readonly<Partial<Record<Language, Cues>>> = {
  german: cuesOf({
    pronouns: "er ihm ihn ihnen dies derselbe dieselbe dasselbe letzterer letztere letzteres beide",
    connectives: `jedoch deshalb daher darum deswegen demnach folglich somit also außerdem zudem ferner überdies trotzdem
      dennoch allerdings dagegen hingegen stattdessen danach anschließend daraufhin dann dabei dazu davon dafür darin darauf
      darüber dadurch ebenso auch aber doch denn sondern oder und sonst andernfalls`,
    complements: "dass daß wie wenn",
    openings: `das ist, das sind, das war, das waren, das wird, das hat, das heißt, das bedeutet, das gilt, sie ist, sie war,
      sie hat, sie wird, sie liegt, sie kommt, zum beispiel, in diesem fall, aus diesem grund, im gegenteil, im gegensatz dazu`,
    demonstratives: "dieser diese dieses diesem diesen jener jene jenes solche solcher solches",
    times:
      "jahr jahres woche monat morgen abend tag nacht sommer winter herbst frühling montag freitag mal",
  }),
  french: cuesOf({
    pronouns: "elle ils elles lui celui celle ceux celles cela ça ceci eux",
    connectives: `cependant pourtant toutefois néanmoins donc ainsi ensuite puis alors aussi également mais et ou or sinon
      autrement enfin`,
    complements: "que qu",
    openings: `par conséquent, en conséquence, en revanche, au contraire, de plus, en outre, par exemple, dans ce cas,
      pour cette raison, c'est pourquoi, c'est ainsi, après cela, il a, il avait, il est arrivé, il est parti`,
    demonstratives: "ce cet cette ces",
    times: "matin soir nuit jour semaine mois année an été hiver automne printemps après fois",
  }),
  spanish: cuesOf({
    pronouns: "ella ellos ellas esto eso aquello ambos ambas",
    connectives: `además también tampoco entonces luego después así asimismo igualmente pero sino y e o u pues
      consecuentemente`,
    complements: "de del que como",
    openings: `sin embargo, no obstante, por eso, por ello, por lo tanto, por tanto, por consiguiente, en cambio, al contrario,
      por ejemplo, en este caso, en ese caso, a pesar de ello, por esta razón`,
    demonstratives: "este esta estos estas ese esa esos esas aquel aquella aquellos aquellas",
    times: "mañana tarde noche día semana mes año verano invierno otoño primavera vez",
  }),
};

/** Longer openings than this are not looked at. */
const OPENING_CHARS = 120;

/**
 * Whether a sentence opens with a word that the sentence before it must explain: a pronoun, a connective, or a
 * demonstrative whose noun is none of the known ones.
 *
 * @param known stems of the title and headings above, which a reader has before them
 * @param language of the text; where it is not known, English is looked for
 */
export function needsSentenceBefore(
  text: string,
  known: ReadonlySet<string>,
  language: Language | null,
): boolean {
  const words = wordsOf(text.slice(0, OPENING_CHARS));
  if (language === null || language === "english") return pointsBackInEnglish(words, known);
  const own = CUES[language];
  return own !== undefined && pointsBackBy(own, words, known);
}

function pointsBackBy(cues: Cues, words: readonly string[], known: ReadonlySet<string>): boolean {
  const [first = "", second = ""] = words;
  if (cues.connectives.has(first) && !cues.complements.has(second)) return true;
  if (cues.openings.some((opening) => opening.every((word, at) => words[at] === word))) return true;
  return opensWithPronoun(cues, words, known);
}

function opensWithPronoun(
  { pronouns, demonstratives, times }: Cues,
  [first = "", second = ""]: readonly string[],
  known: ReadonlySet<string>,
): boolean {
  if (pronouns.has(first)) return true;
  return demonstratives.has(first) && !times.has(second) && !known.has(stemWord(second));
}

function pointsBackInEnglish(words: readonly string[], known: ReadonlySet<string>): boolean {
  const [first = "", second = ""] = words;
  if (CONNECTIVES.has(first)) return !SELF_CONTAINED.has(second);
  if (POINTING_BACK.some((opening) => opening.every((word, at) => words[at] === word))) return true;
  if (LEADING.has(first)) return PLACES.has(second) || pointsBack(words.slice(1), known);
  return pointsBack(words, known);
}

function pointsBack(words: readonly string[], known: ReadonlySet<string>): boolean {
  const [first = "", second = ""] = words;
  if (PRONOUNS.has(first)) return first !== "it" || !isEmptyIt(words);
  if (PORTIONS.has(first)) return VERBS.has(second);
  return (
    DEMONSTRATIVES.has(first) &&
    !TIMES.has(second) &&
    !(ITSELF.has(second) && first === "this") &&
    !SELF_CONTAINED.has(second) &&
    !known.has(stemWord(second))
  );
}

function isEmptyIt([, second = "", ...rest]: readonly string[]): boolean {
  if (EMPTY_AFTER_IT.has(second)) return true;
  const [said = ""] = IS.has(second) ? rest.filter((word) => !IS.has(word)) : [];
  return EMPTY_AFTER_IT_IS.has(said);
}

/** "Marta Lind:" in front of a paragraph. */
const SPEAKER =
  /^[*_]{0,3}(\p{Lu}[\p{L}\p{N}.'’-]{0,24}(?: [\p{L}\p{N}(][\p{L}\p{N}.'’)-]{0,24}){0,4}):[*_]{0,3} /u;

/** Who speaks; null where a paragraph opens otherwise. */
const speakerOf = (paragraph: string): string | null => SPEAKER.exec(paragraph)?.[1] ?? null;

/** "Marta Lind: It was late." A turn that begins with "So" or "But" is understood all the same. */
function opensTurnWithPronoun(
  { start, text }: Sentence,
  known: ReadonlySet<string>,
  language: Language | null,
): boolean {
  if (start !== 0 || speakerOf(text) === null) return false;
  const words = wordsOf(text.replace(SPEAKER, "").slice(0, OPENING_CHARS));
  if (language === null || language === "english") return pointsBack(words, known);
  const own = CUES[language];
  return own !== undefined && opensWithPronoun(own, words, known);
}

/**
 * False for what the check of an answer would take for something else: a citation of its own, half a quote or half
 * of code, or the marks of the protocol.
 */
const isShowable = (text: string): boolean =>
  !OWN_CITATION.test(text) &&
  !PROTOCOL.test(text) &&
  ['"', "`"].every((mark) => count(text, mark) % 2 === 0) &&
  PAIRS.every(([open, close]) => count(text, open) === count(text, close)) &&
  areCurlyClosed(text);

/** Also "[^1]", "[Source 1]" and "【1†…】", which models write and the check reads. */
const OWN_CITATION =
  /[[【［][\s,;–—-]{0,8}(?:\^|\p{L}{1,12}[\s:#]{1,4})?\p{Nd}[\p{Nd}\s,;，；、–—-]{0,400}(?:†[^[\]【】]{0,100})?[\]】］]/u;
const PROTOCOL = new RegExp(
  String.raw`tool_call|${READ_TOOL}|insufficient[_ ]evidence|\bscope[*_\s]{0,8}[:：]`,
  "i",
);
const PAIRS = ["«»", "‹›", "「」", "『』"].map((pair) => [pair.charAt(0), pair.charAt(1)] as const);

/** “English” or „German“ and „Polish”. */
function areCurlyClosed(text: string): boolean {
  const [low, left, right] = ["„", "“", "”"].map((mark) => count(text, mark));
  return low === 0 ? left === right : low === (left ?? 0) + (right ?? 0);
}

const count = (text: string, mark: string): number =>
  text.includes(mark) ? text.split(mark).length - 1 : 0;
