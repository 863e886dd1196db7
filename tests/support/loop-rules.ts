import type { DriftLimits, GrantLimits } from "../../src/shared/store/investigations/grants.ts";
import { describeMove } from "../../src/worker/jobs/investigate/moves.ts";
import { applyPolicies } from "../../src/worker/jobs/investigate/policies.ts";
import type { PolicyAction } from "../../src/worker/jobs/investigate/policy.ts";
import { openRecord, sourcesOf } from "../../src/worker/jobs/investigate/record.ts";
import type { RecordedStep } from "../../src/worker/jobs/investigate/record.ts";
import { TOOLS } from "../../src/worker/tools/all-tools.ts";
import { outputOf } from "../../src/worker/tools/tool.ts";
import { passageOf } from "./pipeline-world.ts";

/** All rules are off but the one about calls that find nothing new. */
export const NO_DRIFT: DriftLimits = {
  notesEvery: null,
  sameQuery: null,
  samePlace: null,
  sources: null,
  failures: null,
  noNewEvidence: 3,
};

/** One turn of a scripted model. */
export type Turn =
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
      /** Paths that it gives a passage of each. */
      readonly finds?: readonly string[];
      readonly urls?: readonly string[];
      /** The code that it fails with. */
      readonly fails?: string;
    }
  | { readonly kind: "unreadable" }
  | { readonly kind: "not_granted" }
  | { readonly kind: "end" };

export type LoopOptions = {
  readonly drift: DriftLimits;
  readonly limits?: Partial<GrantLimits>;
  readonly tools?: readonly string[];
  readonly roots?: readonly string[];
};

/** What a rule did, and how many turns the model had had by then. */
export type Acted = { readonly turn: number; readonly action: PolicyAction };
export type Played = {
  readonly acted: readonly Acted[];
  readonly turns: number;
  readonly steps: readonly RecordedStep[];
  readonly ended: "model" | "rule";
};

/** Plays a model against the rules as the loop does, without files or a database. */
export function playLoop(
  next: (turn: number, last: PolicyAction | null) => Turn,
  { drift, limits = {}, tools = TOOLS.names, roots = [] }: LoopOptions,
): Played {
  const record = openRecord([]);
  const acted: Acted[] = [];
  const none = { activeMs: 0, tokens: 0, tool: null } as const;
  const write = (kind: "policy" | "model", detail: RecordedStep["detail"]) =>
    record.add({ ordinal: record.nextOrdinal, kind, state: "done", detail, ...none });
  for (let turn = 0; ; turn += 1) {
    const action = applyPolicies({
      steps: record.steps,
      limits: { maxSteps: 60, maxCalls: 30, maxTokens: 1e6, maxSeconds: 60, drift, ...limits },
      tools,
      roots,
      evidence: record.evidence.length,
      sources: sourcesOf(record).size,
    });
    if (action !== null) {
      acted.push({ turn, action });
      if (action.kind !== "hint") return { acted, turns: turn, steps: record.steps, ended: "rule" };
      const { kind, ...told } = action;
      write("policy", { ...told, action: kind });
    }
    const made = next(turn, action);
    if (made.kind === "end") return { acted, turns: turn, steps: record.steps, ended: "model" };
    if (made.kind === "unreadable") {
      write("model", { unreadable: "no JSON" });
      continue;
    }
    write("model", {});
    if (made.kind === "not_granted") {
      write("policy", { rule: "not_granted", denied: true, told: "There is no such tool." });
      continue;
    }
    const { tool, args, finds = [], urls, fails } = made;
    const found = finds.map(
      (path) => ({ kind: "passage", passage: passageOf(path, path) }) as const,
    );
    const known = TOOLS.find(tool);
    if (known === undefined) throw new Error(`There is no tool ${tool}.`);
    record.add({
      ordinal: record.nextOrdinal,
      kind: "tool",
      state: fails === undefined ? "done" : "failed",
      detail: describeMove(known, args, record.steps),
      activeMs: 0,
      tokens: 0,
      tool: {
        name: tool,
        args,
        output: fails === undefined ? outputOf("Given.", { urls }, found) : null,
        error: fails === undefined ? null : { code: fails, message: "No." },
      },
    });
  }
}

/** Hints and ends, as `turn rule kind`. */
export const shownActs = ({ acted }: Pick<Played, "acted">): readonly string[] =>
  acted.map(({ turn, action }) => `${turn} ${action.rule} ${action.kind}`);
