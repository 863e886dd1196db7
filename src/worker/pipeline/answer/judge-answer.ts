import type { AnswerChecks } from "../../../shared/run-result.ts";
import type { AnswerRules, Violation, ViolationCode } from "../check-answer.ts";
import { firstCodePoints } from "../text/code-points.ts";
import type { InspectedAnswer } from "./inspect-answer.ts";
import type { FoundCitation } from "./resolve-citations.ts";

/** What is wrong with the citations, quotes, figures and sentences of an answer, by the rules. */
export const judgeAnswer = (
  { citations, checks, misplaced }: Omit<InspectedAnswer, "text">,
  rules: AnswerRules,
): Violation[] => [
  ...citationViolations(citations, rules),
  ...misplacedViolations(misplaced, checks, rules),
  ...(rules.quotes === "require" ? quoteViolations(checks, rules) : []),
  ...(rules.figures === "require" ? figureViolations(checks) : []),
  ...supportViolations(checks, rules),
];

function citationViolations(
  citations: readonly FoundCitation[],
  { citations: policy, evidence, requireInSnapshot }: AnswerRules,
): Violation[] {
  if (policy !== "required") return [];
  const bad = citations.filter(
    ({ kind }) => kind !== "resolved" && (kind !== "unknown_name" || requireInSnapshot),
  );
  if (bad.length > 0) {
    const names = [...new Set(bad.map(({ spelled }) => shown(spelled)))].slice(0, MOST_SHOWN);
    const range = `numbers 1 to ${evidence.length}`;
    return [
      violation("CITATION_UNKNOWN", `It cited ${names.join(", ")}; there are only ${range}.`),
    ];
  }
  // What is not of the snapshot is bad and named above, unless the operator lets it count.
  if (citations.some(({ kind }) => kind === "resolved" || kind === "unknown_name")) return [];
  return [
    violation(
      "CITATION_MISSING",
      "It cited nothing. Cite each piece of evidence by its number in square brackets.",
    ),
  ];
}

/** A misattributed quote says the same of its sentence. */
function misplacedViolations(
  misplaced: InspectedAnswer["misplaced"],
  { quotes }: AnswerChecks,
  { quotes: policy }: AnswerRules,
): Violation[] {
  const isTold = policy === "require" && quotes.some((quote) => quote.class === "misattributed");
  return (isTold ? [] : misplaced.slice(0, MOST_SHOWN)).map(({ sentence }) =>
    violation(
      "CITATION_MISPLACED",
      `Another piece carries this than the one that is cited with it: ${shown(sentence)}`,
    ),
  );
}

/** A quote that is misattributed stands in the evidence all the same: a fault of its citation. */
function quoteViolations({ quotes }: AnswerChecks, { citations }: AnswerRules): Violation[] {
  const faults = quotes.flatMap(({ quote, class: found }): Violation[] => {
    switch (found) {
      case "verbatim":
      case "normalised":
        return [];
      case "not_found":
        return [
          violation(
            "QUOTE_NOT_FOUND",
            `These words in quotation marks are not in the evidence: ${shown(quote)}`,
          ),
        ];
      case "stitched":
        return [
          violation(
            "QUOTE_STITCHED",
            `These words in quotation marks stand apart in the evidence, quote each part by itself: ${shown(quote)}`,
          ),
        ];
      case "misattributed":
        return citations === "required"
          ? [
              violation(
                "QUOTE_MISATTRIBUTED",
                `These words in quotation marks stand in another piece than the one cited with them: ${shown(quote)}`,
              ),
            ]
          : [];
    }
  });
  return faults.slice(0, MOST_SHOWN);
}

const figureViolations = ({ figures }: AnswerChecks): Violation[] =>
  figures
    .filter(({ flagged, standsIn }) => flagged && standsIn === "neither")
    .slice(0, MOST_SHOWN)
    .map(({ text }) =>
      violation(
        "FIGURE_NOT_FOUND",
        `This stands neither in the evidence nor in the question: ${shown(text)}`,
      ),
    );

const supportViolations = ({ sentences }: AnswerChecks, { minSupport }: AnswerRules): Violation[] =>
  sentences
    .filter(({ score }) => score < minSupport)
    .slice(0, MOST_SHOWN)
    .map(({ sentence }) =>
      violation("UNSUPPORTED", `The evidence does not carry this sentence: ${shown(sentence)}`),
    );

/** What the second try is shown of each kind of fault; its draft holds the rest. */
const MOST_SHOWN = 5;
const MOST_CHARS = 300;

const shown = (text: string): string => firstCodePoints(text, MOST_CHARS);

const violation = (code: ViolationCode, message: string): Violation => ({ code, message });
