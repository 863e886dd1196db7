import { DOUBT_MARK } from "../text/doubt-mark.ts";
import type { PageRecord, ReadLine, ReadWord } from "../../shared/pages/page-record.ts";

/**
 * The lines of a page in the form of PDF text: bars between cells, empty lines between paragraphs. A doubt mark follows each
 * figure that two models did not read alike.
 */
export const pageLines = ({ lines }: PageRecord): string[] =>
  lines.flatMap((line, at) =>
    line.opens === true && at > 0 ? ["", lineText(line)] : [lineText(line)],
  );

const lineText = ({ words, cells = [] }: ReadLine): string =>
  words.reduce((text, word, at) => {
    if (text === "" || word.text === "") return text + wordText(word);
    return `${text}${cells.includes(at) ? " | " : " "}${wordText(word)}`;
  }, "");

const wordText = ({ text, figure }: ReadWord): string =>
  figure === undefined || figure === "two" ? text : text + DOUBT_MARK;
