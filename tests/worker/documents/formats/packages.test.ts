import { describe, expect, test } from "@jest/globals";
import { readEpub } from "../../../../src/worker/documents/formats/epub.ts";
import { readOdp } from "../../../../src/worker/documents/formats/odp.ts";
import { readChart } from "../../../../src/worker/documents/formats/office-chart.ts";
import { readOds } from "../../../../src/worker/documents/formats/ods.ts";
import { readPptx } from "../../../../src/worker/documents/formats/pptx.ts";
import { writeZip } from "../../../support/format-writers.ts";
import {
  shape,
  writeEpub,
  writeOpenDocument,
  writePptx,
} from "../../../support/package-writers.ts";
import { linesWithPlaces, readWith, refusalOf } from "./read-format.ts";

const CHART =
  "<c:chartSpace><c:chart><c:title><a:p><a:r><a:t>Guests a month</a:t></a:r></a:p></c:title><c:plotArea><c:ser><c:tx><c:v>Guests</c:v></c:tx>" +
  '<c:cat><c:pt idx="0"><c:v>May</c:v></c:pt><c:pt idx="1"><c:v>June</c:v></c:pt></c:cat>' +
  '<c:val><c:numRef><c:formatCode>0%</c:formatCode><c:pt idx="0"><c:v>0.31</c:v></c:pt><c:pt idx="1"><c:v>0.44</c:v></c:pt></c:numRef></c:val></c:ser></c:plotArea></c:chart></c:chartSpace>';

test("a chart has its categories as they are written, and all their levels", () => {
  const series = (categories: string): string =>
    `<c:chartSpace><c:ser><c:cat>${categories}</c:cat><c:val><c:numRef><c:pt idx="0"><c:v>5</c:v></c:pt><c:pt idx="1"><c:v>6</c:v></c:pt></c:numRef></c:val></c:ser></c:chartSpace>`;
  const [first, second] = ["007", "2.50"].map(
    (words, at) => `<c:pt idx="${at}"><c:v>${words}</c:v></c:pt>`,
  );
  expect(readChart(series(`<c:strRef>${first}${second}</c:strRef>`)).rows).toEqual([
    ["", ""],
    ["007", "5"],
    ["2.50", "6"],
  ]);
  const levels = `<c:multiLvlStrRef><c:lvl>${first}${second}</c:lvl><c:lvl><c:pt idx="0"><c:v>2025</c:v></c:pt></c:lvl></c:multiLvlStrRef>`;
  expect(readChart(series(levels)).rows[1]).toEqual(["2025 007", "5"]);
});

const numbered = (words: string): string =>
  `<a:p><a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr><a:r><a:t>${words}</a:t></a:r></a:p>`;

