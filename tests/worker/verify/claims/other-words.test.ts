import { expect, test } from "@jest/globals";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { stemIn } from "../../../../src/worker/verify/claims/terms.ts";
import { pieceOf } from "./pieces-of.ts";

const gradeOf = (evidence: string, text: string): string => {
  const [graded] = gradeClaims([{ text, cites: [1] }], [pieceOf("notes/a.md", evidence)], {
    question: "",
  });
  return `${graded?.grade ?? ""} ${graded?.reason ?? ""}`;
};

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
])("%s says the same", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)).toBe("supported carried");
});

test("a guess or a denial behind a semicolon is of another statement", () => {
  const text =
    "He was treated with nitrofurantoin, and no haloperidol was needed; the cause was probably an infection.";
  expect(gradeOf(text, "No haloperidol was needed.")).toBe("supported carried");
  const list = "Planned for site 3: a station of 180 kW; a fence.";
  expect(gradeOf(list, "A station of 180 kW stands at site 3.")).toMatch(/^partly/);
});

test.each([
  [
    "the passive with who and whom exchanged",
    "The manager had dismissed the sister of the cook.",
    "The manager had been dismissed by the sister of the cook.",
    "order",
  ],
  [
    "what comes then told as what came before",
    "The choir sings at noon, then the brass band.",
    "The choir sings after the brass band.",
    "cue",
  ],
  ["every fiftieth", "Obi checks every fiftieth page.", "Obi checks each page.", "cue"],
  [
    "a figure in brackets of another year",
    "Dividend for 2025: 3.2 % (2024: 2.5 %).",
    "The dividend for 2025 was 2.5 %.",
    "rival",
  ],
  [
    "a figure of another year's column",
    "| Item | 2024 | 2023 |\n|---|---|---|\n| Loans | 39,870 | 41,300 |",
    "In 2024 there were 41,300 loans.",
    "rival",
  ],
  [
    "words of two items",
    "Lights: amber = tank full; blue = defrosting; red = fault.",
    "Amber means defrosting.",
    "rival",
  ],
  [
    "at least without a figure",
    "The county pays half of the budget.",
    "The county pays at least half of the budget.",
    "cue",
  ],
])("a doubt: %s", (_, evidence, claim, reason) => {
  expect(gradeOf(evidence, claim)).toBe(`partly ${reason}`);
});

test("what the claim adds to a labelled line and another sentence says is a doubt", () => {
  const text = "Scene and sound: Awa Diallo.\n\nThe stewards look after the gates.";
  expect(gradeOf(text, "Awa Diallo looks after the gates.")).toMatch(/^partly/);
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
