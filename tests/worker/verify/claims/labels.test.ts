import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";
import type { CitableBlock } from "../../../../src/worker/evidence/number.ts";
import { readPiece } from "../../../../src/worker/verify/claims/pieces.ts";
import { standingOf } from "./grades-of.ts";
import { pieceOf } from "./pieces-of.ts";

const FAIR = pieceOf("minutes/2025-05-07.md", "# Minutes\n\nThe fair takes place on 12 June 2025.");
const WEEK = pieceOf(
  "week.md",
  "# Week\n\n## Monday 5 May\n\nThe market opens.\n\n## Tuesday 6 May\n\nThe library opens.",
);
const BUDGET = pieceOf("a.md", "# Budget: 5,000 EUR\n\nThe tent costs 700 EUR.");
const FREEZER = pieceOf("logs/freezer-2.md", "# Log\n\nFreezer 3 reached 4 °C in the night.");

test.each<readonly [string, CitableBlock, string]>([
  ["the day of a file's name", FAIR, "The fair takes place on 7 May 2025."],
  ["the day of another heading", WEEK, "The library opens on 5 May."],
  ["the day of the week of another heading", WEEK, "The library opens on Monday."],
  ["the amount of a title", BUDGET, "The tent costs 5,000 EUR."],
  ["the number of a file's name", FREEZER, "Freezer 2 reached 4 °C in the night."],
])("%s carries nothing where the sentence has one of its kind", (_, piece, claim) => {
  expect(standingOf(claim, [piece])).toBe("held back figure");
});

// The figure is of what stands above: a judge that confirms it confirms the rest of the claim alone.
test.each<readonly [string, CitableBlock, string]>([
  [
    "the day of a file's name",
    pieceOf("minutes/2025-05-07.md", "# Minutes\n\nThe board approved the tent."),
    "The board approved the tent on 7 May 2025.",
  ],
  [
    "the year of a title",
    pieceOf("a.md", "# Budget 2025\n\nThe fair takes place on 12 June."),
    "In 2025 the fair takes place on 12 June.",
  ],
  ["the day of its own heading", WEEK, "The library opens on Tuesday 6 May."],
])(
  "%s stands in where the sentence has none of its kind, and is at most unconfirmed",
  (_, piece, claim) => {
    expect(standingOf(claim, [piece])).toBe("framed label");
  },
);

const UNDATED = "The fair takes place on 12 June.";

test.each<readonly [string, CitableBlock, string, string]>([
  ["nobody wrote", pieceOf("fair.md", UNDATED), "", "framed label"],
  ["only another year is told", pieceOf("2025/fair.md", UNDATED), "", "framed label"],
  ["the path tells", pieceOf("1999/fair.md", UNDATED), "", "open not_asked"],
  [
    "another sentence tells",
    pieceOf("fair.md", `Plans for 1999. ${UNDATED}`),
    "",
    "open not_asked",
  ],
  [
    "the question tells",
    pieceOf("fair.md", UNDATED),
    "When is the fair in 1999?",
    "open not_asked",
  ],
])("a day without a year carries one that %s as far", (_, piece, question, standing) => {
  expect(standingOf("The fair takes place on 12 June 1999.", [piece], question)).toBe(standing);
});

test("a day in the heading of another cited piece stands there", () => {
  const evidence = [
    { ...pieceOf("a.md", "Sample K-17: pH 6.8."), headingPath: "H2: Monday" },
    { ...pieceOf("b.md", "Sample K-17: pH down to 6.1.", 2), headingPath: "H2: Wednesday" },
  ];
  const claim = "Sample K-17 fell from pH 6.8 on Monday to 6.1 on Wednesday.";
  expect(standingOf(claim, evidence)).toBe("framed label");
});

test.each<readonly [string, CitableBlock, string]>([
  [
    "the code of a title",
    pieceOf("a.md", "# Pump P-220\n\nThe pump needs 120 W."),
    "The pump P-220 needs 120 W.",
  ],
  [
    "the name of a title",
    pieceOf("a.md", "# Trip to Berlin\n\nThe tour starts on Friday at nine."),
    "The tour of Berlin starts on Friday at nine.",
  ],
  [
    "the number of a file's name",
    pieceOf("logs/freezer-2.md", "# Log\n\nIt reached 4 °C in the night."),
    "Freezer 2 reached 4 °C in the night.",
  ],
])("%s may stand above the sentence", (_, piece, claim) => {
  expect(standingOf(claim, [piece])).toBe("open not_asked");
});

const CORPUS = resolve(import.meta.dirname, "..", "..", "..", "..", "examples", "corpus");
const FRONT_MATTER = /^---\n[^]*?\n---\n/;
const IN_NAME = /(\d{4})-(\d\d)-(\d\d)/;
const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );

test("no date of the examples is exchanged for that of its file's name, where no sentence has that", () => {
  const files = readdirSync(CORPUS, { recursive: true, encoding: "utf8" });
  const standings = files.sort().flatMap((path) => {
    const [iso, year = "", month = "", day = ""] = IN_NAME.exec(path) ?? [];
    if (iso === undefined || !path.endsWith(".md")) return [];
    const text = readFileSync(join(CORPUS, path), "utf8").replace(FRONT_MATTER, "");
    const piece = pieceOf(path, text);
    const own = [`d:${iso}`, `m:${month}-${day}`];
    const spelled = `${String(Number(day))} ${MONTHS[Number(month) - 1] ?? ""} ${year}`;
    const dates = readPiece(piece).units.flatMap(({ kind, text: whole, figures }) =>
      figures().flatMap((figure) =>
        kind !== "heading" && figure.offers.some((offer) => /^[dm]:/.test(offer))
          ? [{ ...figure, whole }]
          : [],
      ),
    );
    if (dates.some(({ offers }) => offers.some((offer) => own.includes(offer)))) return [];
    const claims = dates.map(
      ({ start, end, whole }) => whole.slice(0, start) + spelled + whole.slice(end),
    );
    return claims.map((claim) => standingOf(claim, [piece]));
  });
  expect(standings.length).toBeGreaterThan(10);
  expect(new Set(standings)).toEqual(new Set(["held back figure"]));
});
