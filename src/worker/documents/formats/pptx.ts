import { listNumber, markShifted } from "../../text/list-number.ts";
import type { Shift } from "../../text/list-number.ts";
import { openArchive } from "../reader/archive.ts";
import type { Archive } from "../reader/archive.ts";
import { countedOut } from "../left-out.ts";
import { NoText, openTextBuilder, tooMany } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import type { XmlAttributes, XmlVisitor } from "../reader/walk-xml.ts";
import type { Extraction } from "../extraction.ts";
import { addTable, openFlowWriter } from "./flow-writer.ts";
import type { FlowWriter, ParagraphKind } from "./flow-writer.ts";
import { openFormula } from "./formula.ts";
import { readChart } from "./office-chart.ts";
import { mainPart, relationsOf } from "./office-package.ts";
import type { Relation } from "./office-package.ts";
import { readProperties } from "./office-properties.ts";
import { HIDDEN } from "./table-rows.ts";

/** Reads a presentation: each slide is a page with its title as a heading, then shapes, tables, charts and notes. */
export function readPptx(bytes: Buffer, limits: TextLimits): Extraction {
  const archive = openArchive(bytes, limits);
  const main = mainPart(archive, "ppt/presentation.xml");
  const xml = archive.text(main);
  const slides = xml === undefined ? [] : slidesOf(xml, relationsOf(archive, main));
  if (slides.length === 0) {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "is no presentation with slides: save it as .pptx with the program that made it.",
    );
  }
  if (slides.length > limits.pages) throw tooMany("slides", limits.pages, "max_pages");
  const builder = openTextBuilder(limits);
  const writer = openFlowWriter(builder);
  const leftOut = { pictures: 0, charts: 0 };
  for (const [index, part] of slides.entries()) {
    builder.place({ page: index + 1 });
    addSlide(archive, part, { writer, leftOut, number: index + 1 });
  }
  writer.finish();
  const metadata = { ...readProperties(archive, "docProps/core.xml"), pages: slides.length };
  return { ...builder.finish(metadata), ...countedOut(leftOut) };
}

/** The parts of the slides in order. `sldId` has two attributes id: a number, and with a prefix the relation. */
const slidesOf = (xml: string, relations: readonly Relation[]): readonly string[] =>
  Array.from(xml.matchAll(/\bsldId\b[^>]*?\s\w+:id="([^"]*)"/g)).flatMap(
    ([, id]) => relations.find((relation) => relation.id === id)?.target ?? [],
  );

type Slide = {
  readonly number: number;
  readonly writer: FlowWriter;
  readonly leftOut: { pictures: number; charts: number };
};

/** A title makes a heading if words follow it in its shape; PowerPoint leaves empty titles on slides. */
const TITLE = /<\w+:ph\b[^>]*\btype="(?:title|ctrTitle)"/;
const WORDS = /<\w+:t>\s*[^<\s]/;

function addSlide(archive: Archive, part: string, { writer, leftOut, number }: Slide): void {
  const xml = archive.text(part);
  if (xml === undefined) return;
  const relations = relationsOf(archive, part);
  const chartAt = (id: string): void => {
    const target = relations.find((relation) => relation.id === id)?.target ?? "";
    addChart(writer, archive.text(target) ?? "<none/>");
  };
  if (!xml.split(/<\/\w+:sp>/).some((shape) => WORDS.test(shape.split(TITLE, 2)[1] ?? ""))) {
    writer.add(`Slide ${number}`);
    writer.endParagraph({ kind: "heading", level: 1 });
  }
  walkXml(xml, shapesVisitor(writer, chartAt));
  for (const { type, target } of relations) {
    if (type === "image") leftOut.pictures += 1;
    else if (type === "chartEx") leftOut.charts += 1;
    else if (type === "diagramData") {
      walkXml(
        archive.text(target) ?? "<none/>",
        shapesVisitor(writer, () => undefined),
      );
    }
  }
  for (const { type, target } of relations) {
    const label = BESIDE.get(type);
    if (label !== undefined)
      walkXml(archive.text(target) ?? "<none/>", wordsVisitor(writer, label));
  }
}

function addChart(writer: FlowWriter, xml: string): void {
  const { title, rows } = readChart(xml);
  if (title !== "") writer.add(title);
  writer.endParagraph({ kind: "plain" });
  addTable(writer, rows);
}

/** Types of placeholders: titles, and those that repeat on every slide. */
const TITLES = new Set(["title", "ctrTitle"]);
const REPEATED = new Set(["sldNum", "dt", "ftr", "hdr", "sldImg"]);

