import { expect, test } from "@jest/globals";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { pieceOf } from "./pieces-of.ts";

const gradeOf = (evidence: string, text: string): string => {
  const [graded] = gradeClaims([{ text, cites: [1] }], [pieceOf("notes/a.md", evidence)], {
    question: "",
  });
  return `${graded?.grade ?? ""} ${graded?.reason ?? ""}`;
};

test.each([
  ["a month", "The course runs on 9 May 2026.", "The course runs on 2026-05-09."],
  [
    "a range",
    "| Course | Begin | End |\n|---|---|---|\n| Knots | 11 May | 5 June |",
    "The course on knots, from 11 May to 5 June.",
  ],
  ["a reason", "The delay is due to the storm.", "The delay is owing to the storm."],
  ["so far", "The mesh has not been used.", "So far the mesh has not been used."],
  [
    "no more than",
    "At most eight people join the tour.",
    "No more than eight people join the tour.",
  ],
  ["an amount with only", "The pump needs only 30 minutes.", "The pump needs 30 minutes."],
  [
    "a permission",
    "Sheds of wood are allowed in the garden.",
    "Sheds of wood may stand in the garden.",
  ],
  [
    "que behind plus, and without",
    "Le flacon reçu est cassé, le laboratoire confirme.",
    "Le laboratoire confirme que le flacon reçu est cassé.",
  ],
  [
    "als without a comparison",
    "Die Firma zahlt 500 € Selbstbeteiligung.",
    "Die Firma zahlt 500 € als Selbstbeteiligung.",
  ],
])("%s is no cue", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)).toBe("supported carried");
});

test.each([
  ["longer", "The widget is no longer sold in Kiel.", "The widget is still sold in Kiel."],
  ["of stock", "The laid paper is out of stock in May.", "The laid paper is in stock in May."],
  [
    "que but plus",
    "Les Groslier cultivent en bio depuis 2017.",
    "Les Groslier ne cultivent plus en bio depuis 2017.",
  ],
])("no, out and ne deny before %s", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)).toMatch(/ polarity$/);
});

test.each([
  [
    "the cause told as the effect by another word",
    "The delirium was due to an infection of the lung.",
    "The delirium led to an infection of the lung.",
  ],
  [
    "a figure beside another name",
    "Delivery is free in Vilmar; in Costa the firm takes 7 € a trip.",
    "In Vilmar the firm takes 7 € a trip.",
  ],
  [
    "a figure of another ordinal",
    "The first reviewer gave 8 points, the second 5.",
    "The second reviewer gave 8 points.",
  ],
  [
    "another office of a list",
    "Chair, Lanza; treasurer of the club, Mercè Doltra; warden of the huts, Joan Abella.",
    "The warden of the huts is Mercè Doltra.",
  ],
  [
    "a code that is the beginning of another",
    "The pump of the DX-20P is not available for the DX-20.",
    "The pump is available for the DX-20 but not for the DX-20P.",
  ],
  [
    "another machine of a log",
    "2026-06-03 09:05 ups-b ERROR self-test failed\n2026-06-03 09:02 ups-a self-test passed",
    "The self-test of ups-a failed on 3 June.",
  ],
  [
    "what a figure counts",
    "The gift of the family (1,136 photographs) is catalogued.",
    "The gift of the family, 1,136 books, is catalogued.",
  ],
  [
    "another adjective before the same noun",
    "The resistance of the cellar circuit was low.\nThe cooker circuit was checked.",
    "The resistance of the cooker circuit was low.",
  ],
  [
    "figures that are exchanged",
    "For two loaves: 650 g rye flour, 350 g wheat flour, 20 g salt.",
    "20 g of salt go with 650 g of wheat flour and 350 g of rye flour.",
  ],
  [
    "another row of the table",
    "| Building | Hours | Price |\n|---|---|---|\n| Town hall | 18–21 | £1,960 |\n| Library | 7–9 | £1,420 |",
    "The library costs £1,960.",
  ],
  [
    "a day of another segment",
    "Loan period: 4 September 2026 to 17 January 2027, exhibition 18 September to 10 January.",
    "The loan period ends on 10 January 2027.",
  ],
  [
    "a name alone",
    "The order is for the depot. It is here.\n\nCopy: Swantje Iversen",
    "The order was signed by Swantje Iversen.",
  ],
  [
    "what would be done, told as what was done",
    "Die Pumpe im Keller würde im Juni ersetzt.",
    "Die Pumpe im Keller wurde im Juni ersetzt.",
  ],
  [
    "what must be done, told as what was done",
    "Die Pumpe im Keller muss im Juni ersetzt werden.",
    "Die Pumpe im Keller wurde im Juni ersetzt.",
  ],
  [
    "what could be done, told as what was possible",
    "Die Ware in Zelle 5 könnte nach einer Probe freigegeben werden.",
    "Die Ware in Zelle 5 konnte nach einer Probe freigegeben werden.",
  ],
])("%s is a doubt", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)).toMatch(
    /^(?:partly|unsupported) (?:cue|order|rival|place|polarity|words|new_words)$/,
  );
});

