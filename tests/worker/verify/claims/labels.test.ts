import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";
import type { CitableBlock } from "../../../../src/worker/evidence/number.ts";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { readPiece } from "../../../../src/worker/verify/claims/pieces.ts";
import { pieceOf } from "./pieces-of.ts";

const gradesOf = (piece: CitableBlock, claims: readonly string[]) =>
  gradeClaims(
    claims.map((text) => ({ text, cites: [1] })),
    [piece],
    { question: "" },
  ).map(({ grade }) => grade);

const FAIR = pieceOf("minutes/2025-05-07.md", "# Minutes\n\nThe fair takes place on 12 June 2025.");
const WEEK = pieceOf(
  "week.md",
  "# Week\n\n## Monday 5 May\n\nThe market opens.\n\n## Tuesday 6 May\n\nThe library opens.",
);
const BUDGET = pieceOf("a.md", "# Budget: 5,000 EUR\n\nThe tent costs 700 EUR.");
const PUMP = pieceOf("a.md", "# Pump P-220\n\nThe old pump P-200 needs 120 W.");
const TOUR = pieceOf(
  "a.md",
  "# Trip to Berlin\n\nThe tour leads from Hamburg to Bremen on day two.",
);
const AUSFLUG = pieceOf(
  "a.md",
  "# Ausflug nach Berlin\n\nDie Gruppe fährt am Freitag nach Hamburg.",
);
const FREEZER = pieceOf("logs/freezer-2.md", "# Log\n\nFreezer 3 reached 4 °C in the night.");

test.each<readonly [string, CitableBlock, string]>([
  ["the day of a file's name", FAIR, "The fair takes place on 7 May 2025."],
  ["the day of another heading", WEEK, "The library opens on 5 May."],
  ["the day of the week of another heading", WEEK, "The library opens on Monday."],
  ["the amount of a title", BUDGET, "The tent costs 5,000 EUR."],
  ["the code of a title", PUMP, "The pump P-220 needs 120 W."],
  ["the name of a title", TOUR, "The tour leads from Berlin to Bremen on day two."],
  ["the name of a German title", AUSFLUG, "Die Gruppe fährt am Freitag nach Berlin."],
  ["the number of a file's name", FREEZER, "Freezer 2 reached 4 °C in the night."],
])("%s carries nothing where the sentence has one of its kind", (_, piece, claim) => {
  expect(gradesOf(piece, [claim])).not.toContain("supported");
});

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
])("%s stands in where the sentence has none of its kind", (_, piece, claim) => {
  expect(gradesOf(piece, [claim])).toEqual(["supported"]);
});

const CORPUS = resolve(import.meta.dirname, "..", "..", "..", "..", "examples", "corpus");
const IN_NAME = /(\d{4})-(\d\d)-(\d\d)/;
const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );

test("hardly any date of the examples is exchanged for that of its file's name", () => {
  const files = readdirSync(CORPUS, { recursive: true, encoding: "utf8" });
  const grades = files.sort().flatMap((path) => {
    const [iso, year = "", month = "", day = ""] = IN_NAME.exec(path) ?? [];
    if (iso === undefined || !path.endsWith(".md")) return [];
    const piece = pieceOf(path, readFileSync(join(CORPUS, path), "utf8"));
    const own = [`d:${iso}`, `m:${month}-${day}`];
    const spelled = `${String(Number(day))} ${MONTHS[Number(month) - 1] ?? ""} ${year}`;
    const claims = readPiece(piece).units.flatMap(({ kind, text, figures }) =>
      figures()
        .filter(
          ({ offers }) =>
            kind === "sentence" &&
            offers.some((offer) => /^[dm]:/.test(offer)) &&
            !offers.some((offer) => own.includes(offer)),
        )
        .map(({ start, end }) => text.slice(0, start) + spelled + text.slice(end)),
    );
    return gradesOf(piece, claims);
  });
  expect(grades.length).toBeGreaterThan(20);
  // A line that is a date alone, which stands elsewhere, and a range of one night.
  expect(grades.filter((grade) => grade === "supported").length).toBeLessThanOrEqual(3);
});
