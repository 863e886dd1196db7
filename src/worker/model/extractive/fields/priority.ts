import { deadlineIn } from "./dates-in-text.ts";
import { sentencesOf } from "./document-items.ts";
import type { DocumentItem } from "./document-items.ts";

/** Somebody is to act now. "Immediately" and the like are in every set of instructions, and count at its head alone. */
const URGENT =
  /\b(?:urgent(?:ly)?|asap|as soon as possible|overdue|final (?:notice|reminder|demand)|last reminder|payment reminder|dringend|eilt|überfällig|(?:letzte|zweite|dritte) mahnung|unverzüglich)(?!\p{L})/iu;
const URGENT_AT_HEAD =
  /\b(?:emergency|danger(?:ous)?|warning|alarm|injur(?:ed|y|ies)|immediate(?:ly)?|notfall|gefahr|warnung|verletzt|sofort)(?!\p{L})/iu;
const NOBODY_ACTS =
  /\b(?:for (?:your )?information(?: only)?|fyi|no action (?:is )?(?:needed|required)|newsletter|zur (?:kenntnis|information)|archived?|closed|erledigt)(?!\p{L})/iu;
const OPEN_TASK = /\b(?:todo|to do|action item|please|must|has to|bitte|muss|aufgabe)(?!\p{L})/iu;

const HEAD_ITEMS = 3;

/** How soon somebody has to act, by words and dates alone. */
export function priorityOf(items: readonly DocumentItem[]): "high" | "normal" | "low" {
  const head = items.slice(0, HEAD_ITEMS).map(({ text }) => text);
  if (
    items.some(({ text }) => URGENT.test(text)) ||
    head.some((text) => URGENT_AT_HEAD.test(text))
  ) {
    return "high";
  }
  if (head.some((text) => NOBODY_ACTS.test(text))) return "low";
  const isOpen = items.some(
    (item) =>
      item.mark === "open" ||
      sentencesOf(item).some((text) => OPEN_TASK.test(text) || deadlineIn(text) !== null),
  );
  return isOpen ? "normal" : "low";
}
