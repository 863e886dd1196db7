import { listNumber } from "../../text/list-number.ts";
import type { Shift } from "../../text/list-number.ts";
import { openXmlWalk } from "../reader/walk-xml.ts";

/** The properties that a style gives to words. */
export type OdtStyle = {
  isHidden: boolean;
  shift: Shift;
  parent: string | undefined;
};

type Level = { format: string; prefix: string; suffix: string; start: number; shown: number };

export type OdtStyles = {
  readonly styleOf: (name: string | undefined) => OdtStyle | undefined;
  /** The label before an item: its number, "" for a bullet, undefined for none. */
  readonly labelOf: (list: string, counts: readonly number[]) => string | undefined;
  readonly startOf: (list: string, level: number) => number;
};

/** Name of the list that numbers headings. */
export const OUTLINE = "outline";

/** @param parts XML of the styles and of the document, which defines more styles */
export function readOdtStyles(parts: readonly string[]): OdtStyles {
  const styles = new Map<string, OdtStyle>();
  const lists = new Map<string, Level[]>();
  for (const part of parts) readPart(part, styles, lists);
  return {
    styleOf: (name) => {
      const own = styles.get(name ?? "");
      const parent = styles.get(own?.parent ?? "");
      return own === undefined || parent === undefined
        ? own
        : { ...own, isHidden: own.isHidden || parent.isHidden, shift: own.shift ?? parent.shift };
    },
    startOf: (list, level) => lists.get(list)?.[level]?.start ?? 1,
    labelOf: (list, counts) => {
      const levels = lists.get(list);
      const level = levels?.[counts.length - 1];
      if (levels === undefined || level === undefined) return list === OUTLINE ? undefined : "";
      if (level.format === "") return list === OUTLINE ? undefined : "";
      const first = Math.max(0, counts.length - level.shown);
      const numbers = counts
        .slice(first)
        .map((count, at) => listNumber(count, levels[first + at]?.format ?? "1"));
      return `${level.prefix}${numbers.join(".")}${level.suffix}`.trim();
    },
  };
}

/** The number that a list begins with, which may be 0; 1 if none is given. */
export const startIn = (value = "1"): number => (/^\d+$/.test(value) ? Number(value) : 1);

/** The start of the body. Styles stand before it, so the walk for styles ends there. */
const BODY = /<(?:\w{1,40}:)?body[\s>]/;

function readPart(xml: string, styles: Map<string, OdtStyle>, lists: Map<string, Level[]>): void {
  let style: OdtStyle | undefined;
  let list: Level[] | undefined;
  const walk = openXmlWalk({
    open(name, attributes) {
      if (name === "style") {
        style = { isHidden: false, shift: undefined, parent: attributes["parent-style-name"] };
        styles.set(attributes["name"] ?? "", style);
      }
      if (name === "text-properties" && style !== undefined) {
        if (attributes["display"] === "none") style.isHidden = true;
        const place = attributes["text-position"] ?? "";
        if (/^(?:super|[1-9])/.test(place)) style.shift = "raised";
        if (/^(?:sub|-)/.test(place)) style.shift = "lowered";
        const line = attributes["text-line-through-style"] ?? attributes["text-line-through-type"];
        if (line !== undefined && line !== "none") style.shift = "struck";
      }
      if (name === "list-style" || name === "outline-style") {
        list = [];
        lists.set(name === "list-style" ? (attributes["name"] ?? "") : OUTLINE, list);
      }
      if (list !== undefined && /^(?:list|outline)-level-style/.test(name)) {
        list[(Number(attributes["level"]) || 1) - 1] = {
          format: attributes["num-format"] ?? "",
          prefix: attributes["num-prefix"] ?? "",
          suffix: attributes["num-suffix"] ?? "",
          start: startIn(attributes["start-value"]),
          shown: Number(attributes["display-levels"] ?? 1) || 1,
        };
      }
    },
    close(name) {
      if (name === "style") style = undefined;
      if (name === "list-style" || name === "outline-style") list = undefined;
    },
  });
  const body = xml.search(BODY);
  walk.write(body < 0 ? xml : xml.slice(0, body));
  if (body < 0) walk.close();
}
