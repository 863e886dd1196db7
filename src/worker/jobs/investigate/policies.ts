import { sum } from "../../run-trace.ts";
import { DRIFT_POLICIES, NO_NEW_EVIDENCE, SOURCES } from "./drift-policies.ts";
import {
  callsOf,
  CUT_REPLY,
  endLoop,
  giveHint,
  lastHintBy,
  endStagnated,
  countTrailing,
  unreadableLately,
} from "./policy.ts";
import type { Policy, PolicyAction, Situation } from "./policy.ts";
import type { RecordedStep } from "./record.ts";

/** The rule in the record of a tool that the machine can't carry out. */
export const DISABLED = "disabled";

/** The rule in the record of a call whose arguments its tool does not accept. */
export const BAD_ARGUMENTS = "bad_arguments";

/** The rule in the record of a call beyond the limit of its tool. */
export const CALL_LIMIT = "call_limit";

/** The rule that ends an investigation after its limit of working time. */
export const MAX_TIME = "max_time";

const MOST_DENIALS = 3;
const EQUAL_CALLS = 3;
const UNREADABLE_REPLIES = 5;
/** The reason that the end then records. */
export const ENDED_UNREADABLE = `${UNREADABLE_REPLIES} replies without a call that can be read`;
const CALLS_NOT_MADE = 3;

/** Whether a call was not carried out because of its arguments or its tool's limit; one without a grant counts as denied. */
const isNotMade = ({ detail }: RecordedStep): boolean =>
  detail["rule"] === BAD_ARGUMENTS || detail["rule"] === CALL_LIMIT;

const FIRST_TOOL = "first_tool";

/** Whether a model that wants to end has not made any call and has not had the hint about it. */
export const isTooEarly = (steps: readonly RecordedStep[]): boolean =>
  callsOf(steps).length === 0 && lastHintBy(steps, FIRST_TOOL) === -1;

const lastReply = (steps: readonly RecordedStep[]): RecordedStep | undefined =>
  steps.findLast(({ kind }) => kind === "model");

/** In order: the first rule that decides something acts. Each acts once for the same reason, so that an action is always left. */
const POLICIES: readonly Policy[] = [
  {
    name: "denials",
    decide({ steps, evidence }) {
      const denied = steps.filter(
        ({ state, detail }) => state === "denied" || detail["denied"] === true,
      );
      if (denied.length < MOST_DENIALS) return null;
      if (evidence > 0) return endLoop(`${denied.length} calls that may not be made`);
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
        ? endLoop(`${limits.maxSteps} steps`)
        : null,
  },
  {
    name: "max_calls",
    decide: ({ steps, limits }) =>
      callsOf(steps).length >= limits.maxCalls ? endLoop(`${limits.maxCalls} calls`) : null,
  },
  {
    name: "max_tokens",
    decide: ({ steps, limits }) =>
      sum(steps.map(({ tokens }) => tokens)) >= limits.maxTokens
        ? endLoop(`${limits.maxTokens} tokens`)
        : null,
  },
  {
    name: MAX_TIME,
    decide: ({ steps, limits }) =>
      sum(steps.map(({ activeMs }) => activeMs)) >= limits.maxSeconds * 1_000
        ? endLoop(`${limits.maxSeconds} s`)
        : null,
  },
  {
    name: "unreadable",
    decide: ({ steps }) =>
      unreadableLately(steps) >= UNREADABLE_REPLIES ? endLoop(ENDED_UNREADABLE) : null,
  },
  {
    name: "cut_reply",
    decide: ({ steps }) =>
      lastReply(steps)?.detail["unreadable"] === CUT_REPLY && lastHintBy(steps, "cut_reply") === -1
        ? giveHint(
            "Your reply was cut because it was too long. Write the call alone, and no words before it.",
          )
        : null,
  },
  {
    name: FIRST_TOOL,
    decide({ steps, tools }) {
      const { no_call: noCall, next } = lastReply(steps)?.detail ?? {};
      const isWithoutCall = noCall === true || next === "end";
      return isWithoutCall && tools.length > 0 && isTooEarly(steps)
        ? giveHint(
            `Nothing was looked at yet, and what you know yourself is no evidence. Call one of ${tools.join(", ")}.`,
          )
        : null;
    },
  },
  {
    // Rules about calls do not count calls that were not carried out.
    name: "not_made",
    decide({ steps, evidence }) {
      const calls = steps.filter((step) => step.kind === "tool" || isNotMade(step));
      const lately = countTrailing(calls, isNotMade);
      if (lately < CALLS_NOT_MADE) return null;
      const lastHint = lastHintBy(steps, "not_made");
      if (lastHint <= steps.findLastIndex(({ kind }) => kind === "tool")) {
        return giveHint(
          `None of your last ${lately} calls could be made. Look at what you were told of them, call another tool, or end.`,
        );
      }
      return steps.slice(lastHint).filter(isNotMade).length >= CALLS_NOT_MADE
        ? endStagnated(evidence, `${lately} calls that could not be made`)
        : null;
    },
  },
  {
    name: "equal_calls",
    decide({ steps, evidence }) {
      const calls = callsOf(steps);
      const last = calls.at(-1)?.tool;
      const times = calls.filter(({ tool }) => tool?.key === last?.key).length;
      if (last === undefined || last === null || times < EQUAL_CALLS) return null;
      if (lastHintBy(steps, "equal_calls") === -1) {
        return giveHint(
          `You have called ${last.name} with the same arguments ${times} times, and it gives the same each time. Do something else, or end.`,
        );
      }
      return times > EQUAL_CALLS
        ? endStagnated(evidence, `the same call of ${last.name} ${times} times`)
        : null;
    },
  },
  SOURCES,
  NO_NEW_EVIDENCE,
  ...DRIFT_POLICIES,
];

/** The decision of the first rule that applies; null if the model may go on. Pure. */
export function applyPolicies(situation: Situation): PolicyAction | null {
  for (const { name, decide } of POLICIES) {
    const action = decide(situation);
    if (action !== null) return { ...action, rule: name };
  }
  return null;
}
