import { writeObjects } from "./format-writers.ts";

// Pages as programs draw them: text at its place, in its size, turned, spaced, in colours; rules, pictures, fields and notes.

export type PageDrawing = {
  readonly content: string;
  /** Dictionaries of annotations. */
  readonly annotations?: readonly string[];
  /** More entries of the page. */
  readonly more?: string;
};

type Style = {
  readonly size?: number;
  /** Of letters behind each other, in points. */
  readonly spacing?: number;
  /** Of red, green and blue, each up to 1. */
  readonly colour?: string;
  readonly mode?: number;
  /** Degrees, of 0, 90, 180, 270. */
  readonly turn?: 0 | 90 | 180 | 270;
  /** Helvetica, Courier. */
  readonly font?: "F1" | "F2";
};

const TURNS = { 0: "1 0 0 1", 90: "0 1 -1 0", 180: "-1 0 0 -1", 270: "0 -1 1 0" };

export function put(x: number, y: number, text: string, style: Style = {}): string {
  const { size = 10, spacing = 0, colour = "0 0 0", mode = 0, turn = 0, font = "F1" } = style;
  return (
    `q BT /${font} ${size} Tf ${spacing} Tc ${mode} Tr ${colour} rg ${TURNS[turn]} ${x} ${y} Tm ` +
    `${literal(text)} Tj ET Q\n`
  );
}

/** Widths of Helvetica, in thousandths of its size; of others about those of small letters. */
const WIDTHS: Readonly<Record<string, number>> = { " ": 278, ".": 278, ",": 278, "-": 333 };

export const widthOf = (text: string, size = 10): number =>
  Array.from(text).reduce((sum, letter) => sum + (WIDTHS[letter] ?? 556), 0) * (size / 1_000);

/** Ends at a place, as figures of a column do. */
export const putRight = (end: number, y: number, text: string, style: Style = {}): string =>
  put(end - widthOf(text, style.size), y, text, style);

/** @param rect left, bottom, width, height */
export const box = (rect: readonly number[], colour: string): string =>
  `q ${colour} rg ${rect.join(" ")} re f Q\n`;

export const rule = (x: number, y: number, toX: number, toY: number): string =>
  `q 0.5 w ${x} ${y} m ${toX} ${toY} l S Q\n`;

/** Text in a font whose map gives each of these letters to the codes from "A" on. */
export const putMapped = (x: number, y: number, codes: string, size = 10): string =>
  `q BT /F3 ${size} Tf ${x} ${y} Td (${codes}) Tj ET Q\n`;

/** Text in a font of two bytes a letter, which names none: numbers of glyphs. */
export const putUnmapped = (x: number, y: number, text: string): string =>
  `q BT /F4 10 Tf ${x} ${y} Td <${Array.from(text, (letter) =>
    (letter.charCodeAt(0) - 29).toString(16).padStart(4, "0"),
  ).join("")}> Tj ET Q\n`;

/** One black point, stretched. */
export const picture = (x: number, y: number, width: number, height: number): string =>
  `q ${width} 0 0 ${height} ${x} ${y} cm BI /W 1 /H 1 /CS /G /BPC 8 ID \u0000 EI Q\n`;

export const field = (name: string, value: string, rect: readonly number[]): string =>
  `<< /Type /Annot /Subtype /Widget /FT /Tx /T ${literal(name)} /V ${literal(value)} /Rect [${rect.join(" ")}] /F 4 >>`;

export const checkBox = (name: string, isOn: boolean, rect: readonly number[]): string =>
  `<< /Type /Annot /Subtype /Widget /FT /Btn /T ${literal(name)} /V /${isOn ? "Yes" : "Off"} /AS /${isOn ? "Yes" : "Off"} ` +
  `/AP << /N << /Yes 5 0 R /Off 5 0 R >> >> /Rect [${rect.join(" ")}] /F 4 >>`;

export const note = (
  kind: "Text" | "FreeText",
  by: string,
  words: string,
  rect: readonly number[],
): string =>
  `<< /Type /Annot /Subtype /${kind} /T ${literal(by)} /Contents ${literal(words)} /Rect [${rect.join(" ")}] /DA (/F1 10 Tf) >>`;

type Whole = {
  /** More entries of the catalogue. */
  readonly catalogue?: string;
  readonly form?: string;
  /** What the third font maps "A", "B", "C" … to. */
  readonly letters?: readonly string[];
};

export function writePages(
  pages: readonly PageDrawing[],
  { catalogue = "", form = "", letters = [] }: Whole = {},
): Buffer {
  const map = mapOf(letters);
  const fields = pages.flatMap(({ annotations = [] }) =>
    annotations.filter((one) => one.includes("/Widget")),
  );
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${catalogue} ${fields.length + form.length === 0 ? "" : `/AcroForm << /Fields [${fields.join(" ")}] ${form} >>`} >>`,
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${FIRST_PAGE + at * 2} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    "<< /CreationDate (D:20260105080000Z) >>",
    "<< /Type /XObject /Subtype /Form /BBox [0 0 10 10] /Length 0 >>\nstream\n\nendstream",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 8 0 R >>",
    `<< /Length ${map.length} >>\nstream\n${map}\nendstream`,
    "<< /Type /Font /Subtype /Type0 /BaseFont /Own /Encoding /Identity-H /DescendantFonts [10 0 R] >>",
    "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Own /DW 500 /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
  ];
  pages.forEach(({ content, annotations = [], more = "" }, at) => {
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${FIRST_PAGE + 1 + at * 2} 0 R ` +
        `/Resources << /Font << /F1 3 0 R /F2 6 0 R /F3 7 0 R /F4 9 0 R >> >> /Annots [${annotations.join(" ")}] ${more} >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    );
  });
  return writeObjects(objects);
}

const FIRST_PAGE = 11;

const mapOf = (letters: readonly string[]): string =>
  "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def " +
  "1 begincodespacerange <00> <FF> endcodespacerange\n" +
  `${letters.length} beginbfchar\n${letters
    .map((text, at) => {
      const units = Array.from({ length: text.length }, (_, unit) =>
        text.charCodeAt(unit).toString(16).padStart(4, "0"),
      );
      return `<${(65 + at).toString(16)}> <${units.join("")}>\n`;
    })
    .join("")}endbfchar endcmap end end`;

const WINDOWS: Readonly<Record<string, string>> = { "€": "\u0080", "–": "\u0096" };

const literal = (text: string): string =>
  `(${Array.from(text, (letter) => {
    if ("()\\".includes(letter)) return `\\${letter}`;
    const code = (WINDOWS[letter] ?? letter).charCodeAt(0);
    return code < 128 ? letter : `\\${code.toString(8)}`;
  }).join("")})`;
