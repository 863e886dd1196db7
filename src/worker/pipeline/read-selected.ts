import type { Refusal } from "../../shared/failure.ts";
import type { AskRun, Answerers, Found } from "./ask-run.ts";
import { checkToolCallPath } from "./check-tool-call-path.ts";
import { cleanRecord, cleanText } from "./clean-text.ts";
import type { Selection } from "./first-pass.ts";
import type { ToolCall } from "./parse-tool-call.ts";
import type { Reading } from "./pipeline-dependencies.ts";
import { readEvidence } from "./read-evidence.ts";
import type { ReadPlan } from "./read-evidence.ts";

/** Characters of prompt that rules, question and footer take beside the evidence. */
const PROMPT_CHARS = 4_000;
const FEWEST_READ_CHARS = 200;

type Choice = { readonly selection: Selection; readonly answerers: Answerers };

/** The tool call of pass 1, carried out if it may be; null when pass 1 made none. */
export async function readSelected(
  run: AskRun,
  found: Found,
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
  { classification, snapshot }: Found,
  { call, path, answerers }: { call: ToolCall; path: string; answerers: Answerers },
): ReadPlan {
  const cap = deps.settings.ask.max_chars_full_read;
  const beside =
    classification.need === "passages"
      ? snapshot.passages.reduce((total, { text }) => total + text.length, 0)
      : 0;
  const { second, route } = answerers;
  const room = second.promptChars(route.second.maxTokens) - PROMPT_CHARS - input.question.length;
  return {
    path,
    args: call.args,
    trailingText: call.trailingText,
    firstReadChars: Math.max(FEWEST_READ_CHARS, Math.min(cap, room - beside)),
    fullReadChars: classification.need === "whole_file" ? cap : null,
  };
}

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
