import { MONTH_NAME } from "../../../shared/text/month-names.ts";
import { frequentWords } from "../detect-language.ts";
import { sentenceEnds } from "../sentences.ts";

/** A line without the marks of a mail that quotes it. */
type Line = {
  readonly text: string;
  /** How deep it is quoted. */
  readonly depth: number;
  /** How far its text is set in. */
  readonly indent: number;
  /** Without blanks at its ends. */
  readonly said: string;
  readonly width: number;
};

/** `follows`: the sentence before it has ended, and its paragraph goes on. */
export type LineRelation = "opens" | "follows" | "continues";

/**
 * What each line of a text is to the one before it: it continues its sentence, follows in its paragraph, or opens something of
 * its own, such as an item, a field or a row. Lines that a program wrapped are as wide as each other, and those that a person
 * broke are not. Takes linear time.
 * @param lines all of the text, without their breaks
 */
export function relateLines(lines: readonly string[]): LineRelation[] {
  const read = lines.map(readLine);
  const related = lines.map((): LineRelation => "opens");
  const isFlowed = read.filter(endsFlowed).length >= 2;
  for (let from = 0; from < read.length;) {
    let to = from + 1;
    while (to < read.length && areOneParagraph(read[to - 1], read[to])) to += 1;
    if (to - from > 1) {
      relateInParagraph(read.slice(from, to), isFlowed).forEach((relation, at) => {
        related[from + at] = relation;
      });
    }
    from = to;
  }
  return related;
}

const QUOTED = /^(?:[ \t]?>)+/;

/** A line of a text without marks of quoting, and where its text begins. */
function readLine(line: string): Line {
  const marks = QUOTED.exec(line)?.[0] ?? "";
  const text = line.slice(marks.length);
  const said = text.trim();
  const indent = text.length - text.trimStart().length;
  return { text, depth: marks.split(">").length - 1, indent, said, width: indent + said.length };
}

const areOneParagraph = (line: Line | undefined, next: Line | undefined): boolean =>
  line !== undefined &&
  next !== undefined &&
  line.said !== "" &&
  next.said !== "" &&
  line.depth === next.depth;

/** As `format=flowed` ends a line that goes on; a line of "-- " opens a signature. */
const endsFlowed = ({ text, said }: Line): boolean =>
  / $/.test(text) && !/ {2}$/.test(text) && said !== "--";

type Paragraph = {
  readonly lines: readonly Line[];
  readonly isFlowed: boolean;
  /** Of its widest line. */
  readonly width: number;
  /** Whether most of its lines are as wide as they could be. */
  readonly isFull: boolean;
  readonly fields: number;
  /** Lines that begin with a time of day. */
  readonly times: number;
  /** Frequent words of its language; null of one without a list. */
  readonly words: ReadonlySet<string> | null;
};

function relateInParagraph(lines: readonly Line[], isFlowed: boolean): LineRelation[] {
  const width = lines.reduce((most, line) => Math.max(most, line.width), 0);
  const paragraph: Paragraph = {
    lines,
    isFlowed,
    width,
    isFull: isMostlyFull(lines, width),
    fields: lines.filter(({ said }) => FIELD.test(said)).length,
    times: lines.filter(({ said }) => CLOCK.test(said)).length,
    words: frequentWords(lines.map(({ said }) => said).join("\n")),
  };
  // That the lines stand in: an item, or the value of a field.
  let item: Item | null = null;
  return lines.map((line, at) => {
    const before = lines[at - 1];
    const opened = itemOf(paragraph, line, { item, before });
    const relation =
      before === undefined || opened !== null
        ? "opens"
        : relationOf(paragraph, { at, before, line, item });
    if (opened !== null) item = opened;
    else if (FIELD.test(line.said) && relation === "opens")
      item = { indent: line.indent + 2, number: null };
    else if (relation === "opens" && item !== null && line.indent < item.indent) item = null;
    return relation;
  });
}

type Item = {
  /** Where its words begin. */
  readonly indent: number;
  /** Of "3." its number, of "c." its place in the alphabet. */
  readonly number: number | null;
};

const MARK =
  /^(?:[-*+•·‣◦▪–—]|\[[ xX]\]|§+|\(?\p{L}\)|(?<letter>\p{Ll})\.|(?<number>\d{1,3})[.)]|\((?<inner>\d{1,3})\))[ \t]+(?=\S)/u;

