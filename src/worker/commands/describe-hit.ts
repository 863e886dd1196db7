import type { Explanation } from "../retrieval/search/explain-hits.ts";
import type { Passage } from "../retrieval/search.ts";

/** A passage that `query` found, and why, when that was asked for. */
export type Hit = { readonly passage: Passage; readonly explanation: Explanation | undefined };

const SNIPPET_CHARS = 200;
const MOST_MISSING = 8;

export const hitJson = ({ passage, explanation }: Hit): object => ({
  chunk_key: passage.chunkKey,
  path: passage.path,
  heading_path: passage.headingPath,
  start_char: passage.startChar,
  end_char: passage.endChar,
  line_start: passage.lineStart,
  line_end: passage.lineEnd,
  score: passage.score,
  text: passage.text,
  ...(explanation === undefined ? {} : { explain: explanationJson(passage, explanation) }),
});

const explanationJson = (passage: Passage, { terms, missing, coverage }: Explanation): object => ({
  lexical_rank: passage.lexicalRank,
  lexical_score: passage.lexicalScore,
  borrowed_score: passage.borrowedScore,
  vector_rank: passage.vectorRank,
  vector_score: passage.vectorScore,
  coverage,
  terms,
  missing,
});

export function hitLines({ passage, explanation }: Hit, place: number): readonly string[] {
  const heading = passage.headingPath === null ? "" : `  ${passage.headingPath}`;
  const snippet = passage.text.replace(/\s+/g, " ").trim().slice(0, SNIPPET_CHARS);
  const where = `${passage.path}:${passage.lineStart}-${passage.lineEnd}${heading}`;
  const lines = [`${place}. ${where}  (${passage.score.toFixed(4)})`, `   ${snippet}`];
  if (explanation !== undefined) lines.push(...explanationLines(passage, explanation));
  return lines;
}

function explanationLines(passage: Passage, { terms, missing, coverage }: Explanation): string[] {
  const words = terms.map(
    ({ term, chunks, score }) =>
      `${term} ${score.toFixed(2)} (in ${chunks} chunk${chunks === 1 ? "" : "s"})`,
  );
  const lines = [
    `   words: ${wordsOf(passage)}; vector: ${vectorOf(passage)}; holds ${(100 * coverage).toFixed(0)} % of the question`,
  ];
  if (words.length > 0) lines.push(`   ${words.join(", ")}`);
  if (missing.length > 0) {
    const more = missing.length > MOST_MISSING ? ` and ${missing.length - MOST_MISSING} more` : "";
    lines.push(`   not in it: ${missing.slice(0, MOST_MISSING).join(", ")}${more}`);
  }
  return lines;
}

function wordsOf({ lexicalRank, lexicalScore, borrowedScore }: Passage): string {
  if (lexicalRank === null || lexicalScore === null) return "not found";
  const borrowed =
    borrowedScore === null || borrowedScore === 0
      ? ""
      : `, ${borrowedScore.toFixed(2)} of it from its neighbours`;
  return `rank ${lexicalRank}, ${lexicalScore.toFixed(2)}${borrowed}`;
}

const vectorOf = ({ vectorRank, vectorScore }: Passage): string =>
  vectorRank === null || vectorScore === null
    ? "not found"
    : `rank ${vectorRank}, similarity ${vectorScore.toFixed(3)}`;
