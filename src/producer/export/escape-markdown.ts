import { cleanForTerminal } from "../../shared/terminal-text.ts";

/** Marks that begin emphasis (an underscore within a word begins none), code, links, images, HTML, entities, tables or mathematics wherever they stand. */
const INLINE = /[\\`*[\]<>&|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;
/** Marks that begin a heading, a list, a rule or an underline where a line starts. */
const BLOCK_MARK = /^(\s*)([#+=-])/;
const LIST_NUMBER = /^(\s*\d{1,9})([.)])(?=\s|$)/;

/** Text of documents and models as one line of Markdown that shows it and does nothing else. */
export const markdownText = (text: string): string =>
  escapeLine(cleanForTerminal(text).replace(/\s+/g, " ").trim());

/** The same for text of many lines, as a block quote that keeps them. */
export function markdownQuote(text: string): string {
  const lines = cleanForTerminal(text).trim().split(/\r?\n/);
  return lines
    .map((line, index) => {
      const shown = escapeLine(line.trim());
      const isBroken = shown !== "" && (lines[index + 1] ?? "").trim() !== "";
      return `> ${shown}${isBroken ? "\\" : ""}`.trimEnd();
    })
    .join("\n");
}

const escapeLine = (line: string): string =>
  line.replace(INLINE, "\\$&").replace(LIST_NUMBER, "$1\\$2").replace(BLOCK_MARK, "$1\\$2");
