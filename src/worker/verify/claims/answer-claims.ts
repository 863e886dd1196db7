import type {
  ClaimReason,
  ClaimRecord,
  EvidenceSpan,
  FigureRecord,
  QuoteRecord,
} from "../../../shared/job/run-result.ts";
import { onceEach } from "../../../shared/once.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { JudgeVerdict } from "../../evidence/types.ts";
import { cleanText, sliceCodePoints } from "../../text/clean-text.ts";
import type { TextSpan } from "../../text/spans.ts";
import { lettersOf } from "../reply.ts";
import { citedPieces } from "../cited-sentences.ts";
import type { FoundCitation } from "../resolve-citations.ts";
import { splitCitedText } from "./split.ts";
import type { SplitClaim } from "./split.ts";
import { gradeClaims } from "./grade.ts";
import type { GradedClaim } from "./grade.ts";
import { nearestPlace } from "./windows.ts";

/** A statement of an answer in prose, or one that a model gave with its quote. In `cites`, 0 is a citation of no known piece. */
export type Statement = SplitClaim & {
  readonly quote?: string | undefined;
  /** A line without the form of a statement, with a figure or a link that is nowhere in the evidence. */
  readonly isLoose?: boolean;
};

/** A statement with its grade; its fate is not decided yet. */
export type GradedStatement = Statement & {
  readonly record: Omit<ClaimRecord, "draft" | "fate" | "stands">;
};

type GradingRules = {
  readonly question: string;
  readonly evidence: readonly CitableBlock[];
  readonly citations: "required" | "known" | "off";
  readonly requireInSnapshot: boolean;
  /** The verdicts of a judge, by `verdictKey`. */
  readonly verdicts?: ReadonlyMap<string, JudgeVerdict> | undefined;
};

/** The quotations and figures of the whole answer. A bad one counts against the statement that holds it. */
type Findings = {
  readonly quotes: readonly QuoteRecord[];
  readonly figures: readonly FigureRecord[];
};

/**
 * Grades the statements of an answer, in order, by the rules for claims and by the findings about its quotations, links and
 * citations. Where citations are not required, any piece may support a statement that cites nothing.
 */
export function gradeStatements(
  answer: string,
  given: readonly Statement[],
  findings: Findings,
  rules: GradingRules,
): GradedStatement[] {
  const { evidence, question, verdicts } = rules;
  const statements = withSignedCites(answer, given);
  const wholes = wholeSentences(answer, statements);
  const claims = [...statements, ...wholes].map(({ text, cites, quote }) => ({
    text,
    quote,
    cites: carriersOf(cites, rules),
    verdict: verdicts?.get(verdictKey(citedText(text, cites))),
  }));
  const graded = gradeClaims(claims, evidence, { question });
  const verbatim = wholes.flatMap((whole, at) => {
    const found = graded[statements.length + at];
    return found?.reason === "verbatim" ? [{ ...whole, found }] : [];
  });
  const byNumber = new Map(evidence.map((block) => [block.number, block]));
  const otherSpansOf = otherSpansIn(byNumber);
  const records = statements.flatMap((statement, at) => {
    const whole = verbatim.find(
      ({ start, end }) => start <= statement.start && end >= statement.end,
    );
    const found = whole?.found ?? graded[at];
    if (found === undefined) return [];
    const claim = withFindings(found, statement, findings, rules);
    const otherSpans = otherSpansOf(statement, claim.place);
    return [{ ...statement, record: { ...recordOf(statement, claim, byNumber), otherSpans } }];
  });
  return withSignatures(answer, records);
}

