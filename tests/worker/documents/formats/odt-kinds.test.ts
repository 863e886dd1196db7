import { expect, test } from "@jest/globals";
import { readOdt } from "../../../../src/worker/documents/formats/odt.ts";
import { writeZip } from "../../../support/format-writers.ts";
import { writeOpenDocument } from "../../../support/package-writers.ts";
import { readWith } from "./read-format.ts";

const NAMES =
  'xmlns:office="o" xmlns:text="t" xmlns:table="a" xmlns:dc="d" xmlns:draw="w" xmlns:style="s" xmlns:svg="v" xmlns:form="f" xmlns:xlink="x" xmlns:chart="c" xmlns:math="m"';
const level = (at: number, format: string, shown: number, suffix: string): string =>
  `<text:list-level-style-number text:level="${at}" style:num-format="${format}" style:num-suffix="${suffix}" text:display-levels="${shown}"/>`;
const STYLES =
  `<style:style style:name="Gone"><style:text-properties text:display="none"/></style:style><style:style style:name="Up"><style:text-properties style:text-position="super 58%"/></style:style>` +
  `<text:list-style style:name="L1">${level(1, "1", 1, ".")}${level(2, "1", 2, "")}${level(3, "a", 1, ")")}</text:list-style><text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style>`;
const MARGINS = `<office:document-styles ${NAMES}><office:styles><text:outline-style>${["", ""].map((_, at) => `<text:outline-level-style text:level="${at + 1}" style:num-format="1" text:display-levels="${at + 1}"/>`).join("")}</text:outline-style></office:styles><office:master-styles><style:master-page><style:header><text:p>Contract 4471</text:p></style:header><style:footer><text:p>Page <text:page-number>2</text:page-number></text:p></style:footer></style:master-page></office:master-styles></office:document-styles>`;

const p = (text: string): string => `<text:p>${text}</text:p>`;
const item = (...parts: readonly string[]): string =>
  `<text:list-item>${parts.join("")}</text:list-item>`;
const list = (style: string, ...items: readonly string[]): string =>
  `<text:list${style === "" ? "" : ` text:style-name="${style}"`}>${items.join("")}</text:list>`;
const cell = (text: string, spans = ""): string =>
  `<table:table-cell${spans}>${p(text)}</table:table-cell>`;

const KINDS: Readonly<Record<string, readonly [xml: string, shown: string, hidden?: string]>> = {
  clauses: [
    list(
      "L1",
      item(
        p("Rent"),
        list("", item(p("410 euros"), list("", item(p("monthly")))), item(p("from May"))),
      ),
      item(p("Notice")),
    ),
    "1. Rent\n  - 1.1 410 euros\n    - a) monthly\n  - 1.2 from May\n2. Notice",
  ],
  "clauses from zero on": [
    '<text:list text:style-name="L1"><text:list-item text:start-value="0"><text:p>Scope</text:p></text:list-item><text:list-item><text:p>Rent</text:p></text:list-item></text:list>',
    "0. Scope\n1. Rent",
  ],
  "bullets and a second paragraph": [
    list("L2", item(p("one"), p("more")), item(p("two"))),
    "- one\n\nmore\n\n- two",
  ],
  headings: [
    '<text:h text:outline-level="1">Rent</text:h><text:h text:outline-level="2">Deposit</text:h>',
    "# 1 Rent\n\n## 1.1 Deposit",
  ],
  "a box": [
    p(
      "The loan ends <draw:frame><draw:text-box><text:p>Value 18,500</text:p></draw:text-box></draw:frame>in October.",
    ),
    "The loan ends in October.\n\nValue 18,500",
  ],
  "a shape": [
    p(
      "Above<draw:custom-shape><svg:desc>arrow</svg:desc><text:p>Key 7731</text:p></draw:custom-shape>",
    ),
    "Above\n\nKey 7731",
    "arrow",
  ],
  fields: [
    p(
      "Oslo, <text:date>3 May 2026</text:date> by <text:creator>Runa</text:creator> <text:title>Lease</text:title>",
    ),
    "Oslo, 3 May 2026 by Runa Lease",
  ],
  comment: [
    p(
      "Price 12<office:annotation><dc:creator>Ada</dc:creator><dc:date>2026</dc:date><text:p>Check 83</text:p></office:annotation>",
    ),
    "[comment 1]: Check 83",
    "Ada",
  ],
  deleted: [
    `<text:tracked-changes><text:changed-region><text:deletion><text:p>old 14</text:p></text:deletion></text:changed-region></text:tracked-changes>${p("Term 30 days")}`,
    "Term 30 days",
    "old",
  ],
  hidden: [
    `${p('Seen <text:span text:style-name="Gone">secret 99</text:span>1')}<text:section text:display="none"><text:p>secret 98</text:p></text:section>${p('<text:hidden-text text:is-hidden="true">secret 97</text:hidden-text>x')}`,
    "Seen 1",
    "secret",
  ],
  powers: [p('10<text:span text:style-name="Up">6</text:span> m'), "10⁶ m"],
  merged: [
    `<table:table><table:table-row>${cell("Boat")}${cell("Fees", ' table:number-columns-spanned="2"')}<table:covered-table-cell/></table:table-row><table:table-row>${cell("Bear", ' table:number-rows-spanned="2"')}${cell("2025")}${cell("7")}</table:table-row><table:table-row><table:covered-table-cell/>${cell("2026")}${cell("9")}</table:table-row></table:table>`,
    "| Boat | Fees | Fees |\n| --- | --- | --- |\n| Bear | 2025 | 7 |\n| Bear | 2026 | 9 |",
  ],
  "a form": [
    `<office:forms><form:form><form:checkbox form:id="c1" form:label="insured 5" form:current-state="checked"/></form:form></office:forms>${p('<draw:control draw:control="c1"/>')}`,
    "☑ insured 5",
  ],
  "a formula": [
    p('Area <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'),
    "Area A = %pi r^2",
  ],
  "a chart": [
    p('See<draw:frame><draw:object xlink:href="./Object 2"/></draw:frame>'),
    "See\n\n| Year | Boats |\n| --- | --- |\n| 2025 | 4 |",
  ],
  ruby: [
    p(
      "<text:ruby><text:ruby-base>山田</text:ruby-base><text:ruby-text>やまだ</text:ruby-text></text:ruby>",
    ),
    "山田",
    "やまだ",
  ],
};

