import { describe, expect, test } from "@jest/globals";
import { textFor } from "../../../../src/worker/models/extractive/text-for.ts";
import { pieceOf } from "../../verify/claims/pieces-of.ts";
import { put, putMapped, putRight, rule, widthOf, writePages } from "../../../support/pdf-pages.ts";
import { extractText } from "../../../support/read-documents.ts";

async function textOf(content: string, letters: readonly string[] = []): Promise<string> {
  const found = await extractText("a.pdf", writePages([{ content }], { letters }));
  if (found.kind !== "text") throw new Error(found.why);
  return found.text;
}

type Aligned = "left" | "right" | "centre";

/** As a program sets a table: where its columns begin and end, and from row to row. */
type Layout = {
  readonly edges: readonly number[];
  readonly padding: number;
  readonly pitch: number;
  readonly rules?: "all" | "below the names";
  readonly figures: Aligned;
  readonly names: Aligned;
};

const TOP = 700;

function draw(rows: readonly (readonly string[])[], layout: Layout): string {
  const { edges, padding, pitch, rules, figures, names } = layout;
  const cells = rows.flatMap((row, at) =>
    row.map((cell, column) => {
      if (cell === "") return "";
      const [left, right] = [(edges[column] ?? 0) + padding, (edges[column + 1] ?? 0) - padding];
      const y = TOP - at * pitch;
      const aligned = column === 0 ? "left" : at === 0 ? names : figures;
      if (aligned === "left") return put(left, y, cell);
      if (aligned === "right") return putRight(right, y, cell);
      return put((left + right - widthOf(cell)) / 2, y, cell);
    }),
  );
  const [left, right] = [edges[0] ?? 0, edges.at(-1) ?? 0];
  const level = (row: number): string => {
    const y = TOP + pitch * 0.65 - row * pitch;
    return rule(left, y, right, y);
  };
  const bottom = TOP + pitch * 0.65 - rows.length * pitch;
  const lines =
    rules === "all"
      ? [
          ...rows.map((_, row) => level(row)),
          ...edges.map((x) => rule(x, bottom, x, TOP + pitch * 0.65)),
        ]
      : rules === undefined
        ? []
        : [level(1)];
  return [...lines, ...cells].join("");
}

const LAYOUTS: Readonly<Record<string, Omit<Layout, "figures" | "names">>> = {
  "of a typesetter, as narrow as its words": {
    ...{ edges: [72, 162, 202, 242, 282], padding: 4, pitch: 12 },
  },
  "of a report, ruled": {
    ...{ edges: [72, 192, 262, 332, 402], padding: 6, pitch: 18, rules: "all" },
  },
  "of a report": { edges: [72, 192, 262, 332, 402], padding: 6, pitch: 18 },
  "of a web page with much white": {
    ...{ edges: [72, 230, 340, 450, 560], padding: 8, pitch: 26, rules: "below the names" },
  },
  "of a sheet": { edges: [57, 157, 197, 237, 277], padding: 2, pitch: 13 },
};

const COSTS = [
  ["Item", "2023", "2024", "2025"],
  ["Rope", "", "300", "310"],
  ["Sail cloth", "1,200", "", ""],
  ["Materials", "", "", ""],
  ["Anchor", "", "", "7"],
  ["Total", "1,245", "350", "317"],
];

const RULE = "| --- | --- | --- | --- |";
const [NAMES = "", ...ROWS] = COSTS.map((cells) => `| ${cells.join(" | ")} |`);
const written = [NAMES, RULE, ...ROWS].join("\n");

describe.each(Object.entries(LAYOUTS))("a table of which cells are empty, %s", (_, layout) => {
  test.each<readonly [Aligned, Aligned]>([
    ["left", "left"],
    ["right", "right"],
    ["centre", "centre"],
    ["centre", "right"],
    ["left", "right"],
  ])("with names %s and figures %s has each figure below its year", async (names, figures) => {
    const below = put(57, 480, "The board reported these figures in May, and nobody asked.");
    const text = await textOf(draw(COSTS, { ...layout, names, figures }) + below);
    expect(text).toBe(`${written}\n\nThe board reported these figures in May, and nobody asked.`);
  });
});

test("rules say which column a figure is of that stands below no name", async () => {
  const rows = [
    ["Item", "A", "B", "C"],
    ["Rope", "12", "", ""],
    ["Sail", "", "40", ""],
  ];
  const layout = { edges: [72, 192, 282, 372, 462], padding: 6, pitch: 18 } as const;
  const ends = { names: "left", figures: "right" } as const;
  const ruled = await textOf(draw(rows, { ...layout, ...ends, rules: "all" }));
  expect(ruled.split("\n").slice(2)).toEqual(["| Rope | 12 |  |  |", "| Sail |  | 40 |  |"]);
  const unruled = await textOf(draw(rows, { ...layout, ...ends }));
  expect(unruled).toBe("Item | A | B | C\nRope | 12\nSail | 40");
});

