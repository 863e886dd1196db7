import { describe, expect, test } from "@jest/globals";
import { checkQuotes } from "../../../src/worker/verify/quotes.ts";
import { blockOf } from "./support-world.ts";

const evidence = [
  blockOf(
    1,
    "lease.md",
    "The deposit must not be used as the last month's rent. The landlord pays for major repairs; the tenant keeps the " +
      "garden tidy. He may not drill into load-bearing walls without written consent. Keys are handed over on 1 March, " +
      "after the final inspection, at the office. The rent is £1,240 a month and includes heating. The pump, which never " +
      "needs oil, starts by itself.",
  ),
  blockOf(
    2,
    "vertrag.md",
    "Die Kaution darf nicht mit der letzten Miete verrechnet werden. Der Beitrag bleibt bei 48 EUR im Jahr; Kinder zahlen " +
      "die Hälfte. Er muss den Keller bis zum 30. April räumen, sofern nichts anderes vereinbart ist. Der Hausmeister " +
      "reinigt die Treppe jeden Freitag.",
  ),
  blockOf(
    3,
    "bail.md",
    "Le dépôt ne peut pas servir au paiement du dernier loyer. Les grosses réparations sont à la charge du bailleur. Elle " +
      "rend les clés le 1er mars, après l'état des lieux, au bureau. La ville a fourni l'eau gratuitement pendant douze jours.",
  ),
  blockOf(
    4,
    "contrato.md",
    "La fianza no puede usarse como pago del último mes. Los domingos no se trabaja con máquinas. Ella entrega las llaves " +
      "el 1 de marzo, tras la inspección final, en la oficina. El vecino riega el jardín cada martes.",
  ),
];

/** The classes of the quotes of an answer that cites one piece. */
const classesOf = (answer: string, cited: number, question = ""): string[] =>
  checkQuotes(answer, [], () => [cited], { evidence, question }).map((record) => record.class);

describe("a quote of which words are left out", () => {
  test.each([
    ['"Keys are handed over on 1 March, … at the office."', 1],
    ['"The landlord pays for major repairs […] the tenant keeps the garden tidy"', 1],
    ['"The deposit must not be used … The rent is £1,240 a month (...) includes heating"', 1],
    ['"the tenant keeps . . . tidy" is all that it says', 1],
    ['"The pump … starts by itself"', 1],
    ["„Der Beitrag bleibt bei 48 EUR im Jahr, … Kinder zahlen die Hälfte“", 2],
    ["„Er muss den Keller […] räumen“, steht da", 2],
    ["« Elle rend les clés le 1er mars […] au bureau »", 3],
    ["«Ella entrega las llaves … en la oficina»", 4],
  ])("stands in order in one piece: %s", (answer, cited) => {
    expect(classesOf(answer, cited)).toEqual(["elided"]);
  });

  test.each([
    ["what it says is turned round", '"The deposit must … be used as the last month\'s rent"', 1],
    ["in German", "„Die Kaution darf … mit der letzten Miete verrechnet werden“", 2],
    ["in French", "« Le dépôt … servir au paiement du dernier loyer »", 3],
    ["in Spanish", "«La fianza … puede usarse como pago»", 4],
    [
      "another order",
      '"The tenant keeps the garden tidy … The landlord pays for major repairs"',
      1,
    ],
    ["two pieces", '"The landlord pays for major repairs … El vecino riega el jardín"', 1],
    ["one word far away", '"The deposit … heating and more"', 1],
    ["one word far away, that is there", '"The landlord pays for major … heating"', 1],
    ["one word of the next sentence", '"The landlord pays for major … garden"', 1],
    ["without an ellipsis", '"Keys are handed over at the office."', 1],
  ])("does not: %s", (_, answer, cited) => {
    expect(classesOf(answer, cited).filter((one) => !REFUSED.includes(one))).toEqual([]);
  });

  test("has parts that all stand", () => {
    expect(classesOf('"Keys are handed over … by the caretaker\'s wife"', 1)).toEqual([
      "not_found",
    ]);
    expect(classesOf("„Er muss den Keller … bis Ostern räumen“", 2)).toEqual(["not_found"]);
  });

  test("belongs to the piece that is cited with it", () => {
    expect(classesOf('"Keys are handed over … at the office"', 2)).toEqual(["misattributed"]);
  });
});

