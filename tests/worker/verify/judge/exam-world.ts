import type { ExamPair } from "../../../../src/worker/verify/judge/exam-pairs.ts";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import type { GradedClaim } from "../../../../src/worker/verify/claims/grade.ts";
import { pieceOf } from "../claims/pieces-of.ts";

export const textOf = ({ heading, lines }: ExamPair): string =>
  (heading === null ? "" : `# ${heading}\n\n`) + lines.join("\n");

export function gradeByVetoes(pair: ExamPair): GradedClaim {
  const claim = { text: pair.statement, cites: [1] };
  const evidence = [pieceOf("exam.md", textOf(pair))];
  const [graded] = gradeClaims([claim], evidence, { question: "" });
  if (graded === undefined) throw new Error(`no grade for ${pair.id}`);
  return graded;
}
