import type { Candidate } from "./candidates.ts";
import { isShowable } from "./is-showable.ts";
import type { Sentence } from "./split-sentences.ts";

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
export function leadIn(
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
