import { refuse } from "../../shared/failure.ts";
import type { AnswerChecks, Citation, ClaimRecord } from "../../shared/job/run-result.ts";
import { boundChecks, boundClaims } from "../run-trace.ts";
import type { Validated } from "../evidence/validated.ts";
import { countPieces } from "../evidence/number.ts";
import { charsIn } from "../models/model.ts";
import type { Offload, PureWork } from "../offload/offload.ts";
import { cleanText, firstCodePoints } from "../text/clean-text.ts";
import { neutraliseDraft } from "../text/neutralise-text.ts";
import { NOTHING_CHECKED } from "./check-answer.ts";
import type { AnswerRules, CheckableReply, CheckedAnswer, PassedAnswer } from "./check-answer.ts";
import { withoutCitations } from "./citations.ts";
import { checkInForm, isFormIgnored, noClaimsFault } from "./check-claims.ts";
import type { FormlessReply } from "./check-claims.ts";
import type { ClaimsForm } from "./claims-reply.ts";
import { claimRecords } from "./claims/answer-claims.ts";
import { openAnswer } from "./reply.ts";
import type { FoundCitation } from "./resolve-citations.ts";

/** An answer that passed, with its citations in the stored form. */
export type PassedReply = Omit<PassedAnswer, "citations" | "statements"> & {
  readonly citations: readonly Citation[];
  readonly claims: readonly ClaimRecord[];
  /** The answer without footer and citations by number, which are valid for this prompt only. */
  readonly words: string;
};

type ViolatedReply = Omit<Extract<CheckedAnswer, { kind: "violated" }>, "statements" | "mended"> & {
  readonly claims: readonly ClaimRecord[];
  readonly mended: PassedReply | null;
  /** The reply as the second try's prompt shows it. */
  readonly draft: string;
};

/**
 * The bounded result of a check: a reply of half a million marks has as many citations, and copying them from a thread would
 * take a second. `detail` is for the record, and counts all of them.
 */
export type CheckedReply = {
  readonly detail: Readonly<Record<string, unknown>>;
  /** Whether the host did not enforce the schema of claims. */
  readonly isIgnored: boolean;
} & JudgedReply;

type JudgedReply =
  PassedReply | Extract<CheckedAnswer, { kind: "declined" }> | ViolatedReply | FormlessReply;

type Checkable = {
  readonly reply: CheckableReply;
  readonly rules: AnswerRules;
  /** The form of requested claims; null for prose. */
  readonly form?: ClaimsForm | null;
};

export function checkReply({ reply, rules, form = null }: Checkable): CheckedReply {
  const checked = checkInForm(reply, rules, form);
  const ignored = isFormIgnored(checked);
  if (checked.kind === "formless") {
    return { ...checked, detail: { form: checked.why }, isIgnored: ignored };
  }
  const { answer } = checked;
  const detail = { ...detailOf(answer), ...(checked.form === null ? {} : { form: checked.form }) };
  return { ...judgedReply(reply, answer, rules), detail, isIgnored: ignored };
}

function judgedReply(
  reply: CheckableReply,
  checked: CheckedAnswer,
  rules: AnswerRules,
): JudgedReply {
  switch (checked.kind) {
    case "passed":
      return passedReply(checked, rules);
    case "declined":
      return checked;
    case "violated": {
      const { statements, mended, checks, ...violated } = checked;
      return {
        ...violated,
        checks: boundChecks(checks),
        claims: boundClaims(claimRecords(statements, "repaired", false)),
        mended: mended === null ? null : passedReply(mended, rules),
        draft: neutraliseDraft(openAnswer(reply.text).body),
      };
    }
  }
}

function passedReply(answer: PassedAnswer, { evidence, unsupported }: AnswerRules): PassedReply {
  const { statements, ...passed } = answer;
  const fate = unsupported === "flag" ? "flagged" : "dropped";
  return {
    ...passed,
    checks: boundChecks(answer.checks),
    claims: boundClaims(claimRecords(statements, fate, true)),
    citations: storedCitations(answer),
    words: withoutCitations(answer.body, countPieces(evidence)),
  };
}

/** Checks a reply of any length against evidence of any length, which takes seconds for megabytes. */
export const CHECK: PureWork<Checkable, CheckedReply> = {
  home: import.meta.url,
  run: checkReply,
};

