import { recordWrites, selectWritesTo } from "../../shared/store/index/write-backs.ts";
import type { ExtractedFile, NewWrite, WriteBack } from "../../shared/store/index/write-backs.ts";
import { numberOf } from "../sync/paperless.ts";
import { GONE, lastDescription, createNamed, readDocument } from "./documents.ts";
import { decidedTargets, isRejected } from "./decided-targets.ts";
import { decideWrite, doubtOf, evidenceName, targetsOf, withheld } from "./plan-writes.ts";
import type { Decision, Basis, Target } from "./plan-writes.ts";
import { TAKEN, withDocument } from "./with-document.ts";
import { keyOf, settleWrites } from "./settle-writes.ts";
import type { End, OpenedSource } from "./settle-writes.ts";

/** A file of a mirror, and its extraction. */
export type MirroredExtraction = ExtractedFile & {
  readonly source: string;
  readonly remoteId: string;
};

export type BatchToWrite = {
  readonly batchId: string;
  readonly name: string;
  readonly mode: "write" | "dry run";
};

/** The outcome of a value. */
export type ValueEnd = End &
  Pick<Target, "kind" | "name"> & { readonly pointer: string; readonly value: unknown };

/**
 * Writes the values of one extraction that are supported, or that a person decided on, to its document, with their evidence;
 * records what it withholds. It leaves what an earlier run wrote or undid, and finishes what an earlier run began.
 * @throws Failure as requestPlace
 */
export async function writeExtraction(
  source: OpenedSource,
  file: MirroredExtraction,
  batch: BatchToWrite,
): Promise<readonly ValueEnd[]> {
  if (batch.mode === "dry run") return writeClaimed(source, file, batch);
  const ends = await withDocument(source.db, file, () => writeClaimed(source, file, batch));
  return ends ?? targetsIn(source, file, []).map((one) => valueEnd(one, TAKEN));
}

const targetsIn = (
  { settings }: OpenedSource,
  { bindings }: MirroredExtraction,
  known: readonly WriteBack[],
): readonly Target[] => decidedTargets(targetsOf(bindings, settings), known);

async function writeClaimed(
  source: OpenedSource,
  file: MirroredExtraction,
  batch: BatchToWrite,
): Promise<readonly ValueEnd[]> {
  const known = await selectWritesTo(source.db, batch.batchId, file);
  const targets = targetsIn(source, file, known);
  const { ends, open } = knownEnds(targets, known);
  const begun = known.filter(({ state }) => state === "intended");
  const isDue = open.length + begun.length > 0;
  const basis = isDue ? await readDocumentState(source, file, batch) : undefined;
  const plan = await planWrites(source, file, batch, { open, basis });
  for (const [target, decision] of plan) ends.set(target, endOf(decision));
  if (batch.mode === "write") {
    if (basis !== undefined) {
      const noted = await recordWrites(source.db, batch.batchId, newWrites(file, plan));
      const settled = await settleWrites(source, [...begun, ...noted], basis);
      for (const target of targets) {
        const end = settled.get(keyOf(target));
        if (end !== undefined) ends.set(target, end);
      }
    }
    await noteWithheld(source, file, batch, ends);
  }
  return targets.map((one) => valueEnd(one, ends.get(one) ?? { state: "pending", reason: null }));
}

/** Reads a document, now and as it was when the file was read; undefined if it is gone. */
async function readDocumentState(
  { api, names, signal }: OpenedSource,
  { remoteId, description, bindings, readSha256 }: MirroredExtraction,
  { name: batch }: BatchToWrite,
): Promise<FoundDocument | undefined> {
  const document = await readDocument(api, numberOf(remoteId), signal);
  if (document === undefined) return undefined;
  const seen = lastDescription(description, document, names);
  return { document, seen, bindings, readSha256: readSha256 ?? "", batch };
}

type FoundDocument = Omit<Basis, "names" | "settings">;

const valueEnd = ({ kind, name, binding: { pointer }, value }: Target, end: End): ValueEnd => ({
  ...{ kind, name, pointer, value },
  ...end,
});

