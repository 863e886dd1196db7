import type { CitableBlock } from "../../evidence/number.ts";
import { withoutDoubts } from "../../text/doubt-mark.ts";
import type { TextSpan } from "../../text/spans.ts";
import type { TextBlock } from "../../text/units/cut-blocks.ts";
import { cutUnits } from "../../text/units/cut-units.ts";
import type { TextUnit } from "../../text/units/cut-units.ts";
import { measureAt } from "../../text/figures/measures.ts";

/** A part of a piece that can support a claim: a sentence, row or heading, or two sentences that belong together. */
export type Unit = TextSpan &
  Pick<TextUnit, "text" | "language" | "frame" | "label"> & {
    readonly block: CitableBlock;
    readonly kind: "sentence" | "row" | "heading" | "pair";
    /** The headings above it, the nearest last. */
    readonly headings: readonly string[];
    /** Of a row: its first cell alone, and each cell behind its header. */
    readonly cells: readonly string[];
  };

/** A longer unit is read up to this length; no honest sentence is longer. */
const MOST_CHARS = 1_200;

/** Cuts a piece into its units, in order, followed by pairs of sentences. Linear. */
export function unitsOf(block: CitableBlock): Unit[] {
  const cut = cutUnits(block.text, block.headingPath?.split(" > ").at(-1) ?? null);
  const units = cut.map((unit): Unit => {
    const { kind, headings } = unit.block;
    const whole = kind === "row" ? rowText(unit.block) : unit.text;
    const text = withoutDoubts(whole).slice(0, MOST_CHARS);
    const cells = kind === "row" ? namedCells(unit.block) : [];
    return { ...unit, block, kind: KINDS[kind] ?? "sentence", headings, cells, text };
  });
  return [...units, ...pairUnits(cut, units)];
}

const KINDS: Partial<Record<string, "row" | "heading">> = { row: "row", heading: "heading" };

/** The text of a row: each cell behind its header, separated by bars. */
const rowText = ({ cells, names }: TextBlock): string =>
  cells
    .map((cell, at) => {
      const name = names[at] ?? "";
      const stated = withUnit(cell, [name, cells[0] ?? ""], cells[at + 1] ?? "");
      return name === "" ? stated : `${name}: ${stated}`;
    })
    .join(" | ");

const namedCells = ({ cells, names }: TextBlock): string[] => [
  ...cells.slice(0, 1),
  ...cells.flatMap((cell, at) => (names[at] ? [`${names[at]}: ${cell}`] : [])),
];

const BARE = /^[~<>≤≥ ]?-?\d[\d.,\u00A0\u202F ]*$/;
const UNIT_OF_COLUMN = /(?:[([(]|, | in )(?<unit>[^\s()[\]()]{1,12})[)\])]?$/u;

/** Adds to a bare number the unit that its header, the first cell of its row, or the next cell names. */
function withUnit(cell: string, names: readonly string[], next: string): string {
  if (!BARE.test(cell)) return cell;
  const unitCell = /\d/.test(next) ? "" : next;
  const [unit = unitCell] = names.flatMap(
    (name) => UNIT_OF_COLUMN.exec(name)?.groups?.["unit"] ?? [],
  );
  const measure = measureAt(unit);
  return measure !== null && unit.length <= measure.length + 4 ? `${cell} ${unit}` : cell;
}

/** The beginning of a sentence that continues the one before it. */
const CONTINUES =
  /^(?:it|its|he|she|they|his|her|their|this|that|these|those|both|otherwise|then|after that|however|therefore|but|so|in that case|the (?:former|latter|same)|er|sie|es|sein|seine|ihr|ihre|dies|diese[rsmn]?|das|dieser|dort|danach|dann|dabei|dafür|dazu|deshalb|daher|sonst|andernfalls|jedoch|beide|il|elle|ils|elles|son|sa|ses|leurs?|cela|ceci|ce|cet|cette|ces|sinon|ensuite|puis|mais|donc|celui-ci|celle-ci|tous deux|él|ella|ellos|ellas|su|sus|esto|eso|este|esta|estos|estas|ese|esa|después|luego|pero|por eso|si no|ambos|ambas)(?![\p{L}])|^(?:それ|これ|その|この|同|ただし|しかし|また|そのため)/iu;

function pairUnits(cut: readonly TextUnit[], units: readonly Unit[]): Unit[] {
  return units.slice(1).flatMap((second, at): Unit[] => {
    const first = units[at];
    const isOneBlock = cut[at]?.block === cut[at + 1]?.block;
    if (first === undefined || !isOneBlock || !CONTINUES.test(second.text)) return [];
    const text = `${first.text} ${second.text}`.slice(0, MOST_CHARS);
    return [{ ...first, kind: "pair", end: second.end, text }];
  });
}
