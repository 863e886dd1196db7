import { countCodePoints, firstCodePoints, sliceCodePoints } from "../text/clean-text.ts";
import { THOUGHT_MARKS, TURN_MARKS } from "../text/thought-marks.ts";
import type { Reasoning } from "./model.ts";

type Marks = Omit<(typeof THOUGHT_MARKS)[number], "family">;

/** A channel of gpt-oss; its closing mark also ends an answer, so that mark alone proves no thinking. */
const ANALYSIS: Marks = { open: "<|channel|>analysis<|message|>", close: "<|end|>" };
const ANSWER_MARKS = ["<|start|>assistant", "<|channel|>final<|message|>", "<|return|>"];

type Split = { readonly text: string; readonly reasoning: readonly string[] };

/**
 * Separates a reply from the thinking in it: blocks between marks anywhere, and everything before a closing mark without an
 * opening one (some templates open it in the prompt). A block that is never closed takes the rest. The marks by which a
 * template ends a turn, and the text after them, are removed. Linear.
 */
export function splitReasoning(reply: string): Split {
  const reasoning: string[] = [];
  const take = (block: string): void => void reasoning.push(block);
  let text = THOUGHT_MARKS.reduce(
    (rest, marks) => withoutBlocks(afterFirstClose(rest, marks, take), marks, take),
    reply,
  );
  if (text.includes("<|channel|>")) {
    text = ANSWER_MARKS.reduce(
      (rest, mark) => rest.replaceAll(mark, ""),
      withoutBlocks(text, ANALYSIS, take),
    );
  }
  return { text: withoutTurnMarks(text).trim(), reasoning };
}

const sourceOf = (marks: readonly string[]): string =>
  marks.map((mark) => mark.replace(/[|[\]]/g, "\\$&")).join("|");
const TURN_BEGINS = sourceOf(TURN_MARKS.map(({ open }) => open));
const TURN_ENDS = sourceOf(TURN_MARKS.map(({ close }) => close));
/** Only at the end of a turn: in the middle of a text such a mark is discussed, or is struck-out text. */
const END_OF_TURN = new RegExp(`(?:${TURN_ENDS})(?=\\s{0,20}(?:$|${TURN_BEGINS}|${TURN_ENDS}))`);
const BEGINNING_OF_TURN = new RegExp(`^\\s{0,20}(?:${TURN_BEGINS})`);

/** The first turn of the text, up to the mark that ends it: the rest is a turn of another role. */
function withoutTurnMarks(text: string): string {
  const end = END_OF_TURN.exec(text)?.index ?? text.length;
  const turn = text.slice(0, end);
  return end === text.length ? turn : turn.replace(BEGINNING_OF_TURN, "");
}

type Take = (block: string) => void;

function afterFirstClose(text: string, { open, close }: Marks, take: Take): string {
  const firstClose = text.indexOf(close);
  if (firstClose === -1) return text;
  const firstOpen = text.indexOf(open);
  if (firstOpen !== -1 && firstOpen < firstClose) return text;
  take(text.slice(0, firstClose));
  return text.slice(firstClose + close.length);
}

function withoutBlocks(text: string, { open, close }: Marks, take: Take): string {
  let kept = "";
  let position = 0;
  for (;;) {
    const start = text.indexOf(open, position);
    if (start === -1) return kept + text.slice(position);
    kept += text.slice(position, start);
    const end = text.indexOf(close, start + open.length);
    take(text.slice(start + open.length, end === -1 ? undefined : end));
    if (end === -1) return kept;
    position = end + close.length;
  }
}

/** Of longer thinking only the beginning and the end are stored. */
const HEAD_CHARS = 48_000;
const TAIL_CHARS = 16_000;

/** All thinking in the given order, at most 64,000 characters of it; null if there is none. */
export function boundReasoning(pieces: readonly string[]): Reasoning | null {
  const text = pieces
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "")
    .join("\n\n");
  if (text === "") return null;
  const chars = countCodePoints(text);
  const left = chars - HEAD_CHARS - TAIL_CHARS;
  if (left <= 0) return { text, chars };
  const tail = sliceCodePoints(text, chars - TAIL_CHARS, chars);
  const head = firstCodePoints(text, HEAD_CHARS);
  return { text: `${head}\n[${left} characters left out]\n${tail}`, chars };
}
