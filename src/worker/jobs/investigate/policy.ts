import type { GrantLimits } from "../../../shared/store/investigations/grants.ts";
import type { RecordedStep } from "./record.ts";

/** The decision of a rule: give the model a hint, end the loop, or refuse the job. */
export type PolicyAction =
  | {
      readonly kind: "hint";
      readonly rule: string;
      readonly told: string;
      /** The subject of the hint, for a rule that gives one hint per subject. */
      readonly about?: string;
    }
  | { readonly kind: "end"; readonly rule: string; readonly why: string }
  | {
      readonly kind: "refuse";
      readonly rule: string;
      readonly code: "TOOL_DENIED" | "STAGNATED";
      readonly message: string;
    };

/** The input of rules. All of it follows from the rows of the job. */
export type Situation = {
  readonly steps: readonly RecordedStep[];
  readonly limits: GrantLimits;
  /** Names of the tools that the model may call. */
  readonly tools: readonly string[];
  /** Folders that the job may read; empty: all readable files. */
  readonly roots: readonly string[];
  /** The number of pieces that an answer may rest on. */
  readonly evidence: number;
  /** The number of files and pages that these come from. */
  readonly sources: number;
};

type Unnamed<Action> = Action extends unknown ? Omit<Action, "rule"> : never;
export type Decision = Unnamed<PolicyAction>;
export type Policy = {
  readonly name: string;
  readonly decide: (situation: Situation) => Decision | null;
};

export const endLoop = (why: string): Decision => ({ kind: "end", why });
export const giveHint = (told: string, about?: string): Decision => ({
  kind: "hint",
  told,
  ...(about === undefined ? {} : { about }),
});

/** Ends the loop if there is evidence, because it may still answer the question; refuses the job otherwise. */
export const endStagnated = (evidence: number, why: string): Decision =>
  evidence > 0
    ? endLoop(why)
    : {
        kind: "refuse",
        code: "STAGNATED",
        message: `The investigation ended after ${why}, and found nothing to rest an answer on. Index more, or ask more narrowly.`,
      };

export const callsOf = (steps: readonly RecordedStep[]): readonly RecordedStep[] =>
  steps.filter(({ kind, state }) => kind === "tool" && state !== "skipped");

/** Tools that look for nothing: no answer rests on their results, or the results come from earlier evidence. */
const BESIDE: ReadonlySet<string> = new Set(["note", "calculate"]);
export const isSeeking = ({ tool }: RecordedStep): boolean =>
  tool !== null && !BESIDE.has(tool.name);

/** How many of the last replies of the model in a row held neither a readable call nor the end. */
export const unreadableLately = (steps: readonly RecordedStep[]): number =>
  countTrailing(
    steps.filter(({ kind }) => kind === "model" || kind === "tool"),
    ({ detail }) => "unreadable" in detail,
  );

/** The reason in the record of a reply without a call that the limit of tokens cut off. */
export const CUT_REPLY = "it was cut because it was too long";

/** Whether a call gave new evidence, or pages that nobody had named before. */
export const hasFound = ({ tool }: RecordedStep): boolean =>
  tool !== null && tool.found + tool.leads > 0;

/** The index of the last step in which a rule acted; -1 if it has not. */
export const lastHintBy = (steps: readonly RecordedStep[], rule: string): number =>
  steps.findLastIndex(({ kind, detail }) => kind === "policy" && detail["rule"] === rule);

/** How many steps at the end, without a gap, fulfil the condition. */
export function countTrailing(
  steps: readonly RecordedStep[],
  holds: (step: RecordedStep) => boolean,
): number {
  const last = steps.findLastIndex((step) => !holds(step));
  return steps.length - 1 - last;
}
