import { describe, expect, test } from "@jest/globals";
import { layOutRecords } from "../../../src/producer/print/records.ts";
import { layOutTable, showCell } from "../../../src/producer/print/table.ts";
import { cutToColumns, widthOf } from "../../../src/producer/print/text-width.ts";

const LEFT = { title: "id", align: "left" } as const;
const ID = "0ff68725-294e-4220-9146-bf8fd3463bc8";

describe("a table", () => {
  test("takes from its widest cells what the terminal lacks", () => {
    const lines = layOutTable([LEFT, LEFT, LEFT], [[ID, "x".repeat(70), "y".repeat(50)]], 120);
    expect(lines[2]).toBe(`${ID}  ${"x".repeat(39)}…  ${"y".repeat(39)}…`);
    expect(lines.slice(1).map(widthOf)).toEqual([120, 120]);
  });

  test("never cuts an id, also where it does not fit", () => {
    const lines = layOutTable([LEFT, LEFT, LEFT], [[ID, ID, ID]], 80);
    expect(lines[2]).toBe(`${ID}  ${ID}  ${ID}`);
  });

  test("aligns wide characters and combining marks by the columns they take", () => {
    const lines = layOutTable(
      [LEFT, LEFT],
      [
        ["長い", "x"],
        ["e\u0301", "x"],
      ],
    );
    expect(lines.slice(2)).toEqual(["長い  x", "e\u0301     x"]);
  });
});

describe("a cell", () => {
  test("is one line: breaks are shown, tabs are spaces, and nothing drives the terminal", () => {
    expect(showCell("a\r\n  b\tc\u001b[2J\u202e")).toBe("a ↵ b c␛[2J<U+202E>");
    expect(showCell(null)).toBe("-");
    expect(showCell("")).toBe("");
  });

  test("that is cut says so, at the width of what it holds", () => {
    expect(showCell("x".repeat(1_000_000))).toBe(`${"x".repeat(79)}…`);
    expect(widthOf(showCell("長".repeat(60)))).toBe(79);
    expect(cutToColumns("長長長", 4)).toBe("長…");
    expect(cutToColumns("長長", 4)).toBe("長長");
  });
});

test("rows that are wider than the terminal become blocks of lines that are not", () => {
  const lines = layOutRecords(
    ["id", "a longer name"],
    [
      [ID, "x".repeat(100)],
      [ID, null],
    ],
    {
      first: 501,
      mostColumns: 60,
    },
  );
  expect(lines).toEqual([
    "-- row 501 --",
    `id             ${ID}`,
    `a longer name  ${"x".repeat(44)}…`,
    "-- row 502 --",
    `id             ${ID}`,
    "a longer name  -",
  ]);
});
