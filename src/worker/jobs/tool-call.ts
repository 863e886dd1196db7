import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { isBeyond } from "../evidence/gate.ts";
import { addOwnPassages } from "../evidence/own-passages.ts";
import type { CutFile } from "../evidence/own-passages.ts";
import type { Passage, Reading } from "../evidence/types.ts";
import type { Answerers, AskRun, RetrievedContext } from "./ask-run.ts";
import { roomForEvidence } from "../answer/map-reduce.ts";
import { readEvidence } from "../evidence/read.ts";
import type { ReadPlan } from "../evidence/read.ts";
import { cleanRecord, cleanText } from "../text/clean-text.ts";
import { isNamed } from "../text/match-path.ts";
import { checkToolCallPath } from "../tools/check-tool-call-path.ts";
import type { ToolCall } from "../tools/parse-tool-call.ts";
import { readablePaths } from "./first-pass.ts";
import type { Selection } from "./first-pass.ts";

const FEWEST_READ_CHARS = 200;
/** The most names that are looked up on the disk, however many the question has. */
const MOST_LOCATED = 50;
/** The most files that one question may name. */
const MOST_FILES = 8;

type Choice = { readonly selection: Selection | Refusal; readonly answerers: Answerers };

type AllowedCall = {
  readonly call: ToolCall;
  readonly path: string;
  readonly answerers: Answerers;
};

type NamedFiles = { readonly kind: "located" } & Pick<RetrievedContext, "meant" | "toRead">;

/**
 * Finds the files that the question names, or refuses: policy and disk decide before any model is called. A refused file is
 * recorded as a read. INVALID_ARGS for more files than a run reads.
 */
export async function locateNamedFiles(
  { deps, trace }: Pick<AskRun, "deps" | "trace">,
  { namedFiles }: RetrievedContext["classification"],
): Promise<NamedFiles | Refusal> {
  const paths: string[] = [];
  for (const name of namedFiles.slice(0, MOST_LOCATED)) {
    const located = await deps.locate(name);
    // The file may have been written since the lookup.
    const found = located.kind === "located" ? located : await readUnlocated(name, deps, trace);
    if (found.kind === "refused") return found;
    paths.push(found.path);
  }
  if (namedFiles.length > 0) trace.detail("classify", { located: paths.map(cleanText) });
  const files = namedFiles.length > MOST_LOCATED ? namedFiles.length : new Set(paths).size;
  if (files > MOST_FILES) return tooManyFiles(files, MOST_FILES);
  return {
    kind: "located",
    meant: namedFiles.map((name, at) => {
      const path = paths[at] ?? name;
      return isNamed(path, [name]) ? name : path;
    }),
    toRead: namedFiles.filter((_, at) => paths.indexOf(paths[at] ?? "") === at),
  };
}

const readUnlocated = (
  path: string,
  { readTextFile }: AskRun["deps"],
  trace: AskRun["trace"],
): Promise<Reading | Refusal> =>
  trace.step("tool_call", () =>
    readEvidence(
      { path, args: {}, trailingText: "", firstReadChars: FEWEST_READ_CHARS, fullReadChars: null },
      readTextFile,
      trace,
    ),
  );

const tooManyFiles = (files: number, most: number): Refusal =>
  refuse(
    "INVALID_ARGS",
    `The question names ${files} files, and one run reads ${most} at most. Ask about fewer of them at a time.`,
  );

/** The files that were read, in order; passages of a named file that was cut; and the refusal of an unreadable file. */
type FilesRead = {
  readonly readings: readonly Reading[];
  readonly ownPassages: readonly Passage[];
  readonly refusal: Refusal | null;
};

/**
 * Carries out the tool call of pass 1 if rules allow it; reads nothing if pass 1 made no call. If the question names several
 * files, a call for one of them reads all, each in its own step and in the order of the question.
 */
