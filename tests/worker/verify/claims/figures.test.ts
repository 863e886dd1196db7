import { expect, test } from "@jest/globals";
import { pieceOf } from "./pieces-of.ts";
import { readingOf, standingOf } from "./grades-of.ts";

test.each([
  [
    "an amount with its scale",
    "The fund holds $3.4bn in all.",
    "The fund holds $3.4 billion in all.",
  ],
  ["an amount behind d'", "Le prix est de 3,5 millions d'euros.", "Le prix est de 3 500 000 €."],
  [
    "a month behind through",
    "The trail closes from November through March.",
    "The trail closes from November to March.",
  ],
  [
    "a count beside a price",
    "| Item | Qty | Price |\n|---|---|---|\n| Rope | 3 | €40 |\n| Hook | 12 | €5 |",
    "There are 12 hooks.",
  ],
  ["an hour and a half", "El tren tarda hora y media.", "El tren tarda 90 minutos."],
  ["a dozen", "A dozen boats sank in the storm.", "Twelve boats sank in the storm."],
  ["half a dozen", "Media docena de socios votó en la sala.", "Seis socios votaron en la sala."],
  [
    "an odd number of years",
    "They were married for 30-odd years.",
    "They were married for about 30 years.",
  ],
  ["thousands in a letter", "The grant is €12k a year.", "The grant is 12,000 euros a year."],
  ["millions in a letter", "The grant is 3.4m EUR a year.", "The grant is €3,400,000 a year."],
  [
    "a time in German words",
    "Die Sitzung des Vereins beginnt um halb acht.",
    "Die Sitzung des Vereins beginnt um 19:30 Uhr.",
  ],
  ["a time in English words", "It opens at a quarter to eight.", "It opens at 7:45 a.m."],
  [
    "a time in French words",
    "La séance du conseil commence à sept heures et demie.",
    "La séance du conseil commence à 19 h 30.",
  ],
  [
    "a time in Spanish words",
    "La reunión de los socios empieza a las siete y cuarto.",
    "La reunión de los socios empieza a las 19:15.",
  ],
  [
    "how long something takes in French words",
    "Le trajet dure deux heures et demie.",
    "Le trajet dure 150 minutes.",
  ],
  ["separators of English", "The grant is 1,250 euros.", "The grant is 1250 euros."],
  [
    "separators of German",
    "Der Zuschuss beträgt 1.250,50 Euro im Jahr.",
    "Der Zuschuss beträgt 1250,50 € im Jahr.",
  ],
  [
    "separators of French",
    "La facture est de 1 825,23 € pour nous.",
    "La facture est de 1825,23 € pour nous.",
  ],
  [
    "the unit of two sides",
    "The frame measures 60 × 45 cm in all.",
    "The frame measures 0.6 m by 0.45 m.",
  ],
  [
    "a change",
    "Der Beitrag steigt von 2,40 auf 2,90 Euro.",
    "Der Beitrag steigt um 50 Cent, von 2,40 auf 2,90 Euro.",
  ],
  [
    "an amount in place of another",
    "| Tarif | Preis |\n|---|---|\n| Tag | 31,0 ct |\n| Nacht | 28,5 ct |",
    "Der Preis in der Nacht ist 28,5 statt 31,0 ct.",
  ],
  ["what something is per", "Found were 12 CFU/50 ml in the tap.", "Found were 12 CFU per 50 ml."],
  [
    "micrograms",
    "Der Grenzwert liegt bei 0,025 mg je Liter.",
    "Der Grenzwert liegt bei 25 Mikrogramm je Liter.",
  ],
  [
    "a number of myriads",
    "二〇二四年の来場者は38,200人であった。",
    "来場者はおよそ3万8千人であった。",
  ],
  ["a number in words", "The walk takes 42 minutes.", "The walk takes forty-two minutes."],
  [
    "a German number in words",
    "Der Weg dauert 25 Minuten für alle.",
    "Der Weg dauert fünfundzwanzig Minuten für alle.",
  ],
  [
    "a French number in words",
    "Le trajet est de 90 minutes pour tous.",
    "Le trajet est de quatre-vingt-dix minutes pour tous.",
  ],
  [
    "a Spanish number in words",
    "El viaje es de 35 minutos para todos.",
    "El viaje es de treinta y cinco minutos para todos.",
  ],
  ["a converted unit", "The bag holds 1.4 kg of flour.", "The bag holds 1400 g of flour."],
  ["hours and minutes", "The walk takes 1 h 15 min.", "The walk takes 75 minutes."],
  ["half an hour", "The walk takes 30 minutes.", "The walk takes half an hour."],
  [
    "a German day",
    "Die Sitzung ist am 3. Juni 2024 im Haus.",
    "Die Sitzung ist am 03.06.2024 im Haus.",
  ],
  [
    "a range of days",
    "Das Lager ist vom 3. bis 10. August im Wald.",
    "Das Lager ist vom 3. August bis zum 10. August im Wald.",
  ],
  ["a weekday of a date", "The board met on 12 March 2024.", "The board met on a Tuesday."],
  ["a rounded value", "The trial had 612 visitors.", "The trial had about 600 visitors."],
  ["a value rounded up", "The trial had 87 visitors.", "The trial had nearly 90 visitors."],
  [
    "a value rounded to millions",
    "The archive had 41.2 million visits.",
    "The archive had about 41 million visits.",
  ],
  [
    "a value rounded to fifties",
    "The trial had 262 visitors.",
    "The trial had about 250 visitors.",
  ],
  ["a value rounded in its unit", "The walk takes 262 minutes.", "The walk takes about 4 hours."],
  ["a time without a mark", "The boat anchored at 1855 in the bay.", "The boat anchored at 18:55."],
  [
    "a time of the afternoon",
    "El coro ensaya los lunes a las 19:00.",
    "El coro ensaya a las siete de la tarde.",
  ],
  [
    "minutes before an hour",
    "Der letzte Bus fährt um 21:40 Uhr.",
    "Der letzte Bus fährt um zwanzig vor zehn.",
  ],
  [
    "minutes behind an hour",
    "The last bus leaves at 8:10.",
    "The last bus leaves at ten past eight.",
  ],
  [
    "a day that a cell cuts short",
    "| Tag | Dauer |\n|---|---|\n| Mi | 70 min |",
    "Mittwochs sind es 70 min.",
  ],
  ["May in a cell", "| Month | mm |\n|---|---|\n| May | 67 |", "In May there were 67 mm."],
  [
    "a day without its year",
    "| Datum | Fahrer |\n|---|---|\n| 03.12. | Berger |",
    "Am 3. Dezember fuhr Berger.",
  ],
  ["noon", "The office closes at noon on Fridays.", "On Fridays the office closes at 12:00."],
  ["a Japanese count", "会場には三人の係員がいる。", "会場には3人の係員がいる。"],
  [
    "a unit in Latin letters within Japanese",
    "新しい棚は幅90cm、高さ180cmである。",
    "新しい棚の幅は90cmである。",
  ],
  [
    "hours, rounder than minutes",
    "The full backup takes about 4 hours 20 minutes.",
    "The full backup takes just over four hours.",
  ],
  [
    "centimetres of metres",
    "Nests face south-east, 1.2 m above the ground.",
    "The nests are mounted 120 cm above the ground.",
  ],
  [
    "a year in the head of a table",
    "| Species | 2023 | 2024 |\n|---|---|---|\n| Coot | 902 | 877 |",
    "Coot: 877 in 2024.",
  ],
  ["every night", "The backup runs nightly at 01:30.", "The backup runs every night at 01:30."],
  ["a number with a minus in words", "At dawn it was minus 11.5 °C.", "At dawn it was −11.5 °C."],
  [
    "a price by the unit of its column",
    "| Supplier | Price per kg |\n|---|---|\n| Alvo | €3.10 |\n| Brenta | €2.85 |",
    "Brenta has a price of €2.85 per kilo.",
  ],
  ["so few in words", "The pump and the valve were replaced.", "The two parts were replaced."],
])("%s stands", (_, evidence, claim) => {
  expect(standingOf(claim, evidence)).toBe("open not_asked");
});

