import { describe, expect, test } from "@jest/globals";
import type { FieldBinding } from "../../../../src/shared/job/run-result.ts";
import { gradeOfFields } from "../../../../src/shared/job/claims.ts";
import { bindFields } from "../../../../src/worker/verify/bindings/bind-fields.ts";
import {
  fieldValues,
  pairQuotes,
  wrapSchema,
} from "../../../../src/worker/verify/bindings/quoted-fields.ts";
import type { Fields } from "../../../../src/worker/verify/fields-schema.ts";
import { blockOf, sliceOf } from "../support-world.ts";

const FIELD = { name: "field" };

/** The one value of a reply, bound to a document that is its quote, in a text that says which language it is. */
function bindOne(
  value: unknown,
  quote: string,
  { name = "field", ...schema }: Fields & { readonly name?: string } = FIELD,
): FieldBinding["state"] | undefined {
  const document = `${quote}\n\n${LANGUAGES[languageOf(quote)]}`;
  const properties = { [name]: schema };
  const root = { type: "object", properties };
  const paired = pairQuotes({ [name]: { value, quote } }, root);
  const evidence = [blockOf(1, "a.md", document)];
  return bindFields({ values: fieldValues(paired, root), evidence })[0]?.state;
}

/** Sentences without figures, names and dates. */
const LANGUAGES = {
  en: "This is what the others wrote about it when they were there, and so it has been since then.",
  de: "Das ist alles, was wir von den anderen über die Sache wissen, und es wird nicht mehr werden.",
  fr: "C'est tout ce que nous avons appris des autres sur cette affaire, et il ne sera pas dit plus.",
  es: "Esto es todo lo que los demás nos han dicho sobre este asunto, y no se sabe mucho más de ello.",
};
const languageOf = (quote: string): keyof typeof LANGUAGES => {
  if (/\b(?:der|die|das|und|ist|am|wurde|Der|Die|Das|Am|Es)\b/.test(quote)) return "de";
  if (
    /\b(?:le|la|les|est|du|des|Le|La|Les)\b/.test(quote) &&
    !/\b(?:el|los|del|es|El)\b/.test(quote)
  )
    return "fr";
  return /\b(?:el|los|las|del|es|El|Los|La|con)\b/.test(quote) ? "es" : "en";
};

type Case = readonly [value: unknown, quote: string, field?: Fields & { readonly name?: string }];
const titled = (cases: readonly Case[]) =>
  cases.map((one) => [`${JSON.stringify(one[0])} by ${JSON.stringify(one[1])}`, one] as const);

describe("a number is in its quote", () => {
  test.each(
    titled([
      [240, "The total is 240 EUR."],
      [1250, "The total is 1,250 EUR."],
      [1250.5, "The total is 1,250.50 EUR."],
      [1250, "Die Summe ist 1.250 EUR."],
      [1.25, "The ratio is 1.250 in all."],
      [1.25, "Das Verhältnis ist 1,250 und mehr."],
      [1250, "Le total est de 1 250 euros."],
      [3.5, "Le prix est de 3,5 euros."],
      [12, "Twelve people came to the meeting."],
      [42, "Die Fahrt dauert zweiundvierzig Minuten."],
      [21, "Los billetes son veintiuno."],
      [22, "La course dure vingt-deux minutes."],
      [2_400_000, "The budget is 2.4 million euros."],
      [0.25, "A quarter left: the share is 25 % of it."],
      [25, "The share is 25 per cent."],
      [-5, "The cellar is at -5 degrees."],
      [-4, "It was minus 4 degrees in the cellar."],
      [12, "A dozen boats sank in the storm."],
      [6, "Ein halbes Dutzend Boote ist gesunken."],
      [0, "Nobody was hurt in the fall.", { name: "hurt" }],
      [0, "Es wurde niemand verletzt.", { name: "verletzte" }],
      [90, "The trip takes 1.5 hours.", { name: "duration_minutes" }],
      [42, "The trip takes 42 minutes.", { name: "durationMinutes" }],
      [2026, "It was built in 2026.", { name: "year" }],
      [30, "It is due on 30 June 2026.", { name: "day_of_month" }],
      [30, "It is due on 30 June 2026.", { name: "dueDay" }],
      [2026, "Die Lieferung kommt am 30. Juni 2026.", { name: "Lieferjahr" }],
      [9, "The express leaves Harwick at 09:15 every day.", { name: "departure_time" }],
      [12.5, "| Basic | €12.50 |", { name: "price_eur" }],
    ]),
  )("%s", (_, [value, quote, field]) => {
    expect(bindOne(value, quote, field)).toBe("bound");
  });

  test.each(
    titled([
      [999_999, "The express leaves Harwick at 09:15 every day."],
      [15, "The express leaves Harwick at 09:15 every day."],
      [9, "The express leaves Harwick at 09:15 every day."],
      [30, "The bill is due on 30 June 2026."],
      [241, "The total is 240 EUR."],
      [24, "The total is 240 EUR."],
      [1250, "The ratio is 1.250 in all."],
      [1.25, "Die Summe ist 1.250 EUR."],
      [1250, "Das Verhältnis ist 1,250 und mehr."],
      [5, "The cellar is at -5 degrees."],
      [4, "It was minus 4 degrees in the cellar."],
      [13, "Twelve people came to the meeting."],
      [0, "Two people were hurt in the fall.", { name: "hurt" }],
      [42, "The trip takes 42 hours.", { name: "duration_minutes" }],
      [42, "The trip takes 42 hours.", { name: "Duration minutes" }],
      [240, "The total is 240 USD.", { name: "total_eur" }],
      [12, "The offer of 12 May 2026 lapsed.", { name: "vat_percentage" }],
      [12, "The offer of 12 May 2026 lapsed.", { name: "candidates" }],
      [12, "The offer of 12 May 2026 lapsed.", { name: "hourly_rate" }],
      [2.4, "El presupuesto es de 24 millones."],
      [43, "Die Fahrt dauert zweiundvierzig Minuten."],
    ]),
  )("but not %s", (_, [value, quote, field]) => {
    expect(bindOne(value, quote, field)).toBe("unbound");
  });
});

