import type { AnswerChecks } from "../../shared/run-result.ts";
import { countPieces } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import type { ModelReply } from "../models/model.ts";
import { firstCodePoints, withoutCode } from "../text/clean-text.ts";
import { holdsFooter } from "../text/footer-form.ts";
import { detectToolCall } from "../tools/parse-tool-call.ts";
import { findCitations } from "./citations.ts";
import { checkFigures } from "./figures.ts";
import { checkLinks } from "./links.ts";
import { answerSentences, citedWith, findMisplaced } from "./misplaced.ts";
import { holdsOwnMark } from "./own-marks.ts";
import { checkQuotes } from "./quotes.ts";
import { isDeclined, lettersOf, openAnswer } from "./reply.ts";
import { resolveCitations, withoutSpans } from "./resolve-citations.ts";
import type { FoundCitation } from "./resolve-citations.ts";
import { indexSupport, measureSupport } from "./support.ts";
import type { Claim } from "./support.ts";
import { tableCells } from "../text/table-cells.ts";

export type Policy = "off" | "record" | "require";

export type AnswerRules = {
  /** The exact last line. */
  readonly footer: string;
  /** The words of the operator that are answered: what stands in them needs no evidence. Empty for a summary. */
  readonly question: string;
  readonly evidence: readonly CitableBlock[];
  /** required: at least one, all of them good. known: none is fine, bad ones are kept with a mark. off: not looked at. */
  readonly citations: "required" | "known" | "off";
  /** False: a citation by name of something outside the evidence is kept with a mark, also where they are required. */
  readonly requireInSnapshot: boolean;
  readonly headingMatch: "exact" | "prefix" | "ignore";
  /** Headings are compared without double blanks and final punctuation. */
  readonly normalizeHeading: boolean;
  readonly quotes: Policy;
  /** Numbers and dates; links are always looked at. */
  readonly figures: Policy;
  /** Lowest share of a sentence's words, 0 to 1, that one place of the evidence must hold; 0: any. */
  readonly minSupport: number;
};

export type ViolationCode =
  | "EMPTY_ANSWER"
  | "CUT_SHORT"
  | "TOOL_CALL"
  | "MARKDOWN_TABLE"
  | "FOOTER_MISPLACED"
  | "MARK_REPEATED"
  | "CITATION_MISSING"
  | "CITATION_UNKNOWN"
  | "CITATION_MISPLACED"
  | "QUOTE_NOT_FOUND"
  | "QUOTE_STITCHED"
  | "QUOTE_MISATTRIBUTED"
  | "FIGURE_NOT_FOUND"
  | "UNSUPPORTED";

/** `message` is for the model's second try and may hold its words; records keep the code. */
type Violation = { readonly code: ViolationCode; readonly message: string };

export type PassedAnswer = {
  readonly kind: "passed";
  /** The answer as it is written, with the exact footer as its last line. */
  readonly text: string;
  readonly footer: "exact" | "appended" | "replaced";
  /** In the order in which the answer cites. */
  readonly citations: readonly FoundCitation[];
  readonly checks: AnswerChecks;
};

export type CheckedAnswer =
  | PassedAnswer
  | { readonly kind: "declined"; readonly checks: AnswerChecks }
  | {
      readonly kind: "violated";
      readonly violations: readonly Violation[];
      readonly checks: AnswerChecks;
    };

export type CheckableReply = Pick<ModelReply, "text" | "toolCalls" | "doneReason">;

/**
 * Holds a reply of pass 2 against the rules. A footer that is missing or altered is put right here; anything else is
 * a violation. Pure, and linear in the reply and the evidence.
 */
export function checkAnswer(reply: CheckableReply, rules: AnswerRules): CheckedAnswer {
  const { text } = reply;
  const { body, footers } = openAnswer(text);
  if (isDeclined(body, rules)) return { kind: "declined", checks: NOTHING_CHECKED };
  const prose = withoutCode(body);
  const pieces = countPieces(rules.evidence);
  const inspected = inspectAnswer(body, prose, rules);
  const { citations, checks } = inspected;
  const violations = [
    ...formViolations(body, prose, reply, pieces),
    ...judgeAnswer(inspected, rules),
  ];
  if (violations.length > 0) return { kind: "violated", violations, checks };
  const footer = footerState(footers, rules.footer);
  return { kind: "passed", text: `${body}\n${rules.footer}`, footer, citations, checks };
}

const NOTHING_CHECKED: AnswerChecks = { quotes: [], figures: [], sentences: [] };

function footerState(found: readonly string[], footer: string): PassedAnswer["footer"] {
  if (found.length === 0) return "appended";
  return found.length === 1 && found[0]?.trim() === footer ? "exact" : "replaced";
}

function formViolations(
  body: string,
  prose: string,
  { toolCalls, doneReason }: Pick<ModelReply, "toolCalls" | "doneReason">,
  pieces: number,
): Violation[] {
  const isEmpty = lettersOf(withoutSpans(body, findCitations(body, pieces))) === "";
  const faults = [
    isEmpty && toolCalls.length === 0 && violation("EMPTY_ANSWER", "The reply held no answer."),
    (toolCalls.length > 0 || detectToolCall(body)) &&
      violation("TOOL_CALL", "It called a tool. Tools can't be used any more; answer."),
    hasMarkdownTable(prose) &&
      violation("MARKDOWN_TABLE", "It held a markdown table. Write sentences or a list."),
    holdsFooter(body) &&
      violation(
        "FOOTER_MISPLACED",
        "It stated a scope before its last line. State it there alone.",
      ),
    holdsOwnMark(body) &&
      violation(
        "MARK_REPEATED",
        "It repeated marks that stand around the evidence. Write the answer alone, without them.",
      ),
    doneReason !== "stop" &&
      violation("CUT_SHORT", "It was cut off because it was too long. Be shorter."),
  ];
  return faults.filter((fault) => fault !== false);
}

const violation = (code: ViolationCode, message: string): Violation => ({ code, message });

/** What is wrong with the citations, quotes, figures and sentences of an answer, by the rules. */
const judgeAnswer = (
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

type InspectedAnswer = {
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
function inspectAnswer(answer: string, prose: string, rules: AnswerRules): InspectedAnswer {
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

/**
 * Whether the text holds a table as GitHub draws one: a row with pipes above a row of dashes with as many cells,
 * also in a quotation or a list, or one in HTML. Shell pipes and `||` are none. Give it the text without code.
 */
function hasMarkdownTable(text: string): boolean {
  if (/<table[\s>]/i.test(text)) return true;
  const lines = text.split("\n").map((line) => line.replace(/^[>\s]+/, ""));
  return lines.some((line, index) => {
    if (!line.includes("|")) return false;
    const dashes = delimiterCells(lines[index + 1] ?? "");
    return (
      dashes > 0 &&
      [line, withoutListMark(line)].some((row) => tableCells(row.trim()).length === dashes)
    );
  });
}

const withoutListMark = (line: string): string => line.replace(/^(?:[-*+]|\d{1,9}[.)])\s/, "");

/** Number of cells of a row of dashes, 0 for any other line. */
function delimiterCells(line: string): number {
  if (!line.includes("|")) return 0;
  const cells = tableCells(line.trim());
  return cells.every((cell) => /^:?-+:?$/.test(cell.trim())) ? cells.length : 0;
}
