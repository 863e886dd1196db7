import { applyEdits, withoutSpans } from "../../text/clean-text.ts";
import type { TextSpan } from "../../text/spans.ts";
import { tableCells } from "../../text/table-cells.ts";
import { findClosedQuotes } from "../quotes.ts";
import { answerBlocks } from "./answer-blocks.ts";
import type { AnswerBlock } from "./answer-blocks.ts";
import { clausesOf, sentencesOf, spansWithin } from "./clauses.ts";
import type { Prose } from "./clauses.ts";

/** A statement of an answer in prose; its range, with its citations, is in UTF-16 units. */
export type SplitClaim = TextSpan & {
  /** Its words in the answer, without citations; a row of a table without its outer bars. */
  readonly text: string;
  /** The numbers that it cites, each once. */
  readonly cites: readonly number[];
  /** It cites nothing itself: its numbers are from the end of its paragraph, or from a line below or before its list. */
  readonly isInherited: boolean;
};

/** The range of a citation, and the numbers of its pieces. */
export type CitedAt = TextSpan & { readonly numbers: readonly number[] };

/**
 * Splits an answer in prose into claims, in order. A claim is a sentence, an item of a list, a row of a table, a line of code,
 * or a part of a sentence that a semicolon, "while" or a citation before "and" separates. Headings, labels, lead-ins with a
 * colon, table headers, questions, courtesies, and lines that begin with "Scope:" and cite nothing are no claims. About linear.
 *
 * @param citations in order, such as those by name; none overlaps another
 */
export function splitCitedText(text: string, citations: readonly CitedAt[]): SplitClaim[] {
  const answer = readAnswer(text, citations);
  const claims: SplitClaim[] = [];
  let introducedBy: readonly number[] = [];
  let uncovered = 0;
  for (const block of answerBlocks(text)) {
    if (block.isFirstOfSection) uncovered = claims.length;
    if (block.isFirstOfSection || block.kind === "paragraph") introducedBy = [];
    const { claims: found, leadIn, sources } = readBlock(answer, block);
    claims.push(...coverAll(coverParagraph(found), introducedBy));
    if (sources.length > 0) {
      claims.push(...coverAll(claims.splice(uncovered), sources));
      uncovered = claims.length;
    }
    if (leadIn.length > 0) introducedBy = leadIn;
  }
  return claims;
}

type Answer = Prose & { readonly source: string; readonly citations: readonly CitedAt[] };

