import { compareDates, findWrittenDate } from "./date-period.ts";
import { foldWord } from "./normalise-text.ts";

/** What a name or a title says of the version that it is of; what it does not say is null. */
export type VersionMarks = {
  /** In the spelling of `periodOf`. */
  readonly date: string | null;
  /** Of "2nd edition" and "2. Auflage" 2. */
  readonly edition: VersionNumber | null;
  /** Of "v2.1" 2 and 1, of "Version B" B. */
  readonly version: VersionNumber | null;
  /** Of "rev. 3" 3, of "rev. B" B. */
  readonly revision: VersionNumber | null;
  /** old, draft, final, new: from -2 to 2; 0 where a name says none of them. */
  readonly stage: number;
};

/** Numbers from the most important one on, or a capital letter. The two do not compare. */
type VersionNumber = readonly number[] | string;

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

/** Ordinal words by their number less one, without accents, and without the ending that a case gives a German one. */
const ORDINALS: readonly string[] = [
  "first|erste|premiere|premier|primera",
  "second|seconde|zweite|deuxieme|segunda",
  "third|dritte|troisieme|tercera",
  "fourth|vierte|quatrieme|cuarta",
  "fifth|funfte|cinquieme|quinta",
  "sixth|sechste|sixieme|sexta",
  "seventh|siebte|siebente|septieme|septima",
  "eighth|achte|huitieme|octava",
  "ninth|neunte|neuvieme|novena",
  "tenth|zehnte|dixieme|decima",
];
const ORDINAL_NUMBERS: ReadonlyMap<string, number> = new Map(
  ORDINALS.flatMap((words, at) => words.split("|").map((word) => [word, at + 1] as const)),
);

const ORDINAL =
  "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|(?:erste|zweite|dritte|vierte|fünfte|sechste|siebte|siebente|achte|neunte|zehnte)[nrsm]?|" +
  "premi[eè]re?|deuxi[eè]me|seconde|troisi[eè]me|quatri[eè]me|cinqui[eè]me|sixi[eè]me|septi[eè]me|huiti[eè]me|neuvi[eè]me|dixi[eè]me|" +
  "primera|segunda|tercera|cuarta|quinta|sexta|s[eé]ptima|octava|novena|d[eé]cima";
/** "2nd", "2.", "2e", "2ème", "2.ª". */
const NUMBERED = String.raw`(?<![\d.])\d{1,3}(?:st|nd|rd|th|[eè]me|nde|[eè]re|de|re|e|a|\.?ª|\.)?(?!\d)`;
/** What may stand between, or behind: "2nd, revised and enlarged edition". */
const QUALIFIER =
  "revised|updated|enlarged|expanded|corrected|amended|überarbeitete|vollständig|aktualisierte|erweiterte|verbesserte|korrigierte|neu|bearbeitete|" +
  "revue|corrigée|augmentée|actualisée|revisada|actualizada|ampliada|corregida|and|und|et|y";
const QUALIFIED = String.raw`(?:[-., ]{1,2}(?:${QUALIFIER})(?!\p{L})){0,4}`;

const NOUNS = {
  edition: "edition|edn|ed|auflage|aufl|édition|éd|edición",
  version: "version|versión|fassung",
  revision: "revision|rev|révision|revisión",
} as const;
type Noun = keyof typeof NOUNS;

const GAP = String.raw`[-.,: ]{0,2}`;
const ENDS = String.raw`(?![\p{L}\d])`;
/** A year behind a noun is a date: "Edition 2025". */
const NO_YEAR = String.raw`(?!(?:19|20)\d\d(?![.\d]))`;
const NUMBERS = String.raw`${NO_YEAR}\d{1,4}(?:\.\d{1,4}){0,3}`;

/** Every pattern is bounded, and its first group is what it counts by. */
const countedBefore = (nouns: string): RegExp =>
  new RegExp(
    String.raw`(?<!\p{L})(${ORDINAL}|${NUMBERED})${QUALIFIED}${GAP}(?:${nouns})${ENDS}\.?${QUALIFIED}`,
    "iu",
  );
const countedBehind = (nouns: string): RegExp =>
  new RegExp(String.raw`(?<![\p{L}\d])(?:${nouns})${GAP}(${NUMBERS})${ENDS}`, "iu");
/** Letters and Roman numbers count in capitals alone, unless nothing else than a letter can be meant. */
const lettered = (nouns: string): RegExp =>
  new RegExp(String.raw`(?<![\p{L}\d])(?:${nouns})[-.: ]{1,2}([A-Z]|[IVX]{2,5})${ENDS}`, "u");

/** What every shape holds; quicker than they are. */
const MAYBE_NOUN = new RegExp(
  String.raw`(?:${Object.values(NOUNS).join("|")}|(?<![\p{L}\d])(?:vers?|v|r))(?!\p{L})|版`,
  "iu",
);

/** In this order: the first that stands in a text tells that mark, and is taken out before the next is looked for. */
const SHAPES: readonly (readonly [Noun, RegExp])[] = [
  ["edition", countedBefore(NOUNS.edition)],
  ["edition", countedBehind(NOUNS.edition)],
  ["edition", lettered("[Ee]dition|EDITION|[Aa]uflage|AUFLAGE|[Éé]dition|[Ee]dición")],
  ["edition", /第(\d{1,3}|[一二三四五六七八九十])版/u],
  ["version", countedBefore(NOUNS.version)],
  ["version", countedBehind(`${NOUNS.version}|ver|vers|v`)],
  ["version", lettered("[Vv]ersi[oó]n|VERSI[OÓ]N|[Ff]assung|FASSUNG")],
  ["revision", countedBefore(NOUNS.revision)],
  ["revision", countedBehind(`${NOUNS.revision}|r`)],
  // Not "Rev. A. Smith".
  [
    "revision",
    new RegExp(
      String.raw`(?<![\p{L}\d])(?:${NOUNS.revision})[-.: ]{1,2}([a-z])${ENDS}(?!\. ?\p{L})`,
      "iu",
    ),
  ],
];

