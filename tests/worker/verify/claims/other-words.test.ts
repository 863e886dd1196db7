import { expect, test } from "@jest/globals";
import { stemIn } from "../../../../src/worker/verify/claims/terms.ts";
import { standingOf } from "./grades-of.ts";

test.each([
  [
    "a strong verb",
    "The crew has stolen two bikes from the shed.",
    "The crew stole two bikes from the shed.",
  ],
  [
    "a German compound in two words",
    "Nicht enthalten sind Kabel und Entsorgung der Altgeräte.",
    "Nicht enthalten sind die Kabel und die Entsorgung der alten Geräte.",
  ],
  [
    "two words in a German compound",
    "Die Lieferung beruht auf einem Engpass bei den Antennen und dauert lange.",
    "Die Lieferung beruht auf einem Antennenengpass und dauert lange.",
  ],
  [
    "what the document is called",
    "The tenant pays the rent on the first of each month.",
    "By the contract the tenant pays the rent on the first of each month.",
  ],
  [
    "the passive",
    "Les pièces jointes ne sont pas sauvegardées par cette procédure.",
    "Cette procédure ne sauvegarde pas les pièces jointes.",
  ],
  [
    "a clause put first",
    "The linkspan is closed to vehicles because the storm broke two piles.",
    "Because the storm broke two piles, the linkspan is closed to vehicles.",
  ],
  [
    "a bound by an adjective",
    "The tomatoes stay outside if the nights are above 8 °C.",
    "The tomatoes stay outside if the nights are warmer than 8 °C.",
  ],
  [
    "a change between two figures",
    "| Year | 2024 | 2025 |\n|---|---|---|\n| Energy | 41.2 | 38.6 |",
    "Energy went from 41.2 in 2024 to 38.6 in 2025.",
  ],
  [
    "a prohibition",
    "Please do not announce the exhibition yet.",
    "The exhibition should not be announced yet.",
  ],
  [
    "a Spanish yes",
    "El nombre del traductor figurará en la portadilla, no en la cubierta.",
    "El nombre del traductor no figurará en la cubierta, pero sí en la portadilla.",
  ],
  [
    "a German passive behind a past modal",
    "Die Ware in Zelle 5 konnte nach einer Probe freigegeben werden.",
    "Die Ware in Zelle 5 wurde nach einer Probe freigegeben.",
  ],
  [
    "a German passive before a past modal",
    "1.840 kg Seefisch, die in Zelle 2 vernichtet werden mussten, waren versichert.",
    "1.840 kg Seefisch, die in Zelle 2 vernichtet wurden, waren versichert.",
  ],
  [
    "a denial with any",
    "The museum was opened with no speech.",
    "The museum was opened without any speech.",
  ],
  [
    "only if, and for … only",
    "Rope is included for courses only.",
    "Ropes are included only if it is a course.",
  ],
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
  [
    "what is told of the other",
    "Unlike the ferry, the bus runs on Sundays.",
    "The bus runs on Sundays.",
  ],
  [
    "every Sunday",
    "The ferry sails on Sundays at 10:00.",
    "The ferry sails every Sunday at 10:00.",
  ],
  [
    "before, told from the end",
    "Elle a appris le métier avant d'ouvrir son atelier en 1998.",
    "Elle a ouvert son atelier en 1998 après avoir appris le métier.",
  ],
  [
    "who an article is cut from",
    "Client : Association Les Mots Bleus.\nTotal TTC : 492,00 €.",
    "L'association Les Mots Bleus doit payer 492 €.",
  ],
  [
    "German nouns behind zu, which are no name",
    "Verletzt wurde beim Unfall mit Regal 7 niemand.",
    "Beim Unfall mit Regal 7 kam keine Person zu Schaden.",
  ],
  [
    "few in Japanese, which denies nothing",
    "客が少ない日は早く閉める。",
    "客の少ない日は早く閉める。",
  ],
  [
    "another word for what is closed",
    "The lift at the station is closed until 4 May.",
    "The lift at the station is unavailable until 4 May.",
  ],
  [
    "one of a pair of opposites that both stand there",
    "The shop on the quay opens at 14:30 and closes at 22:50.",
    "The shop on the quay closes at 22:50.",
  ],
  [
    '"won", which denies nothing',
    "| Rank | Name | Club | Time |\n|---|---|---|---|\n| 1 | Marta Lindqvist | Northshore | 36:42 |",
    "Marta Lindqvist of Northshore won in 36:42.",
  ],
  [
    "a name that denies nothing",
    "The porter Don Miller handed the key over at six.",
    "The porter handed the key over at six.",
  ],
  [
    "what goes on",
    "Die Pumpe im Keller läuft noch mit halber Kraft.",
    "Die Pumpe im Keller läuft mit halber Kraft.",
  ],
  [
    "the sign of a number",
    "Invoice No. 12 is about the two pumps in the cellar.",
    "Invoice 12 is about the two pumps in the cellar.",
  ],
  [
    "what is thrown away",
    "Refuse is collected on Mondays in the yard.",
    "Rubbish is collected on Mondays in the yard.",
  ],
  ["a date in digits", "The lease begins on 1 January 2026.", "The lease starts on 01/01/2026."],
  [
    "more than the sentence",
    "The bread is ready.",
    "The bread is ready, and a probe from the side shows it.",
  ],
])("nothing speaks against %s, and a judge decides", (_, evidence, claim) => {
  expect(standingOf(claim, evidence)).toBe("open not_asked");
});

