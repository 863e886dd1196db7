import {
  box,
  checkBox,
  field,
  note,
  put,
  putRight,
  rule,
  widthOf,
  writePages,
} from "./pdf-pages.ts";
import type { PageDrawing } from "./pdf-pages.ts";

// 80 PDFs of ten kinds as people have them, each with lines that must stand whole in its text, and their figures with them.

export type PdfOfKind = {
  readonly kind: string;
  readonly name: string;
  readonly bytes: Buffer;
  /** Each stands in one line of the text, its parts in this order. */
  readonly rows: readonly (readonly string[])[];
  /** Words that come in this order, whatever the lines. */
  readonly order: readonly string[];
};

const GOODS = [
  "Copper pipe 15 mm",
  "Valve set",
  "Roof felt, green",
  "Labour",
  "Delivery to site",
  "Sealant",
];
const money = (cents: number): string =>
  `${Math.floor(cents / 100).toLocaleString("en-US")}.${String(cents % 100).padStart(2, "0")}`;

type Item = readonly [name: string, amount: string, price: string, sum: string];

function items(seed: number, count: number): Item[] {
  return Array.from({ length: count }, (_, at) => {
    const amount = ((seed * 7 + at * 3) % 11) + 1;
    const price = 1_250 + seed * 731 + at * 4_519;
    return [GOODS[at % GOODS.length] ?? "", String(amount), money(price), money(price * amount)];
  });
}

const SENTENCES = [
  "the harbour board met in the old customs house on the quay",
  "repairs of the northern wall begin when the ice has gone",
  "every berth holder pays the fee before the first of May",
  "the crane stays closed until its cables have been replaced",
  "whoever moors without a permit is asked to leave by noon",
];

/** Words that fill a line of a width, beginning with a word that no other line has. */
function fill(mark: string, seed: number, width: number): string {
  const words = SENTENCES.slice(seed % 5)
    .concat(SENTENCES)
    .join(" ")
    .split(" ");
  let line = mark;
  for (const word of words) {
    if (widthOf(`${line} ${word}`) > width) break;
    line += ` ${word}`;
  }
  return line;
}

type Layout = (goods: readonly Item[]) => { readonly content: string; readonly gap?: number };

const columns =
  (
    edges: readonly [number, number, number, number],
    aligned: "left" | "right",
    pitch: number,
    look: (top: number, rows: number) => string,
  ): Layout =>
  (goods) => ({
    content:
      goods
        .map((cells, at) =>
          cells
            .map((cell, column) =>
              column === 0 || aligned === "left"
                ? put(edges[column] ?? 0, 600 - at * pitch, cell)
                : putRight(edges[column] ?? 0, 600 - at * pitch, cell),
            )
            .join(""),
        )
        .join("") + look(600 + pitch * 0.7, goods.length),
  });

const grid =
  (edges: readonly number[], pitch: number) =>
  (top: number, rows: number): string =>
    Array.from({ length: rows + 1 }, (_, at) =>
      rule(edges[0] ?? 0, top - at * pitch, edges.at(-1) ?? 0, top - at * pitch),
    ).join("") + edges.map((x) => rule(x, top, x, top - rows * pitch)).join("");

/** Six layouts: right and left columns, ruled, narrow, drawn by columns, with cells of two lines. */
export const INVOICE_LAYOUTS: Readonly<Record<string, Layout>> = {
  right: columns([60, 360, 450, 540], "right", 16, () => ""),
  left: columns([60, 330, 400, 480], "left", 14, () => ""),
  ruled: columns([60, 330, 430, 535], "right", 18, grid([55, 290, 335, 435, 540], 18)),
  narrow: columns([60, 195, 245, 300], "right", 13, () => ""),
  byColumns: (goods) => ({
    content: [0, 1, 2, 3]
      .map((column) =>
        goods
          .map((cells, at) =>
            put([60, 300, 380, 470][column] ?? 0, 600 - at * 15, cells[column] ?? ""),
          )
          .join(""),
      )
      .join(""),
  }),
  wrapped: (goods) => ({
    content: goods
      .map(([name, amount, price, sum], at) => {
        const y = 600 - at * 34;
        return (
          put(60, y, name) +
          put(60, y - 12, "as ordered by phone") +
          putRight(360, y, amount) +
          putRight(450, y, price) +
          putRight(540, y, sum)
        );
      })
      .join(""),
  }),
};

function invoice(name: string, layout: Layout, seed: number): PdfOfKind {
  const goods = items(seed, 6);
  const total = money(123_456 + seed * 977);
  const content =
    put(60, 790, "Brekke & Sons, plumbers", { size: 16 }) +
    put(60, 740, "Farmers' Cooperative") +
    put(60, 726, "Quay 7, 24103 Kiel") +
    put(380, 740, "Invoice no.") +
    put(470, 740, `R-${4_100 + seed}`) +
    put(380, 726, "Date") +
    put(470, 726, `${(seed % 27) + 1} March 2026`) +
    layout(goods).content +
    put(60, 320, "Total") +
    putRight(540, 320, total);
  return {
    kind: "invoice",
    name,
    bytes: writePages([{ content }]),
    rows: [
      ...goods,
      ["Total", total],
      ["Invoice no.", `R-${4_100 + seed}`],
      ["Date", `${(seed % 27) + 1} March 2026`],
    ],
    order: [],
  };
}

