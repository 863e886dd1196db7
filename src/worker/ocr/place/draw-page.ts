import { NoText } from "../../documents/reader/text-builder.ts";
import type { PageRecord } from "../../../shared/pages/page-record.ts";
import { findWords } from "../../../shared/pages/find-words.ts";
import type { Box, FoundWords, PlacedText, WantedWords } from "../../../shared/pages/find-words.ts";
import { textsIn, wordAt } from "../../../shared/pages/words-of-record.ts";
import { drawGrey, IMAGE, openPdf } from "../pdfium.ts";
import type { Pdfium } from "../pdfium.ts";
import { greyPng } from "./png.ts";
import type { GreyPicture } from "./png.ts";

export type PageToDraw = WantedWords & {
  /** From 1; null if unknown: then the first page with the most of the words is drawn. */
  readonly page: number | null;
  /** Pixels. */
  readonly width: number;
  /** The OCR result of the page; null if it was not read. */
  readonly record: PageRecord | null;
  /** Folder of the PDFium package. */
  readonly pdfium: string;
};

/** A page as it is shown, rotated as its file says. */
export type DrawnPage = FoundWords & {
  readonly kind: "drawn";
  readonly page: number;
  readonly png: Uint8Array;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Points, 72 per inch; the boxes are in points too. */
  readonly points: { readonly width: number; readonly height: number };
};

/** Draws a page of a PDF and finds words on it. Only the parser process calls it. */
export async function drawPage(bytes: Buffer, wanted: PageToDraw): Promise<DrawnPage> {
  const { pdfium, document } = await openPdf(wanted.pdfium, bytes);
  const pages = pdfium._FPDF_GetPageCount(document);
  const form = openForm(pdfium, document);
  const number = wanted.page ?? findPage({ pdfium, document, form, pages }, wanted);
  const page = pdfium._FPDF_LoadPage(document, number - 1);
  if (page === 0)
    throw new NoText(
      "FILE_FORMAT_INVALID",
      `has ${pages} pages, and no page ${number} that can be opened.`,
    );
  const sheet = { pdfium, page, form };
  const points = sizeOf(sheet);
  const turn = (wanted.record?.turned ?? 0) / 90;
  const shown = turn % 2 === 0 ? points : { width: points.height, height: points.width };
  const size = pixelsOf(shown, wanted.width);
  const picture: GreyPicture = { ...size, pixels: drawGrey(sheet, { ...size, turn }) };
  refuseUnreadable(sheet, picture);
  // On a page with a text layer that OCR only checked, the words are those of the layer.
  const layer = findWords(turn === 0 ? textsOf(sheet, shown) : [], wanted);
  const read = findWords(wanted.record ? textsIn(wanted.record, shown, wanted.words) : [], wanted);
  const found = layer.share > read.share ? layer : read;
  return {
    ...{ kind: "drawn", page: number, ...found, points: shown },
    ...{ width: picture.width, height: picture.height, png: greyPng(picture) },
  };
}

/** More than the size of FPDF_FORMFILLINFO; all its callbacks are null. */
const FORM_BYTES = 256;
const FORM_VERSION = 2;

/** Opens the form of a document: without it PDFium draws empty fields. */
function openForm(pdfium: Pdfium, document: number): number {
  const at = pdfium._malloc(FORM_BYTES);
  pdfium.HEAPU8.fill(0, at, at + FORM_BYTES);
  pdfium.HEAPU8[at] = FORM_VERSION;
  return pdfium._FPDFDOC_InitFormFillEnvironment(document, at);
}

type Sheet = { readonly pdfium: Pdfium; readonly page: number; readonly form: number };
type Opened = Omit<Sheet, "page"> & { readonly document: number; readonly pages: number };

/** The most pages that are searched for the words. */
const MOST_PAGES = 300;

function findPage({ pdfium, document, form, pages }: Opened, words: WantedWords): number {
  let best = { number: 1, share: 0 };
  for (let number = 1; number <= Math.min(pages, MOST_PAGES) && best.share < 1; number += 1) {
    const page = pdfium._FPDF_LoadPage(document, number - 1);
    if (page === 0) continue;
    const sheet = { pdfium, page, form };
    const { share } = findWords(textsOf(sheet, sizeOf(sheet)), words);
    if (share > best.share) best = { number, share };
    pdfium._FPDF_ClosePage(page);
  }
  return best.number;
}

type Size = { readonly width: number; readonly height: number };

const sizeOf = ({ pdfium, page }: Sheet): Size => ({
  width: Math.max(1, pdfium._FPDF_GetPageWidthF(page)),
  height: Math.max(1, pdfium._FPDF_GetPageHeightF(page)),
});