test("an answer is read in the language of its question", () => {
  const evidence = [
    pieceOf("a.md", "Laissez refroidir le four pendant une heure avant de le nettoyer."),
  ];
  const question = "Wie lange muss der Ofen vor dem Reinigen abkühlen?";
  const [graded] = gradeClaims([{ text: "Eine Stunde.", cites: [1] }], evidence, { question });
  expect(graded?.grade).toBe("partly");
});

test("hours are rounder than minutes", () => {
  const evidence = "The full backup takes about 4 hours 20 minutes.";
  expect(gradeOf(evidence, "The full backup takes just over four hours.")).toBe(
    "supported carried",
  );
});

test("a weekday in the heading of another cited piece stands there", () => {
  const evidence = [
    { ...pieceOf("a.md", "Sample K-17: pH 6.8."), headingPath: "H2: Monday" },
    { ...pieceOf("b.md", "Sample K-17: pH down to 6.1."), number: 2, headingPath: "H2: Wednesday" },
  ];
  const text = "Sample K-17 fell from pH 6.8 on Monday to 6.1 on Wednesday.";
  const [graded] = gradeClaims([{ text, cites: [1, 2] }], evidence, { question: "" });
  expect(graded?.grade).toBe("partly");
});

test("a figure that stands there pins a claim with one new word", () => {
  const evidence = "Nests face south-east, 1.2 m above the ground.";
  expect(gradeOf(evidence, "The nests are mounted 120 cm above the ground.")).toBe(
    "supported carried",
  );
});

test("a new item of a list is no detail", () => {
  const evidence = "Reduced price for students, pensioners and members of the club.";
  expect(gradeOf(evidence, "A reduced price for students, pensioners and nurses.")).toBe(
    "partly new_words",
  );
});

test("a word that another sentence denies is a doubt", () => {
  const evidence = "On 12 March aphids were seen on the aubergines in the greenhouse. No spraying.";
  const claim = "On 12 March aphids seen on the aubergines in the greenhouse were sprayed.";
  expect(gradeOf(evidence, claim)).toBe("partly polarity");
});

test.each([
  ["pence", "The school pays 14.5 p/kWh.", "The school pays £14.50 per kWh."],
  ["Rappen", "Ein Blatt kostet 20 Rappen.", "Ein Blatt kostet 20 Franken."],
])("%s are a hundredth", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)).toBe("unsupported figure");
});

test("years in the head of a table name its columns", () => {
  const evidence = "| Species | 2023 | 2024 |\n|---|---|---|\n| Coot | 902 | 877 |";
  expect(gradeOf(evidence, "Coot: 877 in 2024.")).toBe("supported carried");
});

