import { contentStems } from "../../text/content-words.ts";
import type { Candidate } from "./candidates.ts";
import { showSpans } from "./pick-sentences.ts";
import {
  isStatement,
  isUnderstood,
  isWord,
  LINE_FACTOR,
  LINK,
  LINK_FACTOR,
  QUESTION_FACTOR,
} from "./rank-for-summary.ts";
import { countHolders } from "../../text/word-vectors.ts";

/** Parameters of BM25 for the words of the title, with each sentence as a document. */
const K1 = 1;
const B = 0.4;
/** The weight of the words that the text repeats, relative to those of the title, and the exponent for the length. */
const SUBJECT_WEIGHT = 0.25;
const LENGTH_EXPONENT = 0.6;
/** The bonus of the first sentence; it decreases over the next ones. */
const LEAD_BONUS = 0.05;
const LEAD_SENTENCES = 2;
/** "We show that …", "This report describes …": the writer states the purpose of the text. */
const PURPOSE = new RegExp(
  [
    String.raw`(?<!\p{L})(?:we|I|(?:this|the present|our) (?:paper|work|article|report|study|note|letter|document|guide|page|approach|method)) (?:\p{L}+ ){0,2}?(?:propos|introduc|present|describ|show|demonstrat|develop|stud(?:y|ies)|investigat|explor|analy[sz]|report|find|provid|address|examin|argu|deriv|establish|explain|offer|prove|summari[sz]|cover)`,
    String.raw`(?<!\p{L})(?:wir (?:zeigen|stellen|beschreiben|untersuchen|schlagen)|dieser? (?:Bericht|Arbeit|Text|Leitfaden|Seite) (?:zeigt|beschreibt|erklärt|untersucht))`,
    String.raw`(?<!\p{L})(?:nous (?:présentons|proposons|montrons|décrivons|étudions)|ce(?:t|tte)? (?:article|rapport|étude|document|note) (?:présente|décrit|propose|montre|explique|étudie))`,
    String.raw`(?<!\p{L})(?:(?:presentamos|proponemos|mostramos|describimos|estudiamos)|est[ea] (?:artículo|informe|estudio|documento|nota) (?:presenta|describe|propone|muestra|explica|estudia))`,
  ].join("|"),
  "iu",
);
const PURPOSE_FACTOR = 1.4;
/** A shorter sentence says too little about a text, a longer one is seldom a summary. */
const WORDS = { least: 10, most: 45 } as const;
const BRIEF_FACTOR = 0.6;
const LONG_FACTOR = 0.9;

/**
 * The one sentence that best states the subject of a text: it shares words with the title, and has words that the text repeats.
 * A sentence that can't stand alone is taken only if none can, with the sentences that it needs.
 */
export function sentenceForSummary(candidates: readonly Candidate[], title: string): Candidate[] {
  const said = candidates.filter(isStatement);
  const understood = said.filter(isUnderstood);
  const alone = understood.filter(({ sentences }) => sentences === 1);
  const usable = [alone, understood, said, candidates].find(({ length }) => length > 0) ?? [];
  const score = createScorer(said.length > 0 ? said : candidates, new Set(contentStems(title)));
  let best: Candidate | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (const candidate of usable) {
    const value = score(candidate) * formFactor(candidate);
    if (value > highest) [best, highest] = [candidate, value];
  }
  return best === undefined ? [] : showSpans([best]);
}

function createScorer(
  all: readonly Candidate[],
  title: ReadonlySet<string>,
): (candidate: Candidate) => number {
  const holding = countHolders(all.map(({ stems }) => stems));
  // One where no sentence has a word that counts: all of them are as long as the average then.
  const average = all.reduce((sum, { stems }) => sum + stems.length, 0) / all.length || 1;
  const first = all[0]?.position ?? 0;
  const idfOf = (stem: string): number => {
    const held = holding.get(stem) ?? 0;
    return Math.log(1 + (all.length - held + 0.5) / (held + 0.5));
  };
  const whole = [...title].reduce((sum, stem) => sum + idfOf(stem), 0);
  return ({ stems, position }) => {
    const length = 1 - B + (B * stems.length) / average;
    const inTitle = [...title].reduce((sum, stem) => {
      const times = stems.filter((held) => held === stem).length;
      return sum + (idfOf(stem) * times * (K1 + 1)) / (times + K1 * length);
    }, 0);
    const lead = LEAD_BONUS * Math.exp(-(position - first) / LEAD_SENTENCES);
    const ofTitle = whole === 0 ? 0 : inTitle / whole;
    return ofTitle + SUBJECT_WEIGHT * subjectOf(stems, holding) + lead;
  };
}

/** How much a sentence has of the words that the text repeats. */
function subjectOf(stems: readonly string[], holding: ReadonlyMap<string, number>): number {
  const words = [...new Set(stems)].filter(isWord);
  const carried = words.reduce((sum, stem) => sum + Math.log(holding.get(stem) ?? 1), 0);
  return carried / Math.max(1, words.length) ** LENGTH_EXPONENT;
}

/** The value of a sentence by its kind, its length and a few phrases, whatever its subject: a factor around 1. */
function formFactor({ text, kind }: Candidate): number {
  const words = text.split(" ").length;
  return (
    (kind === "sentence" ? 1 : LINE_FACTOR) *
    (LINK.test(text) ? LINK_FACTOR : 1) *
    (text.endsWith("?") ? QUESTION_FACTOR : 1) *
    (PURPOSE.test(text) ? PURPOSE_FACTOR : 1) *
    (words < WORDS.least ? BRIEF_FACTOR : 1) *
    (words > WORDS.most ? LONG_FACTOR : 1)
  );
}
