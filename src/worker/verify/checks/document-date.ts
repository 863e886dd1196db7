import { parseFrontmatter } from "../../documents/frontmatter.ts";
import { findDates } from "../../text/dates.ts";
import { readVersion } from "../../../shared/version-family.ts";

/** Keys of front matter that date a document, in the order in which they count. */
const KEYS: readonly string[] = [
  ...[
    "updated",
    "modified",
    "valid_from",
    "effective",
    "effective_date",
    "date",
    "datum",
    "stand",
    "fecha",
  ],
  ...["created", "published", "aktualisiert", "mise_a_jour"],
];
const DATED_LINE =
  /^[ \t]{0,3}(?:#{1,6}[ \t]|[*_>-]{0,3}[ \t]?(?:date|dated|as of|updated|last updated|valid from|effective|effective from|datum|stand|gültig ab|vom|aktualisiert|en date du|à jour au|valable à partir du|fecha|vigente desde|actualizado)(?![\p{L}]))/iu;
const MOST_HEAD_CHARS = 2_000;
const MOST_LINES = 15;

/**
 * The date of a document as `2025`, `2025-03` or `2025-03-14`: of its front matter, else of its name, else of a heading or a
 * dated line among its first lines; null where none of them holds one.
 */
export function documentDate(path: string, text: string): string | null {
  return (
    ofFrontmatter(text) ?? readVersion(path.slice(path.lastIndexOf("/") + 1)).date ?? ofHead(text)
  );
}

function ofFrontmatter(text: string): string | null {
  const { json } = parseFrontmatter(text);
  if (json === null) return null;
  const held = new Map(
    Object.entries(JSON.parse(json) as Readonly<Record<string, unknown>>).map(([key, value]) => [
      key.toLowerCase().replaceAll(/[ -]/g, "_"),
      value,
    ]),
  );
  for (const key of KEYS) {
    const value = held.get(key);
    const date =
      typeof value === "string" || typeof value === "number" ? dateIn(String(value)) : null;
    if (date !== null) return date;
  }
  return null;
}

function ofHead(text: string): string | null {
  const lines = text.slice(0, MOST_HEAD_CHARS).split(/\r\n|\n|\r/, MOST_LINES);
  for (const line of lines) {
    const date = DATED_LINE.test(line) ? dateIn(line) : null;
    if (date !== null) return date;
  }
  return null;
}

/** The first day or month of a text that names its year, else a year that stands alone. */
function dateIn(text: string): string | null {
  const readings = findDates(text.slice(0, 400)).flatMap(({ offers }) => offers);
  const found = readings.find((one) => /^[dy]:/.test(one))?.slice(2);
  return found ?? readVersion(text).date;
}
