import { firstFrom } from "../../text/first-index.ts";
import { sentenceEnds } from "../../text/sentences.ts";
import type { TextSpan } from "../../text/spans.ts";

/** A text to cut into sentences and clauses. Offsets are UTF-16 units of `text`. */
export type Prose = {
  /** Code is masked; citations are unchanged. */
  readonly text: string;
  readonly citations: readonly TextSpan[];
  /** Texts in quotation marks, which are never cut. */
  readonly quotes: readonly TextSpan[];
};

/** The spans of a sorted list that begin within another span. Takes logarithmic time, plus the number of results. */
export function spansWithin<Span extends TextSpan>(
  spans: readonly Span[],
  { start, end }: TextSpan,
): readonly Span[] {
  const first = firstFrom(spans, start);
  let last = first;
  while ((spans[last]?.start ?? end) < end) last += 1;
  return spans.slice(first, last);
}

/**
 * Cuts a paragraph into sentences, each with the citations behind its stop. A quotation is never cut. A citation at the end of
 * a line, or behind a stop, ends its sentence where a capital letter follows.
 */
export function sentencesOf(prose: Prose, paragraph: TextSpan): TextSpan[] {
  const words = prose.text.slice(paragraph.start, paragraph.end);
  const stops = sentenceEnds(words).map((end) => paragraph.start + end);
  const cited = spansWithin(prose.citations, paragraph)
    .filter((citation) => endsSentence(prose.text, citation))
    .map(({ end }) => end);
  const broken = [...words.matchAll(HARD_BREAK)].map(({ index }) => paragraph.start + index);
  const ends = [...new Set([...stops, ...cited, ...broken])].sort((one, other) => one - other);
  return spansBetween(
    paragraph.start,
    ends.filter((end) => end === paragraph.end || !isWhole(prose, end)),
  );
}

