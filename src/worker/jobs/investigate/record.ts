import { hash } from "node:crypto";
import { hashJson } from "../../../shared/schema/json-value.ts";
import { isMcpTool } from "../../../shared/config/mcp-servers.ts";
import type { StepDetail, StoredStep } from "../../../shared/store/investigations/steps.ts";
import { isStale } from "../../evidence/gate.ts";
import type { Passage, Reading, ToolPrint } from "../../evidence/types.ts";
import type { ToolEvidence, ToolOutput } from "../../tools/tool.ts";
import { urlsFound } from "../../tools/web-search.ts";
import type { StepLog } from "./step-log.ts";

/** A call of a tool with its result, as prompts show it to the model. */
export type ToolAction = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The hash of name and arguments: equal calls have equal keys. */
  readonly key: string;
  readonly output: ToolOutput | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Numbers of the pieces of evidence in the result, including pieces that were known before. */
  readonly evidence: readonly number[];
  /** How many of these pieces were new. */
  readonly found: number;
  /** How many new URLs a search of the web returned: they are no evidence, but the search can continue there. */
  readonly leads: number;
};

/** A step in the form that the loop uses. */
export type RecordedStep = {
  readonly ordinal: number;
  readonly kind: StoredStep["kind"];
  readonly state: StoredStep["state"];
  readonly detail: StepDetail;
  readonly tool: ToolAction | null;
  readonly activeMs: number;
  readonly tokens: number;
};

/** A numbered piece that the answer may rest on. */
export type EvidenceItem = { readonly number: number; readonly evidence: FoundEvidence };

/** A piece of evidence; the output of a tool gets a label with the number of its step. */
type FoundEvidence =
  | Exclude<ToolEvidence, { readonly kind: "output" }>
  | { readonly kind: "output"; readonly output: ToolPrint };

/** Everything that an investigation has done, in order, and the evidence that it found. */
export type InvestigationRecord = {
  readonly steps: readonly RecordedStep[];
  readonly evidence: readonly EvidenceItem[];
  readonly nextOrdinal: number;
  add(step: Omit<RecordedStep, "tool"> & { readonly tool: NewAction | null }): RecordedStep;
};

type NewAction = Pick<ToolAction, "name" | "args" | "output" | "error">;

/** Opens the record with the stored steps. @throws TypeError if a stored output can't be read */
export function openRecord(stored: readonly StoredStep[]): InvestigationRecord {
  const steps: RecordedStep[] = [];
  const evidence: EvidenceItem[] = [];
  const numbers = new Map<string, number>();
  const urls = new Set<string>();

  const numberOf = (
    piece: ToolEvidence,
    call: { readonly name: string; readonly key: string; readonly step: number },
  ): { readonly number: number; readonly isNew: boolean } => {
    const key = evidenceKey(piece, call.key);
    const known = numbers.get(key);
    if (known !== undefined) return { number: known, isNew: false };
    const number = evidence.length + 1;
    numbers.set(key, number);
    evidence.push({ number, evidence: withLabel(piece, call) });
    return { number, isNew: true };
  };
  const actionOf = (given: NewAction, ordinal: number): ToolAction => {
    const before = shownSteps(steps).filter((step) => step.ordinal < ordinal);
    const key = callKey(given.name, given.args);
    const call = { name: given.name, key, step: before.length + 1 };
    const numbered = (given.output?.evidence ?? []).map((piece) => numberOf(piece, call));
    const leads = new Set(urlsFound(given).filter((url) => !urls.has(url)));
    for (const url of leads) urls.add(url);
    return {
      ...given,
      key,
      evidence: numbered.map(({ number }) => number),
      found: numbered.filter(({ isNew }) => isNew).length,
      leads: leads.size,
    };
  };
  const record: InvestigationRecord = {
    steps,
    evidence,
    get nextOrdinal() {
      return (steps.at(-1)?.ordinal ?? -1) + 1;
    },
    add({ tool, ...step }) {
      const added = { ...step, tool: tool === null ? null : actionOf(tool, step.ordinal) };
      const at = steps.findIndex(({ ordinal }) => ordinal === step.ordinal);
      if (at === -1) steps.push(added);
      else steps[at] = added;
      return added;
    },
  };
  for (const step of stored) {
    const { ordinal, kind, state, detail, activeMs, tokens } = step;
    const tool =
      step.tool === null ? null : { ...step.tool, output: parseOutput(step.tool.output) };
    record.add({ ordinal, kind, state, detail, activeMs, tokens, tool });
  }
  return record;
}

