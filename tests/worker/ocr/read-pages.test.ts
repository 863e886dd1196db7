import { afterAll, expect, test } from "@jest/globals";
import { drawWithoutRules } from "../../../src/worker/ocr/without-rules.ts";
import { figuresOf, linesOf, openReader, pageFile, recordOf } from "./small-pages.ts";

const read = openReader();
afterAll(() => {
  read.close();
});

const LETTER_FIGURES = [
  ...["14", "YO21", "3PU", "12", "2026", "250", "9", "1.85", "1.94", "38.5", "462.50"],
  ...["4417", "4419", "23", "01947", "600", "312"],
];

test("reads a letter word by word, with each figure read by two", async () => {
  const record = await recordOf(read, "letter.jpg", {});
  expect(linesOf(record).slice(0, 4)).toEqual([
    "Harbour Supplies Ltd",
    "14 Quay Street, Whitby YO21 3PU",
    "12 March 2026",
    "Dear Ms Okafor,",
  ]);
  expect(figuresOf(record, "two")).toEqual(LETTER_FIGURES);
  expect(record).toMatchObject({ turned: 0, mode: 3, leftInk: 0, picture: { format: "jpeg" } });
  expect(record.engine).toMatch(/^5\.1\.0\S*: eng 5dc5d8d6; 5\.1\.0\S*: eng 7d4322bd$/);
  const [word] = record.lines[0]?.words ?? [];
  expect(word?.text).toBe("Harbour");
  expect(word?.box.map((side) => Math.round(side / 10))).toEqual([8, 10, 21, 12]);
});

test("says of every figure that one read it where no second model is asked", async () => {
  const record = await recordOf(read, "letter.jpg", { second: "none" });
  expect(figuresOf(record, "one")).toEqual(LETTER_FIGURES);
});

test("reads umlauts and amounts of a German letter", async () => {
  const record = await recordOf(read, "brief.jpg", { languages: ["deu"] });
  expect(linesOf(record)).toContain("Betriebskostenabrechnung für das Jahr 2025");
  expect(linesOf(record)).toContain("Sehr geehrte Frau Größl,");
  expect(figuresOf(record, "two")).toEqual(
    expect.arrayContaining(["68,4", "213,76", "2.160,00", "2.373,76", "556"]),
  );
});

test("reads a ruled table whose rules hide it from the engine, cell by cell", async () => {
  const record = await recordOf(read, "invoice.webp", {});
  expect(linesOf(record).slice(2)).toEqual([
    "Item | Description | Quantity | Price | Amount",
    "A-1170 | Ball bearing 22 mm | 40 | 3.15 | 126.00",
    "B-2290 | Drive belt, long | 12 | 18.40 | 220.80",
    "C-0345 | Grease, 400 g | 25 | 6.72 | 168.00",
    "D-7781 | Shaft seal | 60 | 2.09 | 125.40",
    "Total | 640.20",
  ]);
  expect(record).toMatchObject({ mode: 6, rules: "removed", leftInk: 0 });
});

test("reads two columns one after the other", async () => {
  const lines = linesOf(await recordOf(read, "columns.webp", {}));
  expect(lines[1]).toBe("In spring 84 wells were inspected by");
  expect(lines.indexOf("reached 46 metres below the surface.")).toBeLessThan(
    lines.indexOf("over the summer, and by 5.1 metres at"),
  );
});

test("finds the prices of a receipt beside what they are for", async () => {
  const lines = linesOf(await recordOf(read, "receipt.png", { languages: ["spa"] }));
  expect(lines).toEqual(
    expect.arrayContaining(["Cappuccino | 2,45", "Tarta queso | 5,25", "TOTAL EUR | 19,75"]),
  );
});

test("turns a page that lies on its side", async () => {
  const record = await recordOf(read, "turned.jpg", {});
  expect(record).toMatchObject({ turned: 270, picture: { width: 1148, height: 868 } });
  expect(figuresOf(record, "two")).toEqual(LETTER_FIGURES);
});

test("removes the rules of a page whose lines run vertically", () => {
  const ink = { width: 32, height: 200, perRow: 1, words: new Int32Array(200).fill(1 << 8) };
  const pixels = drawWithoutRules(ink, 50, 89.99).subarray(-32 * 200);
  expect(pixels.every((pixel) => pixel === 255)).toBe(true);
});

test("reads the page of a PDF that is a picture", async () => {
  const record = await recordOf(read, "carta.pdf", { languages: ["spa"] });
  expect(record.picture).toEqual({ format: "pdf", width: 1230, height: 841, dpi: 200 });
  expect(figuresOf(record, "two")).toEqual(expect.arrayContaining(["1.437,90", "312,60", "58213"]));
});

test("reads each frame of a TIFF, and doubts a figure that its readers differ on", async () => {
  const first = await recordOf(read, "frames.tiff", { languages: ["spa"] });
  expect(linesOf(first)).toContain("TOTAL EUR | 19,75");
  const doubted = first.lines.flatMap(({ words }) => words).find(({ other }) => other === "1,69");
  expect(doubted).toMatchObject({ text: "1,60", figure: "doubtful" });
  const second = await recordOf(read, "frames.tiff", { page: 2 });
  expect(figuresOf(second, "two")).toEqual(LETTER_FIGURES);
  expect(second.picture).toEqual({ format: "tiff", width: 1230, height: 930 });
});

test("gives the sides of a TIFF as its tag turns it", async () => {
  const bytes = Buffer.from(pageFile("frames.tiff"));
  // In place of the samples per pixel, which are 1 without a tag: its left side is the upper one.
  const tag = bytes.indexOf(Buffer.from("150103000100000001000000", "hex"), 34_698);
  bytes.set(Buffer.from("120103000100000006000000", "hex"), tag);
  const turned = await read({ bytes, page: 2, languages: ["eng"], second: "none" });
  expect(turned).toMatchObject({ record: { turned: 270, picture: { width: 1230, height: 930 } } });
});
