import { hasCode } from "../../../shared/store/connection/errors.ts";

type Call = (...args: readonly number[]) => number;

/** What is used of PDFium compiled to WebAssembly: its functions by their names, which take numbers and places in its memory. */
export type Pdfium = Readonly<
  Record<
    | "_FPDF_InitLibrary"
    | "_FPDF_LoadMemDocument"
    | "_FPDF_GetLastError"
    | "_FPDF_GetPageCount"
    | "_FPDF_LoadPage"
    | "_FPDF_ClosePage"
    | "_FPDF_GetPageWidthF"
    | "_FPDF_GetPageHeightF"
    | "_FPDF_PageToDevice"
    | "_FPDF_RenderPageBitmap"
    | "_FPDFBitmap_CreateEx"
    | "_FPDFBitmap_FillRect"
    | "_FPDFBitmap_Destroy"
    | "_FPDFPage_GetRotation"
    | "_FPDFPage_CountObjects"
    | "_FPDFPage_GetObject"
    | "_FPDFPageObj_GetType"
    | "_FPDFDOC_InitFormFillEnvironment"
    | "_FORM_OnAfterLoadPage"
    | "_FPDF_FFLDraw"
    | "_FPDFPage_GetAnnotCount"
    | "_FPDFPage_GetAnnot"
    | "_FPDFPage_CloseAnnot"
    | "_FPDFAnnot_GetSubtype"
    | "_FPDFAnnot_GetRect"
    | "_FPDFAnnot_GetFormFieldValue"
    | "_FPDFText_LoadPage"
    | "_FPDFText_ClosePage"
    | "_FPDFText_CountChars"
    | "_FPDFText_GetUnicode"
    | "_FPDFText_GetCharAngle"
    | "_FPDFText_GetCharBox",
    Call
  >
> & {
  /** Moves when the memory grows: to be read anew after each call. */
  readonly HEAPU8: Uint8Array;
  readonly wasmExports: {
    readonly malloc: (bytes: number) => number;
    readonly free: (at: number) => void;
  };
};

/** An optional dependency, which `nightdesk models setup ocr` installs. */
const PACKAGE: string = "@hyzyla/pdfium";

/** PDFium; undefined where its package is not installed. */
export async function loadPdfium(name = PACKAGE): Promise<Pdfium | undefined> {
  const loaded = (await import(name).catch((error: unknown) => {
    if (hasCode(error, "ERR_MODULE_NOT_FOUND")) return undefined;
    throw error;
  })) as { readonly PDFiumModule: (options: object) => Promise<Pdfium> } | undefined;
  if (loaded === undefined) return undefined;
  const pdfium = await loaded.PDFiumModule({});
  pdfium._FPDF_InitLibrary();
  return pdfium;
}
