import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { NoText } from "../documents/reader/text-builder.ts";

type Call = (...values: readonly number[]) => number;

/**
 * The functions of PDFium that are used here, as its header files name them. Handles and pointers into its memory are
 * numbers; 0 means none.
 */
export type Pdfium = Readonly<
  Record<
    | "_FORM_OnAfterLoadPage"
    | "_FPDFAnnot_GetFormFieldValue"
    | "_FPDFAnnot_GetRect"
    | "_FPDFAnnot_GetSubtype"
    | "_FPDFBitmap_CreateEx"
    | "_FPDFBitmap_Destroy"
    | "_FPDFBitmap_FillRect"
    | "_FPDFDOC_InitFormFillEnvironment"
    | "_FPDFFormObj_CountObjects"
    | "_FPDFFormObj_GetObject"
    | "_FPDFImageObj_GetImagePixelSize"
    | "_FPDFPageObj_GetBounds"
    | "_FPDFPageObj_GetType"
    | "_FPDFPage_CloseAnnot"
    | "_FPDFPage_CountObjects"
    | "_FPDFPage_GetAnnot"
    | "_FPDFPage_GetAnnotCount"
    | "_FPDFPage_GetObject"
    | "_FPDFPage_GetRotation"
    | "_FPDFText_ClosePage"
    | "_FPDFText_CountChars"
    | "_FPDFText_GetCharAngle"
    | "_FPDFText_GetCharBox"
    | "_FPDFText_GetUnicode"
    | "_FPDFText_LoadPage"
    | "_FPDF_ClosePage"
    | "_FPDF_FFLDraw"
    | "_FPDF_GetLastError"
    | "_FPDF_GetPageCount"
    | "_FPDF_GetPageHeight"
    | "_FPDF_GetPageHeightF"
    | "_FPDF_GetPageWidth"
    | "_FPDF_GetPageWidthF"
    | "_FPDF_InitLibraryWithConfig"
    | "_FPDF_LoadMemDocument"
    | "_FPDF_LoadPage"
    | "_FPDF_PageToDevice"
    | "_FPDF_RenderPageBitmap"
    | "_free"
    | "_malloc",
    Call
  >
> & {
  readonly HEAPU8: Uint8Array;
  readonly HEAP32: Int32Array;
  readonly HEAPF32: Float32Array;
};

type Start = (options: { readonly wasmBinary: Uint8Array }) => Promise<Pdfium>;

/**
 * Starts an instance per file, so that no file affects the next.
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

/** A document in its own instance of PDFium. */
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
/** The type of a page object that is a picture. */
export const IMAGE = 3;
const GREY_BITMAP = 1;
const WHITE = 0xff_ff_ff_ff;
/** Annotations, such as filled fields and stamps (1); grey (8). */
const RENDER_FLAGS = 0x01 | 0x08;

type Sheet = {
  readonly pdfium: Pdfium;
  readonly page: number;
  /** Handle of the form whose filled-in fields are drawn; null draws none. */
  readonly form: number | null;
};
type Picture = { readonly width: number; readonly height: number; readonly turn: number };

/** Draws a page, turned by `turn` quarters. @returns one byte of grey per pixel, row by row */
export function drawGrey(
  { pdfium, page, form }: Sheet,
  { width, height, turn }: Picture,
): Uint8Array {
  const at = pdfium._malloc(width * height);
  const bitmap = pdfium._FPDFBitmap_CreateEx(width, height, GREY_BITMAP, at, width);
  const place = [bitmap, page, 0, 0, width, height, turn, RENDER_FLAGS] as const;
  pdfium._FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE);
  if (form !== null) pdfium._FORM_OnAfterLoadPage(page, form);
  pdfium._FPDF_RenderPageBitmap(...place);
  if (form !== null) pdfium._FPDF_FFLDraw(form, ...place);
  const pixels = pdfium.HEAPU8.slice(at, at + width * height);
  pdfium._FPDFBitmap_Destroy(bitmap);
  pdfium._free(at);
  return pixels;
}
