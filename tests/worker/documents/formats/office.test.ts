import { describe, expect, test } from "@jest/globals";
import { readDocx } from "../../../../src/worker/documents/formats/docx.ts";
import { readOdt } from "../../../../src/worker/documents/formats/odt.ts";
import { readXlsx } from "../../../../src/worker/documents/formats/xlsx.ts";
import {
  headingStyles,
  paragraph,
  run,
  wordTable,
  writeDocx,
  writeOdt,
  writeXlsx,
  writeZip,
} from "../../../support/format-writers.ts";
import { linesWithPlaces, readWith, refusalOf } from "./read-format.ts";

describe("documents of Word", () => {
  test("have headings of any language, lists, tables, notes and comments", async () => {
    const bytes = writeDocx({
      title: "Vertrag",
      styles: headingStyles("Überschrift"),
      body:
        paragraph(run("Miete"), "Überschrift1") +
        paragraph(`${run("Die Miete beträgt 900 €.")}<w:r><w:footnoteReference w:id="2"/></w:r>`) +
        `<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr>${run("Punkt")}</w:p>` +
        wordTable([
          ["Raum", "Größe"],
          ["Küche", "12 | 13"],
        ]) +
        paragraph(`${run("Ende")}<w:r><w:commentReference w:id="0"/></w:r>`),
      footnotes: `<w:footnote w:type="separator" w:id="0">${paragraph(run("line"))}</w:footnote><w:footnote w:id="2">${paragraph(run("Ohne Heizung."))}</w:footnote>`,
      comments: `<w:comment w:id="0" w:author="Ada">${paragraph(run("Prüfen!"))}</w:comment>`,
    });
    const read = await readWith(readDocx, bytes);
    expect(read.text).toBe(
      "# Miete\n\nDie Miete beträgt 900 €.[^1]\n\n  - Punkt\n\n| Raum | Größe |\n| --- | --- |\n| Küche | 12 \\| 13 |\n\n" +
        "Ende[comment 0]\n\n[^1]: Ohne Heizung.\n\n[comment 0] Ada: Prüfen!\n\n",
    );
    expect(read.metadata).toEqual({ title: "Vertrag", created: "2026-01-05T08:00:00Z" });
  });

  test("number their notes as Word does, in the order of the marks", async () => {
    const mark = (id: number, more = "") => `<w:r><w:footnoteReference${more} w:id="${id}"/></w:r>`;
    const note = (id: number) =>
      `<w:footnote w:id="${id}">${paragraph(run(`No. ${id}`))}</w:footnote>`;
    const custom = `${mark(9, ' w:customMarkFollows="1"')}${run("*")}`;
    const marks = `${run("A")}${mark(20)}${run("B")}${custom}${run("C")}${mark(3)}${mark(20)}`;
    const read = await readWith(
      readDocx,
      writeDocx({ body: paragraph(marks), footnotes: note(3) + note(9) + note(20) }),
    );
    expect(read.text).toBe(
      "A[^1]B[^c1]*C[^2][^1]\n\n[^2]: No. 3\n\n[^c1]: No. 9\n\n[^1]: No. 20\n\n",
    );
  });

  test("are read with what was put in and without what was taken out, and count both", async () => {
    const body = paragraph(
      `${run("Frist ")}<w:del w:id="1"><w:r><w:delText>14</w:delText></w:r></w:del><w:ins w:id="2">${run("30")}</w:ins>${run(" Tage")}`,
    );
    const read = await readWith(readDocx, writeDocx({ body }));
    expect(read.text).toBe("Frist 30 Tage\n\n");
    expect(read.metadata).toMatchObject({ insertions: 1, deletions: 1 });
    expect(read.leftOut).toEqual({ "deleted passages": 1 });
  });

  test("are refused with the code of what is wrong with them", async () => {
    const whole = writeDocx({ body: paragraph(run("words")) });
    expect(await refusalOf(readDocx, whole.subarray(0, -30))).toMatchObject({
      code: "FILE_FORMAT_INVALID",
    });
    expect(await refusalOf(readDocx, "no archive")).toMatchObject({ code: "FILE_FORMAT_INVALID" });
    expect(await refusalOf(readDocx, writeXlsx([]))).toMatchObject({ code: "FILE_FORMAT_INVALID" });
    const locked = writeZip([{ name: "word/document.xml", content: "x", isEncrypted: true }]);
    expect(await refusalOf(readDocx, locked)).toMatchObject({ code: "FILE_ENCRYPTED" });
    const password = Buffer.concat([
      Buffer.from("d0cf11e0a1b11ae1", "hex"),
      Buffer.from("EncryptedPackage", "utf16le"),
    ]);
    expect(await refusalOf(readDocx, password)).toMatchObject({ code: "FILE_ENCRYPTED" });
  });

  test.each([
    ["more than it says", { size: 100 }, "FILE_FORMAT_INVALID"],
    ["too much", {}, "FILE_TOO_LARGE"],
  ])("that unpack to %s are refused before they do", async (_, lie, code) => {
    const bomb = writeZip([
      { name: "word/document.xml", content: Buffer.alloc(2_000_000, 32), ...lie },
    ]);
    expect(await refusalOf(readDocx, bomb, { unpackedBytes: 1_000_000 })).toMatchObject({ code });
  });

  test("with entities of their own are refused", async () => {
    const xml = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>';
    const bomb = writeZip([{ name: "word/document.xml", content: xml }]);
    expect(await refusalOf(readDocx, bomb)).toMatchObject({
      code: "FILE_FORMAT_INVALID",
      why: expect.stringContaining("document type"),
    });
  });

  test("nested 100,000 deep are read without recursion", async () => {
    const body = `${"<w:tbl><w:tr><w:tc>".repeat(20_000)}${paragraph(run("deep"))}${"</w:tc></w:tr></w:tbl>".repeat(20_000)}`;
    expect((await readWith(readDocx, writeDocx({ body }))).text).toContain("deep");
  });
});

