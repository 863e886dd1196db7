import type { TextBuilder } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import { oneLine } from "./table-rows.ts";

const MARGIN = /^(?:odd|even|first)?(header|footer)(?:-left|-first)?$/i;
/** A number of a page, with the word before it, and what says how many there are. */
const PAGE = /(?<!&)[\p{L}.]{0,40}\s{0,9}&P(?:[^&\p{L}]{0,40}\p{L}{0,4}\s{0,9}&[NP])?/giu;
/** An ampersand, or how what follows looks and what differs from print to print. */
const CODE = /&(?:(&)|"[^"]*"|\d+|K(?:[\dA-F]{6}|\d\d[+-]\d{3})|[A-Z])/gi;

/** Adds a line for what stands above or below each page of a sheet in print: units, what is a draft, what a price holds. */
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

/** @param code as Excel writes it: `&LDraft&RPage &P of &N` */
const wordsOf = (code: string): string =>
  code
    .replaceAll(PAGE, " ")
    .replaceAll(/(?<!&)&[LCR]/gi, "\n")
    .replaceAll(CODE, "$1")
    .split("\n")
    .map(oneLine)
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
    .join("; ");