/** A number or a letter opens an item where it is the first, counts on, or follows a stop: "am / 28. Februar" does not. */
function itemOf(
  paragraph: Paragraph,
  line: Line,
  { item, before }: { readonly item: Item | null; readonly before: Line | undefined },
): Item | null {
  const found = MARK.exec(line.said);
  if (found === null) return null;
  const indent = line.indent + found[0].length;
  const { letter, number: written = found.groups?.["inner"] } = found.groups ?? {};
  if (letter === undefined && written === undefined) return { indent, number: null };
  const number = letter === undefined ? Number(written) : letter.charCodeAt(0) - BEFORE_A;
  const countsOn = number === 1 || number === (item?.number ?? -1) + 1;
  const isHeld =
    before !== undefined &&
    (endsWithSmallWord(paragraph, before) || MONTH.test(line.said.slice(found[0].length)));
  const opens =
    before === undefined ||
    (countsOn && !isHeld) ||
    (letter === undefined && STOP.test(before.said));
  return opens ? { indent, number } : null;
}

const BEFORE_A = 96;

type Break = {
  readonly at: number;
  readonly before: Line;
  readonly line: Line;
  readonly item: Item | null;
};

function relationOf(paragraph: Paragraph, here: Break): LineRelation {
  const { before, line } = here;
  if (opensOfItself(paragraph, here)) return "opens";
  if (!endsSentence(before.said, line.said)) return goesOn(paragraph, here) ? "continues" : "opens";
  const isRunning = paragraph.isFull || paragraph.isFlowed || paragraph.width >= WIDE;
  return isRunning && isProse(paragraph, line) && !before.said.endsWith(":") ? "follows" : "opens";
}

