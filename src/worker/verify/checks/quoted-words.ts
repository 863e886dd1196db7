import type { EvidenceSpan } from "../../../shared/job/run-result.ts";
import type { Objection } from "../../../shared/job/verification.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { PureWork } from "../../offload/offload.ts";
import { gradeClaims } from "../claims/grade.ts";
import { verifyQuotes } from "../verify-quotes.ts";

type Quoting = {
  /** The statement that the quote should support, and the task that it answers. */
  readonly claim: string;
  readonly task: string;
  readonly quote: string;
  readonly cites: readonly number[];
  readonly sources: readonly CitableBlock[];
};

/** The place of a quote, and the objections of the rules for claims to the statement there. */
export type QuotedWords = {
  readonly span: EvidenceSpan;
  readonly against: readonly Objection[];
};

const HELD: ReadonlySet<string> = new Set(["verbatim", "normalised", "elided"]);

/** Finds a quote in the cited pieces, and grades the statement by the quoted words; null where the quote is not there. */
export function readQuoted({ claim, task, quote, cites, sources }: Quoting): QuotedWords | null {
  const cited = sources.filter(({ number }) => cites.includes(number));
  const [record] = verifyQuotes([{ quote, cited: cites }], cited);
  if (record === undefined || !HELD.has(record.class) || record.span === null) return null;
  const { span } = record;
  const piece = cited.filter(({ number }) => number === span.number);
  const [graded] = gradeClaims([{ text: claim, cites: [span.number], quote }], piece, {
    question: task,
  });
  const place = graded?.place ?? null;
  const isElsewhere =
    place === null || place.endChar <= span.startChar || place.startChar >= span.endChar;
  const against = (graded?.checks ?? [])
    // A figure that only a heading states is not contradicted.
    .filter(({ rule, verdict }) => verdict === "fail" && rule !== "label_figures")
    .map(toObjection);
  return { span, against: isElsewhere ? [...against, ELSEWHERE] : against };
}

const toObjection = ({ rule, detail }: Objection): Objection => ({ rule, detail });
const ELSEWHERE: Objection = { rule: "place", detail: "other words of the file come nearer to it" };

/** In a thread, because pieces are whole files. */
export const READ_QUOTED: PureWork<Quoting, QuotedWords | null> = {
  home: import.meta.url,
  run: readQuoted,
};
