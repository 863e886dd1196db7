import { z } from "zod";
import { camelRow } from "../connection/rows.ts";
import { foldedSql, POSTING, termSql } from "./terms.ts";

/** A value in the frontmatter of a document: a scalar that is equal, or a list that holds it, in any case of letters. */
export type Facet = { readonly key: string; readonly value: string };

/** Chunks that may be found, and how many of them. */
export type SearchFilter = {
  /** Paths begin with this, relative to the work root. */
  readonly pathPrefix: string | undefined;
  readonly source: string | undefined;
  /** All of them. `tags` and `keywords` are `tag`, `aliases` is `alias`. */
  readonly where?: readonly Facet[] | undefined;
  /**
   * First and last day, YYYY-MM-DD: of the date that a document says, or else of the file's last change in UTC. One of a
   * month or a year passes where any day of it does.
   */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Words that stand one after the other in the chunk, its headings or its title. */
  readonly phrases?: readonly string[] | undefined;
  /** What a chunk must not hold: words, or several words that it must not hold together. */
  readonly excluded?: readonly string[] | undefined;
  readonly limit: number;
};

/** More phrases or excluded words than this are one too many to look for. */
export const MOST_PHRASES = 10;

const hasMore = ({ where, since, until, phrases, excluded }: SearchFilter): boolean =>
  [where, phrases, excluded].some((list) => list !== undefined && list.length > 0) ||
  since !== undefined ||
  until !== undefined;

export const isFiltered = (filter: SearchFilter): boolean =>
  filter.pathPrefix !== undefined || filter.source !== undefined || hasMore(filter);

/** Values of $2 and $3 of FILTER_ITEMS; without a filter there are none. */
export function filterValues(filter: SearchFilter): (string | null)[] {
  if (!isFiltered(filter)) return [];
  const pattern = `${(filter.pathPrefix ?? "").replace(/[\\%_]/g, "\\$&")}%`;
  return [pattern, hasMore(filter) ? conditionsJson(filter) : (filter.source ?? null)];
}

function conditionsJson(filter: SearchFilter): string {
  const { source, since, until, phrases = [], excluded = [] } = filter;
  const where: Record<string, string[]> = {};
  for (const { key, value } of filter.where ?? []) (where[key] ??= []).push(value);
  return JSON.stringify({ source, where, since, until, phrases, excluded });
}

const FILE_DAY = "(to_timestamp(d.mtime_ns / 1e9) at time zone 'UTC')::date";
/** First and last day of a document `d`. */
export const DAY = `coalesce(d.day, ${FILE_DAY})`;
export const DAY_UNTIL = `coalesce(d.day_until, ${FILE_DAY})`;

/**
 * `with` items that the conditions of a filter need: $2 is a pattern of `like`; $3 is null, the name of a source, or the
 * conditions as JSON, which no name begins like.
 *
 * A chunk can hold a phrase only if the postings of all its words name it; the words' order is looked at in those.
 * The limits are for the planner: with its guess of a hundred phrases it would compile the statement, for 150 ms.
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
    select kind, text, language, to_tsvector(language::regconfig, text) as words
      from given_words,
           (select distinct language from nightdesk_data.chunk_counts) spoken),
  named as materialized (
    select kind, text, language, length(words) as words, ${POSTING.chunkId("entry")} as chunk_id, count(*) as held
      from in_languages
     cross join lateral unnest(words) as word
     cross join lateral (select entries from nightdesk_data.postings p
                          where p.term = ${termSql("language", "word.lexeme")} offset 0) found
     cross join lateral unnest(entries) as entry
     group by 1, 2, 3, 4, 5),
  holders as materialized (
    select kind, text, chunk_id
      from named
     where held = words
       and (held = 1 or exists (
             select from nightdesk_data.chunks c join nightdesk_data.documents d using (doc_id)
              where c.chunk_id = named.chunk_id
                and to_tsvector(named.language::regconfig,
                                ${foldedSql("concat_ws(E'\\n', d.title, c.heading_path, c.text)")})
                    @@ phraseto_tsquery(named.language::regconfig, named.text)))),
  phrased as materialized (
    select chunk_id from holders where kind = 'phrase'
     group by 1 having count(*) = (select count(*) from given_words where kind = 'phrase'))`;

/** The chunks `c` that pass, after FILTER_ITEMS. */
export const PASSING_CHUNKS = `
  from conditions f, nightdesk_data.chunks c join nightdesk_data.documents d using (doc_id)
 where d.path like $2::text and d.source = coalesce(f.source, d.source)
   and d.facets @> f.facets
   and (f.since is null or ${DAY_UNTIL} >= f.since) and (f.until is null or ${DAY} <= f.until)
   and (f.phrases = '[]' or c.chunk_id in (select chunk_id from phrased))
   and (f.excluded = '[]' or c.chunk_id not in (select chunk_id from holders where kind = 'excluded'))`;

/** The chunks that pass as a `with` item named `allowed`, after those that it needs. */
export const ALLOWED_CHUNKS = `
  ${FILTER_ITEMS},
  allowed as materialized (select c.chunk_id ${PASSING_CHUNKS})`;

const hit = {
  chunk_id: z.string(),
  doc_id: z.string(),
  chunk_key: z.string(),
  /** Place of the chunk in its document. */
  ordinal: z.int(),
  score: z.number(),
};
export const hitSchema = camelRow(hit);
export const lexicalHitSchema = camelRow({ ...hit, coverage: z.number() });

/** A chunk that a search found, with the search's own score: BM25, or cosine similarity. */
export type SearchHit = z.infer<typeof hitSchema>;

/**
 * A chunk that words found. `coverage` is the idf of the words of the question that it holds, of the idf of all, 0 to
 * 1; words of which an index holds too many to read them count as missing.
 */
export type LexicalHit = z.infer<typeof lexicalHitSchema>;
