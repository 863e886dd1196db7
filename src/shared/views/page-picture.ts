import type { ShownPage } from "../files/page-pictures.ts";
import { markup } from "./html-markup.ts";
import type { Html } from "./html-markup.ts";

export type Figure = Pick<ShownPage, "boxes" | "size" | "width" | "height"> & {
  /** Unique among the figures of a page. */
  readonly id: string;
  /** URL of the picture. */
  readonly src: string;
  /** The page that the figure shows: `letters/2026.pdf, page 2`. */
  readonly place: string;
  /** Alternative text: the words that are marked. */
  readonly words: string;
};

const SIZES = [
  ["page", "Whole page"],
  ["width", "Full width"],
  ["double", "Double"],
] as const;

/** The page with its marks. Radio buttons choose its size without a script. */
export function figureHtml({ id, src, place, words, boxes, size, width, height }: Figure): Html {
  const choices = SIZES.map(
    ([value, name]) =>
      markup`<label><input type="radio" name="${id}-size" value="${value}"${value === "width" ? markup` checked` : ""}>${name}</label> `,
  );
  const marks = boxes.map(
    ([left, top, right, bottom], at) =>
      markup`<rect${at === 0 ? markup` id="${id}-mark"` : ""} x="${left.toFixed(2)}" y="${top.toFixed(2)}" width="${(right - left).toFixed(2)}" height="${(bottom - top).toFixed(2)}"/>`,
  );
  return markup`<figure class="page" id="${id}"><fieldset class="sizes"><legend>Size</legend>${choices}</fieldset>
<div class="frame" tabindex="0" role="group" aria-label="${place}"><div class="sheet"><img src="${src}" alt="${words}" width="${width}" height="${height}">
<svg viewBox="0 0 ${size.width} ${size.height}" preserveAspectRatio="none" aria-hidden="true">${marks}</svg></div></div></figure>`;
}

/** A line on words without marks or with several; empty if all words are marked once. */
export function marksText({ share, times }: Pick<ShownPage, "share" | "times">): string {
  if (share === 0) return "The words were not found on the page: nothing is marked.";
  if (share < 1) return "Not all of the words were found on the page: the others are not marked.";
  return times > 1 ? `The words stand ${times} times on the page: all of them are marked.` : "";
}

type CutOut = Pick<Figure, "size" | "src"> & {
  readonly box: ShownPage["boxes"][number];
  readonly words: string;
};

/** A part of a page with a margin around it; the browser crops it. */
export function cutOutHtml({ src, size, box: [left, top, right, bottom], words }: CutOut): Html {
  const margin = bottom - top;
  const view = [left - margin, top - margin / 2, right - left + 2 * margin, 2 * margin];
  return markup`<svg class="cut-out" viewBox="${view.map((side) => side.toFixed(2)).join(" ")}" role="img" aria-label="${words}"><image href="${src}" width="${size.width}" height="${size.height}" preserveAspectRatio="none"/></svg>`;
}

export const PAGE_STYLE = `
figure.page { margin: .8rem 0; }
.sizes { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: 0 0 .4rem; padding: 0; border: 0; }
.sizes legend { float: left; padding: 0; } .sizes label { display: inline-flex; gap: .3rem; align-items: baseline; }
.frame { max-height: 88vh; overflow: auto; border: 1px solid var(--line, #ccc); background: #fff; }
.sheet { position: relative; width: 100%; }
.sheet img { display: block; width: 100%; height: auto; }
.sheet svg { position: absolute; inset: 0; width: 100%; height: 100%; mix-blend-mode: multiply; }
.cut-out { height: 3.5rem; max-width: 100%; background: #fff; border: 1px solid var(--line, #ccc); }
.sheet rect { fill: #ffdc4d; stroke: #b07a00; stroke-width: .4; scroll-margin: 30vh; }
.page:has([value="page"]:checked) .sheet { width: fit-content; margin: auto; }
.page:has([value="page"]:checked) img { width: auto; max-width: 100%; max-height: 86vh; }
.page:has([value="double"]:checked) .sheet { width: 200%; }
@media print {
  .sizes { display: none; } .frame { max-height: none; overflow: visible; border: 0; }
  figure.page .sheet { width: fit-content; } figure.page .sheet img { width: auto; max-width: 100%; max-height: 23cm; }
  .sheet rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
