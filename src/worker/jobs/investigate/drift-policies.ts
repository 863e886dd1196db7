import type { DriftLimits } from "../../../shared/store/investigations/grants.ts";
import {
  callsOf,
  endLoop,
  hasFound,
  giveHint,
  isSeeking,
  lastHintBy,
  endStagnated,
  countTrailing,
} from "./policy.ts";
import type { Decision, Policy, Situation } from "./policy.ts";
import type { RecordedStep } from "./record.ts";

/** Calls that were carried out; a denied call was not. */
const madeCalls = (steps: readonly RecordedStep[]): readonly RecordedStep[] =>
  callsOf(steps).filter(({ state }) => state === "done" || state === "failed");

/** Calls that a model gets to act on a hint before the next hint. */
const CALLS_TO_ACT = 2;
/** The most hints of one rule about different queries or places. */
const MOST_HINTS = 3;
/** Fewer than the number that triggers the hint "found nothing new", which asks the model to look elsewhere. */
const CALLS_BEYOND_SOURCES = 2;

const isHint = ({ kind, detail }: RecordedStep): boolean =>
  kind === "policy" && detail["action"] === "hint";

const callsSince = (steps: readonly RecordedStep[], at: number): number =>
  madeCalls(steps.slice(at + 1)).length;

/** Whether the model has had enough calls to act on the last hint. */
function mayHint(steps: readonly RecordedStep[]): boolean {
  const last = steps.findLastIndex(isHint);
  return last === -1 || callsSince(steps, last) >= CALLS_TO_ACT;
}

/** Whether a rule may give this hint: once per subject, and only for a few subjects. */
function isNewHint(steps: readonly RecordedStep[], rule: string, about: string): boolean {
  const told = steps.filter((step) => isHint(step) && step.detail["rule"] === rule);
  return told.length < MOST_HINTS && !told.some(({ detail }) => detail["about"] === about);
}

/** Whether the hint about enough sources was given; after it no rule asks for more. */
const hasEnoughSources = (steps: readonly RecordedStep[]): boolean =>
  lastHintBy(steps, SOURCES.name) !== -1;

/** A rule that applies only if its limit is set. */
const policyWithLimit = (
  name: string,
  limit: keyof DriftLimits,
  decide: (most: number, situation: Situation) => Decision | null,
): Policy => ({
  name,
  decide(situation) {
    const most = situation.limits.drift?.[limit] ?? null;
    return most === null ? null : decide(most, situation);
  },
});

/** Ends a search that has evidence from enough files and pages: first a hint, then, after a few more calls, the end. */
export const SOURCES: Policy = policyWithLimit("sources", "sources", (most, { steps, sources }) => {
  if (sources < most) return null;
  const hinted = lastHintBy(steps, "sources");
  if (hinted === -1) {
    return giveHint(
      `There is evidence from ${sources} sources, and ${most} are enough. Look into what there is, in ${CALLS_BEYOND_SOURCES} calls at most, or end.`,
    );
  }
  return callsSince(steps, hinted) >= CALLS_BEYOND_SOURCES
    ? endLoop(`evidence from ${sources} sources`)
    : null;
});

/** Calls that were carried out and may find something. */
const seekingCalls = (steps: readonly RecordedStep[]): readonly RecordedStep[] =>
  madeCalls(steps).filter(isSeeking);

/** Gives a hint after so many calls that find nothing new, and ends the search after as many more. */
export const NO_NEW_EVIDENCE: Policy = policyWithLimit(
  "no_new_evidence",
  "noNewEvidence",
  (most, { steps, evidence }) => {
    if (hasEnoughSources(steps)) return null;
    const calls = seekingCalls(steps);
    const without = countTrailing(calls, (step) => !hasFound(step));
    if (without < most) return null;
    const lastHint = lastHintBy(steps, "no_new_evidence");
    const lastFind = steps.findLastIndex((step) => isSeeking(step) && hasFound(step));
    if (lastHint <= lastFind) {
      return giveHint(
        `The last ${without} calls found nothing new. Look elsewhere or in other words, or end with what there is.`,
      );
    }
    return seekingCalls(steps.slice(lastHint)).length >= most
      ? endStagnated(evidence, `${without} calls that found nothing new`)
      : null;
  },
);

