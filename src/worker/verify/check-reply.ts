import { refuse } from "../../shared/failure.ts";
import type { AnswerChecks, Citation } from "../../shared/run-result.ts";
import { boundChecks } from "../../shared/run-trace.ts";
import type { Judged } from "../evidence/judged.ts";
import { countPieces } from "../evidence/number.ts";
import { charsIn } from "../models/model.ts";
import type { Offload, PureWork } from "../offload/offload.ts";
import { cleanText, firstCodePoints } from "../text/clean-text.ts";
import { neutraliseDraft } from "../text/neutralise-text.ts";
import { checkAnswer } from "./check-answer.ts";
import type { AnswerRules, CheckableReply, CheckedAnswer, PassedAnswer } from "./check-answer.ts";
import { withoutCitations } from "./citations.ts";
import { openAnswer } from "./reply.ts";
import type { FoundCitation } from "./resolve-citations.ts";

/** An answer that passed, with its citations as they are stored. */
export type PassedReply = Omit<PassedAnswer, "citations"> & {
  readonly citations: readonly Citation[];
  /** Without the footer and the citations by number, which are those of this prompt. */
  readonly words: string;
};

/**
 * What is kept of a check, which has bounds: a reply of half a million marks has as many citations, and to take them from
 * a thread alone would take a second. `detail` is for the record, and counts all of them.
 */
export type CheckedReply = { readonly detail: Readonly<Record<string, unknown>> } & (
  | PassedReply
  | Extract<CheckedAnswer, { kind: "declined" }>
  /** `draft` is the reply as a second try may be shown it. */
  | (Extract<CheckedAnswer, { kind: "violated" }> & { readonly draft: string })
);

type Checkable = { readonly reply: CheckableReply; readonly rules: AnswerRules };

export function checkReply({ reply, rules }: Checkable): CheckedReply {
  const checked = checkAnswer(reply, rules);
  const detail = detailOf(checked);
  const checks = boundChecks(checked.checks);
  switch (checked.kind) {
    case "passed":
      return {
        ...checked,
        detail,
        checks,
        citations: storeCitations(checked),
        words: wordsOf(checked, rules),
      };
    case "declined":
      return { ...checked, detail };
    case "violated":
      return { ...checked, detail, checks, draft: neutraliseDraft(openAnswer(reply.text).body) };
  }
}

/** Checks a reply of any length against evidence of any length, which takes seconds for megabytes. */
export const CHECK: PureWork<Checkable, CheckedReply> = {
  home: import.meta.url,
  run: checkReply,
};

/** How long replies are judged, and by whom they are stopped. */
type Judging = { readonly offload: Offload; readonly signal: AbortSignal };

/**
 * Judges the replies to one prompt by the rules for answers.
 * @param whenDeclined the message of EVIDENCE_NOT_ACQUIRED, for a model that says that the evidence does not do
 */
export const judgeAnswer =
  (rules: AnswerRules, whenDeclined: string, { offload, signal }: Judging) =>
  async (reply: CheckableReply): Promise<Judged<PassedReply>> => {
    const replyChars = reply.text.length;
    const limits = { chars: charsIn(rules.evidence) + replyChars, replyChars, signal };
    const checked = await offload(CHECK, { reply, rules }, limits);
    switch (checked.kind) {
      case "passed":
        return { kind: "passed", value: checked, checks: checked.checks, facts: checked.detail };
      case "declined":
        return refuse("EVIDENCE_NOT_ACQUIRED", whenDeclined);
      case "violated": {
        const { violations: faults, checks, detail: facts, draft } = checked;
        return { kind: "violated", faults, checks, facts, draft };
      }
    }
  };

const wordsOf = ({ text }: PassedAnswer, { evidence }: AnswerRules): string =>
  withoutCitations(text.slice(0, text.lastIndexOf("\n")), countPieces(evidence));

function detailOf(checked: CheckedAnswer): Record<string, unknown> {
  switch (checked.kind) {
    case "passed":
      return {
        verdict: "passed",
        footer: checked.footer,
        cited: numbersOf(checked.citations),
        unresolved: checked.citations.filter(({ kind }) => kind !== "resolved").length,
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
function numbersOf(citations: PassedAnswer["citations"]): number[] {
  const numbers = new Set<number>();
  for (const found of citations) {
    if (found.kind === "resolved") numbers.add(found.part.block.number);
  }
  return [...numbers];
}

const countsOf = ({ quotes, figures, sentences }: AnswerChecks): Record<string, unknown> => ({
  quotes: quotes.length,
  figures: figures.length,
  flagged: figures.filter(({ flagged }) => flagged).length,
  lowest_support: sentences.reduce((lowest, { score }) => Math.min(lowest, score), 1),
});

const MOST_SPELLED_CHARS = 300;

/** Of citations that stand for nothing that was read; those that do are as many as the pieces. */
const MOST_UNRESOLVED = 200;

/**
 * What the citations of an answer stand for, each once, in the order in which they are cited. Beyond 200 that stand for
 * nothing, further ones are left out.
 */
function storeCitations({ citations, checks }: PassedAnswer): Citation[] {
  const quotes = new Map(
    checks.quotes
      .toReversed()
      .flatMap(({ quote, span }) => (span === null ? [] : [[span.number, quote] as const])),
  );
  const stored = new Map<string, Citation>();
  let unresolved = 0;
  for (const found of citations) {
    if (found.kind !== "resolved" && unresolved >= MOST_UNRESOLVED) continue;
    const citation = store(found);
    const key = JSON.stringify(citation);
    if (stored.has(key)) continue;
    if (found.kind !== "resolved") unresolved += 1;
    const quote = citation.number === undefined ? undefined : quotes.get(citation.number);
    stored.set(key, quote === undefined ? citation : { ...citation, quote });
  }
  return [...stored.values()];
}

function store(found: FoundCitation): Citation {
  if (found.kind !== "resolved") {
    const path = cleanText(firstCodePoints(found.spelled, MOST_SPELLED_CHARS));
    return { path, heading: null, chunkKey: null, lineStart: 0, lineEnd: 0, resolved: false };
  }
  const { block, headingPath: heading, lineStart, lineEnd } = found.part;
  const { number, path, chunkKey } = block;
  return { number, path, heading, chunkKey, lineStart, lineEnd };
}