/** Of a picture for display: A4 at 200 dpi has 3.9 million pixels. */
const MOST_PIXELS = 8_000_000;
const MOST_SIDE = 8_000;

function pixelsOf({ width, height }: Size, wanted: number): Size {
  const scale = Math.min(
    ...[wanted / width, MOST_SIDE / width, MOST_SIDE / height],
    Math.sqrt(MOST_PIXELS / (width * height)),
  );
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

/** PDFium silently leaves out a picture that it can't decode. */
function refuseUnreadable({ pdfium, page }: Sheet, { pixels }: GreyPicture): void {
  if (pixels.some((pixel) => pixel !== pixels[0])) return;
  const objects = Array.from({ length: pdfium._FPDFPage_CountObjects(page) }, (_, at) =>
    pdfium._FPDFPageObj_GetType(pdfium._FPDFPage_GetObject(page, at)),
  );
  if (!objects.includes(IMAGE)) return;
  throw new NoText("FILE_FORMAT_INVALID", "has a picture on that page which can't be decoded.");
}

const MOST_LETTERS = 200_000;
/** FPDF_PageToDevice returns whole pixels: with so many pixels a side they are precise enough. */
const FINE = 1_000_000;

/** The letters of a page and the values of its fields, in points from its upper left corner. */
function textsOf(sheet: Sheet, size: Size): readonly PlacedText[] {
  const { pdfium, page } = sheet;
  const text = pdfium._FPDFText_LoadPage(page);
  const place = pdfium._malloc(4 * 8);
  const view = (): DataView => new DataView(pdfium.HEAPU8.buffer, place, 4 * 8);
  const corner = (x: number, y: number): readonly [number, number] => {
    pdfium._FPDF_PageToDevice(page, 0, 0, FINE, FINE, 0, x, y, place, place + 4);
    const shares = view();
    return [
      (shares.getInt32(0, true) / FINE) * size.width,
      (shares.getInt32(4, true) / FINE) * size.height,
    ];
  };
  const boxOf = ([left, top, right, bottom]: readonly number[]): Box => {
    const [[x, y], [otherX, otherY]] = [
      corner(left ?? 0, top ?? 0),
      corner(right ?? 0, bottom ?? 0),
    ];
    return [Math.min(x, otherX), Math.min(y, otherY), Math.max(x, otherX), Math.max(y, otherY)];
  };
  const isTurned = pdfium._FPDFPage_GetRotation(page) % 2 === 1;
  const letter = (_: unknown, at: number): PlacedText => {
    const isUpright = Math.abs(Math.sin(pdfium._FPDFText_GetCharAngle(text, at))) < 0.7;
    pdfium._FPDFText_GetCharBox(text, at, place, place + 16, place + 24, place + 8);
    return {
      text: String.fromCodePoint(pdfium._FPDFText_GetUnicode(text, at)),
      box: boxOf([0, 8, 16, 24].map((from) => view().getFloat64(from, true))),
      isSideways: isUpright === isTurned,
    };
  };
  const length = text === 0 ? 0 : Math.min(MOST_LETTERS, pdfium._FPDFText_CountChars(text));
  const letters = Array.from({ length }, letter);
  const values = valuesOf(sheet).flatMap(({ value, rect }) => wordAt(value, boxOf(rect)));
  pdfium._free(place);
  pdfium._FPDFText_ClosePage(text);
  return [...letters, ...values];
}

const FIELD = 20;
const MOST_BYTES = 2_000;

/** The values of the form fields, each with its rectangle on the page. */
function valuesOf({ pdfium, page, form }: Sheet): { value: string; rect: readonly number[] }[] {
  const place = pdfium._malloc(MOST_BYTES);
  const count = Math.min(MOST_LETTERS, pdfium._FPDFPage_GetAnnotCount(page));
  const values = Array.from({ length: count }, (_, at) => {
    const annotation = pdfium._FPDFPage_GetAnnot(page, at);
    const isField = pdfium._FPDFAnnot_GetSubtype(annotation) === FIELD;
    const bytes = isField
      ? pdfium._FPDFAnnot_GetFormFieldValue(form, annotation, place, MOST_BYTES)
      : 0;
    const text = Buffer.from(pdfium.HEAPU8.slice(place, place + Math.min(bytes, MOST_BYTES)));
    pdfium._FPDFAnnot_GetRect(annotation, place);
    const sides = new DataView(pdfium.HEAPU8.buffer, place, 4 * 4);
    const rect = [0, 4, 8, 12].map((from) => sides.getFloat32(from, true));
    pdfium._FPDFPage_CloseAnnot(annotation);
    return { value: text.toString("utf16le").replaceAll("\0", ""), rect };
  });
  pdfium._free(place);
  return values.filter(({ value }) => value !== "");
}
