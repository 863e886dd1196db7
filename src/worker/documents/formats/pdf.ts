import { NoText, openTextBuilder, tooMany } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { PDFDocumentProxy } from "unpdf/pdfjs";
import { LAYERED_PAGES } from "../extraction.ts";
import type { Extraction, FileMetadata, LeftOut } from "../extraction.ts";
import { PAGE_BREAK } from "./page-blocks.ts";
import { countedOut, PICTURED_PAGES } from "../left-out.ts";
import { readAnnotations } from "./pdf-annotations.ts";
import type { Added, Annotation } from "./pdf-annotations.ts";
import { drawPage } from "./pdf-canvas.ts";
import { readFrames } from "./pdf-frames.ts";
import type { Drawing } from "./pdf-frames.ts";
import type { DrawnFont } from "./pdf-glyphs.ts";
import { joinHyphens, wordsOf } from "./pdf-hyphens.ts";
import { frameLines } from "./pdf-layout.ts";
import type { Box } from "./pdf-shapes.ts";

/** Adds `transferToFixedLength`, which pdf.js needs to pass fonts on and Node 20 lacks. */
function addTransfer(): void {
  const prototype = ArrayBuffer.prototype as ArrayBuffer & {
    transferToFixedLength?: (length: number) => ArrayBuffer;
  };
  prototype.transferToFixedLength ??= function (this: ArrayBuffer, length: number) {
    return this.slice(0, length);
  };
}

export async function readPdf(bytes: Buffer, limits: TextLimits): Promise<Extraction> {
  addTransfer();
  const { getDocumentProxy, getResolvedPDFJS } = await import("unpdf");
  const { OPS } = await getResolvedPDFJS();
  const names: string[] = [];
  for (const [name, number] of Object.entries(OPS)) names[number] = name;
  const document = await openPdf(() => getDocumentProxy(new Uint8Array(bytes), OPTIONS));
  try {
    if (document.numPages > limits.pages) throw tooMany("pages", limits.pages, "max_pages");
    const opened = { document, names, layers: await document.getOptionalContentConfig() };
    const pages: PageText[] = [];
    for (let number = 1; number <= document.numPages; number += 1) {
      pages.push(await readPage(opened, number));
    }
    const { info } = await document.getMetadata().catch((): Info => ({ info: {} }));
    refuseTextless(pages, { isXfa: (info as { IsXFAPresent?: unknown }).IsXFAPresent === true });
    const builder = openTextBuilder(limits);
    const known = wordsOf(pages.flatMap(({ lines }) => lines));
    pages.forEach(({ lines }, at) => {
      if (at > 0) builder.add(`\n\n${PAGE_BREAK}\n\n`);
      builder.place({ page: at + 1 });
      builder.add(joinHyphens(lines, known).join("\n").replaceAll(PAGE_BREAK, ""));
    });
    const pictured = picturedIn(pages);
    const layered = layeredIn(pages, pictured);
    const empty = pages.flatMap(({ lines }, at) => (lines.length === 0 ? [String(at + 1)] : []));
    return {
      ...builder.finish({
        ...propertiesOf(info),
        pages: document.numPages,
        ...(empty.length === 0 ? {} : { pages_without_text: empty }),
        ...(layered.length === 0 ? {} : { [LAYERED_PAGES]: layered.map(String) }),
      }),
      ...countedOut(leftOutOf(pages, pictured)),
      ...{ pictured, layered },
    };
  } finally {
    await document.destroy();
  }
}

/** Letters beside a picture; fewer are a page number or a stamp of the scanner. */
const FEWEST_LETTERS = 10;
/** If more than a fifth of the letters of a page name no character, OCR reads the page. */
const UNREADABLE_SHARE = 5;

/** The pages, from 1, whose words are in a picture, or in a font that names no letters. */
const picturedIn = (pages: readonly PageText[]): readonly number[] =>
  pages.flatMap(({ lines, drawing: { pictures, letters } }, at) => {
    const isPicture = pictures > 0 && lines.join("").replace(/\s+/g, "").length < FEWEST_LETTERS;
    const isNameless = letters.unreadable * UNREADABLE_SHARE > letters.unreadable + letters.shown;
    return isPicture || isNameless ? [at + 1] : [];
  });

const HALF = 0.5;

/** The pages, from 1, with a digit in a text layer that lies on a picture of its words, as scanners write it. */
const layeredIn = (pages: readonly PageText[], pictured: readonly number[]): readonly number[] =>
  pages.flatMap(({ lines, drawing: { layer } }, at) => {
    const isLayer = layer.letters >= FEWEST_LETTERS && layer.share > HALF;
    return isLayer && !pictured.includes(at + 1) && /\p{Nd}/u.test(lines.join("")) ? [at + 1] : [];
  });