export async function toolCall(
  run: AskRun,
  found: RetrievedContext,
  { selection, answerers }: Choice,
): Promise<FilesRead> {
  if (selection.kind === "direct") return { ...NOTHING_READ, refusal: null };
  if (selection.kind === "refused") return { ...NOTHING_READ, refusal: selection };
  const { trace, deps } = run;
  const { call } = selection;
  const allowed = checkToolCallPath(call, readablePaths(found));
  if (allowed.kind === "refused") {
    await trace.step("tool_call", () => {
      recordDenial(run, call, allowed);
    });
    return { ...NOTHING_READ, refusal: allowed };
  }
  const readings: Reading[] = [];
  const ownPassages: Passage[] = [];
  for (const plan of readPlans(run, found, { call, path: allowed.path, answerers })) {
    const read = await trace.step("tool_call", async () => {
      trace.detail("tool_call", { verdict: "allowed", path: cleanText(plan.path) });
      const reading = await readEvidence(plan, deps.readTextFile, trace);
      const isCut = reading.kind === "read" && reading.truncated;
      const isOfPart = found.classification.need === "file" && plan.fullReadChars === null;
      return isCut && isOfPart ? readBeyond(run, plan, reading) : reading;
    });
    if (read.kind === "refused") return { readings, ownPassages, refusal: read };
    if (read.kind === "read") readings.push(read);
    else {
      readings.push(read.reading);
      ownPassages.push(...read.passages);
    }
  }
  return { readings, ownPassages, refusal: null };
}

const NOTHING_READ = { readings: [], ownPassages: [] } as const;

/** Reads more of a named file than its beginning: its own best passages, or if the index has none the whole file, for parts. */
async function readBeyond(
  { input: { question }, deps, trace, signal }: AskRun,
  plan: ReadPlan,
  reading: Reading,
): Promise<CutFile | Reading | Refusal> {
  const { top_n: limit, max_chars_full_read: cap } = deps.settings.ask;
  const wanted = { question, limit, room: plan.firstReadChars };
  const cut = await addOwnPassages(reading, wanted, deps.search, signal);
  const beyond = cut?.passages.filter((passage) => isBeyond(passage, [cut.reading]));
  trace.detail("tool_call", { own_passages: beyond?.length ?? null });
  if (cut !== null) return cut;
  return readEvidence({ ...plan, firstReadChars: cap }, deps.readTextFile, trace);
}

function readPlans(
  run: AskRun,
  found: RetrievedContext,
  allowed: AllowedCall,
): readonly ReadPlan[] {
  const { classification, toRead } = found;
  const isOneOfSeveral = toRead.length > 1 && isNamed(allowed.path, classification.namedFiles);
  if (!isOneOfSeveral) return [readPlan(run, found, allowed)];
  const { trailingText } = allowed.call;
  return toRead.map((path, at) => ({
    path,
    args: {},
    trailingText: at === 0 ? trailingText : "",
    firstReadChars: Math.max(FEWEST_READ_CHARS, run.deps.settings.ask.max_chars_full_read),
    fullReadChars: null,
  }));
}

function readPlan(
  { input, deps }: AskRun,
  { classification, snapshot }: RetrievedContext,
  { call, path, answerers }: AllowedCall,
): ReadPlan {
  const cap = deps.settings.ask.max_chars_full_read;
  const passages = passagesBeside(classification, snapshot);
  const { second, route, notes } = answerers;
  const otherText = [input.question, notes.text, ...passages.map(({ text }) => text)];
  const room = roomForEvidence(second, route.second, otherText);
  return {
    path,
    // A name of the question may be looked up; the path of an indexed document that is gone must not lead to another file.
    lookup: classification.namedFiles.includes(path) ? undefined : "exact",
    args: call.args,
    trailingText: call.trailingText,
    firstReadChars: Math.max(FEWEST_READ_CHARS, Math.min(cap, room)),
    fullReadChars: classification.need === "whole_file" ? cap : null,
  };
}

/** Passages that may be admitted beside the file. */
const passagesBeside = (
  { need }: RetrievedContext["classification"],
  { passages }: RetrievedContext["snapshot"],
): RetrievedContext["snapshot"]["passages"] => (need === "passages" ? passages : []);

function recordDenial({ trace }: AskRun, call: ToolCall, refusal: Refusal): void {
  trace.detail("tool_call", { verdict: refusal.code });
  trace.toolCall({
    name: cleanText(call.name.slice(0, 200)),
    args: cleanRecord(call.args),
    errorCode: refusal.code,
    errorMessage: cleanText(refusal.message),
    result: null,
    trailingText: call.trailingText === "" ? null : cleanText(call.trailingText.slice(0, 200)),
    durationMs: 0,
  });
}
