import { withoutAttachmentNumbers } from "./attachment-path.ts";
import { comparePeriods } from "./date-period.ts";
import type { Period } from "./date-period.ts";
import { compareVersions, isMarked, namesNumber, readVersion } from "./version-marks.ts";
import type { VersionMarks } from "./version-marks.ts";

/** A name or a title as a member of a family: what tells its versions apart, and what they share. */
type VersionedName = VersionMarks & {
  /** The words without what tells versions apart: equal in one family. */
  readonly key: string;
  readonly folders: string;
  /** Of what is written again for each month, meeting or case: the date is one of the words, and says nothing of versions. */
  readonly isSeries: boolean;
};

/**
 * What is written again for each month, meeting or case: the next one replaces none. "Minutes of 3 May, draft" and "…, final" are
 * versions of one; "Minutes of 7 June" are none of them.
 */
const SERIES =
  /^(?:minutes?|invoices?|rechnung(?:en)?|factures?|facturas?|protokolle?|logs?|diary|journal|tagebuch|newsletter|rundbrief|letters?|brief|mails?|emails?|bulletin|receipts?|quittung|beleg|recibo|statements?|kontoauszug|timesheet|rendu|actas?|carta|lettre|meetings?|sitzung|reunion|seance|notes?|notiz(?:en)?|\p{L}{0,12}bericht|reports?|rapports?|informes?|reviews?|summary|summaries|offer|quote|quotation|angebot|devis|presupuesto|orders?|bestellung|commande|pedido|chapter|kapitel|chapitre|capitulo|part|teil|partie|parte|week|woche|semaine|semana|day|tag|jour|dia|month|monat|mois|mes|quarter|quartal|trimestre)$/u;

const isOfSeries = (words: readonly string[]): boolean => words.some((word) => SERIES.test(word));

/** In a series the date tells which one it is. */
function memberOf(
  { words, ...marks }: ReturnType<typeof readVersion>,
  { folders, isSeries }: Pick<VersionedName, "folders" | "isSeries">,
): VersionedName {
  const { date } = marks;
  if (!isSeries || date === null) return { ...marks, key: words.join(" "), folders, isSeries };
  return { ...marks, date: null, key: [...words, date].join(" "), folders, isSeries };
}

/** A path as a member of a family; null of one that is named by its version alone. */
function versionedName(path: string): VersionedName | null {
  const parts = withoutAttachmentNumbers(path).split("/");
  const base = (parts.at(-1) ?? "").replace(/\.\p{L}[\p{L}\d]{0,7}$/u, "");
  const own = readVersion(base);
  if (own.words.length === 0) return null;
  const folders = parts.slice(0, -1).map(readVersion);
  const marked = folders.findLast(isMarked);
  return memberOf(
    {
      date: own.date ?? marked?.date ?? null,
      edition: own.edition ?? marked?.edition ?? null,
      version: own.version ?? marked?.version ?? null,
      revision: own.revision ?? marked?.revision ?? null,
      stage: own.stage === 0 ? (marked?.stage ?? 0) : own.stage,
      words: own.words,
    },
    {
      folders: folders
        .map(({ words }) => words.join(" "))
        .filter((words) => words !== "")
        .join("/"),
      // "minutes/board-2025-03.md"; a folder of notes holds anything.
      isSeries:
        isOfSeries(own.words) ||
        isOfSeries((folders.at(-1)?.words ?? []).filter((word) => !word.startsWith("not"))),
    },
  );
}

/**
 * A title as a member of a family: "Price list 2025" and "Price list 2026" are one, wherever their files lie. Null of one
 * that has too few words of its own to name one document, or so many that it is a sentence.
 */
function versionedTitle(title: string): VersionedName | null {
  const read = readVersion(title);
  const { words } = read;
  if (words.length > MOST_TITLE_WORDS) return null;
  if (distinctWords(words.join(" ")) < FEWEST_DISTINCT) return null;
  return memberOf(read, { folders: "", isSeries: isOfSeries(words) });
}

/** Of a longer one documents that are no versions of each other may share it. */
const MOST_TITLE_WORDS = 12;

/** Words that name a document by its form alone, and are used again in every folder. */
const FEWEST_DISTINCT = 2;

/** Whether two names are of one document: in one folder, one above the other, or with a name that says enough. */
function isOneFamily(one: VersionedName, other: VersionedName): boolean {
  if (one.key !== other.key) return false;
  if (one.folders === other.folders || isAbove(one, other) || isAbove(other, one)) return true;
  return distinctWords(one.key) >= FEWEST_DISTINCT;
}

const distinctWords = (key: string): number =>
  new Set(key.split(" ").filter((word) => word.length > 2)).size;

const isAbove = (one: VersionedName, other: VersionedName): boolean =>
  one.folders === "" || other.folders.startsWith(`${one.folders}/`);