test("a part's title, totals over several columns and a group of names keep their place", async () => {
  const rows = [
    ["", "Budget", "", "Actual", ""],
    ["Item", "2023", "2024", "2023", "2024"],
    ["Rope", "", "300", "", "310"],
    ["Sail", "40", "", "41", ""],
    ["Sum of all that was bought", "", "300", "41", "310"],
  ];
  const edges = [72, 152, 222, 292, 362, 432];
  const text = await textOf(
    draw(rows, { edges, padding: 4, pitch: 14, figures: "right", names: "right" }),
  );
  expect(text.split("\n")).toEqual([
    "Budget | Actual",
    "| Item | 2023 | 2024 | 2023 | 2024 |",
    "| --- | --- | --- | --- | --- |",
    "| Rope |  | 300 |  | 310 |",
    "| Sail | 40 |  | 41 |  |",
    "| Sum of all that was bought |  | 300 | 41 | 310 |",
  ]);
});

test("lines that are no table stay as they are, below a running title or set wide", async () => {
  const title =
    put(60, 780, "TAR(1)") + put(250, 780, "General Commands") + put(500, 780, "TAR(1)");
  const prose = [
    put(60, 740, "The index of the cursor.") +
      put(260, 740, "If it is at the end, the value is 3."),
    put(60, 728, "The beginning of the line is 0.") + put(500, 728, "See 4."),
    put(
      60,
      716,
      "A value of less than that is read as 0, and another is refused by the shell at once.",
    ),
  ].join("");
  expect(await textOf(title + prose)).not.toContain("| ---");
  const wide = [
    "If this variable is not set, bash acts as if it had".split(" "),
    ["the value 3 of", "2023 and"],
    ["its last line", "says 4"],
  ].map((words, at) =>
    words.map((word, place) => put(60 + place * 42, 700 - at * 12, word)).join(""),
  );
  expect(await textOf(wide.join(""))).not.toContain("| ---");
});

test("names whose figures all stand in full rows are no table that is drawn anew", async () => {
  const rows = COSTS.filter((cells) => !cells.includes(""));
  const layout = { edges: [72, 192, 262, 332, 402], padding: 6, pitch: 18 } as const;
  expect(await textOf(draw(rows, { ...layout, names: "left", figures: "left" }))).toBe(
    "Item | 2023 | 2024 | 2025\nTotal | 1,245 | 350 | 317",
  );
});

test("a question over a table of a page is answered by the cell that it asks for", async () => {
  const layout = { edges: [72, 192, 262, 332, 402], padding: 6, pitch: 18 } as const;
  const text = await textOf(draw(COSTS, { ...layout, names: "right", figures: "right" }));
  const question = "What did the rope cost in 2024?";
  const evidence = [pieceOf("costs.pdf", text)];
  expect(textFor({ purpose: "answer", question, evidence, sentences: 3 })).toBe(
    "Item: Rope; 2024: 300 [1]",
  );
});

describe("words from right to left", () => {
  const letters = ["م", "ح", "د", "ع", "1", "2"];

  test("name columns from the right on, and figures stand below them", async () => {
    const rows = [
      ["AB", "BC", "CD"],
      ["E", "", "AC"],
      ["", "F", "BD"],
      ["F", "E", "DA"],
    ];
    const content = rows.map((cells, row) =>
      cells.map((cell, at) => (cell === "" ? "" : putMapped(60 + at * 80, 700 - row * 14, cell))),
    );
    expect((await textOf(content.flat().join(""), letters)).split("\n").slice(2, 4)).toEqual([
      "| دم |  | 1 |",
      "| عح | 2 |  |",
    ]);
  });
});

test("a cell in the middle of the lines of another one is of its row", async () => {
  const line = (y: number): string => rule(72, y, 430, y);
  const row = (y: number, work: string, hours: string, sum: string): string =>
    put(72, y, work) + putRight(320, y, hours) + putRight(430, y, sum) + line(y - 7);
  const text = await textOf(
    row(700, "Work", "Hours", "Sum") +
      row(680, "Shelf of oak", "8", "1,890.00") +
      row(660, "Door", "2", "90.00") +
      put(72, 636, "Net total") +
      putRight(430, 642, "1,980.00") +
      putRight(430, 630, "euros") +
      line(623),
  );
  expect(text.split("\n").at(-1)).toBe("| Net total |  | 1,980.00 euros |");
});

