import { describe, expect, test } from "@jest/globals";
import type { ClaimRecord } from "../../../../src/shared/run-result.ts";
import { boundClaims, MOST_ROW_CHARS } from "../../../../src/shared/run-trace.ts";
import type { ClaimPair, EntailmentScores } from "../../../../src/worker/evidence/types.ts";
import type { Validated } from "../../../../src/worker/evidence/validated.ts";
import type { AnswerRules, UnsupportedPolicy } from "../../../../src/worker/verify/check-answer.ts";
import { validateAnswer } from "../../../../src/worker/verify/check-reply.ts";
import type { PassedReply } from "../../../../src/worker/verify/check-reply.ts";
import {
  compareReply,
  pairFor,
  premiseOf,
  recordedScores,
} from "../../../../src/worker/verify/claims/entailment.ts";
import { testOffload } from "../../offload/test-offload.ts";
import { pieceOf } from "./pieces-of.ts";

const FERRY = pieceOf(
  "notes/ferry.md",
  `# Harwick ferry

The ferry leaves the quay at 09:15 and carries bicycles. The evening crossing does not run on Sundays.
Mr Alder is the captain. The fare is 12 euro for adults and 6 euro for children. The council plans to widen the pier in 2027.
`,
);
const CUT = "The ferry leaves the quay at 09:15.";
const OTHER_WORDS = "The vessel leaves the quay at 09:15 and takes along bicycles.";
const VERBATIM = "Mr Alder is the captain.";
const INVENTED = "Penguins swim fast.";

const ENTAILED = { entailment: 0.95, contradiction: 0.01 };
const NEUTRAL = { entailment: 0.3, contradiction: 0.2 };
const CONTRADICTED = { entailment: 0.01, contradiction: 0.9 };

const { signal } = new AbortController();

/** An answer of these statements, each with a citation, judged by the rules and then compared. */
async function judge(
  statements: readonly string[],
  scores: EntailmentScores | null | undefined,
  unsupported: UnsupportedPolicy = "flag",
): Promise<{ judged: Validated<PassedReply>; pairs: readonly ClaimPair[] }> {
  const rules: AnswerRules = {
    ...{ footer: "Scope: none", question: "", evidence: [FERRY], citations: "required" },
    ...{ requireInSnapshot: true, headingMatch: "prefix", normalizeHeading: true, unsupported },
  };
  const validate = validateAnswer(rules, "declined", { offload: testOffload(), signal });
  const text = statements.map((statement) => statement.replace(/\.$/, " [1].")).join(" ");
  const validated = await validate({ text, toolCalls: [], doneReason: "stop" });
  const asked: ClaimPair[] = [];
  const compareClaims =
    scores === undefined
      ? undefined
      : async (pairs: readonly ClaimPair[]) => {
          asked.push(...pairs);
          return { model: "nli 0123456789ab", scores: pairs.map(() => scores) };
        };
  const judged = await compareReply(validated, [FERRY], { compareClaims, signal });
  return { judged, pairs: asked };
}

const claimsOf = (judged: Validated<PassedReply>): readonly ClaimRecord[] =>
  judged.kind === "refused" ? [] : (judged.claims ?? []);

test("what the rules call other words is supported where the model says that it follows", async () => {
  const { judged, pairs } = await judge([OTHER_WORDS], ENTAILED);
  expect(pairs).toEqual([
    {
      heading: "Harwick ferry",
      carrier: "The ferry leaves the quay at 09:15 and carries bicycles.",
      claim: OTHER_WORDS,
    },
  ]);
  expect(claimsOf(judged)).toMatchObject([
    {
      grade: "supported",
      reason: "carried",
      fate: "kept",
    },
  ]);
  // What the rules said against it stays, and behind it stands what the model said.
  const checks = claimsOf(judged)[0]?.checks ?? [];
  expect(checks.slice(0, -1).map(({ verdict }) => verdict)).toContain("fail");
  expect(checks.at(-1)).toEqual({
    rule: "entailment",
    verdict: "pass",
    detail: "entailment 0.9500, contradiction 0.0100 (nli 0123456789ab)",
  });
  expect(judged).toMatchObject({
    value: { claims: claimsOf(judged) },
    facts: { entailment: { model: "nli 0123456789ab", compared: 1, lifted: 1, doubted: 0 } },
  });
});

test.each([
  ["supported", CUT],
  ["other words", OTHER_WORDS],
])("what is %s is a doubt where the model sees a contradiction", async (_, statement) => {
  const { judged } = await judge([statement], CONTRADICTED);
  expect(claimsOf(judged)).toMatchObject([
    { grade: "partly", reason: "entailment", fate: "marked", stands: true },
  ]);
  expect(claimsOf(judged)[0]?.checks.at(-1)).toMatchObject({ rule: "entailment", verdict: "fail" });
  expect(judged).toMatchObject({ facts: { entailment: { lifted: 0, doubted: 1 } } });
});

test.each([
  ["not sure", NEUTRAL],
  ["asked of more than it reads", null],
])("where the model is %s the grade stays, and the check says so", async (_, scores) => {
  const without = claimsOf((await judge([CUT, OTHER_WORDS], undefined)).judged);
  const { judged } = await judge([CUT, OTHER_WORDS], scores);
  const claims = claimsOf(judged);
  expect(claims.map(({ checks }) => checks.at(-1)?.verdict)).toEqual(["unknown", "unknown"]);
  expect(claims.map(({ checks, ...claim }) => [claim, checks.length - 1])).toEqual(
    without.map(({ checks, ...claim }) => [claim, checks.length]),
  );
});