/** The words of shapes and tables, as they follow each other in a slide. */
function shapesVisitor(writer: FlowWriter, chartAt: (id: string) => void): XmlVisitor {
  let kind: ParagraphKind = { kind: "plain" };
  let placeholder = "";
  let isBody = false;
  let inText = false;
  let shift: Shift;
  let formula: ReturnType<typeof openFormula> | undefined;
  /** Last number of each level of a list. */
  let numbers: number[] = [];
  let isNumbered = false;
  let level = 0;
  let table: { rows: string[][]; cell: string } | undefined;
  /** Depth in `Fallback` elements, which repeat content for older programs. */
  let repeated = 0;
  const add = (text: string): void => {
    if (table !== undefined) table.cell += text;
    else if (!REPEATED.has(placeholder)) writer.add(text);
  };
  return {
    open(name, attributes) {
      if (name === "Fallback") repeated += 1;
      if (repeated > 0) return;
      if (name === "oMath") formula ??= openFormula();
      else if (formula !== undefined) {
        formula.open(name, attributes);
        return;
      }
      inText = name === "t";
      if (name === "r") shift = undefined;
      else if (name === "rPr") shift = shiftOf(attributes);
      else if (name === "sld" && attributes["show"] === "0") {
        writer.add(HIDDEN.trim());
        writer.endParagraph({ kind: "plain" });
      } else if (name === "sp" || name === "graphicFrame") {
        placeholder = "";
        isBody = false;
        numbers = [];
      } else if (name === "ph") {
        placeholder = attributes["type"] ?? "body";
        isBody = placeholder === "body";
      } else if (name === "p") {
        isNumbered = false;
        level = 0;
        kind = TITLES.has(placeholder)
          ? { kind: "heading", level: 1 }
          : { kind: isBody ? "item" : "plain", depth: 0 };
      } else if (name === "pPr") {
        level = Number(attributes["lvl"] ?? 0) || 0;
        if (isBody) kind = { kind: "item", depth: level };
      } else if (name === "buChar" || name === "buAutoNum") {
        if (kind.kind === "plain") kind = { kind: "item", depth: level };
        const form = attributes["type"] ?? "";
        if (/^(?:arabic|alpha|roman)/.test(form)) {
          isNumbered = true;
          numbers = numbers.slice(0, level + 1);
          numbers[level] = (numbers[level] ?? Number(attributes["startAt"] ?? 1) - 1) + 1;
          add(`${listNumber(numbers[level] ?? 1, form)}${/Paren/.test(form) ? ")" : "."} `);
        }
      } else if (name === "buNone") kind = kind.kind === "item" ? { kind: "plain" } : kind;
      else if (name === "br") add(table === undefined ? "\n" : " ");
      else if (name === "tbl") table = { rows: [], cell: "" };
      else if (name === "tr") table?.rows.push([]);
      else if (name === "tc" && table !== undefined)
        table.cell = mergedCell(table.rows, attributes);
      else if (name === "chart") chartAt(attributes["id"] ?? "");
    },
    text(text) {
      if (repeated > 0) return;
      if (formula !== undefined) formula.text(text);
      else if (inText) add(markShifted(text, shift));
    },
    close(name) {
      inText = false;
      if (name === "Fallback") repeated -= 1;
      if (repeated > 0) return;
      if (name === "oMath" && formula !== undefined) {
        add(formula.finish());
        formula = undefined;
      }
      formula?.close?.(name);
      if (formula !== undefined) return;
      if (name === "p" && !isNumbered) numbers = numbers.slice(0, level);
      if (name === "p" && table === undefined) writer.endParagraph(kind);
      else if (name === "p") add(" ");
      else if (name === "tc" && table !== undefined) table.rows.at(-1)?.push(table.cell);
      else if (name === "tbl" && table !== undefined) {
        addTable(writer, table.rows);
        table = undefined;
      }
    },
  };
}

/** The shift of a run: above zero `baseline` raises it, below zero it lowers it. */
function shiftOf({ baseline = "0", strike = "noStrike" }: XmlAttributes): Shift {
  if (strike !== "noStrike") return "struck";
  return Number(baseline) > 0 ? "raised" : Number(baseline) < 0 ? "lowered" : undefined;
}

/** The words of a cell that is merged with the cell before or above it; "" for any other. */
function mergedCell(
  rows: readonly (readonly string[])[],
  { hMerge, vMerge }: Readonly<Record<string, string>>,
): string {
  const row = rows.at(-1) ?? [];
  if (hMerge === "1") return row.at(-1) ?? "";
  return vMerge === "1" ? (rows.at(-2)?.[row.length] ?? "") : "";
}

/** Relations of a slide that hold notes of the speaker and comments, with their labels. */
const BESIDE: ReadonlyMap<string, string> = new Map([
  ["notesSlide", "Notes"],
  ["comments", "Comments"],
]);

/** Writes all words of a part as one paragraph below the slide. */
function wordsVisitor(writer: FlowWriter, label: string): XmlVisitor {
  const words: string[] = [];
  let placeholder = "";
  let inText = false;
  let depth = 0;
  return {
    open(name, attributes) {
      depth += 1;
      if (name === "sp") placeholder = "";
      if (name === "ph") placeholder = attributes["type"] ?? "body";
      inText = name === "t" || name === "text";
    },
    text(text) {
      if (inText && !REPEATED.has(placeholder)) words.push(text);
    },
    close(name) {
      inText = false;
      depth -= 1;
      if (name === "p" || name === "text") words.push(" ");
      if (depth > 0 || words.join("").trim() === "") return;
      writer.add(`${label}: ${words.join("")}`);
      writer.endParagraph({ kind: "plain" });
    },
  };
}
