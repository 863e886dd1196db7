import { expect, test } from "@jest/globals";
import { stateOf } from "./rules-world.ts";

const PATH = "a.md";

test.each([
  ["12 EUR + 30 EUR = 42 EUR.", "yes"],
  ["12 EUR + 30 EUR = 45 EUR.", "no"],
  ["12,345 EUR + 7,655 EUR = 20,000 EUR.", "yes"],
  ["12,345 EUR + 7,655 EUR = 20,009 EUR.", "no"],
  ["1.234 million EUR + 1.111 million EUR = 2.345 million EUR.", "yes"],
  ["0.1234 kg + 0.2345 kg = 0.3579 kg.", "yes"],
  ["0.1234 kg + 0.2345 kg = 0.7123 kg.", "no"],
  ["Rent 300 EUR and heating 80 EUR make 380 EUR in total.", "yes"],
  ["Rent 300 EUR and heating 80 EUR make 390 EUR in total.", "open"],
  ["In total 300 EUR were paid, of which 80 EUR in May and 90 EUR in June.", null],
  ["Miete 300 EUR und Heizung 80 EUR sind zusammen 380 EUR.", "yes"],
  ["7 of the 9 invoices are paid.", "open"],
  ["The rent is 300 EUR.", null],
  ["The three flats cost 300 EUR, 320 EUR and 340 EUR, on average 320 EUR.", "yes"],
  ["The three flats cost 300 EUR, 320 EUR and 340 EUR, on average 330 EUR.", "open"],
  ["On average 320 EUR is paid, for flats of 300, 320 and 340 EUR.", "yes"],
  ["Im Durchschnitt 12,50 EUR: 10 EUR, 12,50 EUR und 15 EUR.", "yes"],
  ["On average 320 EUR is paid: at least 250 EUR, at most 400 EUR.", null],
  ["It costs 310 EUR, 60 EUR more than the 250 EUR of 2024.", "yes"],
  ["It costs 310 EUR, 70 EUR more than the 250 EUR of 2024.", "open"],
  ["Es kostet 310 EUR, 60 EUR mehr als die 250 EUR von früher.", "yes"],
  ["Rent is 310 EUR here and 250 EUR there, a difference of 60 EUR.", "yes"],
  ["Rent is 310 EUR here and 250 EUR there, a difference of 50 EUR.", "open"],
  ["The first costs 10 EUR, the second 12 EUR, the third 14 EUR.", null],
])("the sum of %s is right: %s", async (claim, state) => {
  expect(await stateOf("sum", { [PATH]: "Invoices are on the desk." }, claim)).toBe(state);
});

test.each([
  ["The meeting is on Tuesday 3 March 2026.", "yes"],
  ["The meeting is on Friday 3 March 2026.", "no"],
  ["Die Sitzung ist am Dienstag, dem 3. März 2026.", "yes"],
  ["Die Sitzung ist am Mittwoch, dem 3. März 2026.", "no"],
  ["La réunion est le mardi 3 mars 2026.", "yes"],
  ["It runs from 9 May 2026 to 27 September 2026.", null],
  ["It runs from 27 September 2026 to 9 May 2026.", "no"],
  ["It runs from 1 March 2026 to 11 March 2026 (10 days).", "yes"],
  ["It runs from 1 March 2026 to 11 March 2026 (30 days).", "no"],
  ["Born on 3 May 1980, she was 45 years old on 1 June 2025.", "yes"],
  ["Born on 3 May 1980, she was 55 years old on 1 June 2025.", "no"],
  ["It opens on Monday.", null],
  ["It is open from 09:00 to 17:00 (8 hours).", "yes"],
  ["It is open from 9 am to 5 pm, 8 hours.", "yes"],
  ["It is open from 9 am to 5 pm, 9 hours.", "no"],
  ["It is open from 9 am to 5 pm (8 hours).", "yes"],
  ["It is open from 09:00 to 17:00 (9 hours).", "no"],
  ["Die Fahrt dauert von 22:30 Uhr bis 00:15 Uhr (1 Stunde 45 Minuten).", "yes"],
  ["Die Fahrt dauert von 22:30 Uhr bis 00:15 Uhr (2 Stunden).", "no"],
  ["The gate closes at 17:00 (5 pm).", "yes"],
  ["The gate closes at 17:00 (6 pm).", "open"],
  ["The gate closes at 17:00 (18:00 on Sundays).", null],
  ["It leaves at 09:15 and at 17:15.", null],
])("the dates of %s agree: %s", async (claim, state) => {
  expect(await stateOf("date", { [PATH]: "Nothing of that kind stands here." }, claim)).toBe(state);
});

test("a mean of the first rows of a longer table is left open", async () => {
  const rents = Array.from({ length: 50 }, (_, at) => (at < 40 ? 310 + (at % 2) * 20 : 999));
  const rows = rents.map((rent) => `| hut | ${rent} EUR |`).join("\n");
  const table = `| What | Rent |\n| --- | --- |\n${rows}\n`;
  expect(await stateOf("sum", { [PATH]: table }, "On average a hut costs 320 EUR.")).toBe("open");
});

test("a wrong day that the source says itself is left for somebody to look at", async () => {
  const claim = "The meeting is on Friday 3 March 2026.";
  expect(await stateOf("date", { [PATH]: claim }, claim)).toBe("open");
});

test.each([
  ["The Petrel is the only ship with a crane.", "The Petrel is old.", "yes"],
  ["The Petrel is the only ship with a crane.", "The Corran is the only ship with a crane.", "no"],
  ["The Petrel is the only ship with a crane.", "It is the only ship with a crane.", "open"],
])("%s beside %s is unique: %s", async (claim, other, state) => {
  expect(await stateOf("uniqueness", { [PATH]: claim, "b.md": other }, claim)).toBe(state);
});

test("the only one is left open where its sentence does not say so", async () => {
  const documents = { [PATH]: "The Petrel is a ship with a crane." };
  expect(await stateOf("uniqueness", documents, "The Petrel is the only ship with a crane.")).toBe(
    "open",
  );
});
