import { describe, expect, test } from "@jest/globals";
import { readCsv } from "../../../../src/worker/documents/formats/csv.ts";
import { rowBlocks } from "../../../../src/worker/documents/formats/table-rows.ts";
import { splitLines } from "../../../../src/worker/documents/lines.ts";
import { expectLinear } from "../../../support/time-taken.ts";
import { linesWithPlaces, readWith, refusalOf } from "./read-format.ts";

describe("tables as text", () => {
  test("have a line for each row, with the names of the columns and the number of the row", async () => {
    const read = await readWith(readCsv, "Name,City\nAnna,Linz\n\nPaul,Graz\n");
    expect(linesWithPlaces(read)).toEqual([
      ["Name; City", { row: 1 }],
      ["Name: Anna; City: Linz", { row: 2 }],
      ["Name: Paul; City: Graz", { row: 4 }],
    ]);
    expect(read.metadata).toEqual({ encoding: "utf-8", delimiter: "comma", rows: 4 });
  });

  test.each([
    ["semicolon", "Betrag;Ort\n1.234,50;Wien\n99,90;Graz\n", "Betrag: 1.234,50; Ort: Wien"],
    ["tab", "Betrag\tOrt\n1,5\tWien, Mitte\n", "Betrag: 1,5; Ort: Wien, Mitte"],
    ["bar", "Betrag|Ort\n1,5|Wien\n", "Betrag: 1,5; Ort: Wien"],
    ["comma", 'Sum,Place\n"1,234",Rome\n', "Sum: 1,234; Place: Rome"],
  ])("with a %s between their cells", async (delimiter, table, row) => {
    const read = await readWith(readCsv, table);
    expect(read.text.split("\n")[1]).toBe(row);
    expect(read.metadata).toMatchObject({ delimiter });
  });

  test("keep what stands in quotation marks, line ends as blanks", async () => {
    const read = await readWith(
      readCsv,
      'Note,By\r\n"He said ""no"",\r\ntwice",Ann\r\nfine,"Bob" x\r\n',
    );
    expect(read.text).toBe('Note; By\nNote: He said "no", twice; By: Ann\nNote: fine; By: Bob x\n');
  });

  test("have a row that begins as the name of a sheet does as a row", async () => {
    const { text } = await readWith(readCsv, "## Notes,2\n## More,3\n");
    expect(text).toBe(" ## Notes; 2\n ## More; 3\n");
    const lines = splitLines(text);
    expect(rowBlocks(lines, 0).map(({ heading }) => heading)).toEqual([undefined, undefined]);
  });

  test("without names of columns are values alone", async () => {
    const read = await readWith(readCsv, "1,2\n3,4\n");
    expect(read.text).toBe("1; 2\n3; 4\n");
  });

  test("say in which encoding they were", async () => {
    const read = await readWith(readCsv, Buffer.from("Straße;Stück\nHauptstraße;4\n", "latin1"));
    expect(read.text).toContain("Straße: Hauptstraße; Stück: 4");
    expect(read.metadata).toMatchObject({ encoding: "windows-1252" });
    const wide = await readWith(readCsv, Buffer.from("\uFEFFA;B\nx;y\n", "utf16le"));
    expect(wide.metadata).toMatchObject({ encoding: "utf-16le" });
  });

  test("that are broken or too long are refused, and say why", async () => {
    expect(await refusalOf(readCsv, 'a,b\n1,"2\n3,4\n')).toMatchObject({
      code: "FILE_FORMAT_INVALID",
      why: expect.stringContaining("in row 2"),
    });
    expect(await refusalOf(readCsv, "a,b\n".repeat(20), { entries: 10 })).toMatchObject({
      code: "FILE_TOO_LARGE",
      why: expect.stringContaining("documents.reader.max_entries"),
    });
    expect(await refusalOf(readCsv, "abc,def\n".repeat(20), { chars: 50 })).toMatchObject({
      code: "FILE_TOO_LARGE",
    });
    expect(await refusalOf(readCsv, Buffer.from([0, 1, 2, 3]))).toMatchObject({
      code: "FILE_READ_ERROR",
    });
  });

  test.each(["a,", '"",', '""""', "\n", "a\r", '"a"b'])(
    "of %j alone take time in proportion",
    async (part) => {
      await expectLinear(100_000, (chars) => {
        const bytes = Buffer.from(part.repeat(chars / part.length));
        return () => void readWith(readCsv, bytes).catch(() => undefined);
      });
    },
  );
});
