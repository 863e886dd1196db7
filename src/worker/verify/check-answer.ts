import { REASON_WORDS } from "../../shared/job/claims.ts";
import type { AnswerChecks, FigureRecord, QuoteRecord } from "../../shared/job/run-result.ts";
import { countPieces } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import type { JudgeVerdict } from "../evidence/types.ts";
import type { ModelReply } from "../models/model.ts";
import { firstCodePoints, withoutCode, withoutSpans } from "../text/clean-text.ts";
import { holdsFooter } from "../text/footer-form.ts";
import { detectToolCall } from "../tools/parse-tool-call.ts";
import { missingKind } from "./asked-kind.ts";
import { findCitations } from "./citations.ts";
import {
  gradeStatements,
  holdsWords,
  statementsOf,
  statementsOfClaims,
} from "./claims/answer-claims.ts";
import type { GradedStatement, PlacedClaim, Statement } from "./claims/answer-claims.ts";
import { leaveOut } from "./claims/leave-out.ts";
import type { HeadingRule } from "./evidence-names.ts";
import { checkFigures } from "./figures.ts";
import { checkLinks } from "./links.ts";
import { answerSentences, citedWith } from "./cited-sentences.ts";
import { holdsOwnMark } from "./own-marks.ts";
import { checkQuotes } from "./quotes.ts";
import { isDeclined, lettersOf, openAnswer } from "./reply.ts";
import { resolveCitations } from "./resolve-citations.ts";
import type { FoundCitation } from "./resolve-citations.ts";
import { tableCells } from "../text/table-cells.ts";

export type AnswerRules = HeadingRule & {
  /** The exact last line. */
  readonly footer: string;
  /** The operator's question: words and figures in it need no evidence. Empty for a summary. */
  readonly question: string;
  readonly evidence: readonly CitableBlock[];
  /** required: at least one, and all good. known: none is fine, bad ones stay with a mark. off: not checked. */
  readonly citations: "required" | "known" | "off";
  /** False: a citation by name of something outside the evidence stays with a mark, even where citations are required. */
  readonly requireInSnapshot: boolean;
  readonly unsupported: UnsupportedPolicy;
  /** The verdicts of a judge, by `verdictKey`; missing where none was asked. */
  readonly verdicts?: ReadonlyMap<string, JudgeVerdict> | undefined;
};

/**
 * The treatment of a statement that the evidence does not support. repair: the model is asked again, and statements that are
 * still unsupported are left out. drop: it is left out at once. refuse: after the repair the answer is refused. flag: it stays.
 */
export type UnsupportedPolicy = "repair" | "drop" | "refuse" | "flag";

export type ViolationCode =
  | "EMPTY_ANSWER"
  | "CUT_SHORT"
  | "TOOL_CALL"
  | "MARKDOWN_TABLE"
  | "FOOTER_MISPLACED"
  | "MARK_REPEATED"
  | "CITATION_MISSING"
  | "CITATION_UNKNOWN"
  | "QUOTE_NOT_FOUND"
  | "UNSUPPORTED"
  | "NOT_WHAT_WAS_ASKED";

/** `message` goes into the model's second try and may hold its words; records hold only the code. */
type Violation = { readonly code: ViolationCode; readonly message: string };

export type PassedAnswer = {
  readonly kind: "passed";
  /** The final answer, with its notes, and the exact footer as its last line. */
  readonly text: string;
  /** The answer without notes and footer. */
  readonly body: string;
  readonly footer: "exact" | "appended" | "replaced";
  /** In the order in which the answer cites. */
  readonly citations: readonly FoundCitation[];
  readonly checks: AnswerChecks;
  /** All statements of the reply, also those that were left out. */
  readonly statements: readonly GradedStatement[];
  /** The number of statements that were left out. */
  readonly dropped: number;
  /** The kind of thing that the question asks for, if no remaining statement holds it. */
  readonly missing: string | null;
};

export type CheckedAnswer =
  | PassedAnswer
  | { readonly kind: "declined"; readonly checks: AnswerChecks }
  | {
      readonly kind: "violated";
      readonly violations: readonly Violation[];
      readonly checks: AnswerChecks;
      readonly statements: readonly GradedStatement[];
      /** The answer without unsupported statements; null where nothing remains, or something else is wrong. */
      readonly mended: PassedAnswer | null;
    };

export type CheckableReply = Pick<ModelReply, "text" | "toolCalls" | "doneReason">;

/**
 * Checks a reply of pass 2 against the rules. A missing or altered footer is corrected here; any other fault is a violation.
 * Pure, and linear in the reply and the evidence.
 *
 * @param claims their places in a reply that was composed from claims; null for prose
 */
