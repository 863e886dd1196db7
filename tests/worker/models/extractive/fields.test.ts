import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { extractiveModel } from "../../../../src/worker/models/extractive/extractive.ts";
import type { EvidenceBlock, ModelTask } from "../../../../src/worker/models/model.ts";

type Preset = "classify" | "actions" | "people";
type Fields = {
  readonly label: string;
  readonly priority: string;
  readonly reason: string;
  readonly quote: string;
  readonly actions: readonly {
    action: string;
    owner: string | null;
    due: string | null;
    quote: string;
  }[];
  readonly people: readonly { name: string; role: string | null }[];
  readonly dates: readonly { date: string; what: string }[];
};

const corpus = resolve(import.meta.dirname, "../../../../examples/corpus");
const textOf = (path: string): string => readFileSync(join(corpus, path), "utf8");

async function replyTo(
  preset: Preset,
  text: string,
  about: { path?: string; labels?: readonly string[] } = {},
): Promise<string> {
  const { path = "notes/a.md", labels = [] } = about;
  const evidence: EvidenceBlock[] = [{ number: 1, path, title: null, headingPath: null, text }];
  const task: ModelTask = { purpose: "extract", preset, labels, examples: [], evidence };
  const request = { messages: [], task, maxTokens: 100, timeoutMs: 1000 };
  const reply = await extractiveModel().complete(request, new AbortController().signal);
  return reply.kind === "reply" ? reply.text : reply.code;
}
const fieldsOf = async (...args: Parameters<typeof replyTo>): Promise<Fields> =>
  JSON.parse(await replyTo(...args)) as Fields;

describe("classify", () => {
  const LABELS = [
    "invoice",
    "letter",
    "minutes",
    "contract",
    "incident",
    "runbook",
    "price-list",
    "inventory",
    "recipe",
    "other",
  ];

  test.each([
    ["contracts/insurance.md", "contract"],
    ["incidents/2025-07-19-cableway-stop.md", "incident"],
    ["kitchen/goulash-for-sixty.md", "recipe"],
    ["minutes/2025-10-25-general-assembly.md", "minutes"],
    ["people/letters-from-a-seasonal.txt", "letter"],
    ["prices/price-list-2025.md", "price-list"],
    ["register/keys.json", "inventory"],
    ["runbooks/start-the-turbine.md", "runbook"],
    ["suppliers/letter-from-gipfelglanz.md", "letter"],
    ["office/texte-pour-le-site.md", "other"],
  ])("%s is of class %s, and a passage of it shows why", async (path, label) => {
    const text = textOf(path);
    const fields = await fieldsOf("classify", text, { path: `corpus/${path}`, labels: LABELS });
    expect(fields.label).toBe(label);
    expect(text.replace(/\s+/g, " ")).toContain(fields.quote.replace(/\s+/g, " "));
    expect(fields.reason).toContain(fields.quote);
  });

  test.each([
    ["Rechnung Nr. 12\n\nBetrag 240 EUR netto, zahlbar bis 30. Juni 2026.", "rechnung", "normal"],
    ["Protokoll der Sitzung\n\nAnwesend: drei. Der Antrag ist beschlossen.", "protokoll", "low"],
    ["Letzte Mahnung\n\nIhre Rechnung ist überfällig.", "rechnung", "high"],
    ["Rechnung Nr. 3\n\nDer Betrag ist überfällig.", "rechnung", "high"],
    ["Dear Ada,\n\nplease send the rope.\n\nYours sincerely, Bo", "brief", "normal"],
  ])("%j is of class %s and priority %s", async (text, label, priority) => {
    const labels = ["rechnung", "protokoll", "brief"];
    expect(await fieldsOf("classify", text, { labels })).toMatchObject({ label, priority });
  });

  test("says that it can't where no label has a word in the document, and none takes the rest", async () => {
    expect(
      await replyTo("classify", "Clouds, and some sun.", { labels: ["invoice", "letter"] }),
    ).toBe("INSUFFICIENT_EVIDENCE");
  });
});