test.each([
  ["None of the rooms has a balcony.", "The room has no balcony.", "partly cue"],
  ["None of the rooms has a balcony.", "No room has a balcony.", "supported carried"],
  [
    "Keine der Filialen hat sonntags geöffnet.",
    "Sonntags hat die Filiale nicht geöffnet.",
    "partly cue",
  ],
  ["Ninguna de las habitaciones tiene balcón.", "La habitación no tiene balcón.", "partly cue"],
  ["Aucune des chambres n'a de balcon.", "La chambre n'a pas de balcon.", "partly cue"],
])("what is denied of all is not carried by a denial of one: %s %s", (claim, evidence, grade) => {
  expect(gradeOf(evidence, claim)).toBe(grade);
});

test("in Japanese a unit in Latin letters ends where other signs begin", () => {
  const evidence = "新しい棚は幅90cm、高さ180cmである。";
  expect(gradeOf(evidence, "新しい棚の幅は90mである。")).toBe("unsupported figure");
  expect(gradeOf(evidence, "新しい棚の幅は90cmである。")).toBe("supported carried");
});

test.each([
  ["開店の前に掃除を行わなかった。", "開店の前に掃除を行った。"],
  ["The tour on Friday was cancelled.", "The tour on Friday was held."],
  ["Die Führung am Freitag wurde abgesagt.", "Die Führung am Freitag wurde abgehalten."],
  ["La visite de vendredi a été annulée.", "La visite de vendredi a été faite."],
  ["La visita del viernes fue cancelada.", "La visita del viernes fue hecha."],
])("what did not take place is denied: %s", (evidence, claim) => {
  expect(gradeOf(evidence, claim)).toMatch(/ polarity$/);
});

test("few is no denial in Japanese", () => {
  expect(gradeOf("客が少ない日は早く閉める。", "客の少ない日は早く閉める。")).toBe(
    "supported carried",
  );
});

const VISITS = "Relatives may visit from 14:00, but not on Monday.";
const SHED = "Neither the shed nor the polytunnel is insured.";

test.each([
  ["a day that is left out", VISITS, "Relatives may visit on Monday.", "unsupported polarity"],
  ["the same told as it is", VISITS, "Relatives may not visit on Monday.", "supported carried"],
  [
    "ein Tag, der ausgenommen ist",
    "Besucher dürfen ab 14 Uhr kommen, aber nicht am Montag.",
    "Besucher dürfen am Montag kommen.",
    "unsupported polarity",
  ],
  ["one of two that are denied", SHED, "The polytunnel isn't insured.", "supported carried"],
  ["the other way round", SHED, "The polytunnel is insured.", "partly polarity"],
  [
    "one of both alone",
    SHED,
    "The shed is insured, the polytunnel is not.",
    "unsupported polarity",
  ],
  [
    "the second of ni and ni",
    "Le piano de la grande salle ne sera ni loué ni accordé cette année par la chorale.",
    "Le piano de la grande salle ne sera pas accordé cette année.",
    "supported carried",
  ],
  [
    "only for except",
    "Bonfires are forbidden except on 5 November.",
    "Bonfires are only allowed on 5 November.",
    "partly polarity",
  ],
])("denials count for what they deny: %s", (_, evidence, claim, grade) => {
  expect(gradeOf(evidence, claim)).toBe(grade);
});

const SHOP = "The shop on the quay opens at 14:30 and closes at 22:50.";
const LIFT = "The lift at the station is closed until 4 May.";

test.each([
  ["both words of a pair, of which it says one", SHOP, "The shop on the quay closes at 22:50."],
  ["another word for what is closed", LIFT, "The lift at the station is unavailable until 4 May."],
  [
    "a denial of the opposite",
    "Dinner with breakfast is on Friday and is not required.",
    "Dinner with breakfast is on Friday and is optional.",
  ],
])("a right claim stays, marked, where the sentence has %s", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)).toMatch(/^partly/);
});

test.each([
  ["a plain denial", LIFT, "The lift at the station is not closed until 4 May."],
  [
    "an opposite",
    "Tobias cleans the filter on the first Monday of the month.",
    "Tobias cleans the filter on the last Monday of the month.",
  ],
])("%s is left out", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)).toMatch(/^unsupported/);
});
