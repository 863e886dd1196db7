import { z } from "zod";
import { JOB_STATES, KINDS } from "../job.ts";
import { RUN_GRADES } from "../run-result.ts";
import type { Queryable } from "../store/connection/database.ts";

const listedSchema = z.object({
  job_id: z.string(),
  seq: z.string(),
  custom_id: z.string(),
  kind: z.enum(KINDS),
  state: z.enum(JOB_STATES),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  input: z.record(z.string(), z.unknown()),
  answer: z.string().nullable(),
  output: z.record(z.string(), z.unknown()).nullable(),
  grade: z.enum(RUN_GRADES).nullable(),
  model: z.string().nullable(),
  run_ms: z.number().nullable(),
  finished_at: z.date().nullable(),
});

/** A result as a list shows it: the first words of its answer, and what it was asked. */
export type ListedResult = z.infer<typeof listedSchema>;

/** What of a batch is listed; what is null is not looked at. */
export type ResultFilter = {
  readonly state: string | null;
  readonly grade: string | null;
  readonly code: string | null;
  readonly kind: string | null;
  /** A folder relative to the work root, of the file that a job was given. */
  readonly folder: string | null;
  /** Words that stand in its id, its input or its answer, in any case. */
  readonly text: string | null;
};

export const NO_FILTER: ResultFilter = {
  state: null,
  grade: null,
  code: null,
  kind: null,
  folder: null,
  text: null,
};

const likeOf = (text: string): string => text.replace(/[\\%_]/g, (mark) => `\\${mark}`);

/** Conditions of those filters alone that are set, so that the planner finds the index of each. */
function conditionsOf(
  filter: ResultFilter,
  first: number,
): {
  readonly sql: string;
  readonly values: readonly string[];
} {
  const conditions: readonly (readonly [string | null, (at: string) => string])[] = [
    [filter.state, (at) => `j.state = ${at}`],
    [filter.code, (at) => `j.error_code = ${at}`],
    [filter.kind, (at) => `j.kind = ${at}`],
    [filter.grade, (at) => `r.grade = ${at}`],
    [
      filter.folder === null ? null : `${likeOf(filter.folder.replace(/\/+$/, ""))}/%`,
      (at) => `j.input->>'path' like ${at}`,
    ],
    [
      filter.text === null ? null : `%${likeOf(filter.text)}%`,
      (at) => `(j.custom_id ilike ${at} or j.input::text ilike ${at} or r.answer ilike ${at})`,
    ],
  ];
  const set = conditions.flatMap(([value, sql]) => (value === null ? [] : [{ value, sql }]));
  return {
    sql: set.map(({ sql }, index) => ` and ${sql(`$${first + index}`)}`).join(""),
    values: set.map(({ value }) => value),
  };
}

const PREVIEW_CHARS = 400;

/**
 * A page of the results of a batch, in the order in which they were queued.
 * @param at `after` the seq of the last one of the page before (0: from the first), and how many
 */
export async function selectResultList(
  db: Queryable,
  batchId: string,
  filter: ResultFilter,
  at: { readonly after: string; readonly limit: number },
): Promise<readonly ListedResult[]> {
  const { sql, values } = conditionsOf(filter, 4);
  const { rows } = await db.query(
    `select j.job_id, j.seq::text, j.custom_id, j.kind, j.state, j.error_code,
            left(j.error_message, ${PREVIEW_CHARS}) as error_message, j.input, left(replace(r.answer, coalesce(r.scope, ''), ''), ${PREVIEW_CHARS}) as answer,
            r.summary as output, r.grade, coalesce(r.model_second, r.model_first) as model, r.run_ms, j.finished_at
       from nightdesk_data.jobs j left join nightdesk_data.runs r on r.run_id = j.run_id
      where j.batch_id = $1 and j.seq > $2::bigint${sql} order by j.seq limit $3`,
    [batchId, at.after, at.limit, ...values],
  );
  return z.array(listedSchema).parse(rows);
}

const namesSchema = z.tuple([z.object({ kinds: z.array(z.string()), codes: z.array(z.string()) })]);

/** What there is to filter a batch by. Kinds are those of its first and last 200 jobs. */
export async function selectFilterChoices(
  db: Queryable,
  batchId: string,
): Promise<{ readonly kinds: readonly string[]; readonly codes: readonly string[] }> {
  const { rows } = await db.query(
    `with recursive codes as (
       (select state, error_code from nightdesk_data.jobs
         where batch_id = $1 and error_code is not null order by state, error_code limit 1)
        union all
       select n.state, n.error_code from codes c
        cross join lateral (
          select state, error_code from nightdesk_data.jobs
           where batch_id = $1 and error_code is not null and (state, error_code) > (c.state, c.error_code)
           order by state, error_code limit 1) n),
     seen as (
       (select kind from nightdesk_data.jobs where batch_id = $1 order by seq limit 200)
        union
       (select kind from nightdesk_data.jobs where batch_id = $1 order by seq desc limit 200))
     select array(select distinct kind from seen order by kind) as kinds,
            array(select distinct error_code from codes order by error_code) as codes`,
    [batchId],
  );
  return namesSchema.parse(rows)[0];
}

const passageSchema = z.array(
  z.object({ text: z.string(), line_start: z.number(), line_end: z.number() }),
);
/** A piece of a file as it is in the index, with its lines. */
export type IndexedPassage = z.infer<typeof passageSchema>[number];

/** The text of a file around some lines, as it was indexed; empty where the file is not there, or has changed since. */
export async function selectPassages(
  db: Queryable,
  place: {
    readonly path: string;
    readonly sha256: string;
    readonly lineStart: number;
    readonly lineEnd: number;
  },
): Promise<readonly IndexedPassage[]> {
  const { rows } = await db.query(
    `select c.text, c.line_start, c.line_end
       from nightdesk.chunks c join nightdesk.documents d on d.source = c.source and d.path = c.path
      where c.path = $1 and d.sha256 = $2 and c.line_end >= $3 and c.line_start <= $4
      order by c.line_start, c.ordinal limit 5`,
    [place.path, place.sha256, place.lineStart - CONTEXT_LINES, place.lineEnd + CONTEXT_LINES],
  );
  return passageSchema.parse(rows);
}

/** Lines shown before and behind those that carry a claim. */
export const CONTEXT_LINES = 3;
