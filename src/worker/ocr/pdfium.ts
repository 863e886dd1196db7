import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

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
export async function startPdfium(folder: string): Promise<Pdfium> {
  const dist = join(folder, "dist");
  const entry = pathToFileURL(join(dist, "index.esm.js")).href;
  const { PDFiumModule } = (await import(entry)) as { readonly PDFiumModule: Start };
  const pdfium = await PDFiumModule({ wasmBinary: readFileSync(join(dist, "pdfium.wasm")) });
  pdfium._FPDF_InitLibraryWithConfig(0);
  return pdfium;
}
