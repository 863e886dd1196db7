import { isRefusalCode, refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import type { InvestigateInput } from "../../../shared/job/job.ts";
import type { RunTrace } from "../../run-trace.ts";
import type { Grant } from "../../../shared/store/investigations/grants.ts";
import { canSearch, uselessPresetText } from "../../../shared/config/tool-presets.ts";
import { callParts } from "../../answer/call-model.ts";
import type { PipelineDependencies } from "../../evidence/types.ts";
import type { McpServers } from "../../mcp-client/open-servers.ts";
import type { ShellProbe } from "../../sandbox/shell/probe.ts";
import { READ_TEXT_FILE } from "../../tools/read-text-file.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import { SEARCH_INDEX } from "../../tools/search-index.ts";
import { SHELL } from "../../tools/shell.ts";
import type { Tool } from "../../tools/tool.ts";
import { selectAnswerers } from "../ask-run.ts";
import type { Answerers } from "../ask-run.ts";
import { askNextAction } from "./next-action.ts";
import type { LoopRun } from "./next-action.ts";
import type { ToolSettings } from "./open-grant.ts";
import { applyPolicies, DISABLED, isTooEarly } from "./policies.ts";
import { reachOf } from "./reach.ts";
import type { ReachedParts } from "./reach.ts";
import { callKey, openRecord, sourcesOf, writeStep } from "./record.ts";
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
  /** What this machine can run commands with. The first probe takes about 50 ms. */
  readonly probeShell: () => Promise<ShellProbe>;
  /** The MCP servers of the configuration. */
  readonly mcp: Pick<McpServers, "describe" | "reach">;
} & Pick<ReachedParts, "listPaths" | "admitFiles" | "web">;

export type InvestigateRun = {
  readonly input: InvestigateInput;
  /** Files that the statement of a check rests on: they are read before the model chooses its first call. */
  readonly checked?: readonly string[];
  readonly deps: InvestigateDependencies;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/** The grant, the models and the record of one search. */
export type Exploration = {
  readonly grant: Grant;
  readonly answerers: Answerers;
  readonly record: InvestigationRecord;
};

/** Opens the record with the steps of earlier runs of the job. */
export async function openExploration(run: InvestigateRun, grant: Grant): Promise<Exploration> {
  const answerers = await selectAnswerers(run.input.task, run.input.options, run);
  return { grant, answerers, record: openRecord(await run.deps.log.load()) };
}

export type LoopEnd = { readonly kind: "ended"; readonly why: string };

/** The loop of tools. It continues after the last stored step. */
export async function lookAround(
  run: InvestigateRun,
  looking: Exploration,
): Promise<LoopEnd | Refusal> {
  const { trace } = run;
  const { record } = looking;
  const earlier = record.steps.length;
  const ended = await trace.step("look_around", () =>
    runLoop(run, looking).finally(() => {
      const hints = countHints(record.steps.slice(earlier));
      if (Object.keys(hints).length > 0) trace.detail("look_around", { hints });
    }),
  );
  trace.detail("look_around", {
    steps: record.steps.length,
    evidence: record.evidence.length,
    ended: ended.kind === "ended" ? ended.why : ended.code,
  });
  return ended;
}

/** The number of hints by rule. */
function countHints(steps: InvestigationRecord["steps"]): Readonly<Record<string, number>> {
  const hints: Record<string, number> = {};
  for (const { detail } of steps) {
    if (detail["action"] !== "hint") continue;
    const rule = String(detail["rule"]);
    hints[rule] = (hints[rule] ?? 0) + 1;
  }
  return hints;
}

/** Alternates calls of the model and of its tools until the model or a rule ends the loop. */
async function runLoop(
  run: InvestigateRun,
  { grant, answerers, record }: Exploration,
): Promise<LoopEnd | Refusal> {
  const { deps, trace, signal, input } = run;
  const { log } = deps;
  const { first: model, route } = answerers;
  if (!model.facts.readsPrompts) return searchWithoutTools(run, { grant, answerers, record });
  const use = await openToolUse(run, { grant, record });
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
  const unread = await readGivenFiles(use, run);
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
    // A rule first gives a hint to a model that ends before it has looked at anything.
    const isEnd = next.kind === "end" && !(loop.tools.length > 0 && isTooEarly(record.steps));
    if (isEnd) await writeStep(use, "end", { why: "the model ended it" });
    if (next.kind !== "call") continue;
    const refusal = await useTool(use, next);
    if (refusal !== null) return refusal;
  }
}

/**
 * Reads the files that the job names, as steps like those of the model; all runs of a job together read each once.
 * @returns the refusal if the file that the job is about can't be read
 */
async function readGivenFiles(
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

/** Opens what the calls of the run need: the tools of the grant, and the access of these tools. */
async function openToolUse(
  { input, checked = [], deps, trace, signal }: InvestigateRun,
  { grant, record }: Pick<Exploration, "grant" | "record">,
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

/** Records the tools that this machine can't carry out. Refuses the job if it requires one of them. */
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

export const PASSAGES_ALONE = "the model calls no tools: passages alone";

/** Lets a model that calls no tools answer from passages alone, if the job allows it. */
async function searchWithoutTools(
  run: InvestigateRun,
  { grant, answerers, record }: Exploration,
): Promise<LoopEnd | Refusal> {
  const { input, deps } = run;
  if (input.tools !== "optional") {
    return refuse(
      "MODEL_UNSUPPORTED",
      `"${answerers.first.name}" calls no tools, which an investigation needs. Set a language model in model.name, ` +
        "or queue the job with --tools optional to have it answered from passages.",
    );
  }
  if (!canSearch(grant)) return refuse("MODEL_UNSUPPORTED", uselessPresetText(grant.preset));
  const granted = await openToolUse(run, { grant, record });
  const tools = granted.tools.filter(({ name }) => name === SEARCH_INDEX.name);
  const use = { ...granted, tools };
  const refused = await settleLastStep(use);
  if (refused !== null) return refused;
  const unread = await readGivenFiles(granted, run);
  if (unread !== null) return unread;
  const why = PASSAGES_ALONE;
  if (record.steps.some(({ kind }) => kind === "end")) return { kind: "ended", why };
  await writeStep(use, "policy", { rule: "no_tools", action: "passages" });
  const args = { query: input.task, limit: deps.settings.ask.top_n };
  await useTool(use, { name: SEARCH_INDEX.name, args });
  await writeStep(use, "end", { why });
  return { kind: "ended", why };
}
