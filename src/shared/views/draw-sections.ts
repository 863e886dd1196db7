import { markup } from "./html-markup.ts";
import type { Fragment, Html } from "./html-markup.ts";
import { formatCount, formatDuration } from "./quantity.ts";
import { classOf } from "./section-style.ts";
import { piecesOf, timelineTable, withGap } from "./section.ts";
import type { Block, Column, Fact, Item, Mark, Piece, Section, Table, Text } from "./section.ts";

/** Pieces that a report in a file draws differently from a page of the dashboard. */
type DrawForm = {
  readonly time: (at: Date, precision: "minutes" | "seconds") => Html;
  /** A null `to` means until now. */
  readonly span: (from: Date, to: Date | null) => Html;
  readonly place: (piece: PieceOf<"place">) => Html;
  readonly id: (piece: PieceOf<"id">) => Html;
};

export type PieceOf<Kind extends string> = Extract<Piece, { readonly kind: Kind }>;

/** Draws the section model as HTML. Every value is escaped. */
export type DrawSections = {
  readonly text: (text: Text) => Html;
  readonly facts: (facts: readonly Fact[]) => Html;
  readonly table: (table: Table, caption?: string) => Html;
  readonly block: (block: Block) => Html;
  readonly section: (section: Section) => Html;
};

