import { markShifted, shiftOf } from "../../text/list-number.ts";
import type { Shift } from "../../text/list-number.ts";
import type { LeftOutCounter } from "../left-out.ts";
import type { XmlAttributes, XmlVisitor } from "../reader/walk-xml.ts";
import { isOn } from "./docx-styles.ts";
import type { Style } from "./docx-styles.ts";
import type { Numbering } from "./docx-numbering.ts";
import type { FlowWriter, ParagraphKind } from "./flow-writer.ts";
import { openFormula } from "./formula.ts";
import { shownIn, symbolOf } from "./symbol-fonts.ts";

/** State that all parts of one document share. */
export type DocxWork = {
  readonly writer: FlowWriter;
  readonly styleOf: (id: string) => Style;
  readonly numbering: Numbering;
  /** The number of a note in its mark, by its element and the attributes of its mark or its own. */
  readonly numberOf: (element: string, attributes: XmlAttributes) => string;
  readonly leftOut: LeftOutCounter;
  readonly changes: { insertions: number; deletions: number };
};

/** Writes the chart, diagram or embedded document that a part refers to by the id of a relation. */
export type AddReferred = (kind: "chart" | "diagram" | "document", id: string) => void;

type Paragraph = {
  kind: ParagraphKind;
  style: string;
  list: string | undefined;
  listLevel: number | undefined;
  outline: number | undefined;
  /** Its paragraph mark was deleted: the next paragraph continues it. */
  isJoined: boolean;
};
/** A field of a form: a check box, or a list with one chosen entry. */
type Field = { checked?: boolean; chosen?: number; readonly entries: string[] };
type Run = {
  isHidden: boolean | undefined;
  font: string | undefined;
  shift: Shift;
};

/** Elements that stand for characters, or for the mark of a note, where % is its number. */
const LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ tab: " ", ptab: " ", br: "\n", cr: "\n", noBreakHyphen: "-" },
    ...{ footnoteReference: "[^%]", endnoteReference: "[^e%]", commentReference: "[comment %]" },
  }),
);

const DEEPEST_HEADING = 9;
/** Content that repeats other content for older programs, or the formatting before a tracked change. */
const isRepeated = (name: string): boolean =>
  name === "Fallback" || /^[a-z]+[a-zA-Z]*Change$/.test(name);
/** Deleted words are no text; moved words count at their new place. */
const isDeletion = (name: string): boolean => name === "del" || name === "moveFrom";
const isInsertion = (name: string): boolean => name === "ins" || name === "moveTo";
const isProperties = (name: string): boolean => /^(?:rPr|pPr|trPr|sdtPr|sectPr)$/.test(name);

