// What the labelled claims of tests/corpora/claims become with a judge that calls right ones right and wrong ones wrong so often:
// the expected shares, reckoned from the grade of each claim under each verdict. No model is asked; what one is worth its exam says
// (nightdesk models examine). Sets: the kept thirds of both, the pairs, the framed claims of tests/corpora/frames and the claims
// of an outsider. Last how many right answers in prose are expected without a mark, when each statement is asked by itself.
// node --import ./bench/register.js bench/judged-claims.ts
import type { ClaimGrade } from "../src/shared/job/run-result.ts";
import type { CitableBlock } from "../src/worker/evidence/number.ts";
import { checkAnswer } from "../src/worker/verify/check-answer.ts";
import type { GradedStatement } from "../src/worker/verify/claims/answer-claims.ts";
import { verdictKey } from "../src/worker/verify/claims/answer-claims.ts";
import { gradeClaims } from "../src/worker/verify/claims/grade.ts";
import { readClaims, readPairs, splitOf } from "../tests/corpora/claims/read-claims.ts";
import { readFramed } from "../tests/corpora/frames/read-framed.ts";
import { readOutsiders, readRealistic } from "../tests/corpora/outsiders/read-outsiders.ts";
import { pieceOf } from "../tests/worker/verify/claims/pieces-of.ts";
import { rulesFor } from "../tests/worker/verify/support-world.ts";
import { JUDGES, nameOf, printShares } from "./judges.ts";

type Labelled = {
  readonly text: string;
  readonly evidence: readonly CitableBlock[];
  readonly isGood: boolean;
};

const ofSet = (folder: "" | "second-kept"): Labelled[] => {
  const { passages, claims } = readClaims(folder);
  const byId = new Map(passages.map((passage) => [passage.id, passage]));
  return claims
    .filter((claim) => splitOf(claim) === "final")
    .map(({ claim, passages: cited, verdict }) => ({
      text: claim,
      isGood: verdict === "good",
      evidence: cited.flatMap((id, at) => {
        const passage = byId.get(id);
        return passage === undefined
          ? []
          : [{ ...pieceOf(passage.path, passage.text), number: at + 1 }];
      }),
    }));
};

const SETS: Readonly<Record<string, readonly Labelled[]>> = {
  "first, kept": ofSet(""),
  "second, kept": ofSet("second-kept"),
  pairs: readPairs().map(({ claim, evidence, verdict }) => ({
    text: claim,
    isGood: verdict === "good",
    evidence: [pieceOf("notes.md", evidence)],
  })),
  "frames, kept": readFramed()
    .filter(({ passage }) => passage.kept)
    .map(({ claim, passage }) => ({
      text: claim.claim,
      isGood: claim.verdict === "good",
      evidence: [pieceOf(passage.path, passage.text)],
    })),
  outsiders: readOutsiders().map(({ claim, verdict, of }) => ({
    text: claim,
    isGood: verdict === "good",
    evidence: [pieceOf(of.path, of.text)],
  })),
};

const gradeUnder = ({ text, evidence }: Labelled, says: "yes" | "no" | null): ClaimGrade => {
  const verdict = says === null ? {} : { verdict: { says, detail: "" } };
  const cites = evidence.map(({ number }) => number);
  const [graded] = gradeClaims([{ text, cites, ...verdict }], evidence, { question: "" });
  return graded?.grade ?? "unsupported";
};

for (const [name, claims] of Object.entries(SETS)) {
  console.log(`\n${name}: supported / unconfirmed / unsupported, in per cent`);
  const graded = claims.map((claim) => ({
    isRight: claim.isGood,
    alone: gradeUnder(claim, null),
    yes: gradeUnder(claim, "yes"),
    no: gradeUnder(claim, "no"),
  }));
  printShares(graded, { wrong: "bad", right: "good" });
}

/** The statements of a right answer, when a judge says the same of each. */
function statementsUnder(
  { question, answer, passages }: ReturnType<typeof readRealistic>[number],
  says: "yes" | "no" | null,
): readonly GradedStatement[] {
  const evidence = passages.map(({ path, text }, at) => pieceOf(path, text, at + 1));
  const check = (verdicts: ReadonlyMap<string, { says: "yes" | "no"; detail: string }>) => {
    const checked = checkAnswer(
      { text: answer, toolCalls: [], doneReason: "stop" },
      rulesFor(evidence, { question, verdicts }),
    );
    return checked.kind === "declined" ? [] : checked.statements;
  };
  const alone = check(new Map());
  if (says === null) return alone;
  return check(
    new Map(alone.map(({ record }) => [verdictKey(record), { says, detail: "" }] as const)),
  );
}

console.log("\nright answers without a mark, of 40 expected");
const answers = readRealistic().map((answer) => ({
  alone: statementsUnder(answer, null),
  yes: statementsUnder(answer, "yes"),
  no: statementsUnder(answer, "no"),
}));
for (const judge of JUDGES) {
  const right = judge?.right ?? 0;
  const share = (statement: GradedStatement | undefined): number =>
    statement?.record.grade === "supported" ? 1 : 0;
  const expected = answers.map(({ alone, yes, no }) =>
    alone.reduce(
      (chance, one, at) =>
        chance *
        (judge === null ? share(one) : right * share(yes[at]) + (1 - right) * share(no[at])),
      alone.length === 0 ? 0 : 1,
    ),
  );
  console.log(`  ${nameOf(judge)} ${expected.reduce((sum, one) => sum + one, 0).toFixed(1)}`);
}