/** The dependencies of a check of replies; `claims` is set where claims were requested. */
type Judging = {
  readonly offload: Offload;
  readonly signal: AbortSignal;
  readonly claims?: {
    readonly form: ClaimsForm;
    /** Called when the host did not enforce the schema. */
    readonly onIgnored: () => Promise<void>;
  };
};

/**
 * Makes the check of replies to one prompt, by the rules for answers.
 * @param whenDeclined the message of EVIDENCE_NOT_ACQUIRED, for a model that declines
 */
export const validateAnswer =
  (rules: AnswerRules, whenDeclined: () => string, { offload, signal, claims }: Judging) =>
  async (reply: CheckableReply): Promise<Validated<PassedReply>> => {
    const replyChars = reply.text.length;
    const limits = { chars: charsIn(rules.evidence) + replyChars, replyChars, signal };
    const form = claims?.form ?? null;
    const checked = await offload(CHECK, { reply, rules, form }, limits);
    if (checked.isIgnored) await claims?.onIgnored();
    switch (checked.kind) {
      case "passed":
        return {
          kind: "passed",
          value: checked,
          checks: checked.checks,
          claims: checked.claims,
          facts: checked.detail,
        };
      case "declined":
        return refuse("EVIDENCE_NOT_ACQUIRED", whenDeclined());
      case "formless":
        return {
          kind: "violated",
          hasWrongForm: true,
          faults: [noClaimsFault(checked)],
          checks: NOTHING_CHECKED,
          facts: checked.detail,
        };
      case "violated": {
        const { violations: faults, checks, claims, detail: facts, draft, mended } = checked;
        const violated = { kind: "violated", faults, checks, claims, facts, draft } as const;
        return mended === null
          ? violated
          : { ...violated, mended: { value: mended, claims: mended.claims } };
      }
    }
  };

function detailOf(checked: CheckedAnswer): Record<string, unknown> {
  switch (checked.kind) {
    case "passed":
      return {
        verdict: "passed",
        footer: checked.footer,
        cited: numbersOf(checked.citations),
        unresolved: checked.citations.filter(({ kind }) => kind !== "resolved").length,
        ...(checked.dropped === 0 ? {} : { left_out: checked.dropped }),
        ...(checked.missing === null ? {} : { missing: checked.missing }),
        ...countsOf(checked.checks),
      };
    case "declined":
      return { verdict: "declined" };
    case "violated":
      return {
        verdict: "violated",
        violations: checked.violations.map(({ code }) => code),
        ...countsOf(checked.checks),
      };
  }
}

/** The numbers of the cited pieces, each once, in order. */
const numbersOf = (citations: PassedAnswer["citations"]): number[] => [
  ...new Set(
    citations.flatMap((found) => (found.kind === "resolved" ? [found.part.block.number] : [])),
  ),
];

const countsOf = ({ quotes, figures }: AnswerChecks): Record<string, unknown> => ({
  quotes: quotes.length,
  figures: figures.length,
  flagged: figures.filter(({ flagged }) => flagged).length,
});

const MOST_SPELLED_CHARS = 300;

/** Limit of stored citations that name no piece; the others are limited by the number of pieces. */
const MOST_UNRESOLVED = 200;

/** The citations of an answer in the stored form, each once, in the order of the answer. */
function storedCitations({ citations, checks }: PassedAnswer): Citation[] {
  const quotes = new Map(
    checks.quotes
      .toReversed()
      .flatMap(({ quote, span }) => (span === null ? [] : [[span.number, quote] as const])),
  );
  const stored = new Map<string, Citation>();
  let unresolved = 0;
  for (const found of citations) {
    if (found.kind !== "resolved" && unresolved >= MOST_UNRESOLVED) continue;
    const citation = storedCitation(found);
    const key = JSON.stringify(citation);
    if (stored.has(key)) continue;
    if (found.kind !== "resolved") unresolved += 1;
    const quote = citation.number === undefined ? undefined : quotes.get(citation.number);
    stored.set(key, quote === undefined ? citation : { ...citation, quote });
  }
  return [...stored.values()];
}

function storedCitation(found: FoundCitation): Citation {
  if (found.kind !== "resolved") {
    const path = cleanText(firstCodePoints(found.spelled, MOST_SPELLED_CHARS));
    return { path, heading: null, chunkKey: null, lineStart: 0, lineEnd: 0, resolved: false };
  }
  const { block, headingPath: heading, lineStart, lineEnd } = found.part;
  const { number, path, chunkKey } = block;
  return { number, path, heading, chunkKey, lineStart, lineEnd };
}
