import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { boundChecks, boundClaims } from "../run-trace.ts";
import { askWithRepair, schemaOverride } from "../answer/repair-loop.ts";
import type { AcceptedReply, RepairPlan } from "../answer/repair-loop.ts";
import { fencePieces } from "../answer/prompt.ts";
import { DIGEST_CLAIMS_PROMPT, DIGEST_PROMPT } from "../answer/prompts.ts";
import type { Fault, Validated } from "../evidence/validated.ts";
import { countPieces } from "../evidence/number.ts";
import type { PipelineSettings } from "../evidence/types.ts";
import { charsIn } from "../models/model.ts";
import type { ModelReply } from "../models/model.ts";
import type { PureWork } from "../offload/offload.ts";
import { applyEdits } from "../text/clean-text.ts";
import { NOTHING_CHECKED } from "../verify/check-answer.ts";
import type { AnswerRules, PassedAnswer } from "../verify/check-answer.ts";
import { checkInForm, isFormIgnored, noClaimsFault } from "../verify/check-claims.ts";
import { claimsSchemaFor } from "../verify/claims-reply.ts";
import type { ClaimsForm } from "../verify/claims-reply.ts";
import { claimRecords } from "../verify/claims/answer-claims.ts";
import { findCitations, withoutCitations } from "../verify/citations.ts";
import { answerRules, formFor } from "./answer-request.ts";
import type { Answerer } from "./ask-run.ts";
import { blocksOf } from "./digest-items.ts";
import type { DigestItem } from "./digest-items.ts";

export type DigestRun = Answerer & {
  /** What the prompt calls the collection of jobs. It holds no names of batches: these contain times. */
  readonly subject: string;
  readonly lines: number;
  readonly settings: PipelineSettings["ask"];
};

/** Asks a model for the lines of a digest of items that fit one prompt. The lines cite the numbers of items. */
export async function askDigest(
  run: DigestRun,
  items: readonly DigestItem[],
  {
    pass,
    footer,
    lines,
  }: { readonly pass: "second" | "part"; readonly footer: string; readonly lines: number },
): Promise<AcceptedReply<CheckedDigest> | Refusal> {
  const { model, choice, settings, subject, notes, fenceKey } = run;
  const shown = blocksOf(items);
  const hashes = shown.map(({ path, sha256 }) => `${sha256} ${path}`);
  const mark = { version: DIGEST_PROMPT.version, hashes };
  const { boundary, promptOf } = await fencePieces(shown, mark, { fenceKey, ...run.parts });
  const about = { footer, question: "", evidence: shown, citations: "required" } as const;
  const rules = answerRules(settings, about);
  const values = { subject, lines: String(lines), notes };
  const { offload, signal } = run.parts;
  const chars = charsIn(shown);
  const judgeIn =
    (form: ClaimsForm | null): RepairPlan<CheckedDigest>["judge"] =>
    async (reply) => {
      const replyChars = reply.text.length;
      const given = { reply, rules, mostLines: lines, form };
      const limits = { chars: chars + replyChars, replyChars, signal };
      const { isIgnored: ignored, judged } = await offload(JUDGE_DIGEST, given, limits);
      if (ignored) await model.noteIgnoredSchema?.();
      return judged;
    };
  const asText: RepairPlan<CheckedDigest> = {
    pass,
    model,
    choice,
    boundary,
    task: { purpose: "digest", evidence: shown, lines },
    prompt: promptOf(DIGEST_PROMPT, values),
    judge: judgeIn(null),
  };
  const asClaims: RepairPlan<CheckedDigest> = {
    ...asText,
    overrides: schemaOverride(model, claimsSchemaFor(LINES)),
    prompt: promptOf(DIGEST_CLAIMS_PROMPT, values),
    judge: judgeIn(LINES),
    otherwise: asText,
  };
  const form = formFor(settings.answer_form, model);
  return askWithRepair(form === "claims" ? asClaims : asText, run.parts);
}

/** Each line is a claim that cites numbers and quotes nothing: an answer of a job is not the text of a document. */
const LINES: ClaimsForm = { layout: "list", quotes: false, cites: true };

/** A line of a digest, and the numbers that it cites, ascending. */
export type DigestLine = {
  /** The line as the model wrote it, with its citations and its list mark. */
  readonly text: string;
  readonly words: string;
  readonly numbers: readonly number[];
};

/** The lines of a digest, and how many statements were removed from them. */
type CheckedDigest = { readonly lines: readonly DigestLine[]; readonly dropped: number };

/** A reply with more than twice the requested lines is no digest. */
const MOST_OVER = 2;
const MOST_NAMED = 5;

/**
 * Checks a reply by the rules for answers, and each of its lines by the rule for a digest: it cites something, and only
 * items that the prompt shows. Pure.
 *
 * Refusal: EVIDENCE_NOT_ACQUIRED when the model reports that the evidence says nothing.
 */
