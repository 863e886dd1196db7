import { expect, test } from "@jest/globals";
import type { CitableBlock } from "../../../../src/worker/evidence/number.ts";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { readClaims, readPairs, splitOf } from "../../../corpora/claims/read-claims.ts";
import { readFramed } from "../../../corpora/frames/read-framed.ts";
import { readOutsiders } from "../../../corpora/outsiders/read-outsiders.ts";
import { expectLinear } from "../../../support/time-taken.ts";
import { pieceOf } from "./pieces-of.ts";

type Labelled = {
  readonly claim: string;
  readonly kind: string;
  readonly verdict: "good" | "bad";
  readonly evidence: readonly CitableBlock[];
};

/** The kept third of a set: each passage is one piece for all of its claims. */
function keptOf(folder: "" | "second-kept"): Labelled[] {
  const { passages, claims } = readClaims(folder);
  const pieceById = new Map(passages.map(({ id, path, text }) => [id, pieceOf(path, text)]));
  const evidenceOf = (ids: readonly string[]): CitableBlock[] =>
    ids.flatMap((id, at) => {
      const piece = pieceById.get(id);
      return piece === undefined ? [] : [at === 0 ? piece : { ...piece, number: at + 1 }];
    });
  return claims
    .filter((claim) => splitOf(claim) === "final")
    .map(({ passages: ids, ...claim }) => ({ ...claim, evidence: evidenceOf(ids) }));
}

const pairs = readPairs().map((pair) => ({
  ...pair,
  kind: "pair",
  evidence: [pieceOf("notes.md", pair.evidence)],
}));
const frames = readFramed()
  .filter(({ passage }) => passage.kept)
  .map(({ claim, passage }) => ({
    ...claim,
    kind: "frame",
    evidence: [pieceOf(passage.path, passage.text)],
  }));
const outsiders = readOutsiders().map(({ claim, kind, verdict, of: { path, text } }) => ({
  claim,
  kind,
  verdict,
  evidence: [pieceOf(path, text)],
}));

/** How a claim stands by its grade without a judge: grade.test.ts says what a judge makes of that. */
const readAll = (claims: readonly Labelled[]) =>
  claims.map(({ claim, kind, verdict, evidence }) => {
    const cites = evidence.map(({ number }) => number);
    const [graded] = gradeClaims([{ text: claim, cites }], evidence, { question: "" });
    const { grade = "unsupported", reason } = graded ?? {};
    const isOpen = grade === "unconfirmed" && reason === "not_asked";
    return { kind, verdict, standing: isOpen ? "open" : grade };
  });
const SETS = {
  "first, kept": readAll(keptOf("")),
  "second, kept": readAll(keptOf("second-kept")),
  pairs: readAll(pairs),
  "frames, kept": readAll(frames),
  outsiders: readAll(outsiders),
};
type Read = ReturnType<typeof readAll>;

/** What stands so, in per cent. */
const shareOf = (members: Read, ...standings: readonly string[]): number =>
  (100 * members.filter(({ standing }) => standings.includes(standing)).length) / members.length;
const of = (set: Read, verdict: "good" | "bad", ...kinds: readonly string[]): Read =>
  set.filter((one) => one.verdict === verdict && (kinds.length === 0 || kinds.includes(one.kind)));

/** The expected share that ends supported where a judge says yes to so much of it. */
const supportedAt = (yes: number, members: Read): number =>
  shareOf(members, "supported") + yes * shareOf(members, "open");

// Measured: bench/judged-claims.ts. No wrong claim is a whole sentence of its piece.
test.each([
  ["first, kept", { bad: 494, good: 198 }, { bad: 5.2, good: 86, left: 5.6 }],
  ["second, kept", { bad: 357, good: 206 }, { bad: 6.5, good: 86, left: 4.9 }],
  ["pairs", { bad: 475, good: 395 }, { bad: 7.8, good: 82.5, left: 7.9 }],
  ["outsiders", { bad: 148, good: 148 }, { bad: 7.0, good: 78.9, left: 11.5 }],
  ["frames, kept", { bad: 74, good: 84 }, { bad: 2.7, good: 64, left: 4.8 }],
] as const)("%s", (name, counts, { bad: mostBad, good: leastGood, left }) => {
  const [bad, good] = [of(SETS[name], "bad"), of(SETS[name], "good")];
  expect({ bad: bad.length, good: good.length }).toEqual(counts);
  expect(shareOf(bad, "supported")).toBe(0);
  expect(shareOf(good, "unsupported")).toBeLessThanOrEqual(left);
  expect(supportedAt(0.1, bad)).toBeLessThanOrEqual(mostBad);
  expect(supportedAt(0.9, good)).toBeGreaterThanOrEqual(leastGood);
});

test.each([
  ["figure", 84],
  ["date", 80],
  ["unit", 79],
  ["name", 91],
  ["citation", 66],
])("of bad %s claims of both kept thirds at least %d %% are unsupported", (kind, least) => {
  const bad = [SETS["first, kept"], SETS["second, kept"]].flatMap((set) => of(set, "bad", kind));
  expect(shareOf(bad, "unsupported")).toBeGreaterThanOrEqual(least);
});

test("good claims that are whole sentences are supported, but for 2 of 49 that are left to a judge", () => {
  const whole = [SETS["first, kept"], SETS["second, kept"]].flatMap((set) =>
    of(set, "good", "verbatim"),
  );
  expect(whole).toHaveLength(49);
  expect(shareOf(whole, "supported", "open")).toBe(100);
  expect(whole.filter(({ standing }) => standing === "open").length).toBeLessThanOrEqual(2);
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
