import { findWrittenDate, periodOf } from "../../shared/text/date-period.ts";
import type { Period } from "../../shared/text/date-period.ts";
import { isRecord, parseJson } from "../../shared/schema/json-value.ts";
import { findDates } from "../text/figures/dates.ts";
import type { FileMetadata } from "./extraction.ts";
import { parseFrontmatter } from "./frontmatter.ts";

/** Where the date of a document stands, in the order of trust: what a person wrote for a date comes before what a program set. */
export const DATE_SOURCES = [
  "frontmatter",
  "mail_header",
  "html_meta",
  "file_name",
  "text",
  "properties",
] as const;

export type DateSource = (typeof DATE_SOURCES)[number];

/** A date in the spelling of `periodOf`, with its days. */
export type DocumentDate = Period & { readonly source: DateSource; readonly date: string };

export type DatedDocument = {
  readonly path: string;
  readonly text: string;
  /** JSON of its frontmatter, or null. */
  readonly frontmatter: string | null;
  /** What the file says about itself outside of its text. */
  readonly metadata?: FileMetadata | undefined;
  /** Name of its format. */
  readonly format: string;
  /** Of an attachment the date of its mail, as that says it. */
  readonly mailDate?: string | undefined;
};

/** The dates of a document, one a source, the most trusted first. A time of the file is none of them. */
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
    // A mail says its day in a line of its text as well.
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

/** The most trusted date of a text that was read, in the spelling of `periodOf`; null where it says none. */
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

/** Clocks that were never set write 1601, 1899, 1904 or 1970-01-01. */
const isPossible = ({ from, to }: Period): boolean => from >= "1970-01-02" && to < "2200-01-01";

/** Keys that date a document, in the order in which they count. */
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
/** What every date with its year holds; quicker than what finds one. */
const MAYBE_DATE = /\d{4}|\d[./]\d\d[./]\d\d|年/;
const MOST_HEAD_CHARS = 2_000;
const MOST_LINES = 15;
/** "Berlin, 3. Mai 2025": a longer line is a sentence that tells of a day. */
const MOST_DATELINE_CHARS = 60;
/** Nothing before the day but a place that ends with a comma or a dash. */
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

/** The first day or month of a text that names its year, else what `findWrittenDate` finds: a quarter, or a year alone. */
function dateIn(text: string): string | null {
  const head = text.slice(0, 400);
  const mailed = /^(?:\w{3}, )?\d{1,2} \w{3} \d{4} [\d:]{4,8}/.test(head) ? Date.parse(head) : NaN;
  if (!Number.isNaN(mailed)) return new Date(mailed).toISOString().slice(0, 10);
  const readings = findDates(head).flatMap(({ offers }) => offers);
  const found = readings.find((one) => /^[dy]:/.test(one))?.slice(2);
  if (found !== undefined && periodOf(found) !== null) return found;
  return findWrittenDate(head)?.date ?? null;
}
