import { CLAIM_GRADES } from "../src/shared/job/run-result.ts";
import type { ClaimGrade } from "../src/shared/job/run-result.ts";

/** How often a judge says yes to what is right, and to what is wrong; null where there is none. */
export const JUDGES = [
  null,
  { right: 0.95, wrong: 0.03 },
  { right: 0.9, wrong: 0.1 },
  { right: 0.85, wrong: 0.2 },
] as const;

export const nameOf = (judge: (typeof JUDGES)[number]): string =>
  (judge === null ? "no judge" : `${String(judge.right)}/${String(judge.wrong)}`).padEnd(10);

/** What a labelled statement or value is graded by rules alone, and under each word of a judge. */
type Graded = {
  readonly isRight: boolean;
  readonly alone: ClaimGrade | null;
  readonly yes: ClaimGrade | null;
  readonly no: ClaimGrade | null;
};

/** A line for each judge: the expected shares of grades of what is wrong and of what is right, in per cent. */
export function printShares(
  graded: readonly Graded[],
  names: { readonly wrong: string; readonly right: string },
): void {
  for (const judge of JUDGES) {
    const cells = (["wrong", "right"] as const).map((kind) => {
      const members = graded.filter(({ isRight }) => isRight === (kind === "right"));
      const yes = judge === null ? 0 : judge[kind];
      const percents = CLAIM_GRADES.map((grade) => {
        const expected = members.reduce((sum, one) => {
          if (judge === null) return sum + (one.alone === grade ? 1 : 0);
          return sum + (one.yes === grade ? yes : 0) + (one.no === grade ? 1 - yes : 0);
        }, 0);
        return ((100 * expected) / members.length).toFixed(1);
      });
      return `${names[kind]} (${String(members.length)}) ${percents.join(" / ")}`;
    });
    console.log(`  ${nameOf(judge)} ${cells.map((cell) => cell.padEnd(34)).join("")}`);
  }
}
