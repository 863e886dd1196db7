import { compareVersions, isOfTitleSeries, readVersion } from "../../../shared/version-family.ts";
import type { VersionMarks } from "../../../shared/version-family.ts";
import { parseFrontmatter } from "../../documents/frontmatter.ts";
import { findDates } from "../../text/dates.ts";
import { documentDate } from "../../documents/document-date.ts";
import type { JobFiles } from "./job-files.ts";

/** A document as what it is called makes it one of a family: "Price list 2025" and "Price list, January 2026". */
type TitledDocument = VersionMarks & {
  /** The title without what tells versions apart: equal in one family. */
  readonly key: string;
  /** Whether the title itself says which version it is; else the date of the document does. */
  readonly isMarked: boolean;
};

/** A newer document of the same title. */
export type NewerByTitle = { readonly path: string; readonly isMarked: boolean };

/** Words of a form alone are the title of many documents. */
const FEWEST_WORDS = 2;
const MOST_TITLE_CHARS = 300;
const MOST_HEAD_CHARS = 4_000;
const MOST_FOUND = 12;
const MOST_READ = 6;

/**
 * The newest document that has the title of another one but for its year, version or date; where titles are the same to the
 * letter, the one with the later date of its own. Null where a document belongs to a series (minutes, invoices, reports), or
 * has a title of one word.
 */
export async function newestByTitle(path: string, files: JobFiles): Promise<NewerByTitle | null> {
  const own = await titledDocument(path, files);
  if (own === null) return null;
  const passages = await files.search(own.key, MOST_FOUND);
  const others = [...new Set(passages.map((passage) => passage.path))].filter(
    (other) => other !== path && !/^https?:/.test(other),
  );
  let newest: (TitledDocument & { readonly path: string }) | null = null;
  for (const other of others.slice(0, MOST_READ)) {
    await files.pause();
    const named = await titledDocument(other, files);
    if (orderOf(newest ?? own, named) === -1 && named !== null) newest = { ...named, path: other };
  }
  return newest === null ? null : { path: newest.path, isMarked: own.isMarked && newest.isMarked };
}

/**
 * Whether a document is by its title an older version than another one (-1), or a newer one (1); null where their titles are
 * of two documents, or do not say which version they are of.
 */
export async function compareByTitle(
  path: string,
  other: string,
  files: JobFiles,
): Promise<number | null> {
  const own = await titledDocument(path, files);
  const named = await titledDocument(other, files);
  return own?.isMarked === true && named?.isMarked === true ? orderOf(own, named) : null;
}

const orderOf = (own: TitledDocument | null, named: TitledDocument | null): number | null =>
  own === null || named === null || own.key !== named.key ? null : compareVersions(own, named);

async function titledDocument(path: string, files: JobFiles): Promise<TitledDocument | null> {
  const reading = await files.read(path);
  if (reading.kind === "refused") return null;
  const title = titleIn(reading.text);
  return title === null ? null : documentOf(title, documentDate(path, reading.text));
}

/** Of its front matter, else its first heading. */
function titleIn(text: string): string | null {
  const { title } = parseFrontmatter(text);
  const found = title ?? /^#{1,6}[ \t]+(\S[^\r\n]*)/m.exec(text.slice(0, MOST_HEAD_CHARS))?.[1];
  return found?.slice(0, MOST_TITLE_CHARS) ?? null;
}

function documentOf(title: string, date: string | null): TitledDocument | null {
  const [spelled] = findDates(title).flatMap(({ start, end, offers }) => {
    const found = offers.find((one) => /^[dy]:/.test(one))?.slice(2);
    return found === undefined ? [] : [{ start, end, found }];
  });
  const rest =
    spelled === undefined ? title : `${title.slice(0, spelled.start)} ${title.slice(spelled.end)}`;
  const { words, ...marks } = readVersion(rest);
  const long = words.filter((word) => word.length > 2);
  if (long.length < FEWEST_WORDS || long.some(isOfTitleSeries)) return null;
  const own = { ...marks, date: spelled?.found ?? marks.date };
  const isMarked = own.date !== null || own.version !== null || own.stage !== 0;
  if (!isMarked && date === null) return null;
  return { ...own, date: isMarked ? own.date : date, key: words.join(" "), isMarked };
}
