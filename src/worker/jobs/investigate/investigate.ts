import { FENCE_CHARS } from "../../evidence/fence.ts";
import { isRefusalCode, refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import type { InvestigateInput } from "../../../shared/job.ts";
import type { Outcome } from "../../../shared/run-result.ts";
import type { RunTrace } from "../../../shared/run-trace.ts";
import type { Grant } from "../../../shared/store/investigations/grants.ts";
import { canSearch, onlySearches } from "../../../shared/tool-presets.ts";
import { callParts } from "../../answer/call-model.ts";
import { roomForEvidence } from "../../answer/map-reduce.ts";
import { gateReading, nothingFound } from "../../evidence/gate.ts";
import { ADMITTED, chunkPiece, filePiece, outputPiece, rejected } from "../../evidence/piece.ts";
import { snapshotHash } from "../../evidence/retrieve.ts";
import type { AdmittedEvidence, PipelineDependencies } from "../../evidence/types.ts";
import { firstCodePoints } from "../../text/clean-text.ts";
import { neutraliseText } from "../../text/neutralise-text.ts";
import type { McpServers } from "../../mcp-client/open-servers.ts";
import type { ShellProbe } from "../../sandbox/shell/probe.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import { READ_TEXT_FILE } from "../../tools/read-text-file.ts";
import { SEARCH_INDEX } from "../../tools/search-index.ts";
import { SHELL } from "../../tools/shell.ts";
import type { Tool } from "../../tools/tool.ts";
import { answerFromEvidence } from "../answer-from-files.ts";
import { selectAnswerers, succeeded } from "../answer-whole.ts";
import type { Answerers } from "../answer-whole.ts";
import { askNextAction } from "./next-action.ts";
import type { LoopRun } from "./next-action.ts";
import { openGrant } from "./open-grant.ts";
import type { ToolSettings } from "./open-grant.ts";
import { applyPolicies, DISABLED, isTooEarly } from "./policies.ts";
import { reachOf } from "./reach.ts";
import type { ReachedParts } from "./reach.ts";
import {
  admissible,
  callKey,
  hasGivenFiles,
  hasServerEvidence,
  noteOf,
  openRecord,
  sourcesOf,
  writeStep,
} from "./record.ts";
import type { InvestigationRecord, ToolAction } from "./record.ts";
import { settleLastStep } from "./resume.ts";
import { serverTools } from "./server-tools.ts";
import type { StepLog } from "./step-log.ts";
import { useTool } from "./use-tool.ts";
import type { ToolUse } from "./use-tool.ts";

export type InvestigateDependencies = PipelineDependencies & {
  readonly tools: ToolSettings;
  readonly registry: ToolRegistry;
  readonly log: StepLog;
  /** What this machine has to run commands with. Takes about 50 ms the first time. */
  readonly probeShell: () => Promise<ShellProbe>;
  /** Servers of the configuration. */
  readonly mcp: Pick<McpServers, "describe" | "reach">;
} & Pick<ReachedParts, "listPaths" | "admitFiles" | "web">;

export type InvestigateRun = {
  readonly input: InvestigateInput;
  /** Files that the statement of a check rests on: they are read before the model is asked where to look. */
  readonly checked?: readonly string[];
  readonly deps: InvestigateDependencies;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/**
 * An investigation: grant, look around, gate, answer, check. Each step of looking around is one call of a model or of a
 * tool, committed before and after, so that a run that is lost, parked or handed back is gone on with where it stopped. What
 * the model says on the way is never returned: the answer is made by the second pass of a question, from what was found, and
 * is checked as any other.
 *
 * Returns a refusal as a value: TOOL_UNAVAILABLE, TOOL_DENIED, APPROVAL_DENIED, APPROVAL_EXPIRED, STAGNATED, MODEL_UNSUPPORTED, INVALID_ARGS
 * and those of an answer. Throws Failure APPROVAL_PENDING or REVIEW_PENDING where a person has to decide.
 */
export async function investigate(
  input: InvestigateInput,
  deps: InvestigateDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Outcome> {
  const run: InvestigateRun = { input, deps, trace, signal };
  const found = await findEvidence(run);
  if (found.kind === "refused") return found;
  const { admitted, answerers, record } = found;
  trace.memory(answerers.notes.ids);
  const answered = await answerFromEvidence({
    ...run,
    question: input.task,
    admitted,
    answerers,
    notes: answerers.notes.text + notesOf(record, admitted),
  });
  return answered.kind === "refused" ? answered : succeeded(answered);
}

/** What a loop of tools has found, gated, and who found it. */
export type FoundByLooking = {
  readonly kind: "found";
  readonly admitted: AdmittedEvidence;
  readonly answerers: Answerers;
  readonly record: InvestigationRecord;
  /** Why it ended. */
  readonly ended: string;
};

/** Grant, look around, gate. Refusals and failures: those of `investigate` before its answer. */
export async function findEvidence(run: InvestigateRun): Promise<FoundByLooking | Refusal> {
  const { input, deps, trace } = run;
  const grant = await trace.step("grant", () => openGrant(input, deps));
  if ("kind" in grant) return grant;
  const answerers = await selectAnswerers(input.task, input.options, run);
  const record = openRecord(await deps.log.load());
  const earlier = record.steps.length;

  const ended = await trace.step("look_around", () =>
    lookAround(run, { grant, answerers, record }).finally(() => {
      const hints = hintsOf(record.steps.slice(earlier));
      if (Object.keys(hints).length > 0) trace.detail("look_around", { hints });
    }),
  );
  trace.detail("look_around", {
    steps: record.steps.length,
    evidence: record.evidence.length,
    ended: ended.kind === "ended" ? ended.why : ended.code,
  });
  const admitted =
    ended.kind === "refused"
      ? ended
      : await trace.step("gate", () => gate(record, answerers, run, ended));
  recordEvidence(run, record, admitted);
  if (admitted.kind === "refused") return admitted;
  const why = ended.kind === "ended" ? ended.why : "";
  return { kind: "found", admitted, answerers, record, ended: why };
}

/** How often each rule gave a hint, by its name. */
function hintsOf(steps: InvestigationRecord["steps"]): Readonly<Record<string, number>> {
  const hints: Record<string, number> = {};
  for (const { detail } of steps) {
    if (detail["action"] !== "hint") continue;
    const rule = String(detail["rule"]);
    hints[rule] = (hints[rule] ?? 0) + 1;
  }
  return hints;
}

type Looking = {
  readonly grant: Grant;
  readonly answerers: Answerers;
  readonly record: InvestigationRecord;
};

type Ended = { readonly kind: "ended"; readonly why: string };

/** Calls of the model and of its tools in turn, until the model ends it or a rule does. */
async function lookAround(
  run: InvestigateRun,
  { grant, answerers, record }: Looking,
): Promise<Ended | Refusal> {
  const { deps, trace, signal, input } = run;
  const { log } = deps;
  const { first: model, route } = answerers;
  if (!model.facts.readsPrompts) return withoutTools(run, { grant, answerers, record });
  const use = await openUse(run, { grant, record });
  const { tools } = use;
  const missing = await refuseDisabled(use, input.required_tools ?? []);
  if (missing !== null) return missing;
  const loop: LoopRun = {
    task: input.task,
    given: input.path,
    model,
    choice: route.first,
    tools: tools.filter((tool) => whyDisabled(tool, use) === null),
    record,
    log,
    fenceKey: deps.fenceKey,
  };
  const refused = await settleLastStep(use);
  if (refused !== null) return refused;
  const unread = await readBefore(use, run);
  if (unread !== null) return unread;
  for (;;) {
    const before = record.steps.findLast(({ kind }) => kind === "end");
    if (before !== undefined) return { kind: "ended", why: String(before.detail["why"]) };
    const action = applyPolicies({
      steps: record.steps,
      limits: grant.limits,
      tools: loop.tools.map(({ name }) => name),
      roots: grant.roots,
      evidence: record.evidence.length,
      sources: sourcesOf(record).size,
    });
    if (action?.kind === "refuse") {
      await writeStep(use, "policy", { rule: action.rule, action: "refuse", code: action.code });
      return refuse(action.code, action.message);
    }
    if (action?.kind === "end") {
      await writeStep(use, "policy", { rule: action.rule, action: "end" });
      await writeStep(use, "end", { why: action.why });
      continue;
    }
    if (action?.kind === "hint") {
      const { kind, ...told } = action;
      await writeStep(use, "policy", { ...told, action: kind });
    }
    const next = await askNextAction(loop, callParts(deps, { trace, signal }));
    if (next.kind === "refused") return next;
    // One that ends before it has looked at anything is told so first, by a rule.
    const isEnd = next.kind === "end" && !(loop.tools.length > 0 && isTooEarly(record.steps));
    if (isEnd) await writeStep(use, "end", { why: "the model ended it" });
    if (next.kind !== "call") continue;
    const refusal = await useTool(use, next);
    if (refusal !== null) return refusal;
  }
}

/**
 * Steps like those of the model, each made once, whichever run of the job makes it.
 * @returns why the file that the job is about can't be read
 */
async function readBefore(
  use: ToolUse,
  { input, checked = [] }: Pick<InvestigateRun, "input" | "checked">,
): Promise<Refusal | null> {
  const made = (path: string): ToolAction | undefined =>
    use.record.steps.find(
      ({ tool, state }) =>
        state !== "skipped" && tool?.key === callKey(READ_TEXT_FILE.name, { path }),
    )?.tool ?? undefined;
  for (const path of [input.path ?? [], checked].flat()) {
    if (made(path) === undefined) {
      await useTool(use, { name: READ_TEXT_FILE.name, args: { path } });
    }
  }
  const error = input.path === undefined ? null : made(input.path)?.error;
  return error && isRefusalCode(error.code) ? refuse(error.code, error.message) : null;
}

const grantedTools = ({ tools }: Grant, registry: ToolRegistry): readonly Tool[] =>
  registry.tools.filter(({ name }) => tools.includes(name));

/** What the calls of the run need: the tools that its grant holds, and what they reach. */
async function openUse(
  { input, checked = [], deps, trace, signal }: InvestigateRun,
  { grant, record }: Pick<Looking, "grant" | "record">,
): Promise<ToolUse> {
  const { log, registry } = deps;
  const tools = [
    ...grantedTools(grant, registry),
    ...(await serverTools(grant, { record, log, mcp: deps.mcp })).filter(
      ({ name }) => registry.find(name) === undefined,
    ),
  ];
  const shell = grant.tools.includes(SHELL.name)
    ? { probe: await deps.probeShell(), ask: deps.tools.shell.ask }
    : null;
  const asked = { task: input.task, days: input.options ?? {} };
  const reach = reachOf(grant, { ...deps, shell }, { record, log, ...asked }, signal);
  const settings = deps.tools;
  return { grant, tools, reach, checked, record, log, settings, trace, signal };
}

const whyDisabled = (tool: Tool, { reach }: Pick<ToolUse, "reach">): string | null =>
  tool.disabled?.(reach) ?? null;

/** Puts on record what this machine can't carry out. A tool that the job can't do without refuses it. */
async function refuseDisabled(use: ToolUse, required: readonly string[]): Promise<Refusal | null> {
  for (const tool of use.tools) {
    const why = whyDisabled(tool, use);
    if (why === null) continue;
    const { name } = tool;
    const isTold = use.record.steps.some(
      ({ detail }) => detail["rule"] === DISABLED && detail["tool"] === name,
    );
    if (!isTold) await writeStep(use, "policy", { rule: DISABLED, tool: name, why });
    if (!required.includes(name)) continue;
    return refuse(
      "TOOL_UNAVAILABLE",
      `The job needs ${name}, which is disabled on this machine: ${why}`,
    );
  }
  return null;
}

const PASSAGES_ALONE = "the model calls no tools: passages alone";

/** A model that calls no tools answers from passages alone, where the job lets it. */
async function withoutTools(
  run: InvestigateRun,
  { grant, answerers, record }: Looking,
): Promise<Ended | Refusal> {
  const { input, deps } = run;
  if (input.tools !== "optional") {
    return refuse(
      "MODEL_UNSUPPORTED",
      `"${answerers.first.name}" calls no tools, which an investigation needs. Set a language model in model.name, ` +
        "or queue the job with --tools optional to have it answered from passages.",
    );
  }
  if (!canSearch(grant)) return refuse("MODEL_UNSUPPORTED", onlySearches(grant.preset));
  const granted = await openUse(run, { grant, record });
  const tools = granted.tools.filter(({ name }) => name === SEARCH_INDEX.name);
  const use = { ...granted, tools };
  await settleLastStep(use);
  const unread = await readBefore(granted, run);
  if (unread !== null) return unread;
  const why = PASSAGES_ALONE;
  if (record.steps.some(({ kind }) => kind === "end")) return { kind: "ended", why };
  await writeStep(use, "policy", { rule: "no_tools", action: "passages" });
  const args = { query: input.task, limit: deps.settings.ask.top_n };
  await useTool(use, { name: SEARCH_INDEX.name, args });
  await writeStep(use, "end", { why });
  return { kind: "ended", why };
}

/**
 * What the answer may rest on: of all that was found what is sound, and has room. Files are gone through in parts where they
 * are long; passages are shown whole or not at all, those first that were read for their own sake. What tools printed is
 * shown before passages, and is nothing to rest on where nothing was read: the model wrote it. What a server gave may be, where
 * its configuration says so.
 */
function gate(
  { evidence, steps }: InvestigationRecord,
  { second, route, notes }: Answerers,
  { input, deps }: InvestigateRun,
  { why }: Ended,
): AdmittedEvidence | Refusal {
  const found = admissible(evidence);
  const sound = found.files.filter((file) => gateReading(file, "whole_file") === null);
  const files = fitting(sound, deps.settings.ask.max_chars_full_read);
  const room = roomForEvidence(second, route.second, [input.task, notes.text]);
  const inOrder = [...found.passages].sort(
    (one, other) => Number(one.source !== null) - Number(other.source !== null),
  );
  const shown: ReadonlySet<object> = new Set(
    fitting([...found.outputs, ...inOrder], files.length === 0 ? room : room / 2),
  );
  const passages = found.passages.filter((passage) => shown.has(passage));
  const outputs = found.outputs.filter((output) => shown.has(output));
  const restsOnMore = outputs.length > 0 && (hasGivenFiles(steps) || hasServerEvidence(steps));
  if (files.length === 0 && passages.length === 0 && !restsOnMore) {
    return nothingIn(input.options?.path_prefix, why);
  }
  return { kind: "admitted", files, passages, outputs, snapshotHash: snapshotHash(passages) };
}

function nothingIn(folder: string | undefined, why: string): Refusal {
  if (folder === undefined && why === PASSAGES_ALONE) return nothingFound();
  const found =
    folder === undefined
      ? "Nothing was found to rest an answer on"
      : `Nothing was found below ${JSON.stringify(folder)}, which is all that this job may see`;
  const where =
    folder === undefined
      ? ""
      : ' Paths begin at the work root; `nightdesk sql "select path from documents limit 20"` shows some.';
  return refuse(
    "EVIDENCE_NOT_ACQUIRED",
    `${found}. Why it ended: ${why}. \`nightdesk runs show\` has its steps.${where}`,
  );
}

/** The first of them that have room together, in UTF-16 units. */
function fitting<Piece extends { readonly text: string }>(
  pieces: readonly Piece[],
  room: number,
): readonly Piece[] {
  let left = room;
  return pieces.filter(({ text }) => {
    const fits = text.length + FENCE_CHARS <= left;
    if (fits) left -= text.length + FENCE_CHARS;
    return fits;
  });
}

/** Puts all that was found on record: admitted, or not, with the reason. */
function recordEvidence(
  { deps, trace }: InvestigateRun,
  { evidence }: InvestigationRecord,
  admitted: AdmittedEvidence | Refusal,
): void {
  const isRefused = admitted.kind === "refused";
  const isAdmitted = (piece: object): boolean =>
    !isRefused &&
    (
      [...admitted.files, ...admitted.passages, ...(admitted.outputs ?? [])] as readonly object[]
    ).includes(piece);
  const verdictOn = (piece: object) => (isAdmitted(piece) ? ADMITTED : rejected(why));
  const why = isRefused ? admitted.code : "another piece holds it, or it has no room";
  trace.evidence(
    evidence.map(({ evidence: piece }) => {
      switch (piece.kind) {
        case "file":
          return filePiece(piece.reading, verdictOn(piece.reading), deps.previewChars);
        case "passage":
          return chunkPiece(piece.passage, verdictOn(piece.passage), deps.previewChars);
        case "output":
          return outputPiece(piece.output, verdictOn(piece.output), deps.previewChars);
      }
    }),
  );
}

/** What the model noted on the way, and what it called for what tools printed: no evidence, and shown as such. */
function notesOf(
  { steps }: InvestigationRecord,
  { outputs = [] }: Pick<AdmittedEvidence, "outputs">,
): string {
  const calls = outputs.map(
    ({ label, call }) => `${label}, is of the call: ${firstCodePoints(call, MOST_CALL_CHARS)}`,
  );
  const lines = [...steps.flatMap(noteOf), ...calls];
  if (lines.length === 0) return "";
  return `

Notes from the search, which are no evidence and can't be cited:
${lines.map((line) => `- ${neutraliseText(line).replaceAll("\n", "\n  ")}`).join("\n")}`;
}

const MOST_CALL_CHARS = 300;