type Opened = {
  readonly document: PDFDocumentProxy;
  readonly names: readonly string[];
  readonly layers: { isVisible(layer: unknown): boolean };
};

type PageText = {
  readonly lines: readonly string[];
  readonly drawing: Omit<Drawing, "frames">;
  readonly added: Omit<Added, "glyphs" | "notes">;
};

async function readPage({ document, names, layers }: Opened, number: number): Promise<PageText> {
  const page = await document.getPage(number);
  const { glyphs, notes, ...added } = readAnnotations(
    (await page.getAnnotations()) as Annotation[],
  );
  const { fnArray, argsArray } = await page.getOperatorList({ annotationMode: 0 });
  const canvas = drawPage({
    operations: fnArray,
    args: argsArray as (readonly unknown[] | null)[],
    names,
    view: page.view as unknown as Box,
    fontOf: (id) => (page.commonObjs.has(id) ? (page.commonObjs.get(id) as DrawnFont) : undefined),
    isShown: (layer) => layers.isVisible(layer),
  });
  const { frames, ...drawing } = readFrames(canvas);
  page.cleanup();
  const [first = { glyphs: [], rules: [] }, ...turned] = frames;
  const filled = [{ ...first, glyphs: [...first.glyphs, ...glyphs] }, ...turned];
  const lines = [...filled.flatMap(frameLines), ...notes];
  return { lines: lines.join("").trim() === "" ? [] : lines, drawing, added };
}

/** Counts the content that a person sees on the pages and the text lacks. */
function leftOutOf(pages: readonly PageText[], pictured: readonly number[]): LeftOut {
  const sum = (count: (page: PageText) => number): number =>
    pages.reduce((all, page) => all + count(page), 0);
  return {
    pictures: sum(({ drawing }) => drawing.pictures),
    "hidden passages": sum(({ drawing, added }) => drawing.hidden + added.hidden),
    "unreadable passages": sum(({ drawing }) => drawing.unreadable),
    "form fields without a value": sum(({ added }) => added.emptyFields),
    [PICTURED_PAGES]: pictured.length,
    "pages without text": pages.filter(
      ({ lines }, at) => lines.length === 0 && !pictured.includes(at + 1),
    ).length,
  };
}

function refuseTextless(pages: readonly PageText[], { isXfa }: { readonly isXfa: boolean }): void {
  if (isXfa && pages.every(({ added }) => added.fields === 0)) {
    throw new NoText(
      "NO_TEXT_LAYER",
      "is an XFA form, which draws itself in Adobe's programs alone: open it there and print it to a new PDF.",
    );
  }
  const letters = pages.map(({ drawing }) => drawing.letters);
  if (letters.reduce((lead, { unreadable, shown }) => lead + unreadable - shown, 0) > 0) {
    throw new NoText(
      "NO_TEXT_LAYER",
      "has fonts that do not say which letters they draw (no ToUnicode): export it anew, or set index.ocr and run nightdesk index --ocr.",
      { pictured: picturedIn(pages), pages: pages.length },
    );
  }
  if (pages.every(({ lines }) => lines.length === 0)) {
    throw new NoText(
      "NO_TEXT_LAYER",
      "holds pictures of pages and no text, as a scan does: set index.ocr, and run nightdesk index --ocr.",
      { pictured: picturedIn(pages), pages: pages.length },
    );
  }
}

/** Options of pdf.js. Pictures are not decoded, because only their place matters. */
const OPTIONS = {
  verbosity: 0,
  isEvalSupported: false,
  useSystemFonts: false,
  stopAtErrors: false,
  disableFontFace: false,
  fontExtraProperties: true,
  maxImageSize: 0,
};

async function openPdf<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException") {
      throw new NoText("FILE_ENCRYPTED", "is encrypted: save it without a password.");
    }
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "is no whole PDF: save it anew with the program that made it.",
    );
  }
}

type Info = { readonly info: object };

function propertiesOf(info: object): FileMetadata {
  const { Title, Author, CreationDate, ModDate } = info as Readonly<Record<string, unknown>>;
  const properties = {
    title: wordsOfProperty(Title),
    author: wordsOfProperty(Author),
    created: dayOf(CreationDate),
    modified: dayOf(ModDate),
  };
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== ""));
}

const wordsOfProperty = (value: unknown): string =>
  typeof value === "string" ? value.trim().slice(0, 300) : "";

function dayOf(date: unknown): string {
  const day = typeof date === "string" ? /^(?:D:)?(\d{4})(\d{2})(\d{2})/.exec(date) : null;
  return day?.slice(1).join("-") ?? "";
}
