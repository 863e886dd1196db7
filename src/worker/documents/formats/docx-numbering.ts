import { listNumber } from "../../text/list-number.ts";
import { walkXml } from "../reader/walk-xml.ts";

type Level = {
  start: number;
  format: string;
  text: string;
  isLegal: boolean;
  restarts: boolean;
  style: string;
};
type Levels = Map<number, Level>;
type Definition = { readonly levels: Levels; link: string | undefined };
type List = { definition: string; readonly starts: Map<number, number>; readonly levels: Levels };

/** The numbers of paragraphs. Each call counts on, so calls must follow the order of the document. */
export type Numbering = {
  /** The label of the next paragraph of a list at a level; "" for a bullet, undefined for no label. */
  next(list: string, level: number): string | undefined;
  /** The level of a list that belongs to a paragraph style. */
  levelOfStyle(list: string, style: string): number | undefined;
};

const MOST_LEVELS = 9;

/** @param listOfStyle the list of a list style, to which a definition may refer */
export function readNumbering(
  xml: string,
  listOfStyle: (style: string) => string | undefined,
): Numbering {
  const definitions = new Map<string, Definition>();
  const lists = new Map<string, List>();
  readLists(xml, definitions, lists);
  const counts = new Map<string, (number | undefined)[]>();
  const used = new Set<string>();
  const definitionOf = (list: List): Definition | undefined => {
    const definition = definitions.get(list.definition);
    if (definition?.link === undefined) return definition;
    const linked = lists.get(listOfStyle(definition.link) ?? "");
    return (linked === undefined ? undefined : definitions.get(linked.definition)) ?? definition;
  };
  const levelsOf = (name: string): Levels | undefined => {
    const list = lists.get(name);
    const levels = list === undefined ? undefined : definitionOf(list)?.levels;
    return list === undefined || levels === undefined
      ? levels
      : new Map([...levels, ...list.levels]);
  };
  return {
    levelOfStyle: (name, style) =>
      [...(levelsOf(name) ?? [])].find(([, level]) => level.style === style)?.[0],
    next(name, at) {
      const levels = levelsOf(name);
      const list = lists.get(name);
      const level = levels?.get(at);
      // A list without a definition has bullets.
      if (levels === undefined || list === undefined || level === undefined) return "";
      const count = counts.get(list.definition) ?? [];
      counts.set(list.definition, count);
      if (!used.has(`${name} ${at}`)) {
        used.add(`${name} ${at}`);
        const start = list.starts.get(at);
        if (start !== undefined) count[at] = start - 1;
      }
      for (let outer = 0; outer < at; outer += 1) count[outer] ??= levels.get(outer)?.start ?? 1;
      count[at] = (count[at] ?? level.start - 1) + 1;
      for (let inner = at + 1; inner < MOST_LEVELS; inner += 1)
        if (levels.get(inner)?.restarts !== false) count[inner] = undefined;
      return labelOf(level, levels, count);
    },
  };
}

function labelOf(
  level: Level,
  levels: Levels,
  count: readonly (number | undefined)[],
): string | undefined {
  if (level.format === "bullet") return "";
  const label = level.text
    .replaceAll(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1;
      const format = level.isLegal ? "decimal" : (levels.get(at)?.format ?? "decimal");
      return numberOf(count[at] ?? levels.get(at)?.start ?? 1, format);
    })
    .replaceAll(/[\uf020-\uf0ff]/g, "")
    .trim();
  return label === "" ? undefined : label;
}

function numberOf(value: number, format: string): string {
  switch (format) {
    case "none":
      return "";
    case "decimalZero":
      return String(value).padStart(2, "0");
    default:
      return listNumber(value, format);
  }
}

function readLists(
  xml: string,
  definitions: Map<string, Definition>,
  lists: Map<string, List>,
): void {
  let definition: Definition | undefined;
  let list: List | undefined;
  let level: Level | undefined;
  let at = 0;
  walkXml(xml, {
    open(name, { abstractNumId = "", numId = "", ilvl = "0", val = "" }) {
      if (name === "abstractNum") {
        definition = { levels: new Map(), link: undefined };
        definitions.set(abstractNumId, definition);
      }
      if (name === "num") {
        list = { definition: "", starts: new Map(), levels: new Map() };
        lists.set(numId, list);
      }
      if (name === "abstractNumId" && list !== undefined) list.definition = val;
      if (name === "numStyleLink" && definition !== undefined) definition.link = val;
      if (name === "lvlOverride") at = Number(ilvl) || 0;
      if (name === "startOverride") list?.starts.set(at, Number(val) || 0);
      if (name === "lvl") {
        level = {
          start: 1,
          format: "decimal",
          text: "",
          isLegal: false,
          restarts: true,
          style: "",
        };
        (list ?? definition)?.levels.set(Number(ilvl) || 0, level);
      }
      if (level === undefined) return;
      if (name === "start") level.start = Number(val) || 0;
      if (name === "numFmt") level.format = val;
      if (name === "lvlText") level.text = val;
      if (name === "isLgl") level.isLegal = val !== "0" && val !== "false";
      if (name === "lvlRestart") level.restarts = val !== "0";
      if (name === "pStyle") level.style = val;
    },
    close(name) {
      if (name === "lvl") level = undefined;
      if (name === "abstractNum") definition = undefined;
      if (name === "num") list = undefined;
    },
  });
}