describe("a date is in its quote", () => {
  test.each(
    titled([
      ["2026-05-03", "The bill is due on 3-May-2026."],
      ["2026-05-03", "The bill is due on 03-MAY-26."],
      ["19:30", "Die Sitzung beginnt am Montag um halb acht."],
      ["2026-06-30", "The bill is due on 30 June 2026."],
      ["2026-06-30", "The bill is due on June 30th, 2026."],
      ["2026-06-30", "The bill is due on Tuesday, 30/06/2026."],
      ["30 June 2026", "The bill is due 2026-06-30."],
      ["2026-06-30", "Die Rechnung ist am 30. Juni 2026 fällig."],
      ["2026-06-30", "Die Rechnung ist am 30.06.2026 fällig."],
      ["2026-06-30", "La facture est due le 30 juin 2026."],
      ["2026-08-01", "La facture est due le 1er août 2026."],
      ["2026-02-03", "El pago es el 3 de febrero de 2026."],
      ["2026-05-03", "It opens from 3 to 5 May 2026."],
      ["2026-05-03", "Das Fest ist vom 3. bis 5. Mai 2026."],
      ["2026-05-03", "It opens on the third of May 2026."],
      ["2026-06-30", "Due on 30 June. Minutes of 2026."],
      ["2026-06-30T18:30:00", "They meet on 30 June 2026 at 6.30 pm."],
      ["2026-06-30T18:30:00+02:00", "They meet on 30 June 2026 at 6.30 pm."],
      ["2026-06-30T18:30:00.000Z", "They meet on 30 June 2026 at 6.30 pm."],
      ["2026-06-30T00:00:00-0500", "They meet on 30 June 2026."],
      ["18:30", "They meet at half past, that is 18:30, on Mondays."],
      ["2026-06", "It opens in June 2026."],
      ["June 30", "The bill is due on 30 June 2026."],
    ]),
  )("%s", (_, [value, quote, field]) => {
    expect(bindOne(value, quote, field)).toBe("bound");
  });

  test.each(
    titled([
      ["2026-03-05", "The bill is due on 3-May-2026."],
      ["20:30", "Die Sitzung beginnt am Montag um halb acht."],
      ["2026-06-29", "The bill is due on 30 June 2026."],
      ["2026-06-30T19:30:00+02:00", "They meet on 30 June 2026 at 6.30 pm."],
      ["2025-06-30", "The bill is due on 30 June 2026."],
      ["2026-07-30", "The bill is due on 30 June 2026."],
      ["2026-06-30", "The bill is due on 30 June."],
      ["2026-06-30", "The bill of 30 June 2025 is for 2026."],
      ["2026-06-30", "Die Rechnung ist am 3. Juni 2026 fällig."],
      ["2026-03-02", "El pago es el 3 de febrero de 2026."],
      ["2026-06-30T19:30:00", "They meet on 30 June 2026 at 6.30 pm."],
      ["18:45", "They meet at 18:30 on Mondays."],
      ["2026-06-30", "The bill is due next Friday, as agreed."],
    ]),
  )("but not %s", (_, [value, quote, field]) => {
    expect(bindOne(value, quote, field)).toBe("unbound");
  });
});