export function drawSections(form: DrawForm): DrawSections {
  const text = (of: Text): Html => markup`${piecesOf(of).map((piece) => pieceHtml(piece, form))}`;
  const draw: DrawSections = {
    text,
    facts: (facts) =>
      markup`<dl class="facts">${facts.map(
        ({ label, lines }) =>
          markup`<dt>${text(label)}</dt>${lines.map((line) => markup`<dd>${text(line)}</dd>`)}`,
      )}</dl>`,
    table: (table, caption) => tableHtml(table, text, caption),
    block: (block) => blockHtml(block, draw),
    section: ({ id, title, blocks, fold }) =>
      fold === undefined
        ? markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${blocks.map(draw.block)}</section>
`
        : // The id is on the div: a browser opens a closed <details> for a link into its content, not to its summary.
          markup`<details class="part"${fold === "open" ? markup` open` : ""}><summary><h2>${title}</h2></summary><div id="${id}">
${blocks.map(draw.block)}</div></details>
`,
  };
  return draw;
}

function pieceHtml(piece: Piece, form: DrawForm): Html {
  if (typeof piece === "string") return foldHashes(piece);
  switch (piece.kind) {
    case "strong":
      return markup`<strong>${piece.text}</strong>`;
    case "code":
      return markup`<code>${piece.text}</code>`;
    case "state":
      return stateHtml(piece.state, piece.text);
    case "number":
      return countHtml(piece.value);
    case "duration":
      return markup`${formatDuration(piece.ms)}`;
    case "time":
      return form.time(piece.at, piece.precision);
    case "span":
      return form.span(piece.from, piece.to);
    case "place":
      return form.place(piece);
    case "sha256":
      return markup`<span class="note">sha256 ${foldHashes(piece.sha256)}</span>`;
    case "id":
      return form.id(piece);
  }
}

/** Shortens each hash for display until it has focus; print and the clipboard get the whole hash. */
export const foldHashes = (text: string): Html =>
  markup`${text
    .split(/\b([0-9a-f]{64})\b/)
    .map((part, at) =>
      at % 2 === 0 ? markup`${part}` : markup`<code class="hash" tabindex="0">${part}</code>`,
    )}`;

function blockHtml(block: Block, draw: DrawSections): Html {
  switch (block.kind) {
    case "line":
      return markup`<p>${draw.text(block.text)}</p>\n`;
    case "note":
      return markup`<p class="note">${draw.text(block.text)}</p>\n`;
    case "advice":
      return markup`<p class="remedy">${block.text}</p>\n`;
    case "quote":
      return markup`<div class="answer" dir="auto">${markedText(block.text, block.marks ?? [])}</div>\n`;
    case "picture":
      return block.svg;
    case "commands":
      return markup`<pre tabindex="0">${block.lines.join("\n")}</pre>\n`;
    case "facts":
      return draw.facts(block.facts);
    case "list":
      return listHtml(block, draw);
    case "timeline":
      return draw.table(timelineTable(block));
    case "table":
      return draw.table(block);
    case "section":
      return innerSection(block, draw);
  }
}

/** The marks of a text as links to their items, which link back to the first of equal marks. */
function markedText(text: string, marks: readonly Mark[]): readonly Html[] {
  const anchors = new Map(marks.map(({ mark, anchor }) => [mark, anchor]));
  const linked = new Set<string>();
  return text.split(/(\[\d{1,4}\])/).map((part) => {
    const anchor = anchors.get(part);
    if (anchor === undefined) return markup`${part}`;
    if (linked.has(part)) return markup`<a href="#${anchor}">${part}</a>`;
    linked.add(part);
    return markup`<a href="#${anchor}" id="${anchor}-said">${part}</a>`;
  });
}

/** A section inside a section: a card if it folds, an article if it is about a job, else a group whose heading is an anchor. */
function innerSection(section: Section, draw: DrawSections): Html {
  const { id, title, state, jobId, fold, blocks } = section;
  const body = markup`${blocks.map(draw.block)}`;
  if (fold !== undefined) {
    const stateLabel = state === undefined ? "" : markup` ${stateHtml(state)}`;
    return markup`<details class="card"${fold === "open" ? markup` open` : ""}><summary><h3>${title}</h3>${stateLabel}</summary>
${body}</details>\n`;
  }
  if (jobId !== undefined) return markup`<article><h3>${title}</h3>\n${body}</article>\n`;
  const holdsSections = blocks.some(({ kind }) => kind === "section");
  const heading = holdsSections
    ? markup`<h3 class="group" id="${id}">${title}</h3>`
    : markup`<h3>${title}</h3>`;
  return markup`<div class="inner ${state === undefined ? "" : classOf(state)}">${heading}\n${body}</div>\n`;
}

type List = Extract<Block, { readonly kind: "list" }>;

function listHtml({ label, items, gap }: List, draw: DrawSections): Html {
  const shown = withGap(
    items.map((item) => itemHtml(item, draw)),
    gap,
    (text) => markup`<li class="note">${text}</li>`,
  );
  return markup`<ul class="items" aria-label="${label ?? "Details"}">${shown}</ul>\n`;
}

function itemHtml(item: Item, draw: DrawSections): Html {
  const { text, lines = [], facts = [], passage, anchor } = item;
  const more = lines.map((each) => markup`<p>${draw.text(each)}</p>`);
  const list = facts.length === 0 ? "" : draw.facts(facts);
  const opened = anchor === undefined ? markup`<li>` : markup`<li id="${anchor}">`;
  return markup`${opened}${markHtml(item)}${draw.text(text)}${more}${list}${passage === undefined ? "" : passageHtml(passage)}</li>`;
}

/** The mark of an item, which links back to its place in the answer. */
function markHtml({ mark, anchor }: Item): Html {
  if (mark === undefined) return markup``;
  return anchor === undefined
    ? markup`${mark} `
    : markup`<a href="#${anchor}-said" aria-label="${mark}, back to the answer">${mark}</a> `;
}

const passageHtml = (passage: string): Html =>
  markup`<details><summary>What stands there</summary><div class="passage" dir="auto">${passage}</div></details>`;

const tableHtml = ({ columns, rows }: Table, text: DrawSections["text"], caption?: string): Html =>
  htmlTable(
    rows,
    columns.map(({ title, ...layout }, at) => [
      title,
      (row) => {
        const cell = row[at] ?? null;
        return cell === null ? null : text(cell);
      },
      layout,
    ]),
    caption,
  );

/** A column of an HTML table: its title, the cell of a row, and its layout. */
export type HtmlColumn<R> = readonly [
  title: string,
  cell: (row: R) => Fragment | null,
  layout?: Partial<Pick<Column, "align" | "holds">> & {
    /** Shown in place of the title, for a heading with a link. */
    readonly heading?: Html;
    readonly sorted?: "ascending" | "descending" | undefined;
  },
];

/** A table in its own scroll area, also for the keyboard, so that the page never scrolls. On a phone each row is a card. */
export function htmlTable<R>(
  rows: readonly R[],
  columns: readonly HtmlColumn<R>[],
  caption?: string,
): Html {
  const isBroken = columns.some(([, , layout]) => layout?.holds === "words");
  const titles = columns.map(([title, , layout]) => {
    const sort = layout?.sorted === undefined ? "" : markup` aria-sort="${layout.sorted}"`;
    return markup`<th scope="col"${layout?.align === "right" ? markup` class="n"` : ""}${sort}>${layout?.heading ?? title}</th>`;
  });
  const body = rows.map(
    (row) => markup`<tr>${columns.map((column) => cellHtml(column, row))}</tr>\n`,
  );
  return markup`<div class="scroll" tabindex="0" role="group" aria-label="${caption ?? "Table"}"><table${isBroken ? markup` class="times"` : ""}>${caption === undefined ? "" : markup`<caption>${caption}</caption>`}<thead><tr>${titles}</tr></thead>
<tbody>${body}</tbody></table></div>\n`;
}

function cellHtml<R>([title, cell, layout]: HtmlColumn<R>, row: R): Html {
  const shown = cell(row);
  if (layout?.holds === "name") return markup`<th scope="row">${shown ?? ""}</th>`;
  const kind = layout?.holds === "words" ? "why" : layout?.align === "right" ? "n" : "";
  return markup`<td${kind === "" ? "" : markup` class="${kind}"`}${shown === null || title === "" ? "" : markup` data-title="${title}"`}>${shown ?? ""}</td>`;
}

/** The name of a state in its colour. */
export const stateHtml = (state: string, text: string = state): Html =>
  markup`<span class="state ${classOf(state)}">${text}</span>`;

/** A count; zero is drawn faint. */
export const countHtml = (value: number): Html =>
  value === 0 ? markup`<span class="zero">0</span>` : markup`${formatCount(value)}`;