function letter(seed: number): PdfOfKind {
  const lines = Array.from({ length: 12 }, (_, at) => fill(`Line${seed}x${at}`, seed + at, 470));
  const amount = `${money(98_700 + seed * 311)} EUR`;
  const content =
    put(60, 790, "Marta Quist, Harbour Street 4, 24103 Kiel", { size: 8 }) +
    lines.map((line, at) => put(60, 680 - at * 13, line)).join("") +
    put(
      60,
      500,
      `We ask you to pay ${amount} within ${seed + 10} days, that is before the end of the agree-`,
    ) +
    put(60, 487, `ment of 19 May ${2_020 + seed}.`);
  return {
    kind: "letter",
    name: `letter ${seed}`,
    bytes: writePages([{ content }]),
    rows: [
      ...lines.map((line) => [line]),
      [`We ask you to pay ${amount} within ${seed + 10} days`],
    ],
    order: ["agreement", `19 May ${2_020 + seed}`],
  };
}

/** Drawn line by line across, as some programs do. */
function newspaper(seed: number, count: 2 | 3): PdfOfKind {
  const width = count === 2 ? 225 : 145;
  const lefts = count === 2 ? [60, 310] : [60, 225, 390];
  const texts = lefts.map((_, column) =>
    Array.from({ length: 14 }, (__, at) =>
      fill(`C${column}L${at}S${seed}`, seed + column + at, width),
    ),
  );
  const content =
    put(
      60,
      780,
      "The harbour gazette and its report of the year that has just come to its end in Kiel",
      { size: 12 },
    ) +
    Array.from({ length: 14 }, (_, at) =>
      lefts.map((left, column) => put(left, 740 - at * 12, texts[column]?.[at] ?? "")).join(""),
    ).join("");
  return {
    kind: count === 2 ? "two columns" : "three columns",
    name: `gazette ${count} ${seed}`,
    bytes: writePages([{ content }]),
    rows: texts.flat().map((line) => [line]),
    order: texts.flatMap((lines) => lines.map((line) => line.split(" ")[0] ?? "")),
  };
}

function form(seed: number): PdfOfKind {
  const values = [
    ["Name of the tenant:", `Ragna Ottesen ${seed}`],
    ["Monthly income:", `${money(300_000 + seed * 1_111)} EUR`],
    ["Move-in date:", `${(seed % 27) + 1} September 2026`],
  ] as const;
  const content =
    values.map(([label], at) => put(60, 740 - at * 40, label, { size: 12 })).join("") +
    put(85, 600, "Pets are kept", { size: 12 });
  const annotations = [
    ...values.map(([label, value], at) =>
      field(label, value, [200, 732 - at * 40, 450, 752 - at * 40]),
    ),
    field("Remarks", "", [60, 500, 450, 560]),
    checkBox("pets", seed % 2 === 0, [60, 598, 72, 610]),
    note("Text", "Jorun", `Called on day ${seed}.`, [500, 700, 520, 720]),
  ];
  return {
    kind: "form",
    name: `form ${seed}`,
    bytes: writePages([{ content, annotations }]),
    rows: [
      ...values,
      [seed % 2 === 0 ? "[x]" : "[ ]", "Pets are kept"],
      ["Jorun", `Called on day ${seed}.`],
    ],
    order: [],
  };
}

/** A landscape page: drawn turned, and shown turned back. */
function turned(seed: number): PdfOfKind {
  const lines = Array.from({ length: 8 }, (_, at) => fill(`T${at}S${seed}`, seed + at, 600));
  const goods = items(seed, 4);
  const place = (across: number, down: number, text: string): string =>
    seed % 2 === 0
      ? put(60 + down, 60 + across, text, { turn: 90 })
      : put(535 - down, 780 - across, text, { turn: 270 });
  const content =
    lines.map((line, at) => place(0, at * 14, line)).join("") +
    goods
      .map((cells, at) =>
        cells
          .map((cell, column) => place([0, 250, 350, 450][column] ?? 0, 180 + at * 16, cell))
          .join(""),
      )
      .join("");
  const page: PageDrawing = { content, more: `/Rotate ${seed % 2 === 0 ? 90 : 270}` };
  return {
    kind: "turned",
    name: `turned ${seed}`,
    bytes: writePages([page]),
    rows: [...lines.map((line) => [line]), ...goods],
    order: lines.map((line) => line.split(" ")[0] ?? ""),
  };
}

