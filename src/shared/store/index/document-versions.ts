import { z } from "zod";
import { newerVersionFinder } from "../../files/version-family.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, rowsOf } from "../connection/rows.ts";
import { DAY, DAY_UNTIL } from "./search-filter.ts";

const datedSchema = camelRow({
  path: z.string(),
  /** First and last day, YYYY-MM-DD. */
  day: z.string(),
  day_until: z.string(),
  /** `file_time` when the document has no date, so that the day is that of its file's last change. */
  day_source: z.string(),
});
type DocumentDays = Omit<z.infer<typeof datedSchema>, "path">;

/** The date of a document, the source of that date, and the newer versions of it in the index, the newest first. */
export type DocumentVersion = DocumentDays & { readonly newer: readonly string[] };

/** The versions of documents, by path, without documents that are not indexed. */
export async function selectVersions(
  db: Queryable,
  paths: readonly string[],
): Promise<ReadonlyMap<string, DocumentVersion>> {
  if (paths.length === 0) return new Map();
  const days = await selectDays(db, paths);
  const newer = newerVersionFinder(await selectFamilies(db, paths));
  return new Map([...days].map(([path, day]) => [path, { ...day, newer: newer(path) }]));
}

const memberSchema = z.object({
  path: z.string(),
  family: z.string().nullable(),
  supersedes: z.array(z.string()),
});

type Member = z.infer<typeof memberSchema>;

/** Most documents that are compared as possible versions of the given ones. */
const MOST_MEMBERS = 500;

/** The documents, all possible newer versions of them, newer versions of those, and so on. */
async function selectFamilies(db: Queryable, paths: readonly string[]): Promise<readonly Member[]> {
  let found = await rowsOf(db, memberSchema, [paths])`
     select path, family, supersedes from nightdesk_data.documents where path = any ($1::text[]) order by path`;
  const documents = new Map(found.map((document) => [document.path, document]));
  const most = documents.size + MOST_MEMBERS;
  while (found.length > 0 && documents.size < most) {
    const members = await selectMembers(db, found, most);
    found = members.filter(({ path }) => !documents.has(path));
    for (const document of found) documents.set(document.path, document);
  }
  return [...documents.values()];
}

/** The documents in the same families, and those that supersede one of `documents`. */
const selectMembers = (
  db: Queryable,
  documents: readonly Member[],
  most: number,
): Promise<readonly Member[]> =>
  rowsOf(db, memberSchema, [
    [...new Set(documents.map(({ family }) => family))],
    documents.map(({ path }) => path),
    most,
  ])`
     select path, family, supersedes from nightdesk_data.documents where family = any ($1::text[])
     union
     select path, family, supersedes from nightdesk_data.documents where supersedes <> '{}' and supersedes && $2::text[]
      order by path limit $3`;

/** The days of documents by path, as --since and --until compare them. */
export async function selectDays(
  db: Queryable,
  paths: readonly string[],
): Promise<ReadonlyMap<string, DocumentDays>> {
  const rows = await rowsOf(db, datedSchema, [paths])`
     select path, (${DAY})::text as day, (${DAY_UNTIL})::text as day_until,
            coalesce(day_source, 'file_time') as day_source
       from nightdesk_data.documents d where path = any ($1::text[])`;
  return new Map(rows.map(({ path, ...days }) => [path, days]));
}
