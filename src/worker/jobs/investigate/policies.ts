import type { GrantLimits } from "../../../shared/store/investigations/grants.ts";
import type { RecordedStep } from "./record.ts";

/** What a rule does: tells the model something, ends the looking around, or refuses the job. */
export type PolicyAction =
  | { readonly kind: "hint"; readonly rule: string; readonly told: string }
  | { readonly kind: "end"; readonly rule: string; readonly why: string }
  | {
      readonly kind: "refuse";
      readonly rule: string;
      readonly code: "TOOL_DENIED" | "STAGNATED";
      readonly message: string;
    };

type Situation = {
  readonly steps: readonly RecordedStep[];
  readonly limits: GrantLimits;
  /** Pieces that an answer may rest on. */
  readonly evidence: number;
};

type Unnamed<Action> = Action extends unknown ? Omit<Action, "rule"> : never;
type Decision = Unnamed<PolicyAction>;
type Policy = {
  readonly name: string;
  readonly decide: (situation: Situation) => Decision | null;
};

/** What is put on record of a tool that the machine can't carry out. */
export const DISABLED = "disabled";

const MOST_DENIALS = 3;
const EQUAL_CALLS = 3;
const STEPS_WITHOUT_EVIDENCE = 3;
const UNREADABLE_CALLS = 3;

const isSeeking = ({ tool }: RecordedStep): boolean => tool !== null && !BESIDE.has(tool.name);

const callsOf = (steps: readonly RecordedStep[]): readonly RecordedStep[] =>
  steps.filter(({ kind, state }) => kind === "tool" && state !== "skipped");

/** Calls that might have found something: those of tools whose results no answer rests on do not count. */
const seekingCalls = (steps: readonly RecordedStep[]): readonly RecordedStep[] =>
  callsOf(steps).filter(isSeeking);
const BESIDE: ReadonlySet<string> = new Set(["note", "calculate"]);

const end = (why: string) => ({ kind: "end", why }) as const;
const hint = (told: string) => ({ kind: "hint", told }) as const;

const hintsBy = (steps: readonly RecordedStep[], rule: string): number =>
  steps.filter(({ kind, detail }) => kind === "policy" && detail["rule"] === rule).length;

/** In order: the first that has something to say acts. Each acts once for the same reason, so that some action is always left. */
const POLICIES: readonly Policy[] = [
  {
    name: "denials",
    decide({ steps }) {
      const denied = steps.filter(
        ({ state, detail }) => state === "denied" || detail["denied"] === true,
      );
      if (denied.length < MOST_DENIALS) return null;
      return {
        kind: "refuse",
        code: "TOOL_DENIED",
        message: `The model asked ${denied.length} times for what it may not use. \`nightdesk runs show\` has the calls; another preset may allow them.`,
      };
    },
  },
  {
    name: "max_steps",
    decide: ({ steps, limits }) =>
      steps.filter(({ kind }) => kind === "model" || kind === "tool").length >= limits.maxSteps
        ? end(`${limits.maxSteps} steps`)
        : null,
  },
  {
    name: "max_calls",
    decide: ({ steps, limits }) =>
      callsOf(steps).length >= limits.maxCalls ? end(`${limits.maxCalls} calls`) : null,
  },
  {
    name: "max_tokens",
    decide: ({ steps, limits }) =>
      sum(steps.map(({ tokens }) => tokens)) >= limits.maxTokens
        ? end(`${limits.maxTokens} tokens`)
        : null,
  },
  {
    name: "max_time",
    decide: ({ steps, limits }) =>
      sum(steps.map(({ activeMs }) => activeMs)) >= limits.maxSeconds * 1_000
        ? end(`${limits.maxSeconds} s`)
        : null,
  },
  {
    name: "unreadable",
    decide({ steps }) {
      const lately = trailing(
        steps.filter(({ kind }) => kind === "model" || kind === "tool"),
        ({ detail }) => "unreadable" in detail,
      );
      return lately >= UNREADABLE_CALLS ? end("calls that can't be read") : null;
    },
  },
  {
    name: "equal_calls",
    decide({ steps, evidence }) {
      const calls = callsOf(steps);
      const last = calls.at(-1)?.tool;
      const times = calls.filter(({ tool }) => tool?.key === last?.key).length;
      if (last === undefined || last === null || times < EQUAL_CALLS) return null;
      const hinted = hintsBy(steps, "equal_calls");
      if (hinted === 0) {
        return hint(
          `You have called ${last.name} with the same arguments ${times} times, and it gives the same each time. Do something else, or end.`,
        );
      }
      return times > EQUAL_CALLS
        ? stagnated(evidence, `the same call of ${last.name} ${times} times`)
        : null;
    },
  },
  {
    name: "no_new_evidence",
    decide({ steps, evidence }) {
      const calls = seekingCalls(steps);
      const without = trailing(calls, ({ tool }) => tool?.found === 0);
      if (without < STEPS_WITHOUT_EVIDENCE) return null;
      const lastHint = steps.findLastIndex(
        ({ kind, detail }) => kind === "policy" && detail["rule"] === "no_new_evidence",
      );
      const lastFind = steps.findLastIndex(
        (step) => isSeeking(step) && (step.tool?.found ?? 0) > 0,
      );
      if (lastHint <= lastFind) {
        return hint(
          `The last ${without} calls found nothing new. Look elsewhere or in other words, or end with what there is.`,
        );
      }
      const since = seekingCalls(steps.slice(lastHint)).length;
      return since >= STEPS_WITHOUT_EVIDENCE
        ? stagnated(evidence, `${without} calls that found nothing new`)
        : null;
    },
  },
];

/** What was found may still answer the question. */
const stagnated = (evidence: number, why: string): Decision =>
  evidence > 0
    ? end(why)
    : {
        kind: "refuse",
        code: "STAGNATED",
        message: `The investigation ended after ${why}, and found nothing to rest an answer on. Index more, or ask more narrowly.`,
      };

/** The first rule that has something to say; null where the model may go on. Pure. */
export function applyPolicies(situation: Situation): PolicyAction | null {
  for (const { name, decide } of POLICIES) {
    const action = decide(situation);
    if (action !== null) return { ...action, rule: name };
  }
  return null;
}

/** How many of the last ones hold, without a break. */
function trailing(steps: readonly RecordedStep[], holds: (step: RecordedStep) => boolean): number {
  const last = steps.findLastIndex((step) => !holds(step));
  return steps.length - 1 - last;
}

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, next) => total + next, 0);
