import type { Model } from "../../model/model.ts";
import type { ModelChoice } from "../../../shared/route-models.ts";

/** Characters of prompt that rules, names and footer take beside the evidence. */
const PROMPT_CHARS = 4_000;

/** Parts are cut no smaller than this, in UTF-16 units, whatever the estimate says: the host tells what overflows. */
export const FEWEST_ROOM = 1_200;

/**
 * UTF-16 units of evidence that surely fit a prompt of pass 2; may be negative, and is Infinity without a window.
 *
 * @param beside what else the prompt shows of this run: question, notes, passages
 */
export const roomForEvidence = (
  model: Model,
  { maxTokens }: Pick<ModelChoice, "maxTokens">,
  beside: readonly string[],
): number =>
  model.promptChars(maxTokens) -
  PROMPT_CHARS -
  beside.reduce((total, { length }) => total + length, 0);
