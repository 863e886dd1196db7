import type { Refusal } from "../../../shared/failure.ts";
import type { RunTrace } from "../../../shared/run-trace.ts";
import { DECLINED } from "../../model/model.ts";
import type { PassedReply } from "../../answer/check-reply.ts";
import { assertCovers, evidenceOf, halve, merge, recordOf } from "./part-node.ts";
import type { PartEvidence, PartNode } from "./part-node.ts";
import type { Reading } from "../../evidence/types.ts";

/** What making nodes of groups needs. */
export type LayerRun = {
  readonly reading: Reading;
  readonly title: string | null;
  readonly trace: RunTrace;
  /** What the model makes of a part; EVIDENCE_NOT_ACQUIRED where it finds nothing in it. */
  askPart(part: PartEvidence): Promise<PassedReply | Refusal>;
};

/**
 * One layer: a node for each group, in order, or for what a group had to be halved into; each goes on record. A group in
 * which the model finds nothing is a node without words; any other refusal of one is a refusal of all.
 */
export async function condenseGroups(
  run: LayerRun,
  groups: readonly (readonly PartNode[])[],
): Promise<PartNode[] | Refusal> {
  const layer: PartNode[] = [];
  const refusal = await condenseEach(run, groups, layer);
  if (refusal !== null) return refusal;
  assertCovers(layer, run.reading.charsReturned);
  return layer;
}

/** Adds what becomes of a group to its layer. */
async function condense(
  run: LayerRun,
  group: readonly PartNode[],
  layer: PartNode[],
): Promise<Refusal | null> {
  const isEmpty = group.every(({ words }) => words === null);
  const answer = isEmpty ? null : await run.askPart(evidenceOf(group, aboutFile(run)));
  const halves = answer !== null && isOverflow(answer) ? halve(group) : null;
  if (halves !== null) return condenseEach(run, halves, layer);
  if (answer?.kind === "refused" && answer.code !== "EVIDENCE_NOT_ACQUIRED") {
    return { ...answer, message: `${placeOf(run, group)}: ${answer.message}` };
  }
  const node = merge(group, answer?.kind === "passed" ? answer.words : null);
  run.trace.part(recordOf(node, layer.length, DECLINED));
  layer.push(node);
  return null;
}

async function condenseEach(
  run: LayerRun,
  groups: readonly (readonly PartNode[])[],
  layer: PartNode[],
): Promise<Refusal | null> {
  for (const group of groups) {
    const refusal = await condense(run, group, layer);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** What is the same for all pieces of one file. */
export const aboutFile = ({
  reading: { path, sha256 },
  title,
}: Pick<LayerRun, "reading" | "title">): Pick<Reading, "path" | "sha256"> & {
  readonly title: string | null;
} => ({ path, sha256, title });

/** Whether a prompt did not fit. */
export const isOverflow = (answer: { readonly kind: string }): boolean =>
  answer.kind === "refused" && "code" in answer && answer.code === "CONTEXT_OVERFLOW";

function placeOf({ reading }: LayerRun, group: readonly PartNode[]): string {
  const { lineStart, lineEnd } = merge(group, null);
  return `Lines ${lineStart} to ${lineEnd} of ${reading.path}`;
}
