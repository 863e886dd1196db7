import { styleText, toUSVString } from "node:util";

/** The meaning of a text; a terminal shows each in a colour. */
export type Style = keyof typeof COLORS;
const COLORS = {
  good: "green",
  caution: "yellow",
  bad: "red",
  active: "cyan",
  past: "gray",
} as const;

type Span = { readonly text: string; readonly style?: Style };

/** A line of text. Parts of it are coloured if the terminal supports it. */
export type Line = string | readonly Span[];

const spansOf = (line: Line): readonly Span[] =>
  typeof line === "string" ? [{ text: line }] : line;

export const styled = (text: string, style: Style | undefined): Line =>
  style === undefined ? text : [{ text, style }];

/** Concatenates lines; without any style the result is a plain text. */
export function joinLines(parts: readonly Line[]): Line {
  const spans = parts.flatMap(spansOf);
  return spans.some(({ style }) => style !== undefined)
    ? spans.filter(({ text }) => text !== "")
    : spans.map(({ text }) => text).join("");
}

/** A template whose values keep their colours. */
export const line = (texts: TemplateStringsArray, ...values: readonly Line[]): Line =>
  joinLines(texts.flatMap((text, index) => [text, values[index] ?? ""]));

export const plainText = (styledLine: Line): string =>
  spansOf(styledLine)
    .map(({ text }) => text)
    .join("");

/** Changes each text and keeps its style. */
export const mapTexts = (styledLine: Line, change: (text: string) => string): Line =>
  joinLines(spansOf(styledLine).map((span) => [{ ...span, text: change(span.text) }]));

/** A part of a line, by offsets into its text. */
export function sliceLine(whole: Line, start: number, end: number): Line {
  let at = 0;
  const parts = spansOf(whole).map((span): Line => {
    const text = span.text.slice(Math.max(0, start - at), Math.max(0, end - at));
    at += span.text.length;
    return [{ ...span, text }];
  });
  return joinLines(parts);
}

/** Renders a line for a terminal. All colours are applied here. @param clean makes hostile text harmless */
export const renderLine = (
  whole: Line,
  color: "color" | "plain",
  clean: (text: string) => string,
): string =>
  spansOf(whole)
    .map(({ text, style }) =>
      style === undefined || color === "plain"
        ? clean(text)
        : // The caller has decided on colour, so Node must not check stdout.
          styleText(COLORS[style], clean(text), { validateStream: false }),
    )
    .join("");

const STATE_STYLES: Readonly<Record<string, Style>> = {
  succeeded: "good",
  completed: "good",
  running: "active",
  loading: "active",
  refused: "caution",
  parked: "caution",
  held: "caution",
  expired: "caution",
  lost: "caution",
  failed: "bad",
  cancelled: "past",
};

/** A text about the state of a job, a run or a batch, in the colour of that state: `failed, attempt 2`. */
export const styledState = (state: string, text: string = state): Line =>
  styled(text, Object.hasOwn(STATE_STYLES, state) ? STATE_STYLES[state] : undefined);

const NARROWEST = 40;

/** Lines without harmful characters, wrapped between words where a terminal would wrap them anywhere. */
export const layOutLines = (
  lines: readonly Line[],
  mostColumns: number | undefined,
): readonly Line[] =>
  lines.flatMap((given) => {
    const clean = mapTexts(given, (text) => cleanForTerminal(text.replace(/[\r\n]+/g, " ↵ ")));
    return mostColumns === undefined ? [clean] : wrap(clean, Math.max(NARROWEST, mostColumns));
  });

/** Words, each with the blank in front of it. A command at the end is one word, so that it can be copied from one line. */
function wordsOf(text: string): readonly string[] {
  const command = /(?<=\S) nightdesk [a-z].*$/.exec(text);
  const words = text.slice(0, command?.index).split(/(?<=\S)(?= )/);
  return command === null ? words : [...words, command[0]];
}

/** Wraps a line; further lines are indented by two more columns. */
function wrap(whole: Line, columns: number): readonly Line[] {
  const text = plainText(whole);
  if (widthOf(text) <= columns) return [whole];
  const indent = " ".repeat(Math.min((/^ */.exec(text)?.[0].length ?? 0) + 2, columns / 2));
  const wrapped: Line[] = [];
  let [start, end, width] = [0, 0, 0];
  for (const word of wordsOf(text)) {
    if (end > start && width + widthOf(word) > columns) {
      wrapped.push(joinLines([wrapped.length === 0 ? "" : indent, sliceLine(whole, start, end)]));
      start = end + (word.length - word.trimStart().length);
      width = indent.length + widthOf(word.trimStart());
    } else width += widthOf(word);
    end += word.length;
  }
  return [
    ...wrapped,
    joinLines([wrapped.length === 0 ? "" : indent, sliceLine(whole, start, end)]),
  ];
}

