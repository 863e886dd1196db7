import { run, writeZip } from "./format-writers.ts";
import type { ZipPart } from "./format-writers.ts";

// Documents as programs put them together, with the words and figures that a reader of each has to find.

export type WrittenDocx = {
  readonly name: string;
  readonly bytes: Buffer;
  readonly facts: readonly string[];
  /** What a reader must not find. */
  readonly absent: readonly string[];
};

type Piece = {
  readonly name: string;
  readonly xml: string;
  readonly facts: readonly string[];
  readonly absent?: readonly string[];
};

const p = (content: string, properties = ""): string =>
  `<w:p>${properties === "" ? "" : `<w:pPr>${properties}</w:pPr>`}${content}</w:p>`;
const styled = (properties: string, text: string): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const item = (level: number, text: string): string =>
  p(run(text), `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr>`);
const cell = (text: string, properties = ""): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${p(run(text))}</w:tc>`;
const row = (...cells: readonly string[]): string => `<w:tr>${cells.join("")}</w:tr>`;
const box = (inner: string): string => `<w:txbxContent>${inner}</w:txbxContent>`;
const math = (inner: string): string => `<m:oMath>${inner}</m:oMath>`;
const mr = (text: string): string => `<m:r><m:t>${text}</m:t></m:r>`;

const PIECES: readonly Piece[] = [
  {
    name: "tab and break",
    xml: p(
      "<w:r><w:t>Deposit</w:t><w:tab/><w:t>940</w:t><w:cr/><w:t>Havnegata 4</w:t><w:br/><w:t>Mosjoen</w:t></w:r>",
    ),
    facts: ["Deposit 940\nHavnegata 4\nMosjoen"],
  },
  {
    name: "hyphens",
    xml: p(
      "<w:r><w:t>37</w:t><w:softHyphen/><w:t>.5 hours A</w:t><w:noBreakHyphen/><w:t>12</w:t></w:r>",
    ),
    facts: ["37.5 hours A-12"],
  },
  {
    name: "drawn box",
    xml: p(
      `${run("The loan ends in October.")}<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>${box(p(run("Insured value: 18,500 euros.")))}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict>${box(p(run("Insured value: 18,500 euros.")))}</w:pict></mc:Fallback></mc:AlternateContent></w:r>${run(" It may be prolonged.")}`,
    ),
    facts: ["October. It may be prolonged.\n\nInsured value: 18,500 euros."],
    absent: ["euros.\n\nInsured"],
  },
  {
    name: "old box",
    xml: p(
      `${run("Above")}<w:r><w:pict><v:shape><v:textbox>${box(p(run("Key 7731")))}</v:textbox></v:shape></w:pict></w:r>`,
    ),
    facts: ["Above\n\nKey 7731"],
  },
  {
    name: "watermark",
    xml: p('<w:r><w:pict><v:shape><v:textpath string="DRAFT 2"/></v:shape></w:pict></w:r>'),
    facts: ["DRAFT 2"],
  },
  {
    name: "ticked signs",
    xml: p(
      `${run("Paid: ")}<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>${run(" yes ")}<w:r><w:sym w:font="Wingdings" w:char="F0A8"/></w:r>${run(" no ")}${styled('<w:rFonts w:ascii="Symbol"/>', "a\uf062")}`,
    ),
    facts: ["Paid: ☑ yes ☐ no αβ"],
  },
  {
    name: "ticked fields",
    xml: p(
      `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMCHECKBOX</w:instrText></w:r>${run(" insured ")}<w:r><w:fldChar><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="north"/><w:listEntry w:val="pier 3"/></w:ddList></w:ffData></w:fldChar></w:r>`,
    ),
    facts: ["☑ insured pier 3"],
    absent: ["FORMCHECKBOX", "north"],
  },
  {
    name: "ticked control",
    xml: `<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent>${p(run("☒ agreed 2026"))}</w:sdtContent></w:sdt>`,
    facts: ["☒ agreed 2026"],
  },
  {
    name: "clauses",
    xml: `${item(0, "Rent")}${item(1, "The rent is 410 euros.")}${item(1, "It rises in January.")}${item(0, "Notice")}${item(1, "Ten weeks.")}`,
    facts: ["1. Rent", "1.1 The rent is 410 euros.", "1.2 It rises", "2. Notice", "2.1 Ten weeks."],
  },
  {
    name: "numbered heading",
    xml: p(run("Liability"), '<w:pStyle w:val="H1"/>'),
    facts: ["# § 1 Liability"],
  },
  {
    name: "deleted",
    xml: p(
      `${run("Term ")}<w:del><w:r><w:delText>14</w:delText></w:r></w:del><w:ins>${run("30")}</w:ins>${run(" days")}<w:moveFrom>${run("moved 77")}</w:moveFrom>`,
    ),
    facts: ["Term 30 days"],
    absent: ["14", "77"],
  },
  {
    name: "joined",
    xml: `${p(run("One half"), "<w:rPr><w:del/></w:rPr>")}${p(run(" of a line"))}`,
    facts: ["One half of a line"],
  },
  {
    name: "old properties",
    xml: p(run("Plain 5"), '<w:pPrChange><w:pPr><w:pStyle w:val="H1"/></w:pPr></w:pPrChange>'),
    facts: ["\nPlain 5\n"],
  },
  {
    name: "hidden",
    xml: p(
      `${run("Seen 1 ")}${styled("<w:vanish/>", "secret 99")}${styled('<w:rStyle w:val="Gone"/>', "secret 98")}${styled('<w:vanish w:val="0"/>', "seen 2")}`,
    ),
    facts: ["Seen 1 seen 2"],
    absent: ["secret"],
  },
  {
    name: "hidden end",
    xml: p(run("Style separator 3"), "<w:rPr><w:vanish/></w:rPr>"),
    facts: ["Style separator 3"],
  },
  {
    name: "powers",
    xml: p(
      `${run("10")}${styled('<w:vertAlign w:val="superscript"/>', "6")}${run(" m")}${styled('<w:vertAlign w:val="subscript"/>', "2")}${run(" the 1")}${styled('<w:vertAlign w:val="superscript"/>', "st")}`,
    ),
    facts: ["10⁶ m₂ the 1st"],
  },
  {
    name: "merged",
    xml: `<w:tbl>${row(cell("Boat"), cell("Fees", '<w:gridSpan w:val="2"/>'))}${row(cell("Bear", '<w:vMerge w:val="restart"/>'), cell("2025"), cell("7"))}${row(cell("", "<w:vMerge/>"), cell("2026"), cell("9"))}</w:tbl>`,
    facts: ["| Boat | Fees | Fees |", "| Bear | 2025 | 7 |", "| Bear | 2026 | 9 |"],
  },
  {
    name: "table in a table",
    xml: `<w:tbl>${row(cell("Out"), `<w:tc>${p(run("in"))}<w:tbl>${row(cell("a"), cell("1"))}${row(cell("b"), cell("2"))}</w:tbl>${p("")}</w:tc>`)}</w:tbl>`,
    facts: ["| Out | in a; 1 / b; 2 |"],
  },
  {
    name: "formula",
    xml: p(
      `${run("Area ")}${math(`${mr("A=π")}<m:sSup><m:e>${mr("r")}</m:e><m:sup>${mr("2")}</m:sup></m:sSup>`)}${run(" and ")}${math(`<m:f><m:num>${mr("a+b")}</m:num><m:den>${mr("12")}</m:den></m:f>${mr("=")}<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>${mr("49")}</m:e></m:rad>`)}`,
    ),
    facts: ["Area A=π r^2", "(a+b)/12=√(49)"],
  },
  {
    name: "sum",
    xml: p(
      math(
        `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${mr("k=0")}</m:sub><m:sup>${mr("n")}</m:sup><m:e><m:d><m:e>${mr("x")}</m:e><m:e>${mr("y")}</m:e></m:d></m:e></m:nary>`,
      ),
    ),
    facts: ["∑_(k=0)^n (x|y)"],
  },
  {
    name: "field",
    xml: p(
      '<w:fldSimple w:instr="DATE"><w:r><w:t>3 May 2026</w:t></w:r></w:fldSimple><w:hyperlink><w:r><w:t>office 12</w:t></w:r></w:hyperlink><w:smartTag><w:r><w:t> Oslo 7</w:t></w:r></w:smartTag>',
    ),
    facts: ["3 May 2026", "office 12", "Oslo 7"],
  },
  {
    name: "ruby",
    xml: p(
      "<w:r><w:ruby><w:rt><w:r><w:t>やまだ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>山田</w:t></w:r></w:rubyBase></w:ruby></w:r>",
    ),
    facts: ["山田"],
    absent: ["やまだ"],
  },
  {
    name: "notes",
    xml: p(
      '<w:r><w:t>Price 12</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="3"/></w:r><w:r><w:commentReference w:id="0"/></w:r>',
    ),
    facts: [
      "Price 12[^1][^e1][comment 0]",
      "[^1]: Without heating 81.",
      "[^e1]: See annex 82.",
      "[comment 0] Ada: Check 83!",
    ],
  },
  {
    name: "chart",
    xml: p(
      '<w:r><w:drawing><a:graphic><a:graphicData><c:chart r:id="rC"/></a:graphicData></a:graphic></w:drawing></w:r>',
    ),
    facts: ["Boats a year", "| 2025 | 4 |", "| 2026 | 6 |"],
  },
];

const NAMES =
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="m" xmlns:wps="s" xmlns:v="v" xmlns:m="o" xmlns:a="a" xmlns:c="c" xmlns:r="r" xmlns:w14="w14"';
const STYLES = `<w:styles ${NAMES}><w:style w:styleId="Base"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style><w:style w:styleId="H1"><w:name w:val="Titre"/><w:basedOn w:val="Base"/></w:style><w:style w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>`;
const level = (at: number, text: string): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="${text}"/></w:lvl>`;
const NUMBERING = `<w:numbering ${NAMES}><w:abstractNum w:abstractNumId="0">${level(0, "%1.")}${level(1, "%1.%2")}</w:abstractNum><w:abstractNum w:abstractNumId="1">${level(0, "§ %1")}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>`;
const note = (element: string, id: string, text: string, more = ""): string =>
  `<w:${element}s ${NAMES}><w:${element} w:type="separator" w:id="0">${p(run("-"))}</w:${element}><w:${element} w:id="${id}"${more}>${p(run(text))}</w:${element}></w:${element}s>`;