function goesOn(paragraph: Paragraph, here: Break): boolean {
  const { before, line, item } = here;
  if (paragraph.isFlowed && endsFlowed(before)) return true;
  if (/\p{L}-$/u.test(before.said) && /^\p{Ll}/u.test(line.said)) return true;
  if (item !== null && line.indent >= 2 && line.indent >= item.indent - 1 && !isShort(line))
    return true;
  if (here.at === 1 && GREETING.test(before.said)) return false;
  const next = line.said.replace(/^["'“„‘«»([¿¡*_]+/u, "");
  if (/^\p{Ll}/u.test(next)) return goesOnSmall(paragraph, here);
  if (/^\p{N}/u.test(next)) return goesOnWithFigure(paragraph, before);
  if (CJK.test(next))
    return (
      CJK_END.test(before.said) && before.width >= FULL * paragraph.width && paragraph.width >= 12
    );
  return /^\p{Lu}/u.test(next) && goesOnWithCapital(paragraph, here, next);
}

/** Short lines of small letters are a list, or verse, unless each is as wide as it could be. */
function goesOnSmall(paragraph: Paragraph, { at, before, line }: Break): boolean {
  if (!isProse(paragraph, before) && !isProse(paragraph, line)) return false;
  if (paragraph.width >= WIDE || paragraph.isFull || endsWithSmallWord(paragraph, before))
    return true;
  return isFullLine(paragraph, at, line.said);
}

const WIDE = 45;

const isShort = ({ said }: Line): boolean => said.length < 2;

const CJK = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const CJK_END = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、，]$/u;

const CONTENTS = /\.{4,}|(?:\. ){3,}/;
const COLUMNS = /\S(?: {3,}|\t)\S/;
const ROW = /^\||\s\|\s.*\s\|\s/;
const CODE =
  /^(?:[{}\]]|<\/?[a-z!]|\$ |# |\/\/|at \S+[.(]|\w[\w.]*\(.*\)$|return .*[()[\]]|(?:const|let|var|def|import|return|if|for|while|SELECT|INSERT)\b.*[;:{(]$|[\w.]+(?:\[\w+\])? ?=[ "'\d[{])/;
const STAMP =
  /^(?:[[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\p{Lu}\p{Ll}{2} [ \d]\d \d\d:\d\d:\d\d|\[ *\d+\.\d+\]|\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL)\b)/u;
const CLOCK = /^\d{1,2}[:.]\d{2}(?::\d\d)?(?:[ \t]|$)/;
/** A key and what it is. */
const FIELD = /^\p{L}[\p{L}\p{N} _.\-/()]{0,40}(?::(?=\s|$)|：|[ \t]?=[ \t])/u;

/** Whether a line begins what no line goes on with, or the one before says that it ends. */
function opensOfItself(paragraph: Paragraph, { at, before, line }: Break): boolean {
  if (/ {2}$|\\$/.test(before.text)) return true;
  if (
    [before, line].some(({ said }) => CONTENTS.test(said) || COLUMNS.test(said) || ROW.test(said))
  )
    return true;
  if (STAMP.test(line.said) || CODE.test(line.said) || before.said.startsWith("$ ")) return true;
  if (CLOCK.test(line.said) && paragraph.times > 1) return true;
  return FIELD.test(line.said) && !(paragraph.fields === 1 && isFullLine(paragraph, at, line.said));
}

const STOP = /[.!?…。！？:]["'”’»›)\]*_~」』]{0,4}$/u;

/** Whether a stop stands at the end, which is no abbreviation's before these words. */
function endsSentence(said: string, next: string): boolean {
  if (!STOP.test(said)) return false;
  if (!/\.["'”’»›)\]*_~]{0,4}$/u.test(said)) return !(said.endsWith(":") && /^\p{Ll}/u.test(next));
  const end = said.slice(-LOOKED_AT);
  return sentenceEnds(`${end} ${next.slice(0, LOOKED_AT)}`).includes(end.length);
}

const LOOKED_AT = 80;
const GREETING = /^(?:\S+ ){0,3}\S+,$/u;

const WORD = /[\p{L}\p{M}'’]+/gu;

const isProse = ({ words }: Paragraph, { said }: Line): boolean =>
  words === null || (said.toLowerCase().match(WORD) ?? []).some((word) => words.has(word));

/** Behind "until" or "zum" more follows, whatever it begins with. */
const endsWithSmallWord = ({ words }: Paragraph, { said }: Line): boolean => {
  const last = /(?:^|[\s(])([\p{L}'’]+)$/u.exec(said)?.[1];
  return last !== undefined && words?.has(last.toLowerCase()) === true;
};

function goesOnWithFigure(paragraph: Paragraph, before: Line): boolean {
  if (endsWithSmallWord(paragraph, before)) return true;
  if (/\p{N}[.,]?$/u.test(before.said)) return false;
  const isLong = before.said.length >= 30 && before.said.split(/\s+/).length >= 5;
  return isLong && isProse(paragraph, before);
}

const MONTH = new RegExp(`^${MONTH_NAME}(?!\\p{L})`, "iu");

function goesOnWithCapital(paragraph: Paragraph, { at, before }: Break, next: string): boolean {
  if (endsWithSmallWord(paragraph, before)) return true;
  if (/(?:^|\s)\p{N}{1,2}\.?$/u.test(before.said) && MONTH.test(next)) return true;
  const { width, isFull } = paragraph;
  const isWrapped = width >= 60 || (width >= 30 && isFull);
  return isWrapped && isProse(paragraph, before) && isFullLine(paragraph, at, next);
}

/** Of the widest line a line is full that had no room for the next word. */
const FULL = 0.92;

function isFullLine(
  { lines, width }: Pick<Paragraph, "lines" | "width">,
  at: number,
  next: string,
): boolean {
  const before = lines[at - 1];
  const word = /^\S*/.exec(next)?.[0] ?? "";
  return before !== undefined && before.width + 1 + word.length > FULL * width;
}

/** Most lines have no room for the next word. The last one, and the widest, say nothing. */
function isMostlyFull(lines: readonly Line[], width: number): boolean {
  let judged = 0;
  let full = 0;
  let isWidestSeen = false;
  for (let at = 1; at < lines.length; at += 1) {
    const before = lines[at - 1];
    if (before?.width === width && !isWidestSeen) {
      isWidestSeen = true;
      continue;
    }
    judged += 1;
    if (isFullLine({ lines, width }, at, lines[at]?.said ?? "")) full += 1;
  }
  return judged > 0 && full >= 0.6 * judged;
}

/**
 * What lines say that go on with each other, in one line: without marks of quoting, and a word whole that was parted by a
 * hyphen at the end of a line.
 */
export const joinLines = (text: string): string =>
  /[\n\r]/.test(text)
    ? text
        .replace(/(?:\r\n|\n|\r)(?:[ \t]?>)*[ \t]*/g, "\n")
        .replace(/(?<=\p{Ll})-\n(?=\p{Ll}{2})/gu, "")
        .replace(/\n/g, (_, at, whole: string) =>
          isBetweenIdeographs(whole, at as number) ? "" : " ",
        )
    : text;

const isBetweenIdeographs = (text: string, at: number): boolean =>
  CJK_END.test(text.slice(Math.max(0, at - 2), at)) && CJK.test(text.slice(at + 1, at + 3));

/** The same text, with blanks in the place of marks of quoting at the beginnings of its lines. */
export const blankQuoteMarks = (text: string): string =>
  text.includes(">")
    ? text.replace(/(?<=[\n\r])(?:[ \t]?>)+/g, (marks) => " ".repeat(marks.length))
    : text;
