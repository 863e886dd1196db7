import type { TextSpan } from "../spans.ts";
import { cutBlocks } from "./cut-blocks.ts";
import type { TextBlock, TextSentence } from "./cut-blocks.ts";
import { frameOf, withoutStruck } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { languageOf } from "../detect-language.ts";
import type { UnitLanguage } from "../detect-language.ts";
import { answerMark, questionIn } from "./questions.ts";

/** A sentence, an item of a list, a row of a table with its header, a heading, or a line that stands for itself. */
export type TextUnit = TextSpan & {
  readonly text: string;
  readonly block: TextBlock;
  /** Offset in the text of its block. */
  readonly at: number;
  readonly language: UnitLanguage | null;
  /** Why it does not state what its words say; null if it does. */
  readonly frame: Frame | null;
  /** Text to show before it: the question that it answers, or the heading or lead-in of its list or row. Null for prose. */
  readonly label: string | null;
};

/**
 * Cuts a text into its units, in order. Linear.
 * @param heading above the whole text
 */
export function cutUnits(text: string, heading: string | null): TextUnit[] {
  const language = languageOf(text, null);
  const blocks = cutBlocks(text);
  let asked: string | null = null;
  return blocks.flatMap((block, at) => {
    const above = block.headings.at(-1) ?? heading;
    const below = blocks[at + 1];
    const next = below?.kind === "text" || below?.kind === "item" ? below.text : null;
    const question = asked ?? (above === null ? null : questionIn(above));
    asked = block.sentences.length === 1 && isProse(block) ? questionIn(block.text) : null;
    return unitsOf(block, { language, heading: above, next, asked: question });
  });
}

export const isProse = ({ kind }: TextBlock): boolean => kind === "text" || kind === "item";

type Around = {
  readonly language: UnitLanguage | null;
  readonly heading: string | null;
  /** The text of the block below. */
  readonly next: string | null;
  /** The question above it. */
  readonly asked: string | null;
};

function unitsOf(block: TextBlock, { language: around, heading, next, asked }: Around): TextUnit[] {
  const leadIn = block.kind === "item" && block.around !== "" ? block.around : null;
  const list = { heading, leadIn };
  if (block.kind === "row") {
    const { text } = block;
    const frame = frameOf({ ...list, text, kind: "row", mark: "", next: null, language: around });
    return [
      { ...block, block, at: 0, language: around, frame, label: frame === null ? null : heading },
    ];
  }
  let question = isProse(block) ? asked : null;
  return block.sentences.flatMap((sentence, at): TextUnit[] => {
    const { start, end, text, at: place } = question === null ? sentence : withoutMark(sentence);
    const language = languageOf(text, around);
    const kind = block.kind === "item" ? (at > 0 ? "rest" : "item") : block.kind;
    const below = block.sentences[at + 1]?.text ?? next;
    const frame = frameOf({
      ...{ ...list, text, kind, mark: at === 0 ? block.mark : "", language },
      next: below === null ? null : below.slice(answerMark(below).length),
    });
    // A box frames its item by itself.
    const isBox = /\[ ?\]/.test(block.mark);
    const own = at === 0 && isProse(block) ? questionIn(text) : null;
    const label =
      own === null ? (question ?? (isBox ? null : labelOf({ kind, frame, text }, list))) : null;
    question = own ?? question;
    const unit = { start, end, text, block, at: place, language, label };
    const left = frame === null ? withoutStruck(text) : text;
    if (left === text) return [{ ...unit, frame }];
    return [
      { ...unit, text: left, frame },
      { ...unit, frame: "struck" },
    ];
  });
}

/** "A: At ten." is "At ten." */
function withoutMark(sentence: TextSentence): TextSentence {
  const { length } = answerMark(sentence.text);
  const { start, at, text } = sentence;
  return { ...sentence, start: start + length, at: at + length, text: text.slice(length) };
}

/** A unit behind its label, as an answer shows it: "Not covered: The piano." */
export const saidWithLabel = ({ label, text }: Pick<TextUnit, "label" | "text">): string =>
  label === null ? text : `${label}${/[?？]\S{0,2}$/u.test(label) ? "" : ":"} ${text}`;

/** Longer items, and those that end with a stop, are understood without the heading of their list. */
const MOST_FRAGMENT_WORDS = 9;

/** The lead-in of its list, or its heading, if the item says too little or the opposite without it. */
function labelOf(
  { kind, frame, text }: Pick<TextUnit, "frame" | "text"> & { readonly kind: string },
  { heading, leadIn }: { readonly heading: string | null; readonly leadIn: string | null },
): string | null {
  if (kind !== "item" && kind !== "line") return null;
  const label = leadIn !== null && /[:：]$/u.test(leadIn) ? leadIn.slice(0, -1) : heading;
  const isFragment =
    !/[.!?。]$/u.test(text) &&
    text.split(" ", MOST_FRAGMENT_WORDS + 1).length <= MOST_FRAGMENT_WORDS;
  return frame !== null || (kind === "item" && isFragment) ? label : null;
}
