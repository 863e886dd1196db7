import { describe, expect, test } from "@jest/globals";
import { readCsv } from "../../../../src/worker/documents/formats/csv.ts";
import { readSheet } from "../../../../src/worker/documents/formats/xlsx-sheet.ts";
import { readXlsx } from "../../../../src/worker/documents/formats/xlsx.ts";
import {
  BOOK_DIALECTS,
  cellText,
  TEXT_DIALECTS,
  writeBook,
  writeTable,
} from "../../../support/table-writers.ts";
import type { SheetOfBook, TextDialect } from "../../../support/table-writers.ts";
import { readWith } from "./read-format.ts";

type Book = {
  readonly what: string;
  readonly start?: 1900 | 1904;
  readonly sheets: readonly SheetOfBook[];
  readonly lines: readonly string[];
};

const HOURS = "[h]:mm";

const BOOKS: readonly Book[] = [
  {
    what: "figures and what binary fractions leave of them",
    sheets: [
      {
        name: "Stock",
        rows: [
          ["Part", "Weight"],
          ["Bolt", 0.1 + 0.2],
          ["Nut", 1234567.89],
        ],
      },
    ],
    lines: ["Part: Bolt; Weight: 0.3", "Part: Nut; Weight: 1234567.89"],
  },
  {
    what: "durations of more than a day",
    sheets: [
      {
        name: "Hours",
        rows: [
          ["Name", "May", "Break", "Late"],
          [
            "Tove",
            { value: 156.5 / 24, format: HOURS },
            { value: 36.5 / 24, format: 46 },
            { value: 90 / 1440, format: "[mm]:ss" },
          ],
          [
            "Arne",
            { value: 24 / 24, format: "[hh]:mm:ss" },
            { value: -1.5 / 24, format: HOURS },
            { value: 0.5, format: "h:mm" },
          ],
        ],
      },
    ],
    lines: [
      "Name: Tove; May: 156:30; Break: 36:30:00; Late: 90:00",
      "Name: Arne; May: 24:00:00; Break: -1:30; Late: 12:00:00",
    ],
  },
  {
    what: "days since 1900",
    sheets: [
      {
        name: "Days",
        rows: [
          ["Event", "Day", "At"],
          [
            "Opening",
            { value: 46_023, format: 14 },
            { value: 46_023.75, format: "yyyy\\-mm\\-dd\\ hh:mm" },
          ],
          ["Founding", { value: 1, format: "dd.mm.yyyy" }, { value: 60.25, format: 22 }],
          [
            "Season",
            { value: 46_174, format: "mmmm" },
            { value: 46_174, format: "[$-F800]dddd, mmmm dd, yyyy" },
          ],
        ],
      },
    ],
    lines: [
      "Event: Opening; Day: 2026-01-01; At: 2026-01-01 18:00:00",
      "Event: Founding; Day: 1900-01-01; At: 1900-02-28 06:00:00",
      "Event: Season; Day: 2026-06-01; At: 2026-06-01",
    ],
  },
  {
    what: "days since 1904",
    start: 1904,
    sheets: [
      {
        name: "Days",
        rows: [
          ["Event", "Day"],
          ["Opening", { value: 44_561, format: 14 }],
          ["Close", { value: 44_562, format: 14 }],
        ],
      },
    ],
    lines: ["Event: Opening; Day: 2026-01-01", "Event: Close; Day: 2026-01-02"],
  },
  {
    what: "shares",
    sheets: [
      {
        name: "Tax",
        rows: [
          ["Rate", "Share"],
          ["Full", { value: 0.19, format: 9 }],
          ["Low", { value: 0.075, format: "0.0%" }],
        ],
      },
    ],
    lines: ["Rate: Full; Share: 19%", "Rate: Low; Share: 7.5%"],
  },
  {
    what: "currencies and units",
    sheets: [
      {
        name: "Prices",
        rows: [
          ["Item", "Price", "Mass", "Deposit"],
          [
            "Rope",
            { value: 1234.5, format: '_-* #,##0.00\\ "€"_-' },
            { value: 12, format: '0.0" kg"' },
            { value: 5, format: '"$"#,##0.00' },
          ],
          [
            "Sail",
            { value: 99, format: "#,##0.00\\ [$€-407]" },
            { value: 3, format: 'General" kg"' },
            { value: 7, format: "[$CHF-807]\\ 0" },
          ],
        ],
      },
    ],
    lines: [
      "Item: Rope; Price: 1234.5 €; Mass: 12 kg; Deposit: $5",
      "Item: Sail; Price: 99 €; Mass: 3 kg; Deposit: CHF 7",
    ],
  },
  {
    what: "postcodes with their zeros",
    sheets: [
      {
        name: "Towns",
        rows: [
          ["Town", "Code"],
          ["Dresden", { value: 1067, format: "00000" }],
          ["Kiel", { value: 24_103, format: "00000" }],
        ],
      },
    ],
    lines: ["Town: Dresden; Code: 01067", "Town: Kiel; Code: 24103"],
  },
  {
    what: "figures in thousands and millions, and formats that say another thing of each kind of figure",
    sheets: [
      {
        name: "Scaled",
        rows: [
          ["Key", "One", "Two", "Three"],
          [
            "scale",
            { value: 2_500_000, format: '0.0,,"M"' },
            { value: 12_500, format: "#,##0," },
            { value: 3_400_000, format: '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0' },
          ],
          [
            "signs",
            { value: -500.25, format: '#,##0.00" Dr";#,##0.00" Cr";"nil"' },
            { value: 0, format: '#,##0.00" Dr";#,##0.00" Cr";"nil"' },
            { value: -77.1, format: "$#,##0.00;[Red]($#,##0.00)" },
          ],
          [
            "accounts",
            { value: -99.95, format: '_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-;_-* "-"?? "€"_-;_-@_-' },
            { value: 0, format: '_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-;_-* "-"?? "€"_-;_-@_-' },
            { value: -0.032, format: "0.0%;(0.0%)" },
          ],
          [
            "masks",
            { value: 12_345_678, format: "000-00-0000" },
            { value: 5_551_234_567, format: "[<=9999999]###-####;(###) ###-####" },
            { value: 5_551_234, format: "[<=9999999]###-####;(###) ###-####" },
          ],
          [
            "words",
            { value: 1, format: '"Yes";"No";"No"' },
            { value: 42, format: '"INV-"00000' },
            { value: 3, format: '"Q"0' },
          ],
          [
            "marks",
            { value: 12.5, format: '0.0"%"' },
            { value: 2.5, format: "# ?/?" },
            { value: 1234.5, format: "# ##0.00" },
          ],
        ],
      },
    ],
    lines: [
      "Key: scale; One: 2.5 M; Two: 12.5; Three: 3.4 M",
      "Key: signs; One: 500.25 Cr; Two: nil; Three: $-77.1",
      "Key: accounts; One: -99.95 €; Two: 0 €; Three: -3.2%",
      "Key: masks; One: 012-34-5678; Two: (555) 123-4567; Three: 555-1234",
      "Key: words; One: Yes; Two: INV-00042; Three: Q3",
      "Key: marks; One: 12.5%; Two: 2.5; Three: 1234.5",
    ],
  },
  {
    what: "names that several columns share, below the years that tell them apart",
    sheets: [
      {
        name: "Years",
        merged: ["A1:E1", "B2:C2", "D2:E2"],
        rows: [
          ["Prices in euros", "", "", "", ""],
          ["", "2025", "", "2026", ""],
          ["Item", "Net", "Gross", "Net", "Gross"],
          ["Rope", 10, 12, 11, 13],
          ["Sail", 100, 120, 110, 131],
        ],
      },
    ],
    lines: [
      "Prices in euros",
      "2025; 2026",
      "Item: Sail; 2025 Net: 100; 2025 Gross: 120; 2026 Net: 110; 2026 Gross: 131",
    ],
  },
  {
    what: "a title, a gap and a total",
    sheets: [
      {
        name: "Budget",
        rows: [
          ["Budget of the harbour"],
          [],
          ["Item", "Cost"],
          ["Paint", 80],
          ["Rope", 60.5],
          [],
          ["Total", { formula: "SUM(B4:B5)", value: 140.5 }],
        ],
      },
    ],
    lines: [
      "Budget of the harbour",
      "Item: Paint; Cost: 80",
      "Item: Rope; Cost: 60.5",
      "Item: Total; Cost: 140.5 (=SUM(B4:B5))",
    ],
  },
  {
    what: "hidden sheets",
    sheets: [
      {
        name: "Open",
        rows: [
          ["Key", "Value"],
          ["Fee", 12],
        ],
      },
      {
        name: "Inner",
        state: "hidden",
        rows: [
          ["Key", "Value"],
          ["Bonus", 345],
        ],
      },
      {
        name: "Deep",
        state: "veryHidden",
        rows: [
          ["Key", "Value"],
          ["Rate", 678],
        ],
      },
    ],
    lines: [
      "## Inner (hidden)",
      "Key: Bonus; Value: 345",
      "## Deep (hidden)",
      "Key: Rate; Value: 678",
    ],
  },
  {
    what: "hidden rows and columns",
    sheets: [
      {
        name: "Staff",
        hiddenRows: [3],
        hiddenColumns: [1],
        rows: [
          ["Name", "Salary", "Desk"],
          ["Ana", 4100, 3],
          ["Ben", 4200, 4],
        ],
      },
    ],
    lines: [
      "Name; Salary (hidden); Desk",
      "Name: Ana; Salary (hidden): 4100; Desk: 3",
      "Name: Ben; Salary (hidden): 4200; Desk: 4 (hidden)",
    ],
  },
  {
    what: "cells over several rows",
    sheets: [
      {
        name: "Tours",
        merged: ["A2:A3", "A4:B4"],
        rows: [
          ["Region", "Town", "Guests"],
          ["North", "Alta", 310],
          ["", "Bodø", 290],
          ["South", "", 120],
        ],
      },
    ],
    lines: [
      "Region: North; Town: Alta; Guests: 310",
      "Region: North; Town: Bodø; Guests: 290",
      "Region: South; Guests: 120",
    ],
  },
  {
    what: "a table of words below one of figures",
    sheets: [
      {
        name: "Boats",
        rows: [
          ["Item", "Cost"],
          ["Rope", 12],
          ["Sail", 99],
          [],
          ["Boat", "Skipper"],
          ["Lynx", "Ana"],
          ["Ibex", "Ben"],
          [],
          ["Boats that are let"],
          ["Otter"],
        ],
      },
    ],
    lines: ["Item: Sail; Cost: 99", "Boat: Lynx; Skipper: Ana", "Boats that are let", "Otter"],
  },
  {
    what: "two tables of words, of which nothing says that the second has names",
    sheets: [
      {
        name: "Crew",
        rows: [
          ["Name", "Town"],
          ["Ana", "Oslo"],
          ["Ben", "Voss"],
          [],
          ["Boat", "Skipper"],
          ["Lynx", "Ana"],
          ["Ibex", "Ben"],
        ],
      },
    ],
    lines: ["Name: Ben; Town: Voss", "Boat; Skipper", "Lynx; Ana", "Ibex; Ben"],
  },
  {
    what: "one table whose rows stand in groups",
    sheets: [
      {
        name: "Fleet",
        rows: [
          ["Boat", "Built"],
          ["Lynx", 1998],
          ["Ibex", 2004],
          [],
          ["Otter", 1987],
          ["Seal", 1990],
        ],
      },
      {
        name: "Crew",
        rows: [
          ["Name", "Town", "Job"],
          ["Ana", "Oslo", "cook"],
          ["Ben", "Voss", "pilot"],
          [],
          ["Eva", "Alta", "cook"],
          ["Dag", "Bodø", "guide"],
        ],
      },
    ],
    lines: [
      "Boat: Otter; Built: 1987",
      "Boat: Seal; Built: 1990",
      "Name: Dag; Town: Bodø; Job: guide",
    ],
  },
  {
    what: "two tables with years as names",
    sheets: [
      {
        name: "Years",
        rows: [
          ["Boat", "Built", "Berth"],
          ["Lynx", 1998, "A"],
          ["Ibex", 2004, "B"],
          [],
          ["Item", 2023, 2024],
          ["Rope", 12, 300],
          ["Sail", 14, 99],
        ],
      },
    ],
    lines: ["Boat: Ibex; Built: 2004; Berth: B", "Item: Rope; 2023: 12; 2024: 300"],
  },
  {
    what: "two tables below each other, and a comment",
    sheets: [
      {
        name: "Year",
        comments: [{ ref: "B2", text: "Without the island." }],
        rows: [
          ["Month", "Guests"],
          ["May", 31],
          ["June", 44],
          [],
          ["Boat", "Seats", "Built"],
          ["Lynx", 8, 1998],
          ["Ibex", 15, 2004],
        ],
      },
    ],
    lines: [
      "Month: June; Guests: 44",
      "Boat; Seats; Built",
      "Boat: Lynx; Seats: 8; Built: 1998",
      "Comment on B2 (Ada Roe): Without the island.",
    ],
  },
];

