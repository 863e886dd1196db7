import type { AnswerChecks } from "../../shared/run-result.ts";
import type { ModelReply } from "../model/model.ts";
import { detectToolCall } from "./tool-call/detect-tool-call.ts";
import { findCitations } from "./answer/find-citations.ts";
import { hasMarkdownTable } from "./answer/find-markdown-table.ts";
import { inspectAnswer } from "./answer/inspect-answer.ts";
import { isDeclined, lettersOf } from "./answer/is-declined.ts";
import { judgeAnswer } from "./answer/judge-answer.ts";
import { openAnswer } from "./answer/open-answer.ts";
import { holdsOwnMark } from "./answer/own-marks.ts";
import { countPieces } from "./number-evidence.ts";
import type { CitableBlock } from "./number-evidence.ts";
import { withoutSpans } from "./answer/resolve-citations.ts";
import type { FoundCitation } from "./answer/resolve-citations.ts";
import { holdsFooter } from "./scope-footer.ts";
import { withoutCode } from "./text/without-code.ts";

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
export type Violation = { readonly code: ViolationCode; readonly message: string };

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