const YEAR = /(?<!\d)(?:19|20)\d\d(?!\d)/;
const OF_EARLIER =
  /(?<!\p{L})(?:previous|former|earlier|older?|original|draft|frühere[nrsm]?|vorherige[nrsm]?|alte[nrsm]?|ursprüngliche[nrsm]?|entwurf|ancien(?:ne)?s?|précédente?s?|brouillon|anterior(?:es)?|antigu[oa]s?|borrador|versions?|version(?:en)?|versión|fassung(?:en)?)(?!\p{L})/iu;

/** Whether a question names the edition, version or year that it is about, or asks for versions. */
export const namesVersion = (question: string): boolean =>
  YEAR.test(question) || namesNumber(question) || OF_EARLIER.test(question);

/** A document as its versions are told: its names, and the date that it says itself, in days. */
export type FamilyDocument = {
  readonly path: string;
  readonly title: string | null;
  readonly period: Period | null;
};

/** What the documents of a family share, so that an index can look them up. Others may share it as well. */
export function familyKeys({
  path,
  title,
}: Pick<FamilyDocument, "path" | "title">): readonly string[] {
  const [named, titled] = [versionedName(path), title === null ? null : versionedTitle(title)];
  const keys = [named?.key, titled?.key].flatMap((key) => key ?? []);
  return [...new Set(keys.map((key) => key.slice(0, MOST_KEY_CHARS)))];
}

const MOST_KEY_CHARS = 200;

/** How two documents of one family follow each other. */
export type VersionOrder = {
  /** Whether the first is an older version of the second (-1), a newer one (1), or of the same time (0). */
  readonly order: number;
  /** What makes them one family. */
  readonly alike: "name" | "title";
  /** What tells which is newer: the marks in what makes them one, or the dates of the documents. */
  readonly by: "marks" | "date";
};

/** A document with its name and its title read. */
type Member = {
  readonly document: FamilyDocument;
  readonly name: VersionedName | null;
  readonly title: VersionedName | null;
};

const readMember = (document: FamilyDocument): Member => ({
  document,
  name: versionedName(document.path),
  title: document.title === null ? null : versionedTitle(document.title),
});

type Pair = readonly [VersionOrder["alike"], VersionedName, VersionedName];

function familiesOf(one: Member, other: Member): readonly Pair[] {
  const pairs: Pair[] = [];
  if (one.name !== null && other.name !== null && isOneFamily(one.name, other.name))
    pairs.push(["name", one.name, other.name]);
  if (one.title !== null && other.title !== null && one.title.key === other.title.key)
    pairs.push(["title", one.title, other.title]);
  return pairs;
}

function orderMembers(one: Member, other: Member): VersionOrder | null {
  const pairs = familiesOf(one, other);
  for (const [alike, first, second] of pairs) {
    const order = compareVersions(first, second);
    if (order !== null && order !== 0) return { order, alike, by: "marks" };
  }
  const pair = pairs.find(([, first]) => !first.isSeries);
  if (pair === undefined) return null;
  const byDate = comparePeriods(one.document.period, other.document.period);
  return byDate === null ? null : { order: byDate, alike: pair[0], by: "date" };
}

/**
 * How the first document follows the second; null where they are of no family, by path or by title, or nobody can tell. Where
 * names do not tell, the dates of the documents do.
 */
export const orderDocuments = (one: FamilyDocument, other: FamilyDocument): VersionOrder | null =>
  orderMembers(readMember(one), readMember(other));

/** A newer version of a document, and what tells so. */
export type NewerDocument = Omit<VersionOrder, "order"> & { readonly path: string };

/** The documents that are newer versions of one, the newest first. */
export function newerDocuments(
  own: FamilyDocument,
  documents: readonly FamilyDocument[],
): readonly NewerDocument[] {
  const of = readMember(own);
  return documents
    .flatMap((document) => {
      if (document.path === own.path) return [];
      const member = readMember(document);
      const found = orderMembers(of, member);
      return found?.order === -1 ? [{ member, found }] : [];
    })
    .sort(
      ({ member: one }, { member: other }) =>
        -(orderMembers(one, other)?.order ?? 0) ||
        (one.document.path < other.document.path ? -1 : 1),
    )
    .map(({ member, found: { alike, by } }) => ({ path: member.document.path, alike, by }));
}

const OF_NEWEST =
  /(?<!\p{L})(?:newest|latest|most recent|up[- ]to[- ]date|current(?:ly)?(?= (?:version|edition|issue|price|rate|list|tariff|contract|policy|rule|plan|fee|rent))|neueste[nrsm]?|jüngste[nrsm]?|aktuell(?:e[nrsm]?|ste[nrsm]?)?|plus récent(?:e|s|es)?|dernière (?:version|édition)|actuel(?:le|s|les)?|más recientes?|última (?:versión|edición)|vigentes?|最新)(?!\p{L})/iu;

/** Whether a question asks for the newest version of what it is about. */
export const asksNewest = (question: string): boolean => OF_NEWEST.test(question);
