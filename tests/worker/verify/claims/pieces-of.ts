import type { CitableBlock } from "../../../../src/worker/evidence/number.ts";
import { titleOf } from "../../../../src/worker/evidence/number.ts";

/** A whole file as an admitted piece of evidence. */
export const pieceOf = (path: string, text: string, number = 1): CitableBlock => ({
  number,
  path,
  text,
  title: titleOf(text),
  headingPath: null,
  chunkKey: null,
  sha256: "0".repeat(64),
  startChar: 0,
  endChar: [...text].length,
  lineStart: 1,
  lineEnd: text.split("\n").length,
  summaryLevel: null,
});
