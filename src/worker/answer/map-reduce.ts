import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ModelChoice } from "../../shared/job/route-models.ts";
import type { RunTrace } from "../run-trace.ts";
import { placesWithin } from "../documents/places.ts";
import type { Places } from "../documents/places.ts";
import { partsFooter, scopeFooter } from "../evidence/footer.ts";
import type { CitableBlock } from "../evidence/number.ts";
import type { AdmittedEvidence, Reading } from "../evidence/types.ts";
import { DECLINED } from "../models/model.ts";
import type { Model } from "../models/model.ts";
import { firstCodePoints } from "../text/clean-text.ts";
import {
  assertCovers,
  evidenceOf,
  groupParts,
  halve,
  leavesOf,
  merge,
  promptLength,
  recordOf,
} from "./parts.ts";
import type { AboutFile, PartEvidence, PartNode } from "./parts.ts";

/** Work on one file that may be longer than a prompt. */
type PartsRun<Done extends { readonly kind: string }> = LayerRun & {
  /** UTF-16 units of evidence that fit one prompt; Infinity without a window. */
  readonly room: number;
  readonly model: string;
  /** Gives the outcome, from the whole file (`parts` 1) or from the nodes made of so many parts of it. */
  askWhole(whole: PartEvidence, parts: number): Promise<Done | Refusal>;
};

/**
 * Asks about a file at once if it fits the model's window; else part by part, in order and with nothing left out, and then
 * about the results of the parts, in as many layers as needed. Each node is recorded with the span that it covers. A part that
 * still overflows, because its text is dense, is halved and asked about again. Parts run one after another: a local model
 * serves one request at a time, and a host that serves more has other jobs to run.
 *
 * Refusals: those of `askPart` and `askWhole`, CONTEXT_OVERFLOW (not even two nodes fit), EVIDENCE_NOT_ACQUIRED (the model
 * finds nothing in any part). A refusal of one part refuses the whole, because the answer would not cover the file.
 */
export async function mapReduce<Done extends { readonly kind: string }>(
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
  const answer = await run.askWhole(evidenceOf(leaves, fileFacts(run)), 1);
  const halves = isOverflow(answer) ? halve(leaves) : null;
  return halves === null ? answer : fromGroups(run, halves);
}

async function fromGroups<Done extends { readonly kind: string }>(
  run: PartsRun<Done>,
  groups: readonly (readonly PartNode[])[],
): Promise<Done | Refusal> {
  const nodes = await condenseGroups(run, groups);
  return "kind" in nodes ? nodes : combineNodes(run, nodes, nodes.length);
}

async function combineNodes<Done extends { readonly kind: string }>(
  run: PartsRun<Done>,
  nodes: readonly PartNode[],
  parts: number,
): Promise<Done | Refusal> {
  if (nodes.every(({ words }) => words === null)) return refuseEmptyParts(run, parts);
  const length = promptLength(nodes);
  const whole = evidenceOf(nodes, fileFacts(run));
  const answer = length <= run.room ? await run.askWhole(whole, parts) : null;
  if (answer !== null && !isOverflow(answer)) return answer;
  const groups = groupParts(nodes, answer === null ? run.room : Math.floor(length / 2));
  if (groups.length >= nodes.length) return tooSmall(run);
  const merged = await condenseGroups(run, groups);
  if ("kind" in merged) return merged;
  return merged.length < nodes.length ? combineNodes(run, merged, parts) : tooSmall(run);
}

const tooSmall = ({ model, reading }: Pick<PartsRun<never>, "model" | "reading">): Refusal =>
  refuse(
    "CONTEXT_OVERFLOW",
    `The window of "${model}" is too small to combine the parts of ${reading.path}. Raise model.num_ctx.`,
  );

export const refuseEmptyParts = ({ reading }: Pick<LayerRun, "reading">, parts: number): Refusal =>
  refuse(
    "EVIDENCE_NOT_ACQUIRED",
    `The model found nothing to go by in any of the ${parts} parts of ${reading.path}.`,
  );

/** The dependencies of a layer, which makes a node of each group. */
type LayerRun = {
  readonly reading: Reading;
  readonly title: string | null;
  readonly trace: Pick<RunTrace, "part">;
  /** Asks the model about a part; refuses with EVIDENCE_NOT_ACQUIRED where the model finds nothing in it. */
  askPart(part: PartEvidence): Promise<PartWords | Refusal>;
};

/** The reply about a part, without footer and citations. */
type PartWords = { readonly kind: "passed"; readonly words: string };