export function checkAnswer(
  reply: CheckableReply,
  rules: AnswerRules,
  claims: readonly PlacedClaim[] | null = null,
): CheckedAnswer {
  const { body, footers } =
    claims === null ? openAnswer(reply.text) : { body: reply.text, footers: [] };
  if (isDeclined(body, rules)) return { kind: "declined", checks: NOTHING_CHECKED };
  const prose = withoutCode(body);
  const inspected = inspectAnswer({ body, prose, claims }, rules);
  const { citations, checks, statements } = inspected;
  const found = [...formViolations(body, prose, reply, rules), ...findViolations(inspected, rules)];
  const isEmpty = found.length + statements.length === 0 && !copiesEvidence(body, rules);
  const faults = isEmpty ? [violation("EMPTY_ANSWER", NO_STATEMENT)] : found;
  const unsupported = rules.unsupported === "flag" ? [] : statements.filter(isUnsupported);
  const footer = footerState(footers, rules.footer);
  const whole = { kind: "passed", body, footer, citations, checks, statements } as const;
  const missing = missingIn(statements, rules);
  if (faults.length + unsupported.length === 0 && missing === null) {
    return { ...whole, text: `${body}\n${rules.footer}`, dropped: 0, missing };
  }
  const mended = faults.length === 0 ? leaveOutUnsupported(whole, reply, rules) : null;
  if (mended !== null && rules.unsupported === "drop") return mended;
  const violations = [
    ...faults,
    ...unsupported.slice(0, MOST_SHOWN).map(unsupportedViolation),
    ...(missing === null ? [] : [violation("NOT_WHAT_WAS_ASKED", missingKindMessage(missing))]),
  ];
  return { kind: "violated", violations, checks, statements, mended };
}

const missingIn = (
  statements: readonly GradedStatement[],
  { question, unsupported }: AnswerRules,
): string | null =>
  unsupported === "flag"
    ? null
    : missingKind(
        question,
        statements.map(({ text }) => text),
      );

const missingKindMessage = (kind: string): string =>
  `The question asks for: ${kind}. No statement holds such a thing. Say it if the evidence does; if it does not, decline.`;

const isUnsupported = ({ record }: GradedStatement): boolean => record.grade === "unsupported";

type WholeAnswer = Omit<PassedAnswer, "text" | "dropped" | "missing">;

/** Leaves unsupported statements out of an answer, and adds its notes. Null where the policy is "refuse", or nothing is left. */
function leaveOutUnsupported(
  { body: whole, statements, ...answer }: WholeAnswer,
  reply: CheckableReply,
  rules: AnswerRules,
): PassedAnswer | null {
  const dropped = statements.filter(isUnsupported).length;
  if (rules.unsupported === "refuse" || dropped === statements.length) return null;
  const standing = statements.filter((statement) => !isUnsupported(statement));
  const missing = missingIn(standing, rules);
  const said = missing === null ? "" : `\n${missingNote(missing)}`;
  if (dropped === 0) {
    const text = `${whole}\n${said}\n${rules.footer}`;
    return { ...answer, text, body: whole, statements, dropped, missing };
  }
  const body = leaveOut(whole, statements, isUnsupported);
  const prose = withoutCode(body);
  // Words that become neighbours may form a mark or a tool call.
  if (formViolations(body, prose, reply, rules).length > 0) return null;
  const citations = resolveCitations(prose, rules.evidence, rules);
  const text = `${body}\n\n${leftOutNote(dropped)}${said}\n${rules.footer}`;
  return { ...answer, text, body, citations, statements, dropped, missing };
}

/** The note on an answer that holds nothing of the kind that the question asks for. */
export const missingNote = (kind: string): string =>
  `(The question asks for: ${kind}. No statement of this answer holds such a thing.)`;

/** The note on an answer about statements that were left out. */
export const leftOutNote = (dropped: number): string =>
  dropped === 1
    ? "(1 statement was left out: the evidence does not carry it.)"
    : `(${String(dropped)} statements were left out: the evidence does not carry them.)`;

function unsupportedViolation({ record: { text, reason } }: GradedStatement): Violation {
  return violation(
    "UNSUPPORTED",
    `The evidence does not carry this (${REASON_WORDS[reason]}): ${shorten(text)}`,
  );
}

export const NOTHING_CHECKED: AnswerChecks = { quotes: [], figures: [] };

function footerState(found: readonly string[], footer: string): PassedAnswer["footer"] {
  if (found.length === 0) return "appended";
  return found.length === 1 && found[0]?.trim() === footer ? "exact" : "replaced";
}

function formViolations(
  body: string,
  prose: string,
  { toolCalls, doneReason }: Pick<ModelReply, "toolCalls" | "doneReason">,
  { evidence }: AnswerRules,
): Violation[] {
  const pieces = countPieces(evidence);
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

/** Faults of the answer as a whole, not of a single statement. */
const findViolations = (inspected: InspectedAnswer, rules: AnswerRules): Violation[] => [
  ...(rules.citations === "required" ? citationViolations(inspected, rules) : []),
  ...looseQuotes(inspected).map(({ quote }) =>
    violation(
      "QUOTE_NOT_FOUND",
      `These words in quotation marks are not in the evidence: ${shorten(quote)}`,
    ),
  ),
];

/** Whether a summary copies a line of the evidence: a file of questions or headings alone is summarised by some of them. */
function copiesEvidence(body: string, { question, evidence }: AnswerRules): boolean {
  if (question !== "") return false;
  const held = evidence.map(({ text }) => lettersOf(text));
  const lines = new Set(body.split(/\n|\[[^\]\n]*\]/).map(lettersOf));
  return [...lines].some((line) => line !== "" && held.some((letters) => letters.includes(line)));
}

