import { expect, test } from "@jest/globals";
import { readingOf, standingOf } from "./grades-of.ts";

const FEES = "The fee is 40 euros and the deposit 25 euros.";
const EVENT = "The event begins at 09:15 and ends at 11:45.";
const CABLE = "The workshop bought 35 m of cable at 2.40 EUR per metre.";
const SEATS = "Of 200 seats 50 are sold.";
const LEASE = "The lease begins on 1 January 2026.";

test.each([
  [
    "a sum",
    FEES,
    "The fee of 40 euros and the deposit of 25 euros come to 65 euros.",
    "40 euros + 25 euros",
  ],
  [
    "a difference",
    FEES,
    "The fee of 40 euros minus the deposit of 25 euros is 15 euros.",
    "40 euros - 25 euros",
  ],
  [
    "hours that are paid for",
    "Labour: 3.5 hours at £60.",
    "Labour: 3.5 hours at £60, which is £210.",
    "3.5 hours x £60",
  ],
  [
    "an amount at a price per unit",
    CABLE,
    "35 m of cable at 2.40 EUR per metre cost 84 EUR.",
    "35 m x 2.40 EUR",
  ],
  [
    "an amount in a smaller unit than its price",
    "The shop took 500 g of saffron at 18 EUR a kilo.",
    "500 g of saffron at 18 EUR a kilo, i.e. 9 EUR.",
    "500 g x 18 EUR",
  ],
  [
    "a difference of prices behind names with numbers",
    "Le Delta 45 coûte 379 € et le Delta 60 coûte 449 €.",
    "70 €, le Delta 45 coûtant 379 € et le Delta 60 449 €",
    "449 € - 379 €",
  ],
  ["a share", SEATS, "Of 200 seats 50 are sold, which is 25 %.", "50 / 200"],
  ["a duration", EVENT, "From 09:15 to 11:45 the event takes 2 h 30 min.", "09:15 to 11:45"],
  [
    "a weekday",
    LEASE,
    "The lease begins on 1 January 2026, a Thursday.",
    "1 January 2026 is a Thursday",
  ],
  [
    "a change",
    "Der Beitrag steigt von 2,40 auf 2,90 Euro.",
    "Der Beitrag steigt um 50 Cent, von 2,40 auf 2,90 Euro.",
    "2,90 Euro - 2,40",
  ],
])("%s of what the claim names is left to a judge, and shown", (_, evidence, claim, sum) => {
  expect(readingOf(claim, evidence)).toMatchObject({ standing: "open", arithmetic: sum });
});

test.each([
  ["a sum", FEES, "Fee and deposit come to 65 euros.", "40 euros + 25 euros"],
  ["a difference", FEES, "Fee and deposit differ by 15 euros.", "40 euros - 25 euros"],
  ["a price of so much", CABLE, "The workshop bought cable for 84 EUR.", "35 m x 2.40 EUR"],
  ["a share", SEATS, "Sold are 25 % of the seats.", "50 / 200"],
  ["a duration", EVENT, "The event takes 2 h 30 min.", "09:15 to 11:45"],
  [
    "what rose by a share",
    "The fee rose by 8 % to £540.",
    "The fee was £500.",
    "£540 before + 8 %",
  ],
  [
    "a sum of several sentences",
    "On Monday we sailed 26 nm. On Wednesday it was 31 nm. On Friday we did 34 nm.",
    "In all we sailed 91 nm.",
    "26 nm + 31 nm + 34 nm",
  ],
  [
    "a sum of a column that has gaps and names its unit above",
    "| Stage | km |\n| --- | --- |\n| one | 44 |\n| two | 58 |\n| rest | – |\n| three | 67 |",
    "The stages add up to 169 km.",
    "the sum of 3 rows",
  ],
  [
    "an average of several sentences",
    "Flat A costs 300 EUR. Flat B costs 320 EUR. Flat C costs 370 EUR.",
    "On average a flat costs 330 EUR.",
    "the mean of 300 EUR, 320 EUR, 370 EUR",
  ],
  [
    "a sum of equal figures",
    "A ticket costs 10 EUR at the desk, 10 EUR online and 40 EUR on board.",
    "In total the tickets cost 60 EUR.",
    "10 EUR + 10 EUR + 40 EUR",
  ],
  [
    "an average of equal figures",
    "The doctors charge 20 EUR, 20 EUR, 20 EUR and 76 EUR.",
    "On average the doctors charge 34 EUR.",
    "the mean of 20 EUR, 20 EUR, 20 EUR, 76 EUR",
  ],
  [
    "a difference from a figure whose unit stands once",
    "Haemoglobin 10.1 g at discharge (12.6 before surgery).",
    "Haemoglobin fell by 2.5 g until discharge.",
    "12.6 - 10.1 g",
  ],
  [
    "a span of time",
    "The alarm rang at 04:35 and was found at 05:10.",
    "Between alarm and discovery 35 minutes passed.",
    "04:35 to 05:10",
  ],
  [
    "a rate times a count",
    "A nest costs €3.40; 30 nests were set.",
    "The nests cost €102.",
    "30 x €3.40",
  ],
  [
    "a column",
    "| Area | Rent |\n|---|---|\n| A | €100 |\n| B | €250 |\n| C | €375 |",
    "All areas cost €725.",
    "the sum of 3 rows",
  ],
  [
    "a later day",
    "The lease begins on 1 January 2026 and runs for five years.",
    "The lease runs until 31 December 2030.",
    "1 January 2026 and five years",
  ],
  [
    "the last day of a month that lacks the day of its start",
    "Notice was given on 31 August 2025. The notice period is six months.",
    "The notice period of six months from 31 August 2025 ends on 28 February 2026.",
    "31 August 2025 and six months",
  ],
])(
  "%s of what the sentence alone names is left to a judge, and shown",
  (_, evidence, claim, sum) => {
    expect(readingOf(claim, evidence)).toMatchObject({ standing: "open", arithmetic: sum });
  },
);

