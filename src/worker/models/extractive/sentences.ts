import { withoutNoteMarks } from "../../text/clean-text.ts";
import { cutToFit } from "../../text/sentences.ts";
import type { TextBlock } from "../../text/units/cut-blocks.ts";
import { cutUnits, isProse } from "../../text/units/cut-units.ts";
import type { TextUnit } from "../../text/units/cut-units.ts";

/** A part of a text that can be shown as it is. */
export type Sentence = {
  /** Verbatim, except that white space becomes one blank, and that a table row includes the names of its columns. */
  readonly text: string;
  /** A row of a table, a line of JSON and a member of a mail header are facts rather than sentences. */
  readonly kind: "sentence" | "line" | "header";
  /** Words around it that state its subject: headings above it, the head of its table. */
  readonly context: string;
  /** The two highest headings above it. */
  readonly section: string;
  /** Number of its paragraph; sentences of one paragraph are consecutive. */
  readonly paragraph: number;
  /** Its whole paragraph, verbatim in the same sense as `text`. */
  readonly block: string;
  /** Its offset in the paragraph. */
  readonly start: number;
} & Pick<TextUnit, "frame" | "label">;

/** A longer part is text without punctuation; it is shown in pieces. */
const MAX_CHARS = 700;

/**
 * The sentences of a text, in order, without headings, code and frontmatter.
 * @param heading a heading above the whole text
 */
export function splitSentences(text: string, heading: string | null): Sentence[] {
  let paragraph = 0;
  let before: TextBlock | null = null;
  let sentences: ReadonlyMap<number, string> = new Map();
  return cutUnits(text, heading).flatMap((unit) => {
    const { block, frame, label } = unit;
    const { kind, headings, around } = block;
    if (block !== before) {
      paragraph += 1;
      sentences = new Map(block.sentences.map(({ at, text }) => [at, text]));
    }
    before = block;
    if (kind === "heading" || kind === "code" || kind === "about" || frame === "struck") return [];
    const beside = kind === "row" || kind === "line" ? [around] : label === null ? [] : [label];
    const context = [...headings, ...beside].join(" ");
    const section = headings.slice(0, 2).join(" > ");
    const stands = { frame, label, context, section, paragraph };
    // A unit ends before words that are struck out, and is shown to the end of its sentence.
    const whole = { at: unit.at, text: sentences.get(unit.at) ?? unit.text };
    return shownParts(block, whole).map((said) => ({ ...said, ...stands }));
  });
}

/** The texts that can be shown of a block. */
export const shownSentences = (block: TextBlock): string[] =>
  (isProse(block) ? block.sentences : [{ at: 0, text: block.text }]).flatMap((sentence) =>
    shownParts(block, sentence).map(({ text }) => text),
  );

function shownParts(
  block: TextBlock,
  { at, text: words }: Pick<TextUnit, "at" | "text">,
): Pick<Sentence, "text" | "kind" | "block" | "start">[] {
  const text = block.kind === "row" ? formatRow(block) : block.text;
  const kind = isProse(block) ? "sentence" : block.kind === "header" ? "header" : "line";
  const whole = isProse(block)
    ? { start: at, end: at + words.length }
    : { start: 0, end: text.length };
  return cutToFit(text, whole, MAX_CHARS)
    .map((span) => {
      const { start, end } = withoutNoteMarks(text, span);
      const said = text.slice(start, end);
      return {
        text: isProse(block) ? said.replace(SIGNATURE, "") : said,
        kind,
        block: text,
        start,
      } as const;
    })
    .filter((said) => said.text.length > 1);
}

/** A signature: a short name after a dash behind the last full stop. Behind a quotation the name says who spoke, and stays. */
const SIGNATURE = /(?<=[.!?…)]) [—–-]{1,2} \p{Lu}[\p{L}.]{0,19}(?: \p{Lu}[\p{L}.]{0,19}){0,2}$/u;

/** A row in readable form: its first cell, then each further cell after the name of its column. Cells are verbatim. */
function formatRow({ cells, names }: TextBlock): string {
  const [label = "", ...rest] = cells;
  const said = rest.flatMap((cell, index) => {
    const column = names[index + 1] ?? "";
    if (cell === "") return [];
    return [column === "" ? cell : `${column}: ${cell}`];
  });
  return [label, said.join("; ")].filter((part) => part !== "").join(" — ");
}
