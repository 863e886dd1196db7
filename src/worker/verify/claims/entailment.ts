import { ENTAILMENT_RULE } from "../../../shared/run-result.ts";
import type { ClaimRecord } from "../../../shared/run-result.ts";
import { MOST_ROW_CHARS } from "../../../shared/run-trace.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { ClaimPair, CompareClaims, Compared, EntailmentScores } from "../../evidence/types.ts";
import type { Validated } from "../../evidence/validated.ts";
import type { PassedReply } from "../check-reply.ts";
import { isBareAnswer } from "../support.ts";

export type EntailmentLimits = { readonly liftedFrom: number; readonly doubtedFrom: number };

/**
 * From which scores on a claim in other words counts as carried, and a claim as contradicted. The smallest models are right in
 * nine of ten pairs of the collections that they were trained on (0.90, the results beside cross-encoder/nli-deberta-v3-xsmall),
 * and those trained on MNLI take words that recur for entailment (HANS, arXiv 1902.01007): to lift a claim, the likeliest
 * label is not enough. Where it only costs a look it is, as in GraphEval (arXiv 2407.10793). Neither was measured here with the
 * weights of a real model: bench/gate-claims.ts --entailment DIR shows what these and others bring.
 */
export const LIMITS: EntailmentLimits = { liftedFrom: 0.9, doubtedFrom: 0.5 };

/** What of a graded claim is looked at, and may be changed. */
export type Comparable = Pick<
  ClaimRecord,
  "text" | "grade" | "reason" | "fate" | "carrier" | "span" | "checks"
>;

const OTHER_WORDS: ReadonlySet<string> = new Set(["words", "new_words", "language"]);

/**
 * A judged reply, its claims compared with what carries them where somebody can: the last step of a grade. What an answer
 * says does not change by it.
 * @throws what `compareClaims` throws
 */
export async function compareReply(
  judged: Validated<PassedReply>,
  evidence: readonly CitableBlock[],
  { compareClaims, signal }: Comparing,
): Promise<Validated<PassedReply>> {
  if (judged.kind === "refused" || compareClaims === undefined) return judged;
  const { claims = [] } = judged;
  const pairs = claims.flatMap((claim) => pairFor(claim, evidence) ?? []);
  if (pairs.length === 0) return judged;
  const { model, scores } = await compareClaims(pairs, signal);
  const byPair = new Map(pairs.map((pair, at) => [keyOf(pair), scores[at] ?? null]));
  const settle = (claim: ClaimRecord): ClaimRecord => {
    const pair = pairFor(claim, evidence);
    return pair === null ? claim : withScores(claim, byPair.get(keyOf(pair)) ?? null, model);
  };
  const settled = claims.map(settle);
  const facts = { ...judged.facts, entailment: { model, ...countChanges(claims, settled) } };
  if (judged.kind === "passed") {
    return { ...judged, value: { ...judged.value, claims: settled }, claims: settled, facts };
  }
  const { mended } = judged;
  if (mended === undefined) return { ...judged, claims: settled, facts };
  const standing = mended.claims.map(settle);
  const value = { ...mended.value, claims: standing };
  return { ...judged, claims: settled, mended: { value, claims: standing }, facts };
}

type Comparing = {
  readonly compareClaims?: CompareClaims | undefined;
  readonly signal: AbortSignal;
};

function countChanges(
  before: readonly ClaimRecord[],
  after: readonly ClaimRecord[],
): Readonly<Record<"compared" | "lifted" | "doubted", number>> {
  const changed = after.filter(({ grade, reason }, at) => {
    const was = before[at];
    return grade !== was?.grade || reason !== was.reason;
  });
  const lifted = changed.filter(({ grade }) => grade === "supported").length;
  const compared = after.filter(({ checks }, at) => checks !== before[at]?.checks).length;
  return { compared, lifted, doubted: changed.length - lifted };
}

/**
 * What a model is asked of a claim; null where it has no say: a claim that rules doubt or do not see carried at all, one that
 * stands there word for word, a fragment, and one of which only the beginning is kept.
 */
