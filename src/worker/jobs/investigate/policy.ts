import type { GrantLimits } from "../../../shared/store/investigations/grants.ts";
import type { RecordedStep } from "./record.ts";

/** What a rule does: tells the model something, ends the looking around, or refuses the job. */
export type PolicyAction =
  | {
      readonly kind: "hint";
      readonly rule: string;
      readonly told: string;
      /** What it is told about, where a rule tells each of several things once. */
      readonly about?: string;
    }
  | { readonly kind: "end"; readonly rule: string; readonly why: string }
  | {
      readonly kind: "refuse";
      readonly rule: string;
      readonly code: "TOOL_DENIED" | "STAGNATED";
      readonly message: string;
    };

/** What rules go by: all of it follows from the rows of the job. */
export type Situation = {
  readonly steps: readonly RecordedStep[];
  readonly limits: GrantLimits;
  /** Names of the tools that the model may call. */
  readonly tools: readonly string[];
  /** Folders that it sees; none: all that may be read. */
  readonly roots: readonly string[];
  /** Pieces that an answer may rest on. */
  readonly evidence: number;
  /** Files and pages that these come from. */
  readonly sources: number;
};

type Unnamed<Action> = Action extends unknown ? Omit<Action, "rule"> : never;
export type Decision = Unnamed<PolicyAction>;
export type Policy = {
  readonly name: string;
  readonly decide: (situation: Situation) => Decision | null;
};

export const end = (why: string): Decision => ({ kind: "end", why });
export const hint = (told: string, about?: string): Decision => ({
  kind: "hint",
  told,
  ...(about === undefined ? {} : { about }),
});

/** What was found may still answer the question. */
export const stagnated = (evidence: number, why: string): Decision =>
  evidence > 0
    ? end(why)
    : {
        kind: "refuse",
        code: "STAGNATED",
        message: `The investigation ended after ${why}, and found nothing to rest an answer on. Index more, or ask more narrowly.`,
      };

export const callsOf = (steps: readonly RecordedStep[]): readonly RecordedStep[] =>
  steps.filter(({ kind, state }) => kind === "tool" && state !== "skipped");

/** What is no looking: no answer rests on its results, or they come from what was found already. */
const BESIDE: ReadonlySet<string> = new Set(["note", "calculate"]);
export const isSeeking = ({ tool }: RecordedStep): boolean =>
  tool !== null && !BESIDE.has(tool.name);

/** How many of the last replies of the model held no call that can be read, and did not end it. */
export const unreadableLately = (steps: readonly RecordedStep[]): number =>
  trailing(
    steps.filter(({ kind }) => kind === "model" || kind === "tool"),
    ({ detail }) => "unreadable" in detail,
  );

/** What is put on record of a reply without a call that its limit of tokens cut short. */
export const CUT_REPLY = "it was cut because it was too long";

/** Whether a call gave evidence that was not there before, or pages that nobody had named. */
export const hasFound = ({ tool }: RecordedStep): boolean =>
  tool !== null && tool.found + tool.leads > 0;

/** Where a rule last told something, by its place among the steps; -1 where it has not. */
export const lastHintBy = (steps: readonly RecordedStep[], rule: string): number =>
  steps.findLastIndex(({ kind, detail }) => kind === "policy" && detail["rule"] === rule);

/** How many of the last ones hold, without a break. */
export function trailing(
  steps: readonly RecordedStep[],
  holds: (step: RecordedStep) => boolean,
): number {
  const last = steps.findLastIndex((step) => !holds(step));
  return steps.length - 1 - last;
}
