import { walkXml } from "../reader/walk-xml.ts";
import { GENERAL, numberStyleOf, numberText } from "./number-format.ts";
import type { NumberStyle } from "./number-format.ts";

/** The data of a chart: a row per category, below the names of the series. */
export type Chart = { readonly title: string; readonly rows: readonly (readonly string[])[] };

type Series = { name: string; categories: string[]; values: string[] };

const ROLES: Readonly<Record<string, keyof Series>> = {
  tx: "name",
  cat: "categories",
  xVal: "categories",
  val: "values",
  yVal: "values",
};
/** Most points of a series that are read. */
const MOST_POINTS = 10_000;

/** Reads a chart of Office from the figures that it stores of its sheet. */
export function readChart(xml: string): Chart {
  const titles: string[] = [];
  const all: Series[] = [];
  let role: keyof Series | undefined;
  let series: Series | undefined;
  let point = 0;
  /** The style of figures; undefined for words, which stay as they are: `007`. */
  let style: NumberStyle | undefined = GENERAL;
  let reading: "title" | "value" | "format" | undefined;
  let inTitle = false;
  let inLabels = false;
  walkXml(xml, {
    open(name, { idx = "" }) {
      if (name === "ser") all.push((series = { name: "", categories: [], values: [] }));
      if (name === "dLbls") inLabels = true;
      if (name === "title") {
        inTitle = true;
        titles.push("");
      }
      if (series !== undefined && !inLabels) role = ROLES[name] ?? role;
      if (/^(?:strRef|multiLvlStrRef|strLit)$/.test(name)) style = undefined;
      if (name === "numRef" || name === "numLit") style = GENERAL;
      if (name === "pt") point = Number(idx);
      if (name === "t" && inTitle) reading = "title";
      if (name === "v" && series !== undefined) reading = "value";
      if (name === "formatCode") reading = "format";
    },
    text(text) {
      if (reading === "title") titles.push((titles.pop() ?? "") + text);
      else if (reading === "format") style = numberStyleOf(text);
      else if (reading === "value" && series !== undefined && role !== undefined) {
        if (role === "name") series.name += text;
        else if (point < MOST_POINTS) {
          const shown = style === undefined ? text : numberText(text, style, 1900);
          // Levels of categories follow each other, the innermost first.
          const inner = series[role][point];
          series[role][point] = inner === undefined ? shown : `${shown} ${inner}`;
        }
      }
    },
    close(name) {
      reading = undefined;
      if (name === "title") inTitle = false;
      else if (name === "dLbls") inLabels = false;
      else if (name === "ser") series = undefined;
      if (Object.hasOwn(ROLES, name)) role = undefined;
    },
  });
  const points = Math.max(0, ...all.map(({ values }) => values.length));
  const names = ["", ...all.map(({ name }) => name)];
  const rows = Array.from({ length: points }, (_, at) => [
    all[0]?.categories[at] ?? "",
    ...all.map(({ values }) => values[at] ?? ""),
  ]);
  const said = titles.map((title) => title.trim()).filter(Boolean);
  return { title: said.join(", "), rows: points === 0 ? [] : [names, ...rows] };
}
