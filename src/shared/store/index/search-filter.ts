import { z } from "zod";
import { append } from "../../group-by.ts";
import { camelRow } from "../connection/rows.ts";
import { foldedSql, POSTING, termSql } from "./terms.ts";

/** A value in a document's frontmatter: matches an equal scalar or a list that contains it, ignoring case. */
type Facet = { readonly key: string; readonly value: string };

/** Conditions for the chunks that a search may return, and how many it returns. */
export type SearchFilter = {
  /** Prefix of paths relative to the work root. */
  readonly pathPrefix: string | undefined;
  readonly source: string | undefined;
  /** All must match. Keys `tags` and `keywords` count as `tag`, `aliases` as `alias`. */
  readonly where?: readonly Facet[] | undefined;
  /**
   * First and last day, YYYY-MM-DD, of the document's own date, else of its file's last change in UTC. A date of a month or year
   * passes when any of its days does.
   */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Consecutive words in the chunk, its headings or its title. */
  readonly phrases?: readonly string[] | undefined;
  /** Words or phrases that a chunk must not contain. */
  readonly excluded?: readonly string[] | undefined;
  readonly limit: number;
};

/** Most phrases, and most excluded words, of a search. */
export const MOST_PHRASES = 10;

const hasMore = ({ where, since, until, phrases, excluded }: SearchFilter): boolean =>
  [where, phrases, excluded].some((list) => list !== undefined && list.length > 0) ||
  since !== undefined ||
  until !== undefined;

export const isFiltered = (filter: SearchFilter): boolean =>
  filter.pathPrefix !== undefined || filter.source !== undefined || hasMore(filter);

/** Values of $2 and $3 of FILTER_ITEMS; none without a filter. */
export function filterValues(filter: SearchFilter): (string | null)[] {
  if (!isFiltered(filter)) return [];
  const pattern = `${(filter.pathPrefix ?? "").replace(/[\\%_]/g, "\\$&")}%`;
  return [pattern, hasMore(filter) ? conditionsJson(filter) : (filter.source ?? null)];
}

function conditionsJson(filter: SearchFilter): string {
  const { source, since, until, phrases = [], excluded = [] } = filter;
  const values = new Map<string, string[]>();
  for (const { key, value } of filter.where ?? []) append(values, key, value);
  const where = Object.fromEntries(values);
  return JSON.stringify({ source, where, since, until, phrases, excluded });
}

const FILE_DAY = "(to_timestamp(d.mtime_ns / 1e9) at time zone 'UTC')::date";
/** SQL: first day of a document `d`; DAY_UNTIL is its last. */
export const DAY = `coalesce(d.day, ${FILE_DAY})`;
export const DAY_UNTIL = `coalesce(d.day_until, ${FILE_DAY})`;

/**
 * `with` items for the conditions of a filter: $2 is a pattern of `like`; $3 is null, the name of a source, or the conditions as
 * JSON, which begins with `{` as no name does.
 * A chunk can contain a phrase only if the postings of all its words list it; only these chunks are searched for the word order.
 * The limits are for the planner: with its estimate of a hundred phrases it would compile the statement, for 150 ms.
 */
export const FILTER_ITEMS = `
  conditions as materialized (
    select given ->> 'source' as source, nightdesk_data.facets_of(given -> 'where') as facets,
           (given ->> 'since')::date as since, (given ->> 'until')::date as until,
           coalesce(given -> 'phrases', '[]') as phrases, coalesce(given -> 'excluded', '[]') as excluded
      from (select case when $3::text like '{%' then $3::text::jsonb
                        else jsonb_build_object('source', $3::text) end as given) parsed),
  given_words as materialized (
    (select 'phrase' as kind, text from conditions, jsonb_array_elements_text(phrases) as text limit ${MOST_PHRASES})
     union
    (select 'excluded', text from conditions, jsonb_array_elements_text(excluded) as text limit ${MOST_PHRASES})),
  in_languages as materialized (
    select kind, text, language, to_tsvector(language::regconfig, text) as words,
           numnode(phraseto_tsquery(language::regconfig, text)) = 1 as is_word
      from given_words,
           (select distinct language from nightdesk_data.chunk_counts) spoken),
  named as materialized (
    select kind, text, language, is_word, length(words) as words, ${POSTING.chunkId("entry")} as chunk_id, count(*) as held
      from in_languages
     cross join lateral unnest(words) as word
     cross join lateral (select entries from nightdesk_data.postings p
                          where p.term = ${termSql("language", "word.lexeme")} offset 0) found
     cross join lateral unnest(entries) as entry
     group by 1, 2, 3, 4, 5, 6),
  holders as materialized (
    select kind, text, chunk_id
      from named
     where held = words
       and (is_word or exists (
             select from nightdesk_data.chunks c join nightdesk_data.documents d using (doc_id)
              where c.chunk_id = named.chunk_id
                and to_tsvector(named.language::regconfig,
                                ${foldedSql("concat_ws(E'\\n', d.title, c.heading_path, c.text)")})
                    @@ phraseto_tsquery(named.language::regconfig, named.text)))),
  phrased as materialized (
    select chunk_id from holders where kind = 'phrase'
     group by 1 having count(*) = (select count(*) from given_words where kind = 'phrase'))`;

/** SQL: the chunks `c` that pass, for use after FILTER_ITEMS. */
export const PASSING_CHUNKS = `
  from conditions f, nightdesk_data.chunks c join nightdesk_data.documents d using (doc_id)
 where d.path like $2::text and d.source = coalesce(f.source, d.source)
   and d.facets @> f.facets
   and (f.since is null or ${DAY_UNTIL} >= f.since) and (f.until is null or ${DAY} <= f.until)
   and (f.phrases = '[]' or c.chunk_id in (select chunk_id from phrased))
   and (f.excluded = '[]' or c.chunk_id not in (select chunk_id from holders where kind = 'excluded'))`;

/** SQL: FILTER_ITEMS and a `with` item `allowed` of the chunks that pass. */
export const ALLOWED_CHUNKS = `
  ${FILTER_ITEMS},
  allowed as materialized (select c.chunk_id ${PASSING_CHUNKS})`;

const hit = {
  chunk_id: z.string(),
  doc_id: z.string(),
  chunk_key: z.string(),
  /** Position of the chunk in its document. */
  ordinal: z.int(),
  score: z.number(),
};
export const hitSchema = camelRow(hit);
export const lexicalHitSchema = camelRow({ ...hit, coverage: z.number() });

/** A chunk that a search found, with the search's score: BM25 or cosine similarity. */
export type SearchHit = z.infer<typeof hitSchema>;

/**
 * A chunk found by words. `coverage` is the share of the question's total idf that the chunk's words have, 0 to 1; words that too
 * many chunks contain to read them count as missing.
 */
export type LexicalHit = z.infer<typeof lexicalHitSchema>;
