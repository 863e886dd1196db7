import { NoText } from "../../documents/reader/text-builder.ts";
import { readPictureHead } from "../read-head.ts";
import { startEngine } from "../tesseract.ts";

export type FrameToDraw = {
  /** From 1. */
  readonly frame: number;
  /** Folder of the package that reads letters, and a model: its decoder does not start without one. */
  readonly core: string;
  readonly model: string;
};

export type DrawnFrame = { readonly kind: "drawn"; readonly png: Uint8Array };

/** Draws a frame of a TIFF, which no browser decodes, as its reader sees it. Only the process of the parsers calls it. */
export async function drawFrame(
  bytes: Buffer,
  { frame, core, model }: FrameToDraw,
): Promise<DrawnFrame> {
  const head = readPictureHead(bytes, frame);
  if (head.kind === "unreadable") throw new NoText("FILE_FORMAT_INVALID", head.why);
  const engine = await startEngine(core, [["model", model]]);
  return { kind: "drawn", png: engine.draw(head) };
}