describe("actions", () => {
  test.each<readonly [string, string | null, string | null]>([
    ["- [ ] Order the rope (Ada Lind, 3 May 2026)", "Ada Lind", "3 May 2026"],
    ["TODO: @bo calls the vet by Friday", "bo", "Friday"],
    ["Ada Lind must paint the door before 31 July.", "Ada Lind", "31 July"],
    [
      "Two people for the hook: Ada and Bo, who will have the course on 24 May.",
      "Ada and Bo",
      "24 May",
    ],
    ["24 panels, to be mounted in June 2026.", null, "June 2026"],
    ["Please return the keys by 2026-05-03.", null, "2026-05-03"],
    ["Please return the keys by 3-May-2026.", null, "3-May-2026"],
    ["Frau Egger muss die Pumpe bis zum 30. Juni 2026 prüfen.", "Frau Egger", "30. Juni 2026"],
    ["Bitte die Schlüssel zurückgeben.", null, null],
    ["- [ ] Ask the board. Owner: Klara Oberhuber", "Klara Oberhuber", null],
    ["Action: Tom to book the hall for 12 May.", "Tom", null],
    ["Maria will send the list by Friday.", "Maria", "Friday"],
    ["@olga please check the lamp too.", "olga", null],
    ["Order the tent by 1 June. Responsible: Peter", "Peter", "1 June"],
    ["Jamal, can you bring the tent?", "Jamal", null],
    ["Wiebke bringt am Donnerstag die Schlüssel mit.", "Wiebke", "Donnerstag"],
    ["Rachid envoie le texte pour mercredi.", "Rachid", "mercredi"],
    ["Hay que reparar la valla antes del 3 de junio.", null, "3 de junio"],
    ["Itziar Otxoa tiene que llamar antes del 23 de octubre.", "Itziar Otxoa", "23 de octubre"],
    ["Baptiste, I need the floor plan by Tuesday.", "Baptiste", "Tuesday"],
    ["The toe board must be mounted today.", null, "today"],
    ["Die Matte muss bis 15. Juli ersetzt werden.", null, "15. Juli"],
  ])("%j is one of %s until %s", async (text, owner, due) => {
    const { actions } = await fieldsOf("actions", `# Notes\n\n${text}\n`);
    expect(actions).toHaveLength(1);
    expect(actions[0]).toMatchObject({ owner, due });
    expect(text).toContain(actions[0]?.quote ?? "none");
  });

  test("are the items under a heading of tasks, but not those that are done", async () => {
    const text =
      "## Next steps\n\n- Order rope\n- [x] Call the vet\n- Done: paint\n\n## Menu\n\n- Soup\n";
    expect((await fieldsOf("actions", text)).actions.map(({ action }) => action)).toEqual([
      "Order rope",
    ]);
  });

  test.each([
    "Todo:\n- buy milk\n- call Bo",
    "Todo:\n\n1. buy milk\n2. call Bo",
    "Zu erledigen:\n* buy milk\n* call Bo",
  ])("are the items below %j", async (text) => {
    expect((await fieldsOf("actions", text)).actions.map(({ action }) => action)).toEqual([
      "buy milk",
      "call Bo",
    ]);
  });

  test("keep the underscores of a word and lose the marks of emphasis", async () => {
    const { actions } = await fieldsOf(
      "actions",
      "- [ ] Raise MAX_RETRY_COUNT in `run_all.sh`, *soon*\n",
    );
    expect(actions.map(({ action }) => action)).toEqual([
      "Raise MAX_RETRY_COUNT in run_all.sh, soon",
    ]);
  });

  test.each([
    "Guests must leave their boots outside.",
    "Whoever tastes must sign by 30 June.",
    "Must Ada pay by 3 May?",
    "Ada had to paint the door before 31 July.",
    "```\nTODO: nothing\n```",
  ])("%j is none", async (text) => {
    expect((await fieldsOf("actions", text)).actions).toEqual([]);
  });

  test("of the minutes of May are the promise that they hold, and of an incident what is not ticked", async () => {
    const minutes = await fieldsOf("actions", textOf("minutes/2025-05-10-before-the-season.md"));
    expect(minutes.actions).toMatchObject([{ owner: "Jonas and Peadar", due: "24 May" }]);
    const incident = await fieldsOf("actions", textOf("incidents/2025-07-19-cableway-stop.md"));
    expect(incident.actions.map(({ action }) => action.slice(0, 18))).toEqual([
      "Ask Henrike Lorch ",
    ]);
  });
});