describe("presentations of PowerPoint", () => {
  test("are slides in their order, with lists, merged cells, charts and notes", async () => {
    const cell = (words: string, more = ""): string =>
      `<a:tc${more}><a:txBody><a:p><a:r><a:t>${words}</a:t></a:r></a:p></a:txBody></a:tc>`;
    const bytes = writePptx([
      {
        shapes: shape("title", "Season 2026") + shape("body", "More boats", "Fewer days"),
        notes: "Mention the ice.",
      },
      {
        shapes:
          shape("", numbered("Order paint"), numbered("Book the slip")) +
          `<p:graphicFrame><a:tbl><a:tr>${cell("North")}${cell("12")}</a:tr><a:tr>${cell("", ' vMerge="1"')}${cell("13")}</a:tr></a:tbl></p:graphicFrame>` +
          '<p:graphicFrame><c:chart r:id="r1"/></p:graphicFrame>',
        chart: CHART,
        isHidden: true,
      },
    ]);
    const read = await readWith(readPptx, bytes);
    expect(read.text).toBe(
      "# Season 2026\n\n- More boats\n- Fewer days\n\nNotes: Mention the ice.\n\n# Slide 2\n\n(hidden)\n\n- 1. Order paint\n- 2. Book the slip\n\n" +
        "| North | 12 |\n| --- | --- |\n| North | 13 |\n\nGuests a month\n\n|  | Guests |\n| --- | --- |\n| May | 31% |\n| June | 44% |\n\n",
    );
    expect(linesWithPlaces(read)).toContainEqual(["- 1. Order paint", { page: 2 }]);
    expect(read).toMatchObject({ metadata: { pages: 2 }, leftOut: { pictures: 2 } });
  });

  test("whose title nobody filled in have their number as a heading", async () => {
    const slide = (...titles: readonly string[]) => ({
      shapes: shape("title", ...titles) + shape("body", "Boats"),
    });
    const { text } = await readWith(readPptx, writePptx([slide("Season"), slide(), slide(" ")]));
    expect(text).toBe("# Season\n\n- Boats\n\n# Slide 2\n\n- Boats\n\n# Slide 3\n\n- Boats\n");
  });

  test("have the numbers and letters of items, digits above the line, and formulas", async () => {
    const item = (type: string, words: string): string =>
      `<a:p><a:pPr><a:buAutoNum type="${type}"/></a:pPr><a:r><a:t>${words}</a:t></a:r></a:p>`;
    const run = (words: string, baseline = ""): string =>
      `<a:r><a:rPr${baseline}/><a:t>${words}</a:t></a:r>`;
    const half =
      "<m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>";
    const words = `<a:p>${run("1,250")}${run("1", ' baseline="30000"')}${run(" CO")}${run("2", ' baseline="-25000"')}${run(" is ")}${half}${run(" of it")}</a:p>`;
    const items = `${item("alphaLcParenR", "rope")}${item("alphaLcParenR", "sail")}${item("romanUcPeriod", "oar")}`;
    const { text } = await readWith(readPptx, writePptx([{ shapes: shape("", items, words) }]));
    expect(text).toContain("- a) rope\n- b) sail\n");
    expect(text).toContain("1,250¹ CO₂ is 1/2 of it");
  });

  test("without slides, and with more than are read, are refused", async () => {
    expect(await refusalOf(readPptx, writePptx([]))).toMatchObject({ code: "FILE_FORMAT_INVALID" });
    const slides = Array.from({ length: 5 }, () => ({ shapes: "" }));
    expect(await refusalOf(readPptx, writePptx(slides), { pages: 4 })).toMatchObject({
      code: "FILE_TOO_LARGE",
      why: expect.stringContaining("max_pages"),
    });
  });
});

describe("presentations of LibreOffice", () => {
  test("are slides with titles, numbered items and notes, without what is on each page", async () => {
    const frame = (kind: string, words: string): string =>
      `<draw:frame presentation:class="${kind}"><draw:text-box>${words}</draw:text-box></draw:frame>`;
    const list =
      '<text:list text:style-name="L1"><text:list-item><text:p>Paint</text:p></text:list-item><text:list-item><text:p>Rope</text:p></text:list-item></text:list>';
    const body =
      `<office:presentation><draw:page>${frame("title", "<text:p>Season</text:p>")}${frame("outline", list)}${frame("footer", "<text:p>Page</text:p>")}` +
      `<presentation:notes>${frame("notes", "<text:p>Mention the ice.</text:p>")}</presentation:notes></draw:page>` +
      "<draw:page><draw:custom-shape><text:p>A box</text:p></draw:custom-shape><draw:frame><draw:image/></draw:frame></draw:page></office:presentation>";
    const styles =
      '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/></text:list-style>';
    const read = await readWith(readOdp, writeOpenDocument(body, styles));
    expect(read.text).toBe(
      "# Season\n\n1. Paint\n2. Rope\n\nNotes: Mention the ice.\n\n# Slide 2\n\nA box\n\n",
    );
    expect(read).toMatchObject({ metadata: { pages: 2 }, leftOut: { pictures: 1 } });
  });
});