describe.each(Object.entries(BOOK_DIALECTS))("a workbook as %s writes it", (_, dialect) => {
  test.each(BOOKS.map((book) => [book.what, book] as const))("has %s", async (_what, book) => {
    const { text } = await readWith(readXlsx, writeBook(book.sheets, dialect, book.start));
    for (const line of book.lines) expect(text.split("\n")).toContain(line);
  });
});

type Table = {
  readonly what: string;
  readonly rows: readonly (readonly (string | number)[])[];
  /** Made with the mark of decimals. */
  readonly lines: (figure: (number: number) => string) => readonly string[];
};

const TABLES: readonly Table[] = [
  {
    what: "a list",
    rows: [
      ["Supplier", "Order", "Amount"],
      ["Nordlys", "A-1204", 1234.56],
      ["Havblikk", "A-1205", 87.1],
    ],
    lines: (f) => [`Supplier: Nordlys; Order: A-1204; Amount: ${f(1234.56)}`],
  },
  {
    what: "a statement below its preamble",
    rows: [
      ["Account statement of Havn Bank"],
      ["IBAN", "NO93 8601 1117 947"],
      ["Period", "May 2026"],
      [],
      ["Date", "Text", "Amount"],
      ["02.05.2026", "Card purchase", -245.5],
      ["03.05.2026", "Salary", 31200],
    ],
    lines: (f) => [
      "IBAN: NO93 8601 1117 947",
      "Period: May 2026",
      `Date: 02.05.2026; Text: Card purchase; Amount: ${f(-245.5)}`,
      `Date: 03.05.2026; Text: Salary; Amount: ${f(31200)}`,
    ],
  },
  {
    what: "words with marks, delimiters and line ends in them",
    rows: [
      ["Note", "By", "Paid"],
      ['He said "no",\ntwice; today', "Ann\tLee", 12],
      ["fine", "Bob", 13],
    ],
    lines: (f) => [`Note: He said "no", twice; today; By: Ann Lee; Paid: ${f(12)}`],
  },
  {
    what: "years as names",
    rows: [
      ["Region", "2024", "2025"],
      ["North", 12.5, 13.5],
      ["South", 14.25, 15.75],
    ],
    lines: (f) => [`Region: South; 2024: ${f(14.25)}; 2025: ${f(15.75)}`],
  },
  {
    what: "a name that is said twice",
    rows: [
      ["Item", "Price", "Price"],
      ["Rope", 12, 14],
      ["Sail", 99, 110],
    ],
    lines: (f) => [`Item: Rope; Price: ${f(12)}; Price (2): ${f(14)}`],
  },
  {
    what: "no names",
    rows: [
      ["02.05.2026", "Rema", 12.5],
      ["03.05.2026", "Kiwi", 13.5],
      ["04.05.2026", "Coop", 7],
    ],
    lines: (f) => [`02.05.2026; Rema; ${f(12.5)}`, `04.05.2026; Coop; ${f(7)}`],
  },
  {
    what: "columns that are empty throughout",
    rows: [
      ["Name", "Title", "Fee"],
      ["Kari", "", 10],
      ["Ola", "", 20.5],
    ],
    lines: (f) => [`Name: Kari; Fee: ${f(10)}`, `Name: Ola; Fee: ${f(20.5)}`],
  },
  {
    what: "cells that are empty at the end",
    rows: [
      ["Name", "Fee", "Remark"],
      ["Kari", 10, ""],
      ["Ola", 20.5, "late"],
      ["Per", 30, ""],
      ["Liv", 40, ""],
    ],
    lines: (f) => [`Name: Kari; Fee: ${f(10)}`, `Name: Ola; Fee: ${f(20.5)}; Remark: late`],
  },
  {
    what: "a total at the end",
    rows: [
      ["Date", "Text", "Amount"],
      ["02.05.2026", "Oil", 12.5],
      ["03.05.2026", "Gas", 13.5],
      ["", "Total", 26],
    ],
    lines: (f) => [`Text: Total; Amount: ${f(26)}`],
  },
  {
    what: "a note below the table",
    rows: [
      ["Date", "Text", "Amount"],
      ["02.05.2026", "Oil", 12.5],
      ["03.05.2026", "Gas", 13.5],
      ["Made on 4 May"],
    ],
    lines: (f) => [`Date: 03.05.2026; Text: Gas; Amount: ${f(13.5)}`, "Made on 4 May"],
  },
  {
    what: "letters of the West",
    rows: [
      ["Straße", "Größe", "Preis"],
      ["Hauptstraße", "groß", 37.8],
      ["Am Süll", "klein", 12],
    ],
    lines: (f) => [`Straße: Hauptstraße; Größe: groß; Preis: ${f(37.8)}`],
  },
  {
    what: "many figures in a row",
    rows: [
      ["Day", "Low", "High", "Rain"],
      ["01.05.", 4.5, 12.25, 0],
      ["02.05.", 5.5, 14.75, 1.2],
      ["03.05.", 6, 15, 0.4],
    ],
    lines: (f) => [`Day: 02.05.; Low: ${f(5.5)}; High: ${f(14.75)}; Rain: ${f(1.2)}`],
  },
];

