import { readPictureHead } from "../../ocr/read-head.ts";
import type { Extraction } from "../extraction.ts";

/** Refuses a picture, which holds no letters, and names its pages: OCR reads their words. */
export function readPicture(bytes: Buffer): Extraction {
  const head = readPictureHead(bytes, 1);
  if (head.kind === "unreadable") return { ...head, code: "FILE_FORMAT_INVALID" };
  return {
    kind: "unreadable",
    code: "NO_TEXT_LAYER",
    why: "is a picture, whose words are read where index.ocr says in which languages: set it, and run nightdesk index --ocr.",
    lasts: "always",
    pictured: Array.from({ length: head.pages }, (_, at) => at + 1),
  };
}