export function docxVisitor(work: DocxWork, addReferred: AddReferred): XmlVisitor {
  const { writer, styleOf, numbering, leftOut, changes } = work;
  const paragraphs: Paragraph[] = [];
  let run: Run = newRun();
  /** How many open elements are skipped, are properties, or are part of a formula. */
  const within = { unread: 0, properties: 0, formula: 0 };
  let formula = openFormula();
  let inText = false;
  let isLastHidden = false;
  let field: Field = { entries: [] };
  let span = { columns: 1, goesOn: false };
  const style = (): Style => styleOf(paragraphs.at(-1)?.style ?? "");
  const add = (text: string): void => {
    if (run.isHidden ?? style().isHidden ?? false) {
      if (!isLastHidden && text.trim() !== "") leftOut.add("hidden passages");
      isLastHidden ||= text.trim() !== "";
      return;
    }
    if (text.trim() !== "") isLastHidden = false;
    writer.add(markShifted(shownIn(run.font, text), run.shift));
  };
  const addBox = (text: string): void => {
    writer.openBox();
    writer.add(text);
    writer.endParagraph({ kind: "plain" });
    writer.closeBox();
  };
  const setStruck = ({ val }: XmlAttributes): void => {
    if (isOn(val)) run.shift = "struck";
  };
  const inProperties: Readonly<Record<string, (attributes: XmlAttributes) => void>> = {
    pStyle: ({ val = "" }) => {
      setOn(paragraphs, { style: val });
    },
    outlineLvl: ({ val }) => {
      setOn(paragraphs, { outline: Number(val) + 1 });
    },
    numId: ({ val }) => {
      setOn(paragraphs, { list: val });
    },
    ilvl: ({ val }) => {
      setOn(paragraphs, { listLevel: Number(val) || 0 });
    },
    rStyle: ({ val = "" }) => void (run.isHidden ??= styleOf(val).isHidden),
    vanish: ({ val }) => void (run.isHidden = isOn(val)),
    rFonts: ({ ascii, hAnsi }) => void (run.font = ascii ?? hAnsi),
    vertAlign: ({ val }) => void (run.shift ??= shiftOf(val)),
    strike: setStruck,
    dstrike: setStruck,
  };
  const opened: Readonly<Record<string, (attributes: XmlAttributes) => void>> = {
    p: () => void paragraphs.push(newParagraph()),
    r: () => void (run = newRun()),
    sym: ({ font, char = "" }) => {
      const sign = symbolOf(font, char);
      if (sign === undefined) leftOut.add("signs of fonts");
      else add(sign);
    },
    ffData: () => void (field = { entries: [] }),
    checked: ({ val }) => void (field.checked = isOn(val)),
    default: ({ val }) => {
      field.checked ??= isOn(val);
      field.chosen ??= Number(val) || 0;
    },
    result: ({ val }) => void (field.chosen = Number(val) || 0),
    listEntry: ({ val = "" }) => void field.entries.push(val),
    tbl: writer.openTable,
    tr: writer.openRow,
    tc: () => {
      span = { columns: 1, goesOn: false };
      writer.openCell(span);
    },
    gridSpan: ({ val }) =>
      void (span.columns = Math.min(MOST_COLUMNS, Math.max(1, Number(val) || 1))),
    vMerge: ({ val }) => void (span.goesOn = val !== "restart"),
    txbxContent: writer.openBox,
    OLEObject: () => {
      leftOut.add("embedded files");
    },
    textpath: ({ string }) => {
      if (string !== undefined) addBox(string);
    },
    chart: ({ id }) => {
      if (id !== undefined) addReferred("chart", id);
    },
    relIds: ({ dm }) => {
      if (dm !== undefined) addReferred("diagram", dm);
    },
    altChunk: ({ id }) => {
      if (id !== undefined) addReferred("document", id);
    },
  };
  const closed: Readonly<Record<string, () => void>> = {
    p: () => {
      isLastHidden = false;
      const { kind, isJoined } = paragraphs.pop() ?? newParagraph();
      if (!isJoined) writer.endParagraph(kind);
    },
    pPr: () => {
      const paragraph = paragraphs.at(-1);
      if (paragraph !== undefined) paragraph.kind = kindOf(paragraph, styleOf, numbering);
    },
    r: () => void (run = newRun()),
    checkBox: () => {
      add(field.checked === true ? "☑" : "☐");
    },
    ddList: () => {
      add(field.entries[field.chosen ?? 0] ?? "");
    },
    tc: writer.closeCell,
    tbl: writer.closeTable,
    txbxContent: writer.closeBox,
  };
  const openFormulaPart = (name: string, attributes: XmlAttributes): void => {
    if (within.formula === 0) formula = openFormula();
    else formula.open(name, attributes);
    within.formula += 1;
  };
  return {
    open(name, attributes) {
      inText = false;
      if (within.unread > 0 || isRepeated(name)) {
        within.unread += 1;
        return;
      }
      if (within.formula > 0 || name === "oMath") {
        openFormulaPart(name, attributes);
        return;
      }
      if (isProperties(name)) within.properties += 1;
      if (within.properties > 0) {
        if (isDeletion(name)) setOn(paragraphs, { isJoined: true });
        inProperties[name]?.(attributes);
        return;
      }
      if (isDeletion(name)) {
        changes.deletions += 1;
        leftOut.add("deleted passages");
      }
      if (isDeletion(name) || name === "rt") {
        within.unread += 1;
        return;
      }
      if (isInsertion(name)) changes.insertions += 1;
      inText = name === "t";
      const letters = LETTERS.get(name)?.replace("%", () =>
        work.numberOf(name.replace("Reference", ""), attributes),
      );
      if (letters !== undefined) add(letters);
      if (name === "blip" || name === "imagedata") leftOut.add("pictures");
      opened[name]?.(attributes);
    },
    text(text) {
      if (within.unread > 0) return;
      if (within.formula > 0) formula.text(text);
      else if (inText) add(text);
    },
    close(name) {
      inText = false;
      if (within.unread > 0) {
        within.unread -= 1;
        return;
      }
      if (within.formula > 0) {
        within.formula -= 1;
        if (within.formula > 0) formula.close?.(name);
        else writer.add(` ${formula.finish()} `);
        return;
      }
      if (isProperties(name)) within.properties -= 1;
      if (within.properties === 0) closed[name]?.();
    },
  };
}

const MOST_COLUMNS = 200;

const newRun = (): Run => ({ isHidden: undefined, font: undefined, shift: undefined });
const newParagraph = (): Paragraph => ({
  kind: { kind: "plain" },
  style: "",
  list: undefined,
  listLevel: undefined,
  outline: undefined,
  isJoined: false,
});

function setOn(paragraphs: readonly Paragraph[], values: Partial<Paragraph>): void {
  const paragraph = paragraphs.at(-1);
  if (paragraph !== undefined) Object.assign(paragraph, values);
}

/** A heading by its outline level, or an item by its list, with the number that the list gives it. */
function kindOf(
  paragraph: Paragraph,
  styleOf: (id: string) => Style,
  numbering: Numbering,
): ParagraphKind {
  const { style: id, outline, isJoined } = paragraph;
  const style = styleOf(id);
  const level = outline ?? style.level;
  const list = paragraph.list ?? style.list;
  const isListed = list !== undefined && list !== "0";
  const depth =
    paragraph.listLevel ??
    style.listLevel ??
    (isListed ? numbering.levelOfStyle(list, id) : 0) ??
    0;
  const label = isListed && !isJoined ? numbering.next(list, depth) : undefined;
  if (level !== undefined && level >= 1 && level <= DEEPEST_HEADING)
    return { kind: "heading", level, label: label === "" ? undefined : label };
  if (!isListed) return { kind: "plain" };
  // A list without numbers or bullets only indents its paragraphs.
  return label === undefined
    ? { kind: "plain" }
    : { kind: "item", depth, label: label === "" ? undefined : label };
}
