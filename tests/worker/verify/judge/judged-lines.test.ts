import { describe, expect, test } from "@jest/globals";
import { besideFields } from "../../../../src/worker/verify/judge/judged-fields.ts";
import { linesFor, nearestOf } from "../../../../src/worker/verify/judge/judged-lines.ts";
import { pieceOf } from "../claims/pieces-of.ts";

const textsOf = (statement: string, ...texts: readonly string[]): readonly string[] =>
  linesFor(
    statement,
    texts.map((text, at) => pieceOf(`notes/${at}.md`, text, at + 1)),
  ).map(({ text }) => text);

const FERRY =
  "# Ferry\n\nIt leaves at 09:15. The crossing takes 42 minutes.\n\n## Fares\n\nA ticket costs 12 EUR.\n";

describe("a short piece", () => {
  test("is shown whole, a sentence a line, below its file and headings", () => {
    expect(linesFor("The passage lasts 42 minutes.", [pieceOf("notes/ferry.md", FERRY)])).toEqual([
      { source: "notes/ferry.md > Ferry", text: "It leaves at 09:15." },
      { source: "notes/ferry.md > Ferry", text: "The crossing takes 42 minutes." },
      { source: "notes/ferry.md > Ferry > Fares", text: "A ticket costs 12 EUR." },
    ]);
  });

  test("that is a part of a file keeps the headings that it was found below", () => {
    const piece = { ...pieceOf("a.md", "It is closed."), headingPath: "Harbour > Winter" };
    expect(linesFor("It is not open.", [piece])).toEqual([
      { source: "a.md > Harbour > Winter", text: "It is closed." },
    ]);
  });

  test("of table rows names the columns", () => {
    const table =
      "# Fares\n\n| Who | Price |\n| --- | --- |\n| Child | 4 EUR |\n| Adult | 12 EUR |\n";
    const rows = textsOf("An adult pays 12 EUR.", table).filter((text) => text.includes("12 EUR"));
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatch(/Who.*Adult.*Price.*12 EUR/s);
    expect(rows[0]).not.toContain("Child");
  });

  test("of many short lines shows the one that says the statement, wherever it stands", () => {
    const list = Array.from({ length: 60 }, (_, at) => `- Berth ${at + 1} is free.`);
    list[55] = "- Anna Berg rents the slip.";
    const lines = textsOf("The slip is rented by Anna Berg.", `# Berths\n\n${list.join("\n")}\n`);
    expect(lines.some((text) => text.includes("Anna Berg rents the slip."))).toBe(true);
    expect(lines.length).toBeLessThanOrEqual(40);
  });

  test("that holds nothing gives no line", () => {
    expect(linesFor("It is so.", [pieceOf("a.md", "")])).toEqual([]);
    expect(linesFor("It is so.", [pieceOf("a.md", "# A heading alone\n")])).toEqual([]);
    expect(linesFor("It is so.", [])).toEqual([]);
  });
});

const filler = (at: number): string =>
  `In week ${at} the crew painted hull number ${at} and wrote a report about it.`;
const LONG = Array.from({ length: 60 }, (_, at) =>
  at === 41 ? "The pump was replaced by Maria Lund in May." : filler(at),
);

describe("a long piece", () => {
  test("is shown by its nearest lines and those beside them", () => {
    const lines = textsOf(
      "Maria Lund put in another pump in May.",
      `# Log\n\n${LONG.join("\n\n")}\n`,
    );
    expect(lines).toContain("The pump was replaced by Maria Lund in May.");
    expect(lines).toContain(filler(40));
    expect(lines).toContain(filler(42));
    expect(lines.length).toBeLessThanOrEqual(9);
  });

  test("has them in its own order, each once", () => {
    const lines = textsOf(
      "Maria Lund put in another pump in May.",
      `# Log\n\n${LONG.join("\n\n")}\n`,
    );
    const places = lines.map((text) => LONG.indexOf(text));
    expect(places).toEqual([...new Set(places)].sort((one, other) => one - other));
  });

  test("of which two sentences together come nearest shows both", () => {
    const said = LONG.map((text) => `${text} It was signed.`);
    said[20] = "Maria Lund replaced the pump. She lifted it in May with a crane from Oslo.";
    const statement = "In May Maria Lund replaced the pump and lifted it with a crane from Oslo.";
    const lines = textsOf(statement, `# Log\n\n${said.join("\n\n")}\n`);
    expect(lines).toContain("Maria Lund replaced the pump.");
    expect(lines).toContain("She lifted it in May with a crane from Oslo.");
    expect(lines.length).toBeLessThanOrEqual(12);
  });

  test("of which only pairs are near shows their sentences", () => {
    const said = Array.from({ length: 8 }, (_, at) =>
      at < 4
        ? `The crane lifted boat ${at}. It was rented from Oslo. ${filler(at)}`
        : `${filler(at)} `.repeat(5),
    );
    const lines = textsOf("The crane was rented from Oslo.", `# Log\n\n${said.join("\n\n")}\n`);
    expect(lines).toContain("It was rented from Oslo.");
  });

  test("that says nothing of the statement still shows something", () => {
    const lines = textsOf("Quartz resonates.", `# Log\n\n${LONG.join("\n\n")}\n`);
    expect(lines.length).toBeGreaterThan(0);
  });

  test("beside a short one: both are looked through", () => {
    const lines = textsOf(
      "Maria Lund put in another pump in May.",
      `# Log\n\n${LONG.filter((_, at) => at !== 41).join("\n\n")}\n`,
      "# Pump\n\nThe pump was replaced by Maria Lund in May.\n",
    );
    expect(lines).toContain("The pump was replaced by Maria Lund in May.");
  });
});

test("the few lines of a second try are those that say most of the statement", () => {
  const lines = LONG.map((text) => ({ source: "log.md", text }));
  const few = nearestOf("In May Maria Lund put in another pump.", lines, 4);
  expect(few).toHaveLength(4);
  expect(few).toContain(lines[41]);
  expect(nearestOf("Quartz resonates.", lines.slice(0, 3), 4)).toEqual(lines.slice(0, 3));
  const japanese = ["船は九時に出る。", "料金は十二ユーロ。", "犬は乗れない。"].map((text) => ({
    source: "ja.md",
    text,
  }));
  expect(nearestOf("料金が十二ユーロです。", japanese, 1)).toEqual([japanese[1]]);
});

test("a value with a quote that spans many lines is shown with at most 40, its own among them", () => {
  const piece = pieceOf("log.md", `Deposit 12 EUR\n\n${LONG.join("\n\n")}\n\nTotal 4711 EUR\n`);
  const field = {
    ...{ pointer: "/total", value: 4711, about: "total", options: null, isJudged: false },
    ...{ quote: null, quoteBeside: null, without: "kept" as const, isInList: false },
  };
  const { number, path, sha256, startChar, endChar, lineStart, lineEnd } = piece;
  const span = { number, path, sha256, startChar, endChar, lineStart, lineEnd };
  const [asked] = besideFields({ fields: [{ field, span }], evidence: [piece] });
  expect(asked?.lines.length).toBeLessThanOrEqual(40);
  expect(asked?.lines.map(({ text }) => text)).toContain("Total 4711 EUR");
});

test("a line that is cut within an emoji holds no half of it, which hosts refuse in JSON", () => {
  for (const lead of ["It ", "It is "]) {
    const text = `${lead}${"🚢".repeat(700)} sails`;
    expect(textsOf("It sails.", text).every((line) => line.isWellFormed())).toBe(true);
  }
  expect(textsOf("It sails.", `It ${"🚢".repeat(700)} sails`)[0]).toMatch(/^It 🚢/);
});