test("a denial behind a semicolon is of another statement", () => {
  const text =
    "He was treated with nitrofurantoin, and no haloperidol was needed; the cause was probably an infection.";
  expect(standingOf("No haloperidol was needed.", text)).toBe("open not_asked");
});

test("a translation is left to a judge, and held back for a figure alone", () => {
  const evidence = "Der Teig ruht 30 Minuten und geht dann bei 30 Grad auf dem Ofen.";
  const claim = "The dough rests for 30 minutes and is then left to rise.";
  expect(standingOf(claim, evidence)).toBe("open not_asked");
  expect(standingOf(claim.replace("30", "45"), evidence)).toBe("held back figure");
});

test("an answer is read in the language of its question", () => {
  const text = "Laissez refroidir le four pendant une heure avant de le nettoyer.";
  const question = "Wie lange muss der Ofen vor dem Reinigen abkühlen?";
  expect(standingOf("Eine Stunde.", text, question)).toBe("open not_asked");
  expect(standingOf("Zwei Stunden.", text, question)).toBe("held back figure");
});

test("a number at the start is no name, and a short text in another language is told from its words", () => {
  const table = "| Item | Quantity |\n|---|---|\n| Pine board 27 mm | 30 |\n";
  const english = "Water was given by the town free of charge.";
  expect(standingOf("Thirty pine boards of 27 mm.", table)).toBe("open not_asked");
  const french = "Parce que la ville a fourni l'eau gratuitement.";
  expect(standingOf(french, english)).toBe("open not_asked");
  expect(standingOf("Weil sie es so will.", english)).toBe("open not_asked");
  const chinese = "未经出租方书面同意，不得转租。";
  expect(standingOf("Not without the consent of the lessor.", chinese)).toBe("open not_asked");
});

test.each([
  ["zugestimmt", "zustimmt"],
  ["abzugeben", "abgeben"],
  ["gepflanzt", "pflanzt"],
])("%s has the stem of %s", (one, other) => {
  expect(stemIn(one, "german")).toBe(stemIn(other, "german"));
});

test.each(["gerade", "zugang", "gewicht", "angebot"])("%s keeps its beginning", (word) => {
  expect(stemIn(word, "german").slice(0, 3)).toBe(word.slice(0, 3));
});
