import { z } from "zod";
import { newerDocuments } from "../../version-family.ts";
import type { FamilyDocument } from "../../version-family.ts";
import type { Queryable } from "../connection/database.ts";
import { DAY, DAY_UNTIL } from "./search-filter.ts";

/** When a document is of, where that stands, and the newer versions of it that are indexed, the newest first. */
export type DocumentVersion = {
  /** First and last day, YYYY-MM-DD. */
  readonly day: string;
  readonly dayUntil: string;
  /** `file_time` where the document says no date, and the day is that of the last change of its file. */
  readonly daySource: string;
  readonly newer: readonly string[];
};

const datedSchema = z.object({
  path: z.string(),
  day: z.string(),
  day_until: z.string(),
  day_source: z.string(),
});
const memberSchema = datedSchema.extend({ title: z.string().nullable() });
type Row = z.infer<typeof memberSchema>;
const rowsSchema = z.array(memberSchema.extend({ is_wanted: z.boolean() }));

/** Of so many documents with a name in common the others are not compared. */
const MOST_MEMBERS = 500;

/** What is known of the versions of documents, by path; those that are not indexed are not among them. */
export async function selectVersions(
  db: Queryable,
  paths: readonly string[],
): Promise<ReadonlyMap<string, DocumentVersion>> {
  if (paths.length === 0) return new Map();
  const { rows } = await db.query(
    `with wanted as materialized (
       select d.* from nightdesk_data.documents d where d.path = any ($1::text[])),
     keys as materialized (
       select coalesce(array_agg(distinct key), '{}') as keys from wanted, unnest(families) as key),
     members as (
       select d.* from keys, nightdesk_data.documents d
        where d.families && keys.keys and d.path <> all ($1::text[]) order by d.path limit ${MOST_MEMBERS})
     select path, title, (${DAY})::text as day, (${DAY_UNTIL})::text as day_until,
            coalesce(day_source, 'file_time') as day_source, is_wanted
       from (select *, true as is_wanted from wanted union all select *, false from members) d
      order by path`,
    [paths],
  );
  const documents = rowsSchema.parse(rows);
  const members = documents.map(memberOf);
  return new Map(
    documents
      .filter(({ is_wanted: isWanted }) => isWanted)
      .map((row) => [row.path, toVersion(row, members)]),
  );
}

const toVersion = (row: Row, members: readonly FamilyDocument[]): DocumentVersion => ({
  day: row.day,
  dayUntil: row.day_until,
  daySource: row.day_source,
  newer: newerDocuments(memberOf(row), members).map(({ path }) => path),
});

/** The time of a file says nothing of what is newer: a copy of an old document has a new one. */
const memberOf = ({
  path,
  title,
  day,
  day_until: to,
  day_source: source,
}: Row): FamilyDocument => ({
  path,
  title,
  period: source === "file_time" ? null : { from: day, to },
});

/** The indexed documents that share one of the keys, of `familyKeys`, by path. */
export async function selectFamily(
  db: Queryable,
  keys: readonly string[],
): Promise<readonly FamilyDocument[]> {
  if (keys.length === 0) return [];
  const { rows } = await db.query(
    `select path, title, (${DAY})::text as day, (${DAY_UNTIL})::text as day_until,
            coalesce(day_source, 'file_time') as day_source
       from nightdesk_data.documents d where families && $1::text[] order by path limit ${MOST_MEMBERS}`,
    [keys],
  );
  return z.array(memberSchema).parse(rows).map(memberOf);
}

/** The days of documents by path, as --since and --until take them. */
export async function selectDays(
  db: Queryable,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Omit<DocumentVersion, "newer">>> {
  const { rows } = await db.query(
    `select path, (${DAY})::text as day, (${DAY_UNTIL})::text as day_until,
            coalesce(day_source, 'file_time') as day_source
       from nightdesk_data.documents d where path = any ($1::text[])`,
    [paths],
  );
  return new Map(
    z
      .array(datedSchema)
      .parse(rows)
      .map((row) => [
        row.path,
        { day: row.day, dayUntil: row.day_until, daySource: row.day_source },
      ]),
  );
}