/** Marks, joiners, and the vowels and finals of decomposed Korean, which share the columns of the previous character. */
const MARKS = /[\p{Mn}\p{Me}\u1160-\u11ff\u200b-\u200d\ud7b0-\ud7ff\ufe00-\ufe0f]/gu;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}/gu;

/** The columns of a text on a terminal: none for marks, two for East Asian characters and emoji. */
export function widthOf(text: string): number {
  const visible = text.replace(MARKS, "");
  return Array.from(visible).length + (visible.match(WIDE)?.length ?? 0);
}

/** The text, cut at its end to fit with a `…`. */
export const cutToColumns = (text: string, columns: number): string =>
  widthOf(text) <= columns ? text : `${text.slice(0, endOfStart(text, columns - 1))}…`;

/** The text, cut in its middle to fit with a `…`: names differ at both ends. */
export function cutInMiddle(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const tailColumns = Math.floor((columns - 1) / 2);
  const head = text.slice(0, endOfStart(text, columns - 1 - tailColumns));
  return `${head}…${text.slice(startOfEnd(text, tailColumns))}`;
}

/** The end of the longest start of a text that fits the columns. */
function endOfStart(text: string, columns: number): number {
  let width = 0;
  let end = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    end += character.length;
  }
  return end;
}

/** The start of the longest end of a text that fits the columns. A mark stays with its character. */
function startOfEnd(text: string, columns: number): number {
  let width = 0;
  let at = text.length;
  let start = at;
  for (const character of Array.from(text).reverse()) {
    const own = widthOf(character);
    width += own;
    if (width > columns) break;
    at -= character.length;
    if (own > 0) start = at;
  }
  return start;
}

/**
 * Characters that could drive a terminal, or reorder or hide text: C0 except line feed and tab, DEL, C1, line ends that only
 * some programs know, bidi marks, embeddings and isolates, format characters without a width (except those that join letters and
 * emoji), tags, lone surrogates.
 */
const HARMFUL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu;

/**
 * Makes hostile text harmless and visible: C0 and DEL become their pictures (`␛`), all else `<U+202E>`. Line ends (CR LF as one
 * line feed) and tabs stay.
 */
export const cleanForTerminal = (text: string): string =>
  text.replaceAll("\r\n", "\n").replace(HARMFUL, pictureOf);

/** The same for several lines, each of which may end as in CSV, with a carriage return and a line feed. */
export const cleanLines = (text: string): string =>
  text.replace(HARMFUL, (character, at: number) =>
    character === "\r" && (at + 1 === text.length || text[at + 1] === "\n")
      ? character
      : pictureOf(character),
  );

/** Hostile text as one line: line ends become `↵`. The indent stays. */
export function cleanLine(text: string): string {
  const [first = "", ...others] = text.split(/[\n\r\u0085\u2028\u2029]+/);
  const parts = others.map((part) => part.trim()).filter((part) => part !== "");
  return cleanForTerminal([first, ...parts].join(" ↵ "));
}

/** A message of ours with possibly several lines. It indents those after the first, so that none looks like another message. */
export const cleanMessage = (text: string): string =>
  cleanForTerminal(text.replace(/\n(?! {2})/g, "\n  "));

function pictureOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : escapeOf(character);
}

const escapeOf = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;

/** Invisible characters and unusual blanks; not space, tab and line feed. */
const HIDDEN = /(?![ \t\n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Text for a person's decision, letter for letter: each invisible character becomes `<U+00AD>`. */
export const showHidden = (text: string): string => text.replace(HIDDEN, escapeOf);

export const quoteOnce = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A name as one word of a shell, for a command to copy. Programs choose names too, and in `"$(…)"` a shell runs a command. */
export const quoteForShell = (name: string): string =>
  /[$`!\\"]/.test(name) ? quoteOnce(name) : `"${name}"`;

/** A value as one line of JSON, with characters escaped that could drive a terminal; it parses to the same value. */
export const jsonForTerminal = (value: unknown): string => escapeInJson(JSON.stringify(value));

/** The same for serialised JSON. */
export const escapeInJson = (json: string): string =>
  json.replace(HARMFUL, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );

/** Text that Postgres accepts: without NUL, and with U+FFFD for each lone surrogate. */
export function cleanForDatabase(text: string): string {
  const withoutNul = text.includes("\0") ? text.replaceAll("\0", "") : text;
  // Native, and returns the same string if there is nothing to replace.
  return toUSVString(withoutNul);
}
