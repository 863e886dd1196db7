import type { TextBuilder } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import { oneLine } from "./table-rows.ts";

const MARGIN = /^(?:odd|even|first)?(header|footer)(?:-left|-first)?$/i;
/** The code of the page number, with the word before it and the number of pages behind it. */
const PAGE = /(?<!&)[\p{L}.]{0,40}\s{0,9}&P(?:[^&\p{L}]{0,40}\p{L}{0,4}\s{0,9}&[NP])?/giu;
/** A doubled ampersand; or a code for font, size, colour, date, file or sheet name. */
const CODE = /&(?:(&)|"[^"]*"|\d+|K(?:[\dA-F]{6}|\d\d[+-]\d{3})|[A-Z])/gi;

/** Adds a line for each printed header or footer of a sheet, which may name a unit, a draft, or what prices include. */
export function addMargins(xml = "<none/>", builder: Pick<TextBuilder, "add">): void {
  let code: string | undefined;
  let [isChanging, isPlain] = [false, false];
  walkXml(xml, {
    open(name, { display }) {
      if (MARGIN.test(name) && display !== "false") code = "";
      isChanging = /^(?:sheet-name|title|date|time|file-name|page-\w+)$/.test(name);
      isPlain ||= name === "p";
      if (code !== undefined) code += name === "p" ? "&L" : /^page-/.test(name) ? "&P" : "";
    },
    text(text) {
      if (code !== undefined && !isChanging) code += isPlain ? text.replaceAll("&", "&&") : text;
    },
    close(name) {
      isChanging = false;
      const margin = MARGIN.exec(name)?.[1]?.toLowerCase();
      const words = margin === undefined ? "" : wordsOf(code ?? "");
      if (margin !== undefined) code = undefined;
      if (words !== "") builder.add(`[${margin ?? ""}]: ${words}\n`);
    },
  });
}

/** The words of a header or footer. @param code as Excel writes it: `&LDraft&RPage &P of &N` */
const wordsOf = (code: string): string =>
  code
    .replaceAll(PAGE, " ")
    .replaceAll(/(?<!&)&[LCR]/gi, "\n")
    .replaceAll(CODE, "$1")
    .split("\n")
    .map(oneLine)
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
    .join("; ");