/** Writes a step that is complete at once, to the rows and to the record: the action of a rule, a compaction, or the end. */
export async function writeStep(
  { record, log }: { readonly record: InvestigationRecord; readonly log: Pick<StepLog, "insert"> },
  kind: "compaction" | "policy" | "end",
  detail: StepDetail,
): Promise<void> {
  const ordinal = record.nextOrdinal;
  await log.insert(ordinal, kind, detail);
  record.add({ ordinal, kind, state: "done", detail, activeMs: 0, tokens: 0, tool: null });
}

/** The note that a step records, if it is one. */
export function noteOf({ tool, state }: Pick<RecordedStep, "tool" | "state">): readonly string[] {
  const text = tool?.name === "note" && state === "done" ? tool.args["text"] : undefined;
  return typeof text === "string" ? [text] : [];
}

/** Paths and URLs that the evidence comes from; the output of a tool has none. */
export const sourcesOf = ({
  evidence,
}: Pick<InvestigationRecord, "evidence">): ReadonlySet<string> =>
  new Set(
    evidence.flatMap(({ evidence: piece }) =>
      piece.kind === "output" ? [] : (piece.kind === "file" ? piece.reading : piece.passage).path,
    ),
  );

/** Whether any tool received readable files and finished its work on them. */
export const hasGivenFiles = (steps: readonly RecordedStep[]): boolean =>
  steps.some(({ tool }) => Number(tool?.output?.facts["input_files"] ?? 0) > 0);

/** Whether a server of the configuration returned evidence that an answer may rest on. */
export const hasServerEvidence = (steps: readonly RecordedStep[]): boolean =>
  steps.some(({ tool }) => tool !== null && isMcpTool(tool.name) && tool.evidence.length > 0);

/** The hash of name and arguments, 64 hex digits. */
export const callKey = (name: string, args: Readonly<Record<string, unknown>>): string =>
  hashJson([name, args]);

/**
 * The steps that a prompt shows, in order; it numbers them from 1. Skipped steps do not count, so that an interrupted
 * investigation has the same prompts as an uninterrupted one.
 */
export const shownSteps = (steps: readonly RecordedStep[]): readonly RecordedStep[] =>
  steps.filter(
    ({ kind, state, detail }) =>
      (kind === "policy" && typeof detail["told"] === "string") ||
      (kind === "model" && typeof detail["unreadable"] === "string") ||
      (kind === "tool" && state !== "skipped"),
  );

const withLabel = (
  piece: ToolEvidence,
  { name, step }: { readonly name: string; readonly step: number },
): FoundEvidence =>
  piece.kind === "output"
    ? { kind: "output", output: { ...piece.output, label: `output of ${name}, step ${step}` } }
    : piece;

/** The same span of the same text is one piece, however it was found; the output of a tool belongs to its call. */
function evidenceKey(piece: ToolEvidence, call: string): string {
  if (piece.kind === "file") return `file ${piece.reading.path} ${piece.reading.sha256}`;
  if (piece.kind === "output") return `output ${call} ${piece.output.sha256}`;
  const { path, sha256, startChar, endChar } = piece.passage;
  return `span ${path} ${sha256} ${startChar} ${endChar}`;
}

/** The result of a tool in its stored form. */
export function serializeOutput(output: ToolOutput): {
  readonly stream: "result";
  readonly sha256: string;
  readonly content: Buffer;
  readonly class: "evidence" | "output";
} {
  const { text, facts, evidence } = output;
  const content = Buffer.from(JSON.stringify({ text, facts, evidence }), "utf8");
  return {
    stream: "result",
    sha256: hash("sha256", content),
    content,
    class: evidence.length > 0 ? "evidence" : "output",
  };
}

/** Reads a stored result. Only serializeOutput writes it, and its hash protects it, so no schema checks it. */
export function parseOutput(content: Buffer | null): ToolOutput | null {
  if (content === null) return null;
  const { text, facts, evidence } = JSON.parse(content.toString("utf8")) as Omit<
    ToolOutput,
    "kind"
  >;
  return { kind: "output", text, facts, evidence };
}

/** The evidence that an answer may rest on: whole files, passages, and outputs of tools. Of a file that changed, the newest version. */
export function admissibleEvidence(items: readonly EvidenceItem[]): {
  readonly files: readonly Reading[];
  readonly passages: readonly Passage[];
  readonly outputs: readonly ToolPrint[];
} {
  const files = items.flatMap(({ evidence }) =>
    evidence.kind === "file" ? [evidence.reading] : [],
  );
  const newest = [...new Map(files.map((file) => [file.path, file])).values()];
  const passages = items.flatMap(({ evidence }) =>
    evidence.kind === "passage" ? [evidence.passage] : [],
  );
  return {
    files: newest,
    passages: passages.filter((passage) => !newest.some((file) => isStale(passage, file))),
    outputs: items.flatMap(({ evidence }) => (evidence.kind === "output" ? [evidence.output] : [])),
  };
}