describe("text documents of LibreOffice", () => {
  test("have headings, lists, tables and notes", async () => {
    const body =
      '<text:h text:outline-level="2">Horaires</text:h><text:p>Le bureau ouvre à <text:span>8 h</text:span>.' +
      "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Sauf lundi.</text:p></text:note-body></text:note></text:p>" +
      "<text:list><text:list-item><text:p>un</text:p></text:list-item></text:list>" +
      "<table:table><table:table-row><table:table-cell><text:p>Jour</text:p></table:table-cell><table:table-cell><text:p>Heure</text:p></table:table-cell></table:table-row></table:table>";
    const read = await readWith(readOdt, writeOdt(body, "Guide"));
    expect(read.text).toBe(
      "## Horaires\n\nLe bureau ouvre à 8 h.[^1]\n\n- un\n\n| Jour | Heure |\n| --- | --- |\n\n[^1]: Sauf lundi.\n\n",
    );
    expect(read.metadata).toEqual({ title: "Guide" });
  });

  test("with a password are refused", async () => {
    const locked = writeOdt("", "", "<manifest:encryption-data/>");
    expect(await refusalOf(readOdt, locked)).toMatchObject({ code: "FILE_ENCRYPTED" });
  });
});

describe("workbooks", () => {
  test("have a line a row under the name of its sheet, days as days, formulas with their results", async () => {
    const bytes = writeXlsx([
      {
        name: "Preise",
        rows: [
          ["Preisliste 2026"],
          ["Artikel", "Preis", "Gültig ab"],
          ["Schraube", 1.2, { day: 46_023 }],
          [],
          ["Summe", { formula: "SUM(B3:B3)", result: 1.2 }],
        ],
      },
      { name: "Intern", isHidden: true, rows: [["geheim"]] },
    ]);
    const read = await readWith(readXlsx, bytes);
    expect(linesWithPlaces(read)).toEqual([
      ["## Preise", { sheet: "Preise", row: 1 }],
      ["Preisliste 2026", { sheet: "Preise", row: 1 }],
      ["Artikel; Preis; Gültig ab", { sheet: "Preise", row: 2 }],
      ["Artikel: Schraube; Preis: 1.2; Gültig ab: 2026-01-01", { sheet: "Preise", row: 3 }],
      ["Artikel: Summe; Preis: 1.2 (=SUM(B3:B3))", { sheet: "Preise", row: 5 }],
      ["## Intern (hidden)", { sheet: "Intern", row: 1 }],
      ["geheim", { sheet: "Intern", row: 1 }],
    ]);
    expect(read.metadata).toMatchObject({
      sheets: ["Preise", "Intern"],
      hidden_sheets: ["Intern"],
    });
  });

  const rawBook = (
    rows: string,
    { strings = "", book = "", styles = "", margins = "" } = {},
  ): Buffer =>
    writeZip([
      {
        name: "xl/workbook.xml",
        content: `<workbook xmlns:r="urn:r"><sheets><sheet name="A" r:id="r1"/></sheets>${book}</workbook>`,
      },
      {
        name: "xl/_rels/workbook.xml.rels",
        content:
          '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="a.xml"/><Relationship Id="r2" Type="x/sharedStrings" Target="s.xml"/><Relationship Id="r3" Type="x/styles" Target="f.xml"/></Relationships>',
      },
      {
        name: "xl/a.xml",
        content: `<worksheet><sheetData>${rows}</sheetData>${margins}</worksheet>`,
      },
      { name: "xl/f.xml", content: `<styleSheet>${styles}</styleSheet>` },
      { name: "xl/s.xml", content: `<sst>${strings}</sst>` },
    ]);

  test("keep digits above and below the line apart from the figure before them", async () => {
    const run = (text: string, align = ""): string =>
      `<r><rPr>${align === "" ? "" : `<vertAlign val="${align}"/>`}</rPr><t>${text}</t></r>`;
    const area = `${run("1250")}${run("1", "superscript")}${run(" m")}`;
    const gas = `${run("CO")}${run("2", "subscript")}${run(" 44")}`;
    const count = `${run("14")}${run("2", "superscript")}`;
    const rows = `<row><c t="s"><v>0</v></c><c t="inlineStr"><is>${gas}</is></c><c t="inlineStr"><is>${count}</is></c><c><v>7</v></c></row>`;
    const bytes = rawBook(rows, { strings: `<si>${area}</si>` });
    expect((await readWith(readXlsx, bytes)).text).toContain("1250¹ m; CO₂ 44; 14²; 7\n");
  });

  test("have what is printed above and below each page, without its number and its look", async () => {
    const margins =
      '<headerFooter differentFirst="1"><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Draft of R&amp;&amp;D&amp;RPage &amp;P of &amp;N</oddHeader>' +
      "<oddFooter>&amp;CPrices in kEUR&amp;R&amp;D</oddFooter><firstFooter>&amp;C&amp;K00-024Seite &amp;P</firstFooter></headerFooter>";
    const { text } = await readWith(readXlsx, rawBook("<row><c><v>5</v></c></row>", { margins }));
    expect(text).toBe("## A\n5\n[header]: Draft of R&D\n[footer]: Prices in kEUR\n");
  });

  test("have a zero that is shown as a line behind its currency, and no minus", async () => {
    const styles = `<numFmts><numFmt numFmtId="44" formatCode='_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)'/></numFmts><cellXfs><xf numFmtId="44"/></cellXfs>`;
    const rows = '<row><c s="0"><v>0</v></c><c s="0"><v>-5</v></c></row>';
    expect((await readWith(readXlsx, rawBook(rows, { styles }))).text).toContain("$0; $-5\n");
  });

  test("have the characters that their program wrote by number", async () => {
    const bytes = rawBook('<row><c t="str"><v>one_x000D_\ntwo_x005F_x000D_</v></c></row>');
    expect((await readWith(readXlsx, bytes)).text).toContain("one two_x000D_\n");
  });

  test("count formulas that no program reckoned, and a 0 that stands for that is no figure", async () => {
    const rows = "<row><c><f>B1*2</f><v>0</v></c><c><f>C1</f><v>7</v></c><c><f>D1</f></c></row>";
    const held = await readWith(readXlsx, rawBook(rows));
    expect(held.text).toContain("0 (=B1*2); 7 (=C1); (=D1)\n");
    expect(held.leftOut).toEqual({ "formulas without a result": 1 });
    const unreckoned = await readWith(
      readXlsx,
      rawBook(rows, { book: '<calcPr fullCalcOnLoad="1"/>' }),
    );
    expect(unreckoned.text).toContain("(=B1*2); 7 (=C1); (=D1)\n");
    expect(unreckoned.text).not.toContain("0 (");
    expect(unreckoned.leftOut).toEqual({ "formulas without a result": 2 });
  });

  test("with more rows than are allowed are refused", async () => {
    const rows = Array.from({ length: 20 }, () => ["a"]);
    expect(
      await refusalOf(readXlsx, writeXlsx([{ name: "S", rows }]), { entries: 10 }),
    ).toMatchObject({
      code: "FILE_TOO_LARGE",
    });
  });
});