describe.each(Object.entries(TEXT_DIALECTS))(
  "a table as %s writes it",
  (_, dialect: TextDialect) => {
    test.each(TABLES.map((table) => [table.what, table] as const))(
      "has %s",
      async (_what, table) => {
        const { text } = await readWith(readCsv, writeTable(table.rows, dialect));
        const lines = table.lines((number) => cellText(number, dialect.decimal));
        for (const line of lines) expect(text.split("\n")).toContain(line);
      },
    );
  },
);

/** Of kinds that were met one by one, each with a line that has to come out. */
const MET: readonly (readonly [what: string, table: string, line: string])[] = [
  [
    "a comma in words that nobody quoted",
    "Date,Shop,Amount\n2026-05-02,Rema,-245.50\n2026-05-03,Kiwi, Oslo,-12.00\n2026-05-04,Coop,-7.25\n",
    "Date: 2026-05-03; Shop: Kiwi, Oslo; Amount: -12.00",
  ],
  ["decimal commas between semicolons", "A;B\n1,5;2,5\nx;3,5\n", "A; B"],
  ["bars and blanks around cells", "Part | Stock\nBolt | 12\nNut | 40\n", "Part: Bolt; Stock: 12"],
  ["a mark for inches", 'Size,Price\n5" pipe,12\n"6"" pipe",14\n', 'Size: 6" pipe; Price: 14'],
  [
    "names that several columns share",
    "Sales\n;North;;South;\nMonth;Plan;Actual;Plan;Actual\nJan;1;2;3;4\nFeb;5;6;7;8\n",
    "Month: Jan; North Plan: 1; North Actual: 2; South Plan: 3; South Actual: 4",
  ],
  ["one column", "Town\nAlta\nBodø\n", "Alta"],
  [
    "a first name that is empty",
    ",North,South\nMay,12,14\nJune,15,17\n",
    "Column 1: May; North: 12; South: 14",
  ],
  ["old line ends", "Name;Fee\rKari;10\rOla;20\r", "Name: Ola; Fee: 20"],
  [
    "two tables with a gap",
    "Item,Cost\nRope,12\nSail,99\n\nName,Desk,Phone\nAna,3,4417\nBen,4,4420\n",
    "Name: Ben; Desk: 4; Phone: 4420",
  ],
  ["currencies", "Item;Price\nRope;12,50 EUR\nSail;99,00 EUR\n", "Item: Sail; Price: 99,00 EUR"],
  [
    "a preamble that Excel filled up with delimiters",
    "Report 2026;;\nMade by;Ana;\n;;\nDate;Text;Amount\n02.05.2026;Oil;12,50\n03.05.2026;Gas;13,50\n",
    "Date: 02.05.2026; Text: Oil; Amount: 12,50",
  ],
  [
    "thousands with points",
    "Konto;Saldo\nGiro;1.234,50\nSpar;12.000,00\n",
    "Konto: Spar; Saldo: 12.000,00",
  ],
  ["minus signs behind", "Text;Soll\nMiete;900,00-\nStrom;80,00-\n", "Text: Miete; Soll: 900,00-"],
  ["the separator named in quotes", '"sep=,"\nItem,Cost\nRope,12\n', "Item: Rope; Cost: 12"],
  [
    "two bookings below many lines of names and values",
    "IBAN;DE27\nBank;ING\nHolder;Jana Petersen\nFrom;2026-11-01\nTo;2026-11-30\nBalance;1.987,44;EUR\n\nDay;Payee;Purpose;Type;Amount\n30.11.2026;Baker;Bread;Card;-12,40\n27.11.2026;Fund;Bonus;Credit;150,00\n",
    "Day: 30.11.2026; Payee: Baker; Purpose: Bread; Type: Card; Amount: -12,40",
  ],
  [
    "a wider table below another account",
    "Giro\n\nDay;Kind;Text;Amount\n30.11.2026;Debit;Abo;-13,99\n28.11.2026;Debit;Fuel;-61,20\n\nVisa\n\nDay;Used;Kind;Text;Amount\n29.11.2026;27.11.2026;Visa;Rail;-120,00\n",
    "Day: 29.11.2026; Used: 27.11.2026; Kind: Visa; Text: Rail; Amount: -120,00",
  ],
  [
    "labels and values and no names",
    "Policy;HV-99812\nInsured;Greta Lindholm\nSum insured;85.000 EUR\n",
    "Insured: Greta Lindholm",
  ],
  ["labels that end with colons", "From:;May\nTo:;June\nBy:;Ana\n", "To: June"],
  [
    "labels in two columns, a day above an amount",
    "Name;Ruth Okafor;Staff no.;E-5521\nStart;2024-03-01;Grade;B2\nSalary;42000;Manager;Tom Weir\n",
    "Salary: 42000; Manager: Tom Weir",
  ],
  [
    "rooms that are codes and figures",
    "Name;Room\nAnna;3\nBo;B2\nCid;4\nDag;C5\n",
    "Name: Anna; Room: 3",
  ],
  ["words in two columns", "Name;Town\nAnna;Kiel\nBo;Oslo\nCid;Voss\n", "Name: Bo; Town: Oslo"],
  [
    "days that name the columns of a roster",
    "Name;2026-12-01;2026-12-02;2026-12-03\nAnna;early;;late\nBo;;late;early\n",
    "Name: Anna; 2026-12-01: early; 2026-12-03: late",
  ],
  [
    "days above hours",
    ";01.12.;02.12.;03.12.\nAnna;8;7,5;\nBo;;4;8\n",
    "Column 1: Anna; 01.12.: 8; 02.12.: 7,5",
  ],
  [
    "numbers that name columns",
    "Name;1;2;3;4;5\nAnna;E;L;;;E\nBo;;E;L;L;\n",
    "Name: Bo; 2: E; 3: L; 4: L",
  ],
  [
    "days in two columns and no names",
    "Roof;01.12.2026;03.12.2026;05.12.2026\nDoor;04.12.2026;05.12.2026;06.12.2026\n",
    "Door; 04.12.2026; 05.12.2026; 06.12.2026",
  ],
  [
    "names of months in dates",
    "Date,Text,Sum\n12-Jan-26,Oil,4\n13-Feb-26,Gas,5\n",
    "Date: 13-Feb-26; Text: Gas; Sum: 5",
  ],
];

