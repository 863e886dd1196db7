import { findWrittenDate, periodOf } from "../../shared/text/date-period.ts";
import type { Period } from "../../shared/text/date-period.ts";
import { isRecord, parseJson } from "../../shared/schema/json-value.ts";
import { findDates } from "../text/figures/dates.ts";
import type { FileMetadata } from "./extraction.ts";
import { parseFrontmatter } from "./frontmatter.ts";

/** Sources of the date of a document, the most trusted first: dates that a person wrote come before dates that a program set. */
export const DATE_SOURCES = [
  "frontmatter",
  "mail_header",
  "html_meta",
  "file_name",
  "text",
  "properties",
] as const;

export type DateSource = (typeof DATE_SOURCES)[number];

/** A date in the spelling of `periodOf`, with its first and last day. */
export type DocumentDate = Period & { readonly source: DateSource; readonly date: string };

export type DatedDocument = {
  readonly path: string;
  readonly text: string;
  /** Frontmatter as JSON, or null. */
  readonly frontmatter: string | null;
  /** Properties of the file outside of its text. */
  readonly metadata?: FileMetadata | undefined;
  /** Name of the format. */
  readonly format: string;
  /** For an attachment: the date of its mail, as the mail spells it. */
  readonly mailDate?: string | undefined;
};

/** The dates of a document, one per source, the most trusted first. The time of the file itself does not count. */
export function datesOf(document: DatedDocument): readonly DocumentDate[] {
  const { path, text, frontmatter, metadata = {}, format, mailDate } = document;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const written = frontmatter === null ? undefined : parseJson(frontmatter);
  const said = dateOfKeys(metadata, PROPERTY_KEYS);
  const isDatedMail = MAIL.has(format) && said !== null;
  const found: readonly (readonly [DateSource, string | null])[] = [
    ["frontmatter", dateOfKeys(isRecord(written) ? written : {}, FRONTMATTER_KEYS)],
    ["mail_header", mailDate === undefined || isDatedMail ? null : dateIn(mailDate)],
    [sourceOfMetadata(format), said],
    ["file_name", findWrittenDate(name)?.date ?? null],
    // The text of a mail repeats its header, so it is no source of its own.
    [
      "text",
      MAIL.has(format) ? null : dateOfHead(frontmatter === null ? text : afterFrontmatter(text)),
    ],
  ];
  return found
    .flatMap(([source, date]) => {
      const period = date === null ? null : periodOf(date);
      return date === null || period === null || !isPossible(period)
        ? []
        : [{ source, date, ...period }];
    })
    .sort((one, other) => DATE_SOURCES.indexOf(one.source) - DATE_SOURCES.indexOf(other.source));
}

/** The most trusted date of a Markdown text, in the spelling of `periodOf`; null if there is none. */
export const documentDate = (path: string, text: string): string | null =>
  datesOf({
    path,
    text,
    frontmatter: parseFrontmatter(text).json,
    format: "markdown",
  })[0]?.date ?? null;

const afterFrontmatter = (text: string): string => text.slice(text.indexOf("\n---", 1) + 4);

const MAIL: ReadonlySet<string> = new Set(["eml", "mbox"]);

const sourceOfMetadata = (format: string): DateSource =>
  MAIL.has(format) ? "mail_header" : format === "html" ? "html_meta" : "properties";

/** Excludes the dates of clocks that were never set: 1601, 1899, 1904 or 1970-01-01. */
const isPossible = ({ from, to }: Period): boolean => from >= "1970-01-02" && to < "2200-01-01";

/** Keys of frontmatter that date a document, the first one that holds a date counts. */
const FRONTMATTER_KEYS: readonly string[] = [
  ...["date", "datum", "fecha", "valid_from", "effective", "effective_date", "stand", "published"],
  ...["created", "updated", "modified", "aktualisiert", "mise_a_jour"],
];
const PROPERTY_KEYS: readonly string[] = ["date", "created", "modified"];

function dateOfKeys(
  values: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): string | null {
  const held = new Map(
    Object.entries(values).map(([key, value]) => [
      key.toLowerCase().replaceAll(/[ -]/g, "_"),
      value,
    ]),
  );
  for (const key of keys) {
    const value = held.get(key);
    if (typeof value !== "string" && typeof value !== "number") continue;
    const date = dateIn(String(value));
    if (date !== null) return date;
  }
  return null;
}

const DATED_LINE =
  /^[ \t]{0,3}(?:#{1,6}[ \t]|[*_>-]{0,3}[ \t]?(?:date|dated|as of|updated|last updated|valid from|effective|effective from|datum|stand|gültig ab|vom|aktualisiert|en date du|à jour au|valable à partir du|fecha|vigente desde|actualizado)(?![\p{L}-]))/iu;
/** Every date with a year matches this; it is quicker than the search for dates. */
const MAYBE_DATE = /\d{4}|\d[./]\d\d[./]\d\d|年/;
const MOST_HEAD_CHARS = 2_000;
const MOST_LINES = 15;
/** A line such as "Berlin, 3. Mai 2025" is shorter; a longer one is a sentence that mentions a day. */
const MOST_DATELINE_CHARS = 60;
/** Before the day of a dateline: nothing, or a place that ends with a comma or a dash. */
const PLACE_ALONE =
  /^[\s*_>]*(?:\p{Lu}[\p{L}.' -]{1,30}(?:,|\s[-–—])\s{1,3}(?:(?:den|the|le|a)\s)?)?[\s*_]*$/u;

/** The date of a heading, a dated line or a dateline among the first lines of a text. */
function dateOfHead(text: string): string | null {
  const lines = text.slice(0, MOST_HEAD_CHARS).split(/\r\n|\n|\r/, MOST_LINES);
  for (const line of lines) {
    if (!MAYBE_DATE.test(line)) continue;
    const date = DATED_LINE.test(line) || isDateline(line) ? dateIn(line) : null;
    if (date !== null) return date;
  }
  return null;
}

function isDateline(line: string): boolean {
  if (line.length > MOST_DATELINE_CHARS) return false;
  const [figure] = findDates(line);
  if (figure === undefined) return false;
  return PLACE_ALONE.test(line.slice(0, figure.start)) && /^[\s*_.]*$/.test(line.slice(figure.end));
}

/** The first day or month with its year in a text, else the result of `findWrittenDate`: a quarter, or a year alone. */
function dateIn(text: string): string | null {
  const head = text.slice(0, 400);
  const readings = findDates(head).flatMap(({ offers }) => offers);
  const found = readings.find((one) => /^[dy]:/.test(one))?.slice(2);
  if (found !== undefined && periodOf(found) !== null) return found;
  return findWrittenDate(head)?.date ?? null;
}
