import type { AnswerRules } from "./check-answer.ts";
import type { PipelineSettings } from "../evidence/types.ts";

/** The rules for an answer, from the `ask` keys of the configuration and what the call at hand is about. */
export const answerRules = (
  { citations, quotes, figures, min_support: minSupport }: PipelineSettings["ask"],
  about: Pick<AnswerRules, "footer" | "question" | "evidence" | "citations">,
): AnswerRules => ({
  ...about,
  requireInSnapshot: citations.require_in_snapshot,
  headingMatch: citations.heading_match,
  normalizeHeading: citations.normalize_heading,
  quotes,
  figures,
  minSupport,
});

/** How citations are held to the evidence in an answer that rests on it. */
export function citationRule({
  enabled,
  strict,
}: PipelineSettings["ask"]["citations"]): AnswerRules["citations"] {
  if (!enabled) return "off";
  return strict ? "required" : "known";
}

/** The rules for what is made of a part: support is measured at the end, on the words of the file. */
export const partRules = (
  settings: PipelineSettings["ask"],
  about: Pick<AnswerRules, "footer" | "question" | "evidence">,
): AnswerRules => ({ ...answerRules(settings, { ...about, citations: "known" }), minSupport: 0 });
