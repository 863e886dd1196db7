import { readCases } from "../../corpora/verification/read-cases.ts";
import type { VerificationCase } from "../../corpora/verification/read-cases.ts";
import type { Stop } from "../../support/killed-worker/boundaries.ts";

/** A place between two stages of an answer that is verified, at which workers are killed. */
type Stage = {
  readonly name: string;
  readonly stop: Stop;
  /** Whether it is the run of a check that is stopped there. */
  readonly isCheck: boolean;
  /** Cases of which a job comes by, each of them here alone. */
  readonly cases: readonly [string, string, string];
};

const stage = (
  name: string,
  boundary: Stop["boundary"],
  {
    modelPass,
    isCheck = false,
    cases,
  }: { readonly modelPass?: string; readonly isCheck?: boolean } & Pick<Stage, "cases">,
): Stage => ({ name, isCheck, cases, stop: { boundary, passing: 1, modelPass } });

const EVENING: readonly Stage[] = [
  stage("the questions are asked", "after the reply is kept", {
    modelPass: "decompose",
    cases: ["unreadable-01", "disagree-06", "figure-06"],
  }),
  stage("the draft is not settled", "while it parks", {
    cases: ["missed-02", "none-05", "figure-08"],
  }),
];
const MIDNIGHT: readonly Stage[] = [
  stage("the draft is settled, its check begins", "as it begins", {
    isCheck: true,
    cases: ["obeys-01", "obeys-05", "decompose-04"],
  }),
  stage("a verdict is not kept", "before the reply is kept", {
    modelPass: "verdict",
    isCheck: true,
    cases: ["unknown-01", "fabricated-05", "negative-05"],
  }),
  stage("a verdict is kept", "after the reply is kept", {
    modelPass: "verdict",
    isCheck: true,
    cases: ["decompose-01", "praise-05", "praise-06"],
  }),
  stage("the result of a check is not written", "at settlement", {
    isCheck: true,
    cases: ["fabricated-01", "reject-05", "reject-06"],
  }),
  stage("the checks have ended", "as it goes on after its checks", {
    cases: ["negative-01", "unreadable-05", "missed-01"],
  }),
  stage("what the auditor says is not kept", "before the reply is kept", {
    modelPass: "audit",
    cases: ["praise-01", "older-06", "right-24"],
  }),
  stage(
    "what the auditor says is kept, and the answer is to be revised",
    "after the reply is kept",
    {
      modelPass: "audit",
      cases: ["misquote-01", "misquote-05", "unknown-05"],
    },
  ),
  stage("the result is not written", "at settlement", {
    cases: ["reject-01", "right-30", "right-32"],
  }),
];

/** A job that loses its worker, and one that asks the same of documents of its own, and loses none. */
export type Pair = {
  readonly killed: VerificationCase;
  readonly quiet: VerificationCase;
  readonly act: "evening" | "midnight";
  readonly stop: Stop;
  /** Whether it is its first check that is stopped, and not the job. */
  readonly isCheck: boolean;
};

/** @param each how many jobs lose their worker at each stage */
export function verifiedPairs(each: 1 | 3): readonly Pair[] {
  const byId = new Map(readCases().map((one) => [one.id, one]));
  const pairsOf = (act: Pair["act"]) => (at: Stage) =>
    at.cases.slice(0, each).map((id): Pair => {
      const killed = byId.get(id);
      if (killed === undefined) throw new Error(`there is no case ${id}`);
      const { stop, isCheck } = at;
      return { killed, quiet: twinOf(killed), act, stop, isCheck };
    });
  return [...EVENING.flatMap(pairsOf("evening")), ...MIDNIGHT.flatMap(pairsOf("midnight"))];
}

const AGAIN = "Once more: ";

/** The same with an id, a folder and a question of its own. */
const twinOf = ({ question, ...one }: VerificationCase): VerificationCase => ({
  ...one,
  id: one.id.replace(/\d/, (digit) => String(Number(digit) + 5)),
  ...(question === undefined ? {} : { question: AGAIN + question }),
});

/** Of paths and texts, which are each one's own. */
const SNAPSHOT = /snapshot=[0-9a-f]{64}/g;

/** What is said of either of a pair, as if it were said of the one that is killed. */
export const asOfKilled = <Said>(said: Said, { killed, quiet }: Pair): Said =>
  JSON.parse(
    JSON.stringify(said)
      .replaceAll(quiet.id, killed.id)
      .replaceAll(AGAIN, "")
      .replaceAll(SNAPSHOT, "snapshot"),
  ) as Said;