/** Beside a date they say nothing else: "Edition 2025", "Stand Mai 2025". */
const DATED_NOUNS: ReadonlySet<string> = new Set(
  [
    ...Object.values(NOUNS).flatMap((nouns) => nouns.split("|")),
    "ausgabe",
    "stand",
    "v",
    "ver",
  ].map(foldWord),
);

const KANJI = "一二三四五六七八九十";

function numberOf(counted: string, noun: Noun): VersionNumber | null {
  if (/^\d+(?:\.\d+)+$/.test(counted)) return counted.split(".").map(Number);
  if (/^\d/.test(counted)) return [Number.parseInt(counted, 10)];
  if (KANJI.includes(counted)) return [KANJI.indexOf(counted) + 1];
  // A revision that is called I is the ninth by its letter; an edition is the first.
  if (/^[IVX]{2,5}$/.test(counted) || (counted === "I" && noun !== "revision"))
    return romanOf(counted);
  if (/^[a-z]$/i.test(counted)) return counted.toUpperCase();
  const folded = foldWord(counted);
  const number = ORDINAL_NUMBERS.get(folded) ?? ORDINAL_NUMBERS.get(folded.replace(/[nrsm]$/, ""));
  return number === undefined ? null : [number];
}

const ROMAN: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10 };

/** Null of letters that are no number, as "IIX". */
function romanOf(letters: string): VersionNumber | null {
  if (!/^X{0,3}(?:IX|IV|V?I{0,3})$/.test(letters)) return null;
  const values = Array.from(letters, (letter) => ROMAN[letter] ?? 0);
  return [
    values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0),
  ];
}

type Counted = Pick<VersionMarks, Noun> & { readonly rest: string };

function readCounted(text: string): Counted {
  let found: Counted = { edition: null, version: null, revision: null, rest: text };
  if (!MAYBE_NOUN.test(text)) return found;
  for (const [noun, shape] of SHAPES) {
    if (found[noun] !== null) continue;
    const match = shape.exec(found.rest);
    const number = match === null ? null : numberOf(match[1] ?? "", noun);
    if (match === null || number === null) continue;
    found = { ...found, [noun]: number, rest: found.rest.replace(match[0], " ") };
  }
  return found;
}

const MOST_NAME_CHARS = 400;
const MOST_TEXT_CHARS = 4_000;

/** What tells the versions of a document apart in a name or a title, and the words that they have in common. */
export function readVersion(name: string): VersionMarks & { readonly words: readonly string[] } {
  const text = name.slice(0, MOST_NAME_CHARS).normalize("NFC").replaceAll("_", " ");
  const { rest: uncounted, ...counted } = readCounted(text);
  const found = findWrittenDate(uncounted);
  const rest = found === null ? uncounted : uncounted.replace(found.text, " ");
  const all = (rest.match(/[\p{L}\p{M}]+|\d+/gu) ?? []).map(foldWord);
  const words = found === null ? all : all.filter((word) => !DATED_NOUNS.has(word));
  const stages = words.flatMap((word) => STAGES.get(word) ?? []);
  return {
    date: found?.date ?? null,
    ...counted,
    stage: stages[0] ?? 0,
    words: words.filter((word) => !STAGES.has(word)),
  };
}

/** Whether a text says by number which edition, version or revision it speaks of. */
export function namesNumber(text: string): boolean {
  const { edition, version, revision } = readCounted(
    text.slice(0, MOST_TEXT_CHARS).normalize("NFC"),
  );
  return edition !== null || version !== null || revision !== null;
}

export const isMarked = ({ date, edition, version, revision, stage }: VersionMarks): boolean =>
  [date, edition, version, revision].some((mark) => mark !== null) || stage !== 0;

const OLD = -2;
const COUNTED = ["edition", "version", "revision"] as const;

/**
 * Whether the first is an older version than the second (-1), a newer one (1), the same (0), or nobody can tell (null): marks
 * of different kinds do not compare.
 */
export function compareVersions(one: VersionMarks, other: VersionMarks): number | null {
  const byDate = compareDates(one.date, other.date);
  if (byDate !== null && byDate !== 0) return byDate;
  for (const mark of COUNTED) {
    const [first, second] = [one[mark], other[mark]];
    const byNumber = first === null || second === null ? 0 : compareNumbers(first, second);
    if (byNumber !== 0) return byNumber;
  }
  const isAlike = (["date", ...COUNTED] as const).every(
    (mark) => (one[mark] === null) === (other[mark] === null),
  );
  if (one.stage !== other.stage) {
    const isOld = Math.min(one.stage, other.stage) === OLD;
    return isAlike || isOld ? Math.sign(one.stage - other.stage) : null;
  }
  return isAlike && isMarked(one) ? 0 : null;
}

function compareNumbers(one: VersionNumber, other: VersionNumber): number | null {
  if (typeof one === "string" || typeof other === "string") {
    if (typeof one !== typeof other) return null;
    return one === other ? 0 : one < other ? -1 : 1;
  }
  for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}