function validateDigest(
  formed: ReturnType<typeof checkInForm>,
  rules: AnswerRules,
  mostLines: number,
): Validated<CheckedDigest> {
  if (formed.kind === "formless") {
    return {
      kind: "violated",
      hasWrongForm: true,
      faults: [noClaimsFault(formed)],
      checks: NOTHING_CHECKED,
    };
  }
  const { answer: checked } = formed;
  const pieces = countPieces(rules.evidence);
  switch (checked.kind) {
    case "declined":
      return emptyDigest();
    case "violated": {
      const { violations: faults, checks, mended } = checked;
      const lines = mended === null ? null : linesOf(mended, pieces, mostLines);
      const claims = claimRecords(checked.statements, "repaired", false);
      const violated = { kind: "violated", faults, checks, claims } as const;
      if (mended === null || lines?.faults.length !== 0) return violated;
      const standing = claimRecords(mended.statements, "dropped", true);
      return { ...violated, mended: { value: lines.digest, claims: standing } };
    }
    case "passed": {
      const { faults, digest } = linesOf(checked, pieces, mostLines);
      const { checks, statements } = checked;
      const fate = rules.unsupported === "flag" ? "flagged" : "dropped";
      return faults.length === 0
        ? { kind: "passed", value: digest, checks, claims: claimRecords(statements, fate, true) }
        : { kind: "violated", faults, checks, claims: claimRecords(statements, "repaired", false) };
    }
  }
}

/** The lines of an answer that passed, and their faults. */
function linesOf(
  { body, dropped }: PassedAnswer,
  pieces: number,
  mostLines: number,
): { readonly digest: CheckedDigest; readonly faults: readonly Fault[] } {
  const texts = withWholeCitations(body, pieces)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const over = tooManyFaults(texts.length, mostLines);
  // A reply with so many lines is not worth reading.
  const lines = over.length > 0 ? [] : texts.map((text) => lineOf(text, pieces));
  return { digest: { lines, dropped }, faults: [...over, ...uncitedFaults(lines)] };
}

type DigestReply = {
  readonly reply: Pick<ModelReply, "text" | "toolCalls" | "doneReason">;
  readonly rules: AnswerRules;
  readonly mostLines: number;
  /** The form of a reply that is requested as claims; null or absent for a reply in prose. */
  readonly form?: ClaimsForm | null;
};

type JudgedDigest = {
  readonly judged: Validated<CheckedDigest>;
  /** The host did not enforce the schema of claims. */
  readonly isIgnored: boolean;
};

export function validateReply({ reply, rules, mostLines, form = null }: DigestReply): JudgedDigest {
  const checked = checkInForm(reply, rules, form);
  const ignored = isFormIgnored(checked);
  const judged = validateDigest(checked, rules, mostLines);
  if (judged.kind === "refused") return { judged, isIgnored: ignored };
  const { checks, claims = [] } = judged;
  const bounded = { ...judged, checks: boundChecks(checks), claims: boundClaims(claims) };
  return { judged: bounded, isIgnored: ignored };
}

/** The same check as offloaded work, for answers of any length. It returns only as many checks and claims as are stored. */
const JUDGE_DIGEST: PureWork<DigestReply, JudgedDigest> = {
  home: import.meta.url,
  run: validateReply,
};

const lineOf = (text: string, pieces: number): DigestLine => ({
  text: text.trimEnd(),
  words: withoutCitations(text, pieces)
    .replace(/^\s*(?:[-*+•]|\d{1,3}[.)])\s+/, "")
    .trim(),
  numbers: [...new Set(findCitations(text, pieces).flatMap(({ numbers }) => numbers))].sort(
    (a, b) => a - b,
  ),
});

/** Joins each citation that the model broke across lines. */
function withWholeCitations(body: string, pieces: number): string {
  const broken = findCitations(body, pieces).map(({ start, end }) => ({
    start,
    end,
    text: body.slice(start, end).replace(/\n[ \t>]*/g, " "),
  }));
  return applyEdits(body, broken);
}

function uncitedFaults(lines: readonly DigestLine[]): Fault[] {
  const places = lines.flatMap(({ numbers }, index) => (numbers.length === 0 ? [index + 1] : []));
  if (places.length === 0) return [];
  const shown = places.slice(0, MOST_NAMED).join(", ");
  const message = `Line ${shown} cites nothing. Every line ends with the numbers of what carries it, like [1].`;
  return [{ code: "CITATION_MISSING", message, forRecord: message }];
}

function tooManyFaults(lines: number, most: number): Fault[] {
  if (lines <= most * MOST_OVER) return [];
  const message = `It has ${String(lines)} lines, and at most ${String(most)} were asked for.`;
  return [{ code: "TOO_MANY_LINES", message, forRecord: message }];
}

/** The refusal of a digest when the model reports that the answers say nothing. */
export const emptyDigest = (): Refusal =>
  refuse("EVIDENCE_NOT_ACQUIRED", "The model found nothing to report in the answers of the jobs.");
