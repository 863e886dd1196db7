import type { CitableBlock } from "../../evidence/number.ts";
import { detectLanguage } from "../../text/detect-language.ts";
import { sentenceEnds } from "../../text/sentences.ts";
import type { TextSpan } from "../../text/spans.ts";
import { cellTexts } from "../../text/table-cells.ts";
import { measureAt } from "./measures.ts";
import type { ClaimLanguage } from "./terms.ts";

/** What can carry a claim: a sentence, a list item, one table row with its header, or two sentences that belong together. */
export type Unit = TextSpan & {
  readonly block: CitableBlock;
  readonly kind: "sentence" | "row" | "heading" | "pair";
  /** What it says; of a row each cell behind its header, with bars between. */
  readonly text: string;
  /** Headings that it stands under, the nearest last. */
  readonly headings: readonly string[];
  readonly language: ClaimLanguage | null;
};

/** No honest sentence is longer; what is longer counts up to here. */
const MOST_CHARS = 1_200;

/** Cuts a piece into its units, in order, pairs behind them. Linear. */
export function cutUnits(block: CitableBlock): Unit[] {
  const language = languageOf(block.text, null);
  const units: Unit[] = [];
  let headings: { readonly level: number; readonly text: string }[] = [];
  for (const group of groupLines(block.text)) {
    const above = headings.map(({ text }) => text);
    if (group.kind === "heading") {
      headings = [...headings.filter(({ level }) => level < group.level), group];
    }
    const frame = { block, headings: above, language };
    units.push(...(group.kind === "rows" ? rowUnits(group, frame) : proseUnits(group, frame)));
  }
  return [...units, ...pairUnits(units, block)];
}

type Frame = Pick<Unit, "block" | "headings" | "language">;

/** Lines that belong together. */
type Group =
  | (TextSpan & { readonly kind: "heading"; readonly level: number; readonly text: string })
  | (TextSpan & { readonly kind: "prose" })
  | { readonly kind: "rows"; readonly lines: readonly (TextSpan & { readonly text: string })[] };