/** White words on dark ground, doubled for a shadow, spaced wide. */
function slide(seed: number): PdfOfKind {
  const figure = `${seed + 3}.5 million euros`;
  const points = [
    `Revenue of ${figure}`,
    `${seed + 40} boats in the harbour`,
    "Next step: the northern wall",
  ];
  const content =
    box([0, 0, 595, 842], "0.05 0.1 0.3") +
    put(60, 700, `HARBOUR${seed}`, { size: 28, spacing: 9, colour: "1 1 1" }).replace(
      "(HARBOUR",
      "(HARBOUR",
    ) +
    points
      .map(
        (point, at) =>
          put(81, 598 - at * 40, point, { size: 20, colour: "0.2 0.2 0.2" }) +
          put(80, 600 - at * 40, point, { size: 20, colour: "1 1 1" }),
      )
      .join("");
  return {
    kind: "slide",
    name: `slide ${seed}`,
    bytes: writePages([{ content }]),
    rows: [[`HARBOUR${seed}`], ...points.map((point) => [point])],
    order: [],
  };
}

/** Rows of figures of one width, and a sentence in pieces. */
function statement(seed: number): PdfOfKind {
  const rows = Array.from({ length: 20 }, (_, at) => [
    `${String((at % 28) + 1).padStart(2, "0")}.03.2026`,
    GOODS[(at + seed) % 6] ?? "",
    money(10_000 + at * 777 + seed * 13),
    money(500_000 - at * 777 - seed),
  ]);
  const content =
    rows
      .map((cells, at) =>
        cells
          .map((cell, column) =>
            column < 2
              ? put([60, 140][column] ?? 0, 700 - at * 14, cell, { font: "F1" })
              : putRight([0, 0, 430, 540][column] ?? 0, 700 - at * 14, cell),
          )
          .join(""),
      )
      .join("") +
    put(60, 380, "The balance") +
    put(60 + widthOf("The balance") - 2, 380, "of the account", { font: "F1" }) +
    put(60, 360, `IBAN DE02 1203 0000 0000 ${2_020 + seed} 51`, { font: "F2" });
  return {
    kind: "statement",
    name: `statement ${seed}`,
    bytes: writePages([{ content }]),
    rows: [...rows, [`IBAN DE02 1203 0000 0000 ${2_020 + seed} 51`]],
    order: [],
  };
}

/** Two pages: columns above a table, and a contract of numbered clauses. */
function report(seed: number): PdfOfKind {
  const left = Array.from({ length: 10 }, (_, at) => fill(`A${at}S${seed}`, seed + at, 225));
  const right = Array.from({ length: 10 }, (_, at) => fill(`B${at}S${seed}`, seed + at + 2, 225));
  const goods = items(seed + 5, 5);
  const first =
    left
      .map((line, at) => put(60, 760 - at * 12, line) + put(310, 760 - at * 12, right[at] ?? ""))
      .join("") +
    put(
      60,
      620,
      "Table 1: what was bought in the year for the work on the quay and the wall of the harbour",
    ) +
    goods
      .map((cells, at) =>
        cells
          .map((cell, column) => put([60, 300, 400, 480][column] ?? 0, 595 - at * 14, cell))
          .join(""),
      )
      .join("");
  const clauses = Array.from(
    { length: 6 },
    (_, at) => `${at + 1}.${seed} ${fill(`K${at}S${seed}`, at, 420)}`,
  );
  const second = clauses.map((clause, at) => put(60, 760 - at * 26, clause)).join("");
  return {
    kind: "report",
    name: `report ${seed}`,
    bytes: writePages([{ content: first }, { content: second }]),
    rows: [...left.map((line) => [line]), ...goods, ...clauses.map((clause) => [clause])],
    order: [...left, ...right].map((line) => line.split(" ")[0] ?? ""),
  };
}

const eight = <T>(make: (seed: number) => T): T[] =>
  Array.from({ length: 8 }, (_, seed) => make(seed));

export const SIX_INVOICES: readonly PdfOfKind[] = Object.entries(INVOICE_LAYOUTS).map(
  ([name, layout], at) => invoice(name, layout, at),
);

export const PDFS_OF_KINDS: readonly PdfOfKind[] = [
  ...eight(letter),
  ...eight((seed) =>
    invoice(
      `ruled ${seed}`,
      INVOICE_LAYOUTS["ruled"] ?? columns([60, 330, 430, 535], "right", 18, () => ""),
      seed,
    ),
  ),
  ...eight((seed) =>
    invoice(
      `plain ${seed}`,
      Object.values(INVOICE_LAYOUTS)[seed % 6] ??
        columns([60, 330, 430, 535], "right", 18, () => ""),
      seed + 20,
    ),
  ),
  ...eight((seed) => newspaper(seed, 2)),
  ...eight((seed) => newspaper(seed, 3)),
  ...eight(form),
  ...eight(turned),
  ...eight(slide),
  ...eight(statement),
  ...eight(report),
];
