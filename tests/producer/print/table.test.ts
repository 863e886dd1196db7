import { describe, expect, test } from "@jest/globals";
import {
  fitTable,
  layOutRecords,
  layOutTable,
  showCell,
} from "../../../src/producer/print/layout.ts";
import {
  cutInMiddle,
  cutToColumns,
  plainText,
  renderLine,
  styled,
  widthOf,
} from "../../../src/shared/terminal/styled-text.ts";

const LEFT = { title: "id", align: "left" } as const;
const ID = "0ff68725-294e-4220-9146-bf8fd3463bc8";

describe("a table", () => {
  test("takes from its widest cells what the terminal lacks", () => {
    const lines = layOutTable([LEFT, LEFT, LEFT], [[ID, "x".repeat(70), "y".repeat(50)]], 120);
    expect(lines[2]).toBe(`${ID}  ${"x".repeat(39)}…  ${"y".repeat(39)}…`);
    expect(lines.slice(1).map((line) => widthOf(plainText(line)))).toEqual([120, 120]);
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

describe("a list", () => {
  const NAME = { title: "name", align: "left", cut: "middle", least: 9 } as const;
  const STATE = { title: "state", align: "left", least: 5 } as const;
  const WHEN = { title: "when", align: "left", leftOut: 2 } as const;
  const MODEL = { title: "model", align: "left", leftOut: 1 } as const;
  const COLUMNS = [NAME, STATE, WHEN, MODEL];
  const row = ["notes/of-the-evening.md", styled("succeeded", "good"), "22:00", "small"] as const;

  test.each([
    [60, "notes/of-the-evening.md  succeeded  22:00  small", []],
    [40, "notes/o…ning.md  succeeded  22:00  small", []],
    [30, "note…g.md  succ…  22:00  small", []],
    [29, "notes…ng.md  succeeded  22:00", ["model"]],
    [20, "note…g.md  succeeded", ["when", "model"]],
    [11, "no…d  succ…", ["when", "model"]],
  ])("of %i columns cuts names in the middle and leaves columns out", (columns, line, leftOut) => {
    const fitted = fitTable(COLUMNS, [row], columns);
    expect(plainText(fitted.lines[2] ?? "")).toBe(line);
    expect(fitted.leftOut).toEqual(leftOut);
    for (const each of fitted.lines) expect(widthOf(plainText(each))).toBeLessThanOrEqual(columns);
  });

  test("measures a coloured cell without its colour, and cuts inside it", () => {
    const { lines } = fitTable([NAME, STATE], [["a", row[1]]], 12);
    expect(renderLine(lines[2] ?? "", "plain", String)).toBe("a     succe…");
    expect(renderLine(lines[2] ?? "", "color", String)).toBe("a     \u001b[32msucce\u001b[39m…");
  });
});

describe("the width of a text", () => {
  test.each([
    ["e\u0301", 1],
    ["ｶﾞ", 2],
    ["ガ", 2],
    ["한글".normalize("NFD"), 4],
    ["⌚✅", 4],
    ["→✓", 2],
    ["👍", 2],
    ["🇩🇪", 2],
    ["नमस्ते", 4],
  ])("of %j is %i columns", (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });

  test("is kept when the middle is cut, and marks stay with their characters", () => {
    expect(cutInMiddle("長い長い名前", 7)).toBe("長…名前".slice(0, 2) + "前");
    expect(cutInMiddle("abcdefge\u0301", 4)).toBe("ab…e\u0301");
    expect(cutInMiddle("abc", 3)).toBe("abc");
    for (let columns = 1; columns < 12; columns += 1) {
      expect(widthOf(cutInMiddle("ab長e\u0301い🚋長い名前xy", columns))).toBeLessThanOrEqual(
        columns,
      );
    }
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
