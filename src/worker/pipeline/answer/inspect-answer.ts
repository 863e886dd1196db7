import type { AnswerChecks } from "../../../shared/run-result.ts";
import { answerSentences, citedWith } from "./answer-sentences.ts";
import type { AnswerRules } from "../check-answer.ts";
import { checkFigures } from "./check-figures.ts";
import { checkLinks } from "./check-links.ts";
import { checkQuotes } from "./check-quotes.ts";
import { measureSupport } from "./measure-support.ts";
import { resolveCitations, withoutSpans } from "./resolve-citations.ts";
import type { FoundCitation } from "./resolve-citations.ts";

export type InspectedAnswer = {
  readonly citations: readonly FoundCitation[];
  readonly checks: AnswerChecks;
  /** The answer with every flagged link defused. */
  readonly text: string;
};

/**
 * Looks up what an answer says: its citations, quotes, figures, links and sentences, each in the evidence. Judges nothing.
 *
 * @param prose the answer with code blanked
 */
export function inspectAnswer(answer: string, prose: string, rules: AnswerRules): InspectedAnswer {
  const { evidence, question } = rules;
  const citations = resolveCitations(prose, evidence, rules);
  const sentences = answerSentences(answer, citations);
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
  return {
    citations,
    text: links.text,
    checks: {
      quotes,
      figures: [...figures, ...links.records],
      sentences: measureSupport(
        sentences.map(({ start, end }) => ({
          sentence: answer.slice(start, end),
          words: claimed.slice(start, end),
        })),
        evidence,
      ),
    },
  };
}