test.each([
  ["another number", "The walk takes 42 minutes.", "The walk takes 24 minutes."],
  ["another unit", "The walk takes 42 minutes.", "The walk takes 42 hours."],
  ["another currency", "The ticket costs £31.", "The ticket costs 31 euros."],
  ["another scale of temperature", "Bake it at 250 °C.", "Bake it at 250 °F."],
  [
    "the separator of another language",
    "Der Zuschuss beträgt 1,250 km in der Summe.",
    "Der Zuschuss beträgt 1250 km in der Summe.",
  ],
  ["another day", "The board met on 12 March 2024.", "The board met on 13 March 2024."],
  ["another year", "The board met on 12 March 2024.", "The board met on 12 March 2023."],
  ["another weekday", "The board met on 12 March 2024.", "The board met on a Friday."],
  ["another month", "La junta es en abril de este año.", "La junta es en mayo de este año."],
  [
    "a value that is rounded the wrong way",
    "The trial had 93 visitors.",
    "The trial had nearly 90 visitors.",
  ],
  [
    "a value that rounds to another one",
    "The archive had 41.2 million visits.",
    "The archive had about 43 million visits.",
  ],
  ["a value that rounds up", "The trial had 417 visitors.", "The trial had about 410 visitors."],
  [
    "a share that rounds to another one",
    "Of 1,150 specimens 37 were doubtful.",
    "Roughly 3.3 % of the specimens were doubtful.",
  ],
  [
    "a value that is not said to be rounded",
    "The trial had 612 visitors.",
    "The trial had 600 visitors.",
  ],
  [
    "a unit that the row does not count",
    "| Item | Quantity |\n|---|---|\n| Fitting, hours | 11 |",
    "Fitting took 11 days.",
  ],
  ["another scale", "The fund holds $3.4bn in all.", "The fund holds $3.4m in all."],
  ["another amount of thousands", "The grant is €12k a year.", "The grant is €21k a year."],
  [
    "another day of a cell",
    "| Datum | Fahrer |\n|---|---|\n| 03.12. | Berger |",
    "Am 17. Mai fuhr Berger.",
  ],
  ["a year for a time", "The mill was built in 1855.", "The mill was built at 18:55."],
  ["other minutes", "Der letzte Bus fährt um 21:40 Uhr.", "Der letzte Bus fährt um zehn vor zehn."],
  [
    "another half hour",
    "Die Sitzung des Vereins beginnt um halb acht.",
    "Die Sitzung des Vereins beginnt um 20:30 Uhr.",
  ],
  ["pence for pounds", "The school pays 14.5 p/kWh.", "The school pays £14.50 per kWh."],
  ["Rappen for francs", "Ein Blatt kostet 20 Rappen.", "Ein Blatt kostet 20 Franken."],
  [
    "another unit in Latin letters within Japanese",
    "新しい棚は幅90cm、高さ180cmである。",
    "新しい棚の幅は90mである。",
  ],
])("%s is held back", (_, evidence, claim) => {
  expect(standingOf(claim, evidence)).toBe("held back figure");
});

test("the number of a thing may stand in the path of its piece, and no other number of it", () => {
  const reasonIn = (path: string, claim: string) =>
    readingOf(claim, [pieceOf(path, "05:10 back at minus 18 °C. All fish were thrown away.")])
      .reason;
  const claim = "All fish of freezer 2 were thrown away.";
  expect(reasonIn("logs/freezer-2.md", claim)).not.toBe("figure");
  expect(reasonIn("logs/freezer-3.md", claim)).toBe("figure");
  expect(reasonIn("logs/freezer-21.md", claim)).toBe("figure");
  expect(reasonIn("logs/freezer-2.md", "All fish weighed 2 kg and were thrown away.")).toBe(
    "figure",
  );
});