describe("workbooks of LibreOffice", () => {
  const cell = (type: string, value: string, shown: string, more = ""): string =>
    `<table:table-cell office:value-type="${type}" ${value} ${more}><text:p>${shown}</text:p></table:table-cell>`;
  const words = (shown: string, more = ""): string => cell("string", "", shown, more);

  test("have values as they are and not as a country shows them, merged and hidden ones too", async () => {
    const body =
      '<office:spreadsheet><table:table table:name="Trips"><table:table-column table:number-columns-repeated="3"/><table:table-column table:visibility="collapse"/>' +
      `<table:table-row>${["Boat", "Day", "Length", "Price", "Share"].map((name) => words(name)).join("")}</table:table-row>` +
      `<table:table-row>${words("Lynx", 'table:number-rows-spanned="2"')}${cell("date", 'office:date-value="2026-05-02"', "02.05.26")}` +
      `${cell("time", 'office:time-value="PT36H30M00S"', "36:30")}${cell("currency", 'office:value="1234.5" office:currency="EUR"', "1.234,50 €")}${cell("percentage", 'office:value="0.07"', "7,00 %")}</table:table-row>` +
      `<table:table-row><table:covered-table-cell/>${cell("date", 'office:date-value="2026-05-03T09:30:00"', "x")}${cell("float", 'office:value="2" table:formula="of:=SUM([.C2:.C3])"', "2,00")}<table:table-cell table:number-columns-repeated="16000"/></table:table-row>` +
      `<table:table-row table:visibility="filter">${words("Ibex")}<table:table-cell/>${cell("float", 'office:value="3"', "3")}</table:table-row>` +
      '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table>' +
      `<table:table table:name="Inner" table:style-name="ta2"><table:table-row>${words("Secret")}</table:table-row></table:table></office:spreadsheet>`;
    const styles =
      '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>';
    const read = await readWith(readOds, writeOpenDocument(body, styles));
    expect(linesWithPlaces(read)).toEqual([
      ["## Trips", { sheet: "Trips", row: 1 }],
      ["Boat; Day; Length; Price (hidden); Share", { sheet: "Trips", row: 1 }],
      [
        "Boat: Lynx; Day: 2026-05-02; Length: 36:30; Price (hidden): 1234.5 EUR; Share: 7%",
        { sheet: "Trips", row: 2 },
      ],
      ["Boat: Lynx; Day: 2026-05-03 09:30:00; Length: 2 (=SUM(C2:C3))", { sheet: "Trips", row: 3 }],
      ["Boat: Ibex; Length: 3 (hidden)", { sheet: "Trips", row: 4 }],
      ["## Inner (hidden)", { sheet: "Inner", row: 1 }],
      ["Secret", { sheet: "Inner", row: 1 }],
    ]);
    expect(read.metadata).toMatchObject({ sheets: ["Trips", "Inner"], hidden_sheets: ["Inner"] });
  });

  test("have figures with the unit, the zeros and the marks that they are shown with", async () => {
    const shown: readonly (readonly [value: string, shown: string])[] = [
      ["12.345", "12,3 kg"],
      ["1067", "01067"],
      ["12345678", "012-34-5678"],
      ["2500000", "2,5M"],
      ["5678000", "5,678"],
      ["-500.25", "500,25 Cr"],
      ["-99.95", "-99,95 €"],
      ["-1234.5", "(1.234,50)"],
      ["0.0000015", "1,50E-06"],
      ["0.5", "0,5"],
      ["1", "Yes"],
      ["0", "-"],
    ];
    const cells = shown.map(([value, text]) => cell("float", `office:value="${value}"`, text));
    const raised = '<text:span text:style-name="T1">1</text:span>';
    const body = `<office:spreadsheet><table:table table:name="A"><table:table-row>${cells.join("")}${words(`1.250${raised}`)}</table:table-row></table:table></office:spreadsheet>`;
    const styles =
      '<style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style>';
    const { text } = await readWith(readOds, writeOpenDocument(body, styles));
    expect(text.split("\n")[1]).toBe(
      "12.345 kg; 01067; 012-34-5678; 2,5M; 5,678; 500.25 Cr; -99.95 €; -1234.5; 0.0000015; 0.5; Yes; 0; 1.250¹",
    );
  });

  test("have what is printed above and below each page, without what programs put there", async () => {
    const margins =
      "<style:header><style:region-left><text:p>Draft &amp; <text:sheet-name>???</text:sheet-name></text:p></style:region-left><style:region-right><text:p>Prices in kEUR</text:p></style:region-right></style:header>" +
      '<style:footer><text:p>Page <text:page-number>1</text:page-number> / <text:page-count>99</text:page-count></text:p></style:footer><style:footer-left style:display="false"><text:p>Old</text:p></style:footer-left>';
    const body = `<office:spreadsheet><table:table table:name="A"><table:table-row>${words("x")}</table:table-row></table:table></office:spreadsheet>`;
    const { text } = await readWith(readOds, writeOpenDocument(body, "", margins));
    expect(text).toBe("## A\nx\n[header]: Draft &; Prices in kEUR\n");
  });

  test("have words over a cell below the sheet, and not in the cell", async () => {
    const drawn =
      "<draw:frame><draw:image><text:p/></draw:image></draw:frame><draw:custom-shape><text:p>Draft 2024</text:p></draw:custom-shape>";
    const body = `<office:spreadsheet><table:table table:name="S"><table:table-row>${words("Boats")}<table:table-cell office:value-type="float" office:value="5">${drawn}<text:p>5</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`;
    const { text } = await readWith(readOds, writeOpenDocument(body));
    expect(text).toBe("## S\nBoats; 5\nDraft 2024\n");
  });

  test("have comments without who wrote them and when", async () => {
    const comment =
      "<office:annotation><dc:creator>Ada</dc:creator><dc:date>2026-05-01</dc:date><text:p>Check</text:p><text:p>83</text:p></office:annotation>";
    const body = `<office:spreadsheet><table:table table:name="A"><table:table-row><table:table-cell>${comment}<text:p>Price</text:p></table:table-cell><table:table-cell><text:p>Day</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`;
    const read = await readWith(readOds, writeOpenDocument(body));
    expect(read.text).toContain("Check 83");
    expect(read.text).not.toMatch(/Ada|2026/);
  });

  test("with a password are refused, and so is what is none", async () => {
    const locked = writeZip([
      { name: "META-INF/manifest.xml", content: "<a><encryption-data/></a>" },
      { name: "content.xml", content: "<a/>" },
    ]);
    expect(await refusalOf(readOds, locked)).toMatchObject({ code: "FILE_ENCRYPTED" });
    expect(await refusalOf(readOdp, writeZip([]))).toMatchObject({ code: "FILE_FORMAT_INVALID" });
  });
});