test.each(MET)("a table with %s is read as it is meant", async (_, table, line) => {
  expect((await readWith(readCsv, table)).text.split("\n")).toContain(line);
});

test("a row of more cells than names, of which nobody knows whose they are, has no names", async () => {
  const { text } = await readWith(
    readCsv,
    "Name,Town,Job\nAna,Oslo,cook\nBen,Voss,pilot\nEva,Alta,north,guide\n",
  );
  expect(text).toContain("Name: Ben; Town: Voss; Job: pilot\nEva; Alta; north; guide\n");
});

describe("names of rows, which R writes below no name", () => {
  const cars: readonly (readonly string[])[] = [
    ['"Mazda RX4"', "21", "6", "160", '"a, b"'],
    ['"Datsun 710"', "22.8", "4", "108", "NA"],
    ['"Valiant"', "18.1", "6", "225", '"c"'],
  ];
  const names = ['"mpg"', '"cyl"', '"disp"', '"note"'];

  test.each([["\t"], [";"], [","]])("leave those of columns where they are, by %j", async (by) => {
    const table = [names, ...cars].map((row) => `${row.join(by)}\n`).join("");
    for (const above of ["", "Cars\n"]) {
      const read = await readWith(readCsv, above + table);
      expect(read.text).toBe(
        `${above}mpg; cyl; disp; note\n` +
          "Column 1: Mazda RX4; mpg: 21; cyl: 6; disp: 160; note: a, b\n" +
          "Column 1: Datsun 710; mpg: 22.8; cyl: 4; disp: 108; note: NA\n" +
          "Column 1: Valiant; mpg: 18.1; cyl: 6; disp: 225; note: c\n",
      );
      expect(read.leftOut).toBeUndefined();
    }
  });

  test("which come twice are no names of rows", async () => {
    const table = '"a";"b"\n"x";1;2\n"x";3;4\n';
    expect((await readWith(readCsv, table)).text).toBe("a; b\nx; 1; 2\nx; 3; 4\n");
  });
});