function readAnswer(source: string, citations: readonly CitedAt[]): Answer {
  // Code is masked by letters: a dot in it ends no sentence, and a sentence may begin with code.
  const text = source
    .replace(/`[^`\n]*`/g, (code) => (code.includes("[") ? code : "X".repeat(code.length)))
    .replace(/(?<=\n)[ \t]{0,8}(?:>[ \t]?)+/g, (marks) => " ".repeat(marks.length));
  const quotes = findClosedQuotes(withoutSpans(text, citations));
  return { source, text, citations, quotes };
}

const coverAll = (claims: readonly SplitClaim[], cites: readonly number[]): SplitClaim[] =>
  claims.map((claim) =>
    claim.cites.length > 0 || cites.length === 0 ? claim : { ...claim, cites, isInherited: true },
  );

/** A citation also covers the claims before it that cite nothing, back to the previous citation. */
function coverParagraph(claims: readonly SplitClaim[]): SplitClaim[] {
  let cites: readonly number[] = [];
  return claims
    .toReversed()
    .map((claim) => {
      if (claim.cites.length > 0) cites = claim.cites;
      return coverAll([claim], cites)[0] ?? claim;
    })
    .toReversed();
}

type ReadBlock = {
  readonly claims: readonly SplitClaim[];
  /** The citations of a lead-in at its end. */
  readonly leadIn: readonly number[];
  /** Its citations outside of any sentence. */
  readonly sources: readonly number[];
};

function readBlock(answer: Answer, block: AnswerBlock): ReadBlock {
  if (block.kind === "row" || block.kind === "code") {
    const words = block.kind === "row" ? rowWords(answer, block) : wordsOf(answer, block);
    return { claims: claimOf(answer, block, words), leadIn: [], sources: [] };
  }
  const claims: SplitClaim[] = [];
  const sources: number[] = [];
  let leadIn: readonly number[] = [];
  const sentences = withTheirCitations(answer, sentencesOf(answer, block));
  sentences.forEach((sentence, at) => {
    const words = wordsOf(answer, sentence);
    const isLast = at === sentences.length - 1;
    if (isBare(words)) sources.push(...citesIn(answer, sentence));
    else if (isLast && LEAD_IN.test(words)) leadIn = citesIn(answer, sentence);
    else if (!isNoStatement(words, citesIn(answer, sentence)))
      claims.push(...claimsOf(answer, sentence));
  });
  return { claims, leadIn, sources: distinct(sources) };
}

/** Adds a sentence of citations alone to the sentence before. */
function withTheirCitations(answer: Answer, sentences: readonly TextSpan[]): TextSpan[] {
  const merged: TextSpan[] = [];
  for (const sentence of sentences) {
    const before = SAYS_SOMETHING.test(wordsOf(answer, sentence)) ? undefined : merged.pop();
    merged.push({ start: before?.start ?? sentence.start, end: sentence.end });
  }
  return merged;
}

const isBare = (words: string): boolean => !SAYS_SOMETHING.test(words) || SOURCES.test(words);

const SAYS_SOMETHING = /[\p{L}\p{N}]/u;
const SOURCES =
  /^[*_(]{0,3}(?:sources?|quellen?|fuentes?|références?|references?|belege?|出典)[*_]{0,3}\s?[:：]?[*_)]{0,3}[.,;\s]*$/iu;
const LEAD_IN = /[:：][*_]{0,3}$/;

/** The claims of a sentence. A clause that cites nothing gets the citations of the clause behind it. */
function claimsOf(answer: Answer, sentence: TextSpan): SplitClaim[] {
  let cites: readonly number[] = [];
  return clausesOf(answer, sentence)
    .toReversed()
    .flatMap((clause) => claimOf(answer, clause, wordsOf(answer, clause)))
    .map((claim) => {
      if (claim.cites.length > 0) cites = claim.cites;
      return { ...claim, cites };
    })
    .toReversed();
}

function claimOf(answer: Answer, span: TextSpan, text: string): SplitClaim[] {
  if (!SAYS_SOMETHING.test(text)) return [];
  return [{ ...trimSpan(answer, span), text, cites: citesIn(answer, span), isInherited: false }];
}

function trimSpan({ source }: Answer, { start, end }: TextSpan): TextSpan {
  const slice = source.slice(start, end);
  const from = start + slice.length - slice.trimStart().length;
  return { start: from, end: Math.max(from, start + slice.trimEnd().length) };
}

const distinct = (numbers: readonly number[]): number[] => [...new Set(numbers)];

const citesIn = ({ citations }: Answer, span: TextSpan): number[] =>
  distinct(spansWithin(citations, span).flatMap(({ numbers }) => numbers));

/** The words of a span without citations, the spaces before them, and the marks of a block quotation. */
const wordsOf = (answer: Answer, span: TextSpan): string =>
  withMarkedCitations(answer, span)
    .replace(/(?:[ \t]{0,8}\0)+/g, "")
    .replace(/\n[ \t]*>[ \t>]*/g, "\n")
    .trim();

/** The cells of a row, without cells that hold only citations. */
const rowWords = (answer: Answer, span: TextSpan): string =>
  tableCells(withMarkedCitations(answer, span).trim())
    .filter((cell) => !cell.includes("\0") || /[^\0,;\s]/.test(cell))
    .map((cell) => cell.replace(/(?:[ \t]{0,8}\0)+/g, "").trim())
    .join(" | ");

/** The text of a span, with each citation replaced by NUL, which no answer contains. */
function withMarkedCitations({ source, citations }: Answer, span: TextSpan): string {
  const edits = spansWithin(citations, span).map(({ start, end }) => ({
    start: start - span.start,
    end: end - span.start,
    text: "\0",
  }));
  return applyEdits(source.slice(span.start, span.end), edits);
}

/** Whether words are a question, an offer, a courtesy, or a line like our footer without citations. */
function isNoStatement(words: string, cites: readonly number[]): boolean {
  return (
    QUESTION.test(words) ||
    (SCOPE.test(words) && cites.length === 0) ||
    (words.length <= LONGEST_COURTESY && !/\p{N}/u.test(words) && COURTESY.test(words))
  );
}

const QUESTION = /(?:[?？]|ましょうか。?|ますか。?)[)\]*_]{0,4}$/;
const SCOPE = /^[*_]{0,2}scope[*_]{0,2}\s?[:：]/i;
const LONGEST_COURTESY = 90;
const COURTESY = new RegExp(
  `^[*_]{0,2}(?:${[
    "(?:certainly|sure(?: thing)?|of course|absolutely|great question|happy to help|(?:thank you|thanks)(?: for (?:your|the) question)?|you(?:'|’)re welcome)[.!]?",
    "(?:i )?hope (?:this|that|it) helps[^.!,;]{0,20}[.!]?",
    "(?:please )?(?:let me know|feel free to|don(?:'|’)t hesitate|do not hesitate)(?![\\p{L}]).*",
    "if you (?:need|want|would like|have)(?![\\p{L}]).*(?:let me know|ask|happy to).*",
    "(?:(?:sehr )?gerne?|natürlich|selbstverständlich|klar|sicher)[.!]?",
    "ich hoffe,? (?:das|dies) hilft[^.!,;]{0,20}[.!]?",
    "(?:lassen sie mich wissen|sag(?:en sie)? (?:mir )?(?:gerne )?bescheid|melden sie sich|bei (?:weiteren )?fragen)(?![\\p{L}]).*",
    "(?:bien sûr|certainement|volontiers|avec plaisir) ?[.!]?",
    "j(?:'|’)espère que (?:cela|ça) (?:vous |t(?:'|’))?[^.!,;]{0,20}[.!]?",
    "(?:n(?:'|’)hésitez pas|dites-moi|faites-moi savoir)(?![\\p{L}]).*",
    "¡?(?:claro(?: que sí)?|por supuesto|con gusto|desde luego)[.!]?",
    "espero que (?:esto |eso |le |te )*(?:ayude|sirva|sea útil)[^.!,;]{0,20}[.!]?",
    "(?:avíseme|avísame|no dude en|no dudes en|dígame|hágame saber)(?![\\p{L}]).*",
    "(?:お役に立て|ご参考になれば|参考になれば|もちろんです|承知しました|かしこまりました)[^。]{0,20}[。！!]?",
  ].join("|")})$`,
  "iu",
);
