import { expect, test } from "@jest/globals";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { pieceOf } from "./pieces-of.ts";

const gradeOf = (evidence: string, text: string, question = ""): string => {
  const [graded] = gradeClaims([{ text, cites: [1] }], [pieceOf("notes/a.md", evidence)], {
    question,
  });
  return `${graded?.grade ?? ""} ${graded?.reason ?? ""}`;
};

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
])("%s is unsupported", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)).toBe("unsupported name");
});

test("a name that the question brings up is not invented", () => {
  const evidence = "The vessel carries 28 cars.";
  expect(gradeOf(evidence, "The Corran Lass carries 28 cars.")).toBe("unsupported name");
  expect(
    gradeOf(evidence, "The Corran Lass carries 28 cars.", "What does the Corran Lass carry?"),
  ).not.toBe("unsupported name");
});

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
])("a dropped denial in %s is never supported", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)).toMatch(/polarity$/);
});

test.each([
  ["all", "The staff of the museum speak French.", "All staff of the museum speak French."],
  ["only", "Only members of the club may row at night.", "Members of the club may row at night."],
  ["a bound", "The tour is open to guests over 18.", "The tour is open to guests of 18."],
  ["a plan", "A second vessel is planned for the route.", "A second vessel serves the route."],
  [
    "a German plan",
    "Eine Erneuerung der Brücke ist im Herbst vorgesehen.",
    "Die Erneuerung der Brücke war im Herbst.",
  ],
  ["a condition", "If the wind is strong, the ferry stays in port.", "The ferry stays in port."],
  [
    "a cause",
    "The ferry was late. The linkspan was blocked.",
    "The ferry was late because the linkspan was blocked.",
  ],
  [
    "the cause as effect",
    "The lamp failed because the battery was empty.",
    "The battery was empty because the lamp failed.",
  ],
  [
    "an opposite",
    "The gate of the garden is open in summer.",
    "The gate of the garden is closed in summer.",
  ],
  ["another order", "Add the salt before the flour.", "Add the flour before the salt."],
  [
    "who did it",
    "Whitlock suspected the database, Reyes found the certificate.",
    "Reyes suspected the database.",
  ],
])("%s is a doubt", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)).toMatch(
    /^(?:partly (?:cue|order|rival|place)|unsupported cue)$/,
  );
});

test("the same in other words is supported, or lacks words and nothing else", () => {
  expect(gradeOf("The lease begins on 1 January 2026.", "The lease starts on 01/01/2026.")).toBe(
    "supported carried",
  );
  expect(gradeOf("The pump has a weight of 1.4 kg.", "The pump weighs 1400 g.")).toMatch(
    /^(?:supported carried|partly (?:new_)?words)$/,
  );
  expect(
    gradeOf("The bread is ready.", "The bread is ready, and a probe from the side shows it."),
  ).toMatch(/^partly (?:new_)?words$/);
});

test("a translation is carried in part, and refused for a figure alone", () => {
  const evidence = "Der Teig ruht 30 Minuten und geht dann bei 30 Grad auf dem Ofen.";
  expect(gradeOf(evidence, "The dough rests for 30 minutes and is then left to rise.")).toMatch(
    /^partly/,
  );
  expect(gradeOf(evidence, "The dough rests for 45 minutes and is then left to rise.")).toBe(
    "unsupported figure",
  );
});

test("an abbreviation and an ordinal of German end no sentence that could be cut", () => {
  const evidence = "Am 3. Juni zahlen z. B. Kinder nichts. Der Eintritt gilt für alle.";
  expect(gradeOf(evidence, "Am 3. Juni zahlen z. B. Kinder nichts.")).toBe("supported verbatim");
  expect(gradeOf(evidence, "Juni zahlen z. B.")).not.toBe("supported verbatim");
});

test("a cut of a sentence is not verbatim", () => {
  expect(
    gradeOf("Visitors may enter the crypt only with a guide.", "Visitors may enter the crypt."),
  ).toMatch(/^partly/);
});

test.each(["", "   ", "…", "**", "1.", "\u0000", "🦀"])("%j is graded without a fault", (claim) => {
  expect(gradeOf("The crab is red.", claim)).toMatch(/^(?:partly|unsupported) /);
});

test("a claim without an end is never supported", () => {
  const sentence = "The ferry leaves at nine and the ferry returns at ten, ";
  expect(gradeOf("The ferry leaves at nine.", sentence.repeat(2_000))).toMatch(
    /^(?:partly|unsupported) /,
  );
});

test("checks name the rules that pass and fail, in order", () => {
  const [graded] = gradeClaims(
    [{ text: "Dogs may enter the lounge.", cites: [1] }],
    [pieceOf("a.md", "Dogs may not enter the lounge.")],
    { question: "" },
  );
  expect(graded?.checks).toEqual([
    { rule: "polarity", verdict: "fail", detail: "the sentence denies it" },
  ]);
});

