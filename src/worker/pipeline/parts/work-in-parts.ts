import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { aboutFile, condenseGroups, isOverflow } from "./condense-groups.ts";
import type { LayerRun } from "./condense-groups.ts";
import { evidenceOf, groupToFit, halve, leavesOf, promptLength } from "./part-node.ts";
import type { PartEvidence, PartNode } from "./part-node.ts";
import { FEWEST_ROOM } from "./room-for-evidence.ts";

/** Work on one file that may be longer than a prompt. */
export type PartsRun<Done extends { readonly kind: string }> = LayerRun & {
  /** UTF-16 units of evidence that fit one prompt; Infinity without a window. */
  readonly room: number;
  readonly model: string;
  /** The outcome, from the whole file (`parts` 1) or from what was made of so many parts of it. */
  askWhole(whole: PartEvidence, parts: number): Promise<Done | Refusal>;
};

/**
 * Asks about a file at once if it fits the model's window; else part by part, in order and with nothing left out, and
 * then about what was made of the parts, in as many layers as it takes. Each node goes on record with the span that it
 * covers. A part that overflows all the same, because its text is dense, is halved and asked about again. Parts run
 * one after another: a local model serves one request at a time, and a host that serves more has other jobs to take.
 *
 * Refusals: those of `askPart` and `askWhole`, CONTEXT_OVERFLOW (not even two nodes fit), EVIDENCE_NOT_ACQUIRED (the
 * model finds nothing in any part). A refusal of one part is a refusal of the whole, which would not be covered.
 */
export async function workInParts<Done extends { readonly kind: string }>(
  plan: PartsRun<Done>,
): Promise<Done | Refusal> {
  const run = { ...plan, room: Math.max(plan.room, FEWEST_ROOM) };
  const leaves = leavesOf(run.reading, run.room);
  if (leaves.length > 1) {
    return fromGroups(
      run,
      leaves.map((leaf) => [leaf]),
    );
  }
  const answer = await run.askWhole(evidenceOf(leaves, aboutFile(run)), 1);
  const halves = isOverflow(answer) ? halve(leaves) : null;
  return halves === null ? answer : fromGroups(run, halves);
}

async function fromGroups<Done extends { readonly kind: string }>(
  run: PartsRun<Done>,
  groups: readonly (readonly PartNode[])[],
): Promise<Done | Refusal> {
  const nodes = await condenseGroups(run, groups);
  return "kind" in nodes ? nodes : combine(run, nodes, nodes.length);
}

async function combine<Done extends { readonly kind: string }>(
  run: PartsRun<Done>,
  nodes: readonly PartNode[],
  parts: number,
): Promise<Done | Refusal> {
  if (nodes.every(({ words }) => words === null)) return nothingIn(run, parts);
  const length = promptLength(nodes);
  const whole = evidenceOf(nodes, aboutFile(run));
  const answer = length <= run.room ? await run.askWhole(whole, parts) : null;
  if (answer !== null && !isOverflow(answer)) return answer;
  const groups = groupToFit(nodes, answer === null ? run.room : Math.floor(length / 2));
  if (groups.length >= nodes.length) return tooSmall(run);
  const merged = await condenseGroups(run, groups);
  if ("kind" in merged) return merged;
  return merged.length < nodes.length ? combine(run, merged, parts) : tooSmall(run);
}

const tooSmall = ({ model, reading }: Pick<PartsRun<never>, "model" | "reading">): Refusal =>
  refuse(
    "CONTEXT_OVERFLOW",
    `The window of "${model}" is too small to combine the parts of ${reading.path}. Raise model.num_ctx.`,
  );

const nothingIn = ({ reading }: Pick<LayerRun, "reading">, parts: number): Refusal =>
  refuse(
    "EVIDENCE_NOT_ACQUIRED",
    `The model found nothing to go by in any of the ${parts} parts of ${reading.path}.`,
  );