describe("a name, a code, a currency or a text is in its quote", () => {
  test.each(
    titled([
      ["Ada Lind", "For Ada Lind, 3 ropes."],
      ["Lind, Ada", "For Ada Lind, 3 ropes."],
      ["ADA LIND", "For Ada Lind, 3 ropes."],
      ["José Muñoz", "El presidente es Jose Munoz."],
      ["INV-2026/17", "Please pay invoice INV-2026/17 soon."],
      ["ada@lind.example", "Write to ada@lind.example for keys."],
      ["EUR", "The total is €240 in all."],
      ["EUR", "Die Summe ist 240 Euro."],
      ["GBP", "It costs 12 pounds a head."],
      ["240 EUR", "The total is €240 in all."],
      ["€1,250", "The total is 1,250 euros."],
      ["3 ropes", "For Ada Lind, three ropes."],
      ["The rope was replaced", "In May the rope was replaced by Bo."],
      [
        "The pump failed in May because the seal of the shaft was worn out",
        "In May the pump failed: the shaft seal was worn out.",
      ],
      ["Ingenieurin", "Die Ingenieurin Eva Brandt leitet das Amt."],
    ]),
  )("%s", (_, [value, quote, field]) => {
    expect(bindOne(value, quote, field)).toBe("bound");
  });

  test.each(
    titled([
      ["Ada Lund", "For Ada Lind, 3 ropes."],
      ["Bo Lind", "For Ada Lind, 3 ropes."],
      ["INV-2026/18", "Please pay invoice INV-2026/17 soon."],
      ["ada@lynd.example", "Write to ada@lind.example for keys."],
      ["USD", "The total is €240 in all."],
      ["CHF", "Die Summe ist 240 Euro."],
      ["250 EUR", "The total is €240 in all."],
      ["240 USD", "The total is €240 in all."],
      ["4 ropes", "For Ada Lind, three ropes."],
      [
        "The pump failed in June because the seal of the shaft was worn out",
        "In May the pump failed: the shaft seal was worn out.",
      ],
      ["The pump was stolen by a gang of thieves from the north", "In May the pump failed again."],
      ["  ", "For Ada Lind, 3 ropes."],
    ]),
  )("but not %s", (_, [value, quote, field]) => {
    expect(bindOne(value, quote, field)).toBe("unbound");
  });
});

describe("a truth value is said by its quote", () => {
  test.each(
    titled([
      [false, "Dogs are forbidden in the garden.", { name: "dogs_allowed" }],
      [true, "Dogs are forbidden in the garden.", { name: "dogs_forbidden" }],
      [true, "Dogs are allowed in the garden.", { name: "dogs_allowed" }],
      [false, "Dogs are not allowed in the garden.", { name: "dogs_allowed" }],
      [false, "Keine Hunde erlaubt, das ist so.", { name: "hunde_erlaubt" }],
      [true, "Breakfast included: yes", { name: "breakfast" }],
      [true, "| Breakfast | Yes |", { name: "morning_meal" }],
      [false, "| Breakfast | no |", { name: "breakfast" }],
      [true, "- [x] order the rope", { name: "done" }],
      [false, "- [ ] order the rope", { name: "done" }],
      [true, "The rope was replaced in May.", { name: "done" }],
      [false, "The rope must be replaced in May.", { name: "done" }],
      [false, "Das Seil wurde noch nicht ersetzt.", { name: "erledigt" }],
      [true, "La facture est payée.", { name: "payée" }],
      [false, "La factura no está pagada.", { name: "pagada" }],
      [true, "Invoice No. 4711 was paid.", { name: "paid" }],
      [false, "There is no 24-hour desk.", { name: "desk" }],
      [false, "The house is not always insured.", { name: "insured" }],
    ]),
  )("%s", (_, [value, quote, field]) => {
    expect(bindOne(value, quote, field)).toBe("bound");
  });

  test.each(
    titled([
      [true, "Dogs are prohibited in the garden.", { name: "dogs_allowed" }],
      [true, "Dogs are not allowed in the garden.", { name: "dogs_allowed" }],
      [false, "Dogs are allowed in the garden.", { name: "dogs_allowed" }],
      [true, "The rope must be replaced in May.", { name: "done" }],
      [false, "The rope was replaced in May.", { name: "done" }],
      [true, "The garden has an old wall.", { name: "dogs_allowed" }],
      [true, "| Breakfast | no |", { name: "breakfast" }],
      [false, "Invoice No. 4711 was paid.", { name: "paid" }],
      [true, "The house is not always insured.", { name: "insured" }],
      [false, "The pump is still open.", { name: "unresolved" }],
    ]),
  )("but not %s", (_, [value, quote, field]) => {
    expect(bindOne(value, quote, field)).toBe("unbound");
  });
});