const HEADING = /^ {0,3}(#{1,6})[ \t]+(.{0,400})/;
const TABLE_ROW = /^\s{0,8}\||\s\|\s.{0,400}\s\|\s/;
/** A line that continues none: an item, a field, a quotation, a paragraph of a contract. */
const OPENS =
  /^[ \t]*(?:[-*+•・–—>][ \t]?|\d{1,3}[.)][ \t]|§|\(?[a-z\d]\)[ \t]|[\p{L}][\p{L}\d _.\-/]{0,40}[::=]|[\d[{"<])/u;
const ENDS = /[.!?:;。!?:、…)\]}>|]["'”’»」]?[ \t]*$/;
/** Shorter lines are not wrapped. */
const WRAPPED = 50;

function groupLines(text: string): Group[] {
  const groups: Group[] = [];
  let prose: { kind: "prose"; start: number; end: number } | null = null;
  let rows: (TextSpan & { text: string })[] | null = null;
  let last = "";
  for (const { 0: line, index } of text.matchAll(/[^\n\r]+|\r\n|\n|\r/g)) {
    if (line.trim() === "") {
      if (/^[\n\r]/.test(line) && last !== "\n") {
        last = "\n";
        continue;
      }
      [prose, rows, last] = [null, null, "\n"];
      continue;
    }
    const span = { start: index, end: index + line.length };
    const heading = HEADING.exec(line);
    if (heading !== null) {
      const [, marks = "#", title = ""] = heading;
      groups.push({ ...span, kind: "heading", level: marks.length, text: title });
      [prose, rows] = [null, null];
    } else if (TABLE_ROW.test(line) || isDelimited(line)) {
      prose = null;
      if (rows === null) groups.push({ kind: "rows", lines: (rows = []) });
      rows.push({ ...span, text: line });
    } else {
      rows = null;
      const isNew =
        prose === null ||
        OPENS.test(line) ||
        ENDS.test(text.slice(Math.max(prose.start, prose.end - 4), prose.end)) ||
        prose.end - text.lastIndexOf("\n", prose.end - 1) < WRAPPED;
      if (isNew || prose === null) groups.push((prose = { kind: "prose", ...span }));
      else prose.end = span.end;
    }
    last = line;
  }
  return groups;
}

/** A row of CSV: several marks without blanks behind them. */
const isDelimited = (line: string): boolean =>
  line.length < 2_000 &&
  /^[^,;\t]{0,80}(?:([,;\t])(?! )[^,;\t]{0,80}){3,60}$/.test(line) &&
  !/[.。]\s*$/.test(line);

const SEPARATOR = /^[\s|:+-]+$/;

function rowUnits({ lines }: Group & { kind: "rows" }, frame: Frame): Unit[] {
  const split = lines.filter(({ text }) => !SEPARATOR.test(text));
  const [first, ...rest] = split;
  if (first === undefined) return [];
  const header = cellsOf(first.text);
  const isMarked = lines[1] !== undefined && SEPARATOR.test(lines[1].text);
  const hasHeader =
    rest.length > 0 &&
    (isMarked || header.filter((cell) => /\d/.test(cell)).length * 2 <= header.length);
  const rows = hasHeader ? rest : split;
  return rows.map(({ start, end, text }) => {
    const cells = cellsOf(text);
    const named = cells.map((cell, at) => {
      const name = hasHeader ? (header[at] ?? "") : "";
      const stated = withUnit(cell, [name, cells[0] ?? ""], cells[at + 1] ?? "");
      return name === "" ? stated : `${name}: ${stated}`;
    });
    return { ...frame, kind: "row", start, end, text: named.join(" | ").slice(0, MOST_CHARS) };
  });
}

const BARE = /^[~<>≤≥ ]?-?\d[\d.,\u00A0\u202F ]*$/;
const UNIT_OF_COLUMN = /(?:[([(]|, | in )(?<unit>[^\s()[\]()]{1,12})[)\])]?$/u;

/** A number of which the header, the first cell of its row, or the next one names the unit. */
function withUnit(cell: string, names: readonly string[], next: string): string {
  if (!BARE.test(cell)) return cell;
  const unitCell = /\d/.test(next) ? "" : next;
  const [unit = unitCell] = names.flatMap(
    (name) => UNIT_OF_COLUMN.exec(name)?.groups?.["unit"] ?? [],
  );
  const measure = measureAt(unit);
  return measure !== null && unit.length <= measure.length + 4 ? `${cell} ${unit}` : cell;
}

function cellsOf(row: string): string[] {
  if (row.includes("|")) return cellTexts(row.trim());
  const mark = /[,;\t]/.exec(row)?.[0] ?? ",";
  return row.split(mark).map((cell) => cell.trim());
}

function proseUnits(group: Exclude<Group, { kind: "rows" }>, frame: Frame): Unit[] {
  const { text } = frame.block;
  const kind = group.kind === "heading" ? "heading" : "sentence";
  let from = group.start;
  return sentenceEnds(text.slice(group.start, group.end)).flatMap((offset): Unit[] => {
    const slice = text.slice(from, group.start + offset);
    const start = from + slice.length - slice.trimStart().length;
    from = group.start + offset;
    const said = slice.trim();
    if (said === "") return [];
    const language = languageOf(said, frame.language);
    const end = start + said.length;
    return [{ ...frame, kind, start, end, text: said.slice(0, MOST_CHARS), language }];
  });
}

/** What opens a sentence that says more of the one before it. */
const CONTINUES =
  /^(?:it|its|he|she|they|his|her|their|this|that|these|those|both|otherwise|then|after that|however|therefore|but|so|in that case|the (?:former|latter|same)|er|sie|es|sein|seine|ihr|ihre|dies|diese[rsmn]?|das|dieser|dort|danach|dann|dabei|dafür|dazu|deshalb|daher|sonst|andernfalls|jedoch|beide|il|elle|ils|elles|son|sa|ses|leurs?|cela|ceci|ce|cet|cette|ces|sinon|ensuite|puis|mais|donc|celui-ci|celle-ci|tous deux|él|ella|ellos|ellas|su|sus|esto|eso|este|esta|estos|estas|ese|esa|después|luego|pero|por eso|si no|ambos|ambas)(?![\p{L}])|^(?:それ|これ|その|この|同|ただし|しかし|また|そのため)/iu;

function pairUnits(units: readonly Unit[], block: CitableBlock): Unit[] {
  return units.slice(1).flatMap((second, at): Unit[] => {
    const first = units[at];
    if (first?.kind !== "sentence" || second.kind !== "sentence") return [];
    const between = block.text.slice(first.end, second.start);
    if (between.includes("\n") || !CONTINUES.test(second.text)) return [];
    const text = `${first.text} ${second.text}`.slice(0, MOST_CHARS);
    return [{ ...first, kind: "pair", end: second.end, text }];
  });
}

const LANGUAGES: ReadonlySet<string> = new Set(["english", "german", "french", "spanish"]);
const JAPANESE = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The language of a text, or of what it stands in where it says too little. */
export function languageOf(text: string, around: ClaimLanguage | null): ClaimLanguage | null {
  if (JAPANESE.test(text.slice(0, 400))) return "japanese";
  const found = detectLanguage(text.slice(0, 3_000));
  if (found !== null) return LANGUAGES.has(found) ? (found as ClaimLanguage) : around;
  return text.length < SHORT_CHARS ? (languageOfFew(text) ?? around) : around;
}

const SHORT_CHARS = 600;

/** A sentence is too short to be sure of: its small words are of one language, and hardly any of another. */
function languageOfFew(text: string): ClaimLanguage | null {
  // A name says nothing of the language that it stands in: "Töchter", "Réka".
  const inSmall = text.replace(/\p{Lu}[\p{L}\p{M}]*/gu, "");
  const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{M}]+/gu))];
  const [best, next] = Object.entries(SMALL_WORDS)
    .map(([language, small]) => ({
      language,
      count:
        words.reduce((sum, word) => sum + (small.has(word) ? 1 / speakersOf(word) : 0), 0) +
        (LETTERS[language]?.test(inSmall) === true ? 2 : 0),
    }))
    .sort((one, other) => other.count - one.count);
  const isClear =
    best !== undefined && best.count >= LEAST_SMALL && best.count > 1.5 * (next?.count ?? 0);
  return isClear ? (best.language as ClaimLanguage) : null;
}

