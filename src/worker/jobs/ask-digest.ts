import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ModelChoice } from "../../shared/route-models.ts";
import { boundChecks } from "../../shared/run-trace.ts";
import { askWithRepair } from "../answer/repair-loop.ts";
import type { AcceptedReply, RepairPlan } from "../answer/repair-loop.ts";
import type { CallParts } from "../answer/call-model.ts";
import { renderPrompt } from "../answer/prompt.ts";
import { DIGEST_PROMPT } from "../answer/prompts.ts";
import { fenceBoundary, fenceLong } from "../evidence/fence.ts";
import type { Fault, Judged } from "../evidence/judged.ts";
import { countPieces } from "../evidence/number.ts";
import type { PipelineSettings } from "../evidence/types.ts";
import { charsIn } from "../models/model.ts";
import type { Model, ModelReply } from "../models/model.ts";
import type { PureWork } from "../offload/offload.ts";
import { applyEdits } from "../text/clean-text.ts";
import { checkAnswer } from "../verify/check-answer.ts";
import type { AnswerRules } from "../verify/check-answer.ts";
import { findCitations, withoutCitations } from "../verify/citations.ts";
import { answerRules } from "./answer-whole.ts";
import { blocksOf } from "./digest-items.ts";
import type { DigestItem } from "./digest-items.ts";

export type DigestRun = {
  /** What the prompt calls it. Names of batches are not in it: they hold times. */
  readonly subject: string;
  readonly lines: number;
  readonly settings: PipelineSettings["ask"];
  readonly model: Model;
  readonly choice: ModelChoice;
  /** The operator's durable notes, as the prompt shows them. */
  readonly notes: string;
  readonly fenceKey: Buffer;
  readonly parts: CallParts;
};

/** The lines that a model makes of items that fit one prompt; what they cite are numbers of items. */
export async function askDigest(
  run: DigestRun,
  items: readonly DigestItem[],
  {
    pass,
    footer,
    lines,
  }: { readonly pass: "second" | "part"; readonly footer: string; readonly lines: number },
): Promise<AcceptedReply<readonly DigestLine[]> | Refusal> {
  const { model, choice, settings, subject, notes, fenceKey } = run;
  const shown = blocksOf(items);
  const hashes = shown.map(({ path, sha256 }) => `${sha256} ${path}`);
  const boundary = fenceBoundary(DIGEST_PROMPT.version, hashes, fenceKey);
  const about = { footer, question: "", evidence: shown, citations: "required" } as const;
  const rules = answerRules(settings, about);
  const values = { subject, lines: String(lines), notes };
  const evidence = { text: await fenceLong(shown, boundary, run.parts), shown };
  const { offload, signal } = run.parts;
  const chars = charsIn(shown);
  const plan: RepairPlan<readonly DigestLine[]> = {
    pass,
    model,
    choice,
    boundary,
    task: { purpose: "digest", evidence: shown, lines },
    prompt: (correction) => renderPrompt(DIGEST_PROMPT, { values, boundary, evidence, correction }),
    judge: (reply) =>
      offload(
        JUDGE_DIGEST,
        { reply, rules, mostLines: lines },
        { chars: chars + reply.text.length, replyChars: reply.text.length, signal },
      ),
  };
  return askWithRepair(plan, run.parts);
}

/** A line of a digest, and the numbers that it cites, ascending. */
export type DigestLine = {
  /** With its citations and its mark, as the model wrote it. */
  readonly text: string;
  readonly words: string;
  readonly numbers: readonly number[];
};

/** A reply with twice the lines that were asked for is no digest. */
const MOST_OVER = 2;
const MOST_TOLD = 5;

/**
 * Holds a reply against the rules for answers, and each of its lines against that of a digest: it cites, and only what
 * was shown. Pure.
 *
 * Refusal: EVIDENCE_NOT_ACQUIRED where the model says that the evidence says nothing.
 */
function judgeDigest(
  reply: Pick<ModelReply, "text" | "toolCalls" | "doneReason">,
  rules: AnswerRules,
  mostLines: number,
): Judged<readonly DigestLine[]> {
  const checked = checkAnswer(reply, rules);
  const pieces = countPieces(rules.evidence);
  switch (checked.kind) {
    case "declined":
      return refuse(
        "EVIDENCE_NOT_ACQUIRED",
        "The model finds nothing to tell in the answers of the jobs.",
      );
    case "violated":
      return { kind: "violated", faults: checked.violations, checks: checked.checks };
    case "passed": {
      const body = checked.text.slice(0, checked.text.lastIndexOf("\n"));
      const texts = withWholeCitations(body, pieces)
        .split("\n")
        .filter((line) => line.trim() !== "");
      const over = tooMany(texts.length, mostLines);
      // So many lines are not worth being read.
      const lines = over.length > 0 ? [] : texts.map((text) => lineOf(text, pieces));
      const faults = [...over, ...uncited(lines)];
      return faults.length === 0
        ? { kind: "passed", value: lines, checks: checked.checks }
        : { kind: "violated", faults, checks: checked.checks };
    }
  }
}

type Judgeable = {
  readonly reply: Pick<ModelReply, "text" | "toolCalls" | "doneReason">;
  readonly rules: AnswerRules;
  readonly mostLines: number;
};

export function judgeReply({ reply, rules, mostLines }: Judgeable): Judged<readonly DigestLine[]> {
  const judged = judgeDigest(reply, rules, mostLines);
  return judged.kind === "refused" ? judged : { ...judged, checks: boundChecks(judged.checks) };
}

/** The same for answers of any length; of the checks what is stored. */
const JUDGE_DIGEST: PureWork<Judgeable, Judged<readonly DigestLine[]>> = {
  home: import.meta.url,
  run: judgeReply,
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

/** With each citation on one line, also where the model broke it. */
function withWholeCitations(body: string, pieces: number): string {
  const broken = findCitations(body, pieces).map(({ start, end }) => ({
    start,
    end,
    text: body.slice(start, end).replace(/\n[ \t>]*/g, " "),
  }));
  return applyEdits(body, broken);
}

function uncited(lines: readonly DigestLine[]): Fault[] {
  const places = lines.flatMap(({ numbers }, index) => (numbers.length === 0 ? [index + 1] : []));
  if (places.length === 0) return [];
  const shown = places.slice(0, MOST_TOLD).join(", ");
  const message = `Line ${shown} cites nothing. Every line ends with the numbers of what carries it, like [1].`;
  return [{ code: "CITATION_MISSING", message, told: message }];
}

function tooMany(lines: number, most: number): Fault[] {
  if (lines <= most * MOST_OVER) return [];
  const message = `It has ${String(lines)} lines, and at most ${String(most)} were asked for.`;
  return [{ code: "TOO_MANY_LINES", message, told: message }];
}
