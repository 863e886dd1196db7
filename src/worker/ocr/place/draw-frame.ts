import { NoText } from "../../documents/reader/text-builder.ts";
import { readPictureHead } from "../read-head.ts";
import { startEngine } from "../tesseract.ts";

export type FrameToDraw = {
  /** From 1. */
  readonly frame: number;
  /** Folder of the Tesseract package. Its decoder starts only with a model. */
  readonly core: string;
  readonly model: string;
};

export type DrawnFrame = { readonly kind: "drawn"; readonly png: Uint8Array };

/** Draws a frame of a TIFF, which no browser decodes, in the black and white that OCR reads. Only the parser process calls it. */
export async function drawFrame(
  bytes: Buffer,
  { frame, core, model }: FrameToDraw,
): Promise<DrawnFrame> {
  const head = readPictureHead(bytes, frame);
  if (head.kind === "unreadable") throw new NoText("FILE_FORMAT_INVALID", head.why);
  const engine = await startEngine(core, [["model", model]]);
  return { kind: "drawn", png: engine.draw(head) };
}
