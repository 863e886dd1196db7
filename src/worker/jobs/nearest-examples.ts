import type { LabelExample } from "../../shared/job/label-examples.ts";
import { quoteName } from "../evidence/fence.ts";
import { charsIn } from "../models/model.ts";
import type { Offload, PureWork } from "../offload/offload.ts";
import { contentStems } from "../text/content-words.ts";
import { cosineOf, weighWords } from "../text/word-vectors.ts";

type ExamplesForPrompt = {
  readonly examples: readonly LabelExample[];
  readonly labels: readonly string[];
  /** The text of the document to label. */
  readonly text: string;
  /** UTF-16 units of all lines. */
  readonly room: number;
};

/** The share of the room that a prompt has for evidence, and the upper limit. */
const ROOM = { share: 0.25, mostChars: 6_000 };

/**
 * The examples that a prompt shows, as lines; empty without any.
 * @param room UTF-16 units that evidence would have without them
 */
export async function examplesForPrompt(
  { examples, labels, text }: Omit<ExamplesForPrompt, "room">,
  room: number,
  { offload, signal }: { readonly offload: Offload; readonly signal: AbortSignal },
): Promise<string> {
  if (examples.length === 0) return "";
  const share = Math.max(0, Math.min(ROOM.mostChars, Math.floor(room * ROOM.share)));
  const compared = text.slice(0, COMPARED_CHARS);
  const input = { examples, labels, text: compared, room: share };
  return offload(NEAREST_EXAMPLES, input, { chars: charsIn(examples) + compared.length, signal });
}

const MOST_A_LABEL = 3;
const MOST_CHARS_EACH = 500;
/** The beginning of a document shows what kind it is. */
const COMPARED_CHARS = 16_000;

/**
 * Lines of examples for a prompt, each with a label and the beginning of a text: for each label the examples that share most
 * words with the document, the nearest of every label before the second of any. Deterministic.
 */
export function nearestExamples({ examples, text, labels, room }: ExamplesForPrompt): string {
  const ranked = rankByNearness(examples, text);
  const ofLabels = labels.map((label) => ranked.filter((example) => example.label === label));
  const inTurn = Array.from({ length: MOST_A_LABEL }, (_, turn) => {
    const next = new Set(ofLabels.map((ofLabel) => ofLabel[turn]));
    return ranked.filter((example) => next.has(example));
  });
  const shown = new Map<LabelExample, string>();
  let left = room;
  for (const example of inTurn.flat()) {
    const line = lineOf(example);
    if (line.length >= left) continue;
    left -= line.length + 1;
    shown.set(example, line);
  }
  return ofLabels.flatMap((ofLabel) => ofLabel.flatMap((one) => shown.get(one) ?? [])).join("\n");
}

/** Nearest first; equally near examples in the given order. */
function rankByNearness(examples: readonly LabelExample[], text: string): readonly LabelExample[] {
  const words = examples.map((example) => contentStems(example.text));
  const vectorOf = weighWords(words);
  const document = vectorOf(contentStems(text));
  return examples
    .map((example, at) => ({ example, near: cosineOf(vectorOf(words[at] ?? []), document) }))
    .sort((one, other) => other.near - one.near)
    .map(({ example }) => example);
}

/** One line in quotes: the text of an example can't close anything in the prompt. */
function lineOf({ text, label }: LabelExample): string {
  const begun = text.length <= MOST_CHARS_EACH ? text : `${beginningOf(text)} …`;
  return `- ${quoteName(label)}: ${quoteName(begun)}`;
}

/** Cuts at the end of a word, if there is any. */
function beginningOf(text: string): string {
  const cut = text.slice(0, MOST_CHARS_EACH);
  return (/^(.+)\s/s.exec(cut)?.[1] ?? cut).toWellFormed();
}

const NEAREST_EXAMPLES: PureWork<ExamplesForPrompt, string> = {
  home: import.meta.url,
  run: nearestExamples,
};