test("what the writer of a letter promises is the writer's, and what is asked the reader's", async () => {
  const letter =
    "Dear Milena,\n\nI'll send the corrected glossary by 27 February. Please return the keys.\n\nKind regards,\nLindiwe Khumalo\n";
  const { actions } = await fieldsOf("actions", letter);
  expect(actions.map(({ owner }) => owner)).toEqual(["Lindiwe Khumalo", "Milena"]);
});

test.each([
  [
    "the header of a mail",
    "# Ropes\n\nFrom: Ada Lind <ada@x.example>\nTo: Bo Marsh <bo@x.example>\nDate: 2026-01-05\n\nI'll send the list by Friday. Please return the keys.\n",
    ["Ada Lind", "Bo Marsh"],
  ],
  [
    "the header of a mail in German",
    "Absender: Ada Lind <ada@x.example>\nAn: Bo Marsh <bo@x.example>\nDatum: 2026-01-05\n\nI'll send the list by Friday. Please return the keys.\n",
    ["Ada Lind", "Bo Marsh"],
  ],
  [
    "several recipients, of whom none is meant alone",
    "# Ropes\n\nFrom: Ada Lind <ada@x.example>\nTo: Bo Marsh <bo@x.example>, Cy Ross <cy@x.example>\nDate: 2026-01-05\n\nPlease return the keys.\n",
    [null],
  ],
  [
    "who keeps the minutes",
    "# Meeting\n\nIn the chair: Bo Marsh. Taking notes: Ada Lind.\n\nI'll circulate the minutes by 1 March.\n",
    ["Ada Lind"],
  ],
  [
    "a signature with what its writer is",
    "Rechnung\n\nDas Register liefere ich bis 13. Februar nach.\n\nAda Lind, Lektorin\n",
    ["Ada Lind"],
  ],
  [
    "a note for somebody",
    "Notiz für Habiba: Dein Paket liegt unten. Bitte ruf bis morgen deine Schwester zurück. Gruß, Lennart\n",
    ["Habiba"],
  ],
  [
    "an address",
    "Mahnung\nFrau Tuva Lind, Lindenweg 3\n\nWir bitten um Zahlung bis 12. Juni.\n",
    ["Tuva Lind"],
  ],
])("the owner of a request or a promise is told by %s", async (_, text, owners) => {
  const { actions } = await fieldsOf("actions", text);
  expect(actions.map(({ owner }) => owner)).toEqual(owners);
});

test.each([
  "The umbrella that I promised to bring back is here.",
  "How to rotate the signing key",
  "Veuillez agréer, Madame, nos salutations distinguées.",
])("%j is no task", async (text) => {
  expect((await fieldsOf("actions", `# Notes\n\n${text}\n`)).actions).toEqual([]);
});