test("rows below each other with a figure each are no lines of one row", async () => {
  const cells = (y: number, day: string, text: string, [out, in_]: [string, string]): string =>
    put(72, y, day) + put(130, y, text) + putRight(330, y, out) + putRight(400, y, in_);
  const text = await textOf(
    put(72, 700, "Day") +
      put(130, 700, "Text") +
      putRight(330, 700, "Paid out") +
      putRight(400, 700, "Paid in") +
      putRight(480, 700, "Balance") +
      cells(686, "01 Nov", "Water", ["179.42", ""]) +
      putRight(480, 686, "2,230.76") +
      cells(672, "01 Nov", "Rent", ["113.51", ""]) +
      putRight(480, 672, "2,117.25") +
      cells(658, "02 Nov", "Cash", ["144.32", ""]) +
      putRight(480, 658, "1,972.93") +
      cells(639, "04 Nov", "Payment of a firm", ["", "80.77"]) +
      putRight(480, 639, "2,053.70") +
      put(130, 627, "for November") +
      cells(608, "05 Nov", "Card on a market", ["60.76", ""]) +
      putRight(480, 608, "1,992.94") +
      put(130, 596, "of 12 Nov"),
  );
  expect(text.split("\n")).toEqual([
    "| Day | Text | Paid out | Paid in | Balance |",
    "| --- | --- | --- | --- | --- |",
    "| 01 Nov | Water | 179.42 |  | 2,230.76 |",
    "| 01 Nov | Rent | 113.51 |  | 2,117.25 |",
    "| 02 Nov | Cash | 144.32 |  | 1,972.93 |",
    "| 04 Nov | Payment of a firm for November |  | 80.77 | 2,053.70 |",
    "| 05 Nov | Card on a market of 12 Nov | 60.76 |  | 1,992.94 |",
  ]);
});

test("a table below two columns of text is none of them, where their gutter goes through it", async () => {
  const column = (x: number, words: readonly string[]): string =>
    words.map((line, at) => put(x, 700 - at * 12, line)).join("");
  const row = (y: number, meter: string, number: string, reading: string): string =>
    put(72, y, meter) + put(160, y, number) + put(310, y, reading);
  const text = await textOf(
    column(72, [
      "The tenant keeps the flat in good order",
      "and reports what is broken in a week.",
      "Small repairs up to 90 are paid by him.",
      "The boiler is serviced each year in May",
      "by the firm that has put it in, at noon.",
      "He is at home on that day for an hour.",
    ]) +
      column(310, [
        "Smoke alarms are tested on each Monday.",
        "The garden is shared with the next flat.",
        "Bicycles stand in the shed behind it all.",
        "Bins are emptied on Thursdays at seven.",
        "Glass is fetched on each second Tuesday.",
        "Quiet hours are from ten in the evening.",
      ]) +
      row(600, "Meter", "Number", "Reading") +
      row(586, "Power", "DD-8812", "4512") +
      row(572, "Water", "WW-1109", "118"),
  );
  expect(text).toMatch(/for an hour\.\n+Smoke alarms/);
  expect(text).toMatch(/Meter \| Number \| Reading\n(?:.*\n)?.*Power \| DD-8812 \| 4512/);
});

describe("a table with a rule below each cell, as browsers draw it", () => {
  const EDGES = [60, 150, 330, 400, 500];
  const below = (y: number, edges: readonly number[] = EDGES): string =>
    edges
      .slice(1)
      .map((x, at) => rule(edges[at] ?? 0, y, x, y))
      .join("");
  const NAMES = [
    put(62, 700, "Policy"),
    put(152, 700, "Cover"),
    put(332, 700, "EUR"),
    put(402, 700, "Ends"),
  ].join("");
  const ROWS = [
    ...[
      put(62, 674, "Household"),
      put(152, 680, "Furniture and clothes, also"),
      put(152, 668, "damage by water"),
    ],
    ...[put(370, 674, "184.20"), put(402, 674, "31 Dec 2026"), below(660)],
    ...[put(62, 645, "Legal"), put(152, 645, "Disputes"), put(402, 645, "cancelled"), below(637)],
  ].join("");

  test("has a row for each, whose cells go over several lines, and knows which are empty", async () => {
    const last = [put(62, 622, "Sum of all policies of the house"), put(370, 622, "184.20")].join(
      "",
    );
    const content = [
      put(60, 730, "Insurance"),
      NAMES,
      below(694),
      ROWS,
      last,
      below(614, [60, 330, 400, 500]),
    ].join("");
    expect(await textOf(`${content}${put(60, 590, "Paid in May.")}`)).toBe(
      [
        ...["Insurance", "", "| Policy | Cover | EUR | Ends |", "| --- | --- | --- | --- |"],
        "| Household | Furniture and clothes, also damage by water | 184.20 | 31 Dec 2026 |",
        "| Legal | Disputes |  | cancelled |",
        "| Sum of all policies of the house |  | 184.20 |  |",
        ...["", "Paid in May."],
      ].join("\n"),
    );
  });

  test("is read line by line where rows have no rule between them, or text stands beside it", async () => {
    const more = [
      put(62, 622, "Car"),
      put(370, 622, "611.75"),
      put(62, 608, "Boat"),
      put(370, 608, "90.00"),
    ];
    const several = [NAMES, below(694), ROWS, ...more, below(600)].join("");
    expect(await textOf(several)).toMatch(/^Car \| 611\.75\nBoat \| 90\.00$/m);
    const beside = [NAMES, below(694), ROWS, put(520, 645, "See page 3"), below(614)].join("");
    expect(await textOf(beside)).toContain("See page 3");
  });
});