const series = (name: string, element: string, values: readonly string[]): string =>
  `<c:${element}><c:${name}Ref><c:${name}Cache>${values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join("")}</c:${name}Cache></c:${name}Ref></c:${element}>`;
const CHART = `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Boats a year</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:ser>${series("str", "tx", ["Boats"])}${series("str", "cat", ["2025", "2026"])}${series("num", "val", ["4", "6"])}</c:ser></c:plotArea></c:chart></c:chartSpace>`;

/** How a program names its parts, and where it puts them. */
const PROGRAMS: Readonly<
  Record<string, { folder: string; main: string; type: string; slash: string; absolute: boolean }>
> = {
  word: {
    folder: "word",
    main: "document.xml",
    type: "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    slash: "/",
    absolute: false,
  },
  "word strict": {
    folder: "word",
    main: "document.xml",
    type: "http://purl.oclc.org/ooxml/officeDocument/relationships",
    slash: "/",
    absolute: false,
  },
  "office online": {
    folder: "word",
    main: "document2.xml",
    type: "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    slash: "/",
    absolute: true,
  },
  "google docs": {
    folder: "word",
    main: "document.xml",
    type: "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    slash: "/",
    absolute: false,
  },
  "old .NET": {
    folder: "word",
    main: "document.xml",
    type: "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    slash: "\\",
    absolute: false,
  },
  converter: {
    folder: "doc/parts",
    main: "body.xml",
    type: "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    slash: "/",
    absolute: true,
  },
};

