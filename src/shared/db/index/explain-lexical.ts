import { z } from "zod";
import type { Queryable } from "../database.ts";
import { lexicalWeights, POSTING_SCORE } from "./lexical-weights.ts";
import { type LexicalQuestion, questionValues } from "./search-lexical.ts";
import { lexemeOf } from "./term.ts";
import { POSTING } from "./text-search.ts";

/** A word of a question as the index knows it. */
export type QuestionTerm = {
  readonly term: string;
  readonly language: string;
  /** Live chunks that hold it. */
  readonly chunks: number;
  /** How often it is asked for, times its idf, times k1 + 1: the most that it can add to a score. */
  readonly weight: number;
  /** What it adds to the scores of the chunks that hold it, by their keys. */
  readonly scores: Readonly<Record<string, number>>;
};

const rowsSchema = z.array(
  z.object({
    language: z.string(),
    term: z.string().transform(lexemeOf),
    chunks: z.coerce.number(),
    weight: z.number(),
    scores: z.record(z.string(), z.number()),
  }),
);

/** The words of a question, the weightiest first, and what each adds to the scores of the given chunks. */
export async function explainLexical(
  db: Queryable,
  question: LexicalQuestion,
  chunkKeys: readonly string[],
): Promise<QuestionTerm[]> {
  const { rows } = await db.query(EXPLAIN, [...questionValues(question), chunkKeys]);
  return rowsSchema.parse(rows);
}

const EXPLAIN = `
  with ${lexicalWeights({ text: "$1", prefixes: "$2", added: "$3", addedTimes: "$4" })},
  asked_chunks as materialized (
    select chunk_id, chunk_key from nightdesk_data.chunks where chunk_key = any ($5::text[])),
  parts as (
    select term, chunk_key, ${POSTING_SCORE} as score
      from (select term, weight, base, per_word, unnest(entries) as entry from weights join found using (term)) each_entry
      join asked_chunks on chunk_id = ${POSTING.chunkId("entry")})
  select language, term, live as chunks, weight,
         coalesce(jsonb_object_agg(chunk_key, score) filter (where chunk_key is not null), '{}') as scores
    from weights left join parts using (term)
   where weight is not null
   group by language, term, live, weight
   order by weight desc, term`;