describe("books", () => {
  test("are chapters in the order of reading, without the table of contents", async () => {
    const read = await readWith(
      readEpub,
      writeEpub("The Ice", [
        "<h1>One</h1><p>The boat left at 7:40.</p>",
        "<h1>Two</h1><ul><li>Rope</li><li>Paint &amp; oil</li></ul>",
      ]),
    );
    expect(read.text).toBe("# One\n\nThe boat left at 7:40.\n\n# Two\n\n- Rope\n- Paint & oil\n\n");
    expect(read).toMatchObject({
      metadata: { title: "The Ice", author: "Ada Roe" },
      leftOut: { pictures: 1 },
    });
  });

  test("have digits above the line where a sheet of styles puts them, and count formulas", async () => {
    const chapter =
      '<p>10<span class="up c">3</span> kg CO<span class="down">2</span> x <math><mn>1</mn></math></p>';
    const sheet = ".up { position: relative; top: -0.33em }\n.down{top:0.33em}";
    const read = await readWith(
      readEpub,
      writeEpub("x", [chapter], [{ name: "OPS/a.css", content: sheet }]),
    );
    expect(read.text).toContain("10³ kg CO₂ x");
    expect(read.leftOut).toMatchObject({ formulas: 1 });
  });

  test("that are bought for one program, or are none, are refused", async () => {
    const locked = writeEpub(
      "x",
      ["<p>a</p>"],
      [
        {
          name: "META-INF/encryption.xml",
          content: "<encryption><enc:EncryptedKey/></encryption>",
        },
      ],
    );
    expect(await refusalOf(readEpub, locked)).toMatchObject({ code: "FILE_ENCRYPTED" });
    const named = (method: string) => ({
      name: "META-INF/encryption.xml",
      content: `<encryption><EncryptedData><EncryptionMethod Algorithm="${method}"/></EncryptedData></encryption>`,
    });
    const sold = writeEpub(
      "x",
      ["<p>a</p>"],
      [named("http://www.w3.org/2001/04/xmlenc#aes128-cbc")],
    );
    expect(await refusalOf(readEpub, sold)).toMatchObject({ code: "FILE_ENCRYPTED" });
    const fonts = writeEpub("x", ["<p>a</p>"], [named("http://www.idpf.org/2008/embedding")]);
    expect(await readWith(readEpub, fonts)).toMatchObject({ text: "a\n\n" });
    expect(await refusalOf(readEpub, writeZip([]))).toMatchObject({ code: "FILE_FORMAT_INVALID" });
    const [deep] = ["<div>".repeat(2_000)];
    expect(await refusalOf(readEpub, writeEpub("x", [deep]))).toMatchObject({
      code: "FILE_FORMAT_INVALID",
    });
  });
});