test.each([
  ["rival", "The vessel's fare is 12 euro for children."],
  ["figure", "The vessel's fare is 14 euro for adults."],
  ["cue", "All evening crossings of the vessel do not run on Sundays."],
  ["polarity", "The evening crossing of the vessel runs on Sundays."],
  ["name", "Mr Brown is the captain of the vessel."],
  ["arithmetic", "Two adults on the vessel pay 24 euro."],
  ["cue", "Das Schiff legt spätestens um 09:15 am Kai ab."],
])("a doubt of the rules is never lifted, nor asked of: %s in %s", async (reason, statement) => {
  const { judged, pairs } = await judge([statement], ENTAILED);
  expect(pairs).toEqual([]);
  expect(claimsOf(judged)).toMatchObject([{ reason }]);
  expect(claimsOf(judged)[0]?.grade).not.toBe("supported");
});

test.each([
  ["what stands there word for word", VERBATIM],
  ["what nothing carries", INVENTED],
  ["a bare yes", "Yes."],
])("the model has no say in %s", async (_, statement) => {
  for (const scores of [ENTAILED, CONTRADICTED]) {
    const { judged, pairs } = await judge([statement], scores);
    expect(pairs).toEqual([]);
    expect(claimsOf(judged)).toEqual(claimsOf((await judge([statement], undefined)).judged));
  }
});

test("nor in a claim of which a reason of the words hides a doubt, or that is kept in part only", async () => {
  const [claim] = claimsOf((await judge([OTHER_WORDS], undefined)).judged);
  if (claim === undefined) throw new Error("no claim");
  expect(pairFor(claim, [FERRY])).not.toBeNull();
  const place = { rule: "figure_place", verdict: "fail", detail: "" } as const;
  expect(pairFor({ ...claim, checks: [place, ...claim.checks] }, [FERRY])).toBeNull();
  const long = { ...claim, text: `${OTHER_WORDS} ${"more ".repeat(MOST_ROW_CHARS / 5)}` };
  expect(pairFor(long, [FERRY])).toBeNull();
  const [cut] = boundClaims([long]);
  expect(cut === undefined ? undefined : pairFor(cut, [FERRY])).toBeNull();
  expect(pairFor({ ...claim, carrier: null }, [FERRY])).toBeNull();
});

test("a reply with an invention is compared too, and what stands of it where that is left out", async () => {
  const { judged } = await judge([OTHER_WORDS, INVENTED], ENTAILED, "repair");
  expect(judged).toMatchObject({
    kind: "violated",
    claims: [
      { grade: "supported", fate: "kept" },
      { grade: "unsupported", fate: "repaired" },
    ],
    mended: {
      claims: [
        { grade: "supported", fate: "kept", stands: true },
        { grade: "unsupported", fate: "dropped", stands: false },
      ],
    },
  });
});

test("what the model reads beside a claim begins with title and heading", () => {
  const premise = (title: string | null, headingPath: string | null): string => {
    const piece = { ...FERRY, title, headingPath };
    const span = { number: 1, path: "", startChar: 0, endChar: 1, lineStart: 1, lineEnd: 1 };
    const claim = { text: CUT, grade: "supported", reason: "carried", fate: "kept" } as const;
    const pair = pairFor({ ...claim, carrier: "It leaves.", span, checks: [] }, [piece]);
    return pair === null ? "" : premiseOf(pair);
  };
  expect(premise(null, null)).toBe("It leaves.");
  expect(premise("Ferries", null)).toBe("Ferries: It leaves.");
  expect(premise("Ferries", "Ferries > Times")).toBe("Ferries > Times: It leaves.");
  expect(premise("Ferries", "Times")).toBe("Ferries > Times: It leaves.");
});

describe("scores on record", () => {
  test.each([ENTAILED, NEUTRAL, CONTRADICTED])("give the same claims again: %j", async (scores) => {
    const { judged, pairs } = await judge([CUT, OTHER_WORDS], scores);
    const known = recordedScores(claimsOf(judged));
    expect(known(pairs)).toEqual({ model: "nli 0123456789ab", scores: [scores, scores] });
  });

  test("know nothing of other claims, nor of runs without a model", async () => {
    const { judged, pairs } = await judge([OTHER_WORDS], ENTAILED);
    const others = pairs.map((pair) => ({ ...pair, carrier: "Another sentence." }));
    expect(recordedScores(claimsOf(judged))(others).scores).toEqual([null]);
    const without = claimsOf((await judge([OTHER_WORDS], undefined)).judged);
    expect(recordedScores(without)(pairs).scores).toEqual([null]);
  });

  test("are kept of each claim, however many there are", async () => {
    const [claim] = claimsOf((await judge([OTHER_WORDS], ENTAILED)).judged);
    const many = Array.from({ length: 300 }, () => claim).filter((one) => one !== undefined);
    const kept = boundClaims(many).map(({ checks }) => checks.at(-1)?.rule);
    expect(kept).toEqual(many.map(() => "entailment"));
  });
});