const MATH = `<math xmlns="m"><semantics><mi>A</mi><annotation encoding="StarMath 5.0">A = %pi r^2</annotation></semantics></math>`;
const CHART = `<office:document-content ${NAMES}><office:body><office:chart><chart:chart><table:table><table:table-row>${cell("Year")}${cell("Boats")}</table:table-row><table:table-row>${cell("2025")}${cell("4")}</table:table-row></table:table></chart:chart></office:chart></office:body></office:document-content>`;

const odt = (body: string): Buffer =>
  writeZip([
    { name: "mimetype", content: "application/vnd.oasis.opendocument.text" },
    {
      name: "content.xml",
      content: `<office:document-content ${NAMES}><office:automatic-styles>${STYLES}</office:automatic-styles><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    },
    { name: "styles.xml", content: MARGINS },
    { name: "Object 1/content.xml", content: MATH },
    { name: "Object 2/content.xml", content: CHART },
    { name: "Object 3/content.xml", content: '<math xmlns="m"><mn>1</mn></math>' },
  ]);

test.each(Object.entries(KINDS))(
  "a text document has what it shows: %s",
  async (_, [xml, shown, hidden]) => {
    const read = await readWith(readOdt, odt(`${p("First 1")}${xml}${p("Last 2")}`));
    const text = read.text.replaceAll(/[ \t]+\n/g, "\n");
    for (const words of ["First 1", shown, "Last 2", "[header]: Contract 4471", "[footer]: Page 2"])
      expect(text).toContain(words);
    if (hidden !== undefined) expect(text).not.toContain(hidden);
  },
);

test("a formula without the words that its program had for it is counted", async () => {
  const frame = p(`<draw:frame><draw:object xlink:href="./Object 3"/></draw:frame>`);
  const read = await readWith(readOdt, odt(frame));
  expect(read.leftOut).toEqual({ formulas: 1 });
});

test.each([
  ["Object 3/", { formulas: 1 }],
  ["Object 9", { "embedded files": 1 }],
])("an object at %j that is not read is counted", async (href, leftOut) => {
  const frame = p(`<draw:frame><draw:object xlink:href="${href}"/></draw:frame>`);
  expect((await readWith(readOdt, odt(frame))).leftOut).toEqual(leftOut);
});

test("a text document counts what it leaves out", async () => {
  const read = await readWith(
    readOdt,
    odt(
      `${KINDS["hidden"]?.[0] ?? ""}${KINDS["deleted"]?.[0] ?? ""}${p("<draw:frame><draw:image/></draw:frame>")}`,
    ),
  );
  expect(read.leftOut).toEqual({ "hidden passages": 3, "deleted passages": 1, pictures: 1 });
});

test("the header of a first page is a note, and one that is switched off is none", async () => {
  const header = (kind: string, words: string, more = ""): string =>
    `<style:header${kind}${more}>${p(words)}</style:header${kind}>`;
  const margins = `${header("", "Page")}${header("-first", "Harbour Ltd., Pier 3")}${header("-left", "Off", ' style:display="false"')}`;
  const body = `<office:text>${p("Dear Ada")}</office:text>`;
  const { text } = await readWith(readOdt, writeOpenDocument(body, "", margins));
  expect(text).toBe("Dear Ada\n\n[header]: Page\n\n[header]: Harbour Ltd., Pier 3\n\n");
});
