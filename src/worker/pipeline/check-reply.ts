import { boundChecks } from "../../shared/run-trace.ts";
import type { AnswerChecks, Citation } from "../../shared/run-result.ts";
import type { PureWork } from "../aside/open-thread.ts";
import { storeCitations } from "./answer/cite-pieces.ts";
import { openAnswer } from "./answer/open-answer.ts";
import { checkAnswer } from "./check-answer.ts";
import type { AnswerRules, CheckableReply, CheckedAnswer, PassedAnswer } from "./check-answer.ts";
import { withoutCitations } from "./digest/child-words.ts";
import { countPieces } from "./number-evidence.ts";
import { neutraliseDraft } from "./text/neutralise-text.ts";

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