test.each([
  [
    "a number that a minus in words stands before",
    "At dawn it was −11.5 °C.",
    "At dawn it was minus 11.5 °C.",
  ],
  [
    "an answer to a yes-or-no question",
    "No: dogs are not admitted on the course.",
    "Dogs are not admitted on the course.",
  ],
])("%s is carried", (_, text, sentence) => {
  const evidence = [pieceOf("a.md", sentence)];
  expect(gradeClaims([{ text, cites: [1] }], evidence, { question: "" })).toMatchObject([
    { grade: "supported" },
  ]);
});

test("a number at the start is no name, and a short text in another language is told from its words", () => {
  const table = pieceOf("a.md", "| Item | Quantity |\n|---|---|\n| Pine board 27 mm | 30 |\n");
  const english = pieceOf("b.md", "Water was given by the town free of charge.");
  const claims = [
    { text: "Thirty pine boards of 27 mm.", cites: [1] },
    { text: "Parce que la ville a fourni l'eau gratuitement.", cites: [2] },
    { text: "Weil sie es so will.", cites: [2] },
    { text: "Not without the consent of the lessor.", cites: [3] },
  ];
  const chinese = pieceOf("c.md", "未经出租方书面同意，不得转租。", 3);
  const evidence = [table, { ...english, number: 2 }, chinese];
  for (const { grade, reason } of gradeClaims(claims, evidence, { question: "" })) {
    expect({ grade, reason }).not.toMatchObject({ grade: "unsupported" });
  }
});

test("a claim that has nothing of a text which says too little to tell its language is unsupported", () => {
  const evidence = [pieceOf("a.md", "Trains run every 20 minutes.\n\nHourly.")];
  const question = "What does the notice say of trains?";
  expect(
    gradeClaims([{ text: "Penguins swim fast.", cites: [1] }], evidence, { question }),
  ).toEqual([expect.objectContaining({ grade: "unsupported", reason: "words" })]);
});

