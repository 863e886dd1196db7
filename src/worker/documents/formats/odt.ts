import { openArchive } from "../reader/archive.ts";
import type { Archive } from "../reader/archive.ts";
import { NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import type { XmlAttributes, XmlVisitor } from "../reader/walk-xml.ts";
import { markShifted } from "../../text/list-number.ts";
import { countLeftOut } from "../left-out.ts";
import type { LeftOutCounter } from "../left-out.ts";
import { openFlowWriter } from "./flow-writer.ts";
import type { CellSpan, FlowWriter, ParagraphKind } from "./flow-writer.ts";
import type { Extraction } from "../extraction.ts";
import { OUTLINE, readOdtStyles, startIn } from "./odt-styles.ts";
import type { OdtStyles } from "./odt-styles.ts";
import { readProperties } from "./office-properties.ts";

/** Reads a text document of LibreOffice and others. */
export function readOdt(bytes: Buffer, limits: TextLimits): Extraction {
  const archive = openArchive(bytes, limits);
  const content = contentOf(archive, "text document", ".odt");
  const builder = openTextBuilder(limits);
  const writer = openFlowWriter(builder);
  const leftOut = countLeftOut();
  const margins = archive.text("styles.xml") ?? "<none/>";
  const styles = readOdtStyles([margins, content]);
  const work: OdtWork = { writer, styles, leftOut, textOf: (part) => archive.text(part) };
  walkXml(content, contentVisitor(work, "text"));
  for (const margin of ["header", "footer"]) walkXml(margins, marginVisitor(work, margin));
  writer.finish();
  return { ...builder.finish(readProperties(archive, "meta.xml")), ...leftOut.finish() };
}

export type OdtWork = {
  readonly writer: FlowWriter;
  readonly styles: OdtStyles;
  readonly leftOut: LeftOutCounter;
  /** The text of a part of the archive; undefined if there is none. */
  readonly textOf: (part: string) => string | undefined;
};

/** Writes the headers or footers, one note for each that a page style has: of all pages, left ones or the first one. */
function marginVisitor(work: OdtWork, margin: string): XmlVisitor {
  const inner = contentVisitor(work, margin);
  const names: ReadonlySet<string> = new Set([margin, `${margin}-left`, `${margin}-first`]);
  let depth = 0;
  return {
    open(name, attributes) {
      const opens = depth === 0 && names.has(name) && attributes["display"] !== "false";
      if (opens) work.writer.openNote(`[${margin}]`);
      if (!opens && depth === 0) return;
      depth += 1;
      inner.open(opens ? margin : name, attributes);
    },
    text(text) {
      if (depth > 0) inner.text?.(text);
    },
    close(name) {
      if (depth === 0) return;
      depth -= 1;
      inner.close?.(name);
      if (depth === 0) work.writer.closeNote();
    },
  };
}

/** The XML of the content of an OpenDocument file. @throws NoText if it has a password, or no content */
export function contentOf(archive: Archive, what: string, ending: string): string {
  if (archive.text("META-INF/manifest.xml")?.includes("encryption-data") === true) {
    throw new NoText("FILE_ENCRYPTED", "is encrypted: save it without a password.");
  }
  const content = archive.text("content.xml");
  if (content !== undefined) return content;
  throw new NoText(
    "FILE_FORMAT_INVALID",
    `is no ${what}: save it as ${ending} with the program that made it.`,
  );
}

/** Elements that are no text: numbers of notes, deleted passages, definitions of forms, readings of words. */
const UNREAD = new Set([
  "note-citation",
  "tracked-changes",
  "sequence-decls",
  "number",
  "ruby-text",
  "forms",
]);
/** Elements of a comment beside its words. */
export const UNREAD_IN_COMMENTS: ReadonlySet<string> = new Set([
  "creator",
  "date",
  "creator-initials",
]);
/** Elements that stand beside the paragraph in which they are anchored. */
export const BOXES: ReadonlySet<string> = new Set([
  "text-box",
  "custom-shape",
  "rect",
  "ellipse",
  "polygon",
  "path",
  "caption",
]);
const PICTURES = new Set(["frame", "custom-shape", "rect", "ellipse", "image"]);
const MOST_BLANKS = 100;
/** Most levels of an outline in OpenDocument. */
const MOST_LEVELS = 10;
/** Most repeats of a cell that are written. */
const MOST_REPEATS = 50;

type List = { readonly style: string; readonly counts: number[] };

/** Writes what stands below an element: paragraphs, lists, tables, notes. */
export function contentVisitor(work: OdtWork, root: string): XmlVisitor {
  const { writer, styles, leftOut } = work;
  const kinds: ParagraphKind[] = [];
  /** The open elements, each with its style if it has one. */
  const open: { readonly name: string; readonly style: string | undefined }[] = [];
  const lists: List[] = [];
  const counted = new Map<string, number[]>();
  const outline: number[] = [];
  const controls = new Map<string, string>();
  let label: string | undefined;
  let unread = 0;
  let isBody = false;
  let notes = 0;
  let comments = 0;
  let covered = 0;
  const cells: { readonly span: CellSpan; readonly repeats: number }[] = [];
  const count = (
    counts: number[],
    level: number,
    list: string,
    own: string | undefined,
  ): string | undefined => {
    const start = styles.startOf(list, level);
    for (let outer = 0; outer < level; outer += 1) counts[outer] ??= styles.startOf(list, outer);
    counts[level] = own === undefined ? (counts[level] ?? start - 1) + 1 : startIn(own);
    counts.length = level + 1;
    return styles.labelOf(list, counts);
  };
  const kindOf = (name: string, attributes: XmlAttributes): ParagraphKind => {
    const item = label;
    label = undefined;
    if (name === "h") {
      const level = Math.min(
        Math.max(1, Number(attributes["outline-level"] ?? 1) || 1),
        MOST_LEVELS,
      );
      const isCounted = lists.length === 0 && attributes["is-list-header"] !== "true";
      const own = isCounted ? count(outline, level - 1, OUTLINE, attributes["start-value"]) : item;
      return { kind: "heading", level, label: own === "" ? undefined : own };
    }
    if (item === undefined) return { kind: "plain" };
    return { kind: "item", depth: lists.length - 1, label: item === "" ? undefined : item };
  };
  const openCell = (attributes: XmlAttributes, goesOn: boolean): void => {
    const columns = Number(attributes["number-columns-spanned"] ?? 1) || 1;
    const span = { columns: Math.min(columns, MOST_REPEATS), goesOn };
    covered = columns - 1;
    cells.push({ span, repeats: Number(attributes["number-columns-repeated"] ?? 1) || 1 });
    writer.openCell(span);
  };
  const closeCell = (): void => {
    const { repeats, span } = cells.pop() ?? { repeats: 1, span: { columns: 1, goesOn: false } };
    writer.closeCell();
    for (let more = Math.min(MOST_REPEATS, repeats); more > 1; more -= 1) {
      writer.openCell({ ...span });
      writer.closeCell();
    }
  };
  const isHidden = (): boolean =>
    open.some(({ style }) => styles.styleOf(style)?.isHidden === true);
  const opened: Readonly<Record<string, (attributes: XmlAttributes) => void>> = {
    list: (attributes) => {
      const style = attributes["style-name"] ?? lists.at(-1)?.style ?? "";
      const goesOn = attributes["continue-numbering"] === "true" || "continue-list" in attributes;
      const counts = lists.at(-1)?.counts ?? (goesOn ? counted.get(style) : undefined) ?? [];
      counted.set(style, counts);
      lists.push({ style, counts });
    },
    "list-item": (attributes) => {
      const list = lists.at(-1);
      if (list !== undefined)
        label = count(list.counts, lists.length - 1, list.style, attributes["start-value"]);
    },
    tab: () => {
      writer.add(" ");
    },
    "line-break": () => {
      writer.add("\n");
    },
    s: (attributes) => {
      writer.add(" ".repeat(Math.min(MOST_BLANKS, Number(attributes["c"] ?? 1) || 1)));
    },
    table: writer.openTable,
    "table-row": () => {
      covered = 0;
      writer.openRow();
    },
    "table-cell": (attributes) => {
      openCell(attributes, false);
    },
    note: () => {
      notes += 1;
      writer.add(`[^${notes}]`);
      writer.openNote(`[^${notes}]`);
    },
    annotation: () => {
      comments += 1;
      writer.add(`[comment ${comments}]`);
      writer.openNote(`[comment ${comments}]`);
    },
    image: () => {
      leftOut.add("pictures");
    },
    object: ({ href = "" }) => {
      const part = work.textOf(`${href.replaceAll(/^\.\/|\/$/g, "")}/content.xml`);
      if (part === undefined) leftOut.add("embedded files");
      else addObject(part, work);
    },
    control: ({ control = "" }) => {
      writer.add(controls.get(control) ?? "");
    },
  };
  return {
    open(name, attributes) {
      const parent = open.at(-1)?.name ?? "";
      open.push({ name, style: attributes["style-name"] });
      isBody ||= name === root;
      if (name === "deletion") leftOut.add("deleted passages");
      if (
        /^(?:checkbox|radio|text|textarea|combobox)$/.test(name) &&
        attributes["id"] !== undefined
      )
        controls.set(attributes["id"], controlText(attributes));
      const isDescription = (name === "desc" || name === "title") && PICTURES.has(parent);
      const isOfComment = UNREAD_IN_COMMENTS.has(name) && parent === "annotation";
      const isSecret =
        attributes["is-hidden"] === "true" ||
        (name === "section" && attributes["display"] === "none");
      if (isSecret && unread === 0) leftOut.add("hidden passages");
      if (unread > 0 || isDescription || isOfComment || isSecret || UNREAD.has(name)) {
        unread += 1;
        return;
      }
      if (!isBody) return;
      if (BOXES.has(name)) writer.openBox();
      if (name === "h" || name === "p") kinds.push(kindOf(name, attributes));
      else if (name === "covered-table-cell") {
        if (covered > 0) covered -= Number(attributes["number-columns-repeated"] ?? 1) || 1;
        else {
          openCell(attributes, true);
          closeCell();
          covered = 0;
        }
      } else opened[name]?.(attributes);
    },
    text(text) {
      if (unread > 0 || kinds.length === 0) return;
      if (isHidden()) {
        if (text.trim() !== "") leftOut.add("hidden passages");
        return;
      }
      const shift = styles.styleOf(open.at(-1)?.style)?.shift;
      const words = text.replaceAll(/\s+/g, " ");
      writer.add(markShifted(words, shift));
    },
    close(name) {
      open.pop();
      if (unread > 0) {
        unread -= 1;
        return;
      }
      if (!isBody) return;
      if (BOXES.has(name)) writer.closeBox();
      if (name === "h" || name === "p") writer.endParagraph(kinds.pop() ?? { kind: "plain" });
      else if (name === "list") lists.pop();
      else if (name === "list-item") label = undefined;
      else if (name === "table-cell") closeCell();
      else if (name === "table") writer.closeTable();
      else if (name === "note" || name === "annotation") writer.closeNote();
    },
  };
}

/** The value of a form control: its text, or a check box with its label. */
function controlText(attributes: XmlAttributes): string {
  const { label = "", value = "", "current-value": current = value } = attributes;
  const state = attributes["current-state"] ?? attributes["state"] ?? "unchecked";
  const isBox = "current-state" in attributes || "state" in attributes || label !== "";
  return isBox ? `${state === "checked" || state === "true" ? "☑" : "☐"} ${label}` : current;
}

/** Adds a formula in the notation of its program, or the table of a chart. */
function addObject(xml: string, work: OdtWork): void {
  const { writer, leftOut } = work;
  if (/<(?:\w+:)?math[\s>]/.test(xml)) {
    let isSource = false;
    if (!xml.includes("annotation")) leftOut.add("formulas");
    walkXml(xml, {
      open(name) {
        isSource = name === "annotation";
      },
      text(text) {
        if (isSource) writer.add(` ${text.trim()} `);
      },
      close() {
        isSource = false;
      },
    });
    return;
  }
  writer.openBox();
  walkXml(xml, contentVisitor({ ...work, textOf: () => undefined }, "chart"));
  writer.closeBox();
}