describe("one of several options is said by its quote", () => {
  const options = { enum: ["high", "low", "paid", "unpaid", "car_rental", "offen", "approved"] };
  const currency = { enum: ["EUR", "USD"] };
  const letter = { enum: ["D", "E", "F"] };

  test.each(
    titled([
      ["high", "This is of high priority to us.", options],
      ["E", "The fridge is of energy class E.", letter],
      ["high", "Please act at once, it is urgent.", options],
      ["high", "Die Sache ist sehr dringend.", options],
      ["paid", "The bill was paid in May.", options],
      ["paid", "Die Rechnung ist bezahlt.", options],
      ["unpaid", "La facture est impayée.", options],
      ["car_rental", "They rented a car in Harwick.", options],
      ["approved", "El plan fue aprobado.", options],
      ["EUR", "The price is €40 for all.", currency],
    ]),
  )("%s", (_, [value, quote, field]) => {
    expect(bindOne(value, quote, field)).toBe("bound");
  });

  test.each(
    titled([
      ["high", "This can wait until next year.", options],
      ["E", "The fridge is of energy class D, e and f are worse.", letter],
      ["E", "The fridge is not of class E.", letter],
      ["E", "The fridge stands in room E.1 of the house.", letter],
      ["paid", "The bill was not paid in May.", options],
      ["approved", "The plan was rejected by all.", options],
      ["low", "Please act at once, it is urgent.", options],
      ["USD", "The price is €40 for all.", currency],
    ]),
  )("but not %s", (_, [value, quote, field]) => {
    expect(bindOne(value, quote, field)).toBe("unbound");
  });
});

const BILL =
  "# Bill 17\n\nFor Ada Lind, 3 ropes. Sent by Bo.\n\n| Item | Price |\n|---|---|\n| Rope | 80 EUR |\n| Hook | 12 EUR |\n\n" +
  "Total 240 EUR, payable by 30 June 2026.\n";
const SCHEMA = {
  type: "object",
  properties: {
    total: { type: "number" },
    customer: { type: "string" },
    items: {
      type: "array",
      items: {
        type: "object",
        properties: { price: { type: "number" }, quote: { type: "string" } },
      },
    },
  },
};
const evidence = [blockOf(1, "bill.md", BILL)];
const bind = (reply: Fields, schema: Fields = SCHEMA) =>
  bindFields({ values: fieldValues(pairQuotes(reply, schema), schema), evidence });