test.each([
  [
    '"won" denies nothing',
    "| Rank | Name | Club | Time |\n|---|---|---|---|\n| 1 | Marta Lindqvist | Northshore | 36:42 |",
    "Marta Lindqvist of Northshore won in 36:42.",
    /^(?:supported|partly)/,
  ],
  [
    "nor does a name",
    "The porter Don Miller handed the key over at six.",
    "The porter handed the key over at six.",
    /^(?:supported|partly (?!polarity))/,
  ],
  [
    "nor does what goes on",
    "Die Pumpe im Keller läuft noch mit halber Kraft.",
    "Die Pumpe im Keller läuft mit halber Kraft.",
    /^(?:supported|partly (?!polarity))/,
  ],
  [
    "nor does the sign of a number",
    "Invoice No. 12 is about the two pumps in the cellar.",
    "Invoice 12 is about the two pumps in the cellar.",
    /^(?:supported|partly (?!polarity))/,
  ],
  [
    "nor does what is thrown away",
    "Refuse is collected on Mondays in the yard.",
    "Rubbish is collected on Mondays in the yard.",
    /^(?:supported|partly (?!polarity))/,
  ],
  [
    '"No invoice" does',
    "Invoice 12 is about the two pumps in the cellar.",
    "No invoice is about the two pumps in the cellar.",
    /^(?:partly|unsupported)/,
  ],
  [
    "members over 60 are not all members",
    "Members over 60 enter the museum free.",
    "Members enter the museum free.",
    /^partly cue/,
  ],
  [
    "children under 6 are not all children",
    "Kinder unter 6 Jahren fahren mit der Bahn frei.",
    "Kinder fahren mit der Bahn frei.",
    /^partly cue/,
  ],
  [
    "the same bound on both sides is none",
    "Members over 60 enter the museum free.",
    "The museum is free for members over 60.",
    /^supported/,
  ],
  [
    "almost all are not all",
    "Casi todos los socios votaron a favor del plan.",
    "Todos los socios votaron a favor del plan.",
    /^partly cue/,
  ],
  [
    "almost all are nearly all",
    "Almost all members voted for the plan.",
    "Nearly all members voted for the plan.",
    /^supported/,
  ],
  [
    "an exception behind a comma counts",
    "Le bail de la salle finit le 31 mars, sauf renouvellement.",
    "Le bail de la salle finit le 31 mars.",
    /^partly cue/,
  ],
  [
    "free for some is not free",
    "Der Eintritt ins Museum ist frei für Mitglieder.",
    "Der Eintritt ins Museum ist frei.",
    /^partly cue/,
  ],
  [
    "free for those under an age is not free",
    "L'entrée du musée est gratuite pour les moins de 12 ans.",
    "L'entrée du musée est gratuite.",
    /^partly cue/,
  ],
  [
    "free for the same ones is free",
    "Der Eintritt ins Museum ist frei für Mitglieder.",
    "Für Mitglieder ist der Eintritt ins Museum frei.",
    /^supported/,
  ],
  [
    "what is told apart is not told of it",
    "Anders als die Fähre fährt der Bus sonntags bis Kiel.",
    "Die Fähre fährt sonntags bis Kiel.",
    /^partly cue/,
  ],
  [
    "what is told of the other is",
    "Unlike the ferry, the bus runs on Sundays.",
    "The bus runs on Sundays.",
    /^supported/,
  ],
  [
    "who lost did not win",
    "Harbour AC lost to Northshore 3:2 on Sunday.",
    "Harbour AC beat Northshore 3:2 on Sunday.",
    /^(?:partly|unsupported) cue/,
  ],
  [
    "votes against are not votes in favour",
    "The vote of the members was 7 to 2 in favour.",
    "The vote of the members was 7 to 2 against.",
    /^(?:partly|unsupported) cue/,
  ],
  [
    '"won\'t" does',
    "Marta Lindqvist will run the race in October.",
    "Marta Lindqvist won't run the race in October.",
    / polarity$/,
  ],
  [
    "what is voted on is not decided",
    "The board will vote in April on whether to raise the fee to $75.",
    "The board will raise the fee to $75 in April.",
    /^partly cue/,
  ],
  [
    "what is proposed is not decided",
    "Solène propose de passer les entretiens en visio à partir de mai.",
    "À partir de mai, les entretiens se feront en visio.",
    /^partly cue/,
  ],
  [
    "what somebody thinks ought to be done is not done",
    "Ramón cree que habría que cambiar la bomba de la caldera antes del invierno.",
    "Ramón cambió la bomba de la caldera antes del invierno.",
    /^partly/,
  ],
  [
    "one Sunday is not every Sunday",
    "Dimanche, la boulangerie Roche avait vendu tous ses pains à dix heures.",
    "Chaque dimanche, la boulangerie Roche avait vendu tous ses pains à dix heures.",
    /^partly cue/,
  ],
  [
    "every Sunday, where it says Sundays",
    "The ferry sails on Sundays at 10:00.",
    "The ferry sails every Sunday at 10:00.",
    /^supported/,
  ],
  [
    "smaller, where the other is larger",
    "Room 12 is larger than Room 9 but has no projector.",
    "Room 9 is smaller than Room 12.",
    /^partly/,
  ],
  [
    "one of three is not three",
    "Upstairs there are three flats, one of which stands empty.",
    "The three flats upstairs stand empty.",
    /^partly cue/,
  ],
  [
    "a quarter is not more than half",
    "Von den 36 Völkern waren 9 stark befallen.",
    "Mehr als die Hälfte der 36 Völker war stark befallen.",
    /^partly cue/,
  ],
  [
    "half, where it is",
    "Von den 36 Völkern waren 18 stark befallen.",
    "Die Hälfte der 36 Völker war stark befallen.",
    /^supported/,
  ],
  [
    "two steps are not one",
    "Ferment the dough for five hours, then leave it in the fridge overnight.",
    "The dough ferments for five hours in the fridge.",
    /^partly cue/,
  ],
  [
    "before, told from the end",
    "Elle a appris le métier avant d'ouvrir son atelier en 1998.",
    "Elle a ouvert son atelier en 1998 après avoir appris le métier.",
    /^partly cue/,
  ],
  [
    "before, turned around",
    "The pump was drained before the valve was changed.",
    "The pump was drained after the valve was changed.",
    /^unsupported cue/,
  ],
  [
    "every night is nightly",
    "The backup runs nightly at 01:30.",
    "The backup runs every night at 01:30.",
    /^supported/,
  ],
  [
    "every week is not nightly",
    "The backup runs nightly at 01:30.",
    "The backup runs every week at 01:30.",
    /^(?:partly|unsupported)/,
  ],
  [
    "a price by the unit of its column",
    "| Supplier | Price per kg |\n|---|---|\n| Alvo | €3.10 |\n| Brenta | €2.85 |",
    "Brenta has a price of €2.85 per kilo.",
    /^supported/,
  ],
  [
    "who an article is cut from is no other person",
    "Client : Association Les Mots Bleus.\nTotal TTC : 492,00 €.",
    "L'association Les Mots Bleus doit payer 492 €.",
    /^partly/,
  ],
  [
    "German nouns behind zu are no name",
    "Verletzt wurde beim Unfall mit Regal 7 niemand.",
    "Beim Unfall mit Regal 7 kam keine Person zu Schaden.",
    /^supported/,
  ],
  [
    "a verdict before what it rests on",
    "Öffnen Sie niemals selbst die Verkleidung des Brenners.",
    "Auf keinen Fall: Öffnen Sie niemals selbst die Verkleidung des Brenners.",
    /^supported/,
  ],
])("%s", (_, text, claim, grade) => {
  const [graded] = gradeClaims([{ text: claim, cites: [1] }], [pieceOf("a.md", text)], {
    question: "",
  });
  expect(`${graded?.grade ?? ""} ${graded?.reason ?? ""}`).toMatch(grade);
});
