import { expect, test } from "@jest/globals";
import { readDocx } from "../../../../src/worker/documents/formats/docx.ts";
import { readHtml } from "../../../../src/worker/documents/formats/html.ts";
import { readOds } from "../../../../src/worker/documents/formats/ods.ts";
import { readOdt } from "../../../../src/worker/documents/formats/odt.ts";
import { readPptx } from "../../../../src/worker/documents/formats/pptx.ts";
import { readRtf } from "../../../../src/worker/documents/formats/rtf.ts";
import { readXlsx } from "../../../../src/worker/documents/formats/xlsx.ts";
import { run, writeDocx, writeZip } from "../../../support/format-writers.ts";
import { shape, writeOpenDocument, writePptx } from "../../../support/package-writers.ts";
import { readWith } from "./read-format.ts";

const STRUCK_STYLE =
  '<style:style style:name="S"><style:text-properties style:text-line-through-style="solid"/></style:style><style:style style:name="N"><style:text-properties style:text-line-through-style="none"/></style:style>';
const runs = (...struck: readonly string[]): string =>
  struck
    .map((text) => `<w:r><w:rPr><w:strike/></w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`)
    .join("");

/** Two cells by a struck style, and one by a font within its words. */
const workbook = writeZip([
  {
    name: "xl/workbook.xml",
    content: '<workbook><sheets><sheet name="Fees" r:id="r1"/></sheets></workbook>',
  },
  {
    name: "xl/_rels/workbook.xml.rels",
    content:
      '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="x/styles" Target="styles.xml"/></Relationships>',
  },
  {
    name: "xl/styles.xml",
    content:
      '<styleSheet><fonts><font/><font><strike val="0"/></font><font><strike/></font></fonts><cellXfs><xf fontId="0"/><xf fontId="1"/><xf fontId="2"/></cellXfs></styleSheet>',
  },
  {
    name: "xl/worksheets/sheet1.xml",
    content:
      '<worksheet><sheetData><row r="1"><c r="A1" s="1" t="inlineStr"><is><t>Hall</t></is></c><c r="B1" s="2"><v>48</v></c><c r="C1" t="inlineStr"><is><r><rPr><strike/></rPr><t>old</t></r><r><t> new</t></r></is></c></row></sheetData></worksheet>',
  },
]);

const FILES: readonly (readonly [
  string,
  Parameters<typeof readWith>[0],
  Buffer | string,
  string,
])[] = [
  [
    "DOCX",
    readDocx,
    writeDocx({
      body: `<w:p>${run("The fee is ")}${runs("4", "8 ")}${run("52 euros.")}<w:r><w:rPr><w:strike w:val="0"/></w:rPr><w:t> It holds.</w:t></w:r></w:p>`,
    }),
    "The fee is ~~48~~ 52 euros. It holds.",
  ],
  [
    "ODT",
    readOdt,
    writeOpenDocument(
      '<office:text><text:p>The fee is <text:span text:style-name="S">48</text:span> <text:span text:style-name="N">52</text:span> euros.</text:p></office:text>',
      STRUCK_STYLE,
    ),
    "The fee is ~~48~~ 52 euros.",
  ],
  [
    "RTF",
    readRtf,
    "{\\rtf1 The fee is {\\strike 4\\'38 }52{\\strike x\\strike0 .}\\par}",
    "The fee is ~~48~~ 52~~x~~.",
  ],
  [
    "HTML",
    readHtml,
    "<style>.was{color:red;text-decoration:line-through}</style><p>The fee is <del><span>48</span></del> <s>49</s> <i class=was>50</i> <span style='text-decoration-line: line-through'>51</span> <ins>52</ins> euros.",
    "The fee is ~~48 49 50 51~~ 52 euros.",
  ],
  [
    "PPTX",
    readPptx,
    writePptx([
      {
        shapes: shape(
          "",
          '<a:p><a:r><a:rPr strike="sngStrike"/><a:t>48</a:t></a:r><a:r><a:rPr strike="noStrike"/><a:t> 52 euros</a:t></a:r></a:p>',
        ),
      },
    ]),
    "~~48~~ 52 euros",
  ],
  ["XLSX", readXlsx, workbook, "Hall; ~~48~~; ~~old~~ new"],
  [
    "ODS",
    readOds,
    writeOpenDocument(
      '<office:spreadsheet><table:table table:name="Fees"><table:table-row><table:table-cell><text:p>Hall</text:p></table:table-cell><table:table-cell table:style-name="S" office:value-type="float" office:value="48"><text:p>48</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>',
      STRUCK_STYLE,
    ),
    "Hall; ~~48~~",
  ],
];

test.each(FILES)(
  "%s has words that are struck out as Markdown has them",
  async (_, read, bytes, shown) => {
    expect((await readWith(read, bytes)).text.split("\n")).toContain(shown);
  },
);