describe("what a value is bound to", () => {
  test("is its quote, at its place", () => {
    const [binding] = bind({ total: { value: 240, quote: "Total 240 EUR" } });
    expect(binding).toMatchObject({ pointer: "/total", state: "bound", quote: "Total 240 EUR" });
    expect(sliceOf(evidence, binding?.span)).toBe("Total 240 EUR");
  });

  test("is the whole sentence where the quote is a part of it without the value", () => {
    const [binding] = bind({ total: { value: 240, quote: "payable by 30 June 2026" } });
    expect(binding).toMatchObject({ quote: "Total 240 EUR, payable by 30 June 2026." });
  });

  test("is the row of a table", () => {
    const [binding] = bind({ items: [{ price: { value: 12, quote: "| Hook | 12 EUR |" } }] });
    expect(binding).toMatchObject({ pointer: "/items/0/price", state: "bound" });
  });

  test("is the quote of its object, or a sentence beside that", () => {
    const [ropes, sent] = bind(
      { items: [{ n: 3, by: "Bo", quote: "For Ada Lind, 3 ropes." }] },
      { type: "object" },
    );
    expect(ropes).toMatchObject({ value: 3, quote: "For Ada Lind, 3 ropes." });
    expect(sent).toMatchObject({ value: "Bo", quote: "Sent by Bo." });
  });

  test("is found where no quote was given, and is in doubt", () => {
    const bindings = bind({ total: 240, customer: { value: "Ada Lind", quote: " " } });
    expect(bindings.map(({ state, reason }) => [state, reason])).toEqual([
      ["bound", "no_quote"],
      ["bound", "no_quote"],
    ]);
    expect(bindings.map(({ span }) => span?.lineStart)).toEqual([10, 3]);
    expect(gradeOfFields(bindings)).toBe("unconfirmed");
  });

  test.each([
    ["a number of one digit, which stands anywhere", { total: 3 }, "no_quote"],
    ["a number that nothing holds", { total: 999_999 }, "no_quote"],
    [
      "an invented quote",
      { total: { value: 7, quote: "Seven in all, says Bo" } },
      "quote_not_found",
    ],
    [
      "an invented quote of what another line holds",
      { total: { value: 240, quote: "Total due 240 EUR" } },
      "quote_not_found",
    ],
    [
      "an invented quote of its own beside one that stands",
      { total: { value: 12, quote: "Total 12 EUR" }, quote: "| Hook | 12 EUR |" },
      "quote_not_found",
    ],
    ["a quote that says too little", { total: { value: 80, quote: "EUR" } }, "quote_short"],
    ["the word the", { customer: { value: "Eva", quote: "by" } }, "quote_short"],
    [
      "a quote of something else",
      { total: { value: 12, quote: "For Ada Lind, 3 ropes." } },
      "not_in_quote",
    ],
  ])("is nothing for %s", (_, reply, reason) => {
    expect(bind(reply)[0]).toMatchObject({ state: "unbound", reason, quote: null, span: null });
  });

  test("is nothing for null", () => {
    expect(bind({ total: { value: null, quote: null } })).toMatchObject([
      { state: "null", reason: null },
    ]);
  });

  const INVOICE =
    "# Invoice\n\nDate: 1 May 2026\n\nNet 746.60 GBP\n\nVAT 20 % 149.32 GBP\n\nTotal due 895.92 GBP\n\nDue: 31 May 2026\n";
  const invoiceOf = (name: string, value: unknown, quote: string | null, others: Fields = {}) => {
    const reply = { [name]: { value, quote }, ...others };
    const paired = pairQuotes(reply, { type: "object" });
    const values = fieldValues(paired, { type: "object" });
    return bindFields({ values, evidence: [blockOf(1, "invoice.md", INVOICE)] })[0];
  };

  test.each([
    ["total", 149.32, "VAT 20 % 149.32 GBP", {}],
    ["total", 149.32, null, {}],
    ["totalDue", 746.6, "Net 746.60 GBP", {}],
    ["due", "2026-05-01", "Date: 1 May 2026", {}],
    ["payable", "2026-05-01", "Date: 1 May 2026", { date: null }],
    ["gross", 149.32, "VAT 20 % 149.32 GBP", { vat: 149.32 }],
  ])("%s %j by %j is in doubt: its line names something else", (name, value, quote, others) => {
    const binding = invoiceOf(name, value, quote, others);
    expect(binding).toMatchObject({ state: "bound", reason: "other_label" });
    expect(gradeOfFields([binding as FieldBinding])).toBe("unconfirmed");
  });

  const bindIn = (
    document: string,
    fields: readonly [name: string, value: unknown, quote: string][],
  ) => {
    const reply = Object.fromEntries(
      fields.map(([name, value, quote]) => [name, { value, quote }]),
    );
    const values = fieldValues(pairQuotes(reply, { type: "object" }), { type: "object" });
    return bindFields({ values, evidence: [blockOf(1, "a.md", document)] })[0]?.reason;
  };

  test.each([
    ["total", "# Bill\n\nVAT 20 % 149.32 GBP\n", 149.32, "VAT 20 % 149.32 GBP", "other_label"],
    ["vat", "# Bill\n\nVAT 20 % 149.32 GBP\n", 149.32, "VAT 20 % 149.32 GBP", null],
    ["total", "# Bill\n\nPlumbing 149.32 GBP\n", 149.32, "Plumbing 149.32 GBP", null],
  ])("a lone %s of %j is in doubt where its label is known to mean another", (...row) => {
    const [name, document, value, quote, reason] = row;
    expect(bindIn(document, [[name, value, quote]])).toBe(reason);
  });

  test.each<[string, string, string, unknown, string]>([
    [
      "says more of the name",
      "Weight 612 kg\nNet weight 570 kg\n",
      "net_weight_kg",
      612,
      "Weight 612 kg",
    ],
    ["means the name in other words", "Net 110.40\nTo pay 132.48\n", "total", 110.4, "Net 110.40"],
    [
      "means it in another language",
      "Abreise: 9. Mai 2026\nGebucht: 2. Mai 2026\n",
      "departure_date",
      "2026-05-02",
      "Gebucht: 2. Mai 2026",
    ],
    [
      "is an end of its word",
      "Nettobetrag: 10,00\nRechnungsbetrag: 11,90\n",
      "total",
      10,
      "Nettobetrag: 10,00",
    ],
    [
      "says nothing beside it",
      "Total HT 720,00\nTotal TTC 792,00\n",
      "total",
      720,
      "Total HT 720,00",
    ],
    [
      "stands before another figure of its sentence",
      "It begins on 1 May 2026 and ends on 9 May 2026.\n",
      ...(["start_date", "2026-05-09", "It begins on 1 May 2026 and ends on 9 May 2026."] as const),
    ],
  ])("is in doubt where a label %s", (_, document, ...field) => {
    expect(bindIn(document, [field])).toBe("other_label");
  });

  test.each<[string, string, string, unknown, string]>([
    [
      "no label has its name",
      "Penalty: 70.00\nIf paid early: 35.00\n",
      "amount",
      70,
      "Penalty: 70.00",
    ],
    [
      "one that is as good has the same value",
      "Total 9.50\nGrand total 9.50\n",
      "total",
      9.5,
      "Total 9.50",
    ],
    [
      "only its day is called a date elsewhere",
      "Payable by 5 March 2026\nOrder date: 2 May 2026\n",
      "due_date",
      "2026-03-05",
      "Payable by 5 March 2026",
    ],
  ])("is not where %s", (_, document, ...field) => {
    expect(bindIn(document, [field])).toBeNull();
  });

  test.each([
    ["total", 895.92, "Total due 895.92 GBP"],
    ["amount_due", 895.92, "Total due 895.92 GBP"],
    ["vat", 149.32, "VAT 20 % 149.32 GBP"],
    ["tax", 149.32, "VAT 20 % 149.32 GBP"],
    ["invoice_date", "2026-05-01", "Date: 1 May 2026"],
    ["due", "2026-05-31", "Due: 31 May 2026"],
  ])("%s %j by %j is beyond doubt", (name, value, quote) => {
    expect(invoiceOf(name, value, quote)).toMatchObject({ state: "bound", reason: null });
  });
});