describe("people and dates", () => {
  test("of a table are its names with their roles", async () => {
    const { people } = await fieldsOf("people", textOf("people/who-is-who.md"));
    const roles = Object.fromEntries(people.map(({ name, role }) => [name, role]));
    expect(roles).toMatchObject({
      "Réka Thalmann": "hut manager",
      "Inès Carrel": "cook",
      "Ottilie Brandl": "chair since 2017",
      "Klara Oberhuber": "secretary",
    });
    expect(Object.keys(roles)).toContain("Peadar Mac Giolla");
  });

  test("have the role that stands behind a comma or in brackets", async () => {
    const text =
      "Present: Ada Lind (chair) and Jonas Holm.\n\nBerta Moen, the treasurer, signed it.\n";
    const { people } = await fieldsOf("people", text);
    expect(Object.fromEntries(people.map(({ name, role }) => [name, role]))).toEqual({
      "Ada Lind": "chair",
      "Jonas Holm": null,
      "Berta Moen": "treasurer",
    });
  });

  test("of minutes are those who are there, and no places, months or firms", async () => {
    const { people } = await fieldsOf("people", textOf("minutes/2025-02-22-winter-meeting.md"));
    const names = people.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        "Ottilie Brandl",
        "Barto Zgraggen",
        "Klara Oberhuber",
        "Réka Thalmann",
      ]),
    );
    expect(names.filter((name) => /Sankt|Hut|February|Handel/.test(name))).toEqual([]);
  });

  test.each([
    ["We met at noon, and afterwards Pavel carried the chairs home.", ["Pavel"]],
    ["The reading was taken by T. Nguyen on 3 May.", ["T. Nguyen"]],
    ["Hyun-woo Park wrote the minutes.", ["Hyun-woo Park"]],
    ["Le compte est tenu par M. Sarr, et la caisse par Mme Azoulay.", ["Sarr", "Azoulay"]],
    [
      "Der Schaden ist nicht groß und wurde am Montag vom Fliesenleger Goran Babic mit einem Eimer Mörtel behoben.",
      ["Goran Babic"],
    ],
    ["Die Rechnung ist da.\n\ni. A. Corinna Faltermeier", ["Corinna Faltermeier"]],
  ])("are found in: %s", async (text, names) => {
    const { people } = await fieldsOf("people", `Notes\n\n${text}\n`);
    expect(people.map(({ name }) => name)).toEqual(names);
  });

  test.each([
    "The sailing boat Rosalind was sold, and the cat, Bruno, stayed on board.",
    "The room holds model 'Percy Blount' and two lamps of the firm Felix Baum & Co.",
    "El perro Tomás duerme, y el local de la calle Elena Duarte es de la empresa Redes Amparo.",
    "Le chat Gaston est dans la rue Émile-Castel, devant la boulangerie Simon.",
    "Projektbericht Spielplatz\n\nDer Prüfbericht Feuerlöscher liegt in der Klara-Winter-Halle, und er ist noch nicht von allen gelesen.",
    "Domingo: vuelta en autobús, y el lunes otra vez al trabajo con los demás.",
  ])("are not things, places and days that are called like people: %s", async (text) => {
    expect((await fieldsOf("people", `Notes\n\n${text}\n`)).people).toEqual([]);
  });

  test("are dates in English, German and ISO, with what happens then", async () => {
    const text =
      "Opening on 14 June 2026. Die Sitzung ist am 3. Mai 2026. The audit: 2026-07-01. Seats: 12.50 each.";
    const { dates } = await fieldsOf("people", text);
    expect(dates.map(({ date }) => date)).toEqual(["14 June 2026", "3. Mai 2026", "2026-07-01"]);
    expect(dates[0]?.what).toBe("Opening on 14 June 2026.");
  });
});

const MEMBERS = `From: Jonas Lind <jonas@hafen.example>
To: Berta Holm <berta@hafen.example>
Date: Mon, 3 May 2026 08:15:00 +0200`;
const SAID = "The rope came on Friday. Please pay the invoice until 12 May 2026.\n\nJonas\n";

describe.each([
  ["that was saved as text", `${MEMBERS}\nSubject: Invoice for the rope\n\n${SAID}`],
  ["of an .eml", `# Invoice for the rope\n\n${MEMBERS}\n\n${SAID}`],
])("a mail %s", (_, MAIL) => {
  test("is classified by what it says, and no line of its header is the quote", async () => {
    const fields = await fieldsOf("classify", MAIL, {
      path: "mail.txt",
      labels: ["invoice", "recipe"],
    });
    expect(fields).toMatchObject({
      label: "invoice",
      quote: "Please pay the invoice until 12 May 2026.",
    });
  });

  test("names those who wrote and got it", async () => {
    const { people } = await fieldsOf("people", MAIL);
    expect(people.map(({ name, role }) => [name, role])).toEqual(
      expect.arrayContaining([
        ["Jonas Lind", "from"],
        ["Berta Holm", "to"],
      ]),
    );
  });
});

