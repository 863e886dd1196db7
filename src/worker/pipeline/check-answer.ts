import { DECLINED } from "../model/model.ts";
import type { ModelReply } from "../model/model.ts";
import { firstCodePoints } from "./code-points.ts";
import { findCitations, withoutCitations } from "./find-citations.ts";
import { hasMarkdownTable } from "./find-markdown-table.ts";
import { findQuotes } from "./find-quotes.ts";
import type { CitableBlock } from "./number-evidence.ts";
import { parseToolCall } from "./parse-tool-call.ts";
import { holdsFooter } from "./scope-footer.ts";
import { verifyQuotes } from "./verify-quotes.ts";
import { visibleText } from "./visible-text.ts";
import { withoutCode } from "./without-code.ts";

export type AnswerRules = {
  readonly footer: string;
  readonly evidence: readonly CitableBlock[];
  /** required: at least one, all of them known. known: none is fine. off: not looked at. */
  readonly citations: "required" | "known" | "off";
};

export type ViolationCode =
  | "EMPTY_ANSWER"
  | "CUT_SHORT"
  | "TOOL_CALL"
  | "MARKDOWN_TABLE"
  | "FOOTER_MISPLACED"
  | "CITATION_MISSING"
  | "CITATION_UNKNOWN"
  | "QUOTE_NOT_FOUND";

/** `message` is for the model's second try and may hold its words; records keep the code. */
export type Violation = { readonly code: ViolationCode; readonly message: string };

export type PassedAnswer = {
  readonly kind: "passed";
  /** The answer with the exact footer as its last line. */
  readonly text: string;
  readonly footer: "exact" | "appended" | "replaced";
  /** Evidence numbers that it cites, in order. */
  readonly cited: readonly number[];
  readonly quotes: readonly { readonly quote: string; readonly foundIn: number | null }[];
};

export type CheckedAnswer =
  | PassedAnswer
  | { readonly kind: "declined" }
  | { readonly kind: "violated"; readonly violations: readonly Violation[] };

/**
 * Holds a reply of pass 2 against the rules. A footer that is missing or altered is put right here; anything
 * else is a violation. Pure, and linear in the reply and the evidence.
 */
export function checkAnswer(
  { text, doneReason }: Pick<ModelReply, "text" | "doneReason">,
  rules: AnswerRules,
): CheckedAnswer {
  const { body, footers } = splitFooters(visibleText(text));
  if (isDeclined(body)) return { kind: "declined" };
  const prose = withoutCode(body);
  const cited = rules.citations === "off" ? [] : findCitations(prose);
  const quotes = verifyQuotes(findQuotes(prose), rules.evidence);
  const violations = [
    ...formViolations(body, prose, doneReason),
    ...citationViolations(cited, rules),
    ...quoteViolations(quotes),
  ];
  if (violations.length > 0) return { kind: "violated", violations };
  const footer = footerState(footers, rules.footer);
  return { kind: "passed", text: `${body}\n${rules.footer}`, footer, cited, quotes };
}

/** The reply and the lines at its end that are, or try to be, a scope footer. */
function splitFooters(text: string): { body: string; footers: string[] } {
  const lines = text.trim().split("\n");
  let end = lines.length;
  while (end > 0 && isFooterOrBlank(lines[end - 1] ?? "")) end -= 1;
  const footers = lines.slice(end).filter((line) => line.trim() !== "");
  return { body: lines.slice(0, end).join("\n").trim(), footers };
}

/** A line that opens with a footer, but for marks of markdown; one that ends with it holds something else too. */
const isFooterOrBlank = (line: string): boolean =>
  line.trim() === "" || (/^[\s>*_`#-]*Scope/i.test(line) && holdsFooter(line));

function footerState(found: readonly string[], footer: string): PassedAnswer["footer"] {
  if (found.length === 0) return "appended";
  return found.length === 1 && found[0]?.trim() === footer ? "exact" : "replaced";
}

/** A line that holds nothing but the literal, cited or not; a sentence that mentions it is an answer. */
const isDeclined = (body: string): boolean =>
  body.split("\n").some((line) => lettersOf(withoutCitations(line)) === lettersOf(DECLINED));

const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, "").toUpperCase();

/** A call after some text is none for the parser, and still no answer. Evidence never shows the model one. */
const CALL = /["']type["']\s{0,20}:\s{0,20}["']tool_call["']|<tool_call>/i;

function formViolations(
  body: string,
  prose: string,
  doneReason: ModelReply["doneReason"],
): Violation[] {
  if (lettersOf(withoutCitations(body)) === "")
    return [violation("EMPTY_ANSWER", "The reply held no answer.")];
  const violations: Violation[] = [];
  if (parseToolCall(body) !== null || CALL.test(body)) {
    violations.push(
      violation("TOOL_CALL", "It called a tool. Tools can't be used any more; answer."),
    );
  }
  if (hasMarkdownTable(prose)) {
    violations.push(
      violation("MARKDOWN_TABLE", "It held a markdown table. Write sentences or a list."),
    );
  }
  if (holdsFooter(body)) {
    violations.push(
      violation(
        "FOOTER_MISPLACED",
        "It stated a scope before its last line. State it there alone.",
      ),
    );
  }
  if (doneReason === "length") {
    violations.push(violation("CUT_SHORT", "It was cut off because it was too long. Be shorter."));
  }
  return violations;
}

function citationViolations(
  cited: readonly number[],
  { citations, evidence }: AnswerRules,
): Violation[] {
  const unknown = cited.filter((number) => !evidence.some((block) => block.number === number));
  if (unknown.length > 0) {
    const range = `[1] to [${evidence.length}]`;
    const text = `It cited ${unknown.map((number) => `[${number}]`).join(", ")}; there are only ${range}.`;
    return [violation("CITATION_UNKNOWN", text)];
  }
  if (citations !== "required" || cited.length > 0) return [];
  return [
    violation("CITATION_MISSING", "It cited nothing. Cite the evidence by number, like [1]."),
  ];
}

const quoteViolations = (quotes: PassedAnswer["quotes"]): Violation[] =>
  quotes
    .filter(({ foundIn }) => foundIn === null)
    .slice(0, MOST_QUOTES_SHOWN)
    .map(({ quote }) => {
      const shown = firstCodePoints(quote, MOST_QUOTE_CHARS);
      return violation(
        "QUOTE_NOT_FOUND",
        `These words in quotation marks are not in the evidence: ${shown}`,
      );
    });

/** What the second try is shown of invented quotes; its draft holds the rest. */
const MOST_QUOTES_SHOWN = 5;
const MOST_QUOTE_CHARS = 300;

const violation = (code: ViolationCode, message: string): Violation => ({ code, message });
