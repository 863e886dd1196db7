import type { RunTrace } from "../../shared/run-trace.ts";
import type { Grant, GrantLimits } from "../../shared/store/investigations/grants.ts";
import type { StoredStep } from "../../shared/store/investigations/steps.ts";
import { callKey, parseOutput } from "../jobs/investigate/record.ts";
import { DISABLED, MAX_TIME } from "../jobs/investigate/policies.ts";
import { recordedServerTools } from "../jobs/investigate/server-tools.ts";
import type { StepLog } from "../jobs/investigate/step-log.ts";
import { NO_MCP } from "../mcp-client/definition.ts";
import type { McpServers } from "../mcp-client/open-servers.ts";
import { mcpTool } from "../tools/mcp-tool.ts";
import { TOOLS } from "../tools/all-tools.ts";
import { registryOf } from "../tools/registry.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import { NotOnRecord } from "./repeatable-input.ts";

/** An investigation as its rows hold it. */
export type RecordedInvestigation = {
  readonly grant: Grant;
  readonly steps: readonly StoredStep[];
};

type RecordedLoop = {
  readonly log: StepLog;
  /** The tools, which give what they gave then. */
  readonly registry: ToolRegistry;
  /** What servers said of their tools then. */
  readonly mcp: Pick<McpServers, "describe" | "reach">;
};

type RecordedCall = StoredStep & { readonly tool: NonNullable<StoredStep["tool"]> };

/**
 * The log and the tools for the repetition of an investigation: nothing is written, no tool is run, and whoever was asked
 * says what was said. A call that was never made throws NotOnRecord.
 */
export async function recordedLoop(
  { grant, steps }: RecordedInvestigation,
  trace: Pick<RunTrace, "toolCall">,
): Promise<RecordedLoop> {
  const calls = steps.filter(
    (step): step is RecordedCall => step.tool !== null && step.state !== "skipped",
  );
  const left = new Map<string, RecordedCall[]>();
  for (const call of calls) {
    const key = callKey(call.tool.name, call.tool.args);
    left.set(key, [...(left.get(key) ?? []), call]);
  }
  let current: RecordedCall | undefined;
  const held = { ...grant, limits: repeatedLimits(grant.limits, steps) };
  const written = async (): Promise<void> => undefined;
  const log: StepLog = {
    findGrant: async () => held,
    openGrant: async () => held,
    load: async () => [],
    output: async () => undefined,
    insert: written,
    beginModel: written,
    endModel: written,
    async beginTool({ name, args }) {
      current = left.get(callKey(name, args))?.shift();
      if (current === undefined) throw new NotOnRecord({ kind: "tool", name });
      if (current.state === "done" && current.tool.output === null) {
        throw new NotOnRecord({ kind: "output", name, step: current.ordinal });
      }
      return "begun";
    },
    async endTool(_, { error, result, durationMs }) {
      const { name = "", args = {} } = current?.tool ?? {};
      trace.toolCall({
        name,
        args,
        errorCode: error?.code ?? null,
        errorMessage: error?.message ?? null,
        result,
        trailingText: null,
        durationMs,
      });
    },
    outputRoom: async () => Infinity,
    settleOpen: written,
    requestApproval: async () => "waiting",
    lastState: async () => undefined,
    commandRules: async () => [],
    countRule: written,
    approvalOf: async () => undefined,
    start: written,
    withdrawRequest: async () => false,
  };
  const whyDisabled = (name: string): string | null => {
    const told = steps.find(({ detail }) => detail["rule"] === DISABLED && detail["tool"] === name);
    return told === undefined ? null : String(told.detail["why"]);
  };
  const described = recordedServerTools(steps) ?? [];
  const known = [...TOOLS.tools, ...(await Promise.all(described.map(mcpTool)))];
  const registry = registryOf(
    known.map((tool) => ({
      ...tool,
      disabled: () => whyDisabled(tool.name),
      // Whoever was asked then has answered: a denial is what the call came to.
      approval: async () => null,
      async run() {
        const { output, error } = current?.tool ?? { output: null, error: null };
        const given = parseOutput(output);
        if (given !== null) return given;
        const { code, message } = error ?? { code: "INVALID_ARGS", message: "" };
        return { kind: "refused", code: code as "INVALID_ARGS", message };
      },
    })),
  );
  const mcp = { describe: async () => described, reach: () => NO_MCP };
  return { log, registry, mcp };
}

/**
 * Limits for the repetition. It takes another time than the runs did: where time ended those, the repetition ends after as
 * many steps.
 */
function repeatedLimits(limits: GrantLimits, steps: readonly StoredStep[]): GrantLimits {
  const unlimited = { ...limits, maxSeconds: Infinity };
  const end = steps.find(({ kind, detail }) => kind === "policy" && detail["rule"] === MAX_TIME);
  if (end === undefined) return unlimited;
  const made = steps.filter(
    ({ kind, state, ordinal }) =>
      (kind === "model" || kind === "tool") && state !== "skipped" && ordinal < end.ordinal,
  );
  return { ...unlimited, maxSteps: made.length };
}