/**
 * Makes one layer: a node for each group, in order, or for each half of a group that had to be halved. Each node is recorded. A
 * group in which the model finds nothing becomes a node without words; any other refusal of a group refuses the whole.
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

/** Adds the node of a group, or the nodes of its halves, to the layer. */
async function condenseGroup(
  run: LayerRun,
  group: readonly PartNode[],
  layer: PartNode[],
): Promise<Refusal | null> {
  const isEmpty = group.every(({ words }) => words === null);
  const answer = isEmpty ? null : await run.askPart(evidenceOf(group, fileFacts(run)));
  const halves = answer !== null && isOverflow(answer) ? halve(group) : null;
  if (halves !== null) return condenseEach(run, halves, layer);
  if (answer?.kind === "refused" && answer.code !== "EVIDENCE_NOT_ACQUIRED") {
    return { ...answer, message: `${placeOf(run, group)}: ${answer.message}` };
  }
  const node = merge(group, answer?.kind === "passed" ? answer.words : null);
  run.trace.part(recordOf(node, { path: run.reading.path, ordinal: layer.length }, DECLINED));
  layer.push(node);
  return null;
}

async function condenseEach(
  run: LayerRun,
  groups: readonly (readonly PartNode[])[],
  layer: PartNode[],
): Promise<Refusal | null> {
  for (const group of groups) {
    const refusal = await condenseGroup(run, group, layer);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** The facts that all pieces of one file share. */
export function fileFacts({
  reading: { path, sha256, text, charsReturned, charsFull, places },
  title,
}: Pick<LayerRun, "reading" | "title">): AboutFile {
  const about = { path, sha256, title, chars: charsFull };
  if (places === undefined) return about;
  const placesOf = (startChar: number, source: string): Places => {
    // Without surrogate pairs a code point is one UTF-16 unit.
    const isPlain = charsReturned === text.length;
    const start = isPlain ? startChar : firstCodePoints(text, startChar).length;
    return placesWithin(places, { start, end: start + source.length });
  };
  return { ...about, placesOf };
}

/** Whether the prompt did not fit the window. */
export const isOverflow = (answer: { readonly kind: string }): boolean =>
  answer.kind === "refused" && "code" in answer && answer.code === "CONTEXT_OVERFLOW";

function placeOf({ reading }: LayerRun, group: readonly PartNode[]): string {
  const { lineStart, lineEnd } = merge(group, null);
  return `Lines ${lineStart} to ${lineEnd} of ${reading.path}`;
}

/** The footer of the reply about a part: it names only as much of the file as the pieces cover. */
export function partFooter(
  file: Reading,
  pieces: readonly Pick<CitableBlock, "startChar" | "endChar">[],
): string {
  const charsReturned = pieces.reduce(
    (total, { startChar, endChar }) => total + endChar - startChar,
    0,
  );
  const part = { ...file, charsReturned, truncated: charsReturned < file.charsFull };
  return scopeFooter({ kind: "admitted", files: [part], passages: [], snapshotHash: "" });
}

/** The footer of an answer from all evidence that was read. It counts the parts in which files were worked through, if any. */
export function wholeFooter({
  files,
  passages,
  outputs = [],
  snapshotHash,
  parts,
}: Omit<AdmittedEvidence, "kind"> & { readonly parts: number }): string {
  const footerOf = (evidence: Partial<AdmittedEvidence>): string =>
    scopeFooter({ kind: "admitted", files: [], passages: [], snapshotHash, ...evidence });
  if (files.length === 0 || parts === 1) return footerOf({ files, passages, outputs });
  const ofFiles = partsFooter(footerOf({ files }), parts);
  if (passages.length + outputs.length === 0) return ofFiles;
  return `${ofFiles}; ${footerOf({ passages, outputs }).slice("Scope: ".length)}`;
}

/** Characters that rules, names and footer take in a prompt beside the evidence. */
const PROMPT_CHARS = 4_000;

/** The smallest size of a part, in UTF-16 units, whatever the estimate says: the host reports what overflows. */
export const FEWEST_ROOM = 1_200;

/**
 * UTF-16 units of evidence that certainly fit a prompt of pass 2; may be negative, and is Infinity without a window.
 *
 * @param beside the other texts of this run in the prompt: question, notes, passages
 */
export const roomForEvidence = (
  model: Model,
  { maxTokens }: Pick<ModelChoice, "maxTokens">,
  beside: readonly string[],
): number =>
  model.promptChars(maxTokens) -
  PROMPT_CHARS -
  beside.reduce((total, { length }) => total + length, 0);
