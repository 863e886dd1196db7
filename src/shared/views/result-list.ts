import { z } from "zod";
import { JOB_STATES, KINDS } from "../job/job.ts";
import { RUN_GRADES } from "../job/run-result.ts";
import type { Queryable } from "../store/connection/database.ts";
import { oneRowOf, rowsOf } from "../store/connection/rows.ts";
import { WITH_GROUPS } from "./batches.ts";

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
  run_ms: z.number().nullable(),
  finished_at: z.date().nullable(),
});

/** A result in a list: the first words of its answer, and its input. */
export type ListedResult = z.infer<typeof listedSchema>;

/** The filter of a list of results. A field that is null does not filter. */
export type ResultFilter = {
  readonly state: string | null;
  readonly grade: string | null;
  readonly code: string | null;
  readonly kind: string | null;
  /** The folder of the job's file, relative to the work root. */
  readonly folder: string | null;
  /** Text that its id, input or answer contains, in any case. */
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

/** A pattern in lower-case ASCII; any other letters become a wildcard. */
const quickLikeOf = (text: string): string =>
  `%${likeOf(text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())).replace(/[^\p{ASCII}]+/gu, "%")}%`;

type Conditions = { readonly sql: string; readonly values: readonly string[] };

/** One or two values of a condition, which is skipped if one of them is null. */
type Condition = readonly [
  values: readonly (string | null)[],
  sql: (at: string, next: string) => string,
];

/** Joins only the conditions that are set, so that the planner finds the index of each. */
function joinConditions(conditions: readonly Condition[], first: number): Conditions {
  const values: string[] = [];
  const parts: string[] = [];
  for (const [wanted, sql] of conditions) {
    const known = wanted.filter((value) => value !== null);
    if (known.length < wanted.length) continue;
    const at = first + values.length;
    parts.push(` and ${sql(`$${at}`, `$${at + 1}`)}`);
    values.push(...known);
  }
  return { sql: parts.join(""), values };
}

/** Conditions that an index of the jobs answers. */
const indexedConditions = ({ state, code }: ResultFilter): readonly Condition[] => [
  [[state], (at) => `j.state = ${at}`],
  [[code], (at) => `j.error_code = ${at}`],
];

/** Conditions that need a scan of the jobs. */
const scanConditions = ({ kind, grade, folder, text }: ResultFilter): readonly Condition[] => [
  [[kind], (at) => `j.kind = ${at}`],
  [[grade], (at) => `r.grade = ${at}`],
  [
    [folder === null ? null : `${likeOf(folder.replace(/\/+$/, ""))}/%`],
    (at) => `j.input->>'path' like ${at}`,
  ],
  ...(text === null ? [] : [textCondition(text)]),
];

/** ASCII lower-casing takes a third of the time of `ilike`, so `ilike` runs only where the ASCII pattern matches. */
function textCondition(text: string): Condition {
  const quick = (at: string): string => holdsText((of) => `lower(${of} collate "C") like ${at}`);
  if (/^\p{ASCII}*$/u.test(text)) return [[quickLikeOf(text)], (at) => quick(at)];
  return [
    [quickLikeOf(text), `%${likeOf(text)}%`],
    (first, then) =>
      `case when ${quick(first)} then ${holdsText((of) => `${of} ilike ${then}`)} else false end`,
  ];
}

/** Leaves out examples of labels: they are the same in all jobs of a batch, so a match in them finds nothing. */
const holdsText = (holds: (column: string) => string): string =>
  `(${["j.custom_id", "(j.input - 'examples')::text", "r.answer"].map(holds).join(" or ")})`;

/** The limit of a scan: rows per slice, and the time after which no further slice is read. */
export type ScanLimit = { readonly rows: number; readonly ms: number };

/** A slice takes 10 to 30 ms, and a page must appear within 200. */
const SCAN_LIMIT: ScanLimit = { rows: 4_000, ms: 100 };

/** A page of results. */
export type ResultPage = {
  readonly results: readonly ListedResult[];
  /** The seq after which the next page begins; null for the last page. */
  readonly next: string | null;
  /** How many jobs were read if the scan stopped before the page was full; else null. */
  readonly scanned: number | null;
};

/** `after`: the seq of the last result of the previous page; 0 for the first page. */
type PageStart = { readonly after: string; readonly limit: number };

const PREVIEW_CHARS = 400;

const COLUMNS = `j.job_id, j.seq::text, j.custom_id, j.kind, j.state, j.error_code,
            left(j.error_message, ${PREVIEW_CHARS}) as error_message, j.input, left(replace(r.answer, coalesce(r.scope, ''), ''), ${PREVIEW_CHARS}) as answer,
            r.summary as output, r.grade, r.run_ms, j.finished_at`;

/**
 * A page of the results of a batch in the order of insertion. Kind, grade, folder and text have no index, because
 * maintaining one would slow down the end of each job. A scan finds them slice by slice, within its limit.
 */
export async function selectResultPage(
  db: Queryable,
  batchId: string,
  filter: ResultFilter,
  at: PageStart & { readonly scan?: ScanLimit },
): Promise<ResultPage> {
  return joinConditions(scanConditions(filter), 1).values.length > 0
    ? scanResults(db, batchId, filter, { scan: SCAN_LIMIT, ...at })
    : selectByIndex(db, batchId, filter, at);
}

async function selectByIndex(
  db: Queryable,
  batchId: string,
  filter: ResultFilter,
  { after, limit }: PageStart,
): Promise<ResultPage> {
  const { sql, values } = joinConditions(indexedConditions(filter), 4);
  const rows = await rowsOf(db, listedSchema, [batchId, after, limit + 1, ...values])`
     select ${COLUMNS}
       from nightdesk_data.jobs j left join nightdesk_data.runs r on r.run_id = j.run_id
      where j.batch_id = $1 and j.seq > $2::bigint${sql} order by j.seq limit $3`;
  return pageOf(rows, limit);
}

/** @param found one result more than a page has if there is a next page */
function pageOf(found: readonly ListedResult[], limit: number): ResultPage {
  const results = found.slice(0, limit);
  return {
    results,
    next: found.length > limit ? (results.at(-1)?.seq ?? null) : null,
    scanned: null,
  };
}

async function scanResults(
  db: Queryable,
  batchId: string,
  filter: ResultFilter,
  { after, limit, scan }: PageStart & { readonly scan: ScanLimit },
): Promise<ResultPage> {
  const until = performance.now() + scan.ms;
  const found: ListedResult[] = [];
  let scanned = 0;
  for (let from = after; ;) {
    const wanted = limit + 1 - found.length;
    const slice = await selectSlice(db, batchId, filter, { from, rows: scan.rows, wanted });
    found.push(...slice.results);
    scanned += slice.jobs;
    if (found.length > limit || slice.jobs < scan.rows) return pageOf(found, limit);
    from = slice.last;
    if (performance.now() >= until) return { results: found, next: from, scanned };
  }
}

const sliceSchema = z.object({
  jobs: z.coerce.number(),
  last: z.string(),
  results: z.array(listedSchema.extend({ finished_at: z.coerce.date().nullable() })),
});

// Without `offset 0`, the planner reads all runs of all batches for one slice; with it, it looks up each run by id.
const RUN = "select * from nightdesk_data.runs r where r.run_id = j.run_id offset 0";

async function selectSlice(
  db: Queryable,
  batchId: string,
  filter: ResultFilter,
  { from, rows, wanted }: { from: string; rows: number; wanted: number },
): Promise<z.infer<typeof sliceSchema>> {
  const first = joinConditions(indexedConditions(filter), 5);
  const then = joinConditions(scanConditions(filter), 5 + first.values.length);
  return oneRowOf(db, sliceSchema, [batchId, from, rows, wanted, ...first.values, ...then.values])`
     with slice as materialized (
       select j.job_id, j.seq, j.custom_id, j.kind, j.state, j.error_code, j.error_message, j.input, j.run_id, j.finished_at
         from nightdesk_data.jobs j
        where j.batch_id = $1 and j.seq > $2::bigint${first.sql} order by j.seq limit $3),
     found as (
       select ${COLUMNS}
         from slice j left join lateral (${RUN}) r on true
        where true${then.sql} order by j.seq limit $4)
     select (select count(*) from slice) as jobs, coalesce((select max(seq) from slice), $2::bigint)::text as last,
            (select coalesce(jsonb_agg(to_jsonb(f) order by f.seq::bigint), '[]') from found f) as results`;
}

const namesSchema = z.object({ kinds: z.array(z.string()), codes: z.array(z.string()) });

/** The kinds and codes to filter a batch by. Kinds come from its first and last 200 jobs. */
export const selectFilterChoices = (
  db: Queryable,
  batchId: string,
): Promise<{ readonly kinds: readonly string[]; readonly codes: readonly string[] }> =>
  oneRowOf(db, namesSchema, [batchId])`
     ${WITH_GROUPS},
     seen as (
       (select kind from nightdesk_data.jobs where batch_id = $1 order by seq limit 200)
        union
       (select kind from nightdesk_data.jobs where batch_id = $1 order by seq desc limit 200))
     select array(select distinct kind from seen order by kind) as kinds,
            array(select distinct error_code from groups order by error_code) as codes`;

const passageSchema = z.object({ text: z.string(), line_start: z.number(), line_end: z.number() });
/** An indexed piece of a file, with its lines. */
export type IndexedPassage = z.infer<typeof passageSchema>;

export type IndexedLine = { readonly number: number; readonly text: string };

/** The lines of pieces from `first` to `last`, each once. If two pieces contain parts of a line, the longer part counts. */
export function linesOf(
  passages: readonly IndexedPassage[],
  first: number,
  last: number,
): readonly IndexedLine[] {
  const lines = new Map<number, string>();
  for (const { text, line_start: start } of passages) {
    for (const [index, words] of text.split("\n").entries()) {
      const number = start + index;
      if (number < first || number > last) continue;
      if (words.length >= (lines.get(number) ?? "").length) lines.set(number, words);
    }
  }
  return [...lines]
    .sort(([one], [other]) => one - other)
    .map(([number, text]) => ({ number, text }));
}

type PassagePlace = {
  readonly path: string;
  readonly sha256: string;
  readonly lineStart: number;
  readonly lineEnd: number;
  /** The extractor of its text. The stored bytes of a plain text file are its text. */
  readonly extractor?: string;
};

/**
 * The text of a file around some lines: from the index, or from its stored content. Empty if neither has the file with
 * these bytes.
 */
export async function selectPassages(
  db: Queryable,
  place: PassagePlace,
): Promise<readonly IndexedPassage[]> {
  const indexed = await rowsOf(db, passageSchema, [
    place.path,
    place.sha256,
    place.lineStart - CONTEXT_LINES,
    place.lineEnd + CONTEXT_LINES,
  ])`
     select c.text, c.line_start, c.line_end
       from nightdesk.chunks c join nightdesk.documents d on d.source = c.source and d.path = c.path
      where c.path = $1 and d.sha256 = $2 and c.line_end >= $3 and c.line_start <= $4
      order by c.line_start, c.ordinal limit 5`;
  return indexed.length > 0 ? indexed : selectKeptLines(db, place);
}

/** Larger files are not read: a page shows only some lines for each of many claims. */
const MOST_KEPT_BYTES = 2_000_000;
const PLAIN_TEXT = "utf-8";

async function selectKeptLines(
  db: Queryable,
  { sha256, lineStart, lineEnd, extractor }: PassagePlace,
): Promise<readonly IndexedPassage[]> {
  const { selectContent } = await import("../store/index/contents.ts");
  const content = await selectContent(db, sha256, MOST_KEPT_BYTES);
  if (content === null || extractor !== (Buffer.isBuffer(content) ? PLAIN_TEXT : content.extractor))
    return [];
  const lines = (Buffer.isBuffer(content) ? content.toString("utf8") : content.text)
    .replace(/^\uFEFF/, "")
    .split(/\r\n?|\n/);
  const first = Math.max(1, lineStart - CONTEXT_LINES);
  const shown = lines.slice(first - 1, lineEnd + CONTEXT_LINES);
  return [{ text: shown.join("\n"), line_start: first, line_end: first + shown.length - 1 }];
}

/** Lines shown before and after those that support a claim. */
export const CONTEXT_LINES = 3;