export function pairFor(claim: Comparable, evidence: readonly CitableBlock[]): ClaimPair | null {
  const { text, carrier, span } = claim;
  if (carrier === null || span === null || !(isOtherWords(claim) || isInferred(claim))) return null;
  if (isBareAnswer(text) || Math.max(text.length, carrier.length) > MOST_ROW_CHARS) return null;
  const block = evidence.find(({ number }) => number === span.number);
  return { heading: block === undefined ? "" : headingOf(block), carrier, claim: text };
}

/** Of a claim that is partly carried: no rule speaks against it but those for its words. */
const isOtherWords = ({ grade, reason, checks }: Comparable): boolean =>
  grade === "partly" &&
  OTHER_WORDS.has(reason) &&
  checks.every(({ rule, verdict }) => verdict !== "fail" || OTHER_WORDS.has(rule));

const isInferred = ({ grade, reason }: Comparable): boolean =>
  grade === "supported" && reason !== "verbatim";

/** "Ferries > Fares"; the heading of a passage mostly begins with the title. */
function headingOf({ title, headingPath }: CitableBlock): string {
  if (headingPath === null) return title ?? "";
  return title === null || headingPath.startsWith(title)
    ? headingPath
    : `${title} > ${headingPath}`;
}

/** What the model reads beside the claim: the words, behind what they stand under. */
export const premiseOf = ({ heading, carrier }: ClaimPair): string =>
  heading === "" ? carrier : `${heading}: ${carrier}`;

/**
 * A claim as a model's scores leave it, with what it said among its checks. One in other words that is entailed is supported;
 * one that is contradicted is a doubt.
 */
export function withScores<C extends Comparable>(
  claim: C,
  scores: EntailmentScores | null,
  model: string,
  limits = LIMITS,
): C {
  if (scores === null) {
    const detail = `Not compared: longer than ${model} reads.`;
    return {
      ...claim,
      checks: [...claim.checks, { rule: ENTAILMENT_RULE, verdict: "unknown", detail }],
    };
  }
  const verdict = verdictOf(scores, limits);
  const checks = [
    ...claim.checks,
    { rule: ENTAILMENT_RULE, verdict, detail: formatScores(scores, model) },
  ];
  switch (verdict) {
    case "pass":
      return claim.grade === "partly"
        ? { ...claim, grade: "supported", reason: "carried", fate: "kept", checks }
        : { ...claim, checks };
    case "fail":
      return { ...claim, grade: "partly", reason: "entailment", fate: "marked", checks };
    case "unknown":
      return { ...claim, checks };
  }
}

function verdictOf(
  { entailment, contradiction }: EntailmentScores,
  { liftedFrom, doubtedFrom }: EntailmentLimits,
): "pass" | "fail" | "unknown" {
  if (contradiction >= doubtedFrom) return "fail";
  return entailment >= liftedFrom ? "pass" : "unknown";
}

const formatScores = ({ entailment, contradiction }: EntailmentScores, model: string): string =>
  `entailment ${entailment.toFixed(4)}, contradiction ${contradiction.toFixed(4)} (${model})`;

const SCORES =
  /^entailment (?<entailment>\d\.\d{4}), contradiction (?<contradiction>\d\.\d{4}) \((?<model>.*)\)$/s;

type StoredClaim = {
  readonly text: string;
  readonly carrier: string | null;
  readonly checks: readonly { readonly rule: string; readonly detail: string }[];
};

/** What a model said of the claims of a run, as their checks have it; null for all others. */
export function recordedScores(
  claims: readonly StoredClaim[],
): (pairs: readonly ClaimPair[]) => Compared {
  const known = new Map<string, EntailmentScores>();
  let model = "";
  for (const { text, carrier, checks } of claims) {
    const detail = checks.find(({ rule }) => rule === ENTAILMENT_RULE)?.detail ?? "";
    const found = SCORES.exec(detail)?.groups;
    if (found === undefined || carrier === null) continue;
    const { entailment, contradiction } = found;
    model = found["model"] ?? "";
    known.set(keyOf({ claim: text, carrier }), {
      entailment: Number(entailment),
      contradiction: Number(contradiction),
    });
  }
  return (pairs) => ({
    model,
    scores: pairs.map((pair) => known.get(keyOf(pair)) ?? null),
  });
}

const keyOf = ({ claim, carrier }: Pick<ClaimPair, "claim" | "carrier">): string =>
  JSON.stringify([claim, carrier]);
