import { MOST_PIXELS, LONGEST_SIDE } from "./read-head.ts";
import { unreadable } from "./picture-head.ts";
import type { UnreadablePage } from "./page-outcome.ts";
import { drawGrey, IMAGE, openPdf } from "./pdfium.ts";
import type { Pdfium } from "./pdfium.ts";

/** A drawn page of a PDF: a grey picture in PNM format. */
export type DrawnPage = {
  readonly kind: "drawn";
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
  readonly dpi: number;
};

/** Enough for letters of 9 points; more only costs time. */
const DPI = 200;
/** Below it, letters of 10 points can't be read. */
const FEWEST_DPI = 75;
const POINTS = 72;
const MOST_IMAGE_PIXELS = 100_000_000;

/**
 * Draws a page, or returns why it can't: a page of one colour that holds a picture was not decoded, and is not empty.
 * @param number from 1
 */
export async function drawPdfPage(
  folder: string,
  bytes: Buffer,
  number: number,
): Promise<DrawnPage | UnreadablePage> {
  const { pdfium, document } = await openPdf(folder, bytes);
  const page = pdfium._FPDF_LoadPage(document, number - 1);
  if (page === 0) return unreadable("holds no page of that number that can be read.");
  const points = sizeOf(pdfium, page);
  const scale = scaleOf(points);
  if (scale * POINTS < FEWEST_DPI) {
    const metres = points.map((side) => Math.round((side / POINTS) * 0.0254));
    return unreadable(
      `has a page of ${metres.join(" x ")} m, of which no picture can be made: print it to a smaller one.`,
    );
  }
  const size = points.map((side) => Math.max(1, Math.floor(side * scale))) as unknown as Size;
  const images = imagesOf(pdfium, page, size);
  if (images.some(({ pixels }) => pixels > MOST_IMAGE_PIXELS)) {
    return unreadable(
      `holds a picture of more than ${MOST_IMAGE_PIXELS / 1e6} megapixels: scan it at 300 dpi.`,
    );
  }
  const [width, height] = size;
  const pixels = drawGrey({ pdfium, page, form: null }, { width, height, turn: 0 });
  const drawn: DrawnPage = {
    kind: "drawn",
    bytes: Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]),
    ...{ width, height, dpi: Math.round(scale * POINTS) },
  };
  const isBlank = images.some(
    (image) => shareOf(image, size) > HALF && isOneColour(drawn, image.part),
  );
  return isBlank || (images.length > 0 && isOneColour(drawn, [0, 0, ...size]))
    ? unreadable("holds a picture that can't be read: scan it anew, or save it as JPEG or PNG.")
    : drawn;
}

type Size = readonly [width: number, height: number];

const sizeOf = (pdfium: Pdfium, page: number): Size => [
  pdfium._FPDF_GetPageWidth(page),
  pdfium._FPDF_GetPageHeight(page),
];

/** Pixels per point. */
const scaleOf = ([width, height]: Size): number =>
  Math.min(
    DPI / POINTS,
    Math.sqrt(MOST_PIXELS / (width * height)),
    LONGEST_SIDE / Math.max(width, height),
  );

/** A picture on a page: its corners in pixels of the drawn page, and its own number of pixels. */
type Image = { readonly part: Part; readonly pixels: number };
type Part = readonly [left: number, top: number, right: number, bottom: number];

const FORM = 5;
const DEEPEST_FORM = 6;
const MOST_OBJECTS = 200_000;

function imagesOf(pdfium: Pdfium, page: number, size: Size): Image[] {
  const images: Image[] = [];
  const values = pdfium._malloc(16);
  let visited = 0;
  const visitObject = (object: number, depth: number): void => {
    visited += 1;
    const type = pdfium._FPDFPageObj_GetType(object);
    if (type === IMAGE) {
      images.push({
        pixels: pixelsOf(pdfium, object, values),
        part: partOf(pdfium, [page, object, values], size),
      });
    }
    if (type !== FORM || depth > DEEPEST_FORM) return;
    const count = pdfium._FPDFFormObj_CountObjects(object);
    for (let at = 0; at < count && visited < MOST_OBJECTS; at += 1) {
      visitObject(pdfium._FPDFFormObj_GetObject(object, at), depth + 1);
    }
  };
  const count = pdfium._FPDFPage_CountObjects(page);
  for (let at = 0; at < count && visited < MOST_OBJECTS; at += 1) {
    visitObject(pdfium._FPDFPage_GetObject(page, at), 0);
  }
  return images;
}

function pixelsOf(pdfium: Pdfium, object: number, values: number): number {
  if (pdfium._FPDFImageObj_GetImagePixelSize(object, values, values + 4) === 0) return 0;
  const [width = 0, height = 0] = pdfium.HEAP32.subarray(values / 4, values / 4 + 2);
  // PDFium writes unsigned numbers.
  return (width >>> 0) * (height >>> 0);
}

function partOf(
  pdfium: Pdfium,
  [page, object, values]: readonly [number, number, number],
  [width, height]: Size,
): Part {
  pdfium._FPDFPageObj_GetBounds(object, values, values + 4, values + 8, values + 12);
  const [left = 0, bottom = 0, right = 0, top = 0] = pdfium.HEAPF32.subarray(
    values / 4,
    values / 4 + 4,
  );
  const corners = (
    [
      [left, top],
      [right, bottom],
    ] as const
  ).map(([x, y]) => {
    pdfium._FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, values, values + 4);
    const [toX = 0, toY = 0] = pdfium.HEAP32.subarray(values / 4, values / 4 + 2);
    return [Math.min(Math.max(toX, 0), width), Math.min(Math.max(toY, 0), height)] as const;
  });
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** The share of a page. */
const HALF = 0.5;

const shareOf = ({ part: [left, top, right, bottom] }: Image, [width, height]: Size): number =>
  ((right - left) * (bottom - top)) / (width * height);

/** Ignores the edges of the part, where its neighbours may show. */
function isOneColour({ bytes, width, height }: DrawnPage, part: Part): boolean {
  const pixels = bytes.subarray(bytes.length - width * height);
  const [left, top, right, bottom] = part;
  let first: number | undefined;
  for (let y = top + EDGE; y < bottom - EDGE; y += 1) {
    for (let x = left + EDGE; x < right - EDGE; x += 1) {
      first ??= pixels[y * width + x];
      if (pixels[y * width + x] !== first) return false;
    }
  }
  return first !== undefined;
}

const EDGE = 2;
