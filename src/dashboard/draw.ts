import { formatCount, formatDuration, formatSpan, formatTime } from "../shared/views/quantity.ts";
import { markup } from "../shared/views/html-markup.ts";
import type { Html } from "../shared/views/html-markup.ts";
import { piecesOf, timelineTable, withGap } from "../shared/views/section.ts";
import type {
  Block,
  Column,
  Count,
  Fact,
  Item,
  Piece,
  Row,
  Section,
  Table,
  Text,
} from "../shared/views/section.ts";
import { link, pathTo, webLink } from "./links.ts";

/** Draws the section model of the command line and of the report for a browser. Everything that is filled in is escaped. */
export type Draw = {
  readonly text: (text: Text) => Html;
  readonly facts: (facts: readonly Fact[]) => Html;
  readonly table: (table: Table, caption?: string) => Html;
  readonly block: (block: Block) => Html;
  readonly section: (section: Section) => Html;
  readonly time: (at: Date | null, precision?: "minutes" | "seconds") => Html;
};

/** @param zone in which times are shown */
export function drawIn(zone: string): Draw {
  const text = (of: Text): Html => markup`${piecesOf(of).map((piece) => pieceHtml(piece, zone))}`;
  const draw: Draw = {
    text,
    time: (at, precision = "minutes") =>
      at === null
        ? markup`–`
        : markup`<time datetime="${at.toISOString()}">${formatTime(at, zone, precision)}</time>`,
    facts: (facts) =>
      markup`<dl class="facts">${facts.map(
        ({ label, lines }) =>
          markup`<dt>${text(label)}</dt>${lines.map((line) => markup`<dd>${text(line)}</dd>`)}`,
      )}</dl>`,
    table: (table, caption) => tableHtml(table, text, caption),
    block: (block) => blockHtml(block, draw),
    section: ({ id, title, blocks }) =>
      markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${blocks.map((block) => blockHtml(block, draw))}</section>
`,
  };
  return draw;
}

function pieceHtml(piece: Piece, zone: string): Html {
  if (typeof piece === "string") return markup`${piece}`;
  switch (piece.kind) {
    case "strong":
      return markup`<strong>${piece.text}</strong>`;
    case "code":
      return markup`<code>${piece.text}</code>`;
    case "state":
      return stateHtml(piece.state, piece.text);
    case "number":
      return markup`${formatCount(piece.value)}`;
    case "duration":
      return markup`${formatDuration(piece.ms)}`;
    case "time":
      return markup`<time datetime="${piece.at.toISOString()}">${formatTime(piece.at, zone, piece.precision)}</time>`;
    case "span":
      return markup`${formatSpan(piece.from, piece.to, zone)}`;
    case "place":
      return placeHtml(piece);
    case "sha256":
      return markup`<span class="hash">sha256 <code>${piece.sha256}</code></span>`;
    case "id":
      return idHtml(piece);
  }
}

/** What a state is called, in its colour. */
export const stateHtml = (state: string, text: string = state): Html =>
  markup`<span class="state ${classOf(state)}">${text}</span>`;

/** A class name of ours: states come from rows. */
export const classOf = (state: string): string => `s-${state.replaceAll(/[^a-z_]/g, "")}`;

function placeHtml(place: Extract<Piece, { kind: "place" }>): Html {
  const { path, line_start: first, line_end: last } = place;
  const lines = first === last ? `line ${first}` : `lines ${first}–${last}`;
  return markup`<span class="place">${webLink(path)} ${lines}</span>`;
}

function idHtml({ of, id }: Extract<Piece, { kind: "id" }>): Html {
  const short = markup`<code title="${id}">${id.slice(0, SHORT_CHARS)}</code>`;
  if (of === "run" || of === "job") return link(pathTo("runs", id), short);
  return of === "approval" ? link(`/inbox#a-${id}`, short) : markup`${short}`;
}

const SHORT_CHARS = 8;

function blockHtml(block: Block, draw: Draw): Html {
  switch (block.kind) {
    case "line":
      return markup`<p>${draw.text(block.text)}</p>\n`;
    case "note":
      return markup`<p class="note">${draw.text(block.text)}</p>\n`;
    case "advice":
      return markup`<p class="remedy">${block.text}</p>\n`;
    case "quote":
      return markup`<div class="words" dir="auto">${block.text}</div>\n`;
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

const innerSection = ({ title, state, blocks }: Section, draw: Draw): Html =>
  markup`<div class="inner ${state === undefined ? "" : classOf(state)}"><h3>${title}</h3>
${blocks.map((block) => blockHtml(block, draw))}</div>
`;

type List = Extract<Block, { readonly kind: "list" }>;

function listHtml({ label, items, gap }: List, draw: Draw): Html {
  const shown = withGap(
    items.map((item) => itemHtml(item, draw)),
    gap,
    (text) => markup`<li class="note">${text}</li>`,
  );
  return markup`<ul class="items" aria-label="${label ?? "Details"}">${shown}</ul>\n`;
}

function itemHtml({ mark, text, lines = [], facts = [], passage }: Item, draw: Draw): Html {
  const more = lines.map((each) => markup`<p>${draw.text(each)}</p>`);
  const list = facts.length === 0 ? "" : draw.facts(facts);
  return markup`<li>${mark === undefined ? "" : markup`<b class="mark">${mark}</b> `}${draw.text(text)}${more}${list}${passage === undefined ? "" : passageHtml(passage)}</li>`;
}

const passageHtml = (passage: string): Html =>
  markup`<details><summary>What stands there</summary><div class="words" dir="auto">${passage}</div></details>`;

function tableHtml({ columns, rows }: Table, text: Draw["text"], caption?: string): Html {
  const titles = columns.map(({ title, align }) =>
    align === "right"
      ? markup`<th scope="col" class="n">${title}</th>`
      : markup`<th scope="col">${title}</th>`,
  );
  const body = rows.map((row) => markup`<tr>${rowHtml(columns, row, text)}</tr>\n`);
  return scrolling(markup`<table>${caption === undefined ? "" : markup`<caption>${caption}</caption>`}<thead><tr>${titles}</tr></thead>
<tbody>${body}</tbody></table>`);
}

/** A wide table is moved by itself, also by keyboard, and never the page. */
export const scrolling = (table: Html): Html =>
  markup`<div class="scroll" tabindex="0" role="group" aria-label="Table">${table}</div>\n`;

const rowHtml = (columns: readonly Column[], row: Row, text: Draw["text"]): readonly Html[] =>
  columns.map(({ align, holds }, at) => {
    const cell = row[at] ?? null;
    const shown = cell === null ? "" : text(cell);
    if (holds === "name") return markup`<th scope="row">${shown}</th>`;
    if (holds === "words") return markup`<td class="why">${shown}</td>`;
    return align === "right" ? markup`<td class="n">${shown}</td>` : markup`<td>${shown}</td>`;
  });

/** Jobs by state as one bar. Widths are attributes of an image: styles of an element are not applied under our policy. */
export function barHtml(counts: readonly Count[]): Html {
  const parts = counts.filter(({ jobs }) => jobs > 0);
  const total = parts.reduce((sum, { jobs }) => sum + jobs, 0);
  const words = parts.map(({ name, jobs }) => `${formatCount(jobs)} ${name}`).join(", ");
  let at = 0;
  const spans = parts.map(({ name, jobs }) => {
    const width = (jobs / total) * 1_000;
    const drawn = markup`<rect class="${classOf(name)}" x="${at.toFixed(1)}" width="${width.toFixed(1)}" height="10"/>`;
    at += width;
    return drawn;
  });
  return markup`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="${words === "" ? "no jobs" : words}">${spans}</svg>`;
}
