import { NoText } from "../reader/text-builder.ts";

/** A picture holds no letters: its words are those that were read of it. */
export function readPicture(): never {
  throw new NoText(
    "NO_TEXT_LAYER",
    "is a picture, whose words are read where index.ocr says in which languages: set it, and run nightdesk index --ocr.",
    [1],
  );
}
