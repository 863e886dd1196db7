import type { Refusal } from "../../shared/failure.ts";
import type { Reading } from "../evidence/types.ts";
import type { Answerers, AskRun, RetrievedContext } from "./answer-whole.ts";
import { roomForEvidence } from "../answer/map-reduce.ts";
import { readEvidence } from "../evidence/read.ts";
import type { ReadPlan } from "../evidence/read.ts";
import { cleanRecord, cleanText } from "../text/clean-text.ts";
import { checkToolCallPath } from "../tools/check-tool-call-path.ts";
import type { ToolCall } from "../tools/parse-tool-call.ts";
import type { Selection } from "./first-pass.ts";

const FEWEST_READ_CHARS = 200;
/** One run reads one file, so that a question of more names is refused anyway. */
const MOST_LOCATED = 50;

type AllowedCall = {
  readonly call: ToolCall;
  readonly path: string;
  readonly answerers: Answerers;
};

type Choice = { readonly selection: Selection; readonly answerers: Answerers };

/**
 * Why a file that the question names can't be read, or null: the policy and the disk decide before any model is asked.
 * What was refused is on record as a read.
 */
export async function refuseNamedFile(
  { deps, trace }: Pick<AskRun, "deps" | "trace">,
  { namedFiles }: RetrievedContext["classification"],
): Promise<Refusal | null> {
  for (const path of namedFiles.slice(0, MOST_LOCATED)) {
    const located = await deps.locate(path);
    if (located.kind === "located") continue;
    const plan = {
      path,
      args: {},
      trailingText: "",
      firstReadChars: FEWEST_READ_CHARS,
      fullReadChars: null,
    };
    const reading = await trace.step("tool_call", () =>
      readEvidence(plan, deps.readTextFile, trace),
    );
    // It may have been written in between.
    if (reading.kind === "refused") return reading;
  }
  return null;
}

/** The tool call of pass 1, carried out if it may be; null when pass 1 made none. */
export async function readSelected(
  run: AskRun,
  found: RetrievedContext,
  { selection, answerers }: Choice,
): Promise<Reading | Refusal | null> {
  if (selection.kind === "direct") return null;
  const { call } = selection;
  const { trace } = run;
  return trace.step("tool_call", async () => {
    const allowed = checkToolCallPath(call, {
      namedFiles: found.classification.namedFiles,
      snapshotPaths: found.snapshot.passages.map(({ path }) => path),
    });
    trace.detail("tool_call", { verdict: allowed.kind === "refused" ? allowed.code : "allowed" });
    if (allowed.kind === "refused") {
      recordDenied(run, call, allowed);
      return allowed;
    }
    const plan = readPlan(run, found, { call, path: allowed.path, answerers });
    return readEvidence(plan, run.deps.readTextFile, trace);
  });
}

function readPlan(
  { input, deps }: AskRun,
  { classification, snapshot }: RetrievedContext,
  { call, path, answerers }: AllowedCall,
): ReadPlan {
  const cap = deps.settings.ask.max_chars_full_read;
  const passages = passagesBeside(classification, snapshot);
  const { second, route, notes } = answerers;
  const beside = [input.question, notes.text, ...passages.map(({ text }) => text)];
  const room = roomForEvidence(second, route.second, beside);
  return {
    path,
    // A name may be looked up; the path of a document that is gone must lead to no other file.
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

function recordDenied({ trace }: AskRun, call: ToolCall, refusal: Refusal): void {
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