test.each([
  ["may be decimals", "Name,Betrag\nMiete,850,50\nStrom,60,10\n", "Miete; 850; 50\n", 2],
  [
    "may be decimals in several columns",
    "Datum,Text,Soll,Saldo\n1.2.2026,Rent,-850,00,1200,50\n2.2.2026,Pay,2500,00,3700,50\n",
    "1.2.2026; Rent; -850; 00; 1200; 50\n",
    2,
  ],
  ["are words", "Name,Town\nAna,Oslo\nEva,Alta,north\n", "Eva; Alta; north\n", 1],
  [
    "may have an unnamed first or last one",
    "Region;2024;2025\nNorth;12,5;13,5;14\nSouth;14,25;15,75;11\n",
    "South; 14,25; 15,75; 11\n",
    2,
  ],
  [
    "are all words in quotes",
    '"name";"town"\n"1";"Ana";"Oslo"\n"2";"Ben";"Voss"\n',
    "1; Ana; Oslo\n",
    2,
  ],
  [
    "may be decimals though names of rows are quoted",
    '"speed","dist"\n"1",4,2\n"2",4,10\n"3",7,4\n',
    "1; 4; 2\n",
    3,
  ],
])("rows of more cells than names that %s are counted", async (_, table, row, count) => {
  const read = await readWith(readCsv, table);
  expect(read.text).toContain(`\n${row}`);
  expect(read.leftOut).toEqual({ "rows of more cells than names": count });
});

test("cells with the type of a text or of a truth and without a value are empty", () => {
  const rows: unknown[] = [];
  readSheet(
    '<worksheet><sheetData><row r="1"><c r="A1" t="s"/><c r="B1" t="b"/><c r="C1" t="s"><v>0</v></c></row></sheetData></worksheet>',
    { strings: ["Oslo"], styles: [], struck: new Set(), start: 1900, isUnreckoned: false },
    {
      row: (_number, cells) => void rows.push([...cells]),
      hideColumn: () => undefined,
      unreckoned: () => undefined,
    },
  );
  expect(rows).toEqual([[[2, "Oslo"]]]);
});
