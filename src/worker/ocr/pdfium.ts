import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { NoText } from "../documents/reader/text-builder.ts";

type Call = (...values: readonly number[]) => number;

/** Functions that take numbers, as the header files of PDFium name them. */
type Drawn = Readonly<
  Record<
    | "_FPDF_GetPageWidthF"
    | "_FPDF_GetPageHeightF"
    | "_FPDFBitmap_Destroy"
    | "_FPDFPage_GetRotation"
    | "_FPDFDOC_InitFormFillEnvironment"
    | "_FORM_OnAfterLoadPage"
    | "_FPDF_FFLDraw"
    | "_FPDFPage_GetAnnotCount"
    | "_FPDFPage_GetAnnot"
    | "_FPDFPage_CloseAnnot"
    | "_FPDFAnnot_GetSubtype"
    | "_FPDFAnnot_GetRect"
    | "_FPDFAnnot_GetFormFieldValue"
    | "_FPDFText_GetCharAngle"
    | "_FPDFText_GetCharBox"
    | "_free",
    Call
  >
>;

/** The functions of PDFium that are used here. Handles and places in its memory are numbers, and 0 is none. */
export type Pdfium = Drawn & {
  readonly HEAPU8: Uint8Array;
  readonly HEAP32: Int32Array;
  readonly HEAPF32: Float32Array;
  _malloc(bytes: number): number;
  _FPDF_InitLibraryWithConfig(config: number): void;
  _FPDF_LoadMemDocument(bytes: number, length: number, password: number): number;
  _FPDF_GetLastError(): number;
  _FPDF_GetPageCount(document: number): number;
  _FPDF_LoadPage(document: number, index: number): number;
  _FPDF_ClosePage(page: number): void;
  _FPDF_GetPageWidth(page: number): number;
  _FPDF_GetPageHeight(page: number): number;
  _FPDFPage_CountObjects(page: number): number;
  _FPDFPage_GetObject(page: number, index: number): number;
  _FPDFFormObj_CountObjects(form: number): number;
  _FPDFFormObj_GetObject(form: number, index: number): number;
  _FPDFPageObj_GetType(object: number): number;
  _FPDFPageObj_GetBounds(object: number, l: number, b: number, r: number, t: number): number;
  _FPDFImageObj_GetImagePixelSize(object: number, width: number, height: number): number;
  _FPDFBitmap_CreateEx(w: number, h: number, format: number, bytes: number, row: number): number;
  _FPDFBitmap_FillRect(map: number, x: number, y: number, w: number, h: number, c: number): void;
  _FPDFBitmap_GetBuffer(bitmap: number): number;
  _FPDFBitmap_GetStride(bitmap: number): number;
  _FPDF_RenderPageBitmap(
    ...values: readonly [
      ...[bitmap: number, page: number, x: number, y: number, width: number, height: number],
      ...[turn: number, flags: number],
    ]
  ): void;
  _FPDF_PageToDevice(
    ...values: readonly [
      ...[page: number, x: number, y: number, width: number, height: number, turn: number],
      ...[pageX: number, pageY: number, toX: number, toY: number],
    ]
  ): number;
  _FPDFText_LoadPage(page: number): number;
  _FPDFText_ClosePage(text: number): void;
  _FPDFText_CountChars(text: number): number;
  _FPDFText_GetUnicode(text: number, index: number): number;
};

type Start = (options: { readonly wasmBinary: Uint8Array }) => Promise<Pdfium>;

/**
 * Each file gets a memory of its own, so that none leaves anything to the next.
 * @param folder of the package
 */
async function startPdfium(folder: string): Promise<Pdfium> {
  const dist = join(folder, "dist");
  const entry = pathToFileURL(join(dist, "index.esm.js")).href;
  const { PDFiumModule } = (await import(entry)) as { readonly PDFiumModule: Start };
  const pdfium = await PDFiumModule({ wasmBinary: readFileSync(join(dist, "pdfium.wasm")) });
  pdfium._FPDF_InitLibraryWithConfig(0);
  return pdfium;
}

/** A document in a memory of its own. */
export type PdfDocument = { readonly pdfium: Pdfium; readonly document: number };

/**
 * Opens a PDF.
 * @param folder of the package
 * @throws NoText FILE_ENCRYPTED, FILE_FORMAT_INVALID
 */
export async function openPdf(folder: string, bytes: Buffer): Promise<PdfDocument> {
  const pdfium = await startPdfium(folder);
  const place = pdfium._malloc(bytes.length);
  pdfium.HEAPU8.set(bytes, place);
  const document = pdfium._FPDF_LoadMemDocument(place, bytes.length, 0);
  if (document !== 0) return { pdfium, document };
  if (pdfium._FPDF_GetLastError() === ENCRYPTED) {
    throw new NoText("FILE_ENCRYPTED", "is encrypted: save it without a password.");
  }
  throw new NoText(
    "FILE_FORMAT_INVALID",
    "is no whole PDF: save it anew with the program that made it.",
  );
}

const ENCRYPTED = 4;
/** Of an object of a page. */
export const IMAGE = 3;
export const GREY_BITMAP = 1;
export const WHITE = 0xff_ff_ff_ff;
/** With annotations, such as filled fields and stamps; grey. */
export const RENDER_FLAGS = 0x01 | 0x08;
