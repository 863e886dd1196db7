import { compareDates, comparePeriods, findWrittenDate } from "./date-period.ts";
import type { Period } from "./date-period.ts";
import { foldWord } from "./normalise-text.ts";

/** What a name says of the version that it names; what it does not say is null. */
export type VersionMarks = {
  /** In the spelling of `periodOf`. */
  readonly date: string | null;
  /** Of `v2.1` 2 and 1. */
  readonly version: readonly number[] | null;
  /** old, draft, final, new: from -2 to 2; 0 where a name says none of them. */
  readonly stage: number;
};

export type VersionedName = VersionMarks & {
  /** The name without what tells versions apart: equal in one family. */
  readonly key: string;
  readonly folders: string;
};

const STAGES: ReadonlyMap<string, number> = new Map(
  (
    [
      [
        -2,
        "old alt ancien ancienne viejo vieja antiguo antigua superseded obsolete outdated archive archiv archived archives archivo overtaken veraltet ueberholt previous former",
      ],
      [
        -1,
        "draft drafts entwurf entwurfe brouillon projet borrador wip proposal preliminary vorlaufig provisoire provisional",
      ],
      [
        1,
        "final finale endfassung definitif definitive definitivo definitiva signed unterschrieben signe firmado approved",
      ],
      [2, "new neu neue nouveau nouvelle nuevo nueva current aktuell actuel actual latest"],
    ] as const
  ).flatMap(([stage, words]) => words.split(" ").map((word) => [word, stage] as const)),
);

/** What is written again for each month or meeting: another one is no newer version of it. */
const SERIES: ReadonlySet<string> = new Set(
  "minutes invoice invoices rechnung rechnungen facture factures factura facturas protokoll protokolle log logs diary journal tagebuch newsletter rundbrief letter letters brief mail mails email bulletin receipt receipts quittung beleg recibo statement statements kontoauszug timesheet compte-rendu acta actas carta lettre report-daily meeting sitzung reunion seance note notes notiz".split(
    " ",
  ),
);

const MOST_NAME_CHARS = 400;
const YEAR = /(?<!\d)((?:19|20)\d\d)(?!\d)/;
const VERSION =
  /(?<![\p{L}\d])(?:v|ver|version|rev|revision|fassung|stand|r)[-_. ]?(\d{1,4}(?:\.\d{1,4}){0,3})(?![\p{L}\d])/iu;

/** What tells the versions of a document apart in a name or a title, and what they have in common. */
export function readVersion(name: string): VersionMarks & { readonly words: readonly string[] } {
  const text = name.slice(0, MOST_NAME_CHARS).replaceAll("_", " ");
  const version = VERSION.exec(text);
  const withoutVersion = version === null ? text : text.replace(version[0], " ");
  const found = findWrittenDate(withoutVersion);
  const rest = found === null ? withoutVersion : withoutVersion.replace(found.text, " ");
  const words = (rest.match(/[\p{L}\p{M}]+|\d+/gu) ?? []).map(foldWord);
  const stages = words.flatMap((word) => STAGES.get(word) ?? []);
  return {
    date: found?.date ?? null,
    version: version === null ? null : (version[1] ?? "").split(".").map(Number),
    stage: stages[0] ?? 0,
    words: words.filter((word) => !STAGES.has(word)),
  };
}

/** A path as a member of a family; null of one that belongs to a series, or is named by its version alone. */
export function versionedName(path: string): VersionedName | null {
  const parts = path.split("/");
  const base = (parts.at(-1) ?? "").replace(/\.\p{L}[\p{L}\d]{0,7}$/u, "");
  const own = readVersion(base);
  if (own.words.length === 0 || own.words.some((word) => SERIES.has(word))) return null;
  const folders = parts.slice(0, -1).map(readVersion);
  // "minutes/board-2025-03.md"; a folder of notes holds anything.
  const isOfSeries = folders.at(-1)?.words.some((word) => SERIES.has(word) && !/^not/.test(word));
  if (isOfSeries === true) return null;
  const marked = folders.findLast((folder) => isMarked(folder));
  return {
    date: own.date ?? marked?.date ?? null,
    version: own.version ?? marked?.version ?? null,
    stage: own.stage === 0 ? (marked?.stage ?? 0) : own.stage,
    key: own.words.join(" "),
    folders: folders
      .map(({ words }) => words.join(" "))
      .filter((words) => words !== "")
      .join("/"),
  };
}

/**
 * A title as a member of a family: "Price list 2025" and "Price list 2026" are one, wherever their files lie. Null of one
 * that belongs to a series, or has too few words of its own to name one document.
 */
export function versionedTitle(title: string): VersionedName | null {
  const { words, ...marks } = readVersion(title);
  if (words.length > MOST_TITLE_WORDS || words.some(isOfTitleSeries)) return null;
  if (distinctWords(words.join(" ")) < FEWEST_DISTINCT) return null;
  return { ...marks, key: words.join(" "), folders: "" };
}

const TITLE_SERIES =
  /^(?:minutes?|invoices?|rechnung(?:en)?|factures?|facturas?|protokolle?|logs?|diary|journal|tagebuch|newsletter|rundbrief|letters?|brief|mails?|emails?|bulletin|receipts?|quittung|beleg|recibo|statements?|kontoauszug|timesheet|actas?|carta|lettre|meetings?|sitzung|reunion|seance|notes?|notiz(?:en)?|\p{L}{0,12}bericht|reports?|rapports?|informes?|reviews?|summary|summaries|offer|quote|quotation|angebot|devis|presupuesto|orders?|bestellung|commande|pedido|chapter|kapitel|chapitre|capitulo|part|teil|partie|parte|week|woche|semaine|semana|day|tag|jour|dia|month|monat|mois|mes|quarter|quartal|trimestre)$/u;

