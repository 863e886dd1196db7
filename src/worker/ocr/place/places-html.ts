import { Html, markup } from "../../../shared/views/html-markup.ts";
import { doubtText } from "../../../shared/views/doubtful-figures.ts";
import { figureHtml, marksText, PAGE_STYLE } from "../../../shared/views/page-picture.ts";
import type { RunDetail } from "../../../shared/views/runs.ts";
import { formatTask } from "../../../shared/job/kinds.ts";
import type { Refusal } from "../../../shared/failure.ts";
import type { PagePicture } from "../../../shared/files/page-pictures.ts";
import type { CarriedWords } from "../../../shared/views/carried-words.ts";

import type { ShownDoubt } from "./page-picture.ts";

/** A statement, the words that support it, and the picture of their page, or why there is none. */
export type ShownPlace = CarriedWords & {
  readonly shown: PagePicture | Refusal;
  readonly key: string;
  readonly doubts: readonly ShownDoubt[];
};

/** The page embeds its pictures: it loads nothing and runs no script. */
const POLICY = new Html("default-src 'none'; img-src data:; style-src 'unsafe-inline'");

const STYLE = `
body { max-width: 60rem; margin: 0 auto; padding: 1rem; font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
blockquote { margin: .5rem 0; padding-left: .8rem; border-left: 3px solid #b07a00; white-space: pre-wrap; }
section { break-inside: avoid; margin-top: 2rem; }
`;

/** An HTML page of the statements of a run, each with the document page that supports it. */
export const placesHtml = (run: RunDetail, places: readonly ShownPlace[]): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${formatTask(run.kind, run.input)} · Nightdesk</title>
<style>${new Html(STYLE + PAGE_STYLE)}</style>
</head>
<body>
<h1 dir="auto">${formatTask(run.kind, run.input)}</h1>
${places.map(placeHtml)}
</body>
</html>
`.toString();

function placeHtml({ number, text, grade, path, words, shown, doubts }: ShownPlace): Html {
  const head = markup`<h2 dir="auto">${number}. ${text}</h2><blockquote dir="auto">${words}</blockquote>`;
  if (shown.kind === "refused") {
    return markup`<section>${head}<p>${path}. ${grade}. ${shown.message}</p></section>`;
  }
  const place = shown.page === null ? path : `${path}, page ${shown.page}`;
  const { bytes, type, ...figure } = shown;
  const src = `data:${type};base64,${bytes.toString("base64")}`;
  return markup`<section>${head}<p>${place}. ${grade}. ${marksText(shown)} ${doubts.map(doubtText).join(" ")}</p>
${figureHtml({ ...figure, id: `place-${number}`, src, place, words })}</section>
`;
}
