import { expect, test } from "@jest/globals";
import { readingOf, standingOf } from "./grades-of.ts";

test.each([
  ["another surname", "Heike Brandtner leads the meeting.", "Heike Brandner leads the meeting."],
  ["another person", "The log was kept by Una Colby.", "The log was kept by Rhona Field."],
  [
    "another firm in German",
    "Der Auftrag geht an die Werft Lüdtke in Kiel.",
    "Der Auftrag geht an die Werft Petersen in Kiel.",
  ],
  ["another code", "The certificate on gw-3 expired.", "The certificate on gw-7 expired."],
  [
    "another address",
    "Write to desk@nord.example for help.",
    "Write to desk@sued.example for help.",
  ],
  ["another setting", "Set `max_body` to zero.", "Set `max_head` to zero."],
  ["a name at the start", "In winter Marguerite prefers cardamom.", "Rosalind prefers cardamom."],
])("%s is held back", (_, evidence, claim) => {
  expect(standingOf(claim, evidence)).toBe("held back name");
});

test("a name that the question brings up is not invented", () => {
  const evidence = "The vessel carries 28 cars.";
  const claim = "The Corran Lass carries 28 cars.";
  expect(standingOf(claim, evidence)).toBe("held back name");
  expect(standingOf(claim, evidence, "What does the Corran Lass carry?")).toBe("open not_asked");
});

const VISITS = "Relatives may visit from 14:00, but not on Monday.";
const SHED = "Neither the shed nor the polytunnel is insured.";

test.each([
  ["English", "Dogs may not enter the lounge.", "Dogs may enter the lounge."],
  ["German", "Hunde dürfen den Salon nicht betreten.", "Hunde dürfen den Salon betreten."],
  [
    "French",
    "Les chiens ne peuvent pas entrer dans le salon.",
    "Les chiens peuvent entrer dans le salon.",
  ],
  ["Spanish", "Los perros no pueden entrar en el salón.", "Los perros pueden entrar en el salón."],
  ["Japanese", "犬は食堂に入れません。", "犬は食堂に入れます。"],
  ["not doing", "開店の前に掃除を行わなかった。", "開店の前に掃除を行った。"],
  ["no longer", "The widget is no longer sold in Kiel.", "The widget is still sold in Kiel."],
  ["out of stock", "The laid paper is out of stock in May.", "The laid paper is in stock in May."],
  ["a day that is left out", VISITS, "Relatives may visit on Monday."],
  [
    "ein Tag, der ausgenommen ist",
    "Besucher dürfen ab 14 Uhr kommen, aber nicht am Montag.",
    "Besucher dürfen am Montag kommen.",
  ],
  ["one of both alone", SHED, "The shed is insured, the polytunnel is not."],
  [
    "a plain denial",
    "The lift at the station is closed until 4 May.",
    "The lift at the station is not closed until 4 May.",
  ],
  [
    '"No invoice"',
    "Invoice 12 is about the two pumps in the cellar.",
    "No invoice is about the two pumps in the cellar.",
  ],
  [
    '"won\'t"',
    "Marta Lindqvist will run the race in October.",
    "Marta Lindqvist won't run the race in October.",
  ],
  [
    "what stands behind another clause",
    "The deposit (€90, paid on 4 May) is not returned yet; the office will see to it.",
    "The deposit has already been returned.",
  ],
])("a denial that stands on one side alone holds a claim back: %s", (_, evidence, claim) => {
  expect(readingOf(claim, evidence)).toMatchObject({ standing: "held back", rules: ["polarity"] });
});

test.each([
  ["the same told as it is", VISITS, "Relatives may not visit on Monday."],
  ["one of two that are denied", SHED, "The polytunnel isn't insured."],
  [
    "the second of ni and ni",
    "Le piano de la grande salle ne sera ni loué ni accordé cette année par la chorale.",
    "Le piano de la grande salle ne sera pas accordé cette année.",
  ],
  [
    "only for except",
    "Nobody rows at night on the lake of the club except members.",
    "Only members row at night on the lake of the club.",
  ],
  [
    "the clause alone",
    "The deposit (€90, paid on 4 May) is not returned yet; the office will see to it.",
    "The deposit is not returned yet.",
  ],
])("a denial that stands on both sides holds nothing back: %s", (_, evidence, claim) => {
  expect(standingOf(claim, evidence)).toBe("open not_asked");
});

test.each([
  [
    "open",
    "The gate of the garden is open in summer.",
    "The gate of the garden is closed in summer.",
  ],
  [
    "first",
    "Tobias cleans the filter on the first Monday of the month.",
    "Tobias cleans the filter on the last Monday of the month.",
  ],
  [
    "lost",
    "Harbour AC lost to Northshore 3:2 on Sunday.",
    "Harbour AC beat Northshore 3:2 on Sunday.",
  ],
  [
    "in favour",
    "The vote of the members was 7 to 2 in favour.",
    "The vote of the members was 7 to 2 against.",
  ],
  [
    "before",
    "The pump was drained before the valve was changed.",
    "The pump was drained after the valve was changed.",
  ],
  [
    "bestreitet",
    "Die Firma Krahl bestreitet, das Ventil geöffnet zu haben.",
    "Die Firma Krahl räumt ein, das Ventil geöffnet zu haben.",
  ],
  [
    "多かった",
    "三月の来館者は1,200人で、二月より80人多かった。",
    "三月の来館者は二月より少なかった。",
  ],
  ["陰性", "犬アレルギーの検査は陰性。", "犬アレルギーの検査は陽性だった。"],
  // Right ones: the rule reads words, and a judge that confirms them leaves them unconfirmed.
  [
    "larger, told from the other side",
    "Room 12 is larger than Room 9 but has no projector.",
    "Room 9 is smaller than Room 12.",
  ],
  [
    "required, which is denied",
    "Dinner with breakfast is on Friday and is not required.",
    "Dinner with breakfast is on Friday and is optional.",
  ],
  [
    "forbidden, but for a day",
    "Bonfires are forbidden except on 5 November.",
    "Bonfires are only allowed on 5 November.",
  ],
  [
    "begins, with how long",
    "The lease begins on 1 January 2026 and runs for five years.",
    "The lease ends on 31 December 2030.",
  ],
])("the opposite of a word of the sentence holds a claim back: %s", (_, evidence, claim) => {
  expect(readingOf(claim, evidence)).toMatchObject({ standing: "held back", rules: ["opposites"] });
});