/** Each piece alone, and with each other one before it, as each program writes it. */
export function* docxOfPrograms(): Generator<WrittenDocx> {
  for (const program of Object.keys(PROGRAMS))
    for (const [at, piece] of PIECES.entries()) {
      yield docxOf(program, [piece]);
      const other = PIECES[(at + 7) % PIECES.length];
      if (other !== undefined) yield docxOf(program, [piece, other]);
    }
}

function docxOf(program: string, pieces: readonly Piece[]): WrittenDocx {
  const { folder, main, type, slash, absolute } = PROGRAMS[program] ?? {
    folder: "",
    main: "",
    type: "",
    slash: "/",
    absolute: false,
  };
  const parts: readonly (readonly [string, string, string])[] = [
    ["rS", "styles", STYLES],
    ["rN", "numbering", NUMBERING],
    ["rF", "footnotes", note("footnote", "2", "Without heating 81.")],
    ["rE", "endnotes", note("endnote", "3", "See annex 82.")],
    ["rM", "comments", note("comment", "0", "Check 83!", ' w:author="Ada"')],
    ["rH", "header", `<w:hdr ${NAMES}>${p(run("Contract 4471"))}</w:hdr>`],
    ["rP", "footer", `<w:ftr ${NAMES}>${p(run("Page 1 of 9"))}</w:ftr>`],
    ["rC", "chart", CHART],
  ];
  const relation = (id: string, name: string, target: string): string =>
    `<Relationship Id="${id}" Type="${type}/${name}" Target="${target}"/>`;
  const relations = (inner: string): string => `<Relationships>${inner}</Relationships>`;
  const place = (name: string): string => (absolute ? `/${folder}/${name}` : name);
  const files: readonly ZipPart[] = [
    { name: "[Content_Types].xml", content: "<Types/>" },
    {
      name: "_rels/.rels",
      content: relations(
        relation("r1", "officeDocument", `${absolute ? "/" : ""}${folder}/${main}`),
      ),
    },
    {
      name: `${folder}/_rels/${main}.rels`,
      content: relations(
        parts.map(([id, name]) => relation(id, name, place(`${name}7.xml`))).join(""),
      ),
    },
    {
      name: `${folder}/${main}`,
      content: `<w:document ${NAMES}><w:body>${p(run("First line"))}${pieces.map(({ xml }) => xml).join("")}${p(run("Last line"))}</w:body></w:document>`,
    },
    ...parts.map(([, name, content]) => ({ name: `${folder}/${name}7.xml`, content })),
  ];
  return {
    name: `${program}: ${pieces.map(({ name }) => name).join(", ")}`,
    bytes: writeZip(files.map((file) => ({ ...file, name: file.name.replaceAll("/", slash) }))),
    facts: [
      "First line",
      "Last line",
      "[header]: Contract 4471",
      "[footer]: Page 1 of 9",
      ...pieces.flatMap(({ facts }) => facts),
    ],
    absent: pieces.length === 1 ? pieces.flatMap(({ absent = [] }) => absent) : [],
  };
}