/** An answer without a statement can't be supported or unsupported, and is no answer. */
const NO_STATEMENT = "It states nothing: a heading, a lead-in or a question is no answer.";

/** A fault only where no citation is good: else each statement is graded by itself. */
function citationViolations(
  { citations }: InspectedAnswer,
  { evidence, requireInSnapshot }: AnswerRules,
): Violation[] {
  // A name outside of the snapshot is bad, unless the configuration allows it.
  const isGood = ({ kind }: FoundCitation): boolean =>
    kind === "resolved" || (kind === "unknown_name" && !requireInSnapshot);
  if (citations.some(isGood)) return [];
  const names = [...new Set(citations.map(({ spelled }) => shorten(spelled)))].slice(0, MOST_SHOWN);
  if (names.length > 0) {
    const range = `numbers 1 to ${evidence.length}`;
    return [
      violation("CITATION_UNKNOWN", `It cited ${names.join(", ")}; there are only ${range}.`),
    ];
  }
  return [
    violation(
      "CITATION_MISSING",
      "It cited nothing. Say of each statement by its number which piece of evidence carries it.",
    ),
  ];
}

/** Quotations that are not in the evidence, and not inside one statement: in a heading, or over several statements. */
const looseQuotes = ({ checks, statements }: InspectedAnswer): readonly QuoteRecord[] =>
  checks.quotes
    .filter(
      ({ quote, class: found }) =>
        (found === "not_found" || found === "stitched") &&
        !statements.some(({ text }) => holdsWords(text, quote)),
    )
    .slice(0, MOST_SHOWN);

/** Limits of examples of each kind of fault in the second prompt; the draft there shows the rest. */
const MOST_SHOWN = 5;
const MOST_CHARS = 300;

const shorten = (text: string): string => firstCodePoints(text, MOST_CHARS);

type WrittenAnswer = {
  readonly body: string;
  /** The body with code replaced by spaces. */
  readonly prose: string;
  readonly claims: readonly PlacedClaim[] | null;
};

type InspectedAnswer = {
  readonly citations: readonly FoundCitation[];
  readonly checks: AnswerChecks;
  readonly statements: readonly GradedStatement[];
};

/** Looks up the citations, quotes, figures, links and statements of an answer in the evidence, without deciding about faults. */
function inspectAnswer(
  { body: answer, prose, claims: placed }: WrittenAnswer,
  rules: AnswerRules,
): InspectedAnswer {
  const { evidence, question } = rules;
  const citations = resolveCitations(prose, evidence, rules);
  const citedBetween = citedWith(answerSentences(answer, citations, evidence));
  const claimed = withoutSpans(answer, citations);
  const links = checkLinks(answer, prose, question, evidence);
  const citedWithQuote = rules.citations === "off" ? () => [] : citedBetween;
  const quotes = checkQuotes(prose, citations, citedWithQuote, rules);
  const figures = checkFigures(withoutSpans(claimed, links.spans), question, evidence, (at) =>
    citedBetween(at, at + 1),
  );
  const checks = { quotes, figures: [...figures, ...links.records] };
  const stated =
    placed === null
      ? statementsOf(answer, citations, evidence)
      : statementsOfClaims(answer, placed, citations, evidence);
  const all = [...stated, ...looseStatements(answer, stated, checks.figures)];
  const findings = { quotes, figures: links.records };
  return { citations, checks, statements: gradeStatements(answer, all, findings, rules) };
}

/** Lines outside of all statements, such as headings, with a figure or link that is neither in evidence nor question. */
function looseStatements(
  answer: string,
  stated: readonly Statement[],
  figures: readonly FigureRecord[],
): Statement[] {
  const nowhere = figures
    .filter(({ kind, flagged, standsIn }) => kind !== "path" && flagged && standsIn === "neither")
    .map(({ text }) => text);
  if (nowhere.length === 0) return [];
  const holdsOne = holdsAnyOf(new Set(nowhere));
  const rest = withoutSpans(answer, stated);
  return [...rest.matchAll(/[^\n]+/g)].flatMap(({ 0: line, index }) => {
    const text = line.trim();
    const start = index + line.indexOf(text);
    const loose = { start, end: start + text.length, text, cites: [], isInherited: false };
    return holdsOne(text) ? [{ ...loose, isLoose: true }] : [];
  });
}

/** No honest answer has more figures without evidence; beyond this number any figure or link counts. */
const MOST_LOOSE = 200;

function holdsAnyOf(figures: ReadonlySet<string>): (line: string) => boolean {
  if (figures.size > MOST_LOOSE) return (line) => /\p{N}|:\/\//u.test(line);
  return (line) => [...figures].some((figure) => line.includes(figure));
}

/**
 * Whether the text, without code, holds a table as GitHub draws one: a row with pipes above a row of dashes with as many cells,
 * also in a quotation or a list, or a table in HTML. Shell pipes and `||` are no tables.
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
