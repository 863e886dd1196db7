import type { AnswerChecks } from "../../../shared/run-result.ts";
import { answerSentences, citedWith } from "./answer-sentences.ts";
import type { AnswerRules } from "../check-answer.ts";
import { checkFigures } from "./check-figures.ts";
import { checkLinks } from "./check-links.ts";
import { checkQuotes } from "./check-quotes.ts";
import { findMisplaced } from "./find-misplaced.ts";
import { indexSupport } from "./index-support.ts";
import { measureSupport } from "./measure-support.ts";
import type { Claim } from "./measure-support.ts";
import { resolveCitations, withoutSpans } from "./resolve-citations.ts";
import type { FoundCitation } from "./resolve-citations.ts";

export type InspectedAnswer = {
  readonly citations: readonly FoundCitation[];
  readonly checks: AnswerChecks;
  /** Sentences that another piece carries than those that they cite. */
  readonly misplaced: readonly Claim[];
};

/**
 * Looks up what an answer says: its citations, quotes, figures, links and sentences, each in the evidence. Judges nothing.
 *
 * @param prose the answer with code blanked
 */
export function inspectAnswer(answer: string, prose: string, rules: AnswerRules): InspectedAnswer {
  const { evidence, question } = rules;
  const citations = resolveCitations(prose, evidence, rules);
  const sentences = answerSentences(answer, citations, evidence);
  const citedBetween = citedWith(sentences);
  const claimed = withoutSpans(answer, citations);
  const links = checkLinks(answer, prose, question, evidence);
  const citedWithQuote = rules.citations === "off" ? () => [] : citedBetween;
  const quotes =
    rules.quotes === "off" ? [] : checkQuotes(prose, citations, citedWithQuote, evidence);
  const figures =
    rules.figures === "off"
      ? []
      : checkFigures(withoutSpans(claimed, links.spans), question, evidence, (at) =>
          citedBetween(at, at + 1),
        );
  const claims = sentences.map(({ start, end, cited }) => ({
    sentence: answer.slice(start, end),
    words: claimed.slice(start, end),
    cited,
  }));
  const index = indexSupport(claims.length === 0 ? [] : evidence);
  return {
    citations,
    misplaced: rules.citations === "required" ? findMisplaced(claims, index) : [],
    checks: {
      quotes,
      figures: [...figures, ...links.records],
      sentences: measureSupport(claims, evidence, index),
    },
  };
}