/** The signature behind a quotation, "— Ida Moreno": a dash, few words, and no stop. */
const SIGNATURE = /(?:^|\n)[ \t>]{0,12}[–—―][ \t]{0,4}[^\n]{1,80}(?<![.!?])$/u;
const IN_BLOCK = /^[ \t]{0,8}>/;
const IN_MARKS = /["”“»][ \t]{0,4}(?:\[[^\]]{0,40}\]){0,8}$/u;
const MOST_BEFORE = 20;
const MOST_MARKS = 80;

/** Gives a quotation that cites nothing the citations of its signature. */
function withSignedCites(answer: string, statements: readonly Statement[]): readonly Statement[] {
  const signed = new Map<Statement, readonly number[]>();
  for (const [at, { cites }] of statements.entries()) {
    if (cites.length === 0) continue;
    for (const quoted of quotationAt(answer, statements, at)) {
      if (quoted.cites.length === 0) signed.set(quoted, cites);
    }
  }
  return statements.map((statement) => {
    const cites = signed.get(statement);
    return cites === undefined ? statement : { ...statement, cites, isInherited: true };
  });
}

/** Grades a signature as unsupported when its whole quotation is: alone it states nothing. */
function withSignatures(answer: string, graded: readonly GradedStatement[]): GradedStatement[] {
  return graded.map((statement, at) => {
    const quotation = quotationAt(answer, graded, at);
    const isAlone =
      quotation.length > 0 && quotation.every(({ record }) => record.grade === "unsupported");
    const record = { ...statement.record, grade: "unsupported", reason: "quote" } as const;
    return isAlone ? { ...statement, record } : statement;
  });
}

/** The statements of the quotation before a signature: all of a block quotation, or the last one in quotation marks. */
function quotationAt<S extends Statement>(
  answer: string,
  statements: readonly S[],
  at: number,
): readonly S[] {
  const { start = 0, text = "" } = statements[at] ?? {};
  const before = statements.slice(Math.max(0, at - MOST_BEFORE), at);
  const last = before.at(-1);
  const gap = last === undefined ? "" : answer.slice(last.end, start).slice(0, MOST_MARKS);
  if (last === undefined || /\n[ \t]*\n/.test(gap) || !SIGNATURE.test(gap + text)) return [];
  const apart = before.findLastIndex(
    (one, place) =>
      !isInBlock(answer, one) ||
      /\n[ \t]*\n/.test(answer.slice(one.end, before[place + 1]?.start ?? one.end)),
  );
  if (isInBlock(answer, last)) return before.slice(apart + 1);
  return IN_MARKS.test(answer.slice(last.start, last.end).slice(-MOST_MARKS)) ? [last] : [];
}

const isInBlock = (answer: string, { start }: TextSpan): boolean =>
  IN_BLOCK.test(answer.slice(answer.lastIndexOf("\n", start - 1) + 1, start + 1));

/** Sentences that make several statements: where the evidence holds the whole sentence, it supports all of them. */
function wholeSentences(answer: string, statements: readonly Statement[]): Statement[] {
  const wholes: Statement[] = [];
  let parts: Statement[] = [];
  const close = (): void => {
    const [first, last] = [parts[0], parts.at(-1)];
    if (first === undefined || last === undefined || first === last) return;
    const texts = parts.map(({ end, text }, at) => {
      const next = parts[at + 1];
      return next === undefined ? text : text + answer.slice(end, next.start);
    });
    const cites = [...new Set(parts.flatMap((part) => part.cites))];
    wholes.push({ ...first, end: last.end, text: texts.join(""), cites });
  };
  for (const statement of statements) {
    const before = parts.at(-1);
    const isSame =
      before !== undefined && JOINT.test(answer.slice(before.end, statement.start).slice(0, 60));
    if (!isSame) {
      close();
      parts = [];
    }
    parts.push(statement);
  }
  close();
  return wholes;
}

/** Text between two statements of one sentence. Between two sentences there is only white space, or a line break. */
const JOINT = /^(?=.*\S)[^\n]+$/;

/** The numbers of the pieces that may support a statement. */
function carriersOf(cites: readonly number[], rules: GradingRules): readonly number[] {
  const { citations, evidence, requireInSnapshot } = rules;
  const all = evidence.map(({ number }) => number);
  const admitted = cites.filter((number) => all.includes(number));
  const mayBeAny = citations !== "required" || (!requireInSnapshot && cites.includes(0));
  if (admitted.length === 0 && mayBeAny) return all;
  return citations === "required" ? cites : admitted;
}

function withFindings(
  claim: GradedClaim,
  statement: Statement,
  { quotes, figures }: Findings,
  rules: GradingRules,
): GradedClaim {
  const isRequired = rules.citations === "required";
  const { text, cites } = statement;
  const unknown = cites.find(
    (number) =>
      (number !== 0 || rules.requireInSnapshot) &&
      !rules.evidence.some((block) => block.number === number),
  );
  if (isRequired && unknown !== undefined) {
    return refute(claim, "not_admitted", "citation", "It cites a piece that was not admitted.");
  }
  if (statement.isLoose === true) {
    return refute(claim, "figure", "figures", "A figure or a link outside of any statement.");
  }
  const quote = quotes.find(
    ({ quote: words, class: found }) => isFault(found, isRequired) && holdsWords(text, words),
  );
  if (quote !== undefined) return refute(claim, "quote", "quotation", quote.class);
  const link = figures.find(
    ({ kind, text: target, standsIn }) =>
      kind === "link" && standsIn === "neither" && text.includes(target),
  );
  if (link !== undefined)
    return refute(claim, "name", "link", "A link that is not in the evidence.");
  return claim;
}

/** Whether a statement holds a quotation, ignoring spaces, marks and removed citations between its words. */
export const holdsWords = (text: string, quote: string): boolean =>
  text.includes(quote) || lettersOf(text).includes(lettersOf(quote));

/** Misattributed words are in the evidence: only their citation is wrong. */
function isFault(found: QuoteRecord["class"], isRequired: boolean): boolean {
  return found === "not_found" || found === "stitched" || (found === "misattributed" && isRequired);
}

const refute = (
  { place, checks }: GradedClaim,
  reason: ClaimReason,
  rule: string,
  detail: string,
): GradedClaim => ({
  grade: "unsupported",
  reason,
  arithmetic: null,
  place,
  checks: [...checks, { rule, verdict: "fail", detail }],
});

const MOST_OTHERS = 8;

/** Finds the places in the other cited pieces that hold most of a statement. Each text is searched once for each piece. */
function otherSpansIn(
  byNumber: ReadonlyMap<number, CitableBlock>,
): (statement: Statement, carried: EvidenceSpan | null) => readonly EvidenceSpan[] {
  const finder = onceEach((block: CitableBlock) =>
    onceEach((text: string) => nearestPlace(text, block)),
  );
  return ({ text, cites }, carried) =>
    cites
      .filter((number) => number !== carried?.number)
      .slice(0, MOST_OTHERS)
      .flatMap((number) => {
        const block = byNumber.get(number);
        return block === undefined ? [] : (finder(block)(text) ?? []);
      });
}

function recordOf(
  { text, cites, quote }: Statement,
  { grade, reason, arithmetic, place, checks }: GradedClaim,
  byNumber: ReadonlyMap<number, CitableBlock>,
): Omit<GradedStatement["record"], "otherSpans"> {
  const block = byNumber.get(place?.number ?? 0);
  return {
    ...citedText(text, cites),
    quote: quote === undefined ? null : cleanText(quote),
    grade,
    reason,
    arithmetic,
    span: place,
    carrier: block === undefined || place === null ? null : wordsAt(block, place),
    checks: checks.map((check) => ({ ...check, detail: cleanText(check.detail) })),
  };
}

/** Text and citations as they are recorded: without 0, which names no piece. */
const citedText = (
  text: string,
  cites: readonly number[],
): Pick<ClaimRecord, "text" | "cites"> => ({
  text: cleanText(text),
  cites: cites.filter((number) => number > 0),
});

/** Identifies a recorded statement among those that a judge is asked about. */
export const verdictKey = ({ text, cites }: Pick<ClaimRecord, "text" | "cites">): string =>
  JSON.stringify([text, cites]);

/** The words at a place; null where the piece shows a summary instead of the file's words. */
function wordsAt(block: CitableBlock, { startChar, endChar }: EvidenceSpan): string | null {
  const { text, summaryLevel } = block;
  if (summaryLevel !== null) return null;
  return cleanText(sliceCodePoints(text, startChar - block.startChar, endChar - block.startChar));
}

/**
 * The records of a draft's claims.
 * @param unsupported the fate of claims that the evidence does not support
 * @param draftStands whether the final answer is made from this draft
 */
export const claimRecords = (
  statements: readonly GradedStatement[],
  unsupported: "repaired" | "dropped" | "flagged",
  draftStands: boolean,
): ClaimRecord[] =>
  statements.map(({ record }) => {
    const fate = FATES[record.grade] ?? unsupported;
    const stands = draftStands && fate !== "repaired" && fate !== "dropped";
    return { ...record, draft: 0, fate, stands };
  });

const FATES: Partial<Record<ClaimRecord["grade"], ClaimRecord["fate"]>> = {
  supported: "kept",
  unconfirmed: "marked",
};

/** The statements of an answer in prose, in order. A citation of a file by its name cites all of its pieces. */
export function statementsOf(
  answer: string,
  citations: readonly FoundCitation[],
  evidence: readonly CitableBlock[],
): Statement[] {
  const numbersOf = citedPieces(evidence);
  const places = new Map<number, { start: number; end: number; numbers: number[] }>();
  for (const found of citations) {
    const { end, kind, spelled } = found;
    const start = isOfDocument(answer.slice(found.start, end), evidence) ? end : found.start;
    const place = places.get(start) ?? { start, end, numbers: [] };
    if (kind === "resolved") place.numbers.push(...numbersOf(found));
    else place.numbers.push(Number(/^\[(\d{1,9})\]$/.exec(spelled)?.[1] ?? 0));
    places.set(start, place);
  }
  return splitCitedText(answer, [...places.values()]);
}

/** The range of a claim in an answer that was composed from claims, in UTF-16 units. */
export type PlacedClaim = TextSpan & {
  /** The words of the evidence that the model gave for it. */
  readonly quote: string | undefined;
};

/**
 * The statements of an answer that was composed from claims. Each claim is split by itself, with the citations inside it. The
 * quote belongs to the claim's only statement; where it makes several, none gets the quote.
 */
export const statementsOfClaims = (
  answer: string,
  claims: readonly PlacedClaim[],
  citations: readonly FoundCitation[],
  evidence: readonly CitableBlock[],
): Statement[] =>
  claims.flatMap(({ start, end, quote }) => {
    const own = citations
      .filter((found) => found.start >= start && found.end <= end)
      .map((found) => ({ ...found, start: found.start - start, end: found.end - start }));
    const statements = statementsOf(answer.slice(start, end), own, evidence);
    return statements.map((statement) => ({
      ...statement,
      start: statement.start + start,
      end: statement.end + start,
      quote: statements.length === 1 ? quote : undefined,
    }));
  });

/** Whether a wiki link was copied with a sentence of the evidence: it is a citation, and its words stay in the text. */
const isOfDocument = (spelled: string, evidence: readonly CitableBlock[]): boolean =>
  spelled.startsWith("[[") && evidence.some(({ text }) => text.includes(spelled));