/** The outcomes that are known without the document, and the values that are still open. */
function knownEnds(targets: readonly Target[], known: readonly WriteBack[]) {
  const rows = new Map(known.map((row) => [keyOf(row), row]));
  const ends = new Map<Target, End>();
  const open: Target[] = [];
  for (const target of targets) {
    const row = rows.get(keyOf(target));
    const doubt = doubtOf(target);
    if (row?.state === "intended") ends.set(target, { state: "pending", reason: "it was begun" });
    else if (row !== undefined && row.state !== "withheld")
      ends.set(target, { state: row.state, reason: row.reason });
    else if (isRejected(target, row))
      ends.set(target, {
        state: "withheld",
        reason: `${row?.decidedBy ?? target.binding.decided_by ?? ""} rejected it`,
      });
    else if (doubt === undefined) open.push(target);
    else ends.set(target, { state: "withheld", reason: doubt, asks: true });
  }
  return { ends, open };
}

function staleReason(file: ExtractedFile): string | undefined {
  if (file.sha256 !== file.readSha256)
    return "the original was read in another version; extract it again";
  return file.isChanged
    ? "somebody has changed the document since it was read; extract it again"
    : undefined;
}

function endOf(decision: Decision): End {
  if (decision.kind === "write") return { state: "written", reason: null };
  if (decision.kind === "stands") return { state: "stands", reason: null };
  const { reason, asks } = decision;
  return { state: "withheld", reason, ...(asks ? { asks } : {}) };
}

type Plan = readonly (readonly [Target, Decision])[];

/** One after the other, because an object created for one value may serve the next. */
async function planWrites(
  source: OpenedSource,
  file: MirroredExtraction,
  { mode }: BatchToWrite,
  { open, basis }: { readonly open: readonly Target[]; readonly basis: FoundDocument | undefined },
): Promise<Plan> {
  const withholdAll = (why: string): Plan => open.map((target) => [target, withheld(why)]);
  if (basis === undefined) return withholdAll(GONE);
  const reason = staleReason(file);
  if (reason !== undefined) return withholdAll(reason);
  const plan: (readonly [Target, Decision])[] = [];
  const decide = (target: Target): Decision => decideWrite(target, { ...basis, ...source });
  for (const target of open) {
    const planned = decide(target);
    const problem = mode === "write" ? await addMissing(source, planned) : undefined;
    // Decides once more, with the id of the created object.
    plan.push([target, problem === undefined ? decide(target) : withheld(problem)]);
  }
  return plan;
}

/** @returns why it could not be created */
async function addMissing(source: OpenedSource, decision: Decision): Promise<string | undefined> {
  if (decision.kind !== "write") return undefined;
  for (const { missing } of [decision.evidence, decision.value]) {
    if (missing === null) continue;
    const names = await createNamed(source, source.names, missing);
    if (typeof names === "number")
      return `paperless-ngx answered ${names} when ${JSON.stringify(missing.name)} was to be made (texts of any length need its version 2.19)`;
    source.names = names;
  }
  return undefined;
}

const newWrites = (
  { source, remoteId, jobId, readSha256: sha256 }: MirroredExtraction,
  plan: Plan,
): readonly NewWrite[] =>
  plan.flatMap(([target, decision]): NewWrite[] => {
    if (decision.kind !== "write") return [];
    const { pointer, value } = target.binding;
    const row = {
      jobId,
      source,
      remoteId,
      pointer,
      sha256,
      state: "intended",
      reason: null,
      asks: false,
    } as const;
    const { after } = decision.evidence;
    const words = after !== null && "value" in after ? after.value : null;
    return [
      { ...row, value, ...sentOf(decision.value) },
      { ...row, value: words, ...sentOf(decision.evidence), name: evidenceName(target) },
    ];
  });

type Sent = Extract<Decision, { readonly kind: "write" }>["value"];
const sentOf = ({ kind, name, before, after }: Sent) => ({ kind, name, before, after });

async function noteWithheld(
  { db }: OpenedSource,
  { source, remoteId, jobId, readSha256: sha256 }: MirroredExtraction,
  { batchId }: BatchToWrite,
  ends: ReadonlyMap<Target, End>,
): Promise<void> {
  const nothing = { before: null, after: null, sha256 };
  const rows = [...ends].flatMap(
    ([{ kind, name, binding }, { state, reason, asks }]): NewWrite[] => {
      const { pointer, value } = binding;
      const of = { jobId, source, remoteId, kind, name, pointer, value };
      return state === "withheld"
        ? [{ ...of, ...nothing, state, reason, asks: asks === true }]
        : [];
    },
  );
  if (rows.length > 0) await recordWrites(db, batchId, rows);
}
