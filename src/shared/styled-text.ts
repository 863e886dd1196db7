import { styleText } from "node:util";
import { cleanForTerminal } from "./terminal-text.ts";
import { widthOf } from "./text-width.ts";

/** What a word means to its reader; a terminal shows each in a colour. */
export type Style = keyof typeof COLORS;
const COLORS = {
  good: "green",
  caution: "yellow",
  bad: "red",
  active: "cyan",
  past: "gray",
} as const;

type Span = { readonly text: string; readonly style?: Style };

/** A line of text, parts of which are shown in colour where a terminal takes it. */
export type Line = string | readonly Span[];

const spansOf = (line: Line): readonly Span[] =>
  typeof line === "string" ? [{ text: line }] : line;

export const styled = (text: string, style: Style | undefined): Line =>
  style === undefined ? text : [{ text, style }];

/** Lines one after the other; without a style in them it is a text again. */
export function joined(parts: readonly Line[]): Line {
  const spans = parts.flatMap(spansOf);
  return spans.some(({ style }) => style !== undefined)
    ? spans.filter(({ text }) => text !== "")
    : spans.map(({ text }) => text).join("");
}

/** A template whose values keep their colours. */
export const line = (texts: TemplateStringsArray, ...values: readonly Line[]): Line =>
  joined(texts.flatMap((text, index) => [text, values[index] ?? ""]));

export const plainText = (styledLine: Line): string =>
  spansOf(styledLine)
    .map(({ text }) => text)
    .join("");

/** The same with each text changed, and no style. */
export const mapTexts = (styledLine: Line, change: (text: string) => string): Line =>
  joined(spansOf(styledLine).map((span) => [{ ...span, text: change(span.text) }]));

/** A part of a line, by offsets into its text. */
export function sliceLine(whole: Line, start: number, end: number): Line {
  let at = 0;
  const parts = spansOf(whole).map((span): Line => {
    const text = span.text.slice(Math.max(0, start - at), Math.max(0, end - at));
    at += span.text.length;
    return [{ ...span, text }];
  });
  return joined(parts);
}

/** The one place where text gets colour: what a terminal is to be sent. @param clean makes hostile text harmless */
export const renderLine = (
  whole: Line,
  color: "color" | "plain",
  clean: (text: string) => string,
): string =>
  spansOf(whole)
    .map(({ text, style }) =>
      style === undefined || color === "plain"
        ? clean(text)
        : // Whether a terminal takes it is decided already, and not by what Node thinks of stdout.
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

/** What is said of the state of a job, a run or a batch, in the colour of that state: `failed, attempt 2`. */
export const styledState = (state: string, text: string = state): Line =>
  styled(text, Object.hasOwn(STATE_STYLES, state) ? STATE_STYLES[state] : undefined);

const NARROWEST = 40;

/** Lines that no hostile text drives, broken between words where a terminal would break them anywhere. */
export const layOutLines = (
  lines: readonly Line[],
  mostColumns: number | undefined,
): readonly Line[] =>
  lines.flatMap((given) => {
    const clean = mapTexts(given, (text) => cleanForTerminal(text.replace(/[\r\n]+/g, " ↵ ")));
    return mostColumns === undefined ? [clean] : wrap(clean, Math.max(NARROWEST, mostColumns));
  });

/** Words with the blank before each. A command at the end is one of them: who copies it gets it in one piece. */
function wordsOf(text: string): readonly string[] {
  const command = /(?<=\S) nightdesk [a-z].*$/.exec(text);
  const words = text.slice(0, command?.index).split(/(?<=\S)(?= )/);
  return command === null ? words : [...words, command[0]];
}

/** What follows the first line hangs two columns deeper. */
function wrap(whole: Line, columns: number): readonly Line[] {
  const text = plainText(whole);
  if (widthOf(text) <= columns) return [whole];
  const indent = " ".repeat(Math.min((/^ */.exec(text)?.[0].length ?? 0) + 2, columns / 2));
  const wrapped: Line[] = [];
  let [start, end, width] = [0, 0, 0];
  for (const word of wordsOf(text)) {
    if (end > start && width + widthOf(word) > columns) {
      wrapped.push(joined([wrapped.length === 0 ? "" : indent, sliceLine(whole, start, end)]));
      start = end + (word.length - word.trimStart().length);
      width = indent.length + widthOf(word.trimStart());
    } else width += widthOf(word);
    end += word.length;
  }
  return [...wrapped, joined([wrapped.length === 0 ? "" : indent, sliceLine(whole, start, end)])];
}
