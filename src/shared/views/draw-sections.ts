import { markup } from "./html-markup.ts";
import type { Html } from "./html-markup.ts";
import { formatCount, formatDuration } from "./quantity.ts";
import { piecesOf, timelineTable, withGap } from "./section.ts";
import type {
  Block,
  Column,
  Fact,
  Item,
  Mark,
  Piece,
  Row,
  Section,
  Table,
  Text,
} from "./section.ts";

/** What is drawn otherwise in a report that is a file than on a page of the desk. */
type DrawForm = {
  readonly time: (at: Date, precision: "minutes" | "seconds") => Html;
  /** Until now where `to` is null. */
  readonly span: (from: Date, to: Date | null) => Html;
  readonly place: (piece: PieceOf<"place">) => Html;
  readonly id: (piece: PieceOf<"id">) => Html;
  readonly state: (piece: PieceOf<"state">) => Html;
  /** The class that gives something the colour of a state. */
  readonly stateClass: (state: string) => string;
};

export type PieceOf<Kind extends string> = Extract<Piece, { readonly kind: Kind }>;

/** Draws the section model for a browser. Everything that is filled in is escaped. */
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
    block: (block) => blockHtml(block, draw, form),
    section: ({ id, title, blocks }) =>
      markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${blocks.map(draw.block)}</section>
`,
  };
  return draw;
}

function pieceHtml(piece: Piece, form: DrawForm): Html {
  if (typeof piece === "string") return markup`${piece}`;
  switch (piece.kind) {
    case "strong":
      return markup`<strong>${piece.text}</strong>`;
    case "code":
      return markup`<code>${piece.text}</code>`;
    case "state":
      return form.state(piece);
    case "number":
      return markup`${formatCount(piece.value)}`;
    case "duration":
      return markup`${formatDuration(piece.ms)}`;
    case "time":
      return form.time(piece.at, piece.precision);
    case "span":
      return form.span(piece.from, piece.to);
    case "place":
      return form.place(piece);
    case "sha256":
      return markup`<span class="hash">sha256 <code>${piece.sha256}</code></span>`;
    case "id":
      return form.id(piece);
  }
}

function blockHtml(block: Block, draw: DrawSections, form: DrawForm): Html {
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
      return innerSection(block, draw, form);
  }
}

/** The marks of a text as links to what they stand for, which leads back to the first of them. */
function markedText(text: string, marks: readonly Mark[]): readonly Html[] {
  const anchors = new Map(marks.map(({ mark, anchor }) => [mark, anchor]));
  const led = new Set<string>();
  return text.split(/(\[\d{1,4}\])/).map((part) => {
    const anchor = anchors.get(part);
    if (anchor === undefined) return markup`${part}`;
    if (led.has(part)) return markup`<a href="#${anchor}">${part}</a>`;
    led.add(part);
    return markup`<a href="#${anchor}" id="${anchor}-said">${part}</a>`;
  });
}

/** What tells of one job stands for itself; sections within a section have headings one deeper. */
function innerSection(
  { id, title, state, jobId, blocks }: Section,
  draw: DrawSections,
  form: DrawForm,
): Html {
  const holdsSections = blocks.some(({ kind }) => kind === "section");
  const heading = holdsSections
    ? markup`<h3 class="group" id="${id}">${title}</h3>`
    : markup`<h3>${title}</h3>`;
  const body = markup`${heading}
${blocks.map(draw.block)}`;
  if (jobId !== undefined) return markup`<article>${body}</article>\n`;
  return markup`<div class="inner ${state === undefined ? "" : form.stateClass(state)}">${body}</div>\n`;
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

/** A mark leads back to where the answer has it. */
function markHtml({ mark, anchor }: Item): Html {
  if (mark === undefined) return markup``;
  return anchor === undefined
    ? markup`${mark} `
    : markup`<a href="#${anchor}-said" aria-label="${mark}, back to the answer">${mark}</a> `;
}

const passageHtml = (passage: string): Html =>
  markup`<details><summary>What stands there</summary><div class="passage" dir="auto">${passage}</div></details>`;

function tableHtml({ columns, rows }: Table, text: DrawSections["text"], caption?: string): Html {
  const isBroken = columns.some(({ holds }) => holds === "words");
  const table = isBroken ? markup`<table class="times">` : markup`<table>`;
  const titles = columns.map(({ title, align }) =>
    align === "right"
      ? markup`<th scope="col" class="n">${title}</th>`
      : markup`<th scope="col">${title}</th>`,
  );
  const body = rows.map(
    (row) => markup`<tr>${rowHtml(columns, row, isBroken ? "titled" : "plain", text)}</tr>\n`,
  );
  return scrolling(markup`${table}${caption === undefined ? "" : markup`<caption>${caption}</caption>`}<thead><tr>${titles}</tr></thead>
<tbody>${body}</tbody></table>`);
}

/** A wide table is moved by itself, also by keyboard, and never the page. */
export const scrolling = (table: Html): Html =>
  markup`<div class="scroll" tabindex="0" role="group" aria-label="Table">${table}</div>\n`;

/** On a phone the cells of a table of sentences stand below each other, each with the title of its column. */
type Cells = "titled" | "plain";

const rowHtml = (
  columns: readonly Column[],
  row: Row,
  cells: Cells,
  text: DrawSections["text"],
): readonly Html[] =>
  columns.map(({ title, align, holds }, at) => {
    const cell = row[at] ?? null;
    const shown = cell === null ? "" : text(cell);
    const titled = cells === "titled" && cell !== null ? markup` data-title="${title}"` : "";
    if (holds === "name") return markup`<th scope="row"${titled}>${shown}</th>`;
    if (holds === "words") return markup`<td class="why"${titled}>${shown}</td>`;
    return align === "right"
      ? markup`<td class="n"${titled}>${shown}</td>`
      : markup`<td${titled}>${shown}</td>`;
  });