test.each([
  ["a sum", FEES, "The fee of 40 euros and the deposit of 25 euros come to 68 euros."],
  [
    "a mean that counts equal figures once",
    "A ticket costs 10 EUR at the desk, 10 EUR online and 40 EUR on board.",
    "On average a ticket costs 25 EUR.",
  ],
  ["a product", CABLE, "35 m of cable at 2.40 EUR per metre cost 94 EUR."],
  [
    "a product of another unit than the price is for",
    "The shop took 500 g of saffron at 18 EUR a kilo.",
    "500 g of saffron at 18 EUR a kilo, i.e. 9,000 EUR.",
  ],
  [
    "a number of which a part stands there",
    "500 people came on Boat 12.",
    "On Boat 1 came 12 500 people.",
  ],
  ["a number that begins like a name", "Boat 12 took 50 people.", "Boat 12 500 came."],
  ["a share", SEATS, "Of 200 seats 50 are sold, which is 35 %."],
  ["a duration", EVENT, "From 09:15 to 11:45 the event takes 3 h 10 min."],
  ["a weekday", LEASE, "The lease begins on 1 January 2026, a Friday."],
  [
    "an average",
    "Flat A costs 300 EUR. Flat B costs 320 EUR. Flat C costs 370 EUR.",
    "On average a flat costs 345 EUR.",
  ],
  [
    "a mean that is called none",
    "Flat A costs 300 EUR. Flat B costs 320 EUR. Flat C costs 370 EUR.",
    "A flat costs 330 EUR.",
  ],
  [
    "a sum of figures that stand nowhere",
    FEES,
    "The fee of 41 euros and the deposit of 26 euros come to 67 euros.",
  ],
])("%s that is wrong is held back", (_, evidence, claim) => {
  expect(standingOf(claim, evidence)).toBe("held back figure");
});

const MERGER = "The clubs merged in 2025 with seven members.";
const STAFF = "The team has 12 nurses and 7 cars.";

test.each([
  ["of a year and a count is none", MERGER, "The clubs merged in 2032."],
  ["of what the claim counts and another thing is none", STAFF, "The team has 19 nurses."],
  [
    "that is one off is none",
    "The mill was built in 2009 and has three storeys.",
    "It moved in 2013.",
  ],
])("a sum %s", (_, evidence, claim) => {
  expect(readingOf(claim, evidence)).toMatchObject({
    ...{ standing: "held back", reason: "figure", arithmetic: null },
  });
});

test("a year so many years later is computed, and so is a sum of things of one kind", () => {
  const sold = "The mill closed in 2011 and was sold two years later.";
  expect(readingOf("The mill was sold in 2013.", sold).arithmetic).toBe("2011 and two years");
  const team = "The team has 12 nurses and 7 doctors.";
  expect(readingOf("The team has 19 people.", team).arithmetic).toBe("12 + 7");
});

test("a small count in words that stands nowhere is no sum", () => {
  const parts = "The pump and the valve were replaced in the spring.";
  const { standing, arithmetic } = readingOf("The two parts were replaced in the spring.", parts);
  expect([standing, arithmetic]).toEqual(["open", null]);
});