const LEAST_SMALL = 1.5;

/** A word of two languages counts for each, and the less. */
const speakersOf = (word: string): number =>
  Object.values(SMALL_WORDS).filter((small) => small.has(word)).length;

/** Letters that the others of the four do not write. */
const LETTERS: Readonly<Record<string, RegExp>> = {
  german: /[äöüß]/iu,
  french: /[çàèêûîœ]|(?<!\p{L})[ld]['’](?=\p{L})/iu,
  spanish: /[ñ¿¡]/iu,
};

const SMALL_WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  english: new Set(
    "the of and to is are was were in on at for with by from not be been has have had it its this that they their which or a an can may must would should all there who when why how what if but because than then so he she you we did does as my our your her his".split(
      " ",
    ),
  ),
  german: new Set(
    "der die das den dem des und ist sind war wird wurde nicht ein eine einen im am zu mit von für auf bei einer einem dass auch nach aus oder aber er wir ihr darf ohne kein keine keinen kann muss wie noch nur wenn als um ihre seine hat haben werden weil hatte hatten sich es ich sie wären wäre sollte warum dann so vom zum zur beim seit".split(
      " ",
    ),
  ),
  french: new Set(
    "le la les de à des du un une est sont et en dans pour pas sur au aux avec par qui que ce cette il elle ont été parce mais ou a où comme sans avait avaient ils elles pourquoi lui leur puis ne ni dont avant après nous vous".split(
      " ",
    ),
  ),
  spanish: new Set(
    "el la los las de del un una es son y en por para no se con que al su porque fue han está pero más a lo como sin si sus había cuando qué cuándo ya muy hay desde hasta entre".split(
      " ",
    ),
  ),
};
