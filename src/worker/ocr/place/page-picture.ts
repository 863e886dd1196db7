import { pictureTypeOf } from "../../../shared/files/picture-data.ts";
import type { PagePicture } from "../../../shared/files/page-pictures.ts";
import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { readOnceInChild } from "../../documents/reader/reader.ts";
import type { ReaderLimits } from "../../documents/reader/reader.ts";
import { quotePath } from "../../sandbox/names.ts";
import type { PageRecord } from "../../../shared/pages/page-record.ts";
import { doubtfulFigures, holds } from "../../../shared/pages/figures-of-page.ts";
import type { DoubtfulFigure } from "../../../shared/pages/figures-of-page.ts";
import { scaled, shownSize, textsIn, turnBack } from "../../../shared/pages/words-of-record.ts";
import type { DrawnPage, PageToDraw } from "./draw-page.ts";
import { findWords } from "../../../shared/pages/find-words.ts";
import type { Box } from "../../../shared/pages/find-words.ts";

type Wanted = Omit<PageToDraw, "pdfium"> & {
  /** Folder of the package that draws pages; undefined where it is not installed. */
  readonly pdfium: string | undefined;
};

type FileToShow = { readonly path: string; readonly bytes: Buffer };

/** The page of a file with the words marked on it, or why there is no picture of it. */
export async function pictureOf(
  { path, bytes }: FileToShow,
  { pdfium, ...wanted }: Wanted,
  limits: Omit<ReaderLimits, "text">,
): Promise<PagePicture | Refusal> {
  if (bytes.subarray(0, 1_024).includes("%PDF-")) {
    return pdfium === undefined
      ? refuse("TOOL_UNAVAILABLE", "Pages can't be drawn here: run nightdesk models setup ocr.")
      : pageOf({ path, bytes }, { ...wanted, pdfium }, limits);
  }
  const type = pictureTypeOf(bytes);
  if (type === undefined) {
    return refuse(
      "INVALID_ARGS",
      `${quotePath(path)} has no pages that could be drawn: its words are all that there is to show.`,
    );
  }
  const { record } = wanted;
  if (record === null) {
    return refuse("NO_TEXT_LAYER", `${quotePath(path)} is a picture of which no words were read.`);
  }
  return ownPicture({ type, bytes }, record, wanted);
}

async function pageOf(
  { path, bytes }: FileToShow,
  wanted: PageToDraw,
  limits: Omit<ReaderLimits, "text">,
): Promise<PagePicture | Refusal> {
  const home = import.meta.url.replace(/page-picture(?=\.[jt]s$)/, "draw-page");
  const request = { home, name: "drawPage", bytes, limits: wanted };
  const readable = { ...limits, readable: [wanted.pdfium] };
  const drawn = await readOnceInChild<DrawnPage>(request, readable);
  switch (drawn.kind) {
    case "unreadable":
      return refuse(drawn.code, `${quotePath(path)} ${drawn.why}`);
    case "drawn": {
      const { png, points, page, width, height, boxes, share, times } = drawn;
      return {
        ...{
          kind: "picture",
          type: "image/png",
          bytes: Buffer.from(png),
          page,
          width,
          height,
          share,
          times,
        },
        size: { unit: "points", ...points },
        boxes: boxes.map(([...box]) => box),
      };
    }
  }
}

/** A picture file as it is: a browser decodes it and turns it as its camera says. */
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
    boxes: boxes.map((box) => turnBack(box, record)),
  };
}

/** Figures among the marked words that were not read for sure, with their boxes on the picture. */
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
        shown: isDrawn ? scaled(box, record.picture, size) : turnBack(box, record),
      };
    })
    .filter(({ shown }) => boxes.some((box) => holds(box, shown)));

export type ShownDoubt = DoubtfulFigure & { readonly shown: Box };
