import { expect, test } from "@jest/globals";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import type { ClaimGrade, GradedClaim } from "../../../../src/worker/verify/claims/grade.ts";
import { readClaims, splitOf } from "../../../corpora/claims/read-claims.ts";
import type { LabelledClaim } from "../../../corpora/claims/read-claims.ts";
import { expectLinear } from "../../../support/time-taken.ts";
import { pieceOf } from "./pieces-of.ts";

const { passages, claims } = readClaims();
const pieceById = new Map(passages.map(({ id, path, text }) => [id, pieceOf(path, text)]));

const gradeOf = ({ passages: ids, claim }: LabelledClaim): GradedClaim | undefined => {
  const evidence = ids.flatMap((id, at) => {
    const piece = pieceById.get(id);
    return piece === undefined ? [] : [at === 0 ? piece : { ...piece, number: at + 1 }];
  });
  const cites = evidence.map(({ number }) => number);
  return gradeClaims([{ text: claim, cites }], evidence, { question: "" })[0];
};

const gradeAll = (part: ReturnType<typeof splitOf>) =>
  claims
    .filter((claim) => splitOf(claim) === part)
    .map((claim) => ({ claim, graded: gradeOf(claim) }));
const graded = gradeAll("tune");

/** In per cent, of the claims of these kinds. */
function rateOf(
  verdict: "good" | "bad",
  grade: ClaimGrade,
  isOf: (claim: LabelledClaim) => boolean = () => true,
  of = graded,
): number {
  const members = of.filter(({ claim }) => claim.verdict === verdict && isOf(claim));
  const hits = members.filter((member) => member.graded?.grade === grade);
  return (hits.length / members.length) * 100;
}

const isKind =
  (...kinds: readonly string[]) =>
  ({ kind }: LabelledClaim): boolean =>
    kinds.includes(kind);

test("bad claims are rarely supported: 2 of 100 in all", () => {
  expect(rateOf("bad", "supported")).toBeLessThan(2);
});

test("of the third that was kept until its errors were read 2 of 100 bad claims are supported", () => {
  const kept = gradeAll("final");
  expect(rateOf("bad", "supported", () => true, kept)).toBeLessThan(2);
  expect(rateOf("good", "unsupported", () => true, kept)).toBeLessThan(4);
  expect(rateOf("good", "supported", isKind("verbatim"), kept)).toBe(100);
});

test.each([
  ["citation", 0.1, 80],
  ["figure", 0.1, 80],
  ["date", 1, 80],
  ["unit", 1, 74],
  ["name", 1, 85],
])("of bad %s claims at most %d %% are supported, and %d %% unsupported", (kind, most, least) => {
  expect(rateOf("bad", "supported", isKind(kind))).toBeLessThan(most);
  expect(rateOf("bad", "unsupported", isKind(kind))).toBeGreaterThan(least);
});

test.each([
  ["negation", 3],
  ["invention", 3],
  ["misplaced", 3],
  ["quantifier", 5],
  ["planned", 5],
  ["neighbour", 6],
  ["order", 8],
  ["comparison", 6],
])("of bad %s claims at most %d %% are supported", (kind, most) => {
  expect(rateOf("bad", "supported", isKind(kind))).toBeLessThan(most);
});

test("good claims are rarely unsupported, and whole sentences are supported", () => {
  expect(rateOf("good", "unsupported")).toBeLessThan(4);
  expect(rateOf("good", "unsupported", isKind("computed"))).toBeLessThan(15);
  expect(rateOf("good", "supported", isKind("verbatim"))).toBe(100);
  expect(rateOf("good", "supported", (claim) => !isKind("translated")(claim))).toBeGreaterThan(24);
});

test("what is supported says where it stands, and why", () => {
  for (const { graded: one } of graded) {
    if (one?.grade !== "supported") continue;
    expect(one.place).not.toBeNull();
    expect(["verbatim", "carried", "arithmetic"]).toContain(one.reason);
  }
});

test("grading takes time that grows with the evidence as a line does", async () => {
  const line = "The ferry to Sandray leaves at 09:15 from pier 4 and costs £7.20, not £3.60. ";
  await expectLinear(100, (lines) => () => {
    const evidence = [pieceOf("a.md", `${line.repeat(8)}\n`.repeat(lines / 8))];
    gradeClaims([{ text: "The ferry to Mull leaves at 10:15.", cites: [1] }], evidence, {
      question: "",
    });
  });
});

test("grading takes time that grows with the claims as a line does", async () => {
  const evidence = [pieceOf("a.md", "The ferry leaves at 09:15. It costs £7.20.\n".repeat(50))];
  await expectLinear(50, (count) => {
    const text = "The bus leaves at 08:15 and costs £9 in all.";
    const many = Array.from({ length: count }, () => ({ text, cites: [1] }));
    return () => gradeClaims(many, evidence, { question: "" });
  });
});

test.each([
  ["letters", "a"],
  ["digits", "1"],
  ["digits and commas", "1,"],
  ["capitals", "Ab "],
  ["stops", ". "],
  ["bars", "| a "],
  ["dates", "3. Juni "],
  ["codes", "a-1_"],
  ["characters of Japanese", "一"],
  ["quote marks", "“A"],
])("a hostile claim and piece of %s takes time as a line does", async (_, unit) => {
  await expectLinear(10_000, (count) => () => {
    const text = unit.repeat(count);
    gradeClaims([{ text, cites: [1] }], [pieceOf("a.md", `${text}\n${text}`)], { question: "" });
  });
});