const REFUSED = ["not_found", "stitched", "misattributed"];

describe("a quote with an editor's brackets", () => {
  test.each([
    ['"[H]e may not drill into load-bearing walls"', 1],
    ['"[k]eys are handed over on 1 March"', 1],
    ['"He [the tenant] may not drill into load-bearing walls"', 1],
    ['"[The tenant] may not drill into load-bearing walls"', 1],
    ['"[She] pays for major repairs"', 1],
    ['"The rent [was] £1,240 a month"', 1],
    ['"the tenant keep[s] the garden tidy"', 1],
    ['"The landlord pays for major repairs [sic]; the tenant keeps the garden tidy"', 1],
    ['"[She] [sic] pays for major repairs"', 1],
    ['"The deposit must *not* be used [emphasis added] as the last month\'s rent"', 1],
    ["„[D]er Hausmeister reinigt die Treppe“", 2],
    ["„Er [der Hausmeister] muss den Keller bis zum 30. April räumen“", 2],
    ["« Elle [la ville] rend les clés le 1er mars »", 3],
    ["«[E]l vecino riega el jardín»", 4],
    ["«Ella [la oficina] entrega las llaves»", 4],
  ])("stands: %s", (answer, cited) => {
    const [found, ...others] = classesOf(answer, cited);
    expect(others).toEqual([]);
    expect(["normalised", "elided"]).toContain(found);
  });

  test.each([
    ["a swapped party", '"[The tenant] pays for major repairs"', 1],
    ["a swapped party in the middle", '"the [landlord] keeps the garden tidy"', 1],
    ["a negation put in", '"The landlord [never] pays for major repairs"', 1],
    ["a negation replaced", '"The deposit [may] be used as the last month\'s rent"', 1],
    ["a figure put in", '"The rent [of 900] is £1,240 a month"', 1],
    ["invented words put in", '"The rent [and the swimming pool] is £1,240 a month"', 1],
    ["a negation behind another insertion", '"The rent [was] [not] £1,240 a month"', 1],
    ["a negation behind a remark", '"The landlord pays [sic] [not] for major repairs"', 1],
    ["a negation in a remark", '"The landlord pays [sic, never] for major repairs"', 1],
    ["no remark, in German", "„Kinder [sicher nicht] zahlen die Hälfte“", 2],
    ["a sign of our own", '"The rent \uE001 is £1,240 [never] a month"', 1],
    ["a negation put in, in German", "„Kinder zahlen [nicht] die Hälfte“", 2],
    ["a swapped party in German", "„[Der Mieter] reinigt die Treppe jeden Freitag“", 2],
    ["a swapped party in French", "« Les grosses réparations sont à la charge du [locataire] »", 3],
    ["a negation put in, in Spanish", "«El vecino [nunca] riega el jardín»", 4],
  ])("does not: %s", (_, answer, cited) => {
    expect(classesOf(answer, cited).filter((one) => !REFUSED.includes(one))).toEqual([]);
  });
});

test.each([
  ['"THE DEPOSIT MUST NOT BE USED"', 1],
  ['"the Landlord pays for Major Repairs"', 1],
  ["„die kaution darf nicht mit der letzten miete“", 2],
  ["« LE DÉPÔT NE PEUT PAS SERVIR »", 3],
  ["«LOS DOMINGOS no se trabaja»", 4],
])("a quote in another case stands: %s", (answer, cited) => {
  expect(classesOf(answer, cited)).toEqual(["normalised"]);
});

