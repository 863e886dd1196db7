import { dirname } from "node:path";
import { pictureTypeOf } from "../../../shared/files/picture-data.ts";
import type { PagePicture } from "../../../shared/files/page-pictures.ts";
import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { readOnceInChild } from "../../documents/reader/reader.ts";
import type { ReaderLimits } from "../../documents/reader/reader.ts";
import { quotePath } from "../../sandbox/names.ts";
import type { PageRecord } from "../../../shared/pages/page-record.ts";
import { doubtfulFigures, containsMiddle } from "../../../shared/pages/figures-of-page.ts";
import type { DoubtfulFigure } from "../../../shared/pages/figures-of-page.ts";
import { scaleBox, shownSize, textsIn, unturnBox } from "../../../shared/pages/words-of-record.ts";
import { isPdf, isTiff } from "../read-head.ts";
import type { DrawnFrame, FrameToDraw } from "./draw-frame.ts";
import type { DrawnPage, PageToDraw } from "./draw-page.ts";
import { findWords } from "../../../shared/pages/find-words.ts";
import type { Box } from "../../../shared/pages/find-words.ts";

type Wanted = Omit<PageToDraw, "pdfium"> & {
  /** Folder of the PDFium package; undefined if it is not installed. */
  readonly pdfium: string | undefined;
  /** Draws frames of TIFF; undefined if it is not installed. */
  readonly frames: Pick<FrameToDraw, "core" | "model"> | undefined;
};

type FileToShow = { readonly path: string; readonly bytes: Buffer };

/** The page of a file with the boxes of the wanted words, or why it has no picture. */
export async function pictureOf(
  { path, bytes }: FileToShow,
  { pdfium, frames, ...wanted }: Wanted,
  limits: Omit<ReaderLimits, "text">,
): Promise<PagePicture | Refusal> {
  if (isPdf(bytes)) {
    return pdfium === undefined
      ? refuse("TOOL_UNAVAILABLE", NOT_INSTALLED)
      : drawPdfPage({ path, bytes }, { ...wanted, pdfium }, limits);
  }
  const type = pictureTypeOf(bytes);
  if (type === undefined && !isTiff(bytes)) {
    return refuse(
      "INVALID_ARGS",
      `${quotePath(path)} has no pages that could be drawn: its words are all that there is to show.`,
    );
  }
  const { record } = wanted;
  if (record === null) {
    return refuse("NO_TEXT_LAYER", `${quotePath(path)} is a picture of which no words were read.`);
  }
  if (type !== undefined) return ownPicture({ type, bytes }, record, wanted);
  if (frames === undefined) return refuse("TOOL_UNAVAILABLE", NOT_INSTALLED);
  const frame = wanted.page ?? 1;
  const drawn = await drawInChild<DrawnFrame>(
    { path, bytes },
    { by: ["draw-frame", "drawFrame"], wanted: { ...frames, frame } satisfies FrameToDraw },
    { ...limits, readable: [frames.core, dirname(frames.model)] },
  );
  if (drawn.kind === "refused") return drawn;
  const png = { type: "image/png", bytes: Buffer.from(drawn.png) } as const;
  return { ...ownPicture(png, record, wanted), page: frame };
}

const NOT_INSTALLED = "Pages can't be drawn here: run nightdesk models setup ocr.";

type Drawing = { readonly by: readonly [module: string, name: string]; readonly wanted: object };

/** Draws a file in a separate process, by a function of a module of this folder. */
async function drawInChild<Drawn extends { readonly kind: "drawn" }>(
  { path, bytes }: FileToShow,
  { by: [module, name], wanted }: Drawing,
  limits: Omit<ReaderLimits, "text"> & { readonly readable: readonly string[] },
): Promise<Drawn | Refusal> {
  const home = import.meta.url.replace(/page-picture(?=\.[jt]s$)/, module);
  const drawn = await readOnceInChild<Drawn>({ home, name, bytes, limits: wanted }, limits);
  return drawn.kind === "unreadable"
    ? refuse(drawn.code, `${quotePath(path)} ${drawn.why}`)
    : drawn;
}

async function drawPdfPage(
  file: FileToShow,
  wanted: PageToDraw,
  limits: Omit<ReaderLimits, "text">,
): Promise<PagePicture | Refusal> {
  const readable = { ...limits, readable: [wanted.pdfium] };
  const drawing: Drawing = { by: ["draw-page", "drawPage"], wanted };
  const drawn = await drawInChild<DrawnPage>(file, drawing, readable);
  if (drawn.kind === "refused") return drawn;
  const { png, points, page, width, height, boxes, share, times } = drawn;
  return {
    ...{ kind: "picture", type: "image/png", bytes: Buffer.from(png) },
    ...{ page, width, height, share, times },
    size: { unit: "points", ...points },
    boxes: boxes.map(([...box]) => box),
  };
}

/** The unchanged picture file: a browser decodes it and turns it by its EXIF orientation. */
function ownPicture(
  { type, bytes }: Pick<PagePicture, "type" | "bytes">,
  record: PageRecord,
  wanted: Omit<PageToDraw, "pdfium">,
): PagePicture {
  const { boxes, share, times } = findWords(textsIn(record, record.picture, wanted.words), wanted);
  const size = shownSize(record);
  return {
    ...{ kind: "picture", type, bytes, page: null, ...size, share, times },
    size: { unit: "pixels", ...size },
    boxes: boxes.map((box) => unturnBox(box, record)),
  };
}

/** The doubtful figures among the marked words, with their boxes on the picture. */
export const doubtsOn = (
  { boxes, size }: Pick<PagePicture, "boxes" | "size">,
  record: PageRecord,
): readonly ShownDoubt[] =>
  doubtfulFigures(record)
    .map((doubt) => {
      const { box } = doubt;
      const isDrawn = size.unit === "points";
      return {
        ...doubt,
        shown: isDrawn ? scaleBox(box, record.picture, size) : unturnBox(box, record),
      };
    })
    .filter(({ shown }) => boxes.some((box) => containsMiddle(box, shown)));

export type ShownDoubt = DoubtfulFigure & { readonly shown: Box };