/** Whether a word of a title names what is written anew for each month, meeting or case: the next one replaces none. */
export const isOfTitleSeries = (word: string): boolean => TITLE_SERIES.test(word);

/** A longer one is a sentence, of which documents that are no versions of each other may share one. */
const MOST_TITLE_WORDS = 12;

const isMarked = ({ date, version, stage }: VersionMarks): boolean =>
  date !== null || version !== null || stage !== 0;

/** Words that name a document by its form alone, and are used again in every folder. */
const FEWEST_DISTINCT = 2;

/** Whether two names are of one document: in one folder, one above the other, or with a name that says enough. */
export function isOneFamily(one: VersionedName, other: VersionedName): boolean {
  if (one.key !== other.key) return false;
  if (one.folders === other.folders || isAbove(one, other) || isAbove(other, one)) return true;
  return distinctWords(one.key) >= FEWEST_DISTINCT;
}

const distinctWords = (key: string): number =>
  new Set(key.split(" ").filter((word) => word.length > 2)).size;

const isAbove = (one: VersionedName, other: VersionedName): boolean =>
  one.folders === "" || other.folders.startsWith(`${one.folders}/`);

/**
 * Whether the first is an older version than the second (-1), a newer one (1), the same (0), or nobody can tell (null): marks
 * of different kinds do not compare.
 */
export function compareVersions(one: VersionMarks, other: VersionMarks): number | null {
  const byDate = compareDates(one.date, other.date);
  if (byDate !== null && byDate !== 0) return byDate;
  if (one.version !== null && other.version !== null) {
    const byVersion = compareNumbers(one.version, other.version);
    if (byVersion !== 0) return byVersion;
  }
  const isAlike =
    (one.date === null) === (other.date === null) &&
    (one.version === null) === (other.version === null);
  if (one.stage !== other.stage) {
    const isOld = Math.min(one.stage, other.stage) === OLD;
    return isAlike || isOld ? Math.sign(one.stage - other.stage) : null;
  }
  return isAlike && isMarked(one) ? 0 : null;
}

const OLD = -2;

function compareNumbers(one: readonly number[], other: readonly number[]): number {
  for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

/** The paths that are newer versions of one, the newest last. */
export function newerVersions(path: string, paths: readonly string[]): string[] {
  const own = versionedName(path);
  if (own === null) return [];
  return paths
    .flatMap((other) => {
      const named = other === path ? null : versionedName(other);
      if (named === null || !isOneFamily(own, named)) return [];
      return compareVersions(own, named) === -1 ? [{ other, named }] : [];
    })
    .sort(
      (one, next) => compareVersions(one.named, next.named) ?? (one.other < next.other ? -1 : 1),
    )
    .map(({ other }) => other);
}

const OF_EARLIER =
  /(?<!\p{L})(?:previous|former|earlier|older?|original|draft|frühere[nrsm]?|vorherige[nrsm]?|alte[nrsm]?|ursprüngliche[nrsm]?|entwurf|ancien(?:ne)?s?|précédente?s?|brouillon|anterior(?:es)?|antigu[oa]s?|borrador|versions?|version(?:en)?|versión|fassung(?:en)?)(?!\p{L})/iu;

/** Whether a question names the version or year that it is about, or asks for versions. */
export const namesVersion = (question: string): boolean =>
  YEAR.test(question) || VERSION.test(question) || OF_EARLIER.test(question);

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

/**
 * Whether the first document is an older version of the second (-1), a newer one (1), or of the same time (0); null where
 * they are of no family, by path or by title, or nobody can tell. Where names do not tell, the dates of the documents do.
 */
export function compareDocuments(one: FamilyDocument, other: FamilyDocument): number | null {
  const [names, titles] = [namesOf(one, other), titlesOf(one, other)];
  if (names === null && titles === null) return null;
  for (const pair of [names, titles]) {
    const order = pair === null ? null : compareVersions(...pair);
    if (order !== null && order !== 0) return order;
  }
  return comparePeriods(one.period, other.period);
}

type Pair = readonly [VersionedName, VersionedName];

function namesOf(one: FamilyDocument, other: FamilyDocument): Pair | null {
  const [first, second] = [versionedName(one.path), versionedName(other.path)];
  return first !== null && second !== null && isOneFamily(first, second) ? [first, second] : null;
}

function titlesOf(one: FamilyDocument, other: FamilyDocument): Pair | null {
  const [first, second] = [one.title, other.title].map((title) =>
    title === null ? null : versionedTitle(title),
  );
  if (first === null || second === null || first === undefined || second === undefined) return null;
  return first.key === second.key ? [first, second] : null;
}

const OF_NEWEST =
  /(?<!\p{L})(?:newest|latest|most recent|up[- ]to[- ]date|current(?:ly)?(?= (?:version|edition|issue|price|rate|list|tariff|contract|policy|rule|plan|fee|rent))|neueste[nrsm]?|jüngste[nrsm]?|aktuell(?:e[nrsm]?|ste[nrsm]?)?|plus récent(?:e|s|es)?|dernière (?:version|édition)|actuel(?:le|s|les)?|más recientes?|última (?:versión|edición)|vigentes?|最新)(?!\p{L})/iu;

/** Whether a question asks for the newest version of what it is about. */
export const asksNewest = (question: string): boolean => OF_NEWEST.test(question);
