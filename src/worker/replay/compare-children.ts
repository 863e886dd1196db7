import { z } from "zod";
import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import { leftOutOf, sha256Of } from "../answer/digest-items.ts";
import type { DigestChild, LeftOut } from "../answer/digest-items.ts";
import { cleanText } from "../text/clean-text.ts";
import type { ChangedSource } from "./changed-source.ts";
import { sliceCodePoints } from "./slice-code-points.ts";

type Digest = Pick<RunDetail, "state" | "summary" | "calls">;

/**
 * The jobs that do not say what they said when a digest told of them, by what its prompts showed and what it named as
 * left out: answers that changed, that came later, or that are gone with their jobs.
 */
export function compareChildren(
  run: Digest,
  children: readonly DigestChild[],
): readonly ChangedSource[] {
  const shown = answersIn(run);
  const changed = [
    ...shown.flatMap((answer) => lostAnswer(answer, children)),
    ...compareLeftOut(run, children),
    ...newAnswers(run, shown, children),
  ];
  // A job whose answer is gone stands among those left out as well, and what is said first says more.
  return [...new Map(changed.toReversed().map((one) => [one.path, one])).values()].toReversed();
}

type Answer = Digest["calls"][number]["prompt"]["evidence"][number];

/** The answers of jobs that prompts showed, each once; what stands above them is lines about answers. */
function answersIn({ calls }: Digest): readonly Answer[] {
  const all = calls.flatMap(({ prompt }) => prompt.evidence);
  const answers = all.filter(({ summaryLevel }) => summaryLevel === 0);
  return [...new Map(answers.map((one) => [`${one.path}\n${one.sha256}`, one])).values()];
}

/** A long answer may have been shown to some line only. */
const isAnswer = ({ path, words }: DigestChild, { sha256, endChar, ...shown }: Answer): boolean =>
  cleanText(path) === shown.path &&
  words !== null &&
  sha256Of(sliceCodePoints(words, 0, endChar)) === sha256;

function lostAnswer(answer: Answer, children: readonly DigestChild[]): ChangedSource[] {
  if (children.some((child) => isAnswer(child, answer))) return [];
  const { path } = answer;
  const [now] = children.filter((child) => cleanText(child.path) === path);
  if (now === undefined) {
    return [{ path, reason: "deleted", message: "its job is not there any more" }];
  }
  return now.words === null
    ? [
        {
          path,
          reason: now.state,
          message: `succeeded then, ${endOf(now.state, now.errorCode)} now`,
        },
      ]
    : [{ path, reason: "changed", message: "its job gave another answer since" }];
}

/** Only a digest that was finished, or that found nothing to ask about, had looked at all of them. */
function newAnswers(
  { state, calls }: Digest,
  shown: readonly Answer[],
  children: readonly DigestChild[],
): ChangedSource[] {
  if (state !== "succeeded" && calls.length > 0) return [];
  return children
    .filter((child) => child.words !== null && child.words !== "")
    .filter((child) => !shown.some((answer) => isAnswer(child, answer)))
    .map(({ path }) => ({ path, reason: "new", message: "its job had no such answer then" }));
}

const leftOutSchema = z.object({
  failed: z.array(
    z.object({
      path: z.string(),
      kind: z.string(),
      state: z.string(),
      error_code: z.string().nullable(),
      job_id: z.string(),
    }),
  ),
});

function compareLeftOut({ summary }: Digest, children: readonly DigestChild[]): ChangedSource[] {
  if (summary === null) return [];
  const { failed } = leftOutSchema.parse(summary);
  const now = leftOutOf(children);
  const ended = (list: readonly LeftOut[], { job_id: id }: LeftOut) => {
    const found = list.find((one) => one.job_id === id);
    return found === undefined ? "not left out" : endOf(found.state, found.error_code);
  };
  const distinct = new Map([...failed, ...now].map((one) => [one.job_id, one]));
  return [...distinct.values()].flatMap((one) => {
    const [before, after] = [ended(failed, one), ended(now, one)];
    if (before === after) return [];
    return [{ path: one.path, reason: "changed", message: `${before} then, ${after} now` }];
  });
}

const endOf = (state: string, code: string | null): string =>
  code === null ? state : `${state} with ${code}`;