describe("words in quote marks that claim no words of a document", () => {
  test.each([
    [
      'On "keeping a second dog" the lease is silent [1].',
      "Does it allow keeping a second dog?",
      "asked",
    ],
    [
      "Zum „Anbau eines Balkons“ steht nichts darin.",
      "Was gilt für den Anbau eines Balkons?",
      "asked",
    ],
    ["Sur « le chauffage électrique », rien.", "Que dit-il sur le chauffage électrique ?", "asked"],
    ["Sobre «las macetas del patio» no hay nada.", "¿Y las macetas del patio?", "asked"],
    ['This is a so-called "handover window" of one day [1].', "", "term"],
    ['In effect it is a "no-questions" lease with a "cleaning duty".', "", "term"],
    ["Das ist eine Art „Sommerregelung“ für den Keller.", "", "term"],
    ["C'est une sorte de « clause miroir » du bail.", "", "term"],
    ["Es una especie de «cláusula espejo» del contrato.", "", "term"],
  ])("%s", (answer, question, found) => {
    expect(new Set(classesOf(answer, 1, question))).toEqual(new Set([found]));
  });

  test.each([
    [
      "what the question says, told as a word of the lease",
      'The lease says "the deposit may be used".',
      "Is it true that the deposit may be used?",
    ],
    [
      "the same in German",
      "Im Vertrag steht: „die Kaution darf verrechnet werden“.",
      "Stimmt es, dass die Kaution darf verrechnet werden?",
    ],
    ["a short word that somebody said", 'The landlord wrote that it was "partly flooded".', ""],
    ["a short one before who said it", '"Entirely useless", said the tenant.', ""],
    ["a short one behind a colon", 'The answer: "absolutely free"', ""],
    ["a short sentence", 'It ends there. "Nobody pays."', ""],
    ["a short figure", 'It is a "ninety day 90" affair.', ""],
    ["a short negation", 'It is a "never ever alone" rule.', ""],
    ["a short one in German", "Laut Vertrag ist er „völlig kostenlos“.", ""],
    ["a short one in French", "Le bail dit qu'il est « totalement gratuit ».", ""],
    ["a short one in Spanish", "El contrato dice que es «totalmente gratis».", ""],
    ["a long one", 'It is a "rule that nobody ever followed".', ""],
  ])("but not %s", (_, answer, question) => {
    expect(classesOf(answer, 1, question)).toEqual(["not_found"]);
  });
});

describe("a translation that is marked as such", () => {
  test.each([
    ['In English: "No work with machines is done on Sundays" [4].', 4],
    ['"The caretaker cleans the stairs every Friday" (translated from German) [2].', 2],
    ['It reads (my translation): "The city supplied the water free for twelve days" [3].', 3],
    ["Übersetzt: „Er darf nicht in tragende Wände bohren“ [1].", 1],
    ["Auf Deutsch: „Der Nachbar gießt den Garten jeden Dienstag“ [4].", 4],
    ["(traduction) « Le concierge nettoie l'escalier chaque vendredi » [2].", 2],
    ["Traducido: «El propietario paga las reparaciones importantes» [1].", 1],
  ])("is fine: %s", (answer, cited) => {
    expect(classesOf(answer, cited)).toEqual(["translated"]);
  });

  test.each([
    ["no mark", 'It says "The caretaker cleans the stairs every Friday" [2].', 2],
    [
      "the language of the piece",
      'In English: "The deposit may be used as the last month\'s rent" [1].',
      1,
    ],
    [
      "the language of the piece, in other words",
      'Translated: "You are always free to spend your own money on the house" [1].',
      1,
    ],
    ["another figure", "Übersetzt: „Die Miete beträgt 1.420 £ und die Heizung ist dabei“ [1].", 1],
  ])("is none: %s", (_, answer, cited) => {
    expect(classesOf(answer, cited)).toEqual(["not_found"]);
  });
});