const FAILURES = policyWithLimit("failures", "failures", (most, { steps, evidence, tools }) => {
  const calls = madeCalls(steps);
  const last = calls.at(-1);
  const code = last?.tool?.error?.code;
  if (last?.tool === undefined || last.tool === null || code === undefined) return null;
  const { name } = last.tool;
  const ofTool = calls.filter(({ tool }) => tool?.name === name);
  const failed = countTrailing(ofTool, ({ tool }) => tool?.error?.code === code);
  if (failed < most) return null;
  const first = steps.findIndex((step) => step === ofTool.at(-failed));
  const about = `${name} ${code}`;
  const hinted = steps.findLastIndex(
    (step, at) => at > first && isHint(step) && step.detail["about"] === about,
  );
  if (hinted === -1) {
    const other = tools.length > 1 ? "with other arguments, use another tool," : "otherwise";
    return mayHint(steps)
      ? giveHint(`${name} failed ${failed} times with ${code}. Call it ${other} or end.`, about)
      : null;
  }
  const since = ofTool.filter((step) => steps.indexOf(step) > hinted).length;
  // Other tools may find what this tool does not.
  const isLost = madeCalls(steps.slice(hinted)).every(({ tool }) => (tool?.found ?? 0) === 0);
  return since >= most && isLost
    ? endStagnated(evidence, `${failed} calls of ${name} that failed with ${code}`)
    : null;
});

const SAME_QUERY = policyWithLimit("same_query", "sameQuery", (most, { steps }) => {
  const calls = madeCalls(steps);
  const last = calls.at(-1);
  const family = last?.detail["family"];
  // A call that still finds something, as on the next page or in another folder, is no repetition.
  if (last === undefined || typeof family !== "string" || hasFound(last)) return null;
  const alike = calls.filter(
    ({ tool, detail }) => tool?.name === last.tool?.name && detail["family"] === family,
  );
  if (alike.length < most || hasEnoughSources(steps) || !mayHint(steps)) return null;
  return isNewHint(steps, "same_query", family)
    ? giveHint(
        `${last.tool?.name ?? "A tool"} was asked ${alike.length} times for these words in one form or another, the last time for nothing new. Ask for something else, or end.`,
        family,
      )
    : null;
});

const SAME_PLACE = policyWithLimit("same_place", "samePlace", (most, { steps, roots }) => {
  const calls = madeCalls(steps).filter(isSeeking);
  const place = calls.at(-1)?.detail["place"];
  if (typeof place !== "string") return null;
  const times = countTrailing(calls, ({ detail }) => detail["place"] === place);
  if (times < most || hasEnoughSources(steps) || !mayHint(steps)) return null;
  // The job may not look outside of its folders.
  if (roots.some((root) => root.replace(/\/+$/, "") === place)) return null;
  return isNewHint(steps, "same_place", place)
    ? giveHint(
        `The last ${times} calls looked at ${place}. Unless each part of it has to be read, look at another ${place.includes("://") ? "site" : "folder"}, or end.`,
        place,
      )
    : null;
});

const NOTES = policyWithLimit("notes", "notesEvery", (every, { steps, tools }) => {
  if (!tools.includes("note") || hasEnoughSources(steps) || !mayHint(steps)) return null;
  const noted = steps.findLastIndex(({ tool, state }) => tool?.name === "note" && state === "done");
  const since = callsSince(steps, Math.max(noted, lastHintBy(steps, "notes")));
  return since >= every
    ? giveHint(
        `${since} calls without a note. Keep what was found, by its numbers, and what is open, with note: it is shown also when older steps are shown in brief.`,
      )
    : null;
});

/** In order. They give hints and block nothing; no hint asks for something that another rule forbids or the grant lacks. */
export const DRIFT_POLICIES: readonly Policy[] = [FAILURES, SAME_QUERY, SAME_PLACE, NOTES];
