import { escapePattern } from "../../../shared/text/normalise-text.ts";
import { wordFile } from "../../../shared/text/word-lists.ts";
import type { WordFile } from "../../../shared/text/word-lists.ts";
import type { TextBlock } from "./cut-blocks.ts";

/**
 * Why a unit does not state what its words say: its heading or the line above its list denies it, or it is a question, still
 * open, struck out, one of several options, an example, or reported speech.
 */
export type Frame = "denied" | "asked" | "open" | "struck" | "option" | "example" | "reported";

type FrameLanguage = Parameters<typeof wordFile>[0];

/** A unit of a text with what stands around it. */
export type Framed = {
  readonly text: string;
  /** The mark of its item: "- [ ] ". */
  readonly mark: string;
  readonly kind: TextBlock["kind"] | "rest";
  /** Nearest heading. */
  readonly heading: string | null;
  /** The line above its list, which ends with a colon. */
  readonly leadIn: string | null;
  /** The sentence or block that follows. */
  readonly next: string | null;
  readonly language: FrameLanguage | null;
};

/** The frame of a unit; null if it states what it says. Kind `item` is the first sentence of an item, `rest` any later one. */
export function frameOf(unit: Framed): Frame | null {
  const { text, mark, kind, next, language } = unit;
  if (isStruck(text)) return "struck";
  const all = (language === null ? LANGUAGES : [language]).map(marksOf);
  if (/[?？]["'”’»)\]*_]{0,3}$/u.test(text)) {
    if (next !== null && all.some(({ yes }) => yes.test(next))) return null;
    return next !== null && all.some(({ no }) => no.test(next)) ? "denied" : "asked";
  }
  if (kind === "heading") return null;
  if (/\[ ?\]/.test(mark)) return "open";
  for (const marks of all) {
    const frame = frameBy(marks, unit);
    if (frame !== null) return frame;
  }
  return null;
}

const LANGUAGES = ["english", "german", "french", "spanish", "japanese"] as const;

/** The words of a language as patterns, made once. */
type Marks = Readonly<
  Record<
    | ("yes" | "no" | "denied" | "deniedHeading" | "asksWhat" | "circumstance" | "circumstances")
    | ("open" | "openHeading" | "option" | "options" | "example" | "examples" | "exampleHeading")
    | ("reported" | "reportedHeading" | "retracted"),
    RegExp
  >
>;

const known = new Map<FrameLanguage, Marks>();

function marksOf(language: FrameLanguage): Marks {
  const marks = known.get(language) ?? readMarks(wordFile(language).frames);
  known.set(language, marks);
  return marks;
}

const readMarks = (words: WordFile["frames"]): Marks => ({
  yes: opening(words.yes),
  no: opening(words.no),
  denied: anywhere(words.denied),
  deniedHeading: atEitherEnd(words.denied),
  asksWhat: opening(words.asks_what),
  circumstance: opening(words.circumstances),
  circumstances: anywhere(words.circumstances),
  open: anywhere(words.open),
  openHeading: nothingElse(words.open),
  option: optionOf(words),
  options: anywhere(words.options),
  example: pattern(String.raw`^[*_]{0,2}${oneOf(words.examples)}\s?[:：,、]`),
  examples: anywhere(words.examples),
  exampleHeading: atEitherEnd(words.examples),
  reported: anywhere(words.reported),
  reportedHeading: nothingElse(words.reported),
  retracted: opening(words.retracted),
});

const pattern = (source: string): RegExp => new RegExp(source, "iu");

/** Ends of words: no Latin letter or digit beside them. Other scripts do not count, because Japanese has no blanks. */
const AHEAD = String.raw`(?![\p{Script=Latin}\p{N}])`;
const BEHIND = String.raw`(?<![\p{Script=Latin}\p{N}])`;

/** One of these words; none where a language has none. */
const oneOf = (words: readonly string[]): string =>
  words.length === 0 ? "(?!)" : `(?:${words.map(escapePattern).join("|")})`;
/** "ce qu'" needs no blank behind it. */
const whole = (words: readonly string[]): string =>
  words.length === 0
    ? "(?!)"
    : `(?:${words.map((word) => escapePattern(word) + (/['’]$/.test(word) ? "" : AHEAD)).join("|")})`;

const opening = (words: readonly string[]): RegExp =>
  pattern(String.raw`^[^\p{L}]*${whole(words)}`);
const anywhere = (words: readonly string[]): RegExp => pattern(`${BEHIND}${whole(words)}`);
const atEitherEnd = (words: readonly string[]): RegExp =>
  pattern(String.raw`^[^\p{L}]*${whole(words)}|${BEHIND}${oneOf(words)}$`);

/** A heading of just this, perhaps with a number, or with more behind a dash or a colon. */
const nothingElse = (words: readonly string[]): RegExp =>
  pattern(String.raw`^[\d.\s]*${oneOf(words)}(?:\s*(?:[:：–—(-].*)?|\s[\p{L}\p{N}]{1,2})$`);

/** "Option A: …", "A案", "either … or". */
function optionOf({ options, either }: WordFile["frames"]): RegExp {
  const named = String.raw`^(?:${oneOf(options)}\s?[\p{L}\p{N}]{1,3}(?![\p{L}\p{N}])|[A-Z]${oneOf(options)}\s)`;
  const choices = either.map((one) =>
    one
      .split(" … ")
      .map((part) => `${BEHIND}${escapePattern(part)}${AHEAD}`)
      .join(String.raw`.{0,400}?`),
  );
  return pattern([named, ...choices].join("|"));
}

function frameBy(marks: Marks, { text, mark, kind, heading, leadIn, next }: Framed): Frame | null {
  const said = text.replace(/^[*_]{1,3}/, "");
  const above = heading ?? "";
  if (kind === "item" || kind === "row") {
    const isTicked = /\[[xX✓]\]/.test(mark);
    if (leadIn === null ? denies(above, marks) : deniesBelow(leadIn, marks)) return "denied";
    if (!isTicked && marks.openHeading.test(above)) return "open";
    if (marks.options.test(above)) return "option";
  }
  if (marks.option.test(said)) return "option";
  if (marks.example.test(said) || marks.exampleHeading.test(above)) return "example";
  const isReported = marks.reported.test(said) || marks.reportedHeading.test(above);
  return isReported || (next !== null && marks.retracted.test(next)) ? "reported" : null;
}

const STRUCK = /~~[^~\n]{1,2000}~~/g;

/** A text without its parts that Markdown strikes out. */
export const withoutStruck = (text: string): string => text.replace(STRUCK, " ").trim();

/** Whether more than two thirds of a text are struck out. */
function isStruck(text: string): boolean {
  const lengthOf = (part: string): number => part.replaceAll("~~", "").length;
  return 3 * lengthOf(text.replace(STRUCK, "")) < lengthOf(text);
}

const MOST_HEADING_WORDS = 9;

/** Whether a heading begins or ends with a denial, or asks what is not; not if it says when or why. */
function denies(heading: string, marks: Marks): boolean {
  const title = heading.replace(/^[\d.\s§]+|[\s:：.*_]+$/gu, "");
  const isNumber = /^(?:no|nr)\.? ?\d/iu.test(title);
  if (isNumber || title.split(/\s+/).length > MOST_HEADING_WORDS) return false;
  if (marks.circumstance.test(title)) return false;
  return (
    marks.deniedHeading.test(title) || (marks.asksWhat.test(title) && marks.denied.test(title))
  );
}

/** How many last words of the line above a list are tested: "The following may not enter:". */
const LAST_WORDS = 9;

function deniesBelow(leadIn: string, marks: Marks): boolean {
  // "If it does not start:" tells when the steps below are taken.
  if (marks.circumstances.test(leadIn)) return false;
  const words = leadIn.replace(/[:：\s]+$/u, "").split(/\s+/);
  return marks.denied.test(words.slice(-LAST_WORDS).join(" "));
}

/** Whether a text holds a word that denies. */
export const holdsDenial = (text: string, language: FrameLanguage): boolean =>
  marksOf(language).denied.test(text);

/** Whether a statement says itself what frames its unit: "is open", "option A", "for example", "it is said that". */
export function namesFrame(
  said: string,
  { frame, text }: { readonly frame: Frame; readonly text: string },
  language: FrameLanguage,
): boolean {
  const marks = marksOf(language);
  switch (frame) {
    case "denied":
      return marks.denied.test(said);
    case "open":
      return marks.open.test(said);
    case "option":
      return marks.options.test(said) || marks.option.test(said);
    case "example":
      // Not as a name that the sentence itself holds: "Frau Muster".
      return marks.examples.test(said) && !marks.examples.test(text);
    case "reported":
      return marks.reported.test(said);
    case "asked":
    case "struck":
      return false;
  }
}