test.each([
  ["Chère Ada, j'ai fini le toit. Je viens le 3 mai 2026.", "3 mai 2026"],
  ["Guten Tag Frau Meyer, ich komme am 3. Mai 2026 mit dem Seil.", "3. Mai 2026"],
  ["Mark left the barn with the rope on 3 May 2026.", "3 May 2026"],
])("%j gives no order to a program, and its date counts", async (text, date) => {
  expect(await fieldsOf("people", text)).toMatchObject({ dates: [{ date }] });
});

test("a long sentence is cut through no emoji, which would make the whole reply unreadable", async () => {
  const text = `On 3 May 2026 Dr. Ada Lovelace paints the door. x${"🎉".repeat(298)} on 4 May 2026 now.`;
  const reply = await replyTo("people", text);
  expect(reply).toContain("4 May 2026");
  expect(reply).not.toMatch(/\\ud83c/);
});

describe("what is no person, and no date", () => {
  test("is an organisation", async () => {
    const text =
      "The Harwick Express leaves at nine. Nordsee Reederei said no. Holm Shipping signed. Ada Lind signed too.";
    expect((await fieldsOf("people", text)).people.map(({ name }) => name)).toEqual(["Ada Lind"]);
  });

  test("is a price at the end of its sentence", async () => {
    const text =
      "The ferry costs 15.20. The tea is 3.10. Die Sitzung ist am 5.10. um neun, nicht am 06.11.2026.";
    const { dates } = await fieldsOf("people", text);
    expect(dates.map(({ date }) => date)).toEqual(["5.10.", "06.11.2026"]);
  });
});

test("a schema of the user is refused with what would do", async () => {
  const task: ModelTask = {
    purpose: "extract",
    preset: null,
    labels: [],
    examples: [],
    evidence: [],
  };
  const request = { messages: [], task, maxTokens: 100, timeoutMs: 1000 };
  expect(await extractiveModel().complete(request, new AbortController().signal)).toMatchObject({
    code: "MODEL_UNSUPPORTED",
    message: expect.stringContaining("Use one of these, or set model.provider: ollama"),
  });
});

describe("French and Spanish", () => {
  test.each([
    ["Le bal de la fête ouvre le 24 août.", ["24 août"]],
    ["Le ponton ferme le 1er mai 2025 à midi.", ["1er mai 2025"]],
    ["El camión llega el 9 de julio por la mañana.", ["9 de julio"]],
    ["La factura es del 3 de marzo de 2025.", ["3 de marzo de 2025"]],
  ])("the days of %j", async (text, dates) => {
    expect((await fieldsOf("people", text)).dates.map(({ date }) => date)).toEqual(dates);
  });

  test("who a mail is from, and who somebody is called", async () => {
    const mail =
      "De: Lucía Ferreiro <lucia@oliveda.example>\nAsunto: El pedido\n\nEl conductor se llama Anxo Varela.\n";
    const { people } = await fieldsOf("people", mail);
    expect(people.map(({ name }) => name)).toEqual(["Lucía Ferreiro", "Anxo Varela"]);
  });
});

test("who signs a letter and who is greeted are persons, and firms are none", async () => {
  const letter =
    "Dear Mr Adeyemi,\n\nErnst Bauer Roofing was here.\n\nKind regards,\nFlorence Whitlock\nCustomer care\n";
  const { people } = await fieldsOf("people", letter);
  expect(people.map(({ name }) => name)).toEqual(["Adeyemi", "Florence Whitlock"]);
});

test("bullets below a line that says Actions are actions", async () => {
  const minutes = "Actions:\n- Henrike sends a draft contract by 1 December.\n";
  const { actions } = await fieldsOf("actions", minutes);
  expect(actions).toMatchObject([{ owner: "Henrike", due: "1 December" }]);
});