test.each([
  [
    "subject",
    "Ruth proposed to paint the hall in March; agreed, Ruth and Owen to order.",
    "Owen proposed to paint the hall in March.",
    "Ruth proposed to paint the hall in March.",
  ],
  [
    "subject",
    "Whitlock suspected the database, Reyes found the certificate.",
    "Reyes suspected the database.",
    "Whitlock suspected the database.",
  ],
  [
    "anchors",
    "Frau Özdemir übernimmt die Kasse von Herrn Brandt im Mai.",
    "Herr Brandt übernimmt die Kasse von Frau Özdemir.",
    "Frau Özdemir übernimmt die Kasse von Herrn Brandt.",
  ],
  [
    "anchors",
    "The pump of the DX-20P is not available for the DX-20.",
    "The pump is available for the DX-20 but not for the DX-20P.",
    "The pump of the DX-20P isn't available for the DX-20.",
  ],
  [
    "denied_words",
    "The cancelled ferry of 27 June brought a loss of 40 EUR, which the company has not refunded.",
    "The cancelled ferry of 27 June brought nobody a loss, the company has refunded it.",
    "The cancelled ferry of 27 June brought a loss of 40 EUR, and the company has not refunded it.",
  ],
])("%s holds back what joins words that the sentence keeps apart", (rule, evidence, bad, good) => {
  expect(readingOf(bad, evidence).standing).toBe("held back");
  expect(readingOf(bad, evidence).rules).toContain(rule);
  expect(standingOf(good, evidence)).toBe("open not_asked");
});

// Rules that read these were no better than a coin on claims that nobody had written them for: a judge decides.
test.each([
  [
    "another row",
    "| Hall | Price |\n|---|---|\n| Town | £1,960 |\n| Library | £1,420 |",
    "The library costs £1,960.",
  ],
  ["figures exchanged", "The rate fell from 8.9 to 7.1.", "The rate fell from 7.1 to 8.9."],
  ["all", "The staff of the museum speak French.", "All staff of the museum speak French."],
  ["a plan", "A second vessel is planned for the route.", "A second vessel serves the route."],
  ["a condition", "If the wind is strong, the ferry stays in port.", "The ferry stays in port."],
  [
    "cause and effect",
    "The lamp failed because the battery was empty.",
    "The battery was empty because the lamp failed.",
  ],
  ["a cut", "Visitors may enter the crypt only with a guide.", "Visitors may enter the crypt."],
  ["no word of it", "Trains run every 20 minutes.", "Penguins swim fast."],
])(
  "without a judge a wrong claim of such a kind is never more than unconfirmed: %s",
  (_, evidence, claim) => {
    expect(standingOf(claim, evidence)).toBe("open not_asked");
  },
);

test("an abbreviation and an ordinal of German end no sentence that could be cut", () => {
  const evidence = "Am 3. Juni zahlen z. B. Kinder nichts. Der Eintritt gilt für alle.";
  const whole = "Am 3. Juni zahlen z. B. Kinder nichts.";
  expect(standingOf(whole, evidence)).toBe("verbatim verbatim");
  expect(standingOf("Juni zahlen z. B.", evidence)).toBe("open not_asked");
});

test.each([
  ["", "open"],
  ["   ", "open"],
  ["…", "open"],
  ["**", "open"],
  ["1.", "held back"],
  ["\u0000", "open"],
  ["🦀", "open"],
])("%j is graded without a fault", (claim, standing) => {
  expect(readingOf(claim, "The crab is red.").standing).toBe(standing);
});

test("a claim without an end is never supported, whatever a judge says", () => {
  const claim = "The ferry leaves at nine and returns to the quay, ".repeat(2_000);
  const evidence = "The ferry leaves at nine and returns to the quay at ten.";
  expect(standingOf(claim, evidence)).toBe("unconfirmed unconfirmed unconfirmed unclear");
});

test.each([
  ["No: dogs are not admitted on the course.", "Dogs are not admitted on the course."],
  [
    "Auf keinen Fall: Öffnen Sie niemals selbst die Verkleidung des Brenners.",
    "Öffnen Sie niemals selbst die Verkleidung des Brenners.",
  ],
])("a verdict in front leaves a sentence verbatim: %s", (claim, sentence) => {
  expect(standingOf(claim, sentence)).toBe("verbatim verbatim");
});

test.each([
  ["Die Pumpe im Keller würde im Juni ersetzt.", "Die Pumpe im Keller wurde im Juni ersetzt."],
  [
    "Die Ware in Zelle 5 könnte nach einer Probe freigegeben werden.",
    "Die Ware in Zelle 5 konnte nach einer Probe freigegeben werden.",
  ],
])("a sentence that an umlaut tells apart is not verbatim: %s", (evidence, claim) => {
  expect(standingOf(claim, evidence)).toBe("open not_asked");
});
