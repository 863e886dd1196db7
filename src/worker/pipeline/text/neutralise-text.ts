import { foldLookAlikes } from "./look-alikes.ts";
import { markEndNotes, MARKS_OF_CITATION, MARKS_OF_PROTOCOL } from "./marks-of-protocol.ts";
import type { Finder } from "./marks-of-protocol.ts";
import { visibleText } from "./visible-text.ts";

/** Characters of the tags block and runs of variation selectors: they carry text that no reader sees. */
const SMUGGLED = /[\u{E0000}-\u{E0FFF}]|(?<=[\uFE00-\uFE0F])[\uFE00-\uFE0F]/gu;

/**
 * Evidence as a prompt may show it: whatever looks like our own protocol, or like the marks with which a chat template
 * parts its speakers, is changed visibly, so that a document can't open or close a fence, call the tool, forge a
 * citation or a footer, decline in the model's place, or speak in another role. Look-alikes of other scripts and what
 * shows nothing hide none of it. Twice gives the same as once. Linear in the text.
 */
export const neutraliseText = (text: string): string =>
  neutralise(text, [...MARKS_OF_PROTOCOL, ...MARKS_OF_CITATION, markEndNotes]);

/** The same for words of a model about the evidence: its citations stay, so that it can keep them. */
export const neutraliseDraft = (text: string): string => neutralise(text, MARKS_OF_PROTOCOL);

function neutralise(text: string, marks: readonly Finder[]): string {
  const shown = visibleText(text).replace(SMUGGLED, "");
  const folded = foldLookAlikes(shown);
  const edits = marks.flatMap((find) => find(folded, shown));
  return edits.length === 0 ? shown : apply(shown, edits);
}

function apply(text: string, edits: ReturnType<Finder>): string {
  const pieces: string[] = [];
  let position = 0;
  let last = -1;
  for (const { at, removes, inserts } of edits.toSorted((one, other) => one.at - other.at)) {
    if (at === last) continue;
    pieces.push(text.slice(position, at), inserts);
    position = at + removes;
    last = at;
  }
  pieces.push(text.slice(position));
  return pieces.join("");
}
