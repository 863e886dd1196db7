import type { Glyph } from "./pdf-glyphs.ts";

/** What pdf.js tells of a field of a form, or of a note that somebody added. */
export type Annotation = {
  readonly subtype?: string;
  readonly annotationFlags?: number;
  /** Left, bottom, right, top. */
  readonly rect: readonly number[];
  readonly fieldType?: string | null;
  readonly fieldValue?: unknown;
  readonly password?: boolean;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  readonly exportValue?: string;
  readonly buttonValue?: string | null;
  readonly options?: readonly { readonly exportValue: string; readonly displayValue: string }[];
  readonly contentsObj?: { readonly str: string };
  readonly titleObj?: { readonly str: string };
};

export type Added = {
  /** What fields hold, and what is written over the page, where it stands. */
  readonly glyphs: readonly Glyph[];
  /** Lines of notes that open beside the page. */
  readonly notes: readonly string[];
  readonly fields: number;
  readonly emptyFields: number;
  readonly hidden: number;
};

/** Invisible, hidden, not to be viewed. */
const UNSEEN = 1 | 2 | 32;
const NO_NOTES = new Set(["Link", "Popup", "Widget"]);

/** What annotations add to the text of their page. */
export function readAnnotations(annotations: readonly Annotation[]): Added {
  const glyphs: Glyph[] = [];
  const notes: string[] = [];
  let [fields, emptyFields, hidden] = [0, 0, 0];
  for (const annotation of annotations) {
    const { subtype = "", annotationFlags = 0, contentsObj, titleObj } = annotation;
    const isField = subtype === "Widget";
    const words = isField ? valueOf(annotation) : (contentsObj?.str ?? "").trim();
    const isUnseen = (annotationFlags & UNSEEN) > 0 || annotation.password === true;
    if (isField) fields += 1;
    if (words === "" && isField && !isUnseen && isToFill(annotation)) emptyFields += 1;
    if (words === "" || (!isField && NO_NOTES.has(subtype))) continue;
    if (isUnseen) hidden += isField && words === UNTICKED ? 0 : 1;
    else if (isField || subtype === "FreeText") glyphs.push(...placed(words, annotation));
    else notes.push(noteOf(words, titleObj?.str ?? ""));
  }
  return { glyphs, notes, fields, emptyFields, hidden };
}

const isToFill = ({ fieldType, checkBox, radioButton }: Annotation): boolean =>
  (fieldType === "Tx" || fieldType === "Ch") && checkBox !== true && radioButton !== true;

function valueOf(field: Annotation): string {
  const { fieldType, fieldValue, options = [] } = field;
  if (fieldType === "Btn") return markOf(field);
  if (fieldType !== "Tx" && fieldType !== "Ch") return "";
  const values = Array.isArray(fieldValue) ? (fieldValue as unknown[]) : [fieldValue];
  return values
    .flatMap((value) => (typeof value === "string" ? [value] : []))
    .map((value) => options.find(({ exportValue }) => exportValue === value)?.displayValue ?? value)
    .join(", ")
    .trim();
}

function markOf({
  checkBox,
  radioButton,
  fieldValue,
  exportValue,
  buttonValue,
}: Annotation): string {
  if (checkBox !== true && radioButton !== true) return "";
  // Without a value of its own a box is ticked by any, and a button by none.
  const own = checkBox === true ? (exportValue ?? fieldValue) : buttonValue;
  return typeof fieldValue === "string" && fieldValue !== "Off" && fieldValue === own
    ? "[x]"
    : UNTICKED;
}

const UNTICKED = "[ ]";

/** On one line, as the text of a page is. */
const noteOf = (words: string, author: string): string =>
  `[${["note", author].join(" ").trim()}] ${words.replaceAll(/\s+/gu, " ")}`;

/** Points of a line in a field of several. */
const LARGEST = 12;
const LINE_HEIGHT = 1.2;

/** Each line as one glyph that fills its field from the left. */
function placed(words: string, { rect }: Annotation): Glyph[] {
  const [left = 0, bottom = 0, right = 0, top = 0] = rect;
  const lines = words.split(/\r\n?|\n/u).filter((line) => line.trim() !== "");
  const size = Math.min(LARGEST, ((top - bottom) / Math.max(1, lines.length)) * 0.7 || LARGEST);
  const first = (top + bottom + (lines.length - 1) * size * LINE_HEIGHT) / 2 - size * 0.35;
  return lines.map((line, at) => ({
    text: line.trim(),
    x: left + 1,
    end: Math.max(left + 2, Math.min(right, left + line.length * size * 0.5)),
    y: first - at * size * LINE_HEIGHT,
    size,
    opens: true,
  }));
}