const HARD_BREAK = /(?: {2}|\\)\n/g;
const NEXT_LINE = /^[ \t]*\n\s*["'“„«([*_]{0,4}(?:[\p{Lu}\p{N}]|\p{Ll}[^:\n]{0,60}: )/u;
const NEXT_SENTENCE = /^\s+["'“„«(*_]{0,4}\p{Lu}/u;
const STOP_BEFORE = /[.!?…]["'”“’»›)*_]{0,4}\s?$/;

/** A sentence may begin with a small letter, where its document was cut: then a whole word must be before the stop. */
const NEXT_WORD = /^\s+["'“„«(*_]{0,4}\p{Ll}/u;
const WORD_BEFORE = /\p{L}{3,}[.!?…]["'”“’»›)*_]{0,4}\s?$/u;
const ABBREVIATED =
  /(?<!\p{L})(?:approx|resp|incl|excl|evtl|inkl|zzgl|bspw|etc|bzw|usw|ggf|vgl|max|min|tel|art|abs|fig|vol|env|aprox|núm)\.\s?$/iu;

function endsSentence(text: string, { start, end }: TextSpan): boolean {
  const after = text.slice(end, end + 40);
  if (NEXT_LINE.test(after)) return true;
  const before = text.slice(Math.max(0, start - 24), start);
  if (NEXT_SENTENCE.test(after)) return STOP_BEFORE.test(before);
  return NEXT_WORD.test(after) && WORD_BEFORE.test(before) && !ABBREVIATED.test(before);
}

/** Whether a position is within a quotation or a citation. */
const isWhole = (prose: Prose, position: number): boolean =>
  isQuoted(prose, position) || isInside(prose.citations, position);

function isQuoted({ quotes }: Prose, position: number): boolean {
  const quote = quotes[firstFrom(quotes, position) - 1];
  return quote !== undefined && position <= quote.end;
}

function spansBetween(start: number, ends: readonly number[]): TextSpan[] {
  let from = start;
  return ends.map((end) => {
    const span = { start: from, end };
    from = end;
    return span;
  });
}

/** Words that contrast two statements, behind a comma. */
const CONTRASTS =
  "while|whereas|während|wohingegen|wogegen|tandis que|alors que|mientras(?: que)?|mentre|enquanto|terwijl";
/** Words that contrast two statements without a comma. */
const CLEAR_CONTRASTS = "whereas|wohingegen|tandis que|mientras que";
/** Words that open the second statement and belong to none. */
const TURNS =
  "however|nevertheless|nonetheless|by contrast|in contrast|on the other hand|instead|moreover|in addition|therefore|jedoch|allerdings|dagegen|hingegen|cependant|toutefois|néanmoins|en revanche|par contre|sin embargo|no obstante|en cambio|por el contrario";
/** Joins two statements; it is removed with the spaces around it. A semicolon within a word ("&amp;") is no joint. */
const JOINT = new RegExp(
  String.raw`(?:(?<!&[\p{L}\p{N}#]{1,8});(?=\s|$)|；)\s{0,8}(?:(?:${TURNS})[,，]\s{1,8})?` +
    String.raw`|,\s{1,8}(?:${CONTRASTS})(?:\s{1,8}|(?<=que)(?=['’]))` +
    String.raw`|(?<=\s)(?:${CLEAR_CONTRASTS})\s{1,8}|(?<=\s)(?:tandis|alors) qu['’]`,
  "giu",
);

/** "and" behind a citation joins two statements, each with its own citation. */
const AND = /[ \t]{0,4},?\s{1,8}(?:and|but|yet|und|aber|doch|et|mais|y|e|pero|maar|en)\s{1,8}/iuy;
/** Words that open a clause with its own subject. */
const SUBJECT =
  /^(?:the|this|that|these|those|it|he|she|they|we|you|its|his|her|their|our|there|der|die|das|dem|den|ein|eine|es|er|sie|wir|ihr|ihre|sein|seine|diese[rs]?|le|la|les|l['’]|un|une|il|elle|ils|elles|on|ce|cette|son|sa|ses|el|los|las|una|este|esta|su|sus|ella|ellos)(?![\p{L}\p{N}])/iu;
const VERB =
  /^\S{1,60}\s(?:\S{1,60}\s){0,7}(?:is|are|was|were|has|have|had|will|would|can|could|may|must|should|does|did|costs?|\p{L}{2,}ed|ist|sind|war|waren|hat|haben|hatte|wird|werden|wurden?|kann|muss|soll|darf|est|sont|a|ont|était|sera|peut|doit|es|son|era|fue|tiene|puede|debe)(?![\p{L}\p{N}])/iu;
const FEWEST_WORDS = 3;

/** A row of a table, each cell with the name of its column. It is not cut, because one cell alone does not name its subject. */
const CELLS = /^\s*[^:;\n]{1,60}: [^;\n]{1,500}(?:; [^:;\n]{1,60}: [^;\n]{1,500})+$/u;

/**
 * Cuts a sentence into clauses that are statements themselves, without the joints between them. "and" joins two statements only
 * where each has its own citation and its own subject or verb.
 */
export function clausesOf(prose: Prose, sentence: TextSpan): TextSpan[] {
  if (CELLS.test(prose.text.slice(sentence.start, sentence.end))) return [sentence];
  const joints = [...jointsOf(prose, sentence), ...citedJoints(prose, sentence)].sort(
    (one, other) => one.start - other.start,
  );
  const clauses: TextSpan[] = [];
  let from = sentence.start;
  for (const joint of joints) {
    if (joint.start < from) continue;
    clauses.push({ start: from, end: joint.start });
    from = joint.end;
  }
  return [...clauses, { start: from, end: sentence.end }];
}

function jointsOf(prose: Prose, { start, end }: TextSpan): TextSpan[] {
  const words = prose.text.slice(start, end);
  const brackets = bracketsOf(words, start);
  return [...words.matchAll(JOINT)]
    .map(({ 0: joint, index }) => ({ start: start + index, end: start + index + joint.length }))
    .filter((joint) => !isQuoted(prose, joint.start) && !isInside(brackets, joint.start));
}

const isInside = (spans: readonly TextSpan[], position: number): boolean =>
  position < (spans[firstFrom(spans, position) - 1]?.end ?? 0);

/** Outermost brackets of any kind that are closed. */
function bracketsOf(words: string, offset: number): TextSpan[] {
  const spans: TextSpan[] = [];
  const open: number[] = [];
  for (const { 0: mark, index } of words.matchAll(/[([（【\])）】]/g)) {
    if ("([（【".includes(mark)) open.push(offset + index);
    else {
      const start = open.pop();
      if (start === undefined) continue;
      while ((spans.at(-1)?.start ?? -1) > start) spans.pop();
      spans.push({ start, end: offset + index + 1 });
    }
  }
  return spans;
}

function citedJoints(prose: Prose, sentence: TextSpan): TextSpan[] {
  const citations = spansWithin(prose.citations, sentence);
  return citations.slice(0, -1).flatMap(({ end }, at) => {
    AND.lastIndex = end;
    const joint = AND.exec(prose.text);
    const next = citations[at + 1];
    if (joint === null || next === undefined) return [];
    const from = end + joint[0].length;
    const words = prose.text.slice(from, Math.min(next.start, from + 500)).trim();
    const isClause = SUBJECT.test(words) || VERB.test(words);
    if (!isClause || words.split(/\s+/).length < FEWEST_WORDS || isQuoted(prose, end)) return [];
    return [{ start: end, end: from }];
  });
}