test.each<[Fields, string]>([
  [{ type: ["string", "null"] }, "null"],
  [{ enum: ["A", null] }, "null"],
  [{ anyOf: [{ type: "string", enum: ["A"] }, { type: "null" }] }, "null"],
  [{ anyOf: [{ $ref: "#/$defs/grade" }, { type: "null" }] }, "null"],
  [{ type: ["string", "null"], enum: ["A"] }, "kept"],
  [{ allOf: [{ type: ["string", "null"] }, { enum: ["A"] }] }, "kept"],
  [{ $ref: "#/$defs/grade" }, "kept"],
  [{}, "kept"],
])("a required value of %j that no words hold becomes %s", (schema, without) => {
  const $defs = { grade: { type: "string", enum: ["A"] } };
  const root = { type: "object", properties: { grade: schema }, required: ["grade"], $defs };
  expect(fieldValues({ grade: "A" }, root)).toMatchObject([{ without }]);
});

test("a property that digits name is no item of a list", () => {
  const values = fieldValues({ 2024: { total: 5 }, items: [{ total: 6 }] }, { type: "object" });
  expect(values).toMatchObject([
    { pointer: "/2024/total", isInList: false },
    { pointer: "/items/0/total", isInList: true },
  ]);
});

test("a figure that is named quote is a value, and not a quote", () => {
  const root = { type: "object", properties: { quote: { type: "number" } } };
  expect(wrapSchema(root)).toMatchObject({ properties: { quote: { type: "object" } } });
  const paired = pairQuotes({ quote: { value: 950, quote: "We offer it for 950 EUR." } }, root);
  const values = fieldValues(paired, root);
  const evidence = [blockOf(1, "a.md", "# Offer\n\nWe offer it for 900 EUR.")];
  expect(values).toMatchObject([{ pointer: "/quote", value: 950 }]);
  expect(bindFields({ values, evidence })).toMatchObject([{ state: "unbound" }]);
});
